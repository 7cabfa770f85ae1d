"""What a person asks for: the request, its limits by scope, and its fingerprint."""

import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    ValidationError,
    field_validator,
    model_validator,
)

from state.values.errors import InvalidRequest
from state.values.ids import canonical_json, is_stable_id, sha256_hex
from state.values.origins import ANY, covers, normal_origin
from state.values.profiles import PROFILES
from state.values.redaction import has_secret, redact
from state.values.wording import plain_problem

Scope = Literal["quick", "standard", "deep"]
Source = Annotated[str, Field(min_length=1, max_length=4096)]
Url = Annotated[str, Field(min_length=1, max_length=2048)]
Provider = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
ResearchType = Literal["market", "industry", "academic", "competitive", "policy"]

# by scope and limit: least, most, default
RANGES: Mapping[str, Mapping[str, tuple[int, int, int]]] = {
    "quick": {
        "max_queries": (1, 3, 3),
        "max_pages": (1, 6, 6),
        "max_rounds": (1, 1, 1),
        "max_searches": (1, 3, 3),
        "max_read_pages": (1, 6, 6),
        "max_model_calls": (8, 24, 12),
        "research_seconds": (1, 3600, 300),
    },
    "standard": {
        "max_queries": (1, 3, 3),
        "max_pages": (1, 6, 6),
        "max_rounds": (1, 4, 3),
        "max_searches": (1, 12, 9),
        "max_read_pages": (1, 16, 16),
        "max_model_calls": (8, 24, 16),
        "research_seconds": (1, 3600, 600),
    },
    "deep": {
        "max_queries": (1, 3, 3),
        "max_pages": (1, 20, 10),
        "max_rounds": (1, 10, 5),
        "max_searches": (1, 60, 30),
        "max_read_pages": (1, 100, 50),
        "max_model_calls": (8, 200, 100),
        "research_seconds": (1, 14400, 3600),
    },
}


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Budgets(_Value):
    """What one run may use. `max_queries` and `max_pages` are per round, the others per run.

    `max_tokens` counts what models read, cached or not, and write; None is no limit.

    `research_seconds` counts from when research began (its stage's recorded start: a person may
    take days over the plan before), interruptions included, and bounds the scheduling of new
    research; writing may finish after it.
    """

    max_queries: StrictInt
    max_pages: StrictInt
    max_rounds: StrictInt
    max_searches: StrictInt
    max_read_pages: StrictInt
    max_model_calls: StrictInt
    research_seconds: StrictInt
    max_tokens: Annotated[StrictInt, Field(ge=1)] | None = None
    max_cost_micro_usd: Annotated[StrictInt, Field(ge=1)] | None = None


# Left out while they are empty, so that a request has the hash it had before there were any.
_LATER = ("allowed_origins", "reference_urls", "search_providers", "model", "ranking")


def one_line(text: str) -> str:
    """Return `text` in NFC, its white space collapsed to single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


class ResearchRequest(_Value):
    """One question, who asks it, where to look, and within which limits.

    `allowed_origins` are the hosts of the web that may be read: none, up to twelve, or any.
    `search_providers` are asked in their order, the next when one fails or finds nothing;
    `reference_urls` are read in the first round. `model` names the language model that judges and
    writes; without one, the built-in researcher does. `ranking` names the model that orders what
    is found in folders beside its words; without one, the words alone do. A run keeps to it.
    """

    id: str
    tenant: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,80}$")] = "local"
    principal: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,80}$")]
    question: Annotated[str, Field(min_length=1, max_length=1200)]
    research_type: ResearchType = "academic"
    audience: Annotated[str, Field(max_length=300)] = ""
    boundaries: Annotated[str, Field(max_length=1000)] = ""
    profile: str = "question"
    scope: Scope = "standard"
    sources: Annotated[tuple[Source, ...], Field(max_length=100)] = ()  # absolute paths
    allowed_origins: Literal["any"] | Annotated[tuple[str, ...], Field(max_length=12)] = ()
    reference_urls: Annotated[tuple[Url, ...], Field(max_length=3)] = ()
    search_providers: Annotated[tuple[Provider, ...], Field(max_length=10)] = ()
    model: Annotated[str, Field(max_length=200, pattern=r"^[^\s\x00-\x1f]*$")] = ""
    ranking: Annotated[str, Field(max_length=100, pattern=r"^[A-Za-z0-9._-]*$")] = ""
    cross_check: bool = False
    allow_partial: bool = True
    plan_review: bool = False
    budgets: Budgets

    @field_validator("question", "audience", "boundaries", mode="before")
    @classmethod
    def _collapse(cls, text: object) -> object:
        return one_line(text) if isinstance(text, str) else text

    @field_validator("question")
    @classmethod
    def _has_words(cls, question: str) -> str:
        if not any(character.isalnum() for character in question):
            raise ValueError("the question holds no words")
        return question

    @field_validator("id")
    @classmethod
    def _stable(cls, run_id: str) -> str:
        if not is_stable_id(run_id):
            raise ValueError(
                "a run id has 1 to 128 characters out of A–Z a–z 0–9 . _ : - "
                "and begins with a letter or digit"
            )
        if has_secret(run_id):
            raise ValueError("a run id may not look like a secret; choose another")
        return run_id

    @field_validator("tenant", "principal", "model")
    @classmethod
    def _no_secret(cls, name: str) -> str:
        if has_secret(name):
            raise ValueError("a name may not look like a secret")
        return name

    @field_validator("profile")
    @classmethod
    def _known(cls, profile: str) -> str:
        if profile not in PROFILES:
            raise ValueError(
                f"there is no profile {profile!r}; choose one of {', '.join(PROFILES)}"
            )
        return profile

    @field_validator("allowed_origins", mode="before")
    @classmethod
    def _host_names(cls, origins: object) -> object:
        if origins == ANY or not isinstance(origins, (list, tuple)):
            return origins
        return tuple(dict.fromkeys(normal_origin(str(origin)) for origin in origins))

    @model_validator(mode="after")
    def _within_origins(self) -> Self:
        if self.search_providers and not self.allowed_origins:
            raise ValueError("a search of the web needs allowed_origins: hosts, or any")
        for url in self.reference_urls:
            if not covers(self.allowed_origins, url):
                raise ValueError(f"reference {redact(url)} is not within the allowed origins")
        return self

    @model_validator(mode="after")
    def _within_ranges(self) -> Self:
        for name, (least, most, _) in RANGES[self.scope].items():
            value = getattr(self.budgets, name)
            if not least <= value <= most:
                raise ValueError(f"{name} is {value}; scope {self.scope} allows {least} to {most}")
        return self

    @property
    def uses_web(self) -> bool:
        """Tell whether the run may open connections to the outside."""
        return bool(self.search_providers or self.reference_urls)

    @property
    def fingerprint(self) -> str:
        """Return the hash of everything asked; a changed request needs a new id."""
        fields = self.model_dump(mode="json")
        for name in _LATER:
            if not fields[name]:
                del fields[name]
        budgets = fields["budgets"]
        fields["budgets"] = {name: most for name, most in budgets.items() if most is not None}
        return sha256_hex(canonical_json(fields))


def make_request(
    *, scope: str = "standard", limits: Mapping[str, int | None] | None = None, **fields: Any
) -> ResearchRequest:
    """Return the request of `fields`, with the scope's default for every limit not given.

    Raises `InvalidRequest` with one sentence for each thing that is wrong.
    """
    if scope not in RANGES:
        raise InvalidRequest(f"there is no scope {scope!r}; choose one of {', '.join(RANGES)}")
    given = {name: value for name, value in (limits or {}).items() if value is not None}
    budgets = {name: default for name, (_, _, default) in RANGES[scope].items()} | given
    with as_invalid_request():
        return ResearchRequest.model_validate({"scope": scope, "budgets": budgets, **fields})


@contextmanager
def as_invalid_request() -> Iterator[None]:
    """Raise `InvalidRequest` for whatever the block finds wrong with what a person gave."""
    try:
        yield
    except ValidationError as error:
        raise InvalidRequest(explain(error)) from error


def explain(error: ValidationError) -> str:
    """Return what `error` found wrong as one line for people."""
    return "; ".join(
        ".".join(str(part) for part in problem["loc"]) + (": " if problem["loc"] else "")
        + plain_problem(problem["msg"])
        for problem in error.errors(include_url=False, include_input=False)
    )  # fmt: skip
