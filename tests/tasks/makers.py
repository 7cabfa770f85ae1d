"""Makes the values that tests of the verbs need, one line each."""

from adapters.models.port import AssessInput, Assessment, Selected
from state.values.evidence import Coverage, CoverageRow, Passage
from state.values.plan import Plan, Subquestion

TEXT = "A team holds at most 25 members. Logs are kept for 30 days and are then removed."
OTHER = "Notes of the team. Logs are kept for 40 days, not for longer than that."
TEXTS = {"s1": TEXT, "s2": OTHER}
PLAN = Plan("Limits", (Subquestion("q1", "How many?", "members"), Subquestion("q2", "?a", "logs")))


def passage(source: str = "s1", text: str = "", **fields: object) -> Passage:
    text = text or TEXTS[source]
    return Passage(source, f"/{source}.txt", None, text, 0, len(text), 1, **fields)  # type: ignore[arg-type] # tests name real fields


def chosen(quote: str, subquestion: str = "q1", source: str = "s1") -> Selected:
    start = TEXTS[source].index(quote)
    return Selected(
        subquestion, source, f"/{source}.txt", None, quote, start, start + len(quote), 1
    )


MEMBERS = chosen("A team holds at most 25 members.")
LOGS = chosen("Logs are kept for 30 days", "q2")
LOGS_40 = chosen("Logs are kept for 40 days", "q2", "s2")


def asked(**fields: object) -> AssessInput:
    given = {"plan": PLAN, "round": 1, "passages": (passage("s1"), passage("s2")), **fields}
    return AssessInput(**given)  # type: ignore[arg-type] # tests name real fields


def assessed(*selected: Selected, rows: tuple[CoverageRow, ...] = ()) -> Assessment:
    return Assessment(selected, rows)


def covered(subquestion: str, *choices: Selected) -> CoverageRow:
    return CoverageRow(subquestion, Coverage.COVERED, tuple(choice.id for choice in choices))
