"""What a reader's process cannot reach whatever code it is made to run: shown by trying."""

import ctypes
import os
import platform
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.documents import landlock, seccomp
from adapters.documents.sandboxed import SandboxedConverter
from state.values.blocks import Outcome

HERE = Path(__file__).parent
_OFFERED = sys.platform == "linux" and landlock.version(ctypes.CDLL(None)) > 0

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not _OFFERED or platform.machine() not in seccomp.REFUSED,
        reason="this system offers no Landlock, or is of an architecture not known to the filter",
    ),
]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def confined() -> AsyncIterator[SandboxedConverter]:
    made = SandboxedConverter(
        pool=1, function="reaching_for_tests:attempt", roots=(str(HERE),), readable=("/etc/group",)
    )
    yield made
    await made.aclose()


async def attempt(confined: SandboxedConverter, what: str, given: str) -> str:
    made = await confined.convert(given.encode() or b" ", name=what)
    assert made.outcome is Outcome.EMPTY, made.reason
    return made.reason


@pytest.mark.parametrize(
    ("what", "given"),
    [
        ("socket", "AF_INET"),
        ("socket", "AF_INET6"),
        ("socket", "AF_UNIX"),
        ("datagrams", "AF_INET"),
        ("datagrams", "AF_NETLINK"),
        ("pair", ""),
        ("look up", "name.invalid"),
        ("connect", "127.0.0.1:9"),
        ("fork", ""),
        ("spawn", "/bin/true"),
        ("run", "/bin/true"),
        ("exec", "/bin/true"),
        ("call", "425"),  # io_uring_setup, which could open sockets and files past the filter
        ("call", "435"),  # clone3
        ("open anew", "/etc/group"),  # openat2, whose flags a filter cannot see
        ("read", "/etc/passwd"),
        ("read", "/proc/self/environ"),
        ("read", "/proc/1/cmdline"),
        ("read", "/proc/self/root/etc/passwd"),
        ("list", "/"),
        ("list", "/home"),
        ("list", "/proc"),
        ("write", "/dev/null"),
        ("write", "/etc/hosts"),
        ("create", "/dev/shm/assay-test"),
        ("create", "/tmp/assay-test"),
        ("folder", "/tmp/assay-test"),
        ("signal", "1"),
    ],
)
async def test_what_no_reader_needs_is_refused(
    confined: SandboxedConverter, what: str, given: str
) -> None:
    assert (await attempt(confined, what, given)).startswith("refused: ")


@pytest.mark.parametrize("what", ["read", "write", "remove", "rename", "link", "mode"])
async def test_a_users_file_is_neither_read_nor_changed(
    confined: SandboxedConverter, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("private")
    before = path.stat()

    said = await attempt(confined, what, str(path))

    assert said.startswith("refused: ")
    assert path.stat() == before


async def test_its_parent_cannot_be_signalled(confined: SandboxedConverter) -> None:
    assert (await attempt(confined, "signal", str(os.getpid()))).startswith("refused: ")


@pytest.mark.parametrize(
    ("what", "given"),
    [
        ("read", os.__file__),
        ("read", pytest.__file__),
        ("read", "/etc/group"),  # which was allowed here
        ("import", "sqlite3"),
        ("thread", ""),
        ("signal itself", ""),
    ],
)
async def test_what_readers_need_still_works(
    confined: SandboxedConverter, what: str, given: str
) -> None:
    assert (await attempt(confined, what, given)).startswith("done: ")


async def test_the_probe_of_the_doctor_finds_nothing_in_reach() -> None:
    converter = SandboxedConverter(pool=1, function="adapters.documents.probe:reach_out")

    made = await converter.convert(b"/etc/passwd", name="probe")
    await converter.aclose()

    assert (made.outcome, made.reason) == (Outcome.EMPTY, "")


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_the_numbers_of_calls_are_those_of_the_kernels_headers(machine: str, header: str) -> None:
    if not Path(header).is_file():
        pytest.skip(f"no kernel headers at {header}")
    text = Path(header).read_text()
    known = {m[1]: int(m[2]) for m in re.finditer(r"define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    checked = {
        name: getattr(seccomp._CHECKED[machine], name)
        for name in ("open", "openat", "clone", "kill", "tgkill")
        if getattr(seccomp._CHECKED[machine], name) is not None
    }

    ours = {**seccomp.REFUSED[machine], **seccomp.NEWER, **checked}

    # What a header does not know yet is newer than it.
    assert {name: n for name, n in ours.items() if known.get(name, n) != n} == {}
    assert len(ours.keys() & known.keys()) > 60
