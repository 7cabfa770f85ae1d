"""Whatever a command does, it ends within its limits, with all of its processes."""

from dataclasses import replace
from textwrap import dedent

import anyio
import pytest

from adapters.sandbox import cgroups, trees
from adapters.sandbox.port import MIB, TAIL_BYTES, Command
from tests.adapters.sandbox.conftest import SMALL, Bench, said

pytestmark = pytest.mark.anyio

DAEMONS = {
    "in a session of its own": """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)",
                          *sys.argv[1:]], start_new_session=True)
    """,
    "deaf to hang-ups": """
        import signal, subprocess, sys
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)",
                          *sys.argv[1:]], restore_signals=False)
    """,
    "forked twice": """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        time.sleep(0.2)
    """,
}


def limited(**limits: float) -> Command:
    return Command((), limits=replace(SMALL, **limits))  # type: ignore[arg-type]  # ints as floats


@pytest.mark.parametrize("how", DAEMONS)
async def test_what_a_command_leaves_running_ends_with_it(bench: Bench, how: str) -> None:
    """Cases: H 65; measured, a daemon."""
    finished = await bench.python(DAEMONS[how])

    assert (finished.exit_code, finished.limit) == (0, "")
    assert bench.alive() == []


@pytest.mark.parametrize("how", DAEMONS)
async def test_at_the_time_limit_everything_ends_and_the_output_is_kept(
    bench: Bench, how: str
) -> None:
    """Cases: B 13; H 64, 65, 74."""
    slow = f"print('begun', flush=True)\n{dedent(DAEMONS[how])}\nimport time; time.sleep(600)"

    with anyio.fail_after(60):
        finished = await bench.python(slow, command=limited(wall_s=1.5))

    assert (finished.exit_code, finished.limit) == (None, "wall")
    assert said(finished) == "begun"
    assert finished.wall_s >= 1.5
    assert bench.alive() == []


async def test_many_forks_stop_at_the_limit(bench: Bench) -> None:
    bomb = """
    import os, time
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.05)
    """

    with anyio.fail_after(60):
        finished = await bench.python(bomb, command=limited(processes=24, wall_s=1.5))

    assert finished.exit_code is None
    assert finished.limit in {"wall", "processes"}
    assert bench.alive() == []


async def test_a_program_that_gives_up_for_lack_of_processes_is_explained(bench: Bench) -> None:
    if cgroups.available() is None:
        pytest.skip("no control groups here: the watch ends it")
    greedy = """
    import os, time
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(60)
    """

    finished = await bench.python(greedy, command=limited(processes=24))

    assert (finished.exit_code, finished.limit) == (1, "processes")
    assert bench.alive() == []


async def test_memory_is_limited(bench: Bench) -> None:
    greedy = "held = [b'x' * 1024 * 1024 * (n % 2 + 1) for n in range(1024)]"

    finished = await bench.python(greedy, command=limited(memory_bytes=128 * MIB))

    assert finished.exit_code != 0
    assert finished.limit == "memory" or "MemoryError" in said(finished)
    assert finished.peak_memory_bytes is not None
    assert finished.peak_memory_bytes < 400 * MIB


async def test_processor_time_is_limited(bench: Bench) -> None:
    finished = await bench.python("while True: pass", command=limited(cpu_s=1))

    assert (finished.exit_code, finished.limit) == (None, "cpu")
    assert finished.cpu_s > 0.5


async def test_processor_time_of_all_processes_counts_together(bench: Bench) -> None:
    busy = """
    import os, time
    for _ in range(6):  # each far from the limit
        if os.fork() == 0:
            while time.process_time() < 0.3: pass
            os._exit(0)
        os.wait()
    time.sleep(5)
    """

    finished = await bench.python(busy, command=limited(cpu_s=1))

    assert (finished.exit_code, finished.limit) == (None, "cpu")


async def test_disk_is_limited_for_many_files_together(bench: Bench) -> None:
    many = """
    for number in range(200):
        with open(str(number), "wb") as file:
            file.write(b"x" * 1024 * 1024)
    import time; time.sleep(5)
    """

    finished = await bench.python(many, command=limited(disk_bytes=8 * MIB))

    assert finished.exit_code != 0
    assert finished.limit == "disk"


async def test_empty_files_count_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "_FEW_ENTRIES", 1000)
    many = """
    import os, time
    for number in range(2500):
        os.close(os.open(str(number), os.O_CREAT))
    time.sleep(10)
    """

    finished = await bench.python(many, command=limited(disk_bytes=2 * MIB))

    assert (finished.exit_code, finished.limit) == (None, "disk")


async def test_one_file_is_limited(bench: Bench) -> None:
    big = "open('big', 'wb').write(b'x' * 4 * 1024 * 1024)"

    finished = await bench.python(big, command=limited(file_bytes=MIB))

    assert finished.exit_code == 1
    assert "File too large" in said(finished)


async def test_a_flood_of_output_is_counted_and_only_its_end_is_kept(bench: Bench) -> None:
    """Cases: H 74."""
    flood = "yes 0123456789abcde | head -c 100000000; echo end"

    finished = await bench.run("sh", "-c", flood)

    assert finished.output_bytes == 100_000_004
    assert len(finished.output_tail) == TAIL_BYTES
    assert finished.output_tail.endswith(b"0123456789abcde\nend\n")


async def test_an_endless_flood_ends_at_the_time_limit(bench: Bench) -> None:
    with anyio.fail_after(60):
        finished = await bench.run("yes", command=limited(wall_s=1.0))

    assert finished.limit == "wall"


async def test_a_command_that_kills_itself_is_no_success(bench: Bench) -> None:
    """Cases: H 73."""
    finished = await bench.run("sh", "-c", "kill -9 $$")

    assert (finished.exit_code, finished.signal, finished.limit) == (None, 9, "")


async def test_killing_the_process_above_changes_nothing(bench: Bench) -> None:
    """Cases: H 73."""
    finished = await bench.python(
        """
        import os, signal, time
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP):
            try:
                os.kill(os.getppid(), number)
            except PermissionError:
                pass
        time.sleep(0.3)
        print("still here")
        """
    )

    assert (finished.exit_code, said(finished)) == (0, "still here")


async def test_a_program_can_kill_what_it_started(bench: Bench) -> None:
    finished = await bench.python(
        """
        import subprocess
        child = subprocess.Popen(["sleep", "600"])
        child.kill()
        print(child.wait())
        """
    )

    assert said(finished) == "-9"


async def test_whoever_stops_waiting_ends_the_command(bench: Bench) -> None:
    with anyio.move_on_after(1.0) as scope:
        await bench.python("import time; time.sleep(600)")

    assert scope.cancelled_caught
    assert bench.alive() == []


async def test_several_commands_run_at_once(bench: Bench) -> None:
    ended: list[str] = []

    async def one(number: int) -> None:
        ended.append(said(await bench.run("sh", "-c", f"sleep 0.2; echo {number}")))

    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(one, number)

    assert sorted(ended) == ["0", "1", "2", "3"]


async def test_usage_is_told(bench: Bench) -> None:
    finished = await bench.python(
        "import time\nheld = b'x' * 50_000_000\nwhile time.process_time() < 0.3: pass"
    )

    assert finished.cpu_s >= 0.25
    assert finished.peak_memory_bytes is not None
    assert finished.peak_memory_bytes > 40_000_000


async def test_limits_hold_without_control_groups(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "available", lambda: None)
    bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"

    forked = await bench.python(bomb, command=limited(processes=24, wall_s=1.5))
    held = await bench.python("b'x' * 300_000_000", command=limited(memory_bytes=128 * MIB))
    # Its limit on addresses is left out, so that only the watch is in the way.
    grown = await bench.run(
        "env", "node", "-e", "const a=[]; for(;;) a.push(Buffer.alloc(4e6, 1))",
        command=limited(memory_bytes=256 * MIB),
    )  # fmt: skip

    assert forked.limit in {"wall", "processes"}
    assert (held.exit_code, "MemoryError" in said(held)) == (1, True)
    assert grown.exit_code == 127 or grown.limit == "memory"
    assert bench.alive() == []
