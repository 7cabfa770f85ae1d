"""What goes into a sandbox and what comes out: copies, results, workspaces changed in place."""

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.sandbox import cgroups, trees
from adapters.sandbox.bubblewrap import BubblewrapSandbox
from adapters.sandbox.port import MIB, Command, Level, SandboxUnavailable
from adapters.sandbox.processes import descendants
from adapters.sandbox.supervision import Stop
from adapters.sandbox.waiting import in_thread
from state.values.errors import InvalidRequest
from tests.adapters.sandbox.conftest import SMALL, Bench, Machine, names_in, said

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[3]


async def test_a_command_sees_a_copy_and_changes_nothing_else(bench: Bench) -> None:
    (bench.workspace / "sub").mkdir()
    (bench.workspace / "sub" / "kept.txt").write_text("as it was")
    before = _state(bench.workspace)

    finished = await bench.run(
        "sh", "-c", "cat kept.txt; echo new > kept.txt; rm -r ../sub; touch ../more",
        command=Command((), cwd="sub", limits=SMALL),
    )  # fmt: skip

    assert said(finished) == "as it was"
    assert _state(bench.workspace) == before


async def test_scripts_links_and_times_survive_the_copy(bench: Bench) -> None:
    script = bench.workspace / "run.sh"
    script.write_text("#!/bin/sh\necho ran\n")
    script.chmod(0o4755)
    os.utime(script, (1_000_000_000, 1_000_000_000))
    (bench.workspace / "link").symlink_to("run.sh")
    os.mkfifo(bench.workspace / "pipe")

    finished = await bench.run("sh", "-c", "./link; stat -c '%a %Y' run.sh; ls -1; readlink link")

    assert said(finished).splitlines() == [
        "ran", "755 1000000000", "link", "run.sh", "run.sh",
    ]  # fmt: skip


async def test_a_link_in_the_workspace_is_not_followed_into_the_copy(
    bench: Bench, machine: Machine
) -> None:
    (bench.workspace / "file").symlink_to(machine.file)
    (bench.workspace / "folder").symlink_to(machine.folder)

    finished = await bench.run("cat", "file", "folder/notes.txt")

    assert finished.exit_code == 1
    assert "private" not in said(finished)


@pytest.mark.parametrize("how", ["bytes", "depth", "length"])
async def test_a_workspace_too_large_is_refused(bench: Bench, tmp_path: Path, how: str) -> None:
    if how == "bytes":
        (bench.workspace / "big").write_bytes(bytes(2 * MIB))
    elif how == "depth":
        (bench.workspace / Path(*["d"] * 120)).mkdir(parents=True)
    else:  # each half can be named, but both together cannot
        half = Path(*["d" * 200] * 12)
        (bench.workspace / half).mkdir(parents=True)
        (tmp_path / half).mkdir(parents=True)
        (tmp_path / half.parts[0]).rename(bench.workspace / half / "more")

    with pytest.raises(InvalidRequest, match=r"more than 1,048,576 bytes|deeper than 100|too long"):
        await bench.run("true", command=Command((), limits=replace(SMALL, disk_bytes=MIB)))


async def test_files_asked_for_are_given_back(bench: Bench) -> None:
    wanted = ("out/result.xml", "missing", "out", "link", "inner/passwd", "pipe", "large")
    command = Command((), collect=wanted, limits=SMALL)

    finished = await bench.run(
        "sh", "-c",
        "mkdir out; printf done > out/result.xml; ln -s /etc/passwd link; ln -s /etc inner;"
        "mkfifo pipe; head -c 9000000 /dev/zero > large",
        command=command,
    )  # fmt: skip

    assert finished.collected == {"out/result.xml": b"done"}


async def test_they_are_given_back_after_a_limit_too(bench: Bench) -> None:
    """Cases: H 74."""
    command = Command((), collect=("log",), limits=replace(SMALL, wall_s=1.0))

    finished = await bench.run("sh", "-c", "echo begun > log; sleep 600", command=command)

    assert (finished.limit, finished.collected) == ("wall", {"log": b"begun\n"})


async def test_nothing_is_left_whatever_was_made(
    landlocked: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one level whose copies are on disk."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = names_in(tmp_path)

    finished = await landlocked.python(
        r"""
        import os
        os.mkdir("closed"); open("closed/file", "w").close(); os.chmod("closed", 0)
        open(b"\xff\n *", "w").close(); os.mkfifo("pipe"); os.symlink("/", "root")
        os.chmod(".", 0o755)
        for _ in range(2000):
            os.mkdir("d"); os.chdir("d")
        print("made")
        """
    )

    # The watch may find the nesting before the program is done with it.
    assert said(finished) == "made" or finished.limit == "disk"
    assert names_in(tmp_path) == before


async def test_in_place_the_command_changes_the_workspace(bench: Bench) -> None:
    (bench.workspace / "old").write_text("old")
    before = bench.workspace.stat()

    command = bench.of_python("open('new', 'w').write('new'); import os; os.remove('old')")
    finished = await bench.sandbox.run_in_place(bench.workspace, command)

    assert finished.exit_code == 0, said(finished)
    assert names_in(bench.workspace) == ["new"]
    made = (bench.workspace / "new").stat()
    assert (made.st_uid, made.st_gid) == (before.st_uid, before.st_gid)


async def test_in_place_borrowed_rights_and_special_files_are_taken_away(bench: Bench) -> None:
    command = bench.of_python(
        """
        import os, socket
        open("program", "w").close()
        os.chmod("program", 0o6755)
        os.mkdir("folder")
        os.chmod("folder", 0o2700)
        os.mkfifo("folder/pipe")
        os.symlink("/etc/shadow", "link")
        os.mkdir("closed")
        os.mkfifo("closed/pipe")
        os.chmod("closed", 0)
        """
    )

    finished = await bench.sandbox.run_in_place(bench.workspace, command)

    assert finished.exit_code == 0, said(finished)
    modes = [path.lstat().st_mode for path in bench.workspace.rglob("*")]
    assert not any(mode & 0o6000 for mode in modes)
    assert not any(stat.S_ISFIFO(mode) for mode in modes)
    assert (bench.workspace / "program").stat().st_mode & 0o777 == 0o755
    assert (bench.workspace / "link").readlink() == Path("/etc/shadow")


async def test_in_place_the_disk_is_watched(bench: Bench) -> None:
    (bench.workspace / "before").write_bytes(bytes(MIB))
    many = """
    for number in range(100):
        with open(str(number), "wb") as file:
            file.write(b"x" * 1024 * 1024)
    import time; time.sleep(20)
    """
    command = bench.of_python(many, Command((), limits=replace(SMALL, disk_bytes=4 * MIB)))

    finished = await bench.sandbox.run_in_place(bench.workspace, command)

    assert (finished.exit_code, finished.limit) == (None, "disk")


async def test_the_sandbox_dying_is_no_failure_of_the_command(isolated: Bench) -> None:
    """Cases: H 73."""
    await _kill_while_running(isolated, "bwrap", match="from outside")


async def test_losing_the_process_that_watches_is_no_failure_either(bench: Bench) -> None:
    """Cases: H 73."""
    if bench.sandbox.level is Level.LANDLOCK and cgroups.available() is None:
        pytest.skip("without control groups nothing else knows all processes")
    await _kill_while_running(bench, "supervisor", match="was killed")


async def _kill_while_running(bench: Bench, name: str, *, match: str) -> None:
    caught: list[SandboxUnavailable] = []

    async def attempt() -> None:
        try:
            await bench.python(
                """
                import os, time
                if os.fork() == 0:
                    os.setsid()
                time.sleep(600)
                """
            )
        except SandboxUnavailable as error:
            caught.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(attempt)
        await _until(lambda: len(bench.alive()) > 1)
        os.kill(_ours(name), signal.SIGKILL)

    assert match in caught[0].message
    await _until(lambda: not bench.alive())


def _groups(pid: int) -> list[Path]:
    """Return the control groups that the process `pid` made and that are still there."""
    places = cgroups.available()
    if places is None:
        return []
    folders = {places.memory, places.processes}
    return [found for folder in folders for found in folder.glob(f"assay-{pid}-*")]


def _ours(name: str) -> int:
    """Return the first of the processes below this one whose command line has `name`."""
    return min(
        pid
        for pid in descendants(os.getpid())
        if name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    )


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Lend a folder that has room for a MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system may be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_a_full_disk_is_no_failure_of_the_command(
    landlocked: Bench, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: H 73."""
    monkeypatch.setattr(tempfile, "tempdir", str(small))
    (landlocked.workspace / "big").write_bytes(bytes(4 * MIB))

    with pytest.raises(SandboxUnavailable, match="No space left"):
        await landlocked.run("true")

    assert names_in(small) == []


async def test_what_cannot_start_is_said_to_be_unavailable(isolated: Bench) -> None:
    with pytest.raises(SandboxUnavailable, match="/missing/bwrap: No such file"):
        await BubblewrapSandbox(Path("/missing/bwrap")).run(
            isolated.workspace, Command(("true",), limits=SMALL)
        )


async def test_what_the_system_refuses_is_said_to_be_unavailable() -> None:
    def refused(_stop: Stop) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with pytest.raises(SandboxUnavailable, match="Too many open files"):
        await in_thread(refused)


async def test_killing_assay_leaves_nothing_behind(bench: Bench, tmp_path: Path) -> None:
    script = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from adapters.sandbox.choose import open_sandbox
from adapters.sandbox.port import Command, Level
sandbox = open_sandbox(at_most=Level({str(bench.sandbox.level)!r}))
code = "(setsid sh -c 'sleep 600; : {bench.mark}' &); sleep 600; : {bench.mark}"
asyncio.run(sandbox.run(Path({str(bench.workspace)!r}), Command(("sh", "-c", code))))
"""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {"TMPDIR": str(temporary), "PATH": os.environ["PATH"]}
    async with await anyio.open_process([sys.executable, "-c", script], env=environment) as assay:
        await _until(lambda: len(set(bench.alive()) - {assay.pid}) >= 2)
        assay.kill()

    await _until(lambda: not bench.alive() and not names_in(temporary) and not _groups(assay.pid))


_NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20)


@settings(max_examples=30)
@given(
    st.dictionaries(_NAMES.filter(lambda name: name not in {".", ".."}), st.binary(), max_size=6)
)
def test_a_copy_has_the_same_files_with_the_same_contents(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as target:
        for name, content in files.items():
            Path(source, name).write_bytes(content)
        root = trees.open_folder(Path(target))
        trees.copy(Path(source), root, owner=None, max_bytes=MIB)

        copied = {
            name: trees.read_file(root, name, max_bytes=MIB) for name in names_in(Path(target))
        }
        os.close(root)

    assert copied == files


def test_a_tree_may_nest_without_end_and_is_removed(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("deep", dir_fd=here)
        inner = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)

    trees.remove(tmp_path / "deep")

    assert list(tmp_path.iterdir()) == []


def test_what_nests_too_deep_is_tidied_away(tmp_path: Path) -> None:
    (tmp_path / Path(*["d"] * 110)).mkdir(parents=True)
    os.mkfifo(tmp_path / Path(*["d"] * 110) / "pipe")
    (tmp_path / "kept").write_text("kept")

    root = trees.open_folder(tmp_path)
    trees.tidy(root)
    size = trees.measure(root)
    os.close(root)

    assert size.entries == trees.MAX_DEPTH
    assert (tmp_path / "kept").read_text() == "kept"


def test_a_file_of_several_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(bytes(MIB))
    os.link(tmp_path / "one", tmp_path / "two")

    root = trees.open_folder(tmp_path)
    size = trees.measure(root)
    os.close(root)

    assert MIB <= size.bytes < 2 * MIB


def _state(folder: Path) -> list[tuple[str, int, int]]:
    return [
        (str(path), path.lstat().st_mode, path.lstat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    ]


async def _until(holds: Callable[[], object]) -> None:
    with anyio.fail_after(60):
        while not holds():  # noqa: ASYNC110  other processes set no events
            await anyio.sleep(0.02)
