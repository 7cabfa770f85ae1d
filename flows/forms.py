"""The forms that Prefect's pages draw: to ask for a run, and to decide on its plan."""

from typing import Annotated, Literal

from prefect.input import RunInput
from pydantic import BaseModel, ConfigDict, Field

from flows.composing import compose_request, micro_usd
from flows.wiring import Desk
from state.projection import Run
from state.request import ResearchRequest
from state.run_events import ReviewAnswered

Decision = Literal["approve", "revise", "replace", "cancel"]
Count = Annotated[int, Field(ge=1)]


class Limits(BaseModel):
    """What the run may use; what is left empty is the default of its scope."""

    model_config = ConfigDict(extra="forbid")

    max_rounds: Count | None = Field(default=None, title="Rounds in all")
    max_queries: Count | None = Field(default=None, title="Queries a round")
    max_pages: Count | None = Field(default=None, title="Sources read a round")
    max_searches: Count | None = Field(default=None, title="Searches in all")
    max_read_pages: Count | None = Field(default=None, title="Sources read in all")
    max_model_calls: Count | None = Field(default=None, title="Calls of a model in all")
    research_seconds: Count | None = Field(
        default=None, title="Seconds in which new research may begin"
    )
    max_tokens: Count | None = Field(default=None, title="Tokens that models may read and write")
    budget_usd: Annotated[float, Field(gt=0)] | None = Field(default=None, title="US dollars")


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
    model: str | None = Field(
        default=None,
        title="Language model",
        description="Without one, that of the settings; 'extractive' is none.",
    )
    limits: Limits = Field(default=Limits(), title="Limits")
    run_id: str | None = Field(
        default=None, title="Run id", description="The same id with the same request: same run."
    )

    def request(self, desk: Desk, run_id: str) -> ResearchRequest:
        """Return what is asked for; raises `InvalidRequest` for what cannot be done."""
        limits = self.limits.model_dump(exclude={"budget_usd"})
        usd = self.limits.budget_usd
        limits["max_cost_micro_usd"] = None if usd is None else micro_usd(usd)
        return compose_request(
            self.question,
            sources=self.sources,
            search=self.search,
            origins=self.origins,
            references=self.references,
            model=self.model,
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
    feedback: str = Field(default="", title="revise: what should change")
    plan: str = Field(
        default="", title="replace: the new plan", description="JSON, as it is shown above."
    )
    reason: str = Field(default="", title="cancel: why")
    your_name: str = Field(default="", title="Your name, for the record")

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


def review_text(run: Run, plan: str, fields: str, problem: str) -> str:
    """Return what stands above the form: the plan and how to decide on it, as Markdown.

    `plan` is the plan as Markdown and `fields` as JSON; `problem` says what was wrong with the
    answer before.
    """
    asked = f"# Review of the plan of run `{run.run_id}`"
    wrong = f"> **Your last answer could not be taken:** {problem}\n\n" if problem else ""
    return (
        f"{asked}\n\n{wrong}{plan}\n\n"
        "Nothing is searched before somebody approved exactly this plan. The first answer counts, "
        "from here or from `assay review`; without one, the run waits.\n\n"
        "To replace the plan, change this and give it back:\n\n"
        f"```json\n{fields}\n```\n"
    )
