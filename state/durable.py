"""Bytes that stay: the few file operations on which journals and the archive rest."""

import errno
import fcntl
import os
import secrets
import stat
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from state.errors import Conflict, StorageError
from state.values.errors import InvalidRequest, RejectedError

TEMPORARY_PREFIX = ".tmp-"

# Where a lock or a sync may mean nothing to another machine, or to the server behind the mount.
# fmt: off
_REMOTE = frozenset({
    "9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs",
    "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "pvfs2", "smb",
    "smb2", "smb3", "smbfs", "vboxsf", "vmhgfs",
})
_LOCAL_FUSE = frozenset({
    "fuse.bindfs", "fuse.encfs", "fuse.fuse-overlayfs", "fuse.gocryptfs", "fuse.mergerfs",
    "fuse.zfs",
})
# fmt: on
_LONGEST_PATH = 3_500  # Linux allows 4,095 bytes, and there are folders to come below
_MARKS = frozenset("?#%")
_ADVICE = {
    errno.ENOSPC: "free some space, then run it again",
    errno.EDQUOT: "free some space or raise the quota, then run it again",
    errno.EFBIG: "raise the file size limit (`ulimit -f`), then run it again",
    errno.EROFS: "make it writable or choose another folder, then run it again",
    errno.EACCES: "give yourself the right to it or choose another folder, then run it again",
    errno.EPERM: "give yourself the right to it or choose another folder, then run it again",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`), then run it again",
    errno.ELOOP: "replace the symbolic link with a real file or folder",
    errno.ENOTDIR: "something else is in the way of a folder; move it away",
    errno.EIO: "check the disk before anything else is written to it",
}


class explained:  # noqa: N801 - read as a phrase: `with explained(path)`
    """Turn an `OSError` of the block into `StorageError` that names `path` and what to do."""

    __slots__ = ("_path",)

    def __init__(self, path: Path | str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError):
            raise storage_error(self._path, error) from error


def storage_error(path: Path | str, error: OSError) -> StorageError:
    """Return the error that says what the system refused at `path`, and what to do."""
    reason = error.strerror or str(error)
    advice = _ADVICE.get(error.errno or 0, "see to it, then run it again")
    return StorageError(f"{path}: {reason}; {advice}")


def sync_file(fd: int) -> None:
    """Return when what was written to `fd` is on the disk itself. Raises `OSError`.

    After an error nobody knows what is on the disk: close the file and read it again, since a
    second sync may succeed without having written anything.
    """
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # fsync there leaves the bytes in the drive's cache
    else:
        os.fdatasync(fd)


def sync_folder(path: Path | str) -> None:
    """Return when the names in the folder `path` are on the disk. Raises `OSError`."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if sys.platform == "darwin":
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data` to `fd`, however many writes it takes.

    Raises `OSError`; part of `data` may then be in the file, and undoing that is the caller's part.
    """
    written = os.write(fd, data)
    while written < len(data):
        more = os.write(fd, memoryview(data)[written:])
        if more == 0:
            raise OSError(errno.EIO, "the file took no more bytes")
        written += more


def create_private_folder(path: Path | str) -> None:
    """Make the folder `path`, and those above it, for its owner only (0700), durably.

    A folder that is there already keeps its rights. Raises `StorageError`.
    """
    folder = Path(path)
    with explained(folder):
        _create_folder(folder)


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except FileNotFoundError:
        _create_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)  # /proc says again that there is no such folder
        sync_folder(folder.parent)
    except FileExistsError:
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        # Whoever made it may not have come to the sync yet; what may not be read is not ours.
        if os.access(folder.parent, os.R_OK):
            sync_folder(folder.parent)
    else:
        sync_folder(folder.parent)


def write_temporary(folder: Path | str, data: bytes, *, mode: int = 0o600) -> Path:
    """Write `data` to a new file in `folder`, synced, and return its path.

    When that fails no file is left. Raises `OSError`.
    """
    path = Path(folder) / f"{TEMPORARY_PREFIX}{secrets.token_hex(12)}"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        write_all(fd, data)
        sync_file(fd)
    except BaseException:  # also when interrupted
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)
    return path


def write_new(path: Path | str, data: bytes, *, mode: int = 0o600) -> None:
    """Create the file `path` with `data`, whole or not at all, and never over another file.

    A file that holds the same bytes passes. Raises `Conflict` when it holds others, or is no
    regular file, and `StorageError`.
    """
    target = Path(path)
    with explained(target):
        if not os.path.lexists(target):
            temporary = write_temporary(target.parent, data, mode=mode)
            try:
                os.link(temporary, target)
            except FileExistsError:
                pass  # somebody was faster; whether with the same bytes is decided below
            finally:
                temporary.unlink(missing_ok=True)
        if not _holds(target, data):
            raise Conflict(
                f"{target} is there already and holds something else; "
                "it was left as it is: move it away, or write to another place"
            )
        sync_folder(target.parent)


def _holds(path: Path, data: bytes) -> bool:
    if not stat.S_ISREG(path.lstat().st_mode):
        return False
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        return os.fstat(fd).st_size == len(data) and file.read() == data


def replace_file(path: Path | str, data: bytes, *, mode: int = 0o600) -> None:
    """Make `path` a file that holds `data`; a reader sees either the old bytes or the new.

    Raises `StorageError`; the old file is then as it was.
    """
    target = Path(path)
    with explained(target):
        temporary = write_temporary(target.parent, data, mode=mode)
        try:
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)


def refuse_unspellable(path: Path | str) -> None:
    """Raise `InvalidRequest` when nothing can be kept at `path` for how it is spelled.

    It may be no text, too long, or hold what the databases take for a mark in an address: they
    would put their files elsewhere.
    """
    text = str(path)
    shown = text.encode(errors="backslashreplace").decode()
    if shown != text:
        raise InvalidRequest(f"{shown} is not valid UTF-8; choose a folder with another name")
    steps = Path(text).parts
    if len(text.encode()) > _LONGEST_PATH or any(len(step.encode()) > 255 for step in steps):
        raise InvalidRequest(f"{text[:200]}… is too long; choose a folder with a shorter path")
    if marks := sorted(_MARKS & set(text)):
        raise InvalidRequest(
            f"{text} holds {' '.join(marks)}, which databases take for a mark in an address; "
            "choose a folder with another name"
        )


def refuse_unsuitable(path: Path | str) -> None:
    """Raise `RejectedError` when `path` cannot hold a ledger: another platform, a network drive.

    `path` need not exist yet; the nearest folder above it that does is judged. A file system the
    kernel gives no name for, as in a chroot, passes.
    """
    if sys.platform not in ("linux", "darwin"):
        raise RejectedError(
            f"Assay keeps its data on Linux and macOS only, and this is {sys.platform}; "
            "run it there, in a container or in WSL 2"
        )
    refuse_unspellable(path)
    kind = _file_system(_nearest_existing(Path(path)))
    if kind in _REMOTE or (kind.startswith("fuse.") and kind not in _LOCAL_FUSE):
        raise RejectedError(
            f"{path} is on a {kind} file system, where locks and syncs cannot be relied on; "
            "choose a folder on a local disk"
        )


def _nearest_existing(path: Path) -> Path:
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _file_system(path: Path) -> str:
    if sys.platform == "darwin":
        listing = subprocess.run(
            ["/sbin/mount"], capture_output=True, text=True, timeout=20, check=True, env={}
        )
        return file_system_of(path.resolve(), listing.stdout)
    fd = os.open(path, os.O_PATH)
    try:
        about = Path(f"/proc/self/fdinfo/{fd}").read_text()
        return file_system_by_id(about, Path("/proc/self/mountinfo").read_text())
    except OSError as error:
        raise RejectedError(
            f"cannot tell which file system {path} is on ({error}); mount /proc, then try again"
        ) from error
    finally:
        os.close(fd)


def file_system_by_id(fdinfo: str, mountinfo: str) -> str:
    """Return the file system type of an open file by the mount id in its fdinfo (Linux), or ''."""
    ids = [line.split()[1] for line in fdinfo.splitlines() if line.startswith("mnt_id:")]
    for line in mountinfo.splitlines():
        mount, _, about = line.partition(" - ")
        if mount.split(" ", 1)[0] in ids:
            return about.split(" ", 1)[0]
    return ""


def file_system_of(path: Path, mounts: str) -> str:
    """Return the file system type of `path` by what `mount` prints on macOS, or ''."""
    found, kind = "", ""
    for line in mounts.splitlines():
        where, _, options = line.rpartition(" (")
        point = where.partition(" on ")[2]
        if len(point) >= len(found) and path.is_relative_to(point or "?"):
            found, kind = point, options.split(",")[0].rstrip(")")
    return kind
