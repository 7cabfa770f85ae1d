"""Conflict handling on RAMDocs: which of the answers that documents give are kept?

Every document comes with the answer that it states, and `unknown` where it states none.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adapters.models.extractive.settle import Stated, settle
from tests.evals.data import BadData, records
from tests.evals.measuring import Row
from tests.evals.scores import share

FILE = "ramdocs/RAMDocs_test.jsonl"
FIELDS = {"question": str, "documents": list, "gold_answers": list}
_NONE = "unknown"


def measure(folder: Path) -> Iterable[Row]:
    """Yield the share of questions whose answers kept are exactly the right ones."""
    cases = records(folder, FILE, FIELDS)
    stated = [_statements(case, place) for place, case in enumerate(cases, 1)]
    kept = [
        [each.answer for each, stands in zip(own, settle(own), strict=True) if stands]
        for own in stated
    ]
    every = [[each.answer for each in own if each.answer] for own in stated]
    yield Row(
        "ramdocs", "exact set of answers", _exact(kept, cases), len(cases), _exact(every, cases),
        "every answer kept",
    )  # fmt: skip
    wrong = [
        (case, own)
        for case, own in zip(cases, kept, strict=True)
        if {_plain(each) for each in case.get("wrong_answers", [])}
        - {_plain(each) for each in case["gold_answers"]}
    ]
    clean = [
        not {_plain(each) for each in own} - {_plain(each) for each in case["gold_answers"]}
        for case, own in wrong
    ]
    yield Row("ramdocs", "wrong answers all dropped", share(clean), len(wrong), 0.0,
              "every answer kept; of questions with a wrong answer")  # fmt: skip


def _statements(case: dict[str, Any], place: int) -> list[Stated]:
    found = []
    for document in case["documents"]:
        try:
            answer, text = str(document["answer"]), str(document["text"])
        except (KeyError, TypeError) as error:
            raise BadData(f"{FILE}, line {place}: a document lacks {error}") from error
        found.append(Stated("" if answer == _NONE else answer, text))
    return found


def _exact(kept: Sequence[Sequence[str]], cases: Sequence[dict[str, Any]]) -> float:
    return share(
        [
            {_plain(each) for each in own} == {_plain(each) for each in case["gold_answers"]}
            for own, case in zip(kept, cases, strict=True)
        ]
    )


def _plain(answer: str) -> str:
    return " ".join(re.findall(r"\w+", str(answer).lower()))
