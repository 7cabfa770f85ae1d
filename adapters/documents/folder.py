"""Files below given roots: which there are, and their bytes. Nothing else is ever opened."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import NamedTuple

from state.values.errors import InvalidRequest, RejectedError

MAX_FILE_BYTES = 50 * 1024 * 1024
MAX_FILES = 200_000

_SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__", "CVS"))
_BINARY_SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("png", "jpg", "jpeg", "gif", "bmp", "ico", "tif", "tiff", "webp", "heic", "avif", "psd"),
        *("mp3", "mp4", "m4a", "wav", "flac", "ogg", "avi", "mov", "mkv", "webm", "ttf", "otf"),
        *("woff", "woff2", "eot", "so", "o", "a", "dll", "exe", "dylib", "bin", "class", "jar"),
        *("pyc", "pyo", "whl", "wasm", "npy", "npz", "pkl", "pt", "onnx", "parquet", "sqlite"),
        *("db", "duckdb", "gz", "bz2", "xz", "zst", "7z", "rar", "iso", "dmg", "deb", "rpm"),
    )
)


class Skipped(NamedTuple):
    """A file that was not used: where it is for people, what it came to, and why."""

    path: str
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unused:
    """What the roots hold that no search finds: files with the reason, and how many others.

    `ignored` counts what is no document by its name, or no regular file.
    """

    skipped: tuple[Skipped, ...] = ()
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A regular file below a root; `locator` is its absolute real path.

    `changed_ns` is when the file system last changed anything about it, which no program can set.
    """

    locator: str
    size: int
    mtime_ns: int
    changed_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """The files in the order of their locators, what was skipped, and how many were ignored."""

    files: tuple[FolderFile, ...]
    skipped: tuple[Skipped, ...]
    ignored: int


class FolderReader:
    """Reads files below `roots`, which are folders or single files.

    Raises `InvalidRequest` when a root is missing or cannot be read. Links are never followed,
    neither below the roots nor on the way to a file. `own` is the data folder: where it lies in a
    root it is passed over, so that no report cites another and no secret of it is archived.
    """

    def __init__(self, roots: Sequence[str | Path], *, own: Path | None = None) -> None:
        if not roots:
            raise InvalidRequest("No folder was given to search; name at least one.")
        self.roots = tuple(dict.fromkeys(_real_root(Path(root)) for root in roots))
        self._own = os.path.realpath(own) if own else ""
        self._names = _root_names(self.roots)

    def inventory(self) -> Inventory:
        """Return what there is now. Hidden files and the folders of tools are left out."""
        found: dict[str, FolderFile] = {}
        skipped: dict[str, Skipped] = {}
        ignored = 0
        for root in self.roots:
            for entry in _entries(root, self._own):
                problem = _problem(entry, root)
                if problem:
                    place = self.display_path(entry.path)
                    skipped[entry.path] = Skipped(_printable(place), "skipped", problem)
                elif entry.info is None or _is_of_no_interest(entry.path):
                    ignored += 1
                else:
                    found[entry.path] = _file(entry.path, entry.info)
            if len(found) > MAX_FILES:
                raise InvalidRequest(
                    f"{root} holds more than {MAX_FILES:,} files; name a smaller folder."
                )
        return Inventory(
            files=tuple(found[path] for path in sorted(found)),
            skipped=tuple(skipped[path] for path in sorted(skipped)),
            ignored=ignored,
        )

    def display_path(self, locator: str) -> str:
        """Return where `locator` is for people: the root's name and the path below it."""
        for root in self.roots:
            relative = _below(locator, root)
            if relative is not None:
                return "/".join((self._names[root], *relative))
        return locator

    def root_of(self, locator: str) -> Path | None:
        """Return the first root that `locator` is below, or None."""
        return next((root for root in self.roots if _below(locator, root) is not None), None)

    def open(self, locator: str) -> bytes:
        """Return the bytes of the file at `locator`.

        Raises `RejectedError`, whose code is one of OUTSIDE_ROOTS, FILE_NOT_FOUND, NOT_A_FILE,
        FILE_UNREADABLE and FILE_TOO_LARGE.
        """
        place = self.display_path(locator)
        for root in self.roots:
            relative = _below(locator, root)
            if relative is not None:
                return _read(root, relative, place)
        raise RejectedError(
            f"{_printable(locator)} is not below a folder that was given; "
            "add its folder to the ones to search.",
            code="OUTSIDE_ROOTS",
        )


@dataclass(frozen=True, slots=True)
class _Entry:
    """Something below a root; `info` is None for what is not a regular file."""

    path: str
    info: os.stat_result | None = None
    error: str = ""


def _real_root(root: Path) -> Path:
    try:
        real = root.expanduser().resolve(strict=True)
        mode = real.stat().st_mode
        if stat.S_ISDIR(mode):
            with os.scandir(real):
                pass
    except FileNotFoundError as error:
        raise InvalidRequest(f"{root} does not exist; check the path.") from error
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidRequest(f"{root} cannot be read ({reason}); check its permissions.") from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise InvalidRequest(f"{root} is neither a folder nor a file; name one of these.")
    return real


def _root_names(roots: tuple[Path, ...]) -> dict[Path, str]:
    names: dict[Path, str] = {}
    taken: dict[str, int] = {}
    for root in roots:
        name = root.name or str(root)
        taken[name] = taken.get(name, 0) + 1
        names[root] = name if taken[name] == 1 else f"{name} ({taken[name]})"
    return names


def _below(locator: str, root: Path) -> tuple[str, ...] | None:
    """Return the steps from `root` to `locator`, or None when it is not below."""
    base = str(root)
    if locator == base:
        return ()
    prefix = base if base.endswith("/") else base + "/"
    if not locator.startswith(prefix):
        return None
    steps = tuple(locator[len(prefix) :].split("/"))
    return None if any(step in ("", ".", "..") for step in steps) else steps


def _entries(root: Path, own: str) -> Iterator[_Entry]:
    if not root.is_dir():
        yield _Entry(str(root), root.stat())
        return
    pending = [str(root)]
    while pending:
        folder = pending.pop()
        if folder == own:
            yield _Entry(folder, error="it is where Assay keeps its own data")
            continue
        try:
            with os.scandir(folder) as listing:
                children = list(listing)
        except OSError as error:
            yield _Entry(folder, error=f"the folder cannot be read: {error.strerror}")
            continue
        for child in children:
            if child.name.startswith("."):
                continue
            if child.is_symlink():
                if problem := _link_problem(child.path, root):
                    yield _Entry(child.path, error=problem)
            elif child.is_dir(follow_symlinks=False):
                if child.name not in _SKIPPED_FOLDERS:
                    pending.append(child.path)
            elif child.is_file(follow_symlinks=False):
                yield _stat(child)
            else:
                yield _Entry(child.path)


def _stat(child: os.DirEntry[str]) -> _Entry:
    try:
        return _Entry(child.path, child.stat(follow_symlinks=False))
    except OSError:  # removed since it was listed
        return _Entry(child.path)


def _link_problem(path: str, root: Path) -> str:
    target = os.path.realpath(path)
    if _below(target, root) is not None:
        return ""  # what it points at is found under its own name
    return "it is a link to something outside the folder, and such links are not followed"


def _problem(entry: _Entry, root: Path) -> str:
    if entry.error:
        return entry.error
    try:
        entry.path.encode()
    except UnicodeEncodeError:
        return "its name is not valid UTF-8; rename it"
    if entry.info is not None and entry.info.st_size > MAX_FILE_BYTES and root != Path(entry.path):
        return f"it has {entry.info.st_size:,} bytes; at most {MAX_FILE_BYTES:,} are read"
    return ""


def _is_of_no_interest(path: str) -> bool:
    return PurePath(path).suffix.lower() in _BINARY_SUFFIXES


def _file(path: str, info: os.stat_result) -> FolderFile:
    return FolderFile(path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


def _printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


def _read(root: Path, steps: tuple[str, ...], place: str) -> bytes:
    """Open step by step, so that no link on the way can lead out of the root."""
    shown = _printable(place)
    try:
        descriptor = _open_steps((str(root), *steps))
        try:
            return _read_regular(descriptor, shown)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _refusal(error, shown) from error


def _open_steps(path: tuple[str, ...]) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    folder: int | None = None
    for number, step in enumerate(path, start=1):
        kind = os.O_DIRECTORY if number < len(path) else 0
        try:
            descriptor = os.open(step, flags | kind, dir_fd=folder)
        finally:
            if folder is not None:
                os.close(folder)
        folder = descriptor
    return descriptor


def _read_regular(descriptor: int, shown: str) -> bytes:
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        raise RejectedError(f"{shown} is not a file; name a file.", code="NOT_A_FILE")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise RejectedError(
            f"{shown} has more than {MAX_FILE_BYTES:,} bytes; split it.", code="FILE_TOO_LARGE"
        )
    return data


def _refusal(error: OSError, shown: str) -> RejectedError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return RejectedError(
            f"{shown} does not exist (any more), or a folder on the way to it is a link.",
            code="FILE_NOT_FOUND",
        )
    if error.errno == errno.ELOOP:
        return RejectedError(
            f"{shown} is a link; links are not followed. Name the file itself.", code="NOT_A_FILE"
        )
    return RejectedError(
        f"{shown} cannot be read ({error.strerror}); check its permissions.", code="FILE_UNREADABLE"
    )
