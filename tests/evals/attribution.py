"""Attribution on AttributionBench: do the references bear the claim out?"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adapters.models.extractive.support import sentences_of, support
from adapters.search.ranking import tokens
from tests.evals.data import records
from tests.evals.fit import LIKELY, cross_validated
from tests.evals.measuring import Row
from tests.evals.scores import best_threshold, macro_f1

FILE = "attributionbench/dev.jsonl"
FIELDS = {"claim": str, "question": str, "references": list, "attribution_label": str,
          "src_dataset": str}  # fmt: skip


def measure(folder: Path) -> Iterable[Row]:
    """Yield macro-F1 of the formula as it is, per data set too, and refitted on other claims."""
    cases = records(folder, FILE, FIELDS)
    said = [support(case["claim"], case["references"]) >= LIKELY for case in cases]
    overlaps = [_overlap(case) for case in cases]
    least = best_threshold(overlaps, [is_borne_out(case) for case in cases])
    simple = [value >= least for value in overlaps]
    yield _row("macro-F1", said, simple, cases)
    for name in sorted({case["src_dataset"] for case in cases}):
        of = [place for place, case in enumerate(cases) if case["src_dataset"] == name]
        yield _row(
            f"macro-F1, {name}",
            [said[place] for place in of],
            [simple[place] for place in of],
            [cases[place] for place in of],
        )
    held_out = cross_validated(cases)
    yield Row(
        "attribution",
        "macro-F1, cross-validated",
        _score(held_out, cases),
        len(cases),
        _score(simple, cases),
        "refitted 5 times, each without the questions it is tried on",
    )


def is_borne_out(case: dict[str, Any]) -> bool:
    """Tell whether people found the claim attributable to its references."""
    return bool(case["attribution_label"] == "attributable")


def _row(
    name: str, said: Sequence[bool], simple: Sequence[bool], cases: Sequence[dict[str, Any]]
) -> Row:
    note = "share of words in the best sentence, best threshold here"
    return Row("attribution", name, _score(said, cases), len(cases), _score(simple, cases), note)


def _score(said: Sequence[bool], cases: Sequence[dict[str, Any]]) -> float:
    return macro_f1([str(each) for each in said], [str(is_borne_out(case)) for case in cases])


def _overlap(case: dict[str, Any]) -> float:
    """Return the largest share of the claim's words, stemmed, that one sentence has."""
    claim = set(tokens(case["claim"]))
    sentences = [part for text in case["references"] for part in sentences_of(text)]
    shared = [len(claim & set(tokens(part))) for part in sentences]
    return max(shared, default=0) / max(1, len(claim))
