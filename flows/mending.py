"""Repairs: the files that a failed verification speaks of change, and its tests never do."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import anyio

from adapters.models.chat.tokens import estimate
from adapters.models.coder import FileDraft, RepairFilesInput
from flows.code_tools import CodeTools
from flows.designing import Agreed
from flows.implementing import files_after
from flows.step import Driver, Turn
from state.code_events import CodeFileRecorded
from state.code_stages import CodeStage
from state.values.verification import Verdict, Verification
from tasks.mend import Mended
from tasks.mend import mend as mend_task

_SHARE_OUTPUT = 8  # of the context
_SHARE_FILES = 3
_OUTPUT_CHARACTERS = 24_000
_TRIED_AT_MOST = 9  # by the runs before; three of them make no more
_MENDED = ("mend", "settled")


@dataclass(frozen=True, slots=True)
class Tried:
    """A repair: what was thought wrong, what was changed, and what was proposed and refused."""

    attempt: int
    diagnosis: str
    changed: tuple[str, ...]
    refused: tuple[str, ...] = ()


async def mend_code(
    driver: Driver,
    agreed: Agreed,
    tools: CodeTools,
    found: Verification,
    before: Sequence[Tried],
) -> Tried:
    """Ask for the next repair after `before`, and record each file that it changes.

    Raises `StepFailed` or `BudgetExceeded` when there is none.
    """
    attempt = len(before) + 1
    shown = await anyio.to_thread.run_sync(
        _shown, driver, found, attempt, tools.coder.context_tokens
    )
    plan = agreed.plan
    given = RepairFilesInput(
        title=plan.title,
        language=plan.environment_setup.language,
        attempt=attempt,
        output=shown.output,
        files=shown.files,
        frozen=shown.frozen,
        components=plan.implementation_components,
        quantities=plan.quantities,
        tried=(
            *await anyio.to_thread.run_sync(_tried_before, driver),
            *(_said(each.diagnosis, each.changed) for each in before),
        ),
    )
    turn = Turn(CodeStage.VERIFYING, attempt)
    mended = await driver.step(
        turn, mend_task, given, Mended,
        reserve=tools.coder.price(given), coder=tools.coder, artifacts=driver.desk.artifacts,
    )  # fmt: skip
    for written in mended.files:
        recorded = driver.paper2code.files[written.path]
        event = CodeFileRecorded(
            path=written.path,
            role=recorded.role,
            attempt=attempt,
            content_hash=written.content_hash,
            size=written.size,
            summary=written.summary[:2000] or recorded.summary,
        )
        await driver.record(turn, event)
    changed = tuple(written.path for written in mended.files)
    return Tried(attempt, mended.diagnosis, changed, mended.refused)


def _said(diagnosis: str, changed: Sequence[str]) -> str:
    return f"{diagnosis} ({', '.join(changed) or 'changed nothing'})"


def _tried_before(driver: Driver) -> list[str]:
    """Return what the runs that this is a retry of tried, the oldest first."""
    said = []
    for ancestor in reversed(driver.ancestors):
        effects = (e for e in ancestor.effects.values() if (e.verb, e.state) == _MENDED)
        for effect in sorted(effects, key=lambda each: (each.round, each.call_id)):
            mended = json.loads(driver.desk.artifacts.get(effect.outcome_hash))
            said.append(_said(mended["diagnosis"], [file["path"] for file in mended["files"]]))
    return said[-_TRIED_AT_MOST:]


@dataclass(frozen=True, slots=True)
class _Shown:
    output: str
    files: tuple[FileDraft, ...]
    frozen: tuple[FileDraft, ...]


def _shown(driver: Driver, found: Verification, attempt: int, context_tokens: int) -> _Shown:
    """Return the failing output, the files most likely at fault, and the frozen tests.

    They are as they were before this attempt, of which some may be recorded already.
    """
    code, artifacts = driver.paper2code, driver.desk.artifacts
    output = _output(found)[-min(_OUTPUT_CHARACTERS, 4 * context_tokens // _SHARE_OUTPUT) :]
    drafts = [
        FileDraft(path, artifacts.read_text(file.content_hash), file.summary)
        for path, file in files_after(driver.run, attempt - 1).items()
    ]
    frozen = set(code.frozen_hashes)
    own = [d for d in drafts if d.path not in frozen and not d.path.endswith(".md")]
    room = context_tokens // _SHARE_FILES
    return _Shown(
        output,
        _within(room, own, output),
        _within(room // 2, [draft for draft in drafts if draft.path in frozen], output),
    )


def _output(found: Verification) -> str:
    """Return what the commands that did not pass wrote, and what was thought of it."""
    parts = [found.reason] if found.reason else []
    parts += [
        f"$ {result.name}\n{result.output_tail}\n{result.reason}".strip()
        for result in found.commands
        if result.verdict is not Verdict.PASSED
    ]
    return "\n\n".join(parts)


def _within(room: int, drafts: Sequence[FileDraft], output: str) -> tuple[FileDraft, ...]:
    """Return as many of `drafts` as have room, those first that the output names, in their order.

    The first of these is taken even when it alone is longer.
    """
    ranked = sorted(
        drafts, key=lambda draft: draft.path not in output and _stem(draft) not in output
    )
    taken: set[str] = set()
    for draft in ranked:
        size = estimate(draft.text)
        if size <= room or not taken:
            taken.add(draft.path)
            room -= size
    return tuple(draft for draft in drafts if draft.path in taken)


def _stem(draft: FileDraft) -> str:
    return PurePosixPath(draft.path).stem
