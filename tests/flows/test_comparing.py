"""What changed between runs over a folder that changed in between."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.comparing import compare_runs, last_before
from flows.keeping import forget
from flows.runs import execute, request_of, submit
from state.errors import NotFound, Withheld
from state.values.claims import AnswerStatus
from state.values.errors import InvalidRequest
from tests.flows.test_local_run import desk_at

pytestmark = pytest.mark.usefixtures("prefect_server")
QUESTION = "How many passengers does the Ostra ferry carry?"


def ask(home: Path, notes: Path, run_id: str, question: str = QUESTION) -> None:
    desk = desk_at(home)
    submit(desk, request_of(desk, question, sources=[notes], run_id=run_id, scope="quick"))
    assert execute(desk, run_id).status == "completed"


def diff(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["diff", *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_what_changed_since_the_question_was_last_answered(
    assay_home: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    ferry, harbour = notes / "ferry.md", notes / "harbour.md"
    ferry.write_text("# The Ostra ferry\n\nThe Ostra ferry carries 120 passengers.\n")
    ask(assay_home, notes, "first")
    ferry.write_text(
        "# The Ostra ferry\n\nIt was repaired in the spring.\n\n"
        "The Ostra ferry carries 150 passengers.\n"
    )
    harbour.write_text("# Harbour\n\nThe harbour office opens at eight.\n")
    ask(assay_home, notes, "second", "how many passengers  does the Ostra ferry carry?")
    desk = desk_at(assay_home)

    comparison = compare_runs(desk, "second")

    changes = comparison.changes
    assert comparison.before.run_id == "first"
    (changed,) = changes.changed
    assert changed.before is not None
    assert changed.after is not None
    assert "120 → 150" in changed.detail
    assert "120 passengers" in changed.before.quotes[0].quote
    assert "150 passengers" in changed.after.quotes[0].quote
    assert [source.display for source in changes.changed_sources] == ["notes/ferry.md"]
    assert changes.answer_after is AnswerStatus.ANSWERED

    # The command line, either way round, and against itself.
    code, out, _ = diff("second")
    assert code == 0
    assert "Run `second` (completed 20" in out
    assert "120 → 150" in out
    code, out, _ = diff("second", "first")
    assert (code, "150 → 120" in out) == (0, True)
    assert "second was completed after first." in out
    code, out, _ = diff("first", "first")
    assert (code, "**Nothing changed.**" in out) == (0, True)
    assert '"changed": false' in diff("first", "first", "--json")[1]
    assert '"changed": true' in diff("second", "--json")[1]

    # What there is not to compare with.
    code, _, err = diff("first")
    assert (code, "no completed run before 'first'" in err) == (2, True)
    assert last_before(desk, desk.ledger.project("first")) is None
    assert "there is no run 'third'" in diff("second", "third")[2]
    submit(desk, request_of(desk, QUESTION, sources=[notes], run_id="queued", scope="quick"))
    code, _, err = diff("first", "queued")
    assert (code, "run 'queued' is queued; only completed runs are compared" in err) == (2, True)
    with pytest.raises(InvalidRequest):
        compare_runs(desk, "queued")

    # A report that was forgotten is passed over, or said to be withheld.
    forget(desk, "first", "asked for by the author")
    with pytest.raises(Withheld, match="withheld"):
        compare_runs(desk, "first", "second")
    with pytest.raises(NotFound, match="Passed over: the report of run 'first' is withheld"):
        compare_runs(desk, "second")
