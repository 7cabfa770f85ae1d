"""The named cases of the research loop, over the annex: without a model, and with one over HTTP.

Where a case is told elsewhere, too: in every mode and under every budget with a model in
`test_model_runs*.py`, killed after any event in `test_kill_matrix.py` and `test_model_kills.py`,
cancelled from another process in `test_cancelling.py`.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from flows.audit import audit_run
from flows.runs import RunResult, execute, request_of, submit
from state.errors import IntegrityError
from state.events import draft
from state.policy import PolicyFile
from state.run_events import RunCancelRequested
from state.values.errors import AssayError, InvalidRequest, ObstructedError, RejectedError
from tests.annex import GERMAN, QUESTION, Mode
from tests.flows.command_line import ROOT
from tests.flows.modelled import MODEL, Place, overspent, served

pytestmark = [pytest.mark.usefixtures("prefect_server"), pytest.mark.timeout(180)]
EXTRACTIVE = "extractive"
REPORTS = ("report.md", "report.json")


@contextmanager
def place_of(home: Path, model: str, mode: Mode = "normal") -> Iterator[Place]:
    """Serve the annex, and a model, for runs in `home` that use it or do without."""
    with pytest.MonkeyPatch.context() as patch, served(home, patch, mode) as place:
        place.model = model
        yield place


both = pytest.mark.parametrize("model", [EXTRACTIVE, MODEL])


@pytest.fixture(scope="module", params=[EXTRACTIVE, MODEL])
def done(
    prefect_server: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Place, RunResult]]:
    """Lend a place in which r1 is completed, and what it came to; leave both as they are."""
    with place_of(tmp_path_factory.mktemp("cases") / "home", request.param) as place:
        yield place, place.research()


@pytest.fixture
def copy(done: tuple[Place, RunResult], tmp_path: Path) -> Place:
    """Return a copy of what is done, to be changed."""
    place, _ = done
    shutil.copytree(place.home, tmp_path / "home")
    return Place(tmp_path / "home", place.annex, place.server, place.answerer, model=place.model)


def reports(home: Path) -> dict[str, bytes]:
    return {name: (home / "reports" / "r1" / name).read_bytes() for name in REPORTS}


@contextmanager
def nobody_asked(place: Place) -> Iterator[None]:
    """Assert that the block asks neither the model nor the web."""
    before = place.calls, len(place.annex.asked)
    yield
    assert (place.calls, len(place.annex.asked)) == before


def is_verified(place: Place) -> bool:
    with nobody_asked(place):
        return asyncio.run(audit_run(place.desk, "r1")).outcome == "verified"


# ---- what is found


def test_what_a_first_round_leaves_open_is_found_in_a_later_one(
    done: tuple[Place, RunResult],
) -> None:
    """Cases: adaptive research."""
    place, result = done

    assert (result.answer_status, result.stop_reason) == ("answered", "coverage-complete")
    quotes = " ".join(citation["quote"] for citation in result.citations)
    assert "25 members" in quotes
    assert "30 days" in quotes
    assert "9999" not in place.markdown
    rounds = [body for type_, body in place.events if type_ == "research_coverage_assessed"]
    assert "gap" in {row["coverage"] for row in rounds[0]["rows"]}
    assert any("meridian" in query.casefold() for query in place.annex.searches[2:])
    assert place.run.spent.model_calls == place.calls == (0 if place.model == EXTRACTIVE else 5)
    assert is_verified(place)


def test_a_question_in_german_is_answered_from_german_pages(tmp_path: Path) -> None:
    """Cases: non-English research."""
    with place_of(tmp_path, EXTRACTIVE) as place:
        place.annex.german = True
        result = place.research(GERMAN)

        assert (result.answer_status, result.stop_reason) == ("answered", "coverage-complete")
        quotes = " ".join(citation["quote"] for citation in result.citations)
        assert "25 Mitglieder" in quotes
        assert "30 Tage" in quotes
        assert is_verified(place)


def test_every_citation_resolves_and_every_claim_is_borne_out(
    done: tuple[Place, RunResult],
) -> None:
    """Cases: invalid citation, unsupported claim, repaired claim: none is left."""
    _, result = done

    numbers = {number for claim in result.claims for number in claim["citations"]}
    assert numbers == {citation["number"] for citation in result.citations}
    assert {claim["verdict"] for claim in result.claims} == {"supported"}


@both
def test_a_cross_check_is_met_by_two_origins_and_not_by_one(tmp_path: Path, model: str) -> None:
    """Cases: cross check."""
    with place_of(tmp_path / "two", model) as place:
        two = place.research(cross_check=True)
        assert (two.answer_status, two.coverage) == ("answered", 1.0)
    with place_of(tmp_path / "one", model) as place:
        one = place.research(cross_check=True, origins=[place.annex.a])
        assert (one.answer_status, one.coverage) == ("insufficient-evidence", 0.0)


def test_a_question_that_names_nothing_opens_no_connection(tmp_path: Path) -> None:
    """Cases: clarification."""
    with place_of(tmp_path, EXTRACTIVE) as place, nobody_asked(place):
        result = place.research("What is it?")

        assert (result.status, result.answer_status) == ("completed", "needs-clarification")
        assert result.clarification


# ---- budgets


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_rounds": 1}, "round-budget"),
        ({"max_searches": 2}, "search-budget"),
        ({"max_read_pages": 2}, "page-budget"),
        ({"research_seconds": 1}, "deadline"),
    ],
)
def test_a_budget_that_ends_leaves_an_answer_in_part(
    tmp_path: Path, limits: dict[str, int], reason: str
) -> None:
    """Cases: round budget, search budget, page budget, deadline."""
    with place_of(tmp_path, EXTRACTIVE) as place:
        result = place.research(limits=limits)

        assert (result.status, result.stop_reason) == ("completed", reason)
        assert result.answer_status == "answered"
        assert "**Answered in part.**" in place.markdown
        assert overspent(place) == []


def test_a_budget_of_model_calls_is_not_touched_without_a_model(tmp_path: Path) -> None:
    """Cases: model budget."""
    with place_of(tmp_path, EXTRACTIVE) as place:
        result = place.research(limits={"max_model_calls": 8})

        assert result.stop_reason == "coverage-complete"
        assert result.usage["model_calls"] == place.calls == 0


# ---- replays


def test_a_replay_is_the_first_report_and_asks_nobody(copy: Place) -> None:
    before = reports(copy.home)
    shutil.rmtree(copy.home / "reports" / "r1")

    with nobody_asked(copy):
        copy.resume()

    assert reports(copy.home) == before


def test_caches_that_are_gone_are_made_again_from_the_ledger(copy: Place) -> None:
    """Cases: cache expiry."""
    before = reports(copy.home)
    shutil.rmtree(copy.home / "cache")
    shutil.rmtree(copy.home / "reports" / "r1")

    with nobody_asked(copy):
        copy.resume()

    assert reports(copy.home) == before
    assert is_verified(copy)


def test_another_request_needs_an_id_of_its_own(copy: Place) -> None:
    """Cases: request changed."""
    before = reports(copy.home)

    with nobody_asked(copy), pytest.raises(InvalidRequest, match="another request"):
        copy.research("How many members may a Pavo team have?")
    assert reports(copy.home) == before


def test_without_permission_nothing_is_replayed(copy: Place) -> None:
    """Cases: permission revoked."""
    copy.desk.policy.write(PolicyFile(principals=("somebody-else",)))
    shutil.rmtree(copy.home / "reports" / "r1")

    with nobody_asked(copy), pytest.raises(ObstructedError) as raised:
        copy.resume()
    assert raised.value.code == "PERMISSION_DENIED"
    assert not (copy.home / "reports" / "r1").exists()


def test_a_snapshot_that_was_tampered_with_is_not_replayed(copy: Place) -> None:
    """Cases: snapshot tampered."""
    research = copy.run.research
    assert research is not None
    cited = next(source for source in research.sources if source.rendition is not None)
    assert cited.rendition is not None
    digest = cited.rendition.text_hash.removeprefix("sha256:")
    body = copy.home / "artifacts" / "sha256" / digest[:2] / digest[2:]
    body.chmod(0o600)
    body.write_bytes(body.read_bytes().replace(b"25", b"52").replace(b"30", b"03"))

    with nobody_asked(copy), pytest.raises(IntegrityError):
        copy.resume()
    assert asyncio.run(audit_run(copy.desk, "r1")).outcome == "NOT verified"


# ---- what comes in between


@both
def test_a_permission_that_is_revoked_stops_a_run_before_its_next_request(
    tmp_path: Path, model: str
) -> None:
    """Cases: permission revoked."""
    with place_of(tmp_path, model) as place:
        place.annex.before = lambda site, path: place.desk.policy.write(PolicyFile(enabled=False))
        stopped = place.research()
        assert stopped.status == "interrupted"
        assert "switched off by policy" in stopped.reason
        place.annex.before = None
        place.desk.policy.write(PolicyFile())

        assert place.resume().answer_status == "answered"
        assert overspent(place) == []


@both
def test_a_run_that_is_cancelled_searches_no_further(tmp_path: Path, model: str) -> None:
    """Cases: cancelled."""
    with place_of(tmp_path, model) as place:

        def cancel(site: str, path: str) -> None:
            if path == "/pavo":
                place.annex.before = None
                asked = RunCancelRequested(reason="enough", by="tester")
                place.desk.ledger.append("r1", [draft(asked)])

        place.annex.before = cancel
        result = place.research()

        assert (result.status, result.reason) == ("cancelled", "enough")
        assert not any("meridian" in query.casefold() for query in place.annex.searches)
        assert not (place.home / "reports" / "r1").exists()
        with nobody_asked(place), pytest.raises(RejectedError, match="cancelled"):
            place.resume()


@both
def test_without_a_store_nobody_is_asked(tmp_path: Path, model: str) -> None:
    """Cases: store unavailable."""
    with place_of(tmp_path / "ledger", model) as place, nobody_asked(place):
        place.home.mkdir()
        (place.home / "runs").write_text("a file where the journals have to be")
        with pytest.raises((AssayError, OSError)):
            place.research()
    with place_of(tmp_path / "archive", model) as place, nobody_asked(place):
        place.home.mkdir()
        (place.home / "artifacts").write_text("a file where the archive has to be")
        result = place.research()
        assert (result.status, result.claims) == ("interrupted", []), result


@both
def test_a_file_in_the_way_is_left_and_once_it_is_moved_the_report_is_published(
    tmp_path: Path, model: str
) -> None:
    """Cases: publication retried over an occupied file."""
    with place_of(tmp_path, model) as place:
        folder = tmp_path / "reports" / "r1"
        folder.mkdir(parents=True)
        (folder / "report.md").write_text("mine")
        blocked = place.research()
        assert blocked.status == "interrupted"
        assert str(folder / "report.md") in blocked.reason
        with nobody_asked(place):
            assert place.resume().status == "interrupted"
            assert (folder / "report.md").read_text() == "mine"
            (folder / "report.md").unlink()
            result = place.resume()

        assert result.status == "completed"
        assert is_verified(place)


# ---- kills


@contextmanager
def child(place: Place, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Execute r1 in a process of its own while the block runs."""
    from prefect.settings import PREFECT_API_URL

    environment = {
        **os.environ,
        "ASSAY_HOME": str(place.home),
        "ASSAY_SERVICES": " ".join(place.annex.origins),
        "PREFECT_API_URL": PREFECT_API_URL.value(),
        "PYTHONPATH": str(ROOT),
    }
    program = [sys.executable, str(ROOT / "tests" / "flows" / "case_child.py"), "r1", *arguments]
    with subprocess.Popen(program, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def kill_at(place: Place, holds: Callable[[str], bool]) -> int:
    """Execute r1 in a child that is killed at a request whose path `holds`; return how it ended."""
    started: list[subprocess.Popen[bytes]] = []

    def kill(site: str, path: str) -> None:
        if holds(path):
            started[0].kill()

    with ExitStack() as stack:
        started.append(stack.enter_context(child(place)))
        place.annex.before = kill
        code = started[0].wait(120)
    place.annex.before = None
    return code


def die(place: Place, when: str) -> int:
    """Execute r1 in a child that dies at `when`; return how it ended."""
    match when:
        case "reading a page":
            return kill_at(place, lambda path: path == "/pavo")
        case "after round 1":
            return kill_at(place, lambda path: "/search" in path and "meridian" in path.lower())
        case _:
            with child(place, "publishing") as process:
                return process.wait(120)


@both
@pytest.mark.parametrize("when", ["reading a page", "after round 1", "before publication"])
def test_killed_it_goes_on_and_asks_nothing_twice_that_was_answered(
    tmp_path: Path, model: str, when: str
) -> None:
    """Cases: killed while reading a page, killed after round 1, killed before publication."""
    with place_of(tmp_path, model) as place:
        desk = place.desk
        request = request_of(
            desk, QUESTION, search=["searxng"], origins=place.annex.origins, model=model,
            run_id="r1",
        )  # fmt: skip
        submit(desk, request)

        assert die(place, when) == -signal.SIGKILL
        assert not (tmp_path / "reports" / "r1").exists()
        result = execute(place.desk, "r1")

        assert (result.answer_status, result.stop_reason) == ("answered", "coverage-complete")
        assert place.calls == (0 if model == EXTRACTIVE else 5), "no answer is paid twice"
        pages = [each for each in place.annex.asked if each[1].endswith(("/pavo", "/meridian"))]
        repeated = len(place.annex.searches) - len(set(place.annex.searches))
        assert repeated == (when == "after round 1"), "only what was in flight is asked again"
        assert len(pages) - len(set(pages)) <= (2 if when == "reading a page" else 0)
        assert is_verified(place)
        with nobody_asked(place):
            before = reports(tmp_path)
            shutil.rmtree(tmp_path / "reports" / "r1")
            place.resume()
            assert reports(tmp_path) == before
