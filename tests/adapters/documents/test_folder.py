"""Which files below the roots are seen, and that nothing else is ever opened."""

import os
from pathlib import Path

import pytest

from adapters.documents import folder as folder_module
from adapters.documents.folder import FolderReader
from state.values.errors import InvalidRequest, RejectedError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("alpha")
    (folder / "sub" / "b.txt").write_text("beta")
    return folder.resolve()


def refusal(reader: FolderReader, locator: str | Path) -> str:
    with pytest.raises(RejectedError) as caught:
        reader.open(str(locator))
    return caught.value.code


def test_files_are_listed_in_order_with_their_real_paths(root: Path) -> None:
    files = FolderReader([root]).inventory().files

    assert [file.locator for file in files] == [str(root / "a.md"), str(root / "sub" / "b.txt")]
    assert [file.size for file in files] == [5, 4]


def test_the_data_folder_itself_is_no_source_unless_a_part_of_it_is_named(root: Path) -> None:
    data = root / "sub"

    around = FolderReader([root], own=data).inventory()
    inside = FolderReader([data / "b.txt"], own=data).inventory()

    assert [file.locator for file in around.files] == [str(root / "a.md")]
    assert [skipped.path for skipped in around.skipped] == ["notes/sub"]
    assert FolderReader([data], own=data).inventory().files == ()
    assert [file.locator for file in inside.files] == [str(data / "b.txt")]


def test_hidden_files_and_folders_of_tools_are_left_out(root: Path) -> None:
    for name in (".git", "node_modules", "__pycache__"):
        (root / name).mkdir()
        (root / name / "x.md").write_text("x")
    (root / ".hidden.md").write_text("x")
    (root / "picture.png").write_bytes(b"x")

    inventory = FolderReader([root]).inventory()

    assert len(inventory.files) == 2
    assert inventory.ignored == 1


def test_links_that_lead_out_are_not_followed_and_said(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "in.md").symlink_to(root / "a.md")
    (root / "loop").symlink_to(root)
    reader = FolderReader([root])

    inventory = reader.inventory()

    assert len(inventory.files) == 2
    assert [skipped.path for skipped in inventory.skipped] == ["notes/out.md"]
    assert "link" in inventory.skipped[0].reason
    assert refusal(reader, root / "out.md") == "NOT_A_FILE"


def test_only_regular_files_below_the_roots_are_opened(root: Path, tmp_path: Path) -> None:
    (tmp_path / "notes-other").mkdir()
    (tmp_path / "notes-other" / "c.md").write_text("x")
    (root / "link").symlink_to(tmp_path / "notes-other")
    os.mkfifo(root / "pipe.md")
    reader = FolderReader([root])

    assert reader.open(str(root / "a.md")) == b"alpha"
    assert refusal(reader, tmp_path / "notes-other" / "c.md") == "OUTSIDE_ROOTS"
    assert refusal(reader, f"{root}/../notes-other/c.md") == "OUTSIDE_ROOTS"
    assert refusal(reader, "a.md") == "OUTSIDE_ROOTS"
    assert refusal(reader, root / "link" / "c.md") == "FILE_NOT_FOUND"
    assert refusal(reader, root / "gone.md") == "FILE_NOT_FOUND"
    assert refusal(reader, root / "sub") == "NOT_A_FILE"
    assert refusal(reader, root / "pipe.md") == "NOT_A_FILE"


def test_a_file_that_is_too_large_is_skipped_and_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "MAX_FILE_BYTES", 4)
    reader = FolderReader([root])

    assert [skipped.path for skipped in reader.inventory().skipped] == ["notes/a.md"]
    assert refusal(reader, root / "a.md") == "FILE_TOO_LARGE"
    assert reader.open(str(root / "sub" / "b.txt")) == b"beta"


def test_a_name_that_is_no_utf8_is_skipped_and_printable(root: Path) -> None:
    os.close(os.open(os.fsencode(root) + b"/\xff.md", os.O_CREAT))

    skipped = FolderReader([root]).inventory().skipped

    assert [entry.path for entry in skipped] == ["notes/\\udcff.md"]


def test_paths_for_people_do_not_depend_on_the_current_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "second" / "notes"
    other.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    reader = FolderReader(["notes", other, root / "a.md"])
    monkeypatch.chdir("/")

    assert reader.display_path(str(root / "sub" / "b.txt")) == "notes/sub/b.txt"
    assert reader.display_path(str(other.resolve() / "c.md")) == "notes (2)/c.md"


def test_a_single_file_can_be_a_root(root: Path) -> None:
    reader = FolderReader([root / "a.md"])

    assert [file.locator for file in reader.inventory().files] == [str(root / "a.md")]
    assert reader.display_path(str(root / "a.md")) == "a.md"
    assert reader.open(str(root / "a.md")) == b"alpha"


def test_a_missing_root_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="nowhere does not exist"):
        FolderReader([tmp_path / "nowhere"])


def test_no_root_at_all_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="No folder"):
        FolderReader([])
