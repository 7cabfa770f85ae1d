"""The forms in which a model answers: flat, every list bounded, lenient in all but the main list.

An entry that lacks something is read with what it has: the code behind decides what it is worth.
The schemas that models are given ask for every field.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SYNONYMS = {
    "covered": "covered", "full": "covered", "complete": "covered", "answered": "covered",
    "yes": "covered", "conflict": "conflict", "conflicting": "conflict", "disputed": "conflict",
}  # fmt: skip
_VERDICTS = {
    "supported": "supported", "entailed": "supported", "supports": "supported", "true": "supported",
    "partial": "partial", "partially supported": "partial", "qualified": "partial",
    "qualifies": "partial", "contradicted": "contradicted", "contradicts": "contradicted",
    "contradictory": "contradicted", "refuted": "contradicted", "false": "contradicted",
}  # fmt: skip


def _text(value: object) -> object:
    if value is None:
        return ""
    return _UNPRINTABLE.sub("", value) if isinstance(value, str) else value


def _coverage(value: object) -> str:
    return _SYNONYMS.get(str(value).strip().casefold(), "gap")


def _verdict(value: object) -> str:
    return _VERDICTS.get(str(value).strip().casefold(), "unverified")


def _at_most(number: int) -> BeforeValidator:
    def first(value: object) -> object:
        return value[:number] if isinstance(value, list) else [] if value is None else value

    return BeforeValidator(first)


def _records(number: int) -> BeforeValidator:
    """Keep the objects of a list, at most `number`."""

    def first(value: object) -> object:
        if not isinstance(value, list):
            return value
        return [each for each in value if isinstance(each, Mapping | BaseModel)][:number]

    return BeforeValidator(first)


def _names(value: object) -> object:
    """Return a list of texts, from whatever stands for one."""
    if isinstance(value, str):
        value = re.split(r"[\s,;]+", value)
    if not isinstance(value, list):
        return []
    return [str(each).strip("[](). ") for each in value if isinstance(each, str | int)]


def _ask_for_everything(schema: dict[str, Any]) -> None:
    properties = schema.get("properties", {})
    schema["required"] = list(properties)
    schema["additionalProperties"] = False
    for shown in (schema, *properties.values()):
        for key in ("title", "default"):
            shown.pop(key, None)


Text = Annotated[str, BeforeValidator(_text)]
Names = Annotated[list[str], Field(max_length=8), _at_most(8), BeforeValidator(_names)]


class Form(BaseModel):
    """What a model is asked to fill in."""

    model_config = ConfigDict(extra="ignore", json_schema_extra=_ask_for_everything)


class PlannedForm(Form):
    """A subquestion, and its first query."""

    question: Text = ""
    query: Text = ""


class PlanForm(Form):
    """A plan, or the question to put back; one of them must be there."""

    subquestions: Annotated[
        list[PlannedForm], Field(json_schema_extra={"maxItems": 3}), _records(12)
    ] = []
    clarification: Text = ""

    @model_validator(mode="after")
    def _says_something(self) -> "PlanForm":
        asked = [each for each in self.subquestions if each.question.strip() or each.query.strip()]
        if not asked and not self.clarification.strip():
            raise ValueError("subquestions: it is empty; one to three with question and query")
        return self


class QuotedForm(Form):
    """A quote, and the number of the passage that it was copied from."""

    passage: Text = ""
    quote: Text = ""


class AnsweredForm(Form):
    """What the passages say to one subquestion."""

    subquestion: Text = ""
    quotes: Annotated[list[QuotedForm], Field(max_length=8), _records(8)] = []
    coverage: Annotated[Literal["covered", "gap", "conflict"], BeforeValidator(_coverage)] = "gap"
    gap: Text = ""
    next_query: Text = ""


class ConflictForm(Form):
    """Passages that cannot all be right."""

    subquestion: Text = ""
    passages: Names = []
    difference: Text = ""


class AssessForm(Form):
    """What a round's passages say."""

    answers: Annotated[list[AnsweredForm], Field(min_length=1, max_length=6), _records(6)]
    conflicts: Annotated[list[ConflictForm], Field(max_length=5), _records(5)] = []


class StatedForm(Form):
    """A claim, the section it belongs to, and the evidence it rests on."""

    section: Text = ""
    text: Text = ""
    evidence: Names = []


class ReportForm(Form):
    """All claims of a report, in order."""

    claims: Annotated[list[StatedForm], Field(min_length=1, max_length=40), _records(40)]


class SectionForm(Form):
    """The claims of one section, in order; none when the evidence holds nothing for it."""

    claims: Annotated[list[StatedForm], Field(max_length=40), _records(40)]


class OutlinedForm(Form):
    """What one section will say, and the evidence for it."""

    section: Text = ""
    intent: Text = ""
    evidence: Annotated[list[str], Field(max_length=40), _at_most(40), BeforeValidator(_names)] = []


class OutlineForm(Form):
    """The sections of a report."""

    sections: Annotated[list[OutlinedForm], Field(min_length=1, max_length=12), _records(12)]


class VerdictForm(Form):
    """How far its quotes bear out one claim; the words that decide it come before the verdict."""

    claim: Text = ""
    quoted: Text = ""
    reason: Text = ""
    verdict: Annotated[
        Literal["supported", "partial", "contradicted", "unverified"], BeforeValidator(_verdict)
    ] = "unverified"


class CheckForm(Form):
    """A verdict for each claim."""

    checks: Annotated[list[VerdictForm], Field(min_length=1, max_length=40), _records(40)]


class RewordedForm(Form):
    """A claim in other words; without text it is taken out."""

    claim: Text = ""
    text: Text = ""
    evidence: Names = []


class RepairForm(Form):
    """What becomes of the claims that did not hold."""

    repairs: Annotated[list[RewordedForm], Field(max_length=40), _records(40)]


class ReopenedForm(Form):
    """A section that is not good enough, and why."""

    section: Text = ""
    problem: Text = ""


class WholeForm(Form):
    """The sections to write again, if any."""

    reopen: Annotated[list[ReopenedForm], Field(max_length=8), _records(8)]
