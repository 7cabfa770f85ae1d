"""A world of two sources on one team and its logs, and a model that says what it is told to."""

import asyncio
import json
from collections.abc import Coroutine, Mapping, Sequence
from typing import TypeVar

from adapters.models.chat.port import ChatAnswer, ChatRequest
from adapters.models.chat.scripted import Scripted, ScriptedModel
from adapters.models.language.researcher import LanguageResearcher
from adapters.models.port import Answer, AssessInput, Assessment, Selected
from state.values.claims import Claim
from state.values.evidence import Conflict, Coverage, CoverageRow, Passage
from state.values.plan import Plan, Subquestion

T = TypeVar("T")

QUESTION = "How many members may a Pavo team have, and how long are audit logs kept?"
TEAM = Subquestion("q1", "How many members may a Pavo team have?", "Pavo team members")
LOGS = Subquestion("q2", "How long are audit logs kept?", "Pavo audit logs kept")
PLAN = Plan(QUESTION, (TEAM, LOGS))
USED = (TEAM.query, LOGS.query)
SECTIONS = (
    ("summary", "Summary"),
    ("findings", "Findings"),
    ("conflicts_and_gaps", "Conflicts and gaps"),
    ("implications", "Implications"),
)

A = "A Pavo team may have at most 25 members."
B = "Teams on Pavo are limited to 25 members each."
POINTER = "The retention of audit logs is in the separately indexed Meridian Annex."
KEPT = "Audit logs are kept for 30 days and are then deleted."
ALSO_KEPT = "The retention period of audit logs in the Meridian Annex is 30 days."
OTHERWISE = "The retention period of audit logs in the Meridian Annex is 40 days."


def passage(source: str, text: str, *, number: int = 1, at: int = 100) -> Passage:
    place = f"https://{source}.example/{number}"
    return Passage(source, place, f"Page of {source}", text, at, at + len(text), number)


def quote(subquestion: str, source: str, text: str, *, at: int = 100) -> Selected:
    place = f"https://{source}.example/1"
    return Selected(subquestion, source, place, f"Page of {source}", text, at, at + len(text), 1)


FIRST = (passage("a", f"{A} {POINTER}"), passage("b", B))
SECOND = (passage("c", KEPT), passage("d", ALSO_KEPT))
TEAM_A, TEAM_B = quote("q1", "a", A), quote("q1", "b", B)
LOGS_C, LOGS_D, LOGS_X = (
    quote("q2", "c", KEPT),
    quote("q2", "d", ALSO_KEPT),
    quote("q2", "d", OTHERWISE),
)
KNOWN = Assessment(
    (TEAM_A, TEAM_B, LOGS_C, LOGS_D),
    (
        CoverageRow("q1", Coverage.COVERED, (TEAM_A.id, TEAM_B.id)),
        CoverageRow("q2", Coverage.COVERED, (LOGS_C.id, LOGS_D.id)),
    ),
)
DISPUTED = Assessment(
    (TEAM_A, LOGS_C, LOGS_X),
    (
        CoverageRow("q1", Coverage.COVERED, (TEAM_A.id,)),
        CoverageRow("q2", Coverage.CONFLICT, (LOGS_C.id, LOGS_X.id)),
    ),
    (),
    (Conflict("q2", (LOGS_C.id, LOGS_X.id), "30 days against 40 days"),),
)


def claim(text: str, *evidence: Selected, id_: str = "summary-1") -> Claim:
    return Claim(id_, id_.rpartition("-")[0], text, tuple(item.id for item in evidence))


def round_one(passages: Sequence[Passage] = FIRST, **more: object) -> AssessInput:
    return AssessInput(PLAN, 1, tuple(passages), (), USED, **more)  # type: ignore[arg-type]  # fields


def answered(
    subquestion: str, *quotes: tuple[str, str], coverage: str = "covered", query: str = ""
) -> dict[str, object]:
    return {
        "subquestion": subquestion,
        "quotes": [{"passage": name, "quote": text} for name, text in quotes],
        "coverage": coverage,
        "gap": "" if coverage == "covered" else "It is not stated.",
        "next_query": query,
    }


def assessed(*answers: Mapping[str, object], conflicts: Sequence[object] = ()) -> str:
    return json.dumps({"answers": list(answers), "conflicts": list(conflicts)})


def stated(section: str, text: str, *names: str) -> dict[str, object]:
    return {"section": section, "text": text, "evidence": list(names)}


def says(*answers: object, **more: object) -> ScriptedModel:
    """Return a model that gives `answers` in turn; what is no text is given as JSON."""
    script = [
        each if isinstance(each, str | ChatAnswer | Exception) else json.dumps(each)
        for each in answers
    ]
    return ScriptedModel(script, **more)  # type: ignore[arg-type]  # its fields


def by_form(forms: Mapping[str, object], **more: object) -> ScriptedModel:
    """Return a model that gives for each form the answer that `forms` has for its name."""

    def answer(request: ChatRequest) -> Scripted:
        made = forms[request.schema_name]
        return made if isinstance(made, str) else json.dumps(made)

    return ScriptedModel(answer, **more)  # type: ignore[arg-type]  # its fields


def researcher(*answers: object, **more: object) -> LanguageResearcher:
    return LanguageResearcher(says(*answers, **more))


def run(operation: Coroutine[object, object, Answer[T]]) -> T:
    return asyncio.run(operation).value


def prompt_of(model: ScriptedModel, call: int = -1) -> str:
    return "\n\n".join(message.text for message in model.requests[call].messages)
