"""What a command's end means: its exit code or signal, and which limit explains it."""

import os
import signal
from collections.abc import Mapping

from adapters.sandbox.cgroups import Group
from adapters.sandbox.port import Command, Finished, Level
from adapters.sandbox.supervision import Ended
from adapters.sandbox.trees import read_file

MAX_COLLECTED_BYTES = 8 * 1024 * 1024

_SIGNALS = frozenset(int(known) for known in signal.Signals)


def conclude(
    ended: Ended,
    *,
    level: Level,
    group: Group,
    is_disk_full: bool,
    collected: Mapping[str, bytes],
    through_shell: bool = False,
) -> Finished:
    """Return how the command ended.

    `through_shell` says that what was waited for passes on a signal as shells do, as 128 and it.
    """
    number = os.WTERMSIG(ended.status) if os.WIFSIGNALED(ended.status) else None
    code = os.WEXITSTATUS(ended.status) if number is None else None
    if through_shell and code is not None and code - 128 in _SIGNALS:
        number = code - 128
        code = None
    limit = ended.limit
    if not limit and code != 0:
        limit = _reason(number, group, is_disk_full=is_disk_full)
    return Finished(
        exit_code=None if ended.limit else code,
        signal=number,
        limit=limit,
        level=level,
        wall_s=ended.wall_s,
        cpu_s=ended.cpu_s,
        peak_memory_bytes=ended.peak_memory_bytes,
        output_tail=ended.output_tail,
        output_bytes=ended.output_bytes,
        collected=collected,
    )


def collect(root: int, command: Command) -> dict[str, bytes]:
    """Return the files that `command` asks for, of the workspace that is the open folder `root`."""
    found = {path: read_file(root, path, max_bytes=MAX_COLLECTED_BYTES) for path in command.collect}
    return {path: data for path, data in found.items() if data is not None}


def _reason(number: int | None, group: Group, *, is_disk_full: bool) -> str:
    if number == signal.SIGXCPU:
        return "cpu"
    met = group.limits_met()
    if "memory" in met:
        return "memory"
    if number == signal.SIGXFSZ or is_disk_full:
        return "disk"
    return "processes" if "processes" in met else ""
