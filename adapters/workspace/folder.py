"""Writes files into a person's folder: never through a link, and never over what is not ours."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from state.values.errors import ObstructedError, RejectedError
from state.values.ids import content_hash

MARK = ".assay-run"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def claim(folder: Path, owner: str) -> None:
    """Make `folder` the workspace of `owner`, a run and its retries.

    It is made if it is missing. Raises `RejectedError` (WORKSPACE) when it holds anything that is
    not of this owner, or is no folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        mark = folder / MARK
        if mark.is_symlink() or not mark.is_file():
            if any(folder.iterdir()):
                raise RejectedError(
                    f"{folder} is not empty; name a new or an empty folder with --workspace",
                    code="WORKSPACE",
                )
            descriptor = os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(f"{owner}\n")
            return
        claimed = mark.read_text(encoding="utf-8", errors="replace").strip()
    except FileExistsError as error:
        raise RejectedError(
            f"{folder} is no folder, or is being claimed by another run; name another one",
            code="WORKSPACE",
        ) from error
    except OSError as error:
        raise ObstructedError(f"{folder}: {error.strerror}", code="WORKSPACE") from error
    if claimed != owner:
        raise RejectedError(
            f"{folder} is the workspace of run {claimed[:140]!r}; name another folder",
            code="WORKSPACE",
        )


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
        part = f".{name[:100]}.{os.getpid()}.part"
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=at)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, name, src_dir_fd=at, dst_dir_fd=at)
        except BaseException:
            os.unlink(part, dir_fd=at)
            raise


@contextmanager
def _opened(folder: Path, parents: list[str]) -> Iterator[int]:
    """Open the folder at `parents` below `folder`, made where it is missing; links are refused."""
    at = os.open(folder, _FOLDER)
    try:
        for part in parents:
            with suppress(FileExistsError):  # as a file or a link, say, which opening it refuses
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
