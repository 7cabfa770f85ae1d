"""Evidence selection on WiCE: does the researcher choose the sentences that support a claim?"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from adapters.models.extractive.assess import assess
from adapters.models.port import AssessInput
from state.values.evidence import Passage
from state.values.plan import MAX_QUERY, Plan, Subquestion
from tests.evals.bm25 import Bm25
from tests.evals.data import records
from tests.evals.measuring import Row
from tests.evals.scores import share

FILE = "wice/retrieval_claim_dev.jsonl"
FIELDS = {"claim": str, "evidence": list, "supporting_sentences": list}
_CHOSEN = 5


def measure(folder: Path) -> Iterable[Row]:
    """Yield the share of claims with a whole gold set among five sentences, and any as first."""
    cases = [case for case in records(folder, FILE, FIELDS) if any(case["supporting_sentences"])]
    ours = [_chosen(case["claim"], case["evidence"]) for case in cases]
    theirs = [Bm25(case["evidence"]).rank(case["claim"])[:_CHOSEN] for case in cases]
    for name, hit in (("whole gold set @5", _has_whole), ("any of a gold set @1", _has_any)):
        yield Row(
            "wice",
            name,
            _share(hit, cases, ours),
            len(cases),
            _share(hit, cases, theirs),
            "BM25 over the sentences",
        )


def _chosen(claim: str, sentences: Sequence[str]) -> list[int]:
    """Return the sentences that the quotes chosen for `claim` stand in, in their order."""
    passages, starts, at = [], [], 0
    for number, text in enumerate(sentences):
        passages.append(Passage("page", "/page", None, text, at, at + len(text), number + 1))
        starts.append(at)
        at += len(text) + 1
    plan = Plan(claim, (Subquestion("q1", claim, claim[:MAX_QUERY]),))
    given = AssessInput(plan, 1, tuple(passages), max_evidence=_CHOSEN, per_subquestion=True)
    chosen = assess(given).selected
    found = [
        number
        for item in chosen
        for number, start in enumerate(starts)
        if item.start < start + len(sentences[number]) and start < item.end
    ]
    return list(dict.fromkeys(found))[:_CHOSEN]


Hit = Callable[[Sequence[set[int]], Sequence[int]], bool]


def _share(hit: Hit, cases: Sequence[dict[str, Any]], chosen: Sequence[Sequence[int]]) -> float:
    gold = [[set(each) for each in case["supporting_sentences"] if each] for case in cases]
    return share([hit(sets, own) for sets, own in zip(gold, chosen, strict=True)])


def _has_whole(sets: Sequence[set[int]], chosen: Sequence[int]) -> bool:
    return any(each <= set(chosen) for each in sets)


def _has_any(sets: Sequence[set[int]], chosen: Sequence[int]) -> bool:
    return any(chosen[0] in each for each in sets) if chosen else False
