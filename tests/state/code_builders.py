"""Paper2Code runs for tests of the rules: a history in any of its states, and its events."""

from typing import Any

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
from state.code_request import CodeBudgets, CodeOptions, CodeRequest
from state.code_state import Paper2Code
from state.events import Limits
from state.run_events import (
    EffectReserved,
    ReviewAnswered,
    ReviewRequested,
    RunCompleted,
    RunResumed,
    RunStarted,
    RunWaiting,
)
from state.values.code_plan import CodePlan
from state.values.ids import content_hash, sha256_hex
from tests.state.builders import DIGEST, RUN, History, leased, queued
from tests.state.values.code_plans import code_plan

ROLES = {"tests/test_training.py": "test", "README.md": "document"}
PLAN = code_plan()
PATHS = PLAN.implementation_strategy.order
TEST = PLAN.validation_approach.tests[0]


def code_request(run_id: str = RUN, **fields: Any) -> CodeRequest:
    """Return a request; `plan_review` and budgets are given by their own names."""
    options, budgets = (
        {name: fields.pop(name) for name in kind.model_fields if name in fields}
        for kind in (CodeOptions, CodeBudgets)
    )
    given = {
        "id": run_id,
        "principal": "ann",
        "source_type": "local",
        "source": "/papers/mean.pdf",
        "workspace": "/work/mean",
        "model": "local:coder",
        "options": options,
        "budgets": budgets,
    }
    return CodeRequest.model_validate({**given, **fields})


def code_started(run_id: str = RUN, **fields: Any) -> CodeStarted:
    return CodeStarted(request=code_request(run_id, **fields))


def coding(*, caps: Limits | None = None, **fields: Any) -> History:
    """Return a run that is being worked on under lease 1; `fields` are those of its request."""
    queue = queued(kind="paper2code", limits=caps or Limits())
    return History().record(queue, code_started(**fields), leased(), RunStarted())


def state_of(history: History) -> Paper2Code:
    assert history.run.paper2code is not None
    return history.run.paper2code


def code_source(artifact_id: str = "s1", **fields: Any) -> CodeSourceRecorded:
    given = {
        "artifact_id": artifact_id,
        "source_type": "local",
        "name": "mean.pdf",
        "locator": "/papers/mean.pdf",
        "content_hash": content_hash(artifact_id),
        "media_type": "application/pdf",
        "size": 4711,
        "pages": 9,
    }
    return CodeSourceRecorded.model_validate({**given, **fields})


def code_planned(version: int = 1, made: CodePlan = PLAN, **fields: Any) -> CodePlanRecorded:
    given = {
        "version": version,
        "origin": "planned" if version == 1 else "revised",
        "title": made.title,
        "plan_hash": made.hash,
        "body_hash": content_hash(made.hash),
        "paths_planned": [file.path for file in made.file_structure],
        "citations": 2,
        "located": 2,
        "ambiguities": len(made.ambiguities),
    }
    return CodePlanRecorded.model_validate({**given, **fields})


def plan_requested(
    number: int = 1, made: CodePlan = PLAN, version: int | None = None
) -> tuple[ReviewRequested, RunWaiting]:
    """Return what is recorded when a person is asked about version `number` of the plan."""
    id_ = f"review-{number}"
    asked = ReviewRequested(interaction_id=id_, version=version or number, plan_hash=made.hash)
    return asked, RunWaiting(interaction_id=id_)


def plan_answered(
    action: str, number: int = 1, made: CodePlan = PLAN, **fields: Any
) -> ReviewAnswered:
    given: dict[str, Any] = {
        "interaction_id": f"review-{number}",
        "action": action,
        "plan_hash": made.hash,
        "by": "ann",
        "channel": "cli",
    }
    if action == "revise":
        given["feedback"] = "Leave the optimiser out."
    if action == "replace":
        given["plan"] = made.as_json()
    return ReviewAnswered.model_validate({**given, **fields})


def approved(**fields: Any) -> History:
    """Return a run whose first plan a person approved."""
    return coding(**fields).record(
        code_source(), code_planned(), *plan_requested(), plan_answered("approve"), RunResumed()
    )


def reference(locator: str = "https://git.example.org/a/b", **fields: Any) -> CodeReferenceRecorded:
    given = {"locator": locator, "outcome": "indexed", "files": 12, "licence": "MIT"}
    given["index_hash"] = content_hash(locator)
    return CodeReferenceRecorded.model_validate({**given, **fields})


def file_hash(path: str, attempt: int = 0) -> str:
    return content_hash(f"{path} {attempt}")


def written(path: str, attempt: int = 0, **fields: Any) -> CodeFileRecorded:
    given = {
        "path": path,
        "role": ROLES.get(path, "source"),
        "attempt": attempt,
        "content_hash": file_hash(path, attempt),
        "size": 120,
        "summary": f"What {path} does.",
    }
    return CodeFileRecorded.model_validate({**given, **fields})


def frozen(*paths: str, **fields: Any) -> CodeTestsFrozen:
    files = [{"path": path, "content_hash": file_hash(path)} for path in paths or (TEST,)]
    return CodeTestsFrozen.model_validate({"files": files, **fields})


def dependencies(**fields: Any) -> CodeDependenciesInstalled:
    given = {"outcome": "installed", "requirements": ["numpy>=1.26"]}
    return CodeDependenciesInstalled.model_validate({**given, **fields})


def verified(attempt: int = 0, verdict: str = "passed", **fields: Any) -> CodeVerified:
    failed = int(verdict in ("failed", "tampered"))
    executed = 0 if verdict in ("no_tests", "not_executed") else 3
    given = {
        "attempt": attempt,
        "verdict": verdict,
        "level": "namespaces",
        "commands": 1,
        "executed": executed,
        "passed": executed - failed,
        "failed": min(failed, executed),
        "skipped": 0,
        "tampered": [TEST] if verdict == "tampered" else [],
        "result_hash": content_hash(f"{verdict} {attempt}"),
    }
    return CodeVerified.model_validate({**given, **fields})


def sealed(history: History, **fields: Any) -> CodeSealed:
    """Return the seal that fits where `history` stands."""
    code = state_of(history)
    given = {
        "outcome": "complete" if code.is_complete else "incomplete",
        "plan_hash": code.plan.plan_hash if code.plan else DIGEST,
        "files": [FileHash(path=p, content_hash=h) for p, h in code.file_hashes.items()],
        "missing": code.missing,
        "report_hash": content_hash("report"),
        "report_json_hash": content_hash("report.json"),
        "commit": "" if code.missing else sha256_hex("commit")[:40],
        "reason_code": "" if code.is_complete else "WORKFLOW_INCOMPLETE",
    }
    return CodeSealed.model_validate({**given, **fields})


def implemented(**fields: Any) -> History:
    """Return a run that wrote every file, froze its tests and installed what it needs."""
    history = approved(**fields).record(*(written(path) for path in PATHS))
    return history.record(frozen(), dependencies())


def code_completed(answer: str = "verified") -> RunCompleted:
    return RunCompleted(answer_status=answer, stop_reason="tests-passed")


def stage_effect(stage: str, attempt: int = 1, **reserve: int) -> EffectReserved:
    return EffectReserved.model_validate(
        {
            "epoch": 1,
            "verb": "write",
            "stage": stage,
            "round": 1,
            "input_hash": DIGEST,
            "attempt": attempt,
            "reserve": reserve,
        }
    )
