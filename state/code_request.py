"""What a person asks for when code shall be made of a paper."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, field_validator

from state.request import one_line
from state.values.ids import canonical_json, is_stable_id, sha256_hex
from state.values.redaction import has_secret

Repository = Annotated[str, Field(min_length=1, max_length=2048)]
SourceType = Literal["local", "url", "repository", "requirement"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CodeOptions(_Value):
    """How the run goes: whether a person reviews the plan, and whether references are indexed."""

    enable_indexing: bool = False
    plan_review: bool = True


class CodeBudgets(_Value):
    """What one run may use; None is no limit.

    `max_repairs` bounds the repairs after a failed verification, `verification_seconds` one
    command of it.
    """

    max_files: Annotated[StrictInt, Field(ge=1, le=200)] = 60
    max_model_calls: Annotated[StrictInt, Field(ge=1, le=1000)] = 200
    max_repairs: Annotated[StrictInt, Field(ge=0, le=3)] = 3
    verification_seconds: Annotated[StrictInt, Field(ge=1, le=7200)] = 300
    max_tokens: Annotated[StrictInt, Field(ge=1)] | None = None
    max_cost_micro_usd: Annotated[StrictInt, Field(ge=1)] | None = None


class CodeRequest(_Value):
    """One paper, repository or requirement that code shall be made of, and within which limits.

    `source` is an absolute path, a URL, or the requirement itself, by `source_type`; `requirement`
    says what else is wanted. `workspace` is the absolute path of the folder that the code is
    written into. With `options.enable_indexing`, `reference_repositories` are looked at, or without
    any those that the paper links to; never the `excluded_repositories`.
    """

    id: str
    tenant: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,80}$")] = "local"
    principal: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,80}$")]
    source_type: SourceType
    source: Annotated[str, Field(min_length=1, max_length=16384)]
    requirement: Annotated[str, Field(max_length=16384)] = ""
    workspace: Annotated[str, Field(min_length=1, max_length=4096)]
    options: CodeOptions = CodeOptions()
    reference_repositories: Annotated[tuple[Repository, ...], Field(max_length=10)] = ()
    excluded_repositories: Annotated[tuple[Repository, ...], Field(max_length=10)] = ()
    model: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f]*$")]
    budgets: CodeBudgets = CodeBudgets()

    @field_validator("id")
    @classmethod
    def _stable(cls, run_id: str) -> str:
        if not is_stable_id(run_id) or has_secret(run_id):
            raise ValueError(
                "a run id has 1 to 128 characters out of A–Z a–z 0–9 . _ : -, begins with a letter "
                "or digit and does not look like a secret"
            )
        return run_id

    @field_validator("tenant", "principal", "model")
    @classmethod
    def _no_secret(cls, name: str) -> str:
        if has_secret(name):
            raise ValueError("a name may not look like a secret")
        return name

    @field_validator("source", "requirement")
    @classmethod
    def _is_text(cls, text: str) -> str:
        if text and not text.strip():
            raise ValueError("must not be blank")
        text.encode()  # a lone surrogate raises, as a ValueError
        return text

    @property
    def title(self) -> str:
        """Return what is asked for, on one short line."""
        return one_line(self.source)[:120]

    @property
    def made_from(self) -> str:
        """Return what the code is made from, as it is to be called."""
        return "source" if self.source_type in ("local", "url") else self.source_type

    @property
    def fingerprint(self) -> str:
        """Return the hash of everything asked; a changed request needs a new id."""
        return sha256_hex(canonical_json(self.model_dump(mode="json")))
