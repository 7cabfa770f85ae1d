"""The history of delivered code: the same ids for the same history, whole or not at all."""

import os
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.workspace.git import Commit, write_history
from state.values.errors import ObstructedError

AT = datetime(2026, 1, 2, tzinfo=UTC)
FIRST = [
    Commit("Plan", AT, {"PLAN.json": b"{}\n"}),
    Commit("Code", AT, {'a b/"x".py': b"x = 1\n", "y.py": b"y = 1\n"}),
]
SECOND = [Commit("Repair", AT, {"y.py": b"y = 2\n"})]

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", "-C", str(folder), *arguments],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def lay(folder: Path, *commits: Commit) -> None:
    for commit in commits:
        for path, body in commit.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(body)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "code"
    made.mkdir()
    lay(made, *FIRST)
    return made


def test_the_same_history_has_the_same_id_and_nothing_is_left_to_commit(
    folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    lay(other, *FIRST)

    first = write_history(folder, "r1", FIRST)

    assert write_history(folder, "r1", FIRST) == first == write_history(other, "r1", FIRST)
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "log", "--format=%s").split() == ["Code", "Plan"]
    assert git(folder, "fsck", "--strict") == ""


def test_a_retry_goes_on_with_the_history(folder: Path) -> None:
    first = write_history(folder, "r1", FIRST)
    lay(folder, *SECOND)

    second = write_history(folder, "r1-attempt-2", SECOND)

    assert git(folder, "rev-parse", "HEAD~1").strip() == first
    assert git(folder, "rev-parse", "HEAD").strip() == second
    assert git(folder, "status", "--porcelain") == ""


def test_a_person_who_works_on_another_branch_keeps_it(folder: Path) -> None:
    write_history(folder, "r1", FIRST)
    git(folder, "checkout", "-q", "-b", "mine")
    (folder / "mine.py").write_text("mine = 1\n")
    git(folder, "add", "mine.py")
    git(folder, "commit", "-q", "-m", "Mine")
    mine = git(folder, "rev-parse", "mine")
    lay(folder, *SECOND)

    second = write_history(folder, "r1-attempt-2", SECOND)

    assert git(folder, "rev-parse", "mine") == mine
    assert git(folder, "branch", "--show-current").strip() == "mine"
    assert git(folder, "rev-parse", "main").strip() == second


def test_what_a_kill_left_of_a_new_repository_is_made_anew(folder: Path) -> None:
    """Cases: E 43."""
    half = folder / ".assay-git"
    half.mkdir()
    subprocess.run(["git", "init", "-q", str(half)], check=True)

    write_history(folder, "r1", FIRST)

    assert not half.exists()
    assert git(folder, "status", "--porcelain") == ""


def test_an_index_that_a_kill_left_behind_is_caught_up(folder: Path) -> None:
    """Cases: E 43."""
    first = write_history(folder, "r1", FIRST)
    (folder / ".git" / "index").unlink()

    assert write_history(folder, "r1", FIRST) == first
    assert git(folder, "status", "--porcelain") == ""


STALLING = """#!/bin/sh
case " $* " in
*" fast-import "*) head -c "$KEEP" | {git} "$@" ;;
*) exec {git} "$@" ;;
esac
"""


@pytest.mark.parametrize("keep", [0, 40, 250, 420])
@pytest.mark.parametrize("is_retry", [False, True])
def test_a_history_that_arrives_in_part_is_none(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: int, *, is_retry: bool
) -> None:
    """Cases: E 43. So it is when the process that sends it is killed."""
    before = write_history(folder, "r1", FIRST) if is_retry else ""
    commits, run_id = (SECOND * 2, "r1-attempt-2") if is_retry else (FIRST, "r1")
    lay(folder, *commits)
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(STALLING.format(git=shutil.which("git")))
    program.chmod(0o755)
    with monkeypatch.context() as cut:
        cut.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        cut.setattr(os, "defpath", os.environ["PATH"])
        program.write_text(program.read_text().replace("$KEEP", str(keep)))
        with pytest.raises(ObstructedError):
            write_history(folder, run_id, commits)

    if is_retry:
        assert git(folder, "rev-parse", "main").strip() == before
    last = write_history(folder, run_id, commits)

    assert git(folder, "rev-parse", "main").strip() == last
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "log", "--format=%s", "main").count("\n") == (4 if is_retry else 2)


@pytest.mark.parametrize("damage", ["emptied", "a file", "a dangling link", "no HEAD"])
def test_a_damaged_repository_is_named_and_left_as_it_is(folder: Path, damage: str) -> None:
    place = folder / ".git"
    if damage == "no HEAD":
        write_history(folder, "r1", FIRST)
        (place / "HEAD").unlink()
    elif damage == "emptied":
        place.mkdir()
    elif damage == "a file":
        place.write_text("gitdir: nowhere\n")
    else:
        place.symlink_to("nowhere")

    with pytest.raises(ObstructedError, match=r"move its \.git away") as refused:
        write_history(folder, "r1-attempt-2", SECOND)

    assert refused.value.code == "PUBLICATION"
    assert place.exists() or place.is_symlink()


def test_what_a_retry_dropped_is_removed_in_its_history(folder: Path) -> None:
    write_history(folder, "r1", FIRST)
    dropped = min(FIRST[-1].files)
    (folder / dropped).unlink()
    last = replace(SECOND[0], files={}, removed=(dropped, "never/was.py"))

    write_history(folder, "r1-attempt-2", [last])

    assert dropped not in git(folder, "ls-files").split()
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "show", f"HEAD~1:{dropped}")
