"""The example's papers, asked the question of their README through the real search and reader."""

import re
from pathlib import Path

import pytest

from adapters.documents.direct import DirectConverter
from adapters.models.extractive.researcher import ExtractiveResearcher
from adapters.models.port import AssessInput, Assessment, PlanInput
from adapters.search.local import LocalFolder
from state.values.blocks import BlockKind
from state.values.evidence import Coverage, Passage
from state.values.plan import Plan

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def question() -> str:
    lines = re.findall(r"^> (.*)$", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    return " ".join(lines)


class Desk:
    """A small loop of rounds: search, read the first pages not yet read, assess."""

    def __init__(self, plan: Plan, cache: Path) -> None:
        self.plan = plan
        self.folder = LocalFolder([EXAMPLES / "seedbank"], cache=cache, converter=DirectConverter())
        self.read: list[str] = []
        self.used: list[str] = []
        self.made: Assessment | None = None

    async def round(self, queries: list[str], *, pages: int = 4) -> Assessment:
        self.used += queries
        hits = [[hit.locator for hit in (await self.folder.search(q)).hits] for q in queries]
        turns = [found[place] for place in range(6) for found in hits if place < len(found)]
        new = [at for at in dict.fromkeys(turns) if at not in self.read][:pages]
        self.read += new
        passages = tuple([passage for at in new for passage in await self._passages(at)])
        held = self.made.selected if self.made else ()
        number = len(self.used)
        given = AssessInput(self.plan, number, passages, held, tuple(self.used))
        self.made = (await ExtractiveResearcher().assess(given)).value
        return self.made

    async def _passages(self, locator: str) -> list[Passage]:
        data = self.folder.reader.open(locator)
        document = (await self.folder.converter.convert(data, name=locator)).document
        assert document is not None
        return [
            Passage(
                locator, locator, document.title, document.text[b.start : b.end], b.start, b.end,
                b.paragraph, b.page, b.heading,
            )
            for b in document.blocks
            if b.main and b.kind is not BlockKind.HEADING
        ]  # fmt: skip


@pytest.mark.anyio
async def test_the_example_needs_two_rounds_and_has_a_conflict_and_a_gap(tmp_path: Path) -> None:
    plan = (await ExtractiveResearcher().plan(PlanInput(question()))).value
    assert len(plan.subquestions) == 3
    desk = Desk(plan, tmp_path)

    first = await desk.round([sub.query for sub in plan.subquestions])

    assert [row.coverage for row in first.rows] == [Coverage.CONFLICT, Coverage.GAP, Coverage.GAP]
    assert first.rows[1].next_query.startswith("Corriewater Undertaking")

    second = await desk.round([row.next_query for row in first.rows if row.next_query])

    assert [row.coverage for row in second.rows] == [
        Coverage.CONFLICT,
        Coverage.COVERED,
        Coverage.GAP,
    ]
    assert second.conflicts[0].difference == "−18 °C against −20 °C"
    assert "within 21 days" in next(s.text for s in second.selected if s.subquestion_id == "q2")
    assert "“insures”" in second.rows[2].gap
