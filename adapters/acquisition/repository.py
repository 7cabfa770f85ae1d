"""Sources that are repositories: a folder that is read, or one that git clones from one address."""

import io
import os
import re
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import anyio

from adapters.acquisition.port import Source, SourceFile
from adapters.web.addresses import Resolve, is_public, public_addresses, resolve
from adapters.web.rules import MIB, Rules
from adapters.web.urls import IpAddress, Url
from state.values.errors import ObstructedError, RejectedError, TransientError
from state.values.redaction import redact
from state.values.workspace_paths import path_problem

MOST_CLONED = 200 * MIB
MOST_TEXT = 8 * MIB
MOST_FILES = 2000
MOST_FILE = 400_000
CLONE_S = 300.0
_SEEN_AT_MOST = 50_000
_LFS = b"version https://git-lfs.github.com/spec/"
_FOREIGN = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", "target"}
)
_LICENCES = re.compile(r"(?:licen[cs]e|copying)(?:\.(?:md|txt|rst))?\Z", re.IGNORECASE)
_FIRST = re.compile(r"readme(?:\.\w+)?\Z", re.IGNORECASE)
# Run as a program of its own: the limits hold for git and for whatever it starts.
_LIMITED = (
    "import os, resource, sys; size, cpu = int(sys.argv[1]), int(sys.argv[2]); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)); "
    "resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu)); "
    "resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.execvp('git', ['git', *sys.argv[3:]])"
)

# What git says of troubles that pass.
_PASSING = ("Could not resolve", "timed out", "Connection refused", "reset by", "error: 50", "429")

Body = Callable[[], bytes | None]


@dataclass(frozen=True, slots=True)
class Repository:
    """Reads the text of a repository: a folder of this machine, or one behind an https address.

    A clone is of the newest commit alone, bare, from addresses that were checked before and are
    pinned; no redirect is followed, and no hook, filter, submodule or link of it is heeded.
    `services` are exact https origins of one's own; `ca_file` vouches for those of a private CA.
    """

    services: tuple[str, ...] = ()
    resolve: Resolve = resolve
    ca_file: Path | None = None

    async def acquire(self, source: str) -> Source:
        """Return the text files of the repository, README first.

        Raises `RejectedError` (REPOSITORY, TOO_LARGE, or a code of the fetcher), `TransientError`
        when the host cannot be had now, and `ObstructedError` (GIT) where git is missing.
        """
        if "://" in source:
            return await self._clone(repository_url(source))
        return await anyio.to_thread.run_sync(_read_folder, Path(source))

    async def _clone(self, address: str) -> Source:
        rules = Rules(services=self.services)
        url = rules.admit(address)
        if url.scheme != "https":
            raise RejectedError(
                f"{redact(address)}: repositories are cloned over https only", code="REPOSITORY"
            )
        pinned = await self._pinned(url, rules)
        clone = partial(_clone_and_read, str(url), pinned, self.ca_file)
        return await anyio.to_thread.run_sync(clone, abandon_on_cancel=False)

    async def _pinned(self, url: Url, rules: Rules) -> str:
        """Return curl's way of saying which addresses the host has: those that were checked."""
        if url.address is not None:
            return ""  # admitted by the rules as it is, so there is nothing to look up
        permits = _every if rules.is_service(url) else is_public
        found = await public_addresses(url.host, resolve=self.resolve, permits=permits)
        shown = ",".join(f"[{each}]" if each.version == 6 else str(each) for each in found[:3])
        return f"{url.host}:{url.port}:{shown}"


def _every(_address: IpAddress) -> bool:
    return True


def repository_url(text: str) -> str:
    """Return the address that git is given: without query, fragment and slash at the end."""
    parts = urlsplit(text)
    return parts._replace(query="", fragment="", path=parts.path.rstrip("/")).geturl()


# ---- by git


def _clone_and_read(url: str, pinned: str, ca_file: Path | None) -> Source:
    with tempfile.TemporaryDirectory(prefix="assay-clone-", ignore_cleanup_errors=True) as made:
        bare = Path(made) / "bare"
        extra = ["-c", f"http.curloptResolve={pinned}"] if pinned else []
        extra += ["-c", f"http.sslCAInfo={ca_file}"] if ca_file else []
        _git(
            made, *extra,
            "clone", "--quiet", "--bare", "--depth=1", "--single-branch", "--no-tags",
            "--no-recurse-submodules", "--template=", "--", url, str(bare),
        )  # fmt: skip
        # Read as a stream: nothing of it is ever written as a file of its own.
        picked = _Picked()
        tree = io.BytesIO(_git(str(bare), "archive", "--format=tar", "HEAD"))
        with tarfile.open(fileobj=tree, mode="r:", errorlevel=2) as tar:
            for member in islice(tar, _SEEN_AT_MOST):
                if not member.isdir():
                    body = partial(_member, tar, member)
                    picked.offer(member.name, member.size, body, is_regular=member.isreg())
            return picked.source(redact(url))


def _member(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | None:
    file = tar.extractfile(member)
    return file.read() if file is not None else None


def _git(folder: str, *arguments: str) -> bytes:
    """Run git in `folder` with nobody's configuration, within limits of time and size."""
    safe = [
        "-c", "http.followRedirects=false", "-c", "protocol.allow=never",
        "-c", "protocol.https.allow=always", "-c", "core.hooksPath=/dev/null",
        "-c", "core.fsmonitor=false", "-c", "core.symlinks=false", "-c", "credential.helper=",
        "-c", "transfer.fsckObjects=true", "-c", "gc.auto=0", "-c", "safe.directory=*",
        "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30",
    ]  # fmt: skip
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_CEILING_DIRECTORIES": str(Path(folder).parent),
    }
    command = [sys.executable, "-I", "-c", _LIMITED, str(MOST_CLONED), str(int(CLONE_S))]
    with subprocess.Popen(
        [*command, *safe, "-C", folder, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment, start_new_session=True,
    ) as child:  # fmt: skip
        try:
            output, said = child.communicate(timeout=CLONE_S)
        except subprocess.TimeoutExpired:
            _end(child)
            raise RejectedError(
                f"the repository did not come within {CLONE_S:.0f} s; try a smaller one",
                code="TOO_LARGE",
            ) from None
        except BaseException:
            _end(child)
            raise
    if child.returncode:
        raise _failure(child.returncode, said.decode(errors="replace"))
    return output


def _end(child: subprocess.Popen[bytes]) -> None:
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _failure(code: int, said: str) -> Exception:
    line = redact(" ".join(said.split())[-400:]) or f"it ended with {code}"
    if "No such file or directory: 'git'" in said:
        return ObstructedError("git is not installed; install it to clone repositories", code="GIT")
    if "File too large" in said or code == -signal.SIGXFSZ:
        return RejectedError(
            f"the repository is larger than {MOST_CLONED // MIB} MiB", code="TOO_LARGE"
        )
    if any(sign in said for sign in _PASSING):
        return TransientError(f"the repository cannot be had now: {line}")
    return RejectedError(f"the repository cannot be cloned: {line}", code="REPOSITORY")


# ---- from a folder


def _read_folder(root: Path) -> Source:
    picked = _Picked()
    if not root.is_dir():
        raise RejectedError(f"{root} is no folder", code="REPOSITORY")
    seen = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name for name in folders
            if name not in _FOREIGN and not (Path(folder) / name).is_symlink()
        )  # fmt: skip
        for name in sorted(names):
            seen += 1
            if seen > _SEEN_AT_MOST:
                raise RejectedError(
                    f"{root} holds more than {_SEEN_AT_MOST} files; name a smaller folder",
                    code="TOO_LARGE",
                )
            path = Path(folder) / name
            found = path.lstat()
            relative = path.relative_to(root).as_posix()
            is_regular = stat.S_ISREG(found.st_mode)
            body = partial(_read_regular, path)
            picked.offer(relative, found.st_size, body, is_regular=is_regular)
    return picked.source(str(root))


def _read_regular(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(MOST_FILE + 1)


# ---- what is taken


@dataclass(slots=True)
class _Picked:
    """The text files of a repository, as many as are taken, and why others are not."""

    offered: list[tuple[str, int, Body]] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)

    def offer(self, path: str, size: int, body: Body, *, is_regular: bool) -> None:
        """Consider the file at `path`, whose bytes `body` gives."""
        if not is_regular:
            self._drop("links and submodules")
        elif path_problem(path) or set(path.split("/")[:-1]) & _FOREIGN:
            self._drop("files of other software, or with names that are no paths here")
        elif size > MOST_FILE:
            self._drop(f"files larger than {MOST_FILE // 1000} kB")
        elif size:
            self.offered.append((path, size, body))

    def source(self, locator: str) -> Source:
        """Return what is taken: README and licence first, then by path."""
        files: list[SourceFile] = []
        licence, total = "", 0
        for path, size, body in sorted(self.offered, key=_rank):
            if len(files) >= MOST_FILES or total + size > MOST_TEXT:
                self._drop("files beyond what is read of one repository")
                continue
            data = body()
            if data is None or not _is_text(data):
                self._drop("files that are no text")
            elif data.startswith(_LFS):
                self._drop("files kept elsewhere (Git LFS)")
            else:
                files.append(SourceFile(path, data, "text/plain"))
                total += len(data)
                if not licence and _LICENCES.match(path):
                    licence = _first_line(data)
        if not files:
            raise RejectedError(f"{locator} holds no text file that can be read", code="REPOSITORY")
        return Source(tuple(files), locator, licence, tuple(self._told()))

    def _drop(self, why: str) -> None:
        self.dropped[why] = self.dropped.get(why, 0) + 1

    def _told(self) -> Iterable[str]:
        return (f"{number} {why} were left out" for why, number in self.dropped.items())


def _rank(offered: tuple[str, int, Body]) -> tuple[bool, bool, int, str]:
    path = offered[0]
    name = path.rpartition("/")[2]
    return (not _FIRST.match(path), not _LICENCES.match(path), name.startswith("."), path)


def _is_text(data: bytes) -> bool:
    if b"\0" in data[:8192]:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _first_line(data: bytes) -> str:
    lines = (line.strip() for line in data.decode(errors="replace").splitlines())
    return redact(next((line for line in lines if line), ""))[:200]
