"""A person's folder: claimed by one run, and never overwritten beyond what is ours."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adapters.workspace.folder import MARK, claim, remove_files, write_files
from state.values.errors import ObstructedError, RejectedError
from state.values.ids import content_hash


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_claim_is_of_one_task_however_often_it_comes(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "code"
    claim(folder, "a")
    claim(folder, "a")

    with pytest.raises(RejectedError, match="workspace of run 'a'"):
        claim(folder, "b")

    assert names(folder) == [MARK]


def test_of_many_that_claim_at_once_one_gets_the_folder(tmp_path: Path) -> None:
    def attempt(number: int) -> bool:
        try:
            claim(tmp_path / "code", f"run-{number}")
        except RejectedError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(attempt, range(8)))

    assert got.count(True) == 1
    assert (tmp_path / "code" / MARK).read_text() == f"run-{got.index(True)}\n"


def test_a_mark_that_a_kill_left_empty_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / MARK).touch()

    claim(tmp_path, "a")

    assert (tmp_path / MARK).read_text() == "a\n"


@pytest.mark.parametrize("kind", ["a file", "below a file", "holds a file", "a fifo", "a link"])
def test_what_is_no_empty_folder_is_refused(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "code"
    match kind:
        case "a file":
            folder.touch()
        case "below a file":
            (tmp_path / "file").touch()
            folder = tmp_path / "file" / "code"
        case "holds a file":
            folder.mkdir()
            (folder / "mine.txt").touch()
        case "a fifo":
            folder.mkdir()
            os.mkfifo(folder / MARK)
        case "a link":
            folder.mkdir()
            (folder / MARK).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(RejectedError) as refused:
        claim(folder, "a")

    assert refused.value.code == "WORKSPACE"
    assert not (tmp_path / "elsewhere").exists()


def test_nothing_is_written_over_but_what_is_ours(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b/x.py": b"one\n"}, ours={})
    ours = {"a/b/x.py": frozenset({content_hash(b"one\n")})}
    write_files(tmp_path, {"a/b/x.py": b"two\n"}, ours=ours)
    (tmp_path / "a/b/x.py").write_text("mine\n")

    with pytest.raises(ObstructedError, match=r"a/b/x\.py"):
        write_files(tmp_path, {"a/b/x.py": b"three\n"}, ours=ours)

    assert (tmp_path / "a/b/x.py").read_text() == "mine\n"
    assert names(tmp_path / "a" / "b") == ["x.py"]


@pytest.mark.parametrize("at", ["a", "a/x.py"])
def test_no_link_is_followed(tmp_path: Path, at: str) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "code"
    outside.mkdir()
    (folder / at).parent.mkdir(parents=True)
    (folder / at).symlink_to(outside if at == "a" else outside / "x.py")

    with pytest.raises(ObstructedError):
        write_files(folder, {"a/x.py": b"new\n"}, ours={})

    assert names(outside) == []


WRITING = """
import sys
from pathlib import Path
from adapters.workspace.folder import write_files
files = {f"p{n}/f{n}.py": b"x = 1\\n" * 2000 for n in range(200)}
print("ready", flush=True)
write_files(Path(sys.argv[1]), files, ours={})
"""


@pytest.mark.parametrize("after_s", [0.0, 0.01, 0.05])
def test_killed_while_it_writes_the_same_files_are_there_in_the_end(
    tmp_path: Path, after_s: float
) -> None:
    command = [sys.executable, "-c", WRITING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after_s)
        process.send_signal(signal.SIGKILL)

    body = b"x = 1\n" * 2000
    write_files(tmp_path, {f"p{n}/f{n}.py": body for n in range(200)}, ours={})

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 200
    assert all(path.read_bytes() == body for path in files)


def test_only_what_is_ours_and_unchanged_is_removed(tmp_path: Path) -> None:
    bodies = {"a/b/x.py": b"one\n", "a/mine.py": b"two\n", "y.py": b"three\n", "kept/z.py": b"z\n"}
    ours = {path: frozenset({content_hash(body)}) for path, body in bodies.items()}
    write_files(tmp_path, bodies, ours={})
    (tmp_path / "a/mine.py").write_text("changed by somebody")
    (tmp_path / "kept/own.txt").write_text("somebody's own")
    (tmp_path / "link.py").symlink_to(tmp_path / "y.py")
    (tmp_path / "folder.py").mkdir()
    also = {"gone.py": frozenset(), "link.py": ours["y.py"], "folder.py": frozenset()}

    gone = remove_files(tmp_path, {**ours, **also})

    assert set(gone) == {"a/b/x.py", "y.py", "kept/z.py", "gone.py"}
    assert not (tmp_path / "a/b").exists()
    assert (tmp_path / "a/mine.py").read_text() == "changed by somebody"
    assert names(tmp_path / "kept") == ["own.txt"]
    assert names(tmp_path) == ["a", "folder.py", "kept", "link.py"]
    assert set(remove_files(tmp_path, {**ours, **also})) == set(gone)


def test_nothing_is_removed_through_a_link(tmp_path: Path) -> None:
    folder, outside = tmp_path / "code", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "x.py").write_bytes(b"one\n")
    (folder / "a").symlink_to(outside)

    assert remove_files(folder, {"a/x.py": frozenset({content_hash(b"one\n")})}) == ()
    assert (outside / "x.py").exists()
