"""What is kept of views is what their SQL says of the events, however these came in."""

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from state import kept
from state.dictionary import VIEWS, read_folder
from state.journal import JOURNAL
from state.kept import KEPT
from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from tests.state.many_runs import TEMPLATES, make_runs


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the journals of one run of each kind that `many_runs` tells."""
    home = tmp_path_factory.mktemp("kept") / "source"
    make_runs(home, TEMPLATES)
    return home


def opened(home: Path) -> LocalLedger[Run]:
    return LocalLedger(home, RunFold())


def said(ledger: LocalLedger[Run], name: str) -> Sequence[tuple[Any, ...]]:
    return ledger.query(f"FROM {name} ORDER BY ALL").rows


def otherwise_said(ledger: LocalLedger[Run]) -> Sequence[tuple[Any, ...]]:
    """Return the views that do not say what their SQL says of all events."""
    views = read_folder(VIEWS)
    each = (
        f"SELECT '{name}' WHERE EXISTS (FROM {name} EXCEPT ALL FROM ({views[name].sql})) "
        f"OR EXISTS (FROM ({views[name].sql}) EXCEPT ALL FROM {name})"
        for name in KEPT
    )
    return ledger.query(" UNION ALL ".join(each)).rows


def stale(ledger: LocalLedger[Run]) -> int:
    (number,) = ledger.query("SELECT count(*) FROM kept.stale").rows[0]
    return int(number)


def grown(home: Path, whole: dict[Path, list[bytes]], dice: random.Random) -> None:
    """Let some of the journals under `home` have some more of their lines, in any order."""
    for path in dice.sample(sorted(whole), k=max(1, len(whole) // 3)):
        have = len(path.read_bytes().splitlines()) if path.exists() else 0
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.writelines(whole[path][have : have + dice.randint(1, 60)])


@pytest.mark.parametrize("worth_keeping", [1, 400])
def test_views_say_the_same_however_much_of_them_is_kept(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worth_keeping: int
) -> None:
    monkeypatch.setattr(kept, "_WORTH_KEEPING", worth_keeping)
    monkeypatch.setattr(kept, "_AT_ONCE", 1000)
    home, dice = tmp_path / "home", random.Random(worth_keeping)
    whole = {
        home / path.relative_to(source): path.read_bytes().splitlines(keepends=True)
        for path in source.rglob(JOURNAL)
    }
    ledger = opened(home)

    for _ in range(4):
        grown(home, whole, dice)
        assert otherwise_said(ledger) == ()

    assert (stale(ledger) == 0) is (worth_keeping == 1)
    assert ledger.query("SELECT count(*) FROM kept.steps").rows[0][0] > 0
    assert ledger.verify().is_sound


def test_few_events_are_not_worth_keeping(source: Path, tmp_path: Path) -> None:
    ledger = opened(shutil.copytree(source, tmp_path / "home"))

    assert len(said(ledger, "runs")) == stale(ledger) == TEMPLATES


def test_something_else_that_is_kept_is_found_and_rebuilt(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_WORTH_KEEPING", 1)
    ledger = opened(shutil.copytree(source, tmp_path / "home"))
    ledger.sync()
    assert ledger.verify().is_sound
    with ledger._duck.gate(shared=False), ledger._duck.writing() as connection:
        connection.execute("UPDATE kept.runs SET claims = 99 WHERE run_id = 'run-000000001'")

    (finding,) = ledger.verify().findings

    assert finding.run_id == "run-000000001"
    assert finding.what == "what is kept of the view runs is not what its events say"
    ledger.rebuild()
    assert ledger.verify().is_sound


def test_a_file_of_a_version_that_kept_nothing_is_taken_over(source: Path, tmp_path: Path) -> None:
    ledger = opened(shutil.copytree(source, tmp_path / "home"))
    before = said(ledger, "steps")
    with ledger._duck.gate(shared=False), ledger._duck.writing() as connection:
        connection.execute("DROP VIEW runs; DROP VIEW steps; DROP SCHEMA kept CASCADE")
        connection.execute("CREATE VIEW runs AS SELECT 1 AS n; UPDATE meta SET value = 'earlier'")

    assert said(ledger, "steps") == before
    assert len(said(ledger, "runs")) == stale(ledger) == TEMPLATES
