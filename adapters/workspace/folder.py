"""Writes files into a person's folder: never through a link, and never over what is not ours."""

import fcntl
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from state.values.errors import ObstructedError, RejectedError
from state.values.ids import content_hash

MARK = ".assay-run"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MARK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PART = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_OWNER = 1000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def claim(folder: Path, owner: str) -> None:
    """Make `folder` the workspace of `owner`, a run and its retries.

    It is made if it is missing. Raises `RejectedError` (WORKSPACE) when it holds anything that is
    not of this owner, or is no folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        claimed = _claimed(folder, owner)
    except (FileExistsError, NotADirectoryError) as error:
        raise RejectedError(f"{folder} is no folder; name another one", code="WORKSPACE") from error
    except OSError as error:
        raise ObstructedError(
            f"the workspace {folder} cannot be used: {error.strerror}; mend that, then "
            "'assay resume' the run",
            code="WORKSPACE",
        ) from error
    if claimed != owner:
        raise RejectedError(
            f"{folder} is the workspace of run {claimed[:140]!r}; name another folder",
            code="WORKSPACE",
        )


def _claimed(folder: Path, owner: str) -> str:
    """Return whose workspace `folder` is: with nothing in it but an empty mark, now the owner's.

    Of two that come at once one waits for the other; whoever is killed here has claimed nothing.
    """
    if (problem := occupied(folder)) is not None:
        raise RejectedError(problem, code="WORKSPACE")
    descriptor = os.open(folder / MARK, _MARK, 0o644)
    with os.fdopen(descriptor, "r+", encoding="utf-8", errors="replace") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise RejectedError(f"{folder / MARK} is no regular file", code="WORKSPACE")
        fcntl.flock(file, fcntl.LOCK_EX)
        if claimed := file.read(_LONGEST_OWNER).strip():
            return claimed
        file.write(f"{owner}\n")
        file.flush()
        os.fsync(file.fileno())
    return owner


def occupied(folder: Path) -> str | None:
    """Return why `folder`, which is there, can be nobody's workspace yet, or None.

    A mark says that it is one: whose, `claim` tells.
    """
    mark = folder / MARK
    if mark.is_file() and not mark.is_symlink():
        return None
    if any(folder.iterdir()):
        return f"{folder} is not empty; name a new or an empty folder with --workspace"
    return None


def workspace_problem(folder: Path, owner: str) -> str | None:
    """Return why `claim` would refuse `folder` to `owner` now, or None; changes nothing."""
    try:
        if (problem := occupied(folder)) is not None:
            return problem
        claimed = (folder / MARK).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{folder}: {error.strerror}; name another folder with --workspace"
    if claimed in ("", owner):
        return None
    return f"{folder} is the workspace of run {claimed[:140]!r}; name another folder"


def write_files(
    folder: Path, files: Mapping[str, bytes], *, ours: Mapping[str, frozenset[str]]
) -> None:
    """Write `files` by path below `folder`.

    A file that is there is overwritten only when its content hash is among those that `ours` names
    for its path. Raises `ObstructedError` (PUBLICATION) naming what is in the way: nothing of it is
    touched, and what was written before stays.
    """
    for path, body in files.items():
        try:
            _write(folder, path, body, ours.get(path, frozenset()))
        except OSError as error:
            raise ObstructedError(
                f"{folder / path} cannot be written: {error.strerror}; move away what is there and "
                "'assay resume' the run",
                code="PUBLICATION",
            ) from error


def remove_files(folder: Path, ours: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Remove the files that `ours` names with their content hashes; return the paths now not there.

    One that somebody changed stays, and so does what is reached through a link. A folder that is
    left empty goes too. Raises `ObstructedError` (PUBLICATION) for one that cannot be removed.
    """
    gone = []
    for path, hashes in ours.items():
        try:
            if _remove(folder, path.split("/"), hashes):
                gone.append(path)
        except OSError as error:
            raise ObstructedError(
                f"{folder / path} cannot be removed: {error.strerror}; remove it and "
                "'assay resume' the run",
                code="PUBLICATION",
            ) from error
    return tuple(gone)


def _remove(folder: Path, parts: list[str], hashes: frozenset[str]) -> bool:
    *parents, name = parts
    try:
        with _opened(folder, parents, make=False) as at:
            try:
                before = _read_if_any(at, name)
            except OSError:
                return False  # a link or a folder, say, which is somebody else's
            if before is None:
                return True
            if content_hash(before) not in hashes:
                return False
            os.unlink(name, dir_fd=at)
            os.fsync(at)
    except (FileNotFoundError, NotADirectoryError):
        return not os.path.lexists(folder.joinpath(*parts))
    for size in range(len(parents), 0, -1):
        try:
            folder.joinpath(*parents[:size]).rmdir()
        except OSError:
            break  # something else is in it
    return True


def _write(folder: Path, path: str, body: bytes, ours: frozenset[str]) -> None:
    *parents, name = path.split("/")
    with _opened(folder, parents) as at:
        before = _read_if_any(at, name)
        if before == body:
            return
        if before is not None and content_hash(before) not in ours:
            raise ObstructedError(
                f"{folder / path} holds something else and is not overwritten; move it away and "
                "'assay resume' the run",
                code="PUBLICATION",
            )
        # One name for each file: what a kill leaves is written over when the run goes on.
        part = f".{content_hash(name.encode())[-16:]}.assay-part"
        descriptor = os.open(part, _PART, 0o644, dir_fd=at)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, name, src_dir_fd=at, dst_dir_fd=at)
            os.fsync(at)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=at)
            raise


@contextmanager
def _opened(folder: Path, parents: list[str], *, make: bool = True) -> Iterator[int]:
    """Open the folder at `parents` below `folder`, with `make` made; links are refused."""
    at = os.open(folder, _FOLDER)
    try:
        for part in parents:
            if make:
                with suppress(FileExistsError):  # as a file or a link, say: opening it refuses
                    os.mkdir(part, 0o755, dir_fd=at)
            inner = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


def _read_if_any(at: int, name: str) -> bytes | None:
    try:
        descriptor = os.open(name, _READ, dir_fd=at)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is no regular file")
        return file.read()
