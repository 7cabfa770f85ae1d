"""What changed since the slot before: computed once, archived, and put beside the report.

It is a pure function of two sealed reports, so whoever computes it again comes to the same bytes.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from flows.comparing import compare_runs, read_report
from flows.wiring import Desk
from state.durable import write_new
from state.errors import Conflict, NotFound
from state.projection import Run
from state.schedule import Schedule, SlotRecord
from state.schedule_events import ChangeCounts, RecordedChanges, SlotEnded
from state.values.changes import Changes
from state.values.errors import AssayError, InvalidRequest, ObstructedError
from state.values.statements import form

MARKDOWN, DATA = "changes.md", "changes.json"


@dataclass(frozen=True, slots=True)
class ChangesFiles:
    """The two files, and what they count."""

    markdown: bytes
    data: bytes
    counts: ChangeCounts
    anything: bool


def end_of(desk: Desk, schedule: Schedule, record: SlotRecord, run: Run) -> SlotEnded:
    """Return how the slot ended with `run`, which has ended; its changes are archived by then.

    They are those since the last slot before it whose report can be read. Where the run made no
    report, or none can be read, there are none, and the reason says which.
    """
    reason = "" if run.status == "completed" else (run.cancel_reason or run.reason)[:4000]
    outcome = run.status
    assert outcome in ("completed", "failed", "cancelled")  # it has ended  # noqa: S101
    changes = None
    if outcome == "completed":
        try:
            changes = _record(desk, schedule, record, run)
        except AssayError as error:
            if isinstance(error, ObstructedError):
                raise  # the disk: whoever looks next does it
            reason = error.message[:4000]
    return SlotEnded(
        slot=record.slot, run_id=run.run_id, outcome=outcome, reason=reason, changes=changes
    )


def changes_files(desk: Desk, earlier: str, later: str) -> ChangesFiles:
    """Return what changed from run `earlier` to run `later`; raises as `compare_runs` does."""
    from adapters.exports.changes import changes_content, changes_markdown

    comparison = compare_runs(desk, earlier, later)
    content = json.dumps(changes_content(comparison), indent=1, ensure_ascii=False)
    return ChangesFiles(
        markdown=changes_markdown(comparison).encode(),
        data=f"{content}\n".encode(),
        counts=_counts(comparison.changes),
        anything=not comparison.changes.is_empty,
    )


def publish_changes(desk: Desk, record: SlotRecord) -> None:
    """Put the recorded changes beside the report, where that was published; identical files pass.

    Raises `ObstructedError` (PUBLICATION) for a file that holds something else, which stays.
    """
    ended, folder = record.ended, _place(desk, record)
    if ended is None or ended.changes is None or folder is None:
        return
    for name, body_hash in ((MARKDOWN, ended.changes.markdown), (DATA, ended.changes.data)):
        try:
            write_new(folder / name, _body(desk, ended.run_id, ended.changes, body_hash))
        except Conflict as error:
            raise ObstructedError(
                f"{folder / name} holds something else and is not overwritten; move it away",
                code="PUBLICATION",
            ) from error


def lacks_changes(desk: Desk, record: SlotRecord) -> bool:
    """Tell whether a file of the recorded changes is not where it should be."""
    folder = _place(desk, record)
    return folder is not None and not all((folder / name).exists() for name in (MARKDOWN, DATA))


def _place(desk: Desk, record: SlotRecord) -> Path | None:
    """Return the folder that the changes belong in: None without changes, or where it is not here.

    Another machine may have published the report, or it was forgotten.
    """
    if record.ended is None or record.ended.changes is None or record.withheld:
        return None
    folder = desk.reports / record.ended.run_id
    return folder if (folder / "report.md").is_file() else None


def _body(desk: Desk, run_id: str, changes: RecordedChanges, body_hash: str) -> bytes:
    """Return an archived body; one that is gone is computed again, to the same bytes."""
    if not desk.artifacts.has(body_hash):
        files = changes_files(desk, changes.against, run_id)
        for data in (files.markdown, files.data):
            desk.artifacts.put(data)
    return desk.artifacts.get(body_hash)


def _record(desk: Desk, schedule: Schedule, record: SlotRecord, run: Run) -> RecordedChanges | None:
    earlier = _report_before(desk, schedule, record)
    if earlier is None:
        return None
    files = changes_files(desk, earlier, run.run_id)
    return RecordedChanges(
        against=earlier,
        anything=files.anything,
        counts=files.counts,
        markdown=desk.artifacts.put(files.markdown),
        data=desk.artifacts.put(files.data),
    )


def _report_before(desk: Desk, schedule: Schedule, record: SlotRecord) -> str | None:
    """Return the run of the last slot before with a report on the same question, if any."""
    asked = form(record.request.question)
    for before in schedule.ended():
        if before.ended is None or before.at >= record.at or before.ended.outcome != "completed":
            continue
        if form(before.request.question) != asked:
            continue
        try:
            read_report(desk, desk.ledger.project(before.ended.run_id))
        except (InvalidRequest, NotFound):
            continue  # it asked back, and made none
        except AssayError as error:
            if isinstance(error, ObstructedError):
                raise
            continue  # withheld, or damaged: `assay verify` says so
        return before.ended.run_id
    return None


def _counts(changes: Changes) -> ChangeCounts:
    return ChangeCounts(**{name: len(getattr(changes, name)) for name in ChangeCounts.model_fields})
