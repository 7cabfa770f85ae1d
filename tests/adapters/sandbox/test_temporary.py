"""Temporary folders: gone when they are done with, also when their maker was killed."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from adapters.sandbox.temporary import remove_abandoned, temporary_folder
from tests.adapters.sandbox.conftest import names_in

ROOT = Path(__file__).resolve().parents[3]
_KILLED = """
import os, sys
sys.path.insert(0, {root!r})
from adapters.sandbox.temporary import temporary_folder
with temporary_folder("assay-x-") as folder:
    (folder / "closed").mkdir(0)
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    remove_abandoned.cache_clear()
    return tmp_path


def test_a_folder_is_gone_after_its_block(place: Path) -> None:
    with temporary_folder("assay-x-") as folder:
        (folder / "file").touch()
        assert folder.parent == place.resolve()

    assert names_in(place) == []


def test_what_a_killed_process_left_is_removed_and_nothing_else(place: Path) -> None:
    for name in ("assay-y-1", "other"):
        (place / name).mkdir()
    (place / "assay-x-file").touch()
    (place / "assay-x-link").symlink_to(place / "other")

    with temporary_folder("assay-x-") as in_use:
        killed = [sys.executable, "-c", _KILLED.format(root=str(ROOT))]
        subprocess.run(killed, env={"TMPDIR": str(place)}, check=False)
        left = names_in(place)
        remove_abandoned.cache_clear()
        with temporary_folder("assay-x-") as folder:
            folder.rmdir()
        assert len(left) == 6
        assert names_in(place) == sorted(
            [in_use.name, "assay-x-file", "assay-x-link", "assay-y-1", "other"]
        )
