"""A run over real local files, with the built-in researcher: no model, no key, no network."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.documents.direct import DirectConverter
from adapters.documents.sealed import seal, unseal
from adapters.search import fusing, meaning
from flows.audit import audit_run
from flows.runs import RunResult, execute, request_of, submit
from flows.settings import Settings
from flows.wiring import Desk, Tools, local_tools, make_desk
from state.request import ResearchRequest

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text(
        "# The Ostra ferry\n\nThe Ostra ferry carries 120 passengers.\n\n"
        "It crosses the strait in 25 minutes.\n"
    )
    (folder / "untitled.txt").write_text("Bicycles travel free of charge on the Ostra ferry.\n")
    return folder


def desk_at(home: Path) -> Desk:
    """Return a desk whose conversions run in this process, which is quick."""
    settings = Settings(home=home)
    desk = make_desk(settings)

    def tools(request: ResearchRequest) -> Tools:
        made = local_tools(settings, request.sources, request.ranking)
        return replace(made, converter=DirectConverter())

    desk.tools = tools
    desk.converter = DirectConverter
    return desk


def asked(home: Path, folder: Path, question: str, run_id: str = "r1") -> RunResult:
    desk = desk_at(home)
    request = request_of(desk, question, sources=[folder], run_id=run_id, scope="quick")
    submit(desk, request)
    return execute(desk, run_id)


def test_a_question_is_answered_from_files_with_verified_quotes(
    assay_home: Path, notes: Path
) -> None:
    """Cases: B1 2."""
    result = asked(assay_home, notes, "How many passengers does the Ostra ferry carry?")

    assert (result.status, result.answer_status) == ("completed", "answered")
    assert any("120 passengers" in citation["quote"] for citation in result.citations)
    report = Path(result.report["report.md"]).read_text()
    assert "[1]" in report
    assert "ferry.md" in report


def test_a_file_without_a_title_has_none_in_the_report(assay_home: Path, notes: Path) -> None:
    """Cases: B1 7."""
    result = asked(assay_home, notes, "Do bicycles travel free on the Ostra ferry?")

    titles = {c["display"]: c["title"] for c in result.citations}
    assert titles.get("notes/untitled.txt", titles.get("untitled.txt", "?")) is None
    assert "(no title stated)" in Path(result.report["report.md"]).read_text()


def test_one_file_has_one_name_wherever_the_run_is_started_from(
    assay_home: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: B1 8."""
    question = "How many passengers does the Ostra ferry carry?"
    monkeypatch.chdir(notes)
    here = asked(assay_home, Path(), question, "here")
    monkeypatch.chdir("/")
    there = asked(assay_home, notes, question, "there")

    names = [{c["display"] for c in result.citations} for result in (here, there)]
    assert names[0] == names[1]
    assert {c["locator"] for c in here.citations} == {c["locator"] for c in there.citations}


def test_a_question_nothing_answers_gives_an_honest_report(assay_home: Path, notes: Path) -> None:
    """Cases: B1 4, 5."""
    result = asked(assay_home, notes, "What is the boiling point of zirconium?")

    assert (result.status, result.answer_status) == ("completed", "insufficient-evidence")
    assert result.claims == result.citations == []


def test_what_only_a_cache_says_is_never_quoted(assay_home: Path, notes: Path) -> None:
    question = "How many passengers does the Ostra ferry carry?"
    asked(assay_home, notes, question, "honest")
    for path in (assay_home / "cache" / "documents").rglob("*.json"):
        path.write_bytes(seal(unseal(path.read_bytes()).replace(b"120 pass", b"999 pass")))

    desk = make_desk(Settings(home=assay_home))
    submit(desk, request_of(desk, question, sources=[notes], run_id="poisoned", scope="quick"))
    result = execute(desk, "poisoned")

    assert any("120 passengers" in citation["quote"] for citation in result.citations)
    assert "999" not in Path(result.report["report.md"]).read_text()
    assert asyncio.run(audit_run(desk, "poisoned")).ok


def test_files_that_cannot_be_read_or_named_stop_none_of_the_others(
    assay_home: Path, notes: Path
) -> None:
    """Cases: B3 49."""
    (notes / "broken ferry.docx").write_bytes(b"PK\x03\x04 cut off")
    (notes / "Ostra ferry passengers `a](x) [3].md").write_text("The Ostra ferry is blue.\n")
    Path(os.fsdecode(os.fsencode(notes) + b"/ferry-\xff.md")).write_text("The Ostra ferry: old.\n")

    result = asked(assay_home, notes, "How many passengers does the Ostra ferry carry?")

    assert (result.status, result.answer_status) == ("completed", "answered")
    json.loads(Path(result.report["report.json"]).read_text())


def test_files_that_no_search_finds_are_in_the_report_with_the_reason(
    assay_home: Path, notes: Path, tmp_path: Path
) -> None:
    (notes / "flyer.pdf").write_bytes(b"%PDF-1.7 ...")
    (notes / "empty.md").write_bytes(b"")
    (notes / "binary.md").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "elsewhere.md").write_text("The Ostra ferry carries 7 passengers.\n")
    (notes / "link.md").symlink_to(tmp_path / "elsewhere.md")
    (notes / "again.md").symlink_to(notes / "ferry.md")
    (notes / "ferry.png").write_bytes(b"x")

    result = asked(assay_home, notes, "How many passengers does the Ostra ferry carry?")

    failures = json.loads(Path(result.report["report.json"]).read_text())["content"]["failures"]
    assert {failure["target"]: failure["code"] for failure in failures} == {
        "notes/binary.md": "UNSUPPORTED",
        "notes/empty.md": "EMPTY",
        "notes/flyer.pdf": "MALFORMED",
        "notes/link.md": "SKIPPED",
        "1 file of other kinds": "NOT_A_DOCUMENT",
    }
    made = Path(result.report["report.md"]).read_text()
    assert "- `notes/flyer.pdf`: not used, MALFORMED (The file is not a well-formed PDF" in made
    assert "`notes/link.md`: not used, SKIPPED (it is a link to something outside" in made
    run = make_desk(Settings(home=assay_home)).ledger.project("r1")
    assert run.research is not None
    assert {skipped.locator for skipped in run.research.skipped} == {f["target"] for f in failures}
    assert asyncio.run(audit_run(desk_at(assay_home), "r1")).ok


def test_a_folder_that_is_gone_interrupts_the_run_until_it_is_back(
    assay_home: Path, notes: Path, tmp_path: Path
) -> None:
    desk = desk_at(assay_home)
    question = "How many passengers does the Ostra ferry carry?"
    submit(desk, request_of(desk, question, sources=[notes], run_id="r1"))
    notes.rename(tmp_path / "away")

    gone = execute(desk, "r1")
    assert gone.status == "interrupted"
    assert str(notes) in gone.reason
    (tmp_path / "away").rename(notes)

    assert execute(desk_at(assay_home), "r1").status == "completed"


class _ByLength:
    name = meaning.MODEL

    def similarities(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how long each text is."""
        return [float(len(text)) for text in texts]


def test_a_run_keeps_to_the_ranking_it_began_with(
    assay_home: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_at(assay_home)
    question = "How many passengers does the Ostra ferry carry?"
    monkeypatch.setattr(meaning, "is_installed", lambda: True)
    submit(desk, request_of(desk, question, sources=[notes], run_id="r1"))
    monkeypatch.setattr(meaning, "is_installed", lambda: False)

    without = execute(desk, "r1")
    assert without.status == "interrupted"
    assert "assay-research[embeddings]" in without.reason
    monkeypatch.setattr(fusing, "open_model", _ByLength)

    result = execute(desk_at(assay_home), "r1")
    assert result.status == "completed"
    said = "ranked by its words and by meaning (all-MiniLM-L6-v2-int8)"
    assert said in Path(result.report["report.md"]).read_text()
