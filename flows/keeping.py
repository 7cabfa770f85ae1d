"""What is kept and what is given up: forget bytes on purpose, and collect those nobody needs."""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from flows.runs import existing_run, principal
from flows.schedule_keeping import changes_needed, verify_schedules, withhold_changes
from flows.wiring import Desk
from state.envelope import Line
from state.errors import CorruptLedger, NotFound, Refused
from state.events import draft
from state.references import outcomes_naming, references
from state.request import as_invalid_request
from state.run_events import BytesWithheld
from state.values.errors import InvalidRequest
from state.values.ids import is_content_hash

_HOUR_S = 3600.0
# What was put this recently may belong to a run that has not recorded it yet.
_IN_FLIGHT_S = 600.0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Which runs got a tombstone, and how many bodies were deleted, kept and left for later.

    `kept` bodies are needed by another run; `left` ones were just put while something runs, and go
    with a later `assay gc`.
    """

    runs: tuple[str, ...]
    withheld: int
    deleted: int
    kept: int
    left: int


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection removed, or would remove: bodies, their bytes, and unfinished files."""

    bodies: int
    size: int
    unfinished: int


def forget(desk: Desk, target: str, reason: str) -> Forgotten:
    """Withhold the bytes of a run, or of an artifact (by id or content hash), and delete them.

    First a tombstone is recorded in each run concerned; then every body that no other run needs is
    deleted. What changed to and from a run of a schedule goes with it. Quotes of an artifact that a
    report cites stay in that report. Raises `InvalidRequest`
    without a reason, `NotFound`, and `Refused` for a run that has not ended.
    """
    if not reason.strip():
        raise InvalidRequest("say why with --reason; the tombstone keeps it for good")
    histories = {run_id: desk.ledger.read(run_id) for run_id in desk.ledger.runs()}
    concerned = _concerned(desk, target, histories)
    for run_id in concerned:
        _refuse_live(desk, run_id)
    present = {
        run_id: tuple(sorted(hash_ for hash_ in hashes if desk.artifacts.has(hash_)))
        for run_id, hashes in concerned.items()
    }
    for run_id, hashes in present.items():
        if hashes:
            with as_invalid_request():  # the first of them, so before anything was done
                event = BytesWithheld(hashes=hashes, reason=reason, by=principal())
            desk.ledger.append(run_id, [draft(event)])
        if run_id == target:
            present[run_id] = (*hashes, *sorted(withhold_changes(desk, run_id, reason)))
            _unpublish(desk, run_id)
    return _delete(desk, present)


def _concerned(
    desk: Desk, target: str, histories: dict[str, list[Line]]
) -> dict[str, frozenset[str]]:
    """Return the hashes to withhold, by run."""
    if target in histories:
        return {target: references(histories[target], desk.artifacts)}
    found: dict[str, frozenset[str]] = {}
    for run_id, lines in histories.items():
        named = references(lines, desk.artifacts)
        if is_content_hash(target):
            wanted = frozenset({target}) & named
        else:
            wanted = _of_artifact(desk, run_id, target)
        if wanted:
            found[run_id] = wanted | (outcomes_naming(wanted, lines, desk.artifacts) & named)
    if not found:
        raise NotFound(f"there is no run and no artifact {target!r}; 'assay runs' lists the runs")
    return found


def _of_artifact(desk: Desk, run_id: str, artifact_id: str) -> frozenset[str]:
    research = desk.ledger.project(run_id).research
    artifact = research.artifacts.get(artifact_id) if research else None
    if artifact is None:
        return frozenset()
    rendition = artifact.rendition
    texts = {rendition.text_hash, rendition.blocks_hash} if rendition else set()
    return frozenset({artifact.content_hash} | texts)


def _refuse_live(desk: Desk, run_id: str) -> None:
    run = existing_run(desk, run_id)
    if desk.ledger.holder(run_id) is not None or not run.is_terminal:
        raise Refused(
            f"run {run_id!r} is {run.status} and still needs its bytes; "
            f"end it first with: assay cancel {run_id}",
            code="LIVE",
        )


def _unpublish(desk: Desk, run_id: str) -> None:
    """Remove the report that was published, and the texts that searching has kept."""
    shutil.rmtree(desk.reports / run_id, ignore_errors=True)
    if not _anything_runs(desk):
        shutil.rmtree(desk.settings.cache, ignore_errors=True)


def _delete(desk: Desk, withheld: dict[str, tuple[str, ...]]) -> Forgotten:
    needed = _needed(desk, desk.ledger.runs())
    wanted = {hash_ for hashes in withheld.values() for hash_ in hashes}
    unused_for_s = _IN_FLIGHT_S if _anything_runs(desk) else 0.0
    gone = wanted - needed
    deleted = sum(desk.artifacts.delete(each, unused_for_s=unused_for_s) for each in sorted(gone))
    return Forgotten(
        runs=tuple(sorted(withheld)),
        withheld=len(wanted),
        deleted=deleted,
        kept=len(wanted & needed),
        left=len(gone) - deleted,
    )


def collect(desk: Desk, *, grace_hours: float, dry_run: bool = False) -> Collected:
    """Remove the bodies that no run needs and that were put more than `grace_hours` ago.

    Touches nothing when the ledger is not sound, since then nobody knows what is needed: raises
    `CorruptLedger`. While something runs the grace is at least an hour.
    """
    findings = desk.ledger.verify(manifests(desk.reports)).findings
    findings += verify_schedules(desk).findings
    if findings:
        first = findings[0]
        raise CorruptLedger(
            f"nothing was collected, since the ledger is not sound: {first.place}: {first.what}; "
            "see 'assay ledger verify'"
        )
    grace_s = grace_hours * _HOUR_S
    if _anything_runs(desk):
        grace_s = max(grace_s, _HOUR_S)
    needed = _needed(desk, desk.ledger.runs())
    bodies = size = 0
    for stored in desk.artifacts.entries():
        if stored.hash in needed or stored.age_s < grace_s:
            continue
        if dry_run or desk.artifacts.delete(stored.hash, unused_for_s=grace_s):
            bodies += 1
            size += stored.size
    unfinished = 0 if dry_run else desk.artifacts.sweep_temporaries(max(grace_s, _HOUR_S))
    return Collected(bodies, size, unfinished)


def manifests(reports: Path) -> dict[str, tuple[int, str]]:
    """Return the last position and hash that each report published in `reports` says of its run."""
    found: dict[str, tuple[int, str]] = {}
    for path in sorted(reports.glob("*/manifest.json")):
        try:
            said = json.loads(path.read_text())
            found[str(said["run_id"])] = (int(said["last_position"]), str(said["last_hash"]))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue  # `assay verify` of that run looks at its report
    return found


def _needed(desk: Desk, run_ids: Iterable[str]) -> frozenset[str]:
    needed = {*changes_needed(desk)}
    for run_id in run_ids:
        needed |= references(desk.ledger.read(run_id), desk.artifacts)
    return frozenset(needed)


def _anything_runs(desk: Desk) -> bool:
    return any(desk.ledger.holder(run_id) is not None for run_id in desk.ledger.runs())
