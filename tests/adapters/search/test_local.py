"""Searching folders: what every search promises, and how the index follows the files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.documents.convert import convert_bytes
from adapters.documents.direct import DirectConverter
from adapters.documents.port import Converter
from adapters.documents.sandboxed import SandboxedConverter
from adapters.search.fake import FakeSearch
from adapters.search.local import LocalFolder
from adapters.search.port import Hit, Search
from state.values.blocks import Conversion, Outcome
from state.values.errors import InvalidRequest, RejectedError

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("ASSAY_SHARED", ROOT.parent / "shared"))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


class CountingConverter(DirectConverter):
    """Counts what it was asked to convert."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    async def convert(self, data: bytes, *, name: str, media_type: str = "") -> Conversion:
        self.names.append(name)
        return await super().convert(data, name=name, media_type=media_type)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "logs.md").write_text(
        "# Audit logs\n\nAudit logs are retained for 30 days.\n\nBackups are not logs.\n"
    )
    (root / "teams.md").write_text("# Teams\n\nA team has 25 members.\n")
    (root / "notes.txt").write_text("Logs of the weather: rain. 私たちは深度研究をした。\n")
    for path in root.iterdir():
        os.utime(path, (1, 1))
    return root.resolve()


def local(folder: Path, tmp_path: Path, converter: Converter | None = None) -> LocalFolder:
    made = converter or DirectConverter()
    return LocalFolder([folder], cache=tmp_path / "cache", converter=made, rescan_s=0)


@pytest.fixture(params=["local", "fake"])
def search(request: pytest.FixtureRequest, folder: Path, tmp_path: Path) -> Search:
    if request.param == "local":
        return local(folder, tmp_path)
    hits = [
        Hit(str(folder / name), None, "logs", score)
        for name, score in (("notes.txt", 1.0), ("logs.md", 2.0))
    ]
    return FakeSearch({"logs": hits})


async def test_hits_come_best_first_and_the_same_again(search: Search) -> None:
    page = await search.search("logs")

    assert [Path(hit.locator).name for hit in page.hits] == ["logs.md", "notes.txt"]
    assert page.hits[0].score > page.hits[1].score
    assert await search.search("logs") == page


async def test_pages_follow_each_other_by_cursor(search: Search) -> None:
    first = await search.search("logs", limit=1)
    second = await search.search("logs", limit=1, cursor=first.next_cursor)

    assert [Path(hit.locator).name for hit in first.hits + second.hits] == ["logs.md", "notes.txt"]
    assert first.next_cursor is not None
    assert second.next_cursor is None


async def test_nothing_found_is_an_empty_page(search: Search) -> None:
    page = await search.search("xylophone")

    assert page.hits == ()
    assert page.next_cursor is None


@pytest.mark.parametrize(("cursor", "limit"), [("nonsense", 6), (None, 0)])
async def test_bad_arguments_are_refused(search: Search, cursor: str | None, limit: int) -> None:
    with pytest.raises(InvalidRequest):
        await search.search("logs", cursor=cursor, limit=limit)


async def test_a_hit_names_the_file_its_title_and_its_best_passage(
    folder: Path, tmp_path: Path
) -> None:
    hit = (await local(folder, tmp_path).search("How long are audit logs kept or retained?")).hits[
        0
    ]

    assert hit.locator == str(folder / "logs.md")
    assert hit.title == "Audit logs"
    assert hit.snippet == "Audit logs are retained for 30 days."


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "logs AND (",
        "title:logs^2",
        "+logs -x",
        "a/b\\c",
        "[1 TO *]",
        "log* ~2",
        "\0\ud800 logs",
    ],
)
async def test_no_character_of_a_query_is_special(folder: Path, tmp_path: Path, query: str) -> None:
    await local(folder, tmp_path).search(query)


async def test_a_query_without_words_finds_nothing_and_says_so(
    folder: Path, tmp_path: Path
) -> None:
    page = await local(folder, tmp_path).search("?!")

    assert page.hits == ()
    assert page.warnings


async def test_a_quoted_phrase_counts_extra(folder: Path, tmp_path: Path) -> None:
    (folder / "x.txt").write_text("red green blue words")
    (folder / "y.txt").write_text("green red blue words")

    search = local(folder, tmp_path)

    assert (await search.search('"green red" blue')).hits[0].locator == str(folder / "y.txt")
    assert (await search.search('"red green" blue')).hits[0].locator == str(folder / "x.txt")


async def test_text_without_spaces_is_found_by_its_parts(folder: Path, tmp_path: Path) -> None:
    page = await local(folder, tmp_path).search("研究")

    assert [Path(hit.locator).name for hit in page.hits] == ["notes.txt"]


async def test_changed_new_and_removed_files_are_reflected(folder: Path, tmp_path: Path) -> None:
    search = local(folder, tmp_path)
    await search.search("logs")
    (folder / "teams.md").write_text("zebra")
    (folder / "new.md").write_text("zebra")
    (folder / "logs.md").unlink()

    found = [Path(hit.locator).name for hit in (await search.search("zebra logs")).hits]

    assert found == ["new.md", "teams.md", "notes.txt"]


async def test_a_change_that_keeps_size_and_time_is_noticed(folder: Path, tmp_path: Path) -> None:
    search = local(folder, tmp_path)
    await search.search("logs")
    (folder / "teams.md").write_text("# Zebra\n\nA team has 25 members.\n"[:31])
    os.utime(folder / "teams.md", (1, 1))

    assert (await search.search("zebra")).hits


async def test_only_new_content_is_converted(folder: Path, tmp_path: Path) -> None:
    await local(folder, tmp_path).refresh()
    (folder / "copy.md").write_bytes((folder / "logs.md").read_bytes())
    (folder / "new.md").write_text("new")
    converter = CountingConverter()
    search = local(folder, tmp_path, converter)

    await search.refresh()
    await search.converter.convert((folder / "logs.md").read_bytes(), name="logs.md")

    assert converter.names == ["new.md"]


async def test_the_history_of_a_folder_does_not_change_its_scores(
    folder: Path, tmp_path: Path
) -> None:
    search = local(folder, tmp_path)
    await search.refresh()
    (folder / "passing.md").write_text("logs logs logs")
    await search.refresh()
    (folder / "passing.md").unlink()

    page = await search.search("audit logs")

    anew = LocalFolder([folder], cache=tmp_path / "other", converter=DirectConverter())
    assert await anew.search("audit logs") == page


async def test_a_byte_flipped_anywhere_in_the_cache_changes_nothing_that_is_found(
    folder: Path, tmp_path: Path
) -> None:
    before = await local(folder, tmp_path).search("logs")
    cached = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    for path in cached:
        if not path.exists() or not (data := bytearray(path.read_bytes())):
            continue  # of an index that was made again since
        data[len(data) // 2] ^= 0x10
        path.write_bytes(data)

        after = await local(folder, tmp_path).search("logs")

        assert after.raw_hash == before.raw_hash, path.name
        assert {hit.snippet for hit in after.hits} <= {"", *(hit.snippet for hit in before.hits)}


async def test_a_damaged_index_and_an_emptied_cache_are_made_again(
    folder: Path, tmp_path: Path
) -> None:
    before = await local(folder, tmp_path).search("logs")
    for path in (tmp_path / "cache").rglob("*"):
        if path.is_file() and path.name != "manifest.json":
            path.write_bytes(b"damaged")

    assert await local(folder, tmp_path).search("logs") == before


async def test_one_bad_file_stops_no_other_and_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "a.pdf").write_bytes(b"%PDF-1.7 ...")
    (folder / "empty.md").write_bytes(b"")
    (folder / "secret.md").write_text("x")
    (folder / "secret.md").chmod(0)
    search = local(folder, tmp_path)

    page = await search.search("logs")

    outcomes = {skipped.path: skipped.outcome for skipped in search.skipped}
    assert len(page.hits) == 2
    assert outcomes["docs/a.pdf"] == "malformed"
    assert outcomes["docs/empty.md"] == "empty"
    if os.geteuid():
        assert outcomes["docs/secret.md"] == "unreadable"


async def test_a_file_that_crashed_its_reader_is_tried_again_by_the_next_process(
    folder: Path, tmp_path: Path
) -> None:
    def crash(data: bytes, name: str, media_type: str) -> Conversion:
        if name == "teams.md":
            return Conversion(Outcome.CRASHED, "A package is missing.")
        return convert_bytes(data, name, media_type)

    before = local(folder, tmp_path, DirectConverter(crash))
    assert [skipped.path for skipped in (await before.unused()).skipped] == ["docs/teams.md"]

    after = local(folder, tmp_path)
    assert (await after.unused()).skipped == ()
    assert len((await after.search("team members")).hits) == 1


async def test_a_root_without_a_document_is_named_with_what_it_holds(tmp_path: Path) -> None:
    root = tmp_path / "papers"
    root.mkdir()
    (root / "a.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))

    with pytest.raises(InvalidRequest, match=r"papers holds no document .*papers/a\.doc"):
        await local(root, tmp_path).search("anything")


async def test_a_cache_that_cannot_be_written_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in the way")

    with pytest.raises(RejectedError, match="cannot be written"):
        await local(folder, tmp_path).refresh()


async def test_progress_reaches_the_number_of_files(folder: Path, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    search = LocalFolder(
        [folder],
        cache=tmp_path / "cache",
        converter=DirectConverter(),
        progress=lambda done, total: steps.append((done, total)),
    )

    await search.refresh()

    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_processes_that_build_at_once_all_succeed(folder: Path, tmp_path: Path) -> None:
    for number in range(60):
        (folder / f"{number}.md").write_text(f"# {number}\n\ncommon words and number {number}")
    program = f"""
import anyio, sys
from pathlib import Path
sys.path[:0] = [{str(ROOT)!r}]
from adapters.documents.direct import DirectConverter
from adapters.search.local import LocalFolder
search = LocalFolder([{str(folder)!r}], cache=Path({str(tmp_path / "cache")!r}),
                     converter=DirectConverter())
print(anyio.run(search.search, "common 17").hits[0].locator)
"""
    command = [sys.executable, "-c", program]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]

    answers = {process.communicate()[0] for process in processes}

    assert answers == {f"{folder}/17.md\n"}
    assert len(list((tmp_path / "cache" / "indexes").glob("*/index-*"))) == 1


async def test_a_thousand_abstracts_are_indexed_and_found_by_others(tmp_path: Path) -> None:
    source = SHARED / "data" / "cranfield" / "cran.all.1400"
    if not source.is_file():
        pytest.skip("the Cranfield collection is not here; set ASSAY_SHARED to where it is")
    root = tmp_path / "cranfield"
    root.mkdir()
    abstracts = re.split(r"^\.I (\d+)$", source.read_text(errors="replace"), flags=re.MULTILINE)
    for number, abstract in zip(abstracts[1::2], abstracts[2::2], strict=True):
        (root / f"{number}.txt").write_text(abstract.split("\n.W\n", 1)[1])
    converter = SandboxedConverter()

    built = await local(root, tmp_path, converter).search("heat transfer in slip flow")
    found = await local(root, tmp_path, converter).search("heat transfer in slip flow")
    await converter.aclose()

    assert len(built.hits) == 6
    assert found == built
