"""A consistent copy of everything, made while runs go on writing.

Reports are copied first, then the journals up to their last whole line, then the bodies these name:
so whatever the copy says is in the copy. The database is made anew from the copied journals.
"""

import os
import secrets
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from flows.keeping import manifests
from flows.schedule_keeping import changes_needed, schedule_lines, verify_schedules
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from state.artifacts import LocalArtifacts
from state.durable import (
    create_private_folder,
    explained,
    refuse_unspellable,
    sync_folder,
    write_new,
)
from state.envelope import Line
from state.errors import IntegrityError, NotFound
from state.journal import JOURNAL, run_folder
from state.references import references
from state.values.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Backup:
    """What was copied, and what in it does not check out (nothing: it was verified as sound)."""

    path: str
    runs: int
    events: int
    bodies: int
    problems: tuple[str, ...]


def back_up(desk: Desk, path: Path) -> Backup:
    """Copy the data folder to `path`, a new folder, or a new archive when it ends in `.tar`.

    The copy is verified. Raises `InvalidRequest` when `path` is there already and `StorageError`
    when the disk refuses; then nothing is left of the copy.
    """
    target = path.expanduser().absolute()
    refuse_unspellable(target)
    if os.path.lexists(target):
        raise InvalidRequest(f"{target} is there already; name a new folder or .tar file")
    if not target.parent.is_dir():
        raise InvalidRequest(f"{target.parent} is no folder; make it first")
    with _unfinished(target) as folder, explained(folder):
        create_private_folder(folder)
        _copy_files(desk, folder)
        made = _copy_runs(desk, folder, target)
        _put_in_place(folder, target)
    return made


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """Give a place beside `target` whose contents are gone when the block ends."""
    folder = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".tar").unlink(missing_ok=True)


def _copy_files(desk: Desk, folder: Path) -> None:
    home = desk.settings.home
    sources = [home / "policy.json", *sorted(desk.reports.glob("*/*"))]
    for source in sources:
        if source.is_file() and not source.is_symlink() and not source.name.startswith("."):
            copy = folder / source.relative_to(home)
            create_private_folder(copy.parent)
            write_new(copy, source.read_bytes())


def _copy_runs(desk: Desk, folder: Path, target: Path) -> Backup:
    runs = events = 0
    needed: set[str] = set()
    problems: list[str] = []
    for run_id in desk.ledger.runs():
        lines = desk.ledger.read(run_id)
        _copy_journal(run_folder(folder, run_id), lines)
        needed |= references(lines, desk.artifacts)
        runs, events = runs + 1, events + len(lines)
    for name, lines in schedule_lines(desk).items():
        _copy_journal(run_folder(folder / "schedules", name), lines)
    needed |= changes_needed(desk)
    bodies = _copy_bodies(desk, LocalArtifacts(folder / "artifacts"), needed, problems)
    # A data folder of its own, whatever memory this process works on.
    copy = make_desk(Settings(home=folder, ledger_url=SecretStr(""), artifacts_url=""))
    copy.ledger.sync()
    found = copy.ledger.verify(manifests(copy.reports)).findings
    found += verify_schedules(copy).findings
    problems += [f"{finding.run_id}: {finding.what}" for finding in found]
    copy.ledger.close()
    return Backup(str(target), runs, events, bodies, tuple(problems))


def _copy_journal(folder: Path, lines: list[Line]) -> None:
    create_private_folder(folder)
    write_new(folder / JOURNAL, b"".join(line.encode() for line in lines))


def _copy_bodies(desk: Desk, archive: LocalArtifacts, needed: set[str], problems: list[str]) -> int:
    copied = 0
    for body_hash in sorted(needed):
        if not desk.artifacts.has(body_hash):
            continue  # the hash of a text that is no body; a body that is missing `verify` names
        try:
            archive.put(desk.artifacts.get(body_hash))
            copied += 1
        except NotFound:
            continue
        except IntegrityError as error:
            problems.append(error.message)
    return copied


def _put_in_place(folder: Path, target: Path) -> None:
    if target.suffix == ".tar":
        packed = folder.with_suffix(".tar")
        descriptor = os.open(packed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                archive.add(folder, arcname=target.stem)
            file.flush()
            os.fsync(file.fileno())
        os.link(packed, target)  # unlike a rename, never over a file that came meanwhile
    else:
        folder.rename(target)
    sync_folder(target.parent)
