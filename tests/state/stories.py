"""Runs told step by step: each event at its time, through the real ledger and its rules."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Self

from state.append import Hooks
from state.envelope import Refs
from state.events import Ancestor, Event, Holder, Limits, Spend, draft
from state.local_ledger import LocalLedger
from state.method_events import (
    RecordedConflict,
    RecordedQuote,
    RecordedRow,
    ResearchClaimRecorded,
    ResearchCoverageAssessed,
    ResearchEvidenceAccepted,
    ResearchReadingFrozen,
    ResearchScheduleFrozen,
    ResearchSourceSkipped,
    ResearchStopDecided,
    ResearchVerdictRecorded,
    ScheduledQuery,
)
from state.projection import Run, RunFold
from state.research_events import Rendition
from state.run_events import (
    EffectFailed,
    EffectReserved,
    EffectSettled,
    NoticeKind,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunInterrupted,
    RunLeased,
    RunResumed,
    RunStarted,
    StageCompleted,
    StageStarted,
)
from state.values.ids import canonical_json, content_hash, sha256_hex
from state.values.plan import Plan
from tests.state.builders import (
    BEGAN,
    artifact,
    checkpoint,
    completed,
    item,
    plan,
    planned,
    queued,
    request,
    research_started,
    source,
)

CHARACTERS = 6000
FLOW_RUN = "ea8d0c40-11fa-4666-9366-8c13b8848371"
TASK_RUN = "01a22bee-a20e-7c4f-ba91-7f11f6334711"


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    now: datetime = BEGAN

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Story:
    """One run of `ledger`, whose hooks read `clock`. Times are seconds of that clock.

    A webhook is to be told of what is in `notify`.
    """

    notify: tuple[NoticeKind, ...] = ("waiting", "failed")

    def __init__(self, ledger: LocalLedger[Run], clock: Clock, run_id: str = "run-1") -> None:
        self.ledger = ledger
        self.clock = clock
        self.run_id = run_id
        self.turn = "start/1"
        self.epoch = 0

    @property
    def run(self) -> Run:
        return self.ledger.project(self.run_id)

    def record(self, *events: Event, after_s: float = 0.0) -> Self:
        """Record `events`, each under its own call id as the driver makes them."""
        self.clock.advance(after_s)
        for event in events:
            named = [str(getattr(event, name)) for name in event.identity]
            self._append(event, "/".join([self.turn, event.type, *named])[:128])
        return self

    def _append(self, event: Event, call_id: str, task_run_id: str | None = None) -> None:
        refs = Refs(self.turn, call_id, FLOW_RUN, task_run_id)
        self.ledger.append(self.run_id, [draft(event, refs)])

    # ---- the run's life

    def queued(
        self, *, limits: Limits | None = None, retry_of: Ancestor | None = None, **asked: Any
    ) -> Self:
        family: dict[str, Any] = {"retry_of": retry_of, "attempt": 2, "task_id": "family"}
        self.record(
            queued(
                self.run_id,
                limits=limits or Limits(),
                fingerprint=request(self.run_id, **asked).fingerprint,
                **(family if retry_of else {}),
            )
        )
        return self.record(research_started(run_id=self.run_id, **asked))

    def leased(self) -> Self:
        self.epoch += 1
        self.turn = f"lease/{self.epoch}"
        holder = Holder(pid=4711, host="desk")
        return self.record(RunLeased(epoch=self.epoch, holder=holder, notify=self.notify))

    def started(self) -> Self:
        return self.leased().record(RunStarted())

    def interrupted(self) -> Self:
        reason = "the process that executed the run is gone"
        self.turn = f"ending/{self.epoch}"
        return self.record(RunInterrupted(code="WORKFLOW_INTERRUPTED", reason=reason))

    def resumed(self) -> Self:
        return self.leased().record(RunResumed())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Record that a stage starts, and that it ended when the run still goes on."""
        self.turn = f"{name}/1"
        self.record(StageStarted(stage=name))
        yield
        if self.run.status == "running":
            self.turn = f"{name}/1"
            self.record(StageCompleted(stage=name))

    # ---- steps

    def step(
        self,
        verb: str,
        given: str,
        *,
        seconds: float = 1.0,
        reserve: Spend | None = None,
        usage: Spend | None = None,
        code: str = "",
        crashes: int = 0,
        reused_from: str | None = None,
    ) -> Self:
        """Do one step; it fails with `code`, and its process is killed `crashes` times before."""
        turn = self.turn
        stage, _, number = turn.partition("/")
        call_id = f"{turn}/{verb}/{sha256_hex(given)[:16]}"
        of: dict[str, Any] = {"verb": verb, "stage": stage, "round": int(number)}
        reserve = reserve or Spend()
        for attempt in range(1, crashes + 2 - (reused_from is not None)):
            reserved = EffectReserved(
                epoch=self.epoch,
                input_hash=sha256_hex(given),
                attempt=attempt,
                reserve=reserve,
                **of,
            )
            self._append(reserved, call_id)
            if attempt <= crashes:
                self.interrupted().resumed()
                self.turn = turn
        self.clock.advance(seconds)
        ends: dict[str, Any] = {"epoch": self.epoch, "duration_ms": round(seconds * 1000)}
        ended: Event
        if code:
            ended = EffectFailed(code=code, message=f"{given} failed", usage=reserve, **ends)
        else:
            ended = EffectSettled(
                outcome_hash=content_hash(call_id),
                usage=Spend() if reused_from else usage or reserve,
                reused_from=reused_from,
                **of,
                **ends,
            )
        self._append(ended, call_id, TASK_RUN)
        return self

    def search(self, query: str, subquestion: str, *, provider: str = "local", **how: Any) -> Self:
        """Ask a provider one query; `how` as in `step`."""
        given = {"query": query, "subquestion_id": subquestion, "provider": provider}
        return self.step("search", canonical_json(given), **{"reserve": Spend(searches=1), **how})

    def read(self, locator: str, **how: Any) -> Self:
        """Open one source; `how` as in `step`."""
        given = canonical_json({"locator": locator})
        return self.step("read", given, **{"reserve": Spend(pages=1), **how})

    # ---- the method

    def plan(self, made: Plan | None = None, version: int = 1) -> Self:
        self.turn = f"planning/{version}"
        return self.record(planned(version, made or plan()))

    def scheduled(self, round_: int, queries: Mapping[str, str]) -> Self:
        """Freeze the searches of a round: subquestion by query."""
        self.turn = f"knowledge_base/{round_}"
        asked = tuple(ScheduledQuery(subquestion_id=id_, query=q) for q, id_ in queries.items())
        return self.record(ResearchScheduleFrozen(round=round_, queries=asked))

    def reading(self, round_: int, locators: Sequence[str]) -> Self:
        return self.record(ResearchReadingFrozen(round=round_, locators=tuple(locators)))

    def source(self, source_id: str, locator: str = "", text: str = "", **fields: Any) -> Self:
        """Record a source; sources of the same `text` have the same content."""
        text = text or source_id
        rendition = Rendition(
            text_hash=content_hash(f"text of {text}"),
            blocks_hash=content_hash(f"blocks of {text}"),
            extractor="plain",
            extractor_version="1",
            outcome="ok",
            characters=CHARACTERS,
        )
        given: dict[str, Any] = {
            "locator": locator or f"/notes/{source_id}.md",
            "content_hash": content_hash(text),
            "size": CHARACTERS + 17,
            "rendition": rendition,
        }
        return self.record(source(source_id, **{**given, **fields}))

    def skipped(self, round_: int, locator: str, code: str, stage: str = "read") -> Self:
        return self.record(
            ResearchSourceSkipped.model_validate(
                {
                    "round": round_,
                    "stage": stage,
                    "locator": locator,
                    "code": code,
                    "reason": f"{code} at {locator}",
                }
            )
        )

    def quote(self, evidence_id: str, source_id: str, subquestion: str, round_: int = 1) -> Self:
        """Accept the quote `evidence_id` from a source that this story recorded."""
        research = self.run.research
        assert research is not None
        text = research.artifacts[source_id].rendition
        assert text is not None
        return self.record(
            ResearchEvidenceAccepted(
                evidence_id=evidence_id,
                subquestion_id=subquestion,
                round=round_,
                quote=RecordedQuote(
                    source_id=source_id,
                    text_hash=text.text_hash,
                    extractor=text.extractor,
                    extractor_version=text.extractor_version,
                    start=247,
                    end=370,
                    paragraph=4,
                ),
                quote_hash=content_hash(f"{source_id} {evidence_id}"),
            )
        )

    def assessed(
        self,
        round_: int,
        rows: Mapping[str, Sequence[str] | None],
        conflicts: Mapping[str, Sequence[str]] | None = None,
        new: int = 0,
    ) -> Self:
        """Record coverage: the evidence of each subquestion (None: a gap), and its conflicts."""
        against = conflicts or {}
        gap = "No source says so."
        return self.record(
            ResearchCoverageAssessed(
                round=round_,
                rows=tuple(
                    RecordedRow.model_validate(
                        {
                            "subquestion_id": id_,
                            "coverage": "gap" if ids is None else _coverage(id_, against),
                            "evidence_ids": ids or (),
                            "gap": gap if ids is None else "",
                        }
                    )
                    for id_, ids in rows.items()
                ),
                missing=(gap,) if None in rows.values() else (),
                conflicts=tuple(
                    RecordedConflict(
                        subquestion_id=id_, evidence_ids=tuple(ids), difference="30 or 40 days"
                    )
                    for id_, ids in against.items()
                ),
                new_evidence=new,
            )
        )

    def stopped(self, round_: int, reason: str) -> Self:
        event = {"round": round_, "reason": reason}
        return self.record(ResearchStopDecided.model_validate(event))

    def claim(
        self,
        claim_id: str,
        evidence: Sequence[str],
        verdict: str = "supported",
        status: str = "single-source",
        method: str = "exact-quote",
    ) -> Self:
        judged = {
            "claim_id": claim_id,
            "verdict": verdict,
            "claim_status": status,
            "method": method,
        }
        return self.record(
            ResearchClaimRecorded(
                claim_id=claim_id,
                section="findings",
                text_hash=content_hash(claim_id),
                evidence_ids=tuple(evidence),
            ),
            ResearchVerdictRecorded.model_validate(judged),
        )

    def sealed(self) -> Self:
        """Record all that a report takes, and seal it."""
        research = self.run.research
        assert research is not None
        cites = {"source_artifact_ids": [research.sources[0].artifact_id]}
        for name in ("outline", "report", "handoff"):
            self.record(artifact(name, name, **cites))
        for key in research.profile.section_keys:
            name = f"section-{key}"
            self.record(artifact(name, "report_section", section_key=key, **cites))
        for id_ in research.profile.checklist:
            self.record(item(id_, "completed", evidence_artifact_ids=["report"]))
        self.record(checkpoint("report", max(research.round, 1), "report_writing"))
        return self.record(completed())

    def completed(self, answer: str = "answered", stop: str = "coverage-complete") -> Self:
        """End a run whose report is sealed, or that asks back."""
        return self.record(RunCompleted(answer_status=answer, stop_reason=stop))

    def end(self, how: Literal["failed", "cancelled"], code: str = "MODEL_UNAVAILABLE") -> Self:
        """End a run without its result."""
        self.turn = f"ending/{self.epoch}"
        if how == "failed":
            return self.record(RunFailed(code=code, message="there is no model"))
        return self.record(RunCancelled(reason="not now"))


def _coverage(subquestion: str, conflicts: Mapping[str, Sequence[str]]) -> str:
    return "conflict" if subquestion in conflicts else "covered"


def open_ledger(home: Path, clock: Clock) -> LocalLedger[Run]:
    """Return a ledger that takes its time from `clock` and does not wait for the disk."""
    numbers = iter(range(1, 10**9))
    hooks = Hooks(clock=clock, new_id=lambda: f"{next(numbers):032x}", sync=lambda _: None)
    return LocalLedger(home, RunFold(), hooks=hooks)
