"""The form that Prefect's pages draw to ask for code."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from flows.code_runs import compose_code_request
from flows.composing import micro_usd
from flows.wiring import Desk
from state.code_request import CodeRequest


class CodeLimits(BaseModel):
    """What the run may use; 0 is the default, and for repairs none."""

    model_config = ConfigDict(extra="forbid")

    max_files: int = Field(default=0, ge=0, le=200, title="Files in all")
    max_repairs: int = Field(default=3, ge=0, le=3, title="Repairs after failed tests")
    max_model_calls: int = Field(default=0, ge=0, title="Calls of the model in all")
    verification_seconds: int = Field(default=0, ge=0, title="Seconds that a test command may take")
    max_tokens: int = Field(default=0, ge=0, title="Tokens that the model may read and write")
    budget_usd: float = Field(default=0, ge=0, title="US dollars")


class PaperForm(BaseModel):
    """What to make code of, where it goes, and within which limits."""

    model_config = ConfigDict(extra="forbid")

    source: str = Field(
        default="",
        title="Paper or repository",
        description="An absolute path, as the machine that executes the run sees it, or a URL. "
        "Empty: the requirement alone.",
    )
    requirement: str = Field(default="", title="Requirement", description="What is wanted.")
    workspace: str = Field(
        title="Folder for the code",
        description="An absolute path on the machine that executes the run; new or empty.",
    )
    review: bool = Field(
        default=True,
        title="Let a person decide on the plan first",
        description="The run is suspended until somebody has, however long that takes.",
    )
    model: str = Field(
        default="", title="Language model", description="Empty: the one that the settings name."
    )
    indexing: bool = Field(
        default=False, title="Look at repositories that the paper links to, or at these"
    )
    references: list[str] = Field(default=[], title="Repositories to look at")
    excluded: list[str] = Field(
        default=[], title="Repositories never to look at", description="The paper's own, say."
    )
    limits: CodeLimits = Field(default=CodeLimits(), title="Limits")
    run_id: str = Field(
        default="", title="Run id", description="Empty: a new one. The same again: the same run."
    )

    @property
    def subject(self) -> str:
        """Return what is asked for."""
        return self.source or self.requirement

    def request(self, desk: Desk, run_id: str) -> CodeRequest:
        """Return what is asked for; raises `InvalidRequest` for what cannot be done."""
        limits = self.limits.model_dump()
        usd, repairs = limits.pop("budget_usd"), limits.pop("max_repairs")
        budgets: dict[str, int | None] = {name: most or None for name, most in limits.items()}
        budgets["max_repairs"] = repairs
        budgets["max_cost_micro_usd"] = micro_usd(usd) if usd else None
        return compose_code_request(
            self.source or None,
            now=desk.now(),
            requirement=self.requirement,
            workspace=Path(self.workspace),
            model=self.model or None,
            review=self.review,
            indexing=self.indexing,
            references=tuple(self.references),
            excluded=tuple(self.excluded),
            run_id=run_id,
            budgets=budgets,
        )
