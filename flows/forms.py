"""The forms that Prefect's pages draw: to ask for a run, and to decide on its plan."""

import re
from collections.abc import Iterator
from typing import Literal

from prefect.input import RunInput
from pydantic import BaseModel, ConfigDict, Field

from adapters.exports.plain_marks import escape
from flows.composing import compose_request, micro_usd
from flows.wiring import Desk
from state.request import ResearchRequest
from state.run_events import ReviewAnswered

Decision = Literal["approve", "revise", "replace", "cancel"]

# An option of the command line with what stands for its value, or the name of a field; neither
# within a path, nor quoted.
_NAMED = re.compile(
    r"(?<![\w/'\"-])"
    r"(?:--([a-z][a-z-]+)(?: [A-Z]{2,})?|(?:budgets\.)?([a-z]+(?:_[a-z]+)+))"
    r"(?![\w/'-])"
)
_OTHERWISE = {
    "budget_tokens": "max_tokens",
    "plan_review": "review",
    "reference_urls": "references",
}


class Limits(BaseModel):
    """What the run may use; 0 is the default of its scope."""

    model_config = ConfigDict(extra="forbid")

    max_rounds: int = Field(default=0, ge=0, title="Rounds in all")
    max_queries: int = Field(default=0, ge=0, title="Queries a round")
    max_pages: int = Field(default=0, ge=0, title="Sources read a round")
    max_searches: int = Field(default=0, ge=0, title="Searches in all")
    max_read_pages: int = Field(default=0, ge=0, title="Sources read in all")
    max_model_calls: int = Field(default=0, ge=0, title="Calls of a model in all")
    research_seconds: int = Field(default=0, ge=0, title="Seconds in which new research may begin")
    max_tokens: int = Field(default=0, ge=0, title="Tokens that models may read and write")
    budget_usd: float = Field(default=0, ge=0, title="US dollars")


class ResearchForm(BaseModel):
    """A question, where to look for the answer, and within which limits."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(title="Question", description="What to find out.")
    sources: list[str] = Field(
        default=[],
        title="Folders and files",
        description="Absolute paths, as the machine that executes the run sees them.",
    )
    search: list[str] = Field(
        default=[],
        title="Search the web with",
        description="Providers in the order they are asked: arxiv, openalex, mediawiki, …",
    )
    references: list[str] = Field(
        default=[], title="Read first", description="Up to three addresses."
    )
    origins: list[str] = Field(
        default=[], title="Read the web only there", description="Hosts; without any, everywhere."
    )
    review: bool = Field(
        default=False,
        title="Let a person decide on the plan first",
        description="The run is suspended until somebody has, however long that takes.",
    )
    scope: Literal["quick", "standard", "deep"] = Field(default="standard", title="How far to go")
    profile: Literal["question", "codebase"] = Field(
        default="question", title="Sections of the report"
    )
    research_type: Literal["market", "industry", "academic", "competitive", "policy"] = Field(
        default="academic", title="Kind of research"
    )
    cross_check: bool = Field(default=False, title="Ask for two distinct origins")
    audience: str = Field(default="", title="Whom the report is for")
    boundaries: str = Field(default="", title="What belongs to the question")
    model: str = Field(
        default="",
        title="Language model",
        description="Empty: the one that the settings name; 'extractive': none.",
    )
    limits: Limits = Field(default=Limits(), title="Limits")
    run_id: str = Field(
        default="", title="Run id", description="Empty: a new one. The same again: the same run."
    )

    @property
    def subject(self) -> str:
        """Return what is asked for, on one line."""
        return self.question

    def request(self, desk: Desk, run_id: str) -> ResearchRequest:
        """Return what is asked for; raises `InvalidRequest` for what cannot be done."""
        limits = {name: most or None for name, most in self.limits.model_dump().items()}
        usd = limits.pop("budget_usd")
        limits["max_cost_micro_usd"] = micro_usd(usd) if usd else None
        return compose_request(
            self.question,
            sources=self.sources,
            search=self.search,
            origins=self.origins,
            references=self.references,
            model=self.model or None,
            now=desk.now(),
            run_id=run_id,
            scope=self.scope,
            limits=limits,
            profile=self.profile,
            plan_review=self.review,
            cross_check=self.cross_check,
            audience=self.audience,
            boundaries=self.boundaries,
            research_type=self.research_type,
        )


class ReviewForm(RunInput):
    """A person's decision on a plan.

    `decision` has no default and must never get one: Prefect resumes a run without any input as
    soon as everything has.
    """

    decision: Decision = Field(
        title="Decision",
        description="approve: carry out exactly this plan. revise: plan anew, with your feedback. "
        "replace: carry out your own plan. cancel: end the run.",
    )
    feedback: str = Field(default="", title="Feedback", description="To revise: what to change.")
    plan: str = Field(
        default="", title="New plan", description="To replace: the JSON above, as you changed it."
    )
    reason: str = Field(default="", title="Reason", description="To cancel: why, if you like.")
    your_name: str = Field(default="", title="Your name", description="For the record.")

    @classmethod
    def of(cls, answer: ReviewAnswered) -> "ReviewForm":
        """Return the form as somebody would have filled it in who gave `answer`."""
        from state.values.ids import canonical_json

        return cls(
            decision=answer.action,
            feedback=answer.feedback,
            plan=canonical_json(answer.plan) if answer.plan else "",
            reason=answer.reason,
            your_name=answer.by,
        )


def in_words_of(form: type[BaseModel], message: str) -> str:
    """Return `message` with the titles of the form's fields for the command line's options."""
    titles = dict(_titles(form))

    def title(found: re.Match[str]) -> str:
        name = (found[1] or found[2]).replace("-", "_")
        for field in (name, f"{name}s", _OTHERWISE.get(name, "")):
            if field in titles:
                return f"“{titles[field]}”"
        return found[0]

    return _NAMED.sub(title, message)


def _titles(form: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for name, field in form.model_fields.items():
        yield name, field.title or name
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _titles(field.annotation)


def review_text(plan: str, fields: str, problem: str) -> str:
    """Return what stands above the form: the plan and how to decide on it, as Markdown.

    `plan` is the plan as Markdown and `fields` as JSON; `problem` says what was wrong with the
    answer before.
    """
    wrong = f"**The last answer could not be taken:** {escape(problem)}\n\n" if problem else ""
    return (
        f"{wrong}{plan}\n\n"
        "Nothing of it is carried out before somebody approved exactly this plan. The first answer "
        "counts, from here or from `assay review`; without one, the run waits.\n\n"
        "<details>\n<summary>The plan as JSON, to change and give back with “replace”</summary>\n\n"
        f"```json\n{fields}\n```\n\n</details>\n"
    )
