"""The pace: so much time between two requests, in one process and among several."""

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from adapters.search.pace import Pace
from adapters.search.web import WebSearch
from tests.adapters.search.loopback import Diverted, client_for, serving
from tests.adapters.search.provider_cases import MEDIAWIKI

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[3]


class Clock:
    """A clock that sleeping turns on."""

    def __init__(self, at: float = 1_000.0) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


def paces(clock: Clock, folder: Path) -> list[tuple[str, Callable[[], Pace]]]:
    return [
        ("in one process", lambda: Pace(now=clock.now, sleep=clock.sleep)),
        ("among processes", lambda: Pace(folder, now=clock.now, sleep=clock.sleep)),
    ]


@pytest.mark.parametrize("kind", [0, 1], ids=["in one process", "among processes"])
async def test_requests_to_one_provider_are_an_interval_apart(kind: int, tmp_path: Path) -> None:
    clock = Clock()
    pace = paces(clock, tmp_path / "new" / "pace")[kind][1]()
    starts = []

    for _ in range(3):
        await pace.wait("brave", 2.0)
        starts.append(clock.at)

    assert starts == [1_000.0, 1_002.0, 1_004.0]


async def test_no_provider_waits_for_another() -> None:
    clock = Clock()
    pace = Pace(now=clock.now, sleep=clock.sleep)

    await pace.wait("brave", 2.0)
    await pace.wait("tavily", 2.0)

    assert clock.at == 1_000.0


async def test_nobody_waits_after_the_interval_has_passed() -> None:
    clock = Clock()
    pace = Pace(now=clock.now, sleep=clock.sleep)

    await pace.wait("brave", 2.0)
    clock.at += 5
    await pace.wait("brave", 2.0)

    assert clock.at == 1_005.0


async def test_two_who_name_the_same_folder_keep_one_pace(tmp_path: Path) -> None:
    clock = Clock()
    one, other = (Pace(tmp_path, now=clock.now, sleep=clock.sleep) for _ in range(2))

    await one.wait("brave", 2.0)
    await other.wait("brave", 2.0)

    assert clock.at == 1_002.0


@pytest.mark.parametrize("left", [b"", b"nonsense", b"nan", b"inf", b"-5", b"9" * 80, b"\xff"])
async def test_what_is_found_in_the_file_never_stops_a_search(tmp_path: Path, left: bytes) -> None:
    clock = Clock()
    (tmp_path / "brave.pace").write_bytes(left)

    await Pace(tmp_path, now=clock.now, sleep=clock.sleep).wait("brave", 2.0)

    assert clock.at == 1_000.0


async def test_a_clock_that_was_set_back_makes_nobody_wait_for_hours(tmp_path: Path) -> None:
    clock = Clock()
    pace = Pace(tmp_path, now=clock.now, sleep=clock.sleep)
    await pace.wait("brave", 2.0)
    clock.at -= 86_400

    await pace.wait("brave", 2.0)
    await pace.wait("brave", 2.0)

    assert clock.at == 1_000.0 - 86_400 + 2


async def test_without_a_folder_to_write_in_the_pace_holds_within_the_process(
    tmp_path: Path,
) -> None:
    clock = Clock()
    (tmp_path / "file").touch()
    pace = Pace(tmp_path / "file" / "pace", now=clock.now, sleep=clock.sleep)

    await pace.wait("brave", 2.0)
    await pace.wait("brave", 2.0)

    assert clock.at == 1_002.0


async def test_searches_at_once_share_the_pace_of_the_process() -> None:
    with serving(MEDIAWIKI.empty) as loopback:
        pace = Pace()
        http = Diverted(client_for(loopback.origin), loopback.origin)
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(WebSearch(MEDIAWIKI.provider, http, pace=pace).search, "seeds")

    at = sorted(asked.at for asked in loopback.asked)
    assert len(at) == 3
    assert at[2] - at[0] > 2 * MEDIAWIKI.provider.terms.interval_s - 0.2


def test_processes_take_turns(tmp_path: Path) -> None:
    program = (
        "import anyio, sys, time; from pathlib import Path; from adapters.search.pace import Pace\n"
        "async def main():\n"
        "    pace = Pace(Path(sys.argv[1]))\n"
        "    for _ in range(3):\n"
        "        await pace.wait('brave', 0.2); print(time.time())\n"
        "anyio.run(main)"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    starts = sorted(
        float(at) for child in children for at in child.communicate(timeout=60)[0].split()
    )

    assert [child.returncode for child in children] == [0, 0]
    assert len(starts) == 6
    assert all(later - earlier > 0.15 for earlier, later in pairwise(starts))
