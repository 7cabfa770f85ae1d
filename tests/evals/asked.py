"""Questions with known answers, and how well a desk answers them."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.models.port import Researcher
from state.values.evidence import Coverage
from tests.evals.desk import Desk, Outcome
from tests.evals.measuring import Row
from tests.evals.scores import share

_FIRST = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and what must stand in its first five quotes: a pattern for each part.

    `gap` and `conflict` say whether one is to be reported. `remark` is a pattern for what the
    report must say of the research, or ''.
    """

    question: str
    answers: tuple[str, ...] = ()
    gap: bool = False
    conflict: bool = False
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A question and how it went."""

    asked: Asked
    outcome: Outcome
    is_answered: bool
    has_gap: bool
    has_conflict: bool
    is_remarked: bool

    @property
    def is_right(self) -> bool:
        """Tell whether nothing went wrong."""
        wanted = (self.asked.gap, self.asked.conflict)
        return self.is_answered and self.is_remarked and wanted == (self.has_gap, self.has_conflict)


def judge(asked: Asked, outcome: Outcome) -> Judged:
    """Return how `outcome` answers `asked`."""
    quotes = [" ".join(item.text.split()) for item in outcome.citations[:_FIRST]]
    return Judged(
        asked,
        outcome,
        all(any(re.search(answer, quote) for quote in quotes) for answer in asked.answers),
        Coverage.GAP in outcome.coverage,
        Coverage.CONFLICT in outcome.coverage,
        not asked.remark or re.search(asked.remark, outcome.remarks) is not None,
    )


def judge_all(
    folder: Path, cache: Path, questions: Sequence[Asked], researcher: Researcher | None = None
) -> list[Judged]:
    """Return how the questions are answered from `folder`, by `researcher` if one is given."""
    return asyncio.run(_judge_all(Desk(folder, cache, researcher), questions))


async def _judge_all(desk: Desk, questions: Sequence[Asked]) -> list[Judged]:
    return [judge(asked, await desk.answer(asked.question)) for asked in questions]


def rows(name: str, judged: Sequence[Judged]) -> Iterable[Row]:
    """Yield the figures: answers among five quotes, gaps and conflicts told, none made up."""
    answerable = [each for each in judged if each.asked.answers]
    yield _row(name, "answer among first 5 quotes", [each.is_answered for each in answerable])
    gaps = [each.has_gap for each in judged if each.asked.gap]
    yield _row(name, "gaps told", gaps)
    whole = [not each.has_gap for each in judged if not each.asked.gap]
    yield _row(name, "no gap where none is", whole)
    conflicts = [each.has_conflict for each in judged if each.asked.conflict]
    if conflicts:
        yield _row(name, "conflicts told", conflicts)
    calm = [not each.has_conflict for each in judged if not each.asked.conflict]
    yield _row(name, "no conflict where none is", calm)


def _row(name: str, measure: str, found: Sequence[bool]) -> Row:
    return Row(name, measure, share(found), len(found))


def failures(judged: Sequence[Judged]) -> str:
    """Return for people what went wrong, a paragraph for each question."""
    told = []
    for each in judged:
        if not each.is_right:
            quotes = [" ".join(c.text.split())[:160] for c in each.outcome.citations[:_FIRST]]
            told.append(
                f"{each.asked.question}\n  wanted {each.asked.answers}, "
                f"gap {each.asked.gap}, conflict {each.asked.conflict}; "
                f"got answered {each.is_answered}, {[str(c) for c in each.outcome.coverage]}\n  "
                + "\n  ".join(quotes)
                + "\n  "
                + each.outcome.remarks[:400].replace("\n", " / ")
            )
    return "\n".join(told)
