"""Assay's side of a command at work: what it writes is drained, and its limits are kept.

All of it blocks, for as long as the command runs, in a thread of its own.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from adapters.sandbox.cgroups import Group
from adapters.sandbox.port import TAIL_BYTES, Limits, SandboxUnavailable
from adapters.sandbox.processes import descendants
from adapters.sandbox.supervisor import Order, Report

_ROOT = str(Path(__file__).resolve().parents[2])
_START = (
    "import sys; sys.path.append({root!r}); from adapters.sandbox.supervisor import main; main()"
)
_PIECE = 1024 * 1024
_TICK_S = 0.1
_SHARE = 5  # watching takes at most one part in this many of the time
_START_PATIENCE_S = 60.0
_END_PATIENCE_S = 30.0


class Stopped(Exception):
    """The command was ended because nobody waits for it any more."""


class Stop:
    """Tells a thread, at whatever it waits for, to stop."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        """Return what becomes readable when it is time to stop."""
        return self._read

    def set(self) -> None:
        """Say that it is time to stop."""
        os.write(self._write, b".")


Source = int | socket.socket | Stop


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; `status` is that of waitpid(2), `limit` one that Assay enforced."""

    status: int
    limit: str
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int | None
    output_tail: bytes
    output_bytes: int


@dataclass(frozen=True, slots=True)
class Watch:
    """What is kept an eye on besides the time: `is_disk_full` is asked now and then."""

    limits: Limits
    group: Group
    is_disk_full: Callable[[], bool]


class Supervised:
    """A command under its supervisor; when the block ends, all of its processes have."""

    def __init__(self, order: Order, *, descriptors: tuple[int, ...] = (), stop: Stop) -> None:
        self._stop = stop
        self._tail = bytearray()
        self._written = 0
        self._peak = 0
        self._report: Report | None = None
        self._is_output_closed = False
        self._control, theirs = socket.socketpair()
        self._output, output = os.pipe()
        os.set_blocking(self._output, False)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-c", _START.format(root=_ROOT)],
                stdin=theirs.fileno(),
                stdout=output,
                stderr=output,
                cwd="/",
                env={"LC_ALL": "C.UTF-8"},
                pass_fds=descriptors,
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._output)
            self._control.close()
            raise SandboxUnavailable(f"no process could be started: {error}") from error
        finally:
            theirs.close()
            os.close(output)
        self._send(json.dumps(order).encode() + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        try:
            if self._process.returncode is None:
                self._end()
        finally:
            self._control.close()
            os.close(self._output)

    @property
    def pid(self) -> int:
        """Return the supervisor's process."""
        return self._process.pid

    @property
    def said(self) -> str:
        """Return the last line of what was written so far."""
        return self._tail.decode(errors="replace").strip().rpartition("\n")[2]

    def wait_for(self, gate: socket.socket) -> None:
        """Wait until something comes from `gate`; raise `SandboxUnavailable` if it ends before."""
        end = time.monotonic() + _START_PATIENCE_S
        while self._report is None:
            if time.monotonic() > end:
                raise SandboxUnavailable(f"it did not start within {_START_PATIENCE_S:g} seconds")
            if gate in self._ready([gate], end - time.monotonic()):
                if gate.recv(1):
                    return
                break
        self._end()
        error = self._report["error"] if self._report is not None else ""
        raise SandboxUnavailable(error or self.said or "it ended at once, and did not say why")

    def watch(self, watch: Watch) -> Ended:
        """Wait for the end of the command, or bring it about at a limit, and say how it ended.

        Raises `Stopped`, and `SandboxUnavailable` when the supervisor was lost, or could not start
        the command, or could not end it.
        """
        started = time.monotonic()
        limit = self._wait(watch, started)
        wall_s = time.monotonic() - started
        self._end()
        report = self._report
        if report is None:
            raise SandboxUnavailable("the process that watches over the command was killed")
        if report["error"]:
            raise SandboxUnavailable(report["error"])
        if report["left"]:
            raise SandboxUnavailable(f"processes did not end when killed: {report['left']}")
        peak = watch.group.peak_memory_bytes()
        return Ended(
            status=report["status"],
            limit=limit,
            wall_s=wall_s,
            cpu_s=report["cpu_s"],
            peak_memory_bytes=peak or max(self._peak, report["peak_memory_bytes"]),
            output_tail=bytes(self._tail),
            output_bytes=self._written,
        )

    def _wait(self, watch: Watch, started: float) -> str:
        """Return the limit that was met, or '' once the command has ended."""
        end = started + watch.limits.wall_s
        look = started + _TICK_S
        while self._report is None and self._process.poll() is None:
            now = time.monotonic()
            if now >= end:
                return "wall"
            if now >= look:
                if limit := self._limit_met(watch):
                    return limit
                spent = time.monotonic() - now
                look = now + max(_TICK_S, spent * _SHARE)
            self._ready([], max(0.0, min(look, end) - time.monotonic()))
        return ""

    def _limit_met(self, watch: Watch) -> str:
        limits = watch.limits
        found = descendants(self.pid)
        memory = sum(process.memory_bytes for process in found.values())
        self._peak = max(self._peak, memory)
        if sum(process.cpu_s for process in found.values()) > limits.cpu_s:
            return "cpu"
        if watch.group.is_limiting:  # which counts better
            return "disk" if watch.is_disk_full() else ""
        if memory > limits.memory_bytes:
            return "memory"
        if sum(process.threads for process in found.values()) > limits.processes:
            return "processes"
        return "disk" if watch.is_disk_full() else ""

    def _ready(self, more: Sequence[Source], timeout_s: float) -> list[Source]:
        """Wait for something to read; take up output and the report; return what else is ready."""
        ready = self._take(timeout_s, self._stop, *more)
        if self._stop in ready:
            raise Stopped
        return ready

    def _take(self, timeout_s: float, *more: Source) -> list[Source]:
        sources = list(more)
        if self._report is None:
            sources.append(self._control)
        if not self._is_output_closed:
            sources.append(self._output)
        ready = _select(sources, timeout_s)
        if self._output in ready:
            self._drain()
        if self._control in ready:
            self._receive()
        return ready

    def _receive(self) -> None:
        line = bytearray()
        while not line.endswith(b"\n"):
            try:
                piece = self._control.recv(65536)
            except OSError:
                piece = b""
            if not piece:
                return
            line += piece
        self._report = cast(Report, json.loads(line))

    def _drain(self) -> None:
        """Take one piece of output; a second would let a flood keep its limits from being seen."""
        try:
            piece = os.read(self._output, _PIECE)
        except BlockingIOError:
            return
        self._is_output_closed = not piece
        self._written += len(piece)
        self._tail += piece[-TAIL_BYTES:]
        del self._tail[:-TAIL_BYTES]

    def _send(self, data: bytes) -> None:
        try:
            self._control.sendall(data)
        except OSError:
            return  # it has ended: that is seen where its report is waited for

    def _end(self) -> None:
        """Have the supervisor end everything, and itself; take up what was still written and said.

        It may have ended already, with its report sent and not yet read.
        """
        if self._process.returncode is None:
            self._bring_to_its_end()
        if self._report is None and self._control in _select([self._control], 0.0):
            self._receive()
        before = -1
        while before != self._written:
            before = self._written
            self._drain()

    def _bring_to_its_end(self) -> None:
        try:
            self._control.shutdown(socket.SHUT_WR)
        except OSError:
            self._process.poll()
        end = time.monotonic() + _END_PATIENCE_S
        while self._process.poll() is None and time.monotonic() < end:
            if self._is_output_closed:
                self._await_exit(end - time.monotonic())
            else:
                self._take(0.05)
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def _await_exit(self, timeout_s: float) -> None:
        if self._report is None:
            self._receive()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, timeout_s))


def _select(sources: Sequence[Source], timeout_s: float) -> list[Source]:
    poll = select.poll()
    by_number: dict[int, Source] = {}
    for source in sources:
        number = source if isinstance(source, int) else source.fileno()
        poll.register(number, select.POLLIN)
        by_number[number] = source
    return [by_number[number] for number, _ in poll.poll(timeout_s * 1000)]
