"""What a sandboxed program cannot do to this machine: each attempt is really made, and fails."""

import json
import platform
import secrets
from pathlib import Path

import anyio
import pytest

from adapters.sandbox.beside import UnconfinedSandbox
from adapters.sandbox.port import Command, Level, SandboxUnavailable
from adapters.sandbox.probe import probe
from tests.adapters.sandbox.conftest import SMALL, Bench, Machine, carrying, names_in, said

pytestmark = pytest.mark.anyio

_ATTEMPTS = """
import ctypes, json, os, resource, socket, stat, sys
FILE, FOLDER, PORT, ABSTRACT, PROCESS = {targets!r}
libc = ctypes.CDLL(None, use_errno=True)

def call(*args):
    if libc.syscall(*args) < 0:
        raise OSError(ctypes.get_errno(), "refused")

for what, code in {attempts!r}.items():
    child = os.fork()
    if child == 0:
        try:
            exec(code)
            said = "done"
        except Exception as error:
            said = f"refused: {{error!r}}"
        os.write(1, (json.dumps([what, said]) + "\\n").encode())
        os._exit(0)
    os.waitpid(child, 0)
"""

NETWORK = {
    "TCP": "socket.create_connection(('127.0.0.1', PORT), 5)",
    "an abstract socket": "socket.socket(socket.AF_UNIX).connect(chr(0) + ABSTRACT)",
    "a socket among the files": "socket.socket(socket.AF_UNIX).connect(FOLDER + '/service')",
    "the host below a virtual machine": "socket.socket(40, socket.SOCK_STREAM)",
    "raw packets": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "io_uring": "call(425, 4, bytes(120))",
}

FILES = {
    "read a file": "open(FILE).read()",
    "list its folder": "os.listdir(FOLDER)",
    "read hashes of passwords": "open('/etc/shadow').read()",
    "list homes": "os.listdir('/home')",
    "list the home of the superuser": "os.listdir('/root') and open('/root/.bashrc').read()",
    "read by a link": "os.symlink(FILE, 'link'); open('link').read()",
    "read by a second name": "os.link(FILE, 'second'); open('second').read()",
    "write to it": "open(FILE, 'a').write('x')",
    "truncate it": "os.truncate(FILE, 0)",
    "remove it": "os.remove(FILE)",
    "rename it": "os.rename(FILE, FOLDER + '/other')",
    "make a file": "open(FOLDER + '/new', 'w')",
    "make a folder": "os.mkdir(FOLDER + '/new')",
    "write to the system": "open('/usr/lib/new', 'w')",
    "write to settings": "open('/etc/new', 'w')",
    "make a device": "os.mknod('disk', stat.S_IFBLK | 0o666, os.makedev(8, 0))",
    "read memory": "open('/dev/mem', 'rb').read(1)",
    "read the kernel's messages": "open('/dev/kmsg', 'rb').read(1)",
}

PROCESSES = {
    "end another": "os.kill(PROCESS, 9)",
    "see another": "os.kill(PROCESS, 0)",
    "read its environment": "open(f'/proc/{PROCESS}/environ').read()",
    "read its command line": "open(f'/proc/{PROCESS}/cmdline').read()",
    "trace it": "call(101, 16, PROCESS, 0, 0)",
    "limit it": "resource.prlimit(PROCESS, resource.RLIMIT_CPU, (1, 1))",
    "become the superuser": "os.setuid(0)",
    "take a file of another's": "os.chown('/usr', os.getuid(), -1)",
    "make namespaces": "call(272, 0x10000000)",
    "make namespaces while forking": "call(56, 0x10000011, 0, 0, 0, 0)",
    "mount": "call(165, b'none', b'/tmp', b'tmpfs', 0, 0)",
    "read keys": "call(250, 0, -3, 0)",
    "load programs into the kernel": "call(321, 0, 0, 0)",
    "raise a limit": "resource.setrlimit(resource.RLIMIT_NOFILE, (10**6, 10**6))",
}


ATTEMPTS = {**NETWORK, **FILES, **PROCESSES}

LEFT = {
    "send a datagram": "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', PORT))",
    "change the mode of a file": "os.chmod(FILE, 0)",
    "change the times of a file": "os.utime(FILE, (1, 1))",
}


@pytest.fixture(scope="session")
def attempted() -> dict[Level, dict[str, str]]:
    """Return what came of the attempts at each level: one command makes them all."""
    return {}


@pytest.fixture
async def outcomes(
    bench: Bench, machine: Machine, attempted: dict[Level, dict[str, str]]
) -> dict[str, str]:
    level = bench.sandbox.level
    if level not in attempted:
        targets = (
            *(str(machine.file), str(machine.folder)),
            *(machine.port, machine.abstract, machine.process),
        )
        attempts = {**ATTEMPTS, **LEFT}
        finished = await bench.python(_ATTEMPTS.format(targets=targets, attempts=attempts))
        lines = said(finished).splitlines()
        attempted[level] = dict(json.loads(line) for line in lines)
    return attempted[level]


@pytest.mark.parametrize("what", ATTEMPTS)
async def test_reaching_out_is_refused(outcomes: dict[str, str], what: str) -> None:
    if "call(" in ATTEMPTS[what] and platform.machine() != "x86_64":
        pytest.skip("calls are attempted by their numbers on x86_64")

    assert outcomes[what].startswith("refused: "), outcomes[what]


async def test_nothing_changed_and_nothing_arrived(
    outcomes: dict[str, str], machine: Machine
) -> None:
    assert outcomes.keys() >= LEFT.keys()
    assert machine.state() == machine.before
    assert machine.received() == b""
    assert machine.is_running()


async def test_the_environment_holds_nothing_of_ours(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: measured, a secret of the environment."""
    monkeypatch.setenv("ASSAY_KEY", "secret")
    command = Command((), environment={"GIVEN": 'it\'s "this"\n$HOME'}, limits=SMALL)

    finished = await bench.python("import os; print(dict(os.environ))", command=command)

    seen = eval(said(finished))
    assert seen.pop("GIVEN") == 'it\'s "this"\n$HOME'
    shell = {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}
    assert seen.keys() - shell == {"PATH", "HOME", "LANG", "TMPDIR", "CI"}


async def test_no_process_in_sight_tells_a_secret(bench: Bench, machine: Machine) -> None:
    """Cases: H 67."""
    finished = await bench.python(
        """
        import os
        seen = b""
        for path in ["/proc/self", "/proc/thread-self", f"/proc/{os.getppid()}", "/proc/1"] + [
            f"/proc/{number}" for number in range(max(1, LAST - 300), LAST)
        ]:
            for name in ("environ", "cmdline"):
                try:
                    seen += open(f"{path}/{name}", "rb").read()
                except OSError:
                    pass
        print(seen)
        """.replace("LAST", str(machine.process + 1))
    )

    assert finished.exit_code == 0
    assert machine.secret not in said(finished)
    assert "ASSAY_HOME" not in said(finished)


async def test_no_command_line_of_this_machine_tells_what_a_command_is_given(bench: Bench) -> None:
    """Cases: H 67. Looked at from outside, where every user may read them, while it runs."""
    secret = secrets.token_hex(16)
    command = Command((), environment={"GIVEN": secret}, limits=SMALL)
    running = False
    told: list[int] = []

    async def look() -> None:
        nonlocal running
        while True:
            running = running or bool(bench.alive())
            told.extend(carrying(secret))
            await anyio.sleep(0.02)

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        code = "import os, time; time.sleep(0.5); print(os.environ['GIVEN'])"
        finished = await bench.python(code, command=command)
        group.cancel_scope.cancel()

    assert said(finished) == secret
    assert running
    assert told == []


async def test_another_command_is_out_of_reach(bench: Bench, tmp_path: Path) -> None:
    """Two commands run at once, and one looks for what the other leaves in its folder."""
    other = Bench(bench.sandbox, tmp_path / "other", mark=bench.mark)
    other.workspace.mkdir()
    find = """
    import os, time
    open("mine", "w").write("other's")
    end = time.monotonic() + 3
    seen = set()
    for _ in range(5):
        for place, _, names in os.walk("/tmp"):
            seen |= {os.path.join(place, name) for name in names if name == "mine"}
        time.sleep(0.1)
    print(sorted(path for path in seen if not path.startswith(os.getcwd())))
    """

    async with anyio.create_task_group() as group:
        group.start_soon(other.python, find)
        finished = await bench.python(find)

    assert said(finished) == "[]"


async def test_descriptors_of_ours_are_not_passed_on(bench: Bench) -> None:
    finished = await bench.python(
        """
        import os
        for number in range(3, 256):
            try:
                os.fstat(number)
                print(number)
            except OSError:
                pass
        """
    )

    assert (finished.exit_code, said(finished)) == (0, "")


async def test_there_is_no_terminal_and_no_input(bench: Bench) -> None:
    finished = await bench.python(
        """
        import os, sys
        print(repr(sys.stdin.read()), os.getsid(0) == os.getsid(os.getpid()))
        try:
            os.open("/dev/tty", os.O_RDWR)
        except OSError:
            print("none")
        """
    )

    assert said(finished).splitlines() == ["'' True", "none"]


async def test_the_shown_folder_can_be_read_but_not_written(bench: Bench, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "data.txt").write_text("shown")
    command = Command((), read_only=(shown,), limits=SMALL)

    read = await bench.run("cat", str(shown / "data.txt"), command=command)
    written = await bench.run("touch", str(shown / "new"), command=command)

    assert (said(read), read.exit_code) == ("shown", 0)
    assert written.exit_code == 1
    assert names_in(shown) == ["data.txt"]


def test_the_probe_sees_through_what_does_not_confine() -> None:
    with pytest.raises(SandboxUnavailable, match=r"does not keep a program from .*other files"):
        probe(UnconfinedSandbox())
