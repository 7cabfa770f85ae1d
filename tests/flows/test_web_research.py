"""Research on the web: two sites and a search on loopback, asked through the real client."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from flows.audit import audit_run
from flows.runs import RunResult, execute, request_of, submit
from flows.settings import Settings
from flows.wiring import Desk, make_desk
from state.values.errors import InvalidRequest
from tests.annex import QUESTION, Annex, Mode, serving

pytestmark = pytest.mark.usefixtures("prefect_server")


def desk_beside(annex: Annex, home: Path, **settings: Any) -> Desk:
    return make_desk(Settings(home=home, services=annex.origins, searxng_url=annex.a, **settings))


def researched(desk: Desk, annex: Annex, **options: Any) -> RunResult:
    given = {"search": ["searxng"], "origins": annex.origins, "run_id": "r1", **options}
    request = request_of(desk, QUESTION, **given)
    return execute(desk, submit(desk, request).run_id)


@pytest.fixture(autouse=True)
def own_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the providers their addresses where requests are checked, too."""
    monkeypatch.setenv("ASSAY_SEARXNG_URL", "http://127.0.0.1:9")


def quotes(result: RunResult) -> str:
    return " ".join(citation["quote"] for citation in result.citations)


def test_a_gap_of_the_first_round_is_searched_for_by_a_name_that_was_found(
    tmp_path: Path,
) -> None:
    with serving() as annex:
        desk = desk_beside(annex, tmp_path)
        result = researched(desk, annex)

        assert (result.answer_status, result.stop_reason) == ("answered", "coverage-complete")
        assert "25 members" in quotes(result)
        assert "30 days" in quotes(result)
        assert any("meridian" in query.casefold() for query in annex.searches[2:])
        report = Path(result.report["report.md"]).read_text()
        assert "9999" not in report, "a snippet is no evidence"
        assert f"{annex.b}/meridian" in report, "the page a redirect led to is named by its address"


def test_what_was_read_of_the_web_is_verified_without_it(tmp_path: Path) -> None:
    with serving() as annex:
        desk = desk_beside(annex, tmp_path)
        researched(desk, annex)
        asked = list(annex.asked)
        audit = asyncio.run(audit_run(desk, "r1"))

        assert audit.outcome == "verified"
        assert annex.asked == asked


@pytest.mark.parametrize(
    ("mode", "status", "reason"),
    [
        ("conflict", "conflicting-evidence", None),
        ("hostile", "answered", "coverage-complete"),
        ("empty", "insufficient-evidence", None),
        ("no-progress", "answered", "no-progress"),
        ("unavailable", "insufficient-evidence", None),
    ],
)
def test_what_the_web_gives_decides_how_it_ends(
    tmp_path: Path, mode: Mode, status: str, reason: str | None
) -> None:
    with serving(mode) as annex:
        result = researched(desk_beside(annex, tmp_path), annex)

        assert result.status == "completed"
        assert result.answer_status == status
        assert reason in (None, result.stop_reason)
        if mode == "unavailable":
            report = Path(result.report["report.md"]).read_text()
            assert "SEARCH_UNAVAILABLE" in report.replace("\\", "")
        if mode == "hostile":
            assert {site for site, _ in annex.asked} == {"a", "b"}, "no order was followed"


def test_a_second_provider_is_asked_where_the_first_one_fails(tmp_path: Path) -> None:
    """Cases: B7 88."""
    with serving("unavailable") as dead, serving() as annex:
        settings = Settings(
            home=tmp_path,
            services=annex.origins,
            searxng_url=annex.a,
            mediawiki_url=f"{dead.a}/w/api.php",
        )
        desk = make_desk(settings)
        result = researched(desk, annex, search=["mediawiki", "searxng"])

        assert result.answer_status == "answered"
        assert dead.asked, "the first one was asked"
        report = Path(result.report["report.md"]).read_text()
        assert "SEARCH_UNAVAILABLE" in report.replace("\\", "")


def test_when_every_provider_fails_each_is_said_to_have(tmp_path: Path) -> None:
    """Cases: B7 88."""
    with serving("unavailable") as dead:
        settings = Settings(home=tmp_path, searxng_url=dead.a, mediawiki_url=f"{dead.b}/w/api.php")
        desk = make_desk(settings)
        request = request_of(desk, QUESTION, search=["mediawiki", "searxng"], run_id="r1")

        result = execute(desk, submit(desk, request).run_id)

        assert (result.status, result.answer_status) == ("completed", "insufficient-evidence")
        report = Path(result.report["report.md"]).read_text().replace("\\", "")
        assert "mediawiki: " in report
        assert "searxng: " in report


def test_a_service_of_ones_own_is_read_where_any_origin_will_do(tmp_path: Path) -> None:
    with serving() as annex:
        result = researched(desk_beside(annex, tmp_path), annex, origins=())

        assert result.answer_status == "answered"


@pytest.mark.timeout(90)  # it must end
def test_without_a_network_a_deep_run_ends_soon_and_says_why(tmp_path: Path) -> None:
    """Cases: B7 89."""
    desk = make_desk(Settings(home=tmp_path, searxng_url="http://127.0.0.1:9"))
    request = request_of(
        desk, QUESTION, search=["searxng"], references=["https://localhost.example/a"],
        origins=["any"], scope="deep", run_id="r1",
    )  # fmt: skip

    result = execute(desk, submit(desk, request).run_id)

    assert result.answer_status == "insufficient-evidence"
    report = Path(result.report["report.md"]).read_text().replace("\\", "")
    assert "SEARCH_UNAVAILABLE" in report
    assert "PAGE_UNAVAILABLE" in report


def test_local_files_and_the_web_answer_one_question_together(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "meridian.md").write_text(
        "# Retention\n\nThe Meridian Annex says that audit logs are kept for 30 days.\n"
    )
    with serving() as annex:
        desk = desk_beside(annex, tmp_path / "home")
        result = researched(desk, annex, sources=[folder])

        assert result.answer_status == "answered"
        displays = {citation["display"] for citation in result.citations}
        assert any(display.startswith("http") for display in displays)
        assert "notes/meridian.md" in displays


def test_a_reference_is_read_without_any_search(tmp_path: Path) -> None:
    with serving() as annex:
        desk = desk_beside(annex, tmp_path)
        references = [f"{annex.a}/pavo", f"{annex.b}/meridian"]
        result = researched(desk, annex, search=[], references=references)

        assert result.answer_status == "answered"
        assert annex.searches == []


def test_a_host_that_is_not_allowed_is_found_and_not_read(tmp_path: Path) -> None:
    with serving() as annex:
        desk = desk_beside(annex, tmp_path)
        result = researched(desk, annex, origins=[annex.b])

        assert result.answer_status == "insufficient-evidence"
        assert annex.pages == []
        report = Path(result.report["report.md"]).read_text()
        assert "found, not read" in report


def test_a_private_service_is_read_only_when_it_was_set_as_ones_own(tmp_path: Path) -> None:
    """Cases: B8 107."""
    with serving() as annex:
        desk = make_desk(Settings(home=tmp_path, searxng_url=annex.a))
        request = request_of(desk, QUESTION, search=["searxng"], origins=annex.origins, run_id="r1")

        result = execute(desk, submit(desk, request).run_id)

        assert result.status == "interrupted"
        assert "ASSAY_SERVICES" in result.reason


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"search": ["gogle"]}, "no search provider"),
        ({"search": ["brave"]}, "BRAVE_API_KEY"),
        ({"sources": ["."], "origins": ["example.org"]}, "--origin"),
        ({"references": ["/etc/passwd"]}, "origin"),
        ({"references": ["file:///etc/passwd"]}, "origin"),
        ({}, "--sources"),
    ],
)
def test_what_cannot_be_researched_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], said: str
) -> None:
    """Cases: B8 103."""
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    desk = make_desk(Settings(home=tmp_path / "home"))

    with pytest.raises(InvalidRequest, match=said):
        request_of(desk, QUESTION, **options)
