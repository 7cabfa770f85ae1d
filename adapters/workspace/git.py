"""The history of the delivered code as a git repository, the same bytes for the same history."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from state.values.errors import ObstructedError

BRANCH = "main"
_AUTHOR = "Assay <assay@localhost>"
_TIMEOUT_S = 120.0
_PART = ".assay-git"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its message, its time, the files it adds or changes, and paths it removes."""

    message: str
    at: datetime
    files: Mapping[str, bytes]
    removed: tuple[str, ...] = ()


def write_history(folder: Path, run_id: str, commits: Sequence[Commit]) -> str:
    """Make `commits` the newest of the repository in `folder`, checked out; return the last id.

    The working tree must hold their files already. Written once a run: when the newest commit is
    of `run_id`, its id is returned. Returns '' where git is not installed. Raises
    `ObstructedError` (PUBLICATION) for a repository that cannot be written.
    """
    if shutil.which("git") is None:
        return ""
    trailer = f"Assay-Run: {run_id}"
    head = _head(folder)
    if head and trailer in _git(folder, "log", "-1", "--format=%B", head).splitlines():
        _settle_index(folder)
        return head
    if not (folder / ".git").exists():
        return _new_repository(folder, trailer, commits)
    _import(folder, _stream(commits, trailer, parent=head))
    _settle_index(folder)
    return _head(folder)


def _new_repository(folder: Path, trailer: str, commits: Sequence[Commit]) -> str:
    """Make the repository beside its place, and move it there when it is whole."""
    made = folder / _PART
    try:
        if made.is_dir() and not made.is_symlink():
            shutil.rmtree(made)  # a kill left it
        made.mkdir()
        _git(made, "init", "--quiet", f"--initial-branch={BRANCH}", "--template=", ".")
        _import(made, _stream(commits, trailer, parent=""))
        _settle_index(made)
        (made / ".git").rename(folder / ".git")
    except OSError as error:
        raise _obstructed(folder, error.strerror or str(error)) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return _head(folder)


def _import(folder: Path, stream: bytes) -> None:
    """Add the commits to the repository: all, or none where the stream is cut off by a kill."""
    _git(folder, "fast-import", "--quiet", "--done", given=stream + b"done\n")


def _settle_index(folder: Path) -> None:
    """Let the index hold what was committed, unless the person works on another branch."""
    if _git(folder, "branch", "--show-current").strip() == BRANCH:
        _git(folder, "reset", "--quiet", "--mixed")


def _head(folder: Path) -> str:
    if not (folder / ".git").is_dir() or (folder / ".git").is_symlink():
        return ""
    found = _git(folder, "for-each-ref", "--format=%(objectname)", f"refs/heads/{BRANCH}")
    return found.strip()


def _stream(commits: Sequence[Commit], trailer: str, *, parent: str) -> bytes:
    """Return the commits as `git fast-import` reads them."""
    parts: list[bytes] = []
    for number, commit in enumerate(commits):
        message = f"{commit.message}\n\n{trailer}\n".encode()
        when = f"{int(commit.at.timestamp())} +0000"
        parts.append(f"commit refs/heads/{BRANCH}\n".encode())
        parts.append(f"author {_AUTHOR} {when}\ncommitter {_AUTHOR} {when}\n".encode())
        parts.append(b"data %d\n%s\n" % (len(message), message))
        if number == 0 and parent:
            parts.append(f"from {parent}\n".encode())
        parts += [b"D %s\n" % _quoted(path) for path in sorted(commit.removed)]
        for path, body in sorted(commit.files.items()):
            parts.append(b"M 100644 inline %s\n" % _quoted(path))
            parts.append(b"data %d\n%s\n" % (len(body), body))
    return b"".join(parts)


def _quoted(path: str) -> bytes:
    return b'"%s"' % path.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def _git(folder: Path, *arguments: str, given: bytes = b"") -> str:
    """Run git on the repository in `folder`, with nobody's configuration and no hook."""
    command = [
        "git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
        "-c", "safe.directory=*", "-C", str(folder), *arguments,
    ]  # fmt: skip
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        # A workspace within somebody's repository is not that repository.
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, env=environment, timeout=_TIMEOUT_S,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _obstructed(folder, str(error)) from error
    if done.returncode:
        raise _obstructed(folder, done.stderr.decode(errors="replace").strip()[-500:])
    return done.stdout.decode(errors="replace")


def _obstructed(folder: Path, why: str) -> ObstructedError:
    return ObstructedError(
        f"the repository in {folder} cannot be written: {why}; mend it or move its .git away, "
        "then 'assay resume' the run",
        code="PUBLICATION",
    )
