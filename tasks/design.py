"""Design: plan the code, with every citation looked up in the source and every rule checked."""

from dataclasses import dataclass
from typing import Any

from prefect import task

from adapters.models.coder import Coder, DesignInput
from adapters.models.port import Answer
from state.artifacts import Artifacts
from state.values.code_plan import CodePlan
from state.values.code_plan_citing import locate_citations
from state.values.code_plan_form import normalise_code_plan
from state.values.code_plan_rules import check_code_plan
from state.values.errors import RejectedError
from state.values.quotes import NormalisedText
from tasks.policy import POLICY


@dataclass(frozen=True, slots=True)
class Designed:
    """A plan that may be carried out, as JSON; or with a `problem`, why there is none."""

    plan: dict[str, Any] | None
    problem: str = ""


async def design_code(
    given: DesignInput, text_hash: str, coder: Coder, artifacts: Artifacts
) -> Answer[Designed]:
    """Return the plan, normalised, its citations located in the text, and valid; else the problem.

    Errors are the coder's.
    """
    answer = await coder.design(given)
    try:
        plan = settle_plan(answer.value, artifacts.read_text(text_hash), given.max_files)
    except RejectedError as error:
        return answer.giving(Designed(None, error.message))
    return answer.giving(Designed(plan.as_json()))


def settle_plan(plan: CodePlan, text: str, max_files: int) -> CodePlan:
    """Return `plan` in normal form, its citations located; raises `RejectedError` if invalid."""
    settled = locate_citations(normalise_code_plan(plan), NormalisedText(text))
    check_code_plan(settled)
    if len(settled.file_structure) > max_files:
        raise RejectedError(
            f"the plan has {len(settled.file_structure)} files; at most {max_files} are allowed",
            code="PLAN_INVALID",
        )
    return settled


@task(name="design", task_run_name="design the code", **POLICY)
async def design(
    given: DesignInput, *, text_hash: str, coder: Coder, artifacts: Artifacts
) -> Answer[Designed]:
    """Plan the code."""
    return await design_code(given, text_hash, coder, artifacts)
