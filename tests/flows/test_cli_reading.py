"""The commands on sources themselves: read, fetch, search."""

import json
import os
from pathlib import Path

import pytest

from tests.annex import serving
from tests.flows.test_cli import invoke


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "a.md").write_text("# Ferry\n\nThe Ostra ferry carries 120 passengers.\n")
    (made / "empty.txt").write_text("")
    return made


def test_read_says_for_each_file_how_it_ended(folder: Path) -> None:
    code, out, _ = invoke("read", str(folder))

    assert code == 1, "one of the files could not be read"
    assert "a.md: ok, 2 main blocks of 2" in out
    assert "empty.txt: empty" in out


def test_read_gives_one_object_a_line_whose_blocks_are_ranges_of_its_text(folder: Path) -> None:
    code, out, _ = invoke("read", str(folder / "a.md"), "--json")

    (found,) = [json.loads(line) for line in out.splitlines()]
    assert (code, found["outcome"], found["extractor"]["name"]) == (0, "ok", "markdown")
    for block in found["blocks"]:
        assert found["visible_text"][block["start"] : block["end"]] == block["text"]
    assert "120 passengers" in found["main_text"]


def test_read_gives_markdown_and_blocks(folder: Path) -> None:
    path = str(folder / "a.md")

    assert invoke("read", path, "--markdown")[1].startswith("# Ferry\n\nThe Ostra ferry")
    assert "paragraph 2, characters 9" in invoke("read", path, "--blocks")[1]
    assert invoke("read", path, "--blocks", "--markdown")[0] == 2


def test_a_file_that_is_skipped_is_named_with_the_reason(folder: Path) -> None:
    (folder / "link.md").symlink_to("/etc/passwd")

    code, out, _ = invoke("read", str(folder))

    assert code == 1
    assert "link.md: skipped: it is a link to something outside the folder" in out


def test_a_name_forges_no_line_and_an_address_shows_no_password(folder: Path) -> None:
    (folder / "x\ny.md: ok").write_text("words")

    _, out, _ = invoke("read", str(folder), "https://ann:hunter2@example.org/")

    assert not any(line.startswith("y.md") for line in out.splitlines())
    assert "hunter2" not in out


def test_fetch_archives_what_it_wrote_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as annex:
        monkeypatch.setenv("ASSAY_SERVICES", ",".join(annex.origins))
        target = tmp_path / "page.html"
        code, out, _ = invoke("fetch", f"{annex.a}/pavo", "--to", str(target), "--json")

        found = json.loads(out)
        assert (code, found["outcome"], found["address"]) == (0, "ok", f"{annex.a}/pavo")
        assert "25 members" in target.read_text()


def test_fetch_refuses_what_is_not_ones_own_and_no_regular_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as annex:
        code, _, err = invoke("fetch", f"{annex.a}/pavo")
        assert (code, annex.asked) == (2, [])
        assert "https" in err
        monkeypatch.setenv("ASSAY_SERVICES", annex.a)
        os.mkfifo(tmp_path / "pipe")

        code, _, err = invoke("fetch", f"{annex.a}/pavo", "--to", str(tmp_path / "pipe"))

        assert (code, annex.asked) == (2, [])
        assert "no regular file" in err


def test_search_asks_local_files_and_the_web_and_shows_each_work_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as annex:
        monkeypatch.setenv("ASSAY_SEARXNG_URL", annex.a)
        asked = ("search", "ferry passengers", "-s", str(folder), "-p", "searxng")
        code, out, _ = invoke(*asked, "--json")

        found = json.loads(out)
        assert (code, found["answered"]) == (0, ["local", "searxng"])
        locators = [hit["locator"] for hit in found["hits"]]
        assert str(folder / "a.md") in locators
        assert f"{annex.a}/pavo" in locators
        assert len(set(locators)) == len(locators)


def test_a_search_that_nobody_answers_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SEARXNG_URL", "http://127.0.0.1:9")

    code, out, err = invoke("search", "ferry", "-p", "searxng")

    assert (code, out) == (1, "")
    assert "SearXNG cannot be asked" in err
