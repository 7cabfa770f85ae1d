"""A small world to research in: pages, a search over them, and a researcher told what to look for.

Everything about a run is real (ledger, archive, converter, Prefect); only the world is small.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio

from adapters.documents.direct import DirectConverter
from adapters.documents.folder import Unused
from adapters.documents.port import Converter, Opened
from adapters.models.port import (
    Answer,
    AssessInput,
    Assessment,
    CheckInput,
    Given,
    OutlineInput,
    OutlineItem,
    Paragraph,
    PlanInput,
    Reopened,
    RepairInput,
    ReportCheckInput,
    SectionDraft,
    Selected,
    SynthesisInput,
    WriteInput,
    keep_supported,
)
from adapters.search.port import Hit, SearchPage
from flows.runs import RunResult, execute, submit
from flows.settings import Settings
from flows.wiring import Desk, Tools
from state.append import Hooks
from state.artifacts import Artifacts, LocalArtifacts
from state.local_ledger import LocalLedger
from state.policy import Policy
from state.projection import Run, RunFold
from state.request import ResearchRequest, make_request
from state.values.claims import Claim, ClaimCheck, Verdict
from state.values.errors import AssayError
from state.values.evidence import Conflict, Coverage, CoverageRow
from state.values.ids import content_hash
from state.values.money import Usage
from state.values.plan import Plan, Subquestion

MEMBERS = "# Pavo\n\nA Pavo team holds at most 25 members. Retention is described in Meridian.\n"
MERIDIAN_A = "# Meridian Annex\n\nAudit logs are kept for 30 days and are then removed.\n"
MERIDIAN_B = "Notes.\n\nThe Meridian retention of audit logs is 30 days, as of this year.\n"
MERIDIAN_40 = "Notes.\n\nThe Meridian retention of audit logs is 40 days, as of this year.\n"
PLAN = Plan(
    "Members and retention",
    (
        Subquestion("members", "How many members may a team have?", "team members"),
        Subquestion("retention", "How long are audit logs kept?", "audit retention"),
    ),
)
# which words of a page answer a subquestion
SIGNS = {"members": "at most 25 members", "retention": " days"}


@dataclass(slots=True)
class Clock:
    """A clock that stands until it is moved."""

    now: datetime = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass(slots=True)
class Scholar:
    """Quotes what `signs` name; asks for "meridian" while retention is open; counts its calls.

    `before` is awaited before each operation; `judge` gives the verdicts; what is set in `lies`
    stands in for the result of an operation.
    """

    plan_: Plan = PLAN
    signs: Mapping[str, str] = field(default_factory=lambda: SIGNS)
    judge: Callable[[Claim], Verdict] = lambda _: Verdict.SUPPORTED
    lies: dict[str, Callable[[Any, Any], Any]] = field(default_factory=dict)
    before: Callable[[str], Awaitable[None]] | None = None
    uses_model: bool = False
    name: str = "scholar"
    calls: list[str] = field(default_factory=list)
    feedback: list[str] = field(default_factory=list)

    async def _answer(self, operation: str, given: Any, honest: Any) -> Answer[Any]:
        self.calls.append(operation)
        if self.before:
            await self.before(operation)
        value = self.lies[operation](given, honest) if operation in self.lies else honest
        return Answer(value, Usage(model_calls=int(self.uses_model)))

    async def plan(self, given: PlanInput) -> Answer[Plan]:
        if given.feedback:
            self.feedback.append(given.feedback)
        goal = f"{self.plan_.goal} {given.feedback}".strip()
        plan = Plan(goal, self.plan_.subquestions, self.plan_.clarification)
        return await self._answer("plan", given, plan)

    async def assess(self, given: AssessInput) -> Answer[Assessment]:
        found = {choice.id: choice for choice in given.held}
        for passage in given.passages:
            for subquestion in given.plan.subquestions:
                sign = self.signs.get(subquestion.id)
                if sign and sign in passage.text:
                    choice = Selected(
                        subquestion.id, passage.source_id, passage.locator, passage.title,
                        passage.text, passage.start, passage.end, passage.paragraph,
                    )  # fmt: skip
                    found[choice.id] = choice
        selected = tuple(found.values())
        conflicts = _conflicts(selected)
        rows = tuple(self._row(s.id, selected, conflicts) for s in given.plan.subquestions)
        missing = tuple(row.gap for row in rows if row.gap)
        return await self._answer("assess", given, Assessment(selected, rows, missing, conflicts))

    def _row(
        self, id_: str, selected: Sequence[Selected], conflicts: Sequence[Conflict]
    ) -> CoverageRow:
        ids = tuple(choice.id for choice in selected if choice.subquestion_id == id_)
        if any(conflict.subquestion_id == id_ for conflict in conflicts):
            return CoverageRow(id_, Coverage.CONFLICT, ids)
        if ids:
            return CoverageRow(id_, Coverage.COVERED, ids)
        return CoverageRow(id_, Coverage.GAP, (), f"no source answers {id_!r}", f"meridian {id_}")

    def price(self, given: Given) -> Usage:
        return Usage(model_calls=int(self.uses_model))

    async def synthesise(self, given: SynthesisInput) -> Answer[tuple[SectionDraft, ...]]:
        drafts = tuple(self._draft(key, given.assessment) for key, _ in given.sections)
        return await self._answer("synthesise", given, drafts)

    async def outline(self, given: OutlineInput) -> Answer[tuple[OutlineItem, ...]]:
        items = tuple(OutlineItem(key, title, "say it") for key, title in given.sections)
        return await self._answer("outline", given, items)

    async def write_section(self, given: WriteInput) -> Answer[SectionDraft]:
        draft = self._draft(given.section, given.assessment)
        return await self._answer("write_section", given, draft)

    def _draft(self, section: str, assessment: Assessment) -> SectionDraft:
        paragraphs = tuple(
            Paragraph((Claim(f"{section}-{number}", section, choice.text, (choice.id,)),))
            for number, choice in enumerate(assessment.selected, 1)
        )
        none = (Paragraph(remark="No source states anything on this."),)
        return SectionDraft(section, paragraphs or none)

    async def repair(self, given: RepairInput) -> Answer[tuple[SectionDraft, ...]]:
        kept = tuple(keep_supported(draft, given.checks) for draft in given.drafts)
        return await self._answer("repair", given, kept)

    async def check_report(self, given: ReportCheckInput) -> Answer[tuple[Reopened, ...]]:
        return await self._answer("check_report", given, ())

    async def check_claims(self, given: CheckInput) -> Answer[tuple[ClaimCheck, ...]]:
        checks = tuple(ClaimCheck(claim.id, self.judge(claim), "reading") for claim in given.claims)
        return await self._answer("check_claims", given, checks)


def _conflicts(selected: Sequence[Selected]) -> tuple[Conflict, ...]:
    days = {word for choice in selected for word in ("30", "40") if f"{word} days" in choice.text}
    if len(days) < 2:
        return ()
    ids = tuple(choice.id for choice in selected if choice.subquestion_id == "retention")
    return (Conflict("retention", ids, "30 days against 40 days"),)


@dataclass(slots=True)
class World:
    """Pages by locator (an error is raised), and hits by query; remembers what was asked of it."""

    home: Path
    clock: Clock = field(default_factory=Clock)
    pages: dict[str, bytes | AssayError | Exception] = field(default_factory=dict)
    results: dict[str, list[str] | AssayError | Exception] = field(default_factory=dict)
    scholar: Scholar = field(default_factory=Scholar)
    delays: dict[str, float] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    artifacts: Artifacts | None = None
    left_out: Unused = field(default_factory=Unused)
    name: str = "small world"
    cost_micro_usd: int = 0

    async def search(self, query: str, *, cursor: str | None = None, limit: int = 6) -> SearchPage:
        self.asked.append(query)
        await anyio.sleep(self.delays.get(query, 0))
        found = self.results.get(query, [])
        if isinstance(found, Exception):
            raise found
        hits = tuple(Hit(locator, None, "9999 members", 1.0) for locator in found[:limit])
        return SearchPage(hits, raw_hash=content_hash(query))

    async def open(self, locator: str) -> Opened:
        self.opened.append(locator)
        await anyio.sleep(self.delays.get(locator, 0))
        page = self.pages[locator]
        if isinstance(page, Exception):
            raise page
        return Opened(page, display=locator.removeprefix("/world/"))

    def inventory(self) -> list[dict[str, object]]:
        return [{"path": locator, "size": 0} for locator in sorted(self.pages)]

    async def unused(self) -> Unused:
        return self.left_out

    def tools(self, request: ResearchRequest) -> Tools:
        return Tools(
            searches=((self,),),
            reader=self,
            converter=self.converter(),
            researcher=self.scholar,
            inventory=self.inventory,
            unused=self.unused,
        )

    def converter(self) -> Converter:
        return DirectConverter()

    def desk(self, **settings: Any) -> Desk:
        """Return a desk as a new process would have it: same folder, nothing in memory."""
        self.home.mkdir(exist_ok=True)
        ledger: LocalLedger[Run] = LocalLedger(
            self.home, RunFold(), hooks=Hooks(clock=self.clock, sync=lambda _: None)
        )
        return Desk(
            settings=Settings(home=self.home),
            ledger=ledger,
            artifacts=self.artifacts or LocalArtifacts(self.home / "artifacts"),
            policy=Policy(self.home / "policy.json"),
            tools=self.tools,
            converter=self.converter,
            now=self.clock,
            **settings,
        )

    @property
    def touched(self) -> int:
        """Return how often anything of the world was used."""
        return len(self.asked) + len(self.opened) + len(self.scholar.calls)


def annex(home: Path) -> World:
    """Return a world that answers one subquestion at once, and the other after a second round."""
    return World(
        home,
        pages={
            "/world/pavo.md": MEMBERS.encode(),
            "/world/a/meridian.md": MERIDIAN_A.encode(),
            "/world/b/meridian.txt": MERIDIAN_B.encode(),
        },
        results={
            "team members": ["/world/pavo.md"],
            "audit retention": ["/world/pavo.md"],
            "meridian retention": ["/world/a/meridian.md", "/world/b/meridian.txt"],
        },
    )


def queued(desk: Desk, run_id: str = "r1", **options: Any) -> str:
    """Record a run of the standard question; return its id."""
    fields = {"question": "How many members, and how long are logs kept?", "sources": ("/world",)}
    submit(desk, make_request(id=run_id, principal="tester", **{**fields, **options}))
    return run_id


def answered(world: World, run_id: str = "r1", **options: Any) -> RunResult:
    """Queue a run in a new process and carry it as far as it goes."""
    desk = world.desk()
    return execute(desk, queued(desk, run_id, **options))


def resumed(world: World, run_id: str = "r1", **settings: Any) -> RunResult:
    """Carry a run on in a new process."""
    return execute(world.desk(**settings), run_id)


def published(world: World, run_id: str = "r1") -> dict[str, bytes]:
    """Return the bytes of the published report, by file name."""
    folder = world.home / "reports" / run_id
    return {name: (folder / name).read_bytes() for name in ("report.md", "report.json")}


def types(desk: Desk, run_id: str = "r1") -> list[str]:
    """Return the types of the run's events in order."""
    return [line.envelope.type for line in desk.ledger.read(run_id)]
