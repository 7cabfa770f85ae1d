"""A run without an engine: plan, rounds of search, reading and assessing, and the quotes cited.

It calls what a run calls, in the same order; only durability, budgets and reviews are left out.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from adapters.documents.direct import DirectConverter
from adapters.documents.local_reader import LocalReader
from adapters.models.extractive.researcher import ExtractiveResearcher
from adapters.models.port import (
    AssessInput,
    Assessment,
    CheckInput,
    PlanInput,
    Researcher,
    SectionDraft,
    Selected,
    WriteInput,
)
from adapters.search.fusing import best_ranking, open_ranking
from adapters.search.local import LocalFolder
from state.values.claims import ClaimCheck
from state.values.evidence import Coverage, Passage
from state.values.plan import Plan
from state.values.profiles import QUESTION
from tasks.assess import accept, choose_passages
from tasks.compose import kept_checks, number_citations
from tasks.search import HITS_PER_QUERY
from tasks.write import accept_draft

_ROUNDS = 3
_EVIDENCE = 8
_CLAIMS = 12


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question was answered: what was assessed, the sections, and the quotes by number."""

    plan: Plan
    assessment: Assessment
    drafts: tuple[SectionDraft, ...]
    citations: tuple[Selected, ...]

    @property
    def coverage(self) -> tuple[Coverage, ...]:
        """Return the coverage of each subquestion."""
        return tuple(row.coverage for row in self.assessment.rows)

    @property
    def remarks(self) -> str:
        """Return what the report says of the research itself."""
        return "\n".join(p.remark for draft in self.drafts for p in draft.paragraphs if p.remark)


class Desk:
    """Answers questions over one folder; its index is kept in `cache`.

    `researcher` is the one that works without a model, unless another one is given.
    """

    def __init__(self, folder: Path, cache: Path, researcher: Researcher | None = None) -> None:
        self._search = LocalFolder(
            [folder],
            cache=cache,
            converter=DirectConverter(),
            rescan_s=3600,
            ranking=open_ranking(best_ranking()),
        )
        self._reader = LocalReader(self._search.reader)
        self._researcher: Researcher = researcher or ExtractiveResearcher()

    async def answer(self, question: str) -> Outcome:
        """Return what a run would say to `question`."""
        plan = (await self._researcher.plan(PlanInput(question))).value
        assessment = Assessment((), ())
        texts: dict[str, str] = {}
        passages: list[Passage] = []
        used: list[str] = []
        queries = [sub.query for sub in plan.subquestions]
        for number in range(1, _ROUNDS + 1):
            found = await self._found(queries)
            for locator in found:
                for key, text, own in await self._read(locator):
                    if key not in texts:
                        texts[key] = text
                        passages += own
            used += queries
            asked = [sub.question for sub in plan.subquestions]
            given = AssessInput(
                plan, number, choose_passages([*asked, *queries], passages),
                assessment.selected, tuple(used), max_evidence=_EVIDENCE,
            )  # fmt: skip
            held = {item.id for item in assessment.selected}
            assessment = accept((await self._researcher.assess(given)).value, given, texts)
            fresh = {item.id for item in assessment.selected} - held
            open_rows = [r for r in assessment.rows if r.coverage is not Coverage.COVERED]
            wanted = [row.next_query for row in open_rows]
            queries = [q for q in dict.fromkeys(wanted) if q.strip() and q not in used]
            if not queries or (number > 1 and not fresh):
                break
        return await self._written(plan, assessment)

    async def _found(self, queries: Iterable[str]) -> list[str]:
        hits: dict[str, None] = {}
        for query in queries:
            page = await self._search.search(query, limit=HITS_PER_QUERY)
            hits.update(dict.fromkeys(hit.locator for hit in page.hits))
        return list(hits)

    async def _read(self, locator: str) -> list[tuple[str, str, list[Passage]]]:
        opened = await self._reader.open(locator)
        made = await self._search.converter.convert(
            opened.data, name=locator, media_type=opened.media_type
        )
        document = made.document
        if document is None:
            return []
        key = hashlib.sha256(locator.encode()).hexdigest()[:12]
        blocks = [
            Passage(
                key, locator, document.title, document.text[block.start : block.end],
                block.start, block.end, block.paragraph, block.page, block.heading,
                opened.modified_at,
            )
            for block in document.blocks
            if block.main and document.text[block.start : block.end].strip()
        ]  # fmt: skip
        return [(key, document.text, blocks)]

    async def _written(self, plan: Plan, assessment: Assessment) -> Outcome:
        drafts = []
        checks: list[ClaimCheck] = []
        for section in QUESTION.sections:
            if section.computed:
                continue
            order = WriteInput(section.key, section.title, plan, assessment, max_claims=_CLAIMS)
            made = (await self._researcher.write_section(order)).value
            drafts.append(accept_draft(made, order))
            given = CheckInput(drafts[-1].claims, assessment.selected)
            checks += (await self._researcher.check_claims(given)).value
        numbering = number_citations(drafts, kept_checks(checks), assessment)
        by_number: dict[int, Selected] = {}
        for item in assessment.selected:
            if item.id in numbering.numbers:
                by_number.setdefault(numbering.numbers[item.id], item)
        citations = tuple(by_number[number] for number in sorted(by_number))
        return Outcome(plan, assessment, tuple(drafts), citations)
