"""Events as research records them: a deep run's rounds, and workspace turns up to the limits."""

from collections.abc import Iterator

from state.envelope import Draft, Refs
from state.events import Event, Holder, Limits, Spend, draft
from state.method_events import (
    PlannedSubquestion,
    RecordedQuote,
    RecordedRow,
    ResearchCoverageAssessed,
    ResearchEvidenceAccepted,
    ResearchPlanRecorded,
    ResearchReadingFrozen,
    ResearchScheduleFrozen,
    ScheduledQuery,
)
from state.request import make_request
from state.research_events import (
    Rendition,
    ResearchArtifactRecorded,
    ResearchCheckpointRecorded,
    ResearchStarted,
    ResearchStepRecorded,
)
from state.research_projection import MAX_ARTIFACTS, MAX_STEPS
from state.run_events import (
    EffectReserved,
    EffectSettled,
    RunLeased,
    RunQueued,
    RunStarted,
    StageStarted,
)
from state.values.evidence import Coverage
from state.values.ids import artifact_id, content_hash, sha256_hex
from state.values.plan import Plan, Subquestion

QUESTION = "How warm is the vault, how long does a grower wait for a packet, and who insures it?"
ROUNDS, PAGES = 10, 10
MEDIA = "text/markdown"
PLAN = Plan(
    QUESTION,
    (
        Subquestion("q1", "How warm is the vault?", "temperature vault seeds keep"),
        Subquestion("q2", "How long does a grower wait for a packet?", "grower wait packet"),
        Subquestion("q3", "Who insures it?", "insures collection"),
    ),
)


def research_drafts(run_id: str) -> Iterator[Draft]:
    """Yield what a deep run records up to the limits: 2,000 artifacts, 500 steps and checkpoints.

    Ten rounds of the method come first, then turns of the workspace: sources, a note, a research
    step and a checkpoint each.
    """
    return _Run(run_id).drafts()


class _Run:
    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.turn = "planning/1"
        self.artifacts = 0
        self.evidence: list[str] = []

    def drafts(self) -> Iterator[Draft]:
        yield from self._opening()
        for number in range(1, ROUNDS + 1):
            self.turn = f"knowledge_base/{number}"
            yield from self._round(number)
        for number in range(ROUNDS + 1, MAX_STEPS + 1):
            self.turn = f"workspace/{number}"
            yield from self._turn(number)

    def _turn(self, number: int) -> Iterator[Draft]:
        """Yield as many artifacts as leave equally many for each turn that remains."""
        share = -(-(MAX_ARTIFACTS - self.artifacts) // (MAX_STEPS - number + 1))
        sources = [self._source(f"{number}-{n}") for n in range(share - 1)]
        ids = [source.artifact_id for source in sources]
        note = self._note(number, ids)
        step = self._step(number, ids, note.artifact_id)
        yield from (self._draft(e) for e in (*sources, note, step, self._checkpoint(number)))

    def _draft(
        self, event: Event, call: str | None = None, task_run_id: str | None = None
    ) -> Draft:
        named = [str(getattr(event, name)) for name in event.identity]
        call_id = call or "/".join([self.turn, event.type, *named])
        flow_run_id = "ea8d0c40-11fa-4666-9366-8c13b8848371"
        return draft(event, Refs(self.turn, call_id, flow_run_id, task_run_id))

    def _opening(self) -> Iterator[Draft]:
        request = make_request(
            id=self.run_id,
            principal="ann",
            question=QUESTION,
            scope="deep",
            limits={"max_rounds": ROUNDS},
            sources=("/home/ann/papers/seedbank",),
        )
        events: tuple[Event, ...] = (
            RunQueued(
                kind="research",
                task_id=self.run_id,
                fingerprint=request.fingerprint,
                requested_by="ann",
                limits=Limits(),
            ),
            ResearchStarted(
                objective=QUESTION, scope="deep", profile=request.profile, request=request
            ),
            RunLeased(epoch=1, holder=Holder(pid=4711, host="desk")),
            RunStarted(),
            StageStarted(stage="planning"),
        )
        yield from (self._draft(event) for event in events)
        yield from self._effect("plan", QUESTION, Spend(model_calls=1))
        yield self._draft(
            ResearchPlanRecorded(
                version=1,
                origin="planned",
                goal=QUESTION,
                subquestions=tuple(
                    PlannedSubquestion(id=s.id, question=s.question, query=s.query)
                    for s in PLAN.subquestions
                ),
                plan_hash=PLAN.hash,
            )
        )
        yield self._draft(StageStarted(stage="knowledge_base"))

    def _round(self, number: int) -> Iterator[Draft]:
        queries = tuple(
            ScheduledQuery(subquestion_id=s.id, query=f"{s.query} {number}")
            for s in PLAN.subquestions
        )
        yield self._draft(ResearchScheduleFrozen(round=number, queries=queries))
        for entry in queries:
            yield from self._effect("search", entry.query, Spend(searches=1))
        sources = [self._source(f"{number}-{n}") for n in range(PAGES)]
        locators = tuple(source.locator for source in sources)
        yield self._draft(ResearchReadingFrozen(round=number, locators=locators))
        for locator in locators:
            yield from self._effect("read", locator, Spend(pages=1))
        yield from (self._draft(source) for source in sources)
        yield from self._effect("assess", str(number), Spend(model_calls=1))
        yield from (self._draft(self._quote(number, source)) for source in sources[:8])
        note = self._note(number, [source.artifact_id for source in sources])
        yield self._draft(note)
        yield self._draft(self._coverage(number))
        ids = [source.artifact_id for source in sources]
        yield self._draft(self._step(number, ids, note.artifact_id))
        yield self._draft(self._checkpoint(number))

    def _effect(self, verb: str, given: str, reserve: Spend) -> Iterator[Draft]:
        digest = sha256_hex(given)
        call = f"{self.turn}/{verb}/{digest[:16]}"
        stage, _, number = self.turn.partition("/")
        reserved = EffectReserved(
            epoch=1, verb=verb, stage=stage, round=int(number), input_hash=digest, attempt=1,
            reserve=reserve,
        )  # fmt: skip
        settled = EffectSettled(
            epoch=1, verb=verb, stage=stage, round=int(number),
            outcome_hash=content_hash(call), usage=reserve, duration_ms=71,
        )  # fmt: skip
        yield self._draft(reserved, call)
        yield self._draft(settled, call, "01a22bee-a20e-7c4f-ba91-7f11f6334711")

    def _source(self, name: str) -> ResearchArtifactRecorded:
        self.artifacts += 1
        return ResearchArtifactRecorded.model_validate(
            {
                "artifact_id": artifact_id(self.run_id, self.turn, name),
                "role": "source",
                "name": f"Paper {name} of the seed bank",
                "locator": f"/home/ann/papers/seedbank/paper-{name}.md",
                "content_hash": content_hash(name),
                "media_type": MEDIA,
                "size": 6960,
                "fetched_at": "2026-01-02T03:04:05.678Z",
                "rendition": Rendition(
                    text_hash=content_hash(f"text {name}"),
                    blocks_hash=content_hash(f"blocks {name}"),
                    extractor="markdown",
                    extractor_version="1+markdown-it-py-4.0.0",
                    outcome="ok",
                    characters=6508,
                ),
            }
        )

    def _note(self, number: int, sources: list[str]) -> ResearchArtifactRecorded:
        self.artifacts += 1
        return ResearchArtifactRecorded.model_validate(
            {
                "artifact_id": artifact_id(self.run_id, self.turn, "note"),
                "role": "evidence_note",
                "name": f"Notes of round {number}",
                "summary": f"8 quotes from {len(sources)} sources.",
                "content_hash": content_hash(f"note {number}"),
                "media_type": MEDIA,
                "size": 2048,
                "source_artifact_ids": sources,
            }
        )

    def _quote(self, number: int, source: ResearchArtifactRecorded) -> ResearchEvidenceAccepted:
        text = source.rendition
        assert text is not None
        evidence_id = f"ev-{sha256_hex(source.artifact_id)[:12]}"
        self.evidence.append(evidence_id)
        return ResearchEvidenceAccepted(
            evidence_id=evidence_id,
            subquestion_id="q1",
            round=number,
            quote=RecordedQuote(
                source_id=source.artifact_id,
                text_hash=text.text_hash,
                extractor=text.extractor,
                extractor_version=text.extractor_version,
                start=247,
                end=370,
                paragraph=4,
            ),
            quote_hash=content_hash(evidence_id),
        )

    def _coverage(self, number: int) -> ResearchCoverageAssessed:
        found = tuple(self.evidence)
        gap = "No source says so."
        open_rows = (
            RecordedRow(subquestion_id=id_, coverage=Coverage.GAP, gap=gap, next_query="insurer")
            for id_ in ("q2", "q3")
        )
        covered = RecordedRow(
            subquestion_id="q1", coverage=Coverage.COVERED, evidence_ids=found[:100]
        )
        return ResearchCoverageAssessed(
            round=number, rows=(covered, *open_rows), missing=(gap,), new_evidence=8
        )

    def _step(self, number: int, sources: list[str], note: str) -> ResearchStepRecorded:
        return ResearchStepRecorded.model_validate(
            {
                "step_id": f"step-{number}",
                "kind": "local_exploration",
                "status": "completed",
                "objective": f"Round {number}: {QUESTION}",
                "summary": f"3 searches, {len(sources)} sources read, 8 new quotes.",
                "stopping_condition": "every scheduled search made and every chosen source read",
                "expected_evidence": "exact quotes that answer a subquestion",
                "roots": ["/home/ann/papers/seedbank"],
                "keywords": [s.query for s in PLAN.subquestions],
                "evidence_artifact_ids": [note],
                "inspected_refs": [
                    {
                        "kind": "file",
                        "locator": f"/home/ann/papers/seedbank/paper-{number}-{n}.md",
                        "source_artifact_id": source,
                    }
                    for n, source in enumerate(sources)
                ],
            }
        )

    def _checkpoint(self, number: int) -> ResearchCheckpointRecorded:
        return ResearchCheckpointRecorded(
            checkpoint_id=f"round-{number}",
            round=number,
            stage="knowledge_base",
            summary=f"1 of 3 subquestions covered by 8 quotes from {self.artifacts} sources.",
            open_questions=("How long does a grower wait?", "Who insures the collection?"),
            next_steps=("search: insurer collection", "search: undertaking packet grower"),
        )
