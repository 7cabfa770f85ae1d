"""Folders whose contents nobody vouches for: copied, measured, tidied, read and removed.

Links are never followed and nothing is opened that could block. Folders are held open while their
contents are worked on, so that a path is never resolved twice.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adapters.sandbox.port import SandboxUnavailable
from state.values.errors import InvalidRequest

MAX_DEPTH = 100
"""How deep folders may nest; each level is held open while it is walked."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PIECE = 1024 * 1024
_BLOCK = 4096
_FEW_ENTRIES = 20_000
_BYTES_FOR_ENTRY = 2048


class TooDeep(InvalidRequest):
    """Folders nest deeper than `MAX_DEPTH`; `path` is the first that does."""

    def __init__(self, path: str) -> None:
        super().__init__(f"folders nest deeper than {MAX_DEPTH}: {path}")
        self.path = path


@dataclass(frozen=True, slots=True)
class Found:
    """Something in a tree: its name in the open folder `folder`, and its path from the root."""

    folder: int
    name: str
    path: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        """Return whether it is a folder."""
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        """Return whether it is a regular file."""
        return stat.S_ISREG(self.status.st_mode)

    @property
    def is_link(self) -> bool:
        """Return whether it is a symbolic link."""
        return stat.S_ISLNK(self.status.st_mode)


@dataclass(frozen=True, slots=True)
class Size:
    """What a tree takes on disk, and of how many files, folders and links it consists."""

    bytes: int
    entries: int


@dataclass(frozen=True, slots=True)
class _Level:
    folder: int
    names: Iterator[str]
    path: str


def walk(root: int, *, insist: bool = False) -> Iterator[Found]:
    """Yield everything below the open folder `root`, folders before what is in them.

    What disappears meanwhile, and what is in folders that cannot be opened, is left out; with
    `insist`, folders are made readable to their owner. Raises `TooDeep`.
    """
    levels = [_level(os.dup(root), "")]
    try:
        while levels:
            level = levels[-1]
            name = next(level.names, None)
            if name is None:
                os.close(levels.pop().folder)
                continue
            path = level.path + name
            try:
                status = os.stat(name, dir_fd=level.folder, follow_symlinks=False)
            except OSError:
                continue
            yield Found(level.folder, name, path, status)
            if not stat.S_ISDIR(status.st_mode):
                continue
            if len(levels) >= MAX_DEPTH:
                raise TooDeep(path)
            with suppress(OSError):
                levels.append(_level(_open_inner(level.folder, name, insist=insist), path + "/"))
    finally:
        for level in levels:
            os.close(level.folder)


def _open_inner(folder: int, name: str, *, insist: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:
        if not insist:
            raise
    # By way of a handle, since what is there under that name may be something else any moment.
    place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        Path(f"/proc/self/fd/{place}").chmod(0o700)
        return os.open(".", _FOLDER, dir_fd=place)
    finally:
        os.close(place)


def _level(folder: int, path: str) -> _Level:
    return _Level(folder, iter(os.listdir(folder)), path)


def measure(root: int) -> Size:
    """Return how large the tree at the open folder `root` is; a file of several names counts once.

    Folders that hide what is in them are made readable. Raises `TooDeep`.
    """
    used, entries = 0, 0
    seen: set[tuple[int, int]] = set()
    for found in walk(root, insist=True):
        entries += 1
        status = found.status
        if status.st_nlink > 1 and not found.is_folder:
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
        used += status.st_blocks * 512
    return Size(used, entries)


def is_larger(root: int, max_bytes: int) -> bool:
    """Return whether the tree at the open folder `root` outgrew what is allowed."""
    try:
        size = measure(root)
    except TooDeep:
        return True
    return size.bytes > max_bytes or size.entries > max_entries(max_bytes)


def max_entries(disk_bytes: int) -> int:
    """Return how many files and folders may take `disk_bytes`: each costs memory of the kernel."""
    return max(_FEW_ENTRIES, disk_bytes // _BYTES_FOR_ENTRY)


def copy(source: Path, target: int, *, owner: int | None, max_bytes: int) -> None:
    """Copy the tree at `source` into the open, empty folder `target`; give it to the user `owner`.

    Regular files, folders, and links as links; of modes only what they permit, of times the last
    change. Sockets, pipes and devices are left out. Raises `InvalidRequest` for a tree that is
    larger, or nested deeper, than allowed, or has paths that are too long, and `SandboxUnavailable`
    when there is no room for it.
    """
    root = open_folder(source)
    budget, most = max_bytes, max_entries(max_bytes)
    try:
        for entries, found in enumerate(walk(root), start=1):
            if entries > most:
                raise InvalidRequest(f"{source} has more than {most:,} files")
            if found.is_file:
                budget -= -(-found.status.st_size // _BLOCK) * _BLOCK
            if budget < 0:
                raise InvalidRequest(f"{source} has more than {max_bytes:,} bytes")
            _copy_one(found, target, owner)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidRequest(f"{source} has paths that are too long") from error
        raise SandboxUnavailable(
            f"{source} could not be copied for the sandbox: {error}"
        ) from error
    finally:
        os.close(root)


def _copy_one(found: Found, target: int, owner: int | None) -> None:
    mode = stat.S_IMODE(found.status.st_mode) & 0o777
    if found.is_folder:
        os.mkdir(found.path, mode | 0o700, dir_fd=target)
    elif found.is_file:
        _copy_file(found, target, mode)
    elif found.is_link:
        os.symlink(os.readlink(found.name, dir_fd=found.folder), found.path, dir_fd=target)
    else:
        return
    if owner is not None:
        os.chown(found.path, owner, owner, dir_fd=target, follow_symlinks=False)


def _copy_file(found: Found, target: int, mode: int) -> None:
    source = os.open(found.name, _FILE, dir_fd=found.folder)
    try:
        copied = os.open(
            found.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=target
        )
        try:
            left = found.status.st_size
            while left > 0 and (piece := os.read(source, min(left, _PIECE))):
                left -= len(piece)
                _write(copied, piece)
            os.utime(copied, ns=(found.status.st_atime_ns, found.status.st_mtime_ns))
        finally:
            os.close(copied)
    finally:
        os.close(source)


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def read_file(root: int, path: str, *, max_bytes: int) -> bytes | None:
    """Return the regular file at `path` below the open folder `root`.

    None when there is no such file, when it is longer than `max_bytes`, and when any part of the
    path is a link.
    """
    *folders, name = PurePosixPath(path).parts
    folder = os.dup(root)
    try:
        for part in folders:
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return _read_regular(os.open(name, _FILE, dir_fd=folder), max_bytes)
    except OSError:
        return None  # a missing file, a link (ELOOP) and a socket (ENXIO) are all no regular file
    finally:
        os.close(folder)


def _read_regular(file: int, max_bytes: int) -> bytes | None:
    with open(file, "rb", buffering=0) as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        data = bytearray()
        while piece := opened.read(min(_PIECE, max_bytes + 1 - len(data))):
            data += piece
        return bytes(data) if len(data) <= max_bytes else None


def give_to(root: int, owner: int, group: int) -> None:
    """Make `owner` and `group` own the open folder `root` and all that is in it."""
    os.fchown(root, owner, group)
    for found in walk(root):
        os.chown(found.name, owner, group, dir_fd=found.folder, follow_symlinks=False)


def tidy(root: int) -> None:
    """Take from the tree at `root` what only does harm: special files, and borrowed rights.

    Set-user and set-group bits go, sockets, pipes and devices, and what is nested deeper than
    `MAX_DEPTH`. No process may be at work in it any more.
    """
    while True:
        try:
            for found in walk(root):
                _tidy_one(found)
            return
        except TooDeep as deep:
            folder, _, name = deep.path.rpartition("/")
            place = os.open(folder or ".", _FOLDER, dir_fd=root)
            try:
                remove_at(place, name)
            finally:
                os.close(place)


def _tidy_one(found: Found) -> None:
    mode = stat.S_IMODE(found.status.st_mode)
    if found.is_link:
        return
    if found.is_folder:
        wanted = mode & 0o777 | 0o700  # else one could not look into it
    elif found.is_file:
        wanted = mode & 0o777
    else:
        os.unlink(found.name, dir_fd=found.folder)
        return
    if wanted != mode & 0o6777:
        os.chmod(found.name, wanted, dir_fd=found.folder)


def remove(path: Path) -> None:
    """Remove the folder `path` and all that is in it, whatever that is; nothing when it is gone."""
    with suppress(FileNotFoundError):
        parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            remove_at(parent, path.name)
        finally:
            os.close(parent)


def remove_at(parent: int, name: str) -> None:
    """Remove the folder `name` of the open folder `parent`, however deep it nests.

    At any time only one folder is open. No process may be at work in it any more.
    """
    names = [name]
    folder = _enter(parent, name)
    try:
        while names:
            inner = _first_folder(folder)
            if inner is not None:
                deeper = _enter(folder, inner)
                names.append(inner)
            elif len(names) > 1:
                deeper = os.open("..", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
                os.rmdir(names.pop(), dir_fd=deeper)
            else:
                os.rmdir(names.pop(), dir_fd=parent)
                return
            os.close(folder)
            folder = deeper
    finally:
        os.close(folder)


def _first_folder(folder: int) -> str | None:
    """Remove files from the open folder `folder` until there is a folder; return its name."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                return entry.name
            os.unlink(entry.name, dir_fd=folder)
    return None


def _enter(parent: int, name: str) -> int:
    with suppress(PermissionError):  # not the owner: opening it tells
        os.chmod(name, 0o700, dir_fd=parent)
    return os.open(name, _FOLDER, dir_fd=parent)


def open_folder(path: Path) -> int:
    """Open the folder `path`, which may itself be a link; raises `InvalidRequest` if it is none."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be opened as a folder: {error.strerror}") from error
