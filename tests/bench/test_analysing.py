"""What is measured against SQLite is the same question: the answers agree."""

from pathlib import Path

from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from state.questions import Period, ask, question_named
from tests.bench import analysing
from tests.state.many_runs import TEMPLATES, make_runs


def test_both_databases_answer_the_same(tmp_path: Path) -> None:
    home = tmp_path / "home"
    make_runs(home, 2 * TEMPLATES)
    ledger: LocalLedger[Run] = LocalLedger(home, RunFold())
    ledger.sync()
    connection = analysing.copied(home)

    assert len(analysing.QUESTIONS) == 10
    for name in analysing.QUESTIONS:
        ours = ask(ledger, question_named(name), Period(), now=analysing.NOW).rows
        theirs = connection.execute(analysing.sqlite_sql(name)).fetchall()

        assert ours, name
        assert analysing.comparable(ours) == analysing.comparable(theirs), name
    connection.close()
