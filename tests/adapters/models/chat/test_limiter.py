"""One limiter for a provider, over all tasks and processes of the machine."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from adapters.models.chat.errors import ModelUnavailable
from adapters.models.chat.limiter import Limiter

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[4]
HOLD = """
import sys, anyio
from pathlib import Path
from adapters.models.chat.limiter import Limiter

async def hold():
    async with Limiter(Path(sys.argv[1]), at_once=1).turn("p"):
        print("held", flush=True)
        await anyio.sleep_forever()

anyio.run(hold)
"""


@contextmanager
def holder(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run a process that holds the only turn."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


@pytest.fixture(params=[True, False], ids=["files", "process"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "limits" if request.param else None


async def use(limiter: Limiter, provider: str, *, tasks: int, hold_s: float) -> tuple[int, float]:
    """Return how many were at it at once at the most, and how long all took."""
    now = most = 0

    async def one() -> None:
        nonlocal now, most
        async with limiter.turn(provider):
            now += 1
            most = max(most, now)
            await anyio.sleep(hold_s)
            now -= 1

    before = time.monotonic()
    async with anyio.create_task_group() as group:
        for _ in range(tasks):
            group.start_soon(one)
    return most, time.monotonic() - before


async def test_no_more_than_allowed_are_at_it_at_once(folder: Path | None) -> None:
    most, _ = await use(Limiter(folder, at_once=2), "p", tasks=6, hold_s=0.05)

    assert most == 2


async def test_two_providers_do_not_wait_for_each_other(folder: Path | None) -> None:
    limiter = Limiter(folder, at_once=1)

    async with limiter.turn("a"):
        with anyio.fail_after(1):
            async with limiter.turn("b"):
                pass


async def test_starts_are_an_interval_apart(folder: Path | None) -> None:
    _, seconds = await use(Limiter(folder, interval_s=0.1), "p", tasks=4, hold_s=0)

    assert 0.3 <= seconds < 1


async def test_after_a_refusal_nobody_asks_for_as_long_as_was_said(folder: Path | None) -> None:
    first = Limiter(folder)
    other = Limiter(folder) if folder else first
    first.back_off("p", 0.3)

    _, seconds = await use(other, "p", tasks=2, hold_s=0)

    assert 0.25 <= seconds < 1.5


async def test_a_turn_ends_with_an_error_too(folder: Path | None) -> None:
    limiter = Limiter(folder, at_once=1)
    with pytest.raises(ValueError, match="oops"):
        async with limiter.turn("p"):
            raise ValueError("oops")

    with anyio.fail_after(1):
        async with limiter.turn("p"):
            pass


async def test_another_process_holds_its_turn_until_it_is_killed(tmp_path: Path) -> None:
    limiter = Limiter(tmp_path, at_once=1)
    with holder(tmp_path) as process:
        with anyio.move_on_after(0.3) as scope:
            async with limiter.turn("p"):
                pass
        assert scope.cancelled_caught

        process.kill()

        with anyio.fail_after(5):
            async with limiter.turn("p"):
                pass


async def test_whoever_gets_no_turn_is_told(tmp_path: Path) -> None:
    limiter = Limiter(tmp_path, at_once=1, patience_s=0.1)

    async with limiter.turn("p"):
        with pytest.raises(ModelUnavailable, match="no turn came"):
            async with limiter.turn("p"):
                pass


async def test_a_pause_from_a_clock_that_was_set_back_is_none(tmp_path: Path) -> None:
    (tmp_path / "p.pause").write_text("99999999999.0")

    with anyio.fail_after(1):
        async with Limiter(tmp_path).turn("p"):
            pass


async def test_a_damaged_file_is_no_limit(tmp_path: Path) -> None:
    (tmp_path / "p.pause").write_bytes(b"\xff\x00 no number")

    with anyio.fail_after(1):
        async with Limiter(tmp_path).turn("p"):
            pass


async def test_a_folder_that_cannot_be_written_leaves_the_limit_of_the_process(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("no folder")

    most, _ = await use(Limiter(tmp_path / "file", at_once=2), "p", tasks=5, hold_s=0.02)

    assert most == 2


def test_a_provider_may_have_any_name(tmp_path: Path) -> None:
    async def take_a_turn() -> None:
        async with Limiter(tmp_path).turn("http://127.0.0.1:8080/../x?ü"):
            pass

    anyio.run(take_a_turn)

    assert list(tmp_path.iterdir())
    assert not list(tmp_path.parent.glob("x*"))
