"""The journal: what was acknowledged stays, what was not never counts."""

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.append import Hooks, RunAppender
from state.durable import sync_file
from state.envelope import Draft, Envelope, Line, Refs, spell_body
from state.errors import Conflict, CorruptLedger, Fenced, Refused, StorageError
from state.follow import Follower
from state.journal import JOURNAL, START, Notice, read_journal, run_folder, scan
from state.locks import FileLock
from state.values.errors import InvalidRequest
from state.values.ids import canonical_json
from tests.state.counter import Counter, CounterFold, added, leased

RUN = "run-1"
Open = Callable[..., RunAppender[Counter]]


class Desk:
    """Opens appenders on one home and keeps what they report."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = run_folder(home, RUN)
        self.path = self.folder / JOURNAL
        self.notices: list[Notice] = []
        self.ingested = 0

    def open(self, hooks: Hooks | None = None, *, timeout: float = 5) -> RunAppender[Counter]:
        return RunAppender(
            self.home,
            RUN,
            CounterFold(),
            hooks or Hooks(),
            ingested=lambda: self.ingested,
            notify=self.notices.append,
            timeout=timeout,
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "home")


def test_an_event_is_read_back_as_it_was_recorded(desk: Desk) -> None:
    receipt = desk.open().append([added(2, "c1", note="ünï\u2028\n")], None, None)

    (line,) = read_journal(desk.folder).lines
    assert receipt.lines == (line,)
    assert line.envelope.position == 1
    assert line.envelope.body == {"amount": 2, "note": "ünï\u2028\n"}
    assert line.envelope.refs == Refs(turn_id="s/1", call_id="c1")


def test_files_are_their_owners_only(desk: Desk) -> None:
    desk.open().append([added(1)], None, None)

    assert desk.folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in desk.folder.iterdir()} == {0o600}


def test_the_same_call_with_the_same_input_is_recorded_once(desk: Desk) -> None:
    appender = desk.open()
    appender.append([added(2, "c1")], None, None)

    again = appender.append([added(2, "c1")], None, expected_position=0)

    assert (again.lines, again.position, again.state.total) == ((), 1, 2)


def test_the_same_call_with_another_input_is_a_conflict(desk: Desk) -> None:
    appender = desk.open()
    appender.append([added(2, "c1")], None, None)

    with pytest.raises(Conflict, match="c1"):
        appender.append([added(3, "c1")], None, None)


def test_a_writer_that_expects_another_position_is_refused(desk: Desk) -> None:
    appender = desk.open()
    appender.append([added(1)], None, 0)

    with pytest.raises(Conflict, match="at position 1, not 0"):
        appender.append([added(1)], None, 0)


def test_a_driver_whose_lease_is_over_is_fenced(desk: Desk) -> None:
    old, new = desk.open(), desk.open()
    old.append([leased(1)], None, None)
    old.append([added(1)], 1, None)
    new.append([leased(2)], None, None)

    with pytest.raises(Fenced, match="lease 2, not 1"):
        old.append([added(1)], 1, None)
    assert new.append([added(1)], 2, None).state.total == 2


def test_an_event_that_is_refused_leaves_nothing(desk: Desk) -> None:
    with pytest.raises(Refused):
        desk.open().append([added(1), added(-1)], None, None)
    assert not desk.folder.exists()

    desk.open().append([added(1)], None, None)
    before = desk.path.read_bytes()
    with pytest.raises(Refused):
        desk.open().append([added(1), added(-1)], None, None)
    assert desk.path.read_bytes() == before


@pytest.mark.parametrize("body", [{"x": float("nan")}, {"x": {1, 2}}, {"x": "\ud800"}])
def test_a_body_that_is_not_json_is_refused_with_its_reason(desk: Desk, body: object) -> None:
    with pytest.raises(InvalidRequest, match=r"not JSON|not Unicode"):
        desk.open().append([Draft("added", body)], None, None)  # type: ignore[arg-type] # the case


def test_two_writers_see_each_others_events(desk: Desk) -> None:
    one, two = desk.open(), desk.open()

    for _ in range(3):
        one.append([added(1)], None, None)
        two.append([added(10)], None, None)

    assert one.project() == two.project()
    assert one.project()[0].total == 33


@pytest.mark.parametrize("keep", [1, 30, 64, 65, 200])
def test_a_torn_last_line_is_set_aside_and_reported(desk: Desk, keep: int) -> None:
    desk.open().append([added(1), added(2)], None, None)
    whole = desk.path.read_bytes()
    first = whole.index(b"\n") + 1
    desk.path.write_bytes(whole[: first + keep])

    assert len(read_journal(desk.folder).lines) == 1
    receipt = desk.open().append([added(5)], None, None)

    assert (receipt.position, receipt.state.total) == (2, 6)
    assert (desk.folder / "torn-1").read_bytes() == whole[first : first + keep]
    assert "torn-1" in desk.notices[0].message


def test_zeros_at_the_end_are_a_torn_line(desk: Desk) -> None:
    desk.open().append([added(1)], None, None)
    with desk.path.open("ab") as file:
        file.write(bytes(4096))

    assert desk.open().append([added(1)], None, None).position == 2
    assert (desk.folder / "torn-1").read_bytes() == bytes(4096)


def test_a_tear_inside_what_was_already_queried_is_corruption(desk: Desk) -> None:
    desk.open().append([added(1), added(2)], None, None)
    whole = desk.path.read_bytes()
    desk.ingested = len(whole)
    desk.path.write_bytes(whole[:-5])

    with pytest.raises(CorruptLedger, match="restore it from a backup"):
        desk.open().append([added(1)], None, None)
    assert desk.path.read_bytes() == whole[:-5]


def _flip(data: bytes) -> bytes:
    return data[:100] + bytes([data[100] ^ 1]) + data[101:]


def _remove_second(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(lines[:1] + lines[2:])


def _swap(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([lines[1], lines[0], *lines[2:]])


@pytest.mark.parametrize("tamper", [_flip, _remove_second, _swap])
def test_an_altered_journal_is_refused_whole_and_the_place_named(
    desk: Desk, tamper: Callable[[bytes], bytes]
) -> None:
    desk.open().append([added(n) for n in range(4)], None, None)
    desk.path.write_bytes(tamper(desk.path.read_bytes()))

    with pytest.raises(CorruptLedger, match=rf"{desk.path}: event [12] \(at byte"):
        Follower(desk.folder, CounterFold()).catch_up()
    with pytest.raises(CorruptLedger):
        desk.open().append([added(1)], None, None)


def test_an_event_of_another_run_is_corruption(desk: Desk) -> None:
    desk.open().append([added(1)], None, None)
    other = run_folder(desk.home, "run-2")
    other.mkdir()
    (other / JOURNAL).write_bytes(desk.path.read_bytes())

    with pytest.raises(CorruptLedger, match="belongs to run 'run-1'"):
        read_journal(other)


def test_a_journal_that_lost_an_acknowledged_event_is_noticed(desk: Desk) -> None:
    appender = desk.open()
    appender.append([added(1), added(2)], None, None)
    whole = desk.path.read_bytes()
    desk.path.write_bytes(whole[: whole.index(b"\n") + 1])

    with pytest.raises(CorruptLedger, match="event 2 was recorded and is gone"):
        appender.append([added(3)], None, None)


def test_a_line_that_was_seen_but_never_acknowledged_may_vanish(desk: Desk) -> None:
    writer, reader = desk.open(), desk.open()
    writer.append([added(1)], None, None)
    size = desk.path.stat().st_size
    writer.append([added(2)], None, None)
    reader.project()
    os.truncate(desk.path, size)
    desk.open().append([added(7)], None, None)

    assert reader.project()[0].total == 8


def test_a_full_disk_is_a_clear_error_and_changes_nothing(desk: Desk) -> None:
    appender = desk.open()
    appender.append([added(1)], None, None)
    before = desk.path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 200, hard))
    try:
        with pytest.raises(StorageError, match="File too large"):
            appender.append([added(2)], None, None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert desk.path.read_bytes() == before
    assert appender.append([added(2)], None, None).position == 2


class Disk:
    """Counts syncs, and refuses the next one when told to."""

    def __init__(self) -> None:
        self.syncs = 0
        self.refuses = False

    def sync(self, fd: int) -> None:
        self.syncs += 1
        if self.refuses:
            self.refuses = False
            raise OSError(5, "Input/output error")
        sync_file(fd)


def test_a_failed_sync_is_an_error_and_the_run_is_reopened(desk: Desk) -> None:
    disk = Disk()
    appender = desk.open(Hooks(sync=disk.sync))
    appender.append([added(1)], None, None)
    before = desk.path.read_bytes()
    disk.refuses = True

    with pytest.raises(StorageError, match="Input/output error"):
        appender.append([added(2)], None, None)

    assert desk.path.read_bytes() == before
    assert appender.append([added(2)], None, None).state.total == 3


def test_a_replay_of_what_a_dead_process_wrote_is_synced_first(desk: Desk) -> None:
    desk.open().append([added(1, "c1")], None, None)
    disk = Disk()

    desk.open(Hooks(sync=disk.sync)).append([added(1, "c1")], None, None)

    assert disk.syncs == 1


def test_an_append_waits_for_the_lock_only_so_long(desk: Desk) -> None:
    desk.open().append([added(1)], None, None)
    lock = FileLock(desk.folder / "append.lock")
    assert lock.acquire(timeout=0)

    with pytest.raises(StorageError, match="locked by another process"):
        desk.open(timeout=0.05).append([added(1)], None, None)

    lock.close()
    assert desk.open(timeout=5).append([added(1)], None, None).position == 2


def test_a_lock_that_comes_free_is_taken_at_once(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.acquire(timeout=0)
    threading.Timer(0.05, first.release).start()

    began = time.monotonic()
    assert second.acquire(timeout=10)

    assert time.monotonic() - began < 5
    assert not first.acquire(timeout=0.01)
    second.close()
    first.close()


_CHILD = """
import sys
from pathlib import Path
from state.append import Hooks, RunAppender
from tests.state.counter import CounterFold, added
appender = RunAppender(Path(sys.argv[1]), sys.argv[2], CounterFold(), Hooks(),
                       ingested=lambda: 0, notify=print, timeout=30)
for number in range(100000):
    appender.append([added(1, f"{sys.argv[3]}-{number}")], None, None)
    print(number, flush=True)
"""


@pytest.fixture
def child() -> Iterator[Callable[[Desk, str], subprocess.Popen[str]]]:
    children: list[subprocess.Popen[str]] = []

    def start(desk: Desk, name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _CHILD, str(desk.home), RUN, name]
        root = Path(__file__).resolve().parents[2]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
        children.append(process)
        return process

    yield start
    for process in children:
        process.kill()
        process.communicate()


def test_every_acknowledged_event_survives_kill_9(
    desk: Desk, child: Callable[[Desk, str], subprocess.Popen[str]]
) -> None:
    acknowledged = 0
    for attempt in range(4):
        process = child(desk, f"attempt{attempt}")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.013 * (attempt + 1))
        process.kill()
        acknowledged += 1 + len(process.stdout.read().splitlines())

    state, position = desk.open().project()
    assert acknowledged <= position <= acknowledged + 4
    assert state.total == position


_events = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.dictionaries(
            st.text(max_size=4),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, width=32)
                | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
                lambda inner: st.lists(inner, max_size=3),
                max_leaves=4,
            ).filter(lambda value: value not in (float("inf"), float("-inf"))),
            max_size=3,
        ),
    ),
    min_size=1,
    max_size=6,
)  # fmt: skip


def _lines(folder: Path, drafts: list[Draft]) -> list[Line]:
    home = folder.parents[1]
    appender = RunAppender(
        home, RUN, CounterFold(), Hooks(), ingested=lambda: 0, notify=print, timeout=5
    )
    return list(appender._compose([spell_body(draft) for draft in drafts], None, None)[0])


@given(_events, st.data())
def test_reading_in_two_steps_gives_what_was_written(
    events: list[tuple[int, dict[str, object]]], data: st.DataObject
) -> None:
    folder = run_folder(Path("/home"), RUN)
    try:
        drafts = [added(amount, body=body) for amount, body in events]
        lines = _lines(folder, drafts)
    except InvalidRequest:  # an infinity inside a list
        return
    content = b"".join(line.encode() for line in lines)
    cut = data.draw(st.integers(0, len(content)))

    first = scan(content[:cut], START, folder)
    second = scan(content[first.end.offset :], first.end, folder)

    assert [*first.lines, *second.lines] == lines
    assert first.torn == content[first.end.offset : cut]
    assert [line.envelope.body["body"] for line in lines] == [body for _, body in events]


_texts = st.text(max_size=8)


_refs = st.builds(Refs, *[st.none() | _texts] * 4)


@given(st.builds(Envelope, refs=_refs, body=st.dictionaries(_texts, _texts)))
def test_an_envelope_is_spelled_as_canonical_json(envelope: Envelope) -> None:
    fields = asdict(envelope)
    del fields["event"]  # the body once more, as a value
    assert envelope.spell() == canonical_json(fields)
