"""A ledger of many realistic runs: some are told through the real journal, then copied.

A copy is another run to everybody: it has its own id, times and hashes, and its chain is sealed
again. What is shared are the documents of a library, which several runs cite.
"""

import random
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal

from state.envelope import NO_HASH, Line
from state.events import Limits, Spend
from state.journal import JOURNAL, run_folder
from state.values.ids import canonical_json, content_hash, sha256_hex
from state.values.plan import Plan, Subquestion
from tests.state.builders import answered, requested
from tests.state.code_builders import PATHS as CODE_PATHS
from tests.state.code_builders import PLAN as CODE_PLAN
from tests.state.code_builders import reference
from tests.state.code_stories import CodeStory
from tests.state.stories import Clock, Story, open_ledger

TEMPLATES = 24
FIRST = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
_NAME = "run-000000000"  # as long as the ids of the copies
_STAMP = "f00dface" * 2  # stands in every hash that is the run's own
_HASH = re.compile(r"[0-9a-f]{64}")
_LIBRARY = [f"library {number}" for number in range(60)]
_SITES = ("seeds.example", "journals.example.org", "archive.example.net", "press.example.com")
PLAN = Plan(
    "How warm is the vault, how long does a grower wait for a packet, and who insures it?",
    (
        Subquestion("q1", "How warm is the vault?", "temperature vault seeds keep"),
        Subquestion("q2", "How long does a grower wait for a packet?", "grower wait packet"),
        Subquestion("q3", "Who insures it?", "insures collection"),
    ),
)
Outcome = Literal["answered", "insufficient", "failed", "cancelled", "waiting", "interrupted"]
_OUTCOMES: tuple[Outcome, ...] = (
    *("answered",) * 14,
    *("insufficient",) * 6,
    *("failed", "cancelled", "waiting", "interrupted"),
)
_CODE = (1, 5, 9, 13, 16, 18)  # these templates are runs of Paper2Code


def make_runs(home: Path, runs: int, *, days: float = 120.0, events: int = 0) -> int:
    """Write the journals of `runs` runs, queued over `days`, under `home`; return their events.

    More runs are written until there are at least so many `events`.
    """
    templates = [_template(number) for number in range(TEMPLATES)]
    apart = timedelta(days=days) / runs
    written = number = 0
    while number < runs or written < events:
        template = templates[number % TEMPLATES]
        _write(home, template, f"run-{number:09d}", FIRST + apart * number)
        written += len(template)
        number += 1
    return written


@dataclass(frozen=True, slots=True)
class _Told:
    """An event of a template: what stands before and after its hash and time, and when it came."""

    body: str
    refs: str
    kind: str
    after: timedelta


def _template(number: int) -> list[_Told]:
    with tempfile.TemporaryDirectory(prefix="assay-runs-") as folder:
        clock = Clock(FIRST)
        ledger = open_ledger(Path(folder), clock)
        if number in _CODE:
            _tell_code(CodeStory(ledger, clock, _NAME), number)
        else:
            _Research(Story(ledger, clock, _NAME), number).tell(_OUTCOMES[number % len(_OUTCOMES)])
        lines = ledger.read(_NAME)
        ledger.close()
    shared = {
        PLAN.hash,
        CODE_PLAN.hash,
        *_inputs(lines),
        *(sha256_hex(f"{of}{text}") for text in _LIBRARY for of in _OF_A_SOURCE),
    }
    return [_told(line, shared) for line in lines]


def _inputs(lines: Sequence[Line]) -> set[str]:
    """Return the hashes that tell which provider was asked, and which source was read."""
    return {line.envelope.body.get("input_hash", "") for line in lines}


_OF_A_SOURCE = ("", "text of ", "blocks of ")  # what `Story.source` hashes


def _told(line: Line, shared: set[str]) -> _Told:
    envelope = line.envelope

    def own(found: re.Match[str]) -> str:
        return found[0] if found[0] in shared else _STAMP + found[0][len(_STAMP) :]

    refs = {
        "call_id": envelope.refs.call_id,
        "flow_run_id": envelope.refs.flow_run_id,
        "task_run_id": envelope.refs.task_run_id,
        "turn_id": envelope.refs.turn_id,
    }
    return _Told(
        _HASH.sub(own, canonical_json(envelope.body)),
        canonical_json(refs),
        envelope.type,
        datetime.fromisoformat(envelope.time) - FIRST,
    )


def _write(home: Path, template: Sequence[_Told], run_id: str, began: datetime) -> None:
    """Write the journal of a run as the ledger would: same spelling, same chain."""
    folder = run_folder(home, run_id)
    folder.mkdir(parents=True, mode=0o700)
    stamp, previous, lines = sha256_hex(run_id)[: len(_STAMP)], NO_HASH, list[str]()
    for position, told in enumerate(template, 1):
        time = (began + told.after).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = (
            f'{{"body":{told.body},"event_id":"{stamp}{position:016x}","position":{position},'
            f'"previous_hash":"{previous}","refs":{told.refs},"run_id":"{run_id}",'
            f'"schema_version":1,"time":"{time}","type":"{told.kind}"}}'
        )
        text = text.replace(_NAME, run_id).replace(_STAMP, stamp)
        previous = sha256_hex(text)
        lines.append(f"{previous}\t{text}\n")
    (folder / JOURNAL).write_text("".join(lines), encoding="utf-8")


def _tell_code(story: CodeStory, number: int) -> None:
    """Tell a Paper2Code run whose repairs, luck and costs depend on its number alone."""
    dice = random.Random(number)
    case = _CODE.index(number)
    usage = Spend(model_calls=1, input_tokens=4000, output_tokens=900, cost_micro_usd=2500)
    story.queued(limits=Limits(model_calls=200), model=("local:coder", "cloud:coder")[case % 2])
    story.started()
    with story.stage("acquiring_input"):
        story.step("acquire", "source", seconds=0.4).sourced()
    with story.stage("planning"):
        story.step("design", "plan", seconds=dice.uniform(5, 60), usage=usage).planned()
    with story.stage("plan_review"):
        story.asked()
        if case == 5:
            return
        story.decided("approve", after_s=dice.lognormvariate(6, 1.5))
    with story.stage("collecting_references"):
        story.record(reference(), reference("/refs/b", outcome="failed", reason="it is gone"))
    with story.stage("implementing"):
        some = CODE_PATHS[:3] if case == 4 else CODE_PATHS
        story.wrote(some, seconds=dice.lognormvariate(2, 0.5), usage=usage)
    with story.stage("verifying"):
        if case < 4:
            story.froze(outcome="failed" if case == 3 else "installed", reason="offline")
            for _ in range(min(case, 2)):
                story.verified("failed", reason="1 of 3 tests failed")
                story.wrote(CODE_PATHS[1:2], story.code.attempt, usage=usage)
            story.verified("timeout" if case == 3 else "passed")
    with story.stage("finalizing"):
        story.sealed()
    story.ended()


class _Research:
    """Tells a run whose size, sources, luck and costs depend on its number alone."""

    def __init__(self, story: Story, number: int) -> None:
        self.story = story
        self.dice = random.Random(number)
        self.web = number % 3 == 0
        self.model = number % 2 == 0
        self.providers = ("searxng", "crossref") if self.web else ("local",)
        self.evidence: dict[str, list[str]] = {s.id: [] for s in PLAN.subquestions}
        self.origin: dict[str, str] = {}
        self.read: set[str] = set()

    def tell(self, outcome: Outcome) -> None:
        story, review = self.story, outcome in ("waiting", "cancelled") or self.dice.random() < 0.2
        limits = Limits(searches=9, pages=18, model_calls=16)
        where: dict[str, Any] = {"sources": ("/home/ann/papers",)}
        if self.web:
            where = {"sources": (), "allowed_origins": "any", "search_providers": self.providers}
        story.queued(limits=limits, question=PLAN.goal, plan_review=review, **where)
        story.clock.advance(self.dice.uniform(0.01, 3))
        story.started()
        with story.stage("planning"):
            self._model_step("plan", PLAN.goal)
            story.plan(PLAN)
        if review and not self._reviewed(outcome):
            return
        with story.stage("knowledge_base"):
            rounds = self.dice.choice((1, 2, 2, 3))
            for number in range(1, rounds + 1):
                self._round(number, last=number == rounds, answers=outcome == "answered")
            if outcome == "interrupted":
                story.interrupted()
                return
            stop = "coverage-complete" if outcome == "answered" else "round-budget"
            story.stopped(rounds, stop)
        self._report(outcome, stop)

    def _reviewed(self, outcome: Outcome) -> bool:
        """Ask a person; tell whether the run goes on."""
        story = self.story
        story.turn = "review/1"
        story.record(*requested(made=PLAN))
        if outcome == "waiting":
            return False
        after_s = self.dice.lognormvariate(6, 1.5)
        if outcome == "cancelled":
            story.record(answered("cancel", made=PLAN, reason="not now"), after_s=after_s)
            story.resumed().end("cancelled")
            return False
        story.record(answered("approve", made=PLAN), after_s=after_s).resumed()
        return True

    def _round(self, number: int, *, last: bool, answers: bool) -> None:
        story = self.story
        queries = {f"{s.query} {number}": s.id for s in PLAN.subquestions}
        story.scheduled(number, queries)
        for query, subquestion in queries.items():
            provider = self.dice.choice(self.providers)
            self._outside(
                partial(story.search, query, subquestion, provider=provider),
                0.4 if self.web else 0.05,
            )
        texts = self._texts(number)
        names = list(texts)
        locators = {name: self._locator(texts[name]) for name in names}
        story.reading(number, list(locators.values()))
        read = []
        for name in names:
            if self._outside(partial(story.read, locators[name]), 0.9 if self.web else 0.12):
                story.source(name, locators[name], texts[name], name=f"On {texts[name]}")
                read.append(name)
            else:
                code = "PAGE_UNAVAILABLE" if self.web else "NEEDS_OCR"
                story.skipped(number, locators[name], code)
        self._model_step("assess", f"round {number}")
        new = self._quotes(number, read)
        rows = {id_: found or None for id_, found in self.evidence.items()}
        if not (last and answers):
            rows["q3"] = None
        story.assessed(number, rows, self._disputed(rows), new)

    def _disputed(self, rows: Mapping[str, list[str] | None]) -> dict[str, list[str]]:
        """Return, for a subquestion with much evidence, two quotes of different sources."""
        disputed = {}
        for id_, found in rows.items():
            first = self.origin[found[0]] if found else ""
            other = [each for each in found or () if self.origin[each] != first]
            if found and other and len(found) > 5:
                disputed[id_] = [found[0], other[0]]
        return disputed

    def _quotes(self, number: int, read: Sequence[str]) -> int:
        new = 0
        for name in read:
            for _ in range(self.dice.choice((0, 0, 1, 1, 2, 3))):
                subquestion = self.dice.choice(PLAN.subquestions).id
                evidence_id = f"ev-{sha256_hex(f'{name} {new}')[:12]}"
                self.story.quote(evidence_id, name, subquestion, number)
                self.evidence[subquestion].append(evidence_id)
                self.origin[evidence_id] = name
                new += 1
        return new

    def _report(self, outcome: Outcome, stop: str) -> None:
        story, found = self.story, [id_ for ids in self.evidence.values() for id_ in ids]
        with story.stage("report_writing"):
            self._model_step("outline", "outline")
            if outcome == "failed":
                story.end("failed")
                return
            for section in ("summary", "findings", "conflicts_and_gaps", "implications"):
                self._model_step("write", section)
                self._model_step("check", section)
            for number, evidence_id in enumerate(found[:12]):
                verdict = self.dice.choices(
                    ("supported", "partial", "contradicted", "unverified"), (12, 3, 1, 1)
                )[0]
                status = self.dice.choice(("single-source", "corroborated", "disputed"))
                method = "model:small" if self.model else "exact-quote"
                story.claim(f"findings-{number}", [evidence_id], verdict, status, method)
            story.sealed()
        with story.stage("publishing"):
            story.step("publish", "report", seconds=0.02)
        answer = "answered" if outcome == "answered" else "insufficient-evidence"
        story.completed(answer, stop)

    def _texts(self, number: int) -> dict[str, str]:
        """Return the documents that a round reads, some from the library, none twice."""
        texts = {f"own {number}-{n}" for n in range(self.dice.randint(2, 4))}
        texts |= set(self.dice.sample(_LIBRARY, 2)) - self.read
        self.read |= texts
        return {f"s{number}-{n}": text for n, text in enumerate(sorted(texts))}

    def _locator(self, text: str) -> str:
        number = int(sha256_hex(text)[:4], 16)
        if self.web:
            return f"https://{_SITES[number % len(_SITES)]}/papers/{number}"
        return f"/home/ann/papers/{('vault', 'growers', 'law')[number % 3]}/paper-{number}.md"

    def _model_step(self, verb: str, given: str) -> None:
        if not self.model:
            self.story.step(verb, given, seconds=self.dice.uniform(0.01, 0.2))
            return
        tokens = self.dice.randint(900, 9000)
        usage = Spend(
            model_calls=1,
            input_tokens=tokens,
            cached_tokens=tokens // 10,
            output_tokens=tokens // 8,
            cost_micro_usd=tokens // 2,
        )
        seconds = self.dice.lognormvariate(1, 0.6)
        self.story.step(verb, given, seconds=seconds, reserve=Spend(model_calls=1), usage=usage)

    def _outside(self, go: Callable[..., object], typical_s: float) -> bool:
        """Do a step that goes out into the world; tell whether it succeeded."""
        luck = self.dice.random()
        code = "PAGE_UNAVAILABLE" if luck < 0.06 else ""
        seconds = typical_s * self.dice.lognormvariate(0, 0.8)
        go(seconds=seconds, code=code, crashes=int(luck > 0.99))
        return not code


def shared_document(number: int) -> str:
    """Return the content hash of a document of the library, which several runs cite."""
    return content_hash(_LIBRARY[number])
