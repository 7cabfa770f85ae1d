"""No document harms whoever reads it: hostile ones end in time and in memory, and reach nothing."""

import gc
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from adapters.documents.sandboxed import SandboxedConverter
from state.values.blocks import Conversion, Outcome
from tests.adapters.documents.hostile_makers import HOSTILE
from tests.adapters.documents.reference_makers import WORDS, references

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is told by /proc"),
]

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
MAX_SECONDS = 15
MAX_CHILD_KIB = 1.2 * 1024 * 1024
MAX_PARENT_GROWTH_KIB = 150 * 1024
EVIL = Path(os.environ.get("ASSAY_SHARED") or ROOT.parent / "shared") / "files" / "evil"
# What ends only by the clock, or is long at work.
LONG = {
    "text of line ends.text",
    "html one line.html",
    "html style heavy.html",
    "pdf white space before its end.pdf",
    "pdf white space after its end.pdf",
    "md images in links.md",
    "text of short paragraphs.text",
    "pdf table of millions.pdf",
    "pdf streams that never end.pdf",
    "html million attributes.html",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """How a conversion ended and what it took; memory is what was held at most, in KiB."""

    conversion: Conversion
    seconds: float
    child_kib: int
    parent_growth_kib: int


@pytest.fixture(scope="module")
async def converter() -> AsyncIterator[SandboxedConverter]:
    made = SandboxedConverter(pool=1)
    yield made
    await made.aclose()


async def cost(converter: SandboxedConverter, data: bytes, name: str) -> Cost:
    """Convert with the only worker of `converter`, which is started first where there is none."""
    await converter.convert(b"warm up", name="a.txt")
    (child,) = (worker.pid for worker in converter._idle)
    peak = 0

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max(peak, memory(child, "VmHWM"))
            await anyio.sleep(0.02)

    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # noqa: ASYNC240 - the peak begins anew
    before = memory(os.getpid(), "VmRSS")
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        began = time.monotonic()
        conversion = await converter.convert(data, name=name)
        seconds = time.monotonic() - began
        peak = max(peak, memory(child, "VmHWM"))
        group.cancel_scope.cancel()
    return Cost(conversion, seconds, peak, memory(os.getpid(), "VmHWM") - before)


def memory(pid: int, what: str) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(rf"{what}:\s+(\d+)", status)
    return int(found[1]) if found else 0  # a process that ended holds none


def assert_harmless(found: Cost) -> None:
    assert found.conversion.outcome is not Outcome.CRASHED, found.conversion.reason
    assert found.conversion.document is not None or found.conversion.reason
    assert found.seconds < MAX_SECONDS
    assert found.child_kib < MAX_CHILD_KIB
    assert found.parent_growth_kib < MAX_PARENT_GROWTH_KIB


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in sorted(HOSTILE)],
)
async def test_a_file_made_to_hurt_ends_in_time_and_memory_and_the_next_is_read(
    name: str, converter: SandboxedConverter
) -> None:
    found = await cost(converter, HOSTILE[name](), name)
    following = await converter.convert(b"Fine text.", name="b.txt")

    assert_harmless(found)
    assert following.outcome is Outcome.OK


@pytest.mark.skipif(not EVIL.is_dir(), reason="the hostile documents are not beside the repository")
@pytest.mark.parametrize("name", sorted(path.name for path in EVIL.glob("*.*")))
async def test_a_hostile_file_of_the_shared_data_ends_likewise(
    name: str, converter: SandboxedConverter
) -> None:
    found = await cost(converter, (EVIL / name).read_bytes(), name)
    following = await converter.convert(b"Fine text.", name="b.txt")

    assert_harmless(found)
    assert found.conversion.outcome in (Outcome.LIMIT, Outcome.PARTIAL, Outcome.MALFORMED)
    assert following.outcome is Outcome.OK


def test_there_are_many_hostile_files_of_every_format() -> None:
    formats = [name.rpartition(".")[2] for name in HOSTILE]

    assert len(formats) > 70
    assert all(formats.count(each) >= 5 for each in ("pdf", "html", "md", "text", "docx"))


# ---- what files point to


SECRET = "the secret of the local file"


@dataclass(frozen=True, slots=True)
class Bait:
    """What files point to: a server that counts who comes, a local file; and these files."""

    server: socket.socket
    secret: Path
    files: dict[str, bytes]

    @property
    def visitors(self) -> int:
        """Return how many have connected since the last look."""
        count = 0
        while True:
            try:
                self.server.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1


@pytest.fixture(scope="module")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    secret = tmp_path_factory.mktemp("bait") / "secret.txt"
    secret.write_text(SECRET)
    with closing(socket.create_server(("127.0.0.1", 0), backlog=500)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/bait"
        yield Bait(server, secret, references(url, str(secret)))


async def test_no_reference_is_followed(bait: Bait, converter: SandboxedConverter) -> None:
    readable = 0
    for name, data in bait.files.items():
        conversion = await converter.convert(data, name=name)
        document = conversion.document
        readable += document is not None
        assert SECRET not in (document.text if document else conversion.reason), name
        assert conversion.outcome is not Outcome.CRASHED, conversion.reason

    assert len(bait.files) > 30
    assert readable > len(bait.files) * 0.7
    assert bait.visitors == 0


UNCONFINED = f"""
import json, os, sys
sys.path[:0] = [{str(ROOT)!r}, {str(HERE)!r}]
from pathlib import Path
from adapters.documents.convert import convert_bytes

files = {{path.name: path.read_bytes() for path in sorted(Path(sys.argv[1]).iterdir())}}
for name, data in files.items():  # imports what readers need, and whatever else they do
    convert_bytes(data, name, "")
seen, watching = [], True

def note(event, arguments):
    told = ("open", "socket.", "os.", "subprocess.", "shutil.", "urllib.", "http.", "ctypes.dlopen")
    if watching and event.startswith(told):
        seen.append([event, str(arguments[0])])

sys.addaudithook(note)
try:
    os.stat("/assay-marker")
except OSError:
    pass
texts = [convert_bytes(data, name, "").document for name, data in files.items()]
watching = False
print(json.dumps({{"seen": seen, "text": " ".join(made.text for made in texts if made)}}))
"""
"""Reads files in a process that nothing holds back, to see what readers try to do."""

OWN = tuple(dict.fromkeys((*filter(None, sys.path), sys.prefix, sys.base_prefix, str(ROOT))))
"""Where Python and its packages lie: they may be imported late, and say their versions."""


@contextmanager
def folder_of(bait: Bait, folder: Path) -> Iterator[Path]:
    folder.mkdir()
    for name, data in bait.files.items():
        (folder / name).write_bytes(data)
    yield folder


def test_readers_do_not_even_try_to_follow_references(bait: Bait, tmp_path: Path) -> None:
    with folder_of(bait, tmp_path / "files") as folder:
        said = subprocess.run(
            [sys.executable, "-IBc", UNCONFINED, folder],
            capture_output=True,
            check=True,
            timeout=120,
        )
    told = json.loads(said.stdout)

    assert [seen for seen in told["seen"] if not seen[1].startswith(OWN)] == []
    assert told["text"].count(WORDS) > 20
    assert SECRET not in told["text"]
    assert bait.visitors == 0


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_readers_make_no_call_to_the_system_for_a_file_a_host_or_a_process(
    bait: Bait, tmp_path: Path
) -> None:
    log = tmp_path / "calls"
    watch = ["strace", "-f", "-o", str(log), "-e", "trace=%network,%file,%process"]
    with folder_of(bait, tmp_path / "files") as folder:
        traced = subprocess.run(
            [*watch, sys.executable, "-IBc", UNCONFINED, str(folder)],
            capture_output=True,
            check=False,
            timeout=240,
        )
    if not log.is_file() or "/assay-marker" not in log.read_text():
        pytest.skip(f"strace may not trace here: {traced.stderr[-200:]!r}")

    calls = log.read_text().partition("/assay-marker")[2].splitlines()[1:]

    assert traced.returncode == 0
    assert [call for call in calls if not is_of_python(call)] == []
    assert bait.visitors == 0


def is_of_python(call: str) -> bool:
    """Tell whether a line of the log is about Python's own files, or the end of the process."""
    path = re.search(r'"([^"]*)"', call)
    if path is None:
        return re.search(r" (exit_group|\+\+\+|---)", call) is not None
    return path[1].startswith(OWN) or "(3, " in call  # the status of a file that is open
