"""What a run was asked for, in words: for whoever decides on its plan, and sees nothing else."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from flows.composing import BUILT_IN
from state.code_request import CodeRequest
from state.projection import Run
from state.request import ResearchRequest
from state.values.origins import ANY

_LIMITS = {
    "max_rounds": "rounds {}", "max_queries": "queries a round {}",
    "max_pages": "sources a round {}", "max_searches": "searches in all {}",
    "max_read_pages": "sources in all {}", "max_files": "files {}", "max_repairs": "repairs {}",
    "max_model_calls": "calls of a model {}", "max_tokens": "tokens {}",
    "research_seconds": "new research within {} s", "verification_seconds": "a test command {} s",
}  # fmt: skip


def asked_for(run: Run) -> dict[str, str]:
    """Return what `run` was asked for, by names for people; nothing that was left out."""
    if run.research is not None:
        facts = dict(_of_research(run.research.started.request))
        if run.research.plan is not None and run.research.plan.goal == facts["Question"]:
            del facts["Question"]  # the plan says it
    elif run.paper2code is not None:
        facts = dict(_of_code(run.paper2code.request))
    else:
        return {}
    return {name: said for name, said in facts.items() if said}


def _of_research(asked: ResearchRequest) -> Iterator[tuple[str, str]]:
    yield "Question", asked.question
    yield "For", asked.audience
    yield "Boundaries", asked.boundaries
    yield "Folders and files", _listed(asked.sources)
    yield "Web searched with", _listed(asked.search_providers)
    yield "Read first", _listed(asked.reference_urls)
    if asked.uses_web:
        hosts = asked.allowed_origins
        yield "Web read", "everywhere" if hosts == ANY else _listed(hosts)
    yield "Scope", asked.scope + (", two origins for each subquestion" if asked.cross_check else "")
    yield "Model", asked.model or f"{BUILT_IN}: the built-in researcher, no language model"
    yield "Limits", limits_of(asked.budgets)
    yield "Asked by", asked.principal


def _of_code(asked: CodeRequest) -> Iterator[tuple[str, str]]:
    if asked.source_type == "requirement":
        yield "Requirement", asked.source
    else:
        yield "Source", asked.source
        yield "Requirement", asked.requirement
    yield "Folder for the code", asked.workspace
    if asked.options.enable_indexing:
        references = _listed(asked.reference_repositories)
        yield "Repositories looked at", references or "those that the source links to"
        yield "Never looked at", _listed(asked.excluded_repositories)
    yield "Model", asked.model
    yield "Limits", limits_of(asked.budgets)
    yield "Asked by", asked.principal


def limits_of(budgets: BaseModel) -> str:
    """Return limits on one line; those that are none are left out, but for money."""
    given = budgets.model_dump(exclude_none=True)
    parts = [said.format(f"{given[name]:,}") for name, said in _LIMITS.items() if name in given]
    usd = given.get("max_cost_micro_usd")
    parts.append("US$ without a limit" if usd is None else f"US$ {usd / 1e6:,.2f}")
    return " · ".join(parts)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
