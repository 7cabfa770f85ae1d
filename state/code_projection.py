"""What is known about a Paper2Code run, and which of its events may follow which.

Pure: same state and event, same answer. Every rule that is broken raises `Refused` with a code.
"""

from collections.abc import Iterable

from state.code_events import (
    CodeDependenciesInstalled,
    CodeFileRecorded,
    CodePlanRecorded,
    CodeReferenceRecorded,
    CodeSealed,
    CodeSourceRecorded,
    CodeStarted,
    CodeTestsFrozen,
    CodeVerified,
    FileHash,
)
from state.code_state import Paper2Code
from state.copying import replace
from state.errors import Refused
from state.research_state import refuse_unless
from state.values.workspace_paths import path_problems

__all__ = ["CodeEvent", "Paper2Code", "evolve_code", "start_code"]

CodeEvent = (
    CodeStarted
    | CodeSourceRecorded
    | CodePlanRecorded
    | CodeReferenceRecorded
    | CodeFileRecorded
    | CodeTestsFrozen
    | CodeDependenciesInstalled
    | CodeVerified
    | CodeSealed
)


def start_code(event: CodeStarted) -> Paper2Code:
    """Return the state that `event` begins."""
    return Paper2Code(started=event)


def evolve_code(code: Paper2Code, event: CodeEvent) -> Paper2Code:
    """Return the state after `event`; raises `Refused` when its rules do not allow it.

    That a plan which needs a review was approved is for `state.plan_gate` to see.
    """
    if code.sealed:
        raise Refused("the code is sealed; start a new run", code="SEALED")
    match event:
        case CodeStarted():
            raise Refused("the run has already started", code="ALREADY_STARTED")
        case CodeSourceRecorded():
            return _source(code, event)
        case CodePlanRecorded():
            return _plan(code, event)
        case CodeReferenceRecorded():
            return _reference(code, event)
        case CodeFileRecorded():
            return _file(code, event)
        case CodeTestsFrozen():
            return _frozen(code, event)
        case CodeDependenciesInstalled():
            _require_plan(code)
            return replace(code, dependencies=event)
        case CodeVerified():
            return _verified(code, event)
        case CodeSealed():
            return _sealed(code, event)


def _source(code: Paper2Code, event: CodeSourceRecorded) -> Paper2Code:
    refuse_unless(
        all(event.artifact_id != earlier.artifact_id for earlier in code.sources),
        "DUPLICATE_ARTIFACT",
        f"artifact {event.artifact_id!r} is already recorded",
    )
    refuse_unless(
        event.source_type in (code.request.source_type, "requirement"),
        "SOURCE_TYPE",
        f"the run is made from a source of type {code.request.source_type}",
    )
    return replace(code, sources=(*code.sources, event))


def _plan(code: Paper2Code, event: CodePlanRecorded) -> Paper2Code:
    refuse_unless(code.sources, "NO_SOURCE", "no source is archived that the plan could be for")
    expected = len(code.plans) + 1
    refuse_unless(
        event.version == expected,
        "PLAN_VERSION",
        f"the next version of the plan is {expected}, not {event.version}",
    )
    refuse_unless(
        code.frozen is None, "PLAN_FROZEN", "the tests of the plan are frozen; the plan stands"
    )
    refuse_unless(
        len(event.paths_planned) <= code.request.budgets.max_files,
        "LIMIT",
        f"at most {code.request.budgets.max_files} files are written",
    )
    if problems := path_problems(event.paths_planned):
        raise Refused("the plan is not valid: " + "; ".join(problems), code="PLAN")
    kept = tuple(path for path in code.file_order if path in event.paths_planned)
    files = code.files
    for path in code.file_order:
        if path not in kept:
            files = files.delete(path)
    return replace(code, plans=(*code.plans, event), files=files, file_order=kept)


def _reference(code: Paper2Code, event: CodeReferenceRecorded) -> Paper2Code:
    _require_plan(code)
    refuse_unless(
        all(event.locator != earlier.locator for earlier in code.references),
        "DUPLICATE_REFERENCE",
        f"reference {event.locator!r} is already recorded",
    )
    return replace(code, references=(*code.references, event))


def _file(code: Paper2Code, event: CodeFileRecorded) -> Paper2Code:
    plan = _require_plan(code)
    refuse_unless(
        event.path in plan.paths_planned,
        "UNPLANNED_FILE",
        f"version {plan.version} of the plan has no file {event.path!r}",
    )
    refuse_unless(
        not _is_frozen(code, event.path),
        "FROZEN_TEST",
        f"{event.path!r} is a frozen test and stays as it is",
    )
    refuse_unless(
        event.attempt == code.attempt,
        "ATTEMPT",
        f"what is written now belongs to attempt {code.attempt}, not {event.attempt}",
    )
    order = code.file_order if event.path in code.files else (*code.file_order, event.path)
    return replace(
        code, files=code.files.set(event.path, event), file_order=order, is_verified=False
    )


def _is_frozen(code: Paper2Code, path: str) -> bool:
    recorded = code.files.get(path)
    is_test = recorded is not None and recorded.role == "test"
    return code.frozen is not None and (is_test or path in code.frozen_hashes)


def _frozen(code: Paper2Code, event: CodeTestsFrozen) -> Paper2Code:
    refuse_unless(code.frozen is None, "ALREADY_FROZEN", "the tests are frozen already")
    plan = _require_plan(code)
    paths = [file.path for file in event.files]
    refuse_unless(len(set(paths)) == len(paths), "FILES", "each file is frozen once")
    # What lies in the workspace besides can decide as well what is tested, and so can a part of a
    # file: neither was recorded with these bytes.
    _require_recorded(code, (file for file in event.files if file.path in plan.paths_planned))
    return replace(code, frozen=event)


def _verified(code: Paper2Code, event: CodeVerified) -> Paper2Code:
    if code.frozen is None:
        raise Refused("tests are frozen before they count", code="NOT_FROZEN")
    refuse_unless(
        event.attempt == code.attempt,
        "ATTEMPT",
        f"the next verification is number {code.attempt}, not {event.attempt}",
    )
    refuse_unless(
        event.attempt <= code.request.budgets.max_repairs,
        "LIMIT",
        f"at most {code.request.budgets.max_repairs} repairs are made",
    )
    _require_true_verdict(event)
    return replace(code, verifications=(*code.verifications, event), is_verified=True)


def _require_true_verdict(event: CodeVerified) -> None:
    """Refuse a verdict that its own numbers contradict."""
    passes = (
        event.commands > 0
        and event.executed > 0
        and event.failed == 0
        and event.passed == event.executed
        and not event.tampered
    )
    refuse_unless(
        passes or event.verdict != "passed",
        "VERDICT",
        "passed means: a command ran, at least one test was executed, all executed tests passed, "
        "and no frozen test was changed",
    )
    refuse_unless(
        not event.tampered or event.verdict == "tampered",
        "VERDICT",
        "where a frozen test was changed the verdict is tampered",
    )


def _sealed(code: Paper2Code, event: CodeSealed) -> Paper2Code:
    plan = _require_plan(code)
    refuse_unless(
        event.plan_hash == plan.plan_hash,
        "PLAN_HASH",
        "the result is about another plan than the present one",
    )
    outcome = "complete" if code.is_complete else "incomplete"
    refuse_unless(
        event.outcome == outcome,
        "INCOMPLETE" if outcome == "incomplete" else "COMPLETE",
        f"the code is {outcome}: {_standing(code)}",
    )
    _require_recorded(code, event.files)
    refuse_unless(
        {file.path for file in event.files} == set(code.files)
        and len(event.files) == len(code.files),
        "FILES",
        "the result names every file that was written, once",
    )
    refuse_unless(
        event.missing == code.missing,
        "MISSING",
        f"what is missing is {', '.join(code.missing) or 'nothing'}, in the plan's order",
    )
    return replace(code, sealed=event)


def _standing(code: Paper2Code) -> str:
    """Return what is there and what is not, for people."""
    last = code.verification
    if code.missing:
        return f"{len(code.missing)} planned files are not written: {', '.join(code.missing)}"
    if last is None:
        return "its tests were not run"
    if not code.is_verified:
        return "its tests were not run since a file was written"
    return f"the last verification says {last.verdict}"


def _require_plan(code: Paper2Code) -> CodePlanRecorded:
    if code.plan is None:
        raise Refused("there is no plan", code="NO_PLAN")
    return code.plan


def _require_recorded(code: Paper2Code, files: Iterable[FileHash]) -> None:
    for file in files:
        recorded = code.files.get(file.path)
        if recorded is None or recorded.content_hash != file.content_hash:
            raise Refused(f"{file.path!r} was not recorded with these bytes", code="FILES")
