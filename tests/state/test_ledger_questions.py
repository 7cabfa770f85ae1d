"""The ready questions: small ledgers with answers worked out by hand, and what holds for all."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from state.events import Ancestor, Limits, Spend
from state.journal import JOURNAL, run_folder
from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from state.questions import (
    Findings,
    Period,
    ask,
    described,
    make_period,
    question_named,
    questions,
    spell,
)
from state.values.errors import InvalidRequest
from state.values.plan import Plan
from tests.state.builders import BEGAN, answered, plan, requested
from tests.state.many_runs import TEMPLATES, make_runs
from tests.state.stories import Clock, Story, open_ledger

NAMES = tuple(questions())
NOW = BEGAN + timedelta(days=30)
PDF = "application/pdf"


class World:
    """A ledger and its clock; stories begin where the clock stands."""

    def __init__(self, home: Path) -> None:
        self.clock = Clock()
        self.ledger = open_ledger(home, self.clock)

    def run(self, run_id: str = "r1", **asked: Any) -> Story:
        """Return a run that was queued and started."""
        return Story(self.ledger, self.clock, run_id).queued(**asked).started()

    def researched(self, run_id: str = "r1", quotes: int = 2, **asked: Any) -> Story:
        """Return a run with one source `s1` and quotes `e1` … of it for subquestion q1."""
        story = self.run(run_id, **asked).plan(plan(ids=["q1"]))
        story.scheduled(1, {"about q1": "q1"}).reading(1, ["/notes/s1.md"]).source("s1")
        ids = [f"e{number + 1}" for number in range(quotes)]
        for id_ in ids:
            story.quote(id_, "s1", "q1")
        return story.assessed(1, {"q1": ids or None}, new=quotes)

    def ask(self, name: str, period: Period | None = None, *, now: datetime = NOW) -> Findings:
        return ask(self.ledger, question_named(name), period or Period(), now=now)

    def rows(self, name: str, *, now: datetime = NOW) -> list[tuple[Any, ...]]:
        return list(self.ask(name, now=now).rows)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


# ---- each question, worked out by hand


def test_cost_is_divided_by_the_claims_that_are_supported(world: World) -> None:
    story = world.researched(quotes=3)
    usage = Spend(
        model_calls=1, input_tokens=900, cached_tokens=60, output_tokens=40, cost_micro_usd=3000
    )
    story.step("assess", "a", seconds=2, reserve=Spend(model_calls=1), usage=usage)
    story.step("write", "b", seconds=1.5, usage=Spend(model_calls=1, cost_micro_usd=1000))
    story.step("write", "c", seconds=0.5, reserve=Spend(model_calls=1), code="NO_MODEL")
    story.claim("c1", ["e1"]).claim("c2", ["e2"]).claim("c3", ["e3"], "partial")
    world.run("r2", scope="quick").step("plan", "d", seconds=1)
    world.run("r3")  # made no step

    assert world.rows("cost") == [
        ("question", "quick", 1, 0, 0.0, None, None, None),
        ("question", "standard", 1, 2, 0.004, 0.002, 500, 2.0),
        ("all", "all", 2, 2, 0.004, 0.002, 500, 2.5),
    ]


def test_a_sum_over_one_kind_is_not_repeated(world: World) -> None:
    world.researched().step("plan", "d")

    assert len(world.rows("cost")) == len(world.rows("gaps")) == len(world.rows("yield")) == 1


def test_stages_are_timed_in_their_order(world: World) -> None:
    for run_id, planning_s in (("r1", 2), ("r2", 4)):
        story = world.run(run_id)
        with story.stage("planning"):
            world.clock.advance(planning_s)
        with story.stage("knowledge_base"):
            world.clock.advance(10)
            if run_id == "r2":
                story.interrupted()

    assert world.rows("stages") == [
        ("research", "planning", 2, 0, 3.0, 3.9, 4.0, 6 / 16),
        ("research", "knowledge_base", 1, 1, 10.0, 10.0, 10.0, 10 / 16),
    ]


def test_yield_counts_sources_that_were_read(world: World) -> None:
    story = world.researched(quotes=0).source("s2", text="other").source("s3", media_type=PDF)
    story.source("list", media_type="application/json", rendition=None)  # what was searched
    story.skipped(1, "/notes/bad.pdf", "NEEDS_OCR")
    story.quote("e1", "s1", "q1").quote("e2", "s1", "q1").quote("e3", "s3", "q1")

    assert world.rows("yield") == [
        ("text/markdown", 2, 1, 0.5, 2, 1.0, 6000),
        (PDF, 1, 1, 1.0, 1, 1.0, 6000),
        ("all", 3, 2, 2 / 3, 3, 1.0, 6000),
    ]


def test_the_most_cited_places_come_first(world: World) -> None:
    story = world.researched(quotes=2)
    story.source("s2", "https://Seeds.example/a?b=c").quote("e3", "s2", "q1")
    story.claim("c1", ["e1", "e2", "e3"]).claim("c2", ["e3"], "partial")
    world.researched("r2").claim("c1", ["e1"], "unverified")

    assert world.rows("cited") == [
        ("/notes", 3, 2, 0.5, 1, 2),  # the same bytes in both runs
        ("seeds.example", 2, 2, 0.5, 1, 1),
    ]


def test_gaps_and_conflicts_are_those_of_the_last_round(world: World) -> None:
    story = world.run().plan(plan(ids=["q1", "q2"]))
    story.scheduled(1, {"a": "q1"}).reading(1, []).assessed(1, {"q1": None, "q2": None})
    story.scheduled(2, {"b": "q1"}).reading(2, []).source("s1").source("s2")
    story.quote("e1", "s1", "q1", 2).quote("e2", "s2", "q1", 2)
    story.assessed(2, {"q1": ["e1", "e2"], "q2": None}, {"q1": ["e1", "e2"]}, 2)
    world.researched("r2", scope="deep")
    world.run("r3")

    assert world.rows("gaps") == [
        ("deep", 1, 1, 1, 0, 0, 0.0, 0.0),
        ("standard", 1, 2, 0, 1, 1, 0.5, 0.5),
        ("all", 2, 3, 1, 1, 1, 1 / 3, 1 / 3),
    ]


def test_providers_are_told_by_the_hash_of_what_they_were_asked(world: World) -> None:
    asked: dict[str, Any] = {
        "sources": ("/notes",),
        "allowed_origins": "any",
        "search_providers": ("searxng",),
    }
    story = world.run(**asked).plan(plan(ids=["q1"]))
    queries = ['quotes "x" \\ and ünï/code', "b", "c", "d"]
    story.scheduled(1, dict.fromkeys(queries[:3], "q1"))
    for query, seconds in zip(queries[:3], (0.1, 0.2, 0.3), strict=True):
        story.search(query, "q1", seconds=seconds, code="TIMEOUT" if seconds == 0.3 else "")
    story.search(queries[0], "q1", provider="searxng", seconds=0.4)
    story.search("not scheduled", "q1", seconds=0.5)

    assert world.rows("providers") == [
        ("local", 3, 1, 1 / 3, 100, 200, 200, "TIMEOUT"),
        ("searxng", 1, 0, 0.0, 400, 400, 400, None),
        ("unknown", 1, 0, 0.0, 500, 500, 500, None),
    ]


def test_readings_are_told_by_the_hash_of_what_was_opened(world: World) -> None:
    story = world.run().plan(plan(ids=["q1"])).scheduled(1, {"a": "q1"})
    pages = ["https://a.example/1", "https://a.example/2", "/notes/ü \\ 'x'.md"]
    story.reading(1, pages)
    story.read(pages[0], seconds=1).read(pages[1], seconds=2, code="BODY_LIMIT")
    story.read(pages[2], seconds=0.25)

    assert world.rows("readings") == [
        ("a.example", 2, 1, 0.5, 1000, 1000, 1000, "BODY_LIMIT"),
        ("/notes", 1, 0, 0.0, 250, 250, 250, None),
    ]


def test_reviews_wait_until_they_are_answered_or_their_run_ends(world: World) -> None:
    for run_id, seconds in (("r1", 60), ("r2", 120)):
        story = world.run(run_id, plan_review=True).plan()
        story.record(*requested()).record(answered("approve"), after_s=seconds)
    world.run("r3", plan_review=True).plan().record(*requested())
    world.clock.advance(90)
    Story(world.ledger, world.clock, "r3").end("cancelled")
    world.run("r4", plan_review=True).plan().record(*requested())
    world.clock.advance(30)
    failed = world.run("r5", plan_review=True).plan().record(*requested())
    failed.end("failed")

    found = world.rows("reviews", now=world.clock.now + timedelta(seconds=30))

    assert found == [
        ("approve", 2, 2, 90.0, 117.0, 120.0),
        ("never answered", 1, 1, 0.0, 0.0, 0.0),
        ("open", 1, 1, 60.0, 60.0, 60.0),
        ("run cancelled", 1, 1, 90.0, 90.0, 90.0),
    ]


def test_stuck_runs_are_those_that_stand_still(world: World) -> None:
    Story(world.ledger, world.clock, "lost").queued(question="Why?")
    world.clock.advance(10)
    world.run("asks", plan_review=True).plan().record(*requested())
    world.clock.advance(10)
    story = world.run("broken")
    with story.stage("planning"):
        story.interrupted()
    world.clock.advance(10)
    world.run("silent")
    world.clock.advance(1000)
    world.run("busy")
    world.run("done").end("failed")
    question = "How do tickets expire?"

    assert world.rows("stuck", now=world.clock.now) == [
        ("lost", "queued", 1030.0, "queue", "Why?"),
        ("asks", "waiting", 1020.0, "plan review", question),
        ("broken", "interrupted", 1010.0, "planning", question),
        ("silent", "running", 1000.0, "between stages", question),
    ]


def test_reuse_counts_runs_that_cite_the_same_bytes(world: World) -> None:
    world.researched("r1").claim("c1", ["e1", "e2"])
    world.clock.advance(86_400)
    story = world.researched("r2", quotes=1).claim("c1", ["e1"])
    story.source("s2").quote("e9", "s2", "q1").claim("c2", ["e9"])
    world.researched("r3", quotes=1)  # read, and never cited

    assert world.rows("reuse") == [("s1", 2, 3, 1, date(2026, 1, 2), date(2026, 1, 3))]


def test_outcomes_are_counted_by_the_week_of_asking(world: World) -> None:
    for number, answer in enumerate(
        ("answered", "conflicting-evidence", "insufficient-evidence", "answered")
    ):
        world.researched(f"done-{number}").sealed().completed(answer)
    story = world.run("asks-back").plan(Plan("Know the vault.", (), "Which vault is meant?"))
    story.completed("needs-clarification", "clarification")
    world.clock.advance(7 * 86_400)
    world.run("failed").end("failed")
    world.run("cancelled").end("cancelled")
    world.run("open")

    assert world.rows("outcomes") == [
        (date(2025, 12, 29), 5, 2, 1, 1, 1, 0, 0, 0),  # BEGAN is a Friday
        (date(2026, 1, 5), 3, 0, 0, 0, 0, 1, 1, 1),
    ]


def test_models_are_counted_by_operation(world: World) -> None:
    story = world.run()
    for number, seconds in enumerate((1, 2)):
        usage = Spend(
            model_calls=number + 1,
            input_tokens=100,
            cached_tokens=10,
            output_tokens=5,
            cost_micro_usd=600,
        )
        story.step("write", f"section {number}", seconds=seconds, usage=usage)
    story.step("plan", "p", seconds=4, reserve=Spend(model_calls=1), code="NO_MODEL")
    story.step("search", "s")

    assert world.rows("models") == [
        ("write", 3, 200, 20, 10, 0.0012, pytest.approx(0.0004), 1.0, 2.0),
        ("plan", 1, 0, 0, 0, 0.0, 0.0, 4.0, 4.0),
    ]


def test_retries_count_what_was_begun_again_and_what_was_taken_over(world: World) -> None:
    story = world.run()
    story.turn = "knowledge_base/1"
    story.read("/a", crashes=2).read("/b", code="NEEDS_OCR").read("/c")
    head = story.run
    parent = Ancestor(run_id="r1", position=head.position, hash=head.head_hash)
    again = world.run("r2", retry_of=parent)
    again.turn = "knowledge_base/1"
    again.read("/a", reused_from="r1", seconds=0)

    assert world.rows("retries") == [("read", 4, 5, 1, 3, 1, 0.25, 0, 1)]
    assert world.rows("readings")[0][1] == 3  # what was taken over was not read


def test_failures_are_counted_by_code(world: World) -> None:
    story = world.researched()
    story.skipped(1, "/notes/a.pdf", "NEEDS_OCR").skipped(1, "/notes/b.pdf", "NEEDS_OCR")
    story.read("/notes/c.md", code="GONE")
    world.clock.advance(86_400)
    other = world.researched("r2").skipped(1, "/notes/a.pdf", "NEEDS_OCR")
    other.end("failed", "NO_MODEL")

    assert world.rows("failures") == [
        ("source", "NEEDS_OCR", 3, 2, date(2026, 1, 3), "r2"),
        ("run", "NO_MODEL", 1, 1, date(2026, 1, 3), "r2"),
        ("step", "GONE", 1, 1, date(2026, 1, 2), "r1"),
    ]


def test_rounds_tell_how_many_it_takes(world: World) -> None:
    world.researched("r1", quotes=2)  # done in one round
    story = world.run("r2").plan(plan(ids=["q1", "q2"]))
    story.scheduled(1, {"a": "q1"}).reading(1, ["/1", "/2"]).source("s1").quote("e1", "s1", "q1")
    story.assessed(1, {"q1": ["e1"], "q2": None}, new=1)
    story.scheduled(2, {"b": "q2"}).reading(2, []).quote("e2", "s1", "q2", 2)
    story.assessed(2, {"q1": ["e1"], "q2": ["e2"]}, new=1)
    story.scheduled(3, {"c": "q2"}).reading(3, [])
    story.assessed(3, {"q1": ["e1"], "q2": ["e2"]})
    world.researched("r3", quotes=0)

    assert world.rows("rounds") == [
        (1, 3, 0.5, 1, 1 / 3, pytest.approx(4 / 3), 1.0),
        (2, 1, 1.0, 1, 2 / 3, 0.0, 1.0),
        (3, 1, 1.0, 0, 2 / 3, 0.0, 0.0),
    ]


def test_budgets_compare_what_is_spent_with_what_is_allowed(world: World) -> None:
    limits = Limits(searches=4, pages=2, cost_micro_usd=0)
    story = world.run("r1", limits=limits)
    story.step("search", "a", reserve=Spend(searches=1), crashes=1)
    story.step("read", "b", reserve=Spend(pages=1)).step("read", "c", reserve=Spend(pages=1))
    story.step("plan", "d", usage=Spend(model_calls=1, input_tokens=7, output_tokens=3))
    world.run("r2").step("search", "a", reserve=Spend(searches=1))

    assert world.rows("budgets") == [
        ("searches", 3, 1, 4, 0.5, 0.5, 0),
        ("pages", 2, 1, 2, 1.0, 1.0, 1),
        ("model_calls", 1, 0, None, None, None, 0),
        ("tokens", 10, 0, None, None, None, 0),
        ("cost_micro_usd", 0, 1, 0, None, None, 1),
    ]


def test_the_slowest_steps_come_first(world: World) -> None:
    story = world.run()
    story.turn = "planning/1"
    story.step("plan", "a", seconds=1.5, usage=Spend(input_tokens=5, output_tokens=2))
    story.step("check", "b", seconds=9, code="NO_MODEL", crashes=1)

    assert world.rows("slowest") == [
        (9.0, "check", "planning/1", "failed", 0, 2, "r1"),
        (1.5, "plan", "planning/1", "settled", 7, 1, "r1"),
    ]


def test_verdicts_and_the_claims_behind_them(world: World) -> None:
    story = world.researched(quotes=2)
    story.claim("c1", ["e1", "e2"], status="corroborated").claim("c2", ["e1"])
    story.claim("c3", ["e2"], "unverified", method="engine")
    world.clock.advance(1)
    world.researched("r2").claim("c1", ["e1"], "contradicted", status="disputed")

    assert world.rows("verdicts") == [
        ("supported", 2, 0.5, 1, 1, 1, 0, 1.5),
        ("contradicted", 1, 0.25, 1, 0, 0, 1, 1.0),
        ("unverified", 1, 0.25, 1, 0, 1, 0, 1.0),
    ]
    assert world.rows("unverified") == [
        ("r2", "c1", "contradicted", "exact-quote", ""),
        ("r1", "c3", "unverified", "engine", ""),
    ]


# ---- what holds for every question


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> LocalLedger[Run]:
    home = tmp_path_factory.mktemp("many") / "home"
    make_runs(home, 3 * TEMPLATES)
    return LocalLedger(home, RunFold())


def test_there_are_enough_and_each_is_tested_above() -> None:
    here = Path(__file__).read_text()
    here += Path(__file__).with_name("test_code_questions.py").read_text()

    assert len(NAMES) >= 16
    assert [name for name in NAMES if f'rows("{name}"' not in here] == []


def test_an_empty_ledger_has_no_runs_and_no_answer(world: World) -> None:
    for name in NAMES:
        found = world.ask(name)

        assert (found.runs, found.first, found.rows) == (0, None, ()), name


def test_a_run_that_was_only_asked_for_is_counted(world: World) -> None:
    Story(world.ledger, world.clock, "r1").queued()

    for name in NAMES:
        found = world.ask(name, now=world.clock.now)

        assert (found.runs, found.first) == (1, BEGAN.replace(tzinfo=None)), name
        assert len(found.rows) == {"outcomes": 1, "budgets": 5}.get(name, 0), name


@pytest.mark.parametrize("name", NAMES)
def test_each_column_has_a_meaning_and_each_figure_a_unit(
    many: LocalLedger[Run], name: str
) -> None:
    question = question_named(name)

    table = many.query(spell(question, Period(), now=NOW))

    assert table.columns == tuple(column.name for column in question.columns)
    assert all(column.text for column in question.columns)
    assert all(
        bool(column.unit) == (type_ != "VARCHAR") or column.unit in ("id", "path")
        for column, type_ in zip(question.columns, table.types, strict=True)
    )
    assert len(question.title) <= 68
    assert question.none.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_the_sql_that_is_shown_gives_the_same_answer(many: LocalLedger[Run], name: str) -> None:
    period = Period(datetime(2026, 1, 20), datetime(2026, 4, 1))  # noqa: DTZ001 - UTC, as in SQL
    question, now = question_named(name), datetime(2026, 6, 1, tzinfo=UTC)

    found = ask(many, question, period, now=now)
    table = many.query(spell(question, period, now=now))

    assert 0 < found.runs < 3 * TEMPLATES
    assert found.rows
    assert [_rounded(row) for row in found.rows] == [_rounded(row) for row in table.rows]


def _rounded(row: tuple[Any, ...]) -> list[Any]:
    """Return a row whose means do not depend on the order of addition."""
    return [round(value, 9) if isinstance(value, float) else value for value in row]


def test_a_period_takes_the_runs_that_were_asked_for_in_it(world: World) -> None:
    for day in range(4):
        world.clock.now = datetime(2026, 1, 1 + day, tzinfo=UTC)
        Story(world.ledger, world.clock, f"r{day + 1}").queued()

    def runs(since: str | None, until: str | None, days: int | None = None) -> int:
        now = datetime(2026, 1, 5, 12, tzinfo=UTC)
        return world.ask("outcomes", make_period(since, until, days=days, now=now)).runs

    assert runs(None, None) == 4
    assert runs("2026-01-02", None) == 3
    assert runs("2026-01-02", "2026-01-03") == 2  # the whole last day
    assert runs("2026-01-02", "2026-01-03T00:00") == 1  # up to that moment
    assert runs("2026-01-02T01:00+01:00", None) == 3
    assert runs("2026-01-02T00:00:01Z", None) == 2
    assert runs(None, None, 2) == 1
    assert runs("2027-01-01", None) == 0


@pytest.mark.parametrize(
    ("since", "until", "days", "said"),
    [
        ("yesterday", None, None, "--since 'yesterday' is no date; write 2026-01-31"),
        ("2026-02-30", None, None, "no date"),
        ("", None, None, "no date"),
        (None, "'; DROP TABLE events", None, "no date"),
        (None, "9999-12-31", None, "outside of the calendar"),
        ("0001-01-01T00:00+14:00", None, None, "outside of the calendar"),
        ("2026-01-02", "2026-01-01", None, "ends .* before it begins"),
        ("2026-01-02", None, 3, "not both"),
    ],
)
def test_a_period_that_makes_no_sense_is_refused(
    since: str | None, until: str | None, days: int | None, said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        make_period(since, until, days=days, now=NOW)


def test_a_damaged_run_is_named_and_the_others_answer(world: World) -> None:
    for run_id in ("good", "bad", "worse"):
        world.researched(run_id)
    world.ledger.sync()
    bad = run_folder(world.ledger.home, "bad") / JOURNAL
    bad.write_bytes(bad.read_bytes()[:-40])
    worse = run_folder(world.ledger.home, "worse") / JOURNAL
    worse.write_bytes(worse.read_bytes().replace(b"run_started", b"run_STARTED"))

    found = world.ask("gaps")

    assert set(found.left_out) == {"bad", "worse"}
    assert (found.runs, found.rows[0][1]) == (1, 1)


def test_an_answer_is_never_stale(world: World) -> None:
    world.researched("r1")
    assert world.ask("gaps").runs == 1

    world.researched("r2")

    assert world.ask("gaps").runs == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("provider", "the nearest: providers"),
        ("STUCK", "the nearest: stuck"),
        ("verdict", "the nearest: verdicts"),
        ("xyzzy", "there is no question 'xyzzy'; 'assay stats' lists them all"),
        ("", "there is no question ''; 'assay stats'"),
        ("../views/runs", "there is no question"),
        ("cost'; DROP TABLE events; --", "there is no question"),
        ("cost\x00", "there is no question 'cost"),
        ("é" * 500, "there is no question 'é{80}';"),
    ],
)
def test_a_question_there_is_not_is_refused_with_the_nearest(name: str, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        question_named(name)


def test_a_view_there_is_not_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidRequest, match=r"no view 'step'; the nearest: steps"):
        described("step")


def test_hostile_text_in_a_run_is_only_text(world: World) -> None:
    hostile = '\'; DROP TABLE events; -- $1 \x1b[31m {"a": 1}'
    Story(world.ledger, world.clock, "r1").queued(question=hostile, sources=(f"/{hostile}",))
    world.clock.advance(2000)

    ((run_id, *_, question),) = world.rows("stuck", now=world.clock.now)

    assert (run_id, "DROP TABLE" in question) == ("r1", True)
    assert world.ask("outcomes").runs == 1
