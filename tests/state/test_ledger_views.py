"""The views: each column is described, and what they say is what the projection says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from state import ingest
from state.dictionary import Entry, dictionary
from state.errors import CorruptLedger
from state.facts import STRUCTURE, extraction
from state.ledger import Table
from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from tests.state.builders import plan
from tests.state.many_runs import TEMPLATES, make_runs, shared_document
from tests.state.stories import Clock, Story, open_ledger

_AT_INGEST = extraction("r[13]")
FIXTURES = Path(__file__).parent / "fixtures"
ENTRIES = dictionary()


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalLedger[Run]]:
    """Give a ledger with one run of each kind that `many_runs` tells."""
    home = tmp_path_factory.mktemp("views") / "home"
    make_runs(home, TEMPLATES)
    opened: LocalLedger[Run] = LocalLedger(home, RunFold())
    yield opened
    opened.close()


def rows(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.name)
def test_each_column_is_described_in_its_order(ledger: LocalLedger[Run], entry: Entry) -> None:
    described = ledger.query(f"DESCRIBE {entry.name}").rows

    assert [column.name for column in entry.columns] == [row[0] for row in described]
    assert all(column.text and len(column.text) <= 100 for column in entry.columns)
    assert entry.title.endswith(".")


def test_the_database_shows_the_descriptions_to_every_program(ledger: LocalLedger[Run]) -> None:
    said = ledger.query(
        "SELECT table_name || '.' || column_name, comment FROM duckdb_columns() "
        "WHERE database_name = 'ledger' AND schema_name = 'main'"
    )
    about = ledger.query(
        "SELECT view_name, comment FROM duckdb_views() "
        "WHERE database_name = 'ledger' AND NOT internal"
        " UNION ALL SELECT table_name, comment FROM duckdb_tables() "
        "WHERE database_name = 'ledger' AND schema_name = 'main'"
    )

    assert dict(said.rows) == {
        f"{entry.name}.{column.name}": column.text
        for entry in ENTRIES.values()
        for column in entry.columns
    }
    assert dict(about.rows) == {
        entry.name: f"{entry.title} {entry.notes}".strip() for entry in ENTRIES.values()
    }


def test_a_description_that_changes_reaches_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = tmp_path / "views"
    views.mkdir()
    monkeypatch.setattr("state.duck.VIEWS", views)
    ledger = open_ledger(tmp_path / "home", Clock())
    Story(ledger, Clock()).queued()
    said = "SELECT comment FROM duckdb_views() WHERE view_name = 'numbers'"
    (views / "numbers.sql").write_text("-- It's old.\nSELECT 1 AS n")
    assert ledger.query(said).rows == (("It's old.",),)

    (views / "numbers.sql").write_text("-- It's new.\n--\n--   n  a number\nSELECT 1 AS n")

    assert ledger.query(said).rows == (("It's new.",),)


def test_the_made_runs_are_runs_to_the_ledger(ledger: LocalLedger[Run]) -> None:
    assert ledger.verify().is_sound
    statuses = {ledger.project(run_id).status for run_id in ledger.runs()}
    assert statuses == {"completed", "failed", "cancelled", "waiting", "interrupted"}


def test_runs_say_what_the_projection_says(ledger: LocalLedger[Run]) -> None:
    for row in rows(ledger.query("SELECT * FROM runs")):
        run = ledger.project(row["run_id"])
        research, code = run.research, run.paper2code
        assert (row["status"], row["kind"], row["events"]) == (run.status, run.kind, run.position)
        assert (row["answer_status"] or "") == run.answer_status
        if code is not None:
            assert (row["question"], row["sources"]) == (code.request.title, len(code.sources))
            continue
        assert research is not None
        assert (row["coverage"] or 0) == pytest.approx(research.coverage)
        assert row["sources"] == len(research.sources)
        assert (row["quotes"], row["claims"]) == (len(research.evidence), len(research.claims))
        assert row["supported"] == sum(v.verdict == "supported" for v in research.verdicts.values())
        assert row["rounds"] == research.assessed_round


def test_spend_is_what_the_driver_counts(ledger: LocalLedger[Run]) -> None:
    table = ledger.query("SELECT run_id, budget, spent, allowed FROM spend")

    counted = {(run_id, budget): (spent, allowed) for run_id, budget, spent, allowed in table.rows}

    assert len(counted) == 5 * TEMPLATES
    for run_id in ledger.runs():
        run = ledger.project(run_id)
        used = run.spent
        tokens = used.input_tokens + used.cached_tokens + used.output_tokens
        for budget, spent in {
            "searches": used.searches,
            "pages": used.pages,
            "model_calls": used.model_calls,
            "tokens": tokens,
            "cost_micro_usd": used.cost_micro_usd,
        }.items():
            assert counted[run_id, budget] == (spent, getattr(run.limits, budget)), (run_id, budget)


def test_steps_are_the_effects_of_the_projection(ledger: LocalLedger[Run]) -> None:
    table = ledger.query("SELECT run_id, call_id, verb, state, attempts, model_calls FROM steps")

    shown = {(row[0], row[1]): row[2:] for row in table.rows}

    assert shown == {
        (run_id, call_id): (e.verb, e.state, e.attempts, e.usage.model_calls)
        for run_id in ledger.runs()
        for call_id, e in ledger.project(run_id).effects.items()
    }


def test_rounds_and_coverage_agree(ledger: LocalLedger[Run]) -> None:
    per_round = ledger.query(
        "SELECT run_id, round, covered, gaps, conflicts FROM rounds ORDER BY ALL"
    )
    per_row = ledger.query(
        "SELECT run_id, round, count(*) FILTER (WHERE coverage = 'covered'), "
        "count(*) FILTER (WHERE coverage = 'gap'), count(*) FILTER (WHERE coverage = 'conflict') "
        "FROM coverage GROUP BY ALL ORDER BY ALL"
    )
    last = ledger.query("SELECT count(DISTINCT run_id), count(*) FROM coverage WHERE is_last").rows
    assessed = {row[0] for row in per_round.rows}

    assert per_round.rows == per_row.rows
    assert last == ((len(assessed), 3 * len(assessed)),)


def test_documents_of_the_library_are_shared_between_runs(ledger: LocalLedger[Run]) -> None:
    hashes = [shared_document(number) for number in range(60)]
    found = ledger.query(
        "SELECT max(n) FROM (SELECT count(DISTINCT run_id) AS n FROM sources "
        f"WHERE content_hash IN ({', '.join('?' * 60)}) GROUP BY content_hash)",
        hashes,
    )
    assert found.rows[0][0] > 1


@pytest.mark.parametrize(
    ("locator", "place"),
    [
        ("/home/ann/papers/vault.md", "/home/ann/papers"),
        ("/vault.md", ""),
        ("https://Seeds.example/papers/1?q=a/b#c", "seeds.example"),
        ("https://ann:pw@seeds.example:8443/x", "seeds.example"),
        ("http://[2001:db8::1]:80/x", "[2001:db8::1]"),
        ("https://seeds.example", "seeds.example"),
    ],
)
def test_a_source_has_a_place(tmp_path: Path, locator: str, place: str) -> None:
    clock = Clock()
    ledger = open_ledger(tmp_path / "home", clock)
    Story(ledger, clock).queued().started().source("s1", locator)

    assert ledger.query("SELECT place FROM sources").rows == ((place,),)


def test_a_quote_accepted_twice_is_one_citation(tmp_path: Path) -> None:
    clock = Clock()
    ledger = open_ledger(tmp_path / "home", clock)
    story = Story(ledger, clock).queued().started().plan(plan(ids=["q1"]))
    for number in (1, 2):
        story.scheduled(number, {f"query {number}": "q1"}).reading(number, [])
        if number == 1:
            story.source("s1")
        story.quote("e1", "s1", "q1", number).assessed(number, {"q1": ["e1"]})
    story.claim("c1", ["e1"])

    assert ledger.query("SELECT evidence_id, round FROM evidence").rows == (("e1", 1),)
    assert ledger.query("SELECT claim_id, evidence_id FROM citations").rows == (("c1", "e1"),)


@pytest.mark.parametrize("version", sorted(path.name for path in FIXTURES.iterdir()))
def test_events_of_every_schema_version_are_shown(tmp_path: Path, version: str) -> None:
    ledger = open_ledger(tmp_path / "home", Clock())
    ledger.sync()
    with ledger._duck.gate(shared=False), ledger._duck.writing() as connection:
        connection.execute("INSERT INTO kept.stale VALUES ('r')")
        for number, path in enumerate(sorted((FIXTURES / version).glob("*.json")), 1):
            connection.execute(
                "INSERT INTO events SELECT 'r', $1, 'e', $2, $3, '2026-01-02', 's/1', $4, NULL, "
                f"NULL, '', '', $5, {extraction('$5::VARCHAR')}",
                [
                    number,
                    path.stem,
                    int(version.rpartition("v")[2]),
                    "effect" if path.stem in ("effect_reserved", "effect_failed") else path.stem,
                    json.dumps(json.loads(path.read_text())),
                ],
            )

    shown = {name: rows(ledger.query(f"FROM {name}")) for name in ENTRIES}

    # No journal was taken in, nobody is to be told of anything, and no step is a reading.
    empty = [name for name in ENTRIES if not shown[name]]
    assert empty == ["journals", "notifications", "readings"]
    steps = {row["verb"]: (row["state"], row["model_calls"]) for row in shown["steps"]}
    assert steps == {"search": ("failed", 0), "assess": ("settled", 1)}
    assert shown["citations"][0]["source_id"] == "s1"
    assert (shown["claims"][0]["verdict"], shown["claims"][0]["quotes"]) == ("partial", 2)
    assert shown["reviews"][0]["action"] == "replace"
    assert {row["what"] for row in shown["failures"]} == {
        *("step", "source", "run", "review", "verification")
    }
    assert shown["code_runs"][0]["verdict"] == "tampered"
    assert {row["budget"]: row["allowed"] for row in shown["spend"]}["tokens"] == 100_000


def test_facts_are_promoted_from_files_of_earlier_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    before = {"kind": "VARCHAR", "round": "VARCHAR"}
    with monkeypatch.context() as earlier:
        earlier.setattr("state.facts.STRUCTURE", before)
        earlier.setattr("state.duck.VIEWS", tmp_path)  # its views knew no other facts
        earlier.setattr(
            "state.ingest._INSERT",
            ingest._INSERT.replace(_AT_INGEST, extraction("r[13]")),
        )
        ledger = open_ledger(tmp_path / "home", clock)
        Story(ledger, clock).queued().started().plan()
        assert ledger.query("SELECT facts FROM events LIMIT 1").rows == (
            ({"kind": "research", "round": None},),
        )

    assert ledger.query("SELECT kind, status, scope FROM runs").rows == (
        ("research", "running", "standard"),
    )
    assert ledger.verify().is_sound
    with (
        pytest.raises(CorruptLedger, match="Duplicate key"),  # the key came along
        ledger._duck.gate(shared=False),
        ledger._duck.writing() as connection,
    ):
        connection.execute("INSERT INTO events SELECT * FROM events")


def test_a_key_that_is_in_two_events_has_one_type() -> None:
    flat = json.dumps(STRUCTURE)

    assert len(STRUCTURE) > 50
    assert set(re.findall(r': "(\w+)"', flat)) == {"VARCHAR", "BIGINT", "INTEGER", "BOOLEAN"}


def test_what_is_no_json_has_no_facts(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "home", Clock())
    body = "'not {json'"

    assert ledger.query(f"SELECT ({extraction(body)}) IS NULL").rows == ((True,),)


def test_facts_that_were_changed_are_found(tmp_path: Path) -> None:
    clock = Clock()
    ledger = open_ledger(tmp_path / "home", clock)
    Story(ledger, clock).queued().started()
    ledger.sync()
    with ledger._duck.gate(shared=False), ledger._duck.writing() as connection:
        connection.execute(
            "UPDATE events SET facts = struct_update(facts, scope := 'deep') WHERE position = 2"
        )

    (finding,) = ledger.verify().findings

    assert (finding.place, finding.what) == (
        "ledger.duckdb, event 2",
        "its facts are not those of its body",
    )
    ledger.rebuild()
    assert ledger.verify().is_sound
