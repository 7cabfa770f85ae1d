"""Conflict handling on RAMDocs: which of the answers that documents give are kept?

Every document comes with the answer that it states, and `unknown` where it states none. Two things
are measured: what is kept of those answers, and, from the question and the texts alone, which
documents the researcher quotes from.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adapters.models.extractive.assess import assess
from adapters.models.extractive.decompose import make_plan
from adapters.models.extractive.settle import Stated, settle
from adapters.models.port import AssessInput
from state.values.evidence import Passage
from tests.evals.data import BadData, records
from tests.evals.measuring import Row
from tests.evals.scores import share

FILE = "ramdocs/RAMDocs_test.jsonl"
FIELDS = {"question": str, "documents": list, "gold_answers": list}
_NONE = "unknown"
_QUOTES = 12


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
    quoted = [_quoted(case, own) for case, own in zip(cases, stated, strict=True)]
    yield Row(
        "ramdocs", "exact set, of the documents quoted", _exact(quoted, cases), len(cases),
        _exact(every, cases), "every document quoted",
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


def _quoted(case: dict[str, Any], stated: Sequence[Stated]) -> list[str]:
    """Return the answers of the documents that the researcher quotes from."""
    passages = tuple(
        Passage(f"s{place}", f"/s{place}", None, each.text, 0, len(each.text), 1)
        for place, each in enumerate(stated)
    )
    plan = make_plan(case["question"])
    made = assess(AssessInput(plan, 1, passages, max_evidence=_QUOTES, per_subquestion=True))
    kept = {item.source_id for item in made.selected}
    return [each.answer for place, each in enumerate(stated) if f"s{place}" in kept and each.answer]


def _exact(kept: Sequence[Sequence[str]], cases: Sequence[dict[str, Any]]) -> float:
    return share(
        [
            {_plain(each) for each in own} == {_plain(each) for each in case["gold_answers"]}
            for own, case in zip(kept, cases, strict=True)
        ]
    )


def _plain(answer: str) -> str:
    return " ".join(re.findall(r"\w+", str(answer).lower()))
