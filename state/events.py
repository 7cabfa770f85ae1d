"""What every event is: a frozen, validated fact; the register of event types, and shared fields.

An event is a fact: past tense, frozen, validated when it is made and again when it is read. What
may follow what is decided by `state.projection`.
"""

import re
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)

from state.envelope import Draft, Refs
from state.errors import CorruptLedger, Refused
from state.request import explain
from state.values.ids import is_content_hash, is_stable_id
from state.values.money import Usage
from state.values.redaction import has_secret, redact

MAX_IDS = 100
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,255}\Z")  # stable ids, joined by slashes


@lru_cache(maxsize=8192)  # a long run names the same few sources thousands of times
def _stable_id(text: str) -> str:
    if not is_stable_id(text):
        raise ValueError(f"{text[:140]!r} is not a stable id")
    if has_secret(text):
        raise ValueError("an id may not look like a secret")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _content_hash(text: str) -> str:
    if not is_content_hash(text):
        raise ValueError("a content hash is 'sha256:' and 64 hex digits")
    return text


def _unique(ids: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(ids)) != len(ids):
        raise ValueError("ids must be unique")
    return ids


StableId = Annotated[str, AfterValidator(_stable_id)]
ContentHash = Annotated[str, AfterValidator(_content_hash)]
Ids = Annotated[tuple[StableId, ...], Field(max_length=MAX_IDS), AfterValidator(_unique)]
NotBlank = AfterValidator(_not_blank)
Text2000 = Annotated[str, Field(max_length=2000)]
Text4000 = Annotated[str, Field(max_length=4000)]
Name = Annotated[str, Field(max_length=200)]
Code = Annotated[str, Field(max_length=80)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, strict=True)]
Round = Annotated[int, Field(ge=1, strict=True)]

REGISTER: dict[str, type["Event"]] = {}


class Value(BaseModel):
    """A frozen part of an event; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Event(Value):
    """A fact of a run. `type` is how it is stored.

    `identity` names the attributes that tell apart several events of the type in one turn;
    `paths` those keys whose absolute paths are kept to the letter, because they are opened again.
    """

    type: ClassVar[str] = ""
    identity: ClassVar[tuple[str, ...]] = ()
    paths: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.type:
            REGISTER[cls.type] = cls

    def paths_kept(self) -> frozenset[str]:
        """Return the keys whose absolute paths are kept to the letter in this very event."""
        return self.paths


def draft(event: Event, refs: Refs | None = None) -> Draft:
    """Return what is appended for `event`: its body with every secret in free text redacted.

    A text that redaction made longer than its limit is cut. Raises `Refused` when redaction left
    nothing that the event's rules allow, and when a ref has a wrong form or looks like a secret.
    """
    refs = refs or Refs()
    for ref in (refs.turn_id, refs.call_id):
        if ref is not None and (not _REF.match(ref) or has_secret(ref)):
            raise Refused("a turn or call id has a wrong form or looks like a secret", code="REFS")
    body = redact_strings(event.model_dump(mode="json"), event.paths_kept())
    _cut_to_limits(type(event), body)
    return Draft(event.type, body, refs, decode(event.type, 1, body, error=Refused))


def redact_strings(value: Any, paths: frozenset[str] = frozenset()) -> Any:
    """Return JSON `value` with secrets redacted in its strings; keys are ours and stay.

    Absolute paths stay as they are under the keys that `paths` names.
    """
    match value:
        case str():
            return redact(value)
        case list():
            return [redact_strings(item, paths) for item in value]
        case dict():
            return {
                key: _redact_urls(item) if key in paths else redact_strings(item, paths)
                for key, item in value.items()
            }
        case _:
            return value


def _redact_urls(located: str | list[str]) -> str | list[str]:
    if isinstance(located, str):
        return located if located.startswith("/") else redact(located)
    return [text if text.startswith("/") else redact(text) for text in located]


def _cut_to_limits(kind: type[Event], body: dict[str, Any]) -> None:
    try:
        kind.model_validate(body)
    except ValidationError as problem:
        for error in problem.errors(include_url=False, include_input=False):
            if error["type"] == "string_too_long":
                *way, last = error["loc"]
                holder: Any = body
                for part in way:
                    holder = holder[part]
                holder[last] = holder[last][: error["ctx"]["max_length"]]


def decode(
    type_: str,
    schema_version: int,
    body: dict[str, Any],
    *,
    error: type[CorruptLedger] | type[Refused] = CorruptLedger,
) -> Event:
    """Return the event that `body` spells, upcast to the present schema.

    Raises `error` (default `CorruptLedger`) for an unknown type or version, or a body that breaks
    the type's rules.
    """
    kind = REGISTER.get(type_)
    if kind is None or schema_version != 1:
        raise error(f"unknown event {type_!r}, schema version {schema_version}")
    try:
        return kind.model_validate(body)
    except ValidationError as problem:
        raise error(f"{type_}: {explain(problem)}") from problem


# ---- values


class Limits(Value):
    """What a run may spend in all; None is no limit."""

    searches: Count | None = None
    pages: Count | None = None
    model_calls: Count | None = None
    tokens: Count | None = None
    cost_micro_usd: Count | None = None


class Spend(Value):
    """What a step reserves, or used up."""

    searches: Count = 0
    pages: Count = 0
    model_calls: Count = 0
    input_tokens: Count = 0
    cached_tokens: Count = 0
    output_tokens: Count = 0
    cost_micro_usd: Count = 0

    @classmethod
    def of(cls, usage: Usage) -> "Spend":
        """Return `usage` as it is recorded."""
        return cls(**{name: getattr(usage, name) for name in cls.model_fields})

    def usage(self) -> Usage:
        """Return this as the value that can be added."""
        return Usage(
            self.searches,
            self.pages,
            self.model_calls,
            self.input_tokens,
            self.cached_tokens,
            self.output_tokens,
            self.cost_micro_usd,
        )


class Holder(Value):
    """The process that executes a run."""

    pid: Count
    host: Annotated[str, Field(max_length=255)]


class Ancestor(Value):
    """The run that a retry goes on from, up to a position, with the hash there."""

    run_id: StableId
    position: Round
    hash: Digest
