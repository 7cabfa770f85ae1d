"""Conflict handling on Climate-FEVER: is a claim found disputed whose evidence is divided?

Every sentence is a source of its own, and the claim is what is asked. The baseline calls a claim
disputed when, of the sentences that have half of its words, some are negated as it is and some are
not.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from adapters.models.extractive.assess import assess
from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.terms import stems
from adapters.models.port import AssessInput
from state.values.evidence import Coverage, Passage
from state.values.plan import MAX_QUERY, MAX_QUESTION, Plan, Subquestion
from tests.evals.data import BadData, records
from tests.evals.measuring import Row
from tests.evals.scores import precision_recall

FILE = "climate_fever/climate-fever.jsonl"
FIELDS = {"claim": str, "claim_label": str, "evidences": list}


def measure(folder: Path) -> Iterable[Row]:
    """Yield precision and recall of the claims found disputed."""
    cases = records(folder, FILE, FIELDS)
    labels = [case["claim_label"] == "DISPUTED" for case in cases]
    ours = [_in_conflict(case["claim"], _texts(case)) for case in cases]
    theirs = [_is_divided(case["claim"], _texts(case)) for case in cases]
    both = zip(precision_recall(ours, labels), precision_recall(theirs, labels), strict=True)
    for name, (found, simple) in zip(("precision", "recall"), both, strict=True):
        note = f"negation; {sum(labels)} are disputed, {sum(ours)} found so, baseline {sum(theirs)}"
        yield Row("climate", f"disputed: {name}", found, len(cases), simple, note)


def _texts(case: dict[str, Any]) -> list[str]:
    try:
        return [str(item["evidence"]) for item in case["evidences"]]
    except (KeyError, TypeError) as error:
        raise BadData(f"{FILE}: an evidence of {case['claim'][:40]!r} lacks {error}") from error


def _in_conflict(claim: str, texts: list[str]) -> bool:
    passages = tuple(
        Passage(f"s{place}", f"/s{place}", None, text, 0, len(text), 1)
        for place, text in enumerate(texts)
    )
    plan = Plan(claim, (Subquestion("q1", claim[:MAX_QUESTION], claim[:MAX_QUERY]),))
    made = assess(AssessInput(plan, 1, passages, max_evidence=8, per_subquestion=True))
    return made.rows[0].coverage is Coverage.CONFLICT


def _is_divided(claim: str, texts: list[str]) -> bool:
    wanted = stems(claim)
    near = [text for text in texts if 2 * len(wanted & stems(text)) >= len(wanted)]
    return len({is_negated(text) for text in near}) > 1
