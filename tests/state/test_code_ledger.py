"""A Paper2Code run in the real ledger: cut off anywhere, told again, rebuilt, verified, sealed."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from state.artifacts import MemoryArtifacts
from state.code_events import FileHash
from state.completion import sealed_code, verify_seal
from state.envelope import Draft, Refs
from state.errors import Refused
from state.events import draft
from state.journal import JOURNAL, run_folder
from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from state.run_events import RunInterrupted, RunResumed
from state.values.ids import canonical_json
from tests.state.builders import RUN, History
from tests.state.code_builders import (
    PATHS,
    PLAN,
    code_completed,
    code_planned,
    code_source,
    coding,
    file_hash,
    frozen,
    implemented,
    sealed,
    state_of,
    verified,
    written,
)

ROOT = Path(__file__).resolve().parents[2]
VIEWS = ("runs", "code_runs", "code_plans", "code_files", "verifications", "reviews")


def told() -> list[Draft]:
    """Return what a whole run appends, every draft under its own call id."""
    history = implemented().record(verified(0, "failed"), written(PATHS[1], 1), verified(1))
    history.record(sealed(history), code_completed())
    return [
        replace(Draft(line.envelope.type, line.envelope.body), refs=Refs("t/1", f"c{number}"))
        for number, line in enumerate(history.lines)
    ]


def tell(ledger: LocalLedger[Run], drafts: list[Draft]) -> None:
    for made in drafts:
        ledger.append(RUN, [made])


def lines(ledger: LocalLedger[Run]) -> list[tuple[str, object]]:
    return [(line.envelope.type, line.envelope.body) for line in ledger.read(RUN)]


def test_a_run_cut_off_after_any_event_is_told_to_the_same_end(tmp_path: Path) -> None:
    drafts = told()
    whole: LocalLedger[Run] = LocalLedger(tmp_path / "whole", RunFold())
    tell(whole, drafts)
    for cut in range(1, len(drafts)):
        home = tmp_path / f"cut-{cut}"
        first: LocalLedger[Run] = LocalLedger(home, RunFold())
        tell(first, drafts[:cut])
        first.close()
        with (run_folder(home, RUN) / JOURNAL).open("ab") as journal:
            journal.write(b"0123 a line that was cut off")

        again: LocalLedger[Run] = LocalLedger(home, RunFold())
        tell(again, drafts)

        assert lines(again) == lines(whole)
        assert again.project(RUN).paper2code == whole.project(RUN).paper2code
        again.close()


def test_a_rebuild_gives_the_same_answers(tmp_path: Path) -> None:
    ledger: LocalLedger[Run] = LocalLedger(tmp_path / "home", RunFold())
    tell(ledger, told())
    before = {name: ledger.query(f"FROM {name}").rows for name in VIEWS}

    ledger.rebuild()

    assert all(before.values())
    assert {name: ledger.query(f"FROM {name}").rows for name in VIEWS} == before
    assert ledger.verify().is_sound
    assert ledger.project(RUN).status == "completed"


_WRITE = """
import sys
from pathlib import Path
from state.local_ledger import LocalLedger
from state.projection import RunFold
from tests.state.test_code_ledger import told
ledger = LocalLedger(Path(sys.argv[1]), RunFold())
for number, made in enumerate(told()):
    ledger.append("run-1", [made])
    print(number, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("survives", [3, 12])
def test_a_run_whose_writer_is_killed_goes_on(tmp_path: Path, survives: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _WRITE, str(tmp_path / "home")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as writer:
        assert writer.stdout is not None
        for _ in range(survives):
            writer.stdout.readline()
        writer.kill()

    ledger: LocalLedger[Run] = LocalLedger(tmp_path / "home", RunFold())
    assert len(ledger.read(RUN)) >= survives
    tell(ledger, told())

    assert ledger.project(RUN).status == "completed"
    assert len(ledger.read(RUN)) == len(told())
    assert ledger.verify().is_sound


def test_an_interrupted_run_goes_on_at_the_next_file(tmp_path: Path) -> None:
    history = History()
    for made in told():
        history.append(made)
        if made.type == "code_file_recorded":
            break
    ledger: LocalLedger[Run] = LocalLedger(tmp_path / "home", RunFold())
    tell(ledger, told()[: len(history.lines)])
    tell(ledger, [draft(RunInterrupted(code="WORKFLOW_INTERRUPTED", reason="killed"))])

    code = ledger.project(RUN).paper2code

    assert code is not None
    assert code.missing == PATHS[1:]
    with pytest.raises(Refused):
        tell(ledger, [draft(written(PATHS[1]))])
    tell(ledger, [draft(RunResumed()), draft(written(PATHS[1]))])


# ---- what a seal rests on


def archived() -> tuple[History, MemoryArtifacts]:
    """Return a run that can be sealed, and an archive that has everything it rests on."""
    archive = MemoryArtifacts()

    def put(text: str) -> str:
        return archive.put(text.encode())

    body = put(canonical_json(PLAN.as_json()))
    made = coding(plan_review=False).record(
        code_source(content_hash=put("source")), code_planned(body_hash=body)
    )
    for path in PATHS:
        made.record(written(path, content_hash=put(path)))
    tests = [{"path": PATHS[3], "content_hash": state_of(made).file_hashes[PATHS[3]]}]
    made.record(frozen(files=tests), verified(result_hash=put("result")))
    put("report")
    put("report.json")
    return made, archive


def test_a_seal_rests_on_bytes_that_are_all_there() -> None:
    history, archive = archived()
    event = sealed(history)

    verify_seal(state_of(history), event, archive)

    named = sealed_code(state_of(history), event)
    assert len(named) == 1 + 1 + len(PATHS) + 1 + 2
    for name, content_hash in named:
        archive.delete(content_hash)
        with pytest.raises(Refused, match=re.escape(name)) as caught:
            verify_seal(state_of(history), event, archive)
        assert caught.value.code == "INCOMPLETE"
        history, archive = archived()


def test_a_seal_rests_on_the_plan_that_was_approved() -> None:
    history, archive = archived()
    other = archive.put(canonical_json(replace(PLAN, title="Another").as_json()).encode())
    none = archive.put(b"no plan at all")
    code = state_of(history)
    for body in (other, none):
        (plan,) = code.plans
        changed = replace(code, plans=(plan.model_copy(update={"body_hash": body}),))
        with pytest.raises(Refused, match="plan"):
            verify_seal(changed, sealed(history), archive)


def test_a_file_that_was_swapped_is_not_sealed() -> None:
    history, archive = archived()
    file = FileHash(path=PATHS[0], content_hash=file_hash("elsewhere"))
    event = sealed(history).model_copy(update={"files": (file,)})

    with pytest.raises(Refused, match="file meanfit"):
        verify_seal(state_of(history), event, archive)
