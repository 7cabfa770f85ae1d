"""A sandbox for tests of flows: it runs nothing, and gives the results it was made with."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from adapters.sandbox.commands import check
from adapters.sandbox.port import TAIL_BYTES, Command, Finished, Level, SandboxUnavailable


def finished(
    exit_code: int | None = 0,
    *,
    output: bytes = b"",
    limit: str = "",
    signal: int | None = None,
    collected: dict[str, bytes] | None = None,
) -> Finished:
    """Return a result as a command would give that took a second."""
    return Finished(
        exit_code=exit_code,
        signal=signal,
        limit=limit,
        level=Level.NAMESPACES,
        wall_s=1.0,
        cpu_s=1.0,
        peak_memory_bytes=None,
        output_tail=output[-TAIL_BYTES:],
        output_bytes=len(output),
        collected=collected or {},
    )


@dataclass(slots=True)
class FakeSandbox:
    """Gives `results` one by one, raises those that are errors, and keeps what it was asked.

    When they run out it is unavailable. Commands that make no sense are refused as ever.
    """

    results: Iterable[Finished | SandboxUnavailable]
    level: Level = Level.NAMESPACES
    asked: list[Command] = field(default_factory=list[Command])
    asked_in_place: list[Command] = field(default_factory=list[Command])

    def __post_init__(self) -> None:
        self.results = iter(self.results)

    async def run(self, workspace: Path, command: Command) -> Finished:
        """Return the next result; `workspace` is not touched."""
        check(workspace, command)
        self.asked.append(command)
        return self._next(command)

    async def run_in_place(self, workspace: Path, command: Command) -> Finished:
        """Return the next result; `workspace` is not touched."""
        check(workspace, command)
        self.asked_in_place.append(command)
        return self._next(command)

    def _next(self, command: Command) -> Finished:
        result = next(iter(self.results), None)
        if result is None:
            raise SandboxUnavailable(f"no result is left for {' '.join(command.argv)}")
        if isinstance(result, SandboxUnavailable):
            raise result
        wanted = {
            path: result.collected[path] for path in command.collect if path in result.collected
        }
        return replace(result, level=self.level, collected=wanted)
