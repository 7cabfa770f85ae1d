"""File by file: each from its part of the plan and from what it depends on, and nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import anyio

from adapters.models.coder import KnownFile, WriteFileInput
from adapters.models.coding.interfaces import interface_of
from adapters.models.coding.selecting import select
from flows.at_once import in_order
from flows.code_tools import CodeTools
from flows.designing import Agreed, still
from flows.step import Driver, StepFailed, Turn
from state.code_events import CodeFileRecorded
from state.code_stages import CodeStage
from state.errors import BudgetExceeded
from state.projection import Run
from state.values.code_plan import CodePlan, FileRole, PlannedFile, Quantity
from state.values.errors import RejectedError
from tasks.implement import Project, WrittenFile
from tasks.implement import implement as implement_task

MOST_TRIES = 3
_SHARE_SHOWN = 4  # of the context, for the source
_KNOWN_AT_MOST = 30
_TURN = Turn(CodeStage.IMPLEMENTING)


@dataclass(frozen=True, slots=True)
class NotWritten:
    """A planned file that is not there, and why."""

    path: str
    code: str
    reason: str


@dataclass(slots=True)
class _Known:
    """What is known of the files so far: as they were first written, and as they are now."""

    first: dict[str, KnownFile] = field(default_factory=dict)
    now: dict[str, KnownFile] = field(default_factory=dict)


async def write_all(driver: Driver, agreed: Agreed, tools: CodeTools) -> tuple[NotWritten, ...]:
    """Write every planned file, those at once that do not depend on each other.

    Returns what could not be written: the others go on without it, and the result says so.
    """
    plan = agreed.plan
    known = _Known()
    missing: list[NotWritten] = []
    for wave in waves(plan):
        calls = [partial(_write, driver, agreed, tools, file, known) for file in wave]
        results = await in_order(calls, at_once=driver.desk.settings.steps_at_once)
        for file, result in zip(wave, results, strict=True):
            if isinstance(result, RejectedError):
                missing.append(NotWritten(file.path, result.code, result.message))
            elif result.problem:
                missing.append(NotWritten(file.path, "FILE_INVALID", result.problem))
            else:
                known.first[file.path] = await _known_of(driver, result)
                known.now[file.path] = await _record(driver, file, result)
    return tuple(missing)


def waves(plan: CodePlan) -> Iterator[list[PlannedFile]]:
    """Yield the files of the plan in its order, together those whose dependencies are done."""
    left = [file for path in plan.implementation_strategy.order if (file := plan.file(path))]
    planned = {file.path for file in left}
    done: set[str] = set()
    while left:
        ready = [
            file for file in left if {path for path in file.depends_on if path in planned} <= done
        ]
        wave = ready or left[:1]  # a cycle cannot be in a valid plan; it would not hang here
        yield wave
        done |= {file.path for file in wave}
        left = [file for file in left if file.path not in done]


async def _write(
    driver: Driver, agreed: Agreed, tools: CodeTools, file: PlannedFile, known: _Known
) -> WrittenFile:
    """Return the file; what was wrong with a try is told to the coder in the next.

    A retry goes through the tries of the attempts before, which cost nothing, and then through
    some of its own. A file that is only in doubt is written again within the same bound, and taken
    when that gives no better one: running it tells, and the repairs have another look.
    """
    given = writing_input(agreed, file, known.first, tools.coder.context_tokens)
    if known.first != known.now and not driver.is_inherited(_TURN, implement_task, given):
        # It was not written with the others as they first were: so with them as they are.
        given = writing_input(agreed, file, known.now, tools.coder.context_tokens)
    project = _project(driver, agreed.plan)
    doubtful: WrittenFile | None = None
    for attempt in range(1, driver.run.attempt + 1):
        for _ in range(MOST_TRIES):
            try:
                written = await driver.step(
                    _TURN, implement_task, given, WrittenFile,
                    reserve=tools.coder.price(given), coder=tools.coder,
                    artifacts=driver.desk.artifacts, project=project,
                )  # fmt: skip
            except (StepFailed, BudgetExceeded):
                if doubtful is None:
                    raise
                return doubtful
            if not (written.problem or written.doubt):
                return written
            doubtful = doubtful if written.problem else written
            given = replace(given, problem=still(written.problem or written.doubt, attempt))
        if doubtful is not None:
            return doubtful
        given = replace(given, problem=still(written.problem, attempt + 1))
    return written


def _project(driver: Driver, plan: CodePlan) -> Project:
    """Return what there is beside a file that is to be written, as far as it is recorded."""
    planned = tuple(file.path for file in plan.file_structure)
    hashes = driver.paper2code.file_hashes
    return Project(planned, {path: hashes[path] for path in planned if path in hashes})


def writing_input(
    agreed: Agreed, file: PlannedFile, known: dict[str, KnownFile], context_tokens: int
) -> WriteFileInput:
    """Return what `file` is written from; it changes only with what the file depends on."""
    plan, material = agreed.plan, agreed.material
    component = next(
        (part for part in plan.implementation_components if part.id == file.component), None
    )
    quantities = tuple(_quantities(plan, file))
    words = [file.purpose, *file.interface, *(quantity.name for quantity in quantities)]
    words += [component.name, component.description, component.criterion] if component else []
    room = context_tokens // _SHARE_SHOWN
    shown = select(material.segments, words, room_tokens=room)
    helping = select(agreed.references, words, room_tokens=room // 2) if agreed.references else ()
    return WriteFileInput(
        title=plan.title,
        language=plan.environment_setup.language,
        file=file,
        component=component,
        quantities=quantities,
        ambiguities=plan.ambiguities if file.role is not FileRole.CONFIGURATION else (),
        requirements=plan.environment_setup.requirements,
        segments=(*shown, *helping),
        known=tuple(_known_to(file, known)),
    )


def _quantities(plan: CodePlan, file: PlannedFile) -> Iterator[Quantity]:
    """Yield what the file's component needs, or for a file without one, everything."""
    for quantity in plan.quantities:
        if not file.component or quantity.component in ("", file.component):
            yield quantity


def _known_to(file: PlannedFile, known: dict[str, KnownFile]) -> list[KnownFile]:
    """Return the files that `file` uses; a document and what stands alone may know all."""
    if file.depends_on:
        return [known[path] for path in file.depends_on if path in known]
    if file.role is FileRole.SOURCE:
        return []
    return list(known.values())[:_KNOWN_AT_MOST]


async def _record(driver: Driver, file: PlannedFile, written: WrittenFile) -> KnownFile:
    """Record the file, as the attempts before had repaired it; return it for others."""
    written = _as_repaired(driver, written)
    event = CodeFileRecorded(
        path=file.path,
        role=file.role.value,
        attempt=0,
        content_hash=written.content_hash,
        size=written.size,
        summary=written.summary[:2000],
    )
    await driver.record(_TURN, event)
    return await _known_of(driver, written)


async def _known_of(driver: Driver, written: WrittenFile) -> KnownFile:
    text = await anyio.to_thread.run_sync(driver.desk.artifacts.read_text, written.content_hash)
    return KnownFile(written.path, interface_of(written.path, text), written.summary)


def _as_repaired(driver: Driver, written: WrittenFile) -> WrittenFile:
    """Return the file as the attempts before left it, each that began with these very bytes.

    So a retry goes on with the repairs that were made, and does not make them again.
    """
    for ancestor in reversed(driver.ancestors):
        began = {event.path: event.content_hash for event in recorded_in(ancestor, 0)}
        last = ancestor.paper2code.files.get(written.path) if ancestor.paper2code else None
        if last is not None and began.get(written.path) == written.content_hash:
            written = replace(written, content_hash=last.content_hash, size=last.size)
    return written


def recorded_in(run: Run, attempt: int) -> list[CodeFileRecorded]:
    """Return what was recorded in `attempt` of the files that the present plan has, by path."""
    code = run.paper2code
    events = (
        event
        for event in run.calls.values()
        if isinstance(event, CodeFileRecorded)
        and event.attempt == attempt
        and code is not None
        and event.path in code.files
    )
    return sorted(events, key=lambda event: event.path)


def files_after(run: Run, attempt: int) -> dict[str, CodeFileRecorded]:
    """Return the files as repair number `attempt` left them (0: as first written), in their order.

    What a later repair made of them is left out: so what is made of them is the same in a run that
    goes on.
    """
    found: dict[str, CodeFileRecorded] = {}
    for number in range(attempt + 1):
        found |= {event.path: event for event in recorded_in(run, number)}
    order = run.paper2code.file_order if run.paper2code else ()
    return {path: found[path] for path in order if path in found}
