"""Reads documents in child processes that have little to lose, and ends those that misbehave."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import Process

from adapters.documents.wire import WireError, decode_conversion
from adapters.documents.worker import ANSWER, REQUEST
from state.values.blocks import Conversion, Outcome

_MIB = 1024 * 1024
_PIECE = _MIB
_ROOT = str(Path(__file__).resolve().parents[2])
_START = (
    "import sys; sys.path[:0] = [p for p in {roots!r} if p not in sys.path]; "
    "from adapters.documents.worker import main; main()"
)
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one conversion may use. `wall_s` is enforced from outside, the others by the kernel."""

    wall_s: float = 14.0
    cpu_s: int = 14
    memory_bytes: int = 1024 * _MIB
    input_bytes: int = 50 * _MIB
    output_bytes: int = 48 * _MIB


@dataclass(slots=True)
class _Worker:
    process: Process
    is_last: bool = False

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process.returncode is None

    async def ask(self, request: Iterable[bytes], *, output_bytes: int) -> bytearray | None:
        """Return the answer's body, or None when it is longer than allowed."""
        assert self.process.stdin is not None  # opened as a pipe  # noqa: S101
        for piece in request:
            await self.process.stdin.send(piece)
        last, size = ANSWER.unpack(await self._receive(ANSWER.size))
        self.is_last = bool(last) or size > output_bytes
        return None if size > output_bytes else await self._receive(size)

    async def _receive(self, size: int) -> bytearray:
        assert self.process.stdout is not None  # opened as a pipe  # noqa: S101
        body, reached = bytearray(size), 0
        while reached < size:
            piece = await self.process.stdout.receive(min(_PIECE, size - reached))
            body[reached : reached + len(piece)] = piece
            reached += len(piece)
        return body

    async def end(self) -> int:
        """Kill the process if it still runs, wait for it, and return its exit status."""
        with anyio.CancelScope(shield=True):
            if self.is_alive:
                self.process.kill()
            await self.process.wait()
            await self.process.aclose()
        return self.process.returncode or 0

    async def exit_status(self) -> int:
        """Return how a process ended that has closed its output; kill it if it lingers."""
        with anyio.move_on_after(1.0, shield=True):
            return await self.process.wait()
        return await self.end()


class SandboxedConverter:
    """A `Converter` whose every conversion runs in a child process with limits.

    Up to `pool` warm workers serve many files each; one that crashed, reached a limit or was
    cancelled is killed and replaced. They get only `environment` and no descriptor but their
    pipes, and die with this process (Linux: with the thread that first needed them). They are
    confined: no network, no other process, no file but Python's own and what is at or below
    `readable`, as far as the system offers it (see `confinement`). `function` names what they
    run, `module:function`, found in `roots` or where packages are installed.
    An instance belongs to one event loop.
    """

    def __init__(
        self,
        *,
        pool: int = 2,
        limits: Limits | None = None,
        function: str = "adapters.documents.convert:convert_bytes",
        roots: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        readable: tuple[str, ...] = (),
    ) -> None:
        self._limits = limits or Limits()
        self._function = function
        self._roots = (*roots, _ROOT)
        self._environment = {**(environment or {}), "LC_ALL": "C.UTF-8", "PATH": os.defpath}
        self._readable = readable
        self._slots = anyio.Semaphore(pool)
        self._idle: list[_Worker] = []

    async def convert(self, data: bytes, *, name: str, media_type: str = "") -> Conversion:
        """Return how reading `data` ended; `limit` and `crashed` are about the child process."""
        if len(data) > self._limits.input_bytes:
            allowed = self._limits.input_bytes
            return Conversion(
                Outcome.LIMIT, f"The file has {len(data):,} bytes; at most {allowed:,} are read."
            )
        async with self._slots, self._worker() as worker:
            return await self._converse(worker, _request(data, name, media_type))

    async def aclose(self) -> None:
        """End the workers that are idle; those at work end with their conversion."""
        while self._idle:
            await self._idle.pop().end()

    async def _converse(self, worker: _Worker, request: Iterable[bytes]) -> Conversion:
        limits = self._limits
        try:
            with anyio.move_on_after(limits.wall_s):
                body = await worker.ask(request, output_bytes=limits.output_bytes)
                return self._answer(body)
        except _GONE:
            return self._explain(await worker.exit_status())
        except WireError:
            await worker.end()
            return Conversion(Outcome.CRASHED, "The reader of this file gave no sensible answer.")
        await worker.end()
        return Conversion(
            Outcome.LIMIT, f"Reading the file took longer than {limits.wall_s:g} seconds."
        )

    def _answer(self, body: bytearray | None) -> Conversion:
        if body is None:
            return Conversion(Outcome.LIMIT, "The text of the file is too long.")
        return decode_conversion(body)

    def _explain(self, status: int) -> Conversion:
        if status == -signal.SIGXCPU:
            seconds = self._limits.cpu_s
            return Conversion(
                Outcome.LIMIT,
                f"Reading the file took more than {seconds} seconds of processor time.",
            )
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return Conversion(Outcome.CRASHED, f"The reader of this file stopped unexpectedly ({how}).")

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[_Worker]:
        """Lend a worker; it comes back only if it is alive and nothing went wrong."""
        worker = await self._take()
        is_sound = False
        try:
            yield worker
            is_sound = worker.is_alive and not worker.is_last
        finally:
            if is_sound:
                self._idle.append(worker)
            else:
                await worker.end()

    async def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            await worker.end()
        return await self._start()

    async def _start(self) -> _Worker:
        limits = self._limits
        process = await anyio.open_process(
            [
                *(sys.executable, "-I", "-B", "-c", _START.format(roots=self._roots)),
                *(str(os.getpid()), str(limits.memory_bytes), str(limits.cpu_s), self._function),
                *self._readable,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=self._environment,
            start_new_session=True,
        )
        return _Worker(process)


def _request(data: bytes, name: str, media_type: str) -> Iterator[bytes]:
    """Yield the request in pieces, so that there is never a second copy of the data."""
    names = name.encode("utf-8", "surrogateescape"), media_type.encode("utf-8", "replace")
    yield b"".join((REQUEST.pack(len(names[0]), len(names[1]), len(data)), *names))
    for start in range(0, len(data), _PIECE):
        yield data[start : start + _PIECE]
