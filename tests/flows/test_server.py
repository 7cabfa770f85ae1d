"""Assay's own Prefect server: real processes, killed for real."""

import base64
import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from flows.server import (
    PendingServer,
    Server,
    in_use,
    server_status,
    start_server,
    stop_server,
)
from flows.server_process import Busy, bind, keep_record
from flows.server_record import Place, Record, process_start, read_record, write_record
from state.values.errors import RejectedError, TransientError

ROOT = Path(__file__).resolve().parents[2]
SOON_S = 30.0
EVIL = "http://evil.example"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

START = """
import sys, time
from pathlib import Path
from flows.server import start_server
pending = start_server(Path(sys.argv[1]))
if sys.argv[2] == "wait":
    print(pending.wait(240).pid, flush=True)
else:
    print("spawned", flush=True)
sys.stdin.read()
"""

FLOW = """
import asyncio, sys
from pathlib import Path
from flows import engine
from flows.server import start_server
home = Path(sys.argv[1])
engine.configure(start_server(home).wait(240), home)
from prefect import flow, get_run_logger, task
from prefect.cache_policies import NO_CACHE

@task(cache_policy=NO_CACHE)
async def double(number):
    get_run_logger().warning("doubling %s", number)
    print("", end="")
    return 2 * number

@flow(name="doubles")
async def doubles():
    return sum(await asyncio.gather(*[double(number) for number in range(20)]))

assert asyncio.run(doubles()) == 380
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the tests one home, for the first start makes its database, and stop its server."""
    folder = tmp_path_factory.mktemp("home")
    yield folder
    stop_server(folder)


@pytest.fixture(autouse=True)
def not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def up(home: Path) -> Iterator[Callable[..., Server]]:
    """Return a function that starts or finds the server; its uses end with the test."""
    pending: list[PendingServer] = []

    def start(idle_minutes: float = 30.0) -> Server:
        pending.append(start_server(home, idle_minutes=idle_minutes))
        return pending[-1].wait(240)

    yield start
    for one in pending:
        one.release()


def child(home: Path, what: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, str(home), what],
        cwd=ROOT,
        env=os.environ | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def ask(
    server: Server,
    method: str,
    path: str,
    body: object = None,
    *,
    auth: bool = True,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, object, dict[str, str]]:
    headers = dict(headers or {})
    if auth:
        token = base64.b64encode(server.auth_string.encode()).decode()
        headers["Authorization"] = f"Basic {token}"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        names = {name.lower(): value for name, value in response.getheaders()}
        return response.status, json.loads(text) if text[:1] in b'{["' else text, names
    finally:
        connection.close()


def with_token(server: Server, path: str, body: object) -> object:
    _, token, _ = ask(server, "GET", "/api/csrf-token?client=test")
    assert isinstance(token, dict)
    _, answer, _ = ask(
        server,
        "POST",
        path,
        body,
        headers={
            "Content-Type": "application/json",
            "Prefect-Csrf-Token": token["token"],
            "Prefect-Csrf-Client": "test",
        },
    )
    return answer


def gone(home: Path, within_s: float = SOON_S) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if server_status(home).state == "down":
            return True
        time.sleep(0.1)
    return False


def ended(pid: int) -> bool:
    """Tell whether `pid` is gone, allowing for the moment between its locks and itself."""
    deadline = time.monotonic() + 5
    while process_start(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not process_start(pid)


def record_of(home: Path) -> Record:
    record = read_record(Place.of(home))
    assert record is not None
    return record


def test_six_processes_that_start_at_once_get_one_server(home: Path) -> None:
    children = [child(home, "wait") for _ in range(6)]

    pids = {first_line(one) for one in children}
    for one in children:
        end(one)

    assert pids == {str(record_of(home).pid)}


def test_a_second_command_uses_the_server_of_the_first(up: Callable[..., Server]) -> None:
    first, second = up(), up()

    assert second == replace(first, started_here=False)
    assert second.version == record_of_version()


def record_of_version() -> str:
    from importlib.metadata import version

    return version("prefect")


def test_status_says_who_serves_and_whether_it_is_used(
    home: Path, up: Callable[..., Server]
) -> None:
    server = up()

    status = server_status(home)

    assert status.state == "up"
    assert status.used
    assert status.server == replace(server, started_here=False)
    assert server.auth_string not in repr(status)


def test_what_the_server_keeps_is_for_its_owner_only(home: Path, up: Callable[..., Server]) -> None:
    up()

    place = Place.of(home)

    assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700
    for path in (place.record, place.log, place.folder / "prefect.db"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_secret_is_in_no_command_line_and_no_environment(up: Callable[..., Server]) -> None:
    """Cases: H 67."""
    server = up()
    secret = server.auth_string.partition(":")[2].encode()

    process = Path(f"/proc/{server.pid}")

    assert secret not in (process / "cmdline").read_bytes()
    assert secret not in (process / "environ").read_bytes()


def test_the_server_inherits_no_descriptor_no_session_and_no_secret(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stop_server(home)
    monkeypatch.setenv("EXAMPLE_API_KEY", "sk-not-for-servers")
    with (tmp_path / "mine").open("w") as mine:
        os.set_inheritable(mine.fileno(), True)
        pending = start_server(home)
        server = pending.wait(240)
    pending.release()

    process = Path(f"/proc/{server.pid}")
    targets = set()
    for path in (process / "fd").iterdir():
        with suppress(FileNotFoundError):  # the server goes on opening and closing files
            targets.add(path.readlink())

    assert tmp_path / "mine" not in targets
    assert (process / "fd/0").readlink() == Path(os.devnull)
    assert (process / "fd/1").readlink() == Place.of(home).log
    assert b"sk-not-for-servers" not in (process / "environ").read_bytes()
    assert os.getsid(server.pid) != os.getsid(0)


def test_without_the_secret_nothing_is_answered(up: Callable[..., Server]) -> None:
    server = up()

    status, _, _ = ask(server, "GET", "/api/admin/settings", auth=False)

    assert status == 401


def test_another_origin_cannot_create_a_flow_run_even_with_the_secret(
    up: Callable[..., Server],
) -> None:
    server = up()
    body = {"name": "evil"}
    simple = {"Origin": EVIL, "Content-Type": "text/plain"}

    stranger, _, _ = ask(server, "POST", "/api/flows/", body, auth=False, headers=simple)
    logged_in, _, headers = ask(server, "POST", "/api/flows/", body, headers=simple)
    flows = with_token(server, "/api/flows/filter", {})

    assert (stranger, logged_in) == (403, 403)
    assert headers.get("access-control-allow-origin") not in ("*", EVIL)
    assert isinstance(flows, list)
    assert "evil" not in {flow["name"] for flow in flows}


def test_another_origin_may_not_read_answers(up: Callable[..., Server]) -> None:
    server = up()

    _, _, headers = ask(server, "GET", "/api/admin/version", headers={"Origin": EVIL})
    asks = {"Origin": EVIL, "Access-Control-Request-Method": "POST"}
    preflight, _, allowed = ask(server, "OPTIONS", "/api/flows/", headers=asks)

    assert "access-control-allow-origin" not in headers
    assert preflight == 400
    assert "access-control-allow-origin" not in allowed


def test_the_page_for_people_is_served(home: Path, up: Callable[..., Server]) -> None:
    server = up()

    status, page, _ = ask(server, "GET", "/v2/", auth=False, headers={"Accept": "text/html"})

    assert status == 200
    assert isinstance(page, bytes)
    assert b"<script" in page


@pytest.mark.parametrize("place", ["/", "/v2/", "/api/", "/v2/assets/"])
def test_no_path_leads_out_of_the_pages(place: str, home: Path, up: Callable[..., Server]) -> None:
    """Cases: F 49. What is looked for holds the secret, some folders above the pages."""
    server = up()
    record = Place.of(home).record
    upward = ["../", "%2e%2e/", "..%2f", "%2e%2e%2f", "..%5c", "%252e%252e%252f", ".%2e/"]
    paths = [place + lead * 9 + str(record).lstrip("/") for lead in upward]
    paths += [place + lead * depth + record.name for lead in upward for depth in (1, 2, 3)]
    paths += [f"{place}%00", f"{place}..", f"{place}%2e%2e"]

    for path in paths:
        status, answer, headers = ask(server, "GET", path, headers={"Accept": "text/html"})

        assert (status, answer) == (404, b"Not found"), path
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_short_flow_leaves_all_its_records_and_nothing_on_the_terminal(
    home: Path, up: Callable[..., Server]
) -> None:
    server = up()

    ran = subprocess.run(
        [sys.executable, "-c", FLOW, str(home)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    doubles = {"flows": {"name": {"any_": ["doubles"]}}}
    deadline = time.monotonic() + SOON_S
    states: list[str] = []
    while len(states) < 20 and time.monotonic() < deadline:
        runs = with_token(server, "/api/task_runs/filter", doubles)
        assert isinstance(runs, list)
        states = [run["state_type"] for run in runs if run["state_type"] == "COMPLETED"]
        time.sleep(0.2)
    assert len(states) == 20
    logs = with_token(server, "/api/logs/filter", {"limit": 100})
    assert isinstance(logs, list)
    assert sum("doubling" in log["message"] for log in logs) == 20


def test_after_kill_9_the_next_start_takes_port_and_secret_over(
    up: Callable[..., Server],
) -> None:
    killed = up()
    os.kill(killed.pid, signal.SIGKILL)

    server = up()

    assert server.pid != killed.pid
    assert server.started_here
    assert (server.port, server.auth_string) == (killed.port, killed.auth_string)


def test_a_stale_record_whose_pid_is_now_another_process_is_not_believed(
    home: Path, up: Callable[..., Server]
) -> None:
    up()
    record = record_of(home)
    stop_server(home)
    write_record(Place.of(home), replace(record, pid=os.getpid()))

    server = up()

    assert server.pid != os.getpid()


def test_a_stranger_on_the_recorded_port_is_not_used(home: Path, up: Callable[..., Server]) -> None:
    up()
    record = record_of(home)
    stop_server(home)
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        taken = int(stranger.getsockname()[1])
        write_record(Place.of(home), replace(record, port=taken))

        server = up()

        stranger.settimeout(0.2)
        with pytest.raises(TimeoutError):
            stranger.accept()  # it was not even spoken to
    assert server.port != taken
    assert server.auth_string != record.auth_string


def test_a_server_of_another_prefect_is_replaced_when_nobody_uses_it(
    home: Path, up: Callable[..., Server]
) -> None:
    pending = start_server(home)
    pending.wait(240)
    pending.release()
    old = record_of(home)
    write_record(Place.of(home), replace(old, version="3.0.0"))

    server = up()

    assert server.pid != old.pid
    assert server.version == record_of_version()
    assert ended(old.pid)


def test_a_server_of_another_prefect_is_left_alone_while_others_use_it(
    home: Path, up: Callable[..., Server]
) -> None:
    old = up()
    write_record(Place.of(home), replace(record_of(home), version="3.0.0"))

    other = start_server(home)
    other.release()

    assert record_of(home).pid == old.pid
    assert process_start(old.pid)
    stop_server(home)


def test_a_start_that_was_killed_leaves_the_locks_free(
    home: Path, up: Callable[..., Server]
) -> None:
    stop_server(home)
    starter = child(home, "spawn")
    first_line(starter)
    end(starter)

    server = up()

    assert server_status(home).state == "up"
    assert server.pid == record_of(home).pid


def test_a_server_that_is_killed_while_it_starts_is_started_again(home: Path) -> None:
    stop_server(home)
    pending = start_server(home)
    os.kill(record_of(home).pid, signal.SIGKILL)

    server = pending.wait(240)
    pending.release()

    assert server.pid == record_of(home).pid


def test_an_idle_server_ends_but_not_under_a_client(home: Path, up: Callable[..., Server]) -> None:
    stop_server(home)
    with in_use(home):
        pending = start_server(home, idle_minutes=0.01)
        pending.wait(240)
        pending.release()
        time.sleep(3)

        assert server_status(home).state == "up"

    assert gone(home)
    assert not Place.of(home).record.exists()


def test_in_ci_the_server_ends_with_the_command_even_when_that_is_killed(home: Path) -> None:
    stop_server(home)
    command = child(home, "wait", CI="true")
    assert first_line(command) == str(record_of(home).pid)

    end(command)

    assert gone(home)


def test_stopping_ends_the_server_and_forgets_its_secret(
    home: Path, up: Callable[..., Server]
) -> None:
    server = up()

    assert not stop_server(home, unless_used=True)
    assert stop_server(home)

    assert ended(server.pid)
    assert not Place.of(home).record.exists()
    assert not stop_server(home)


def test_a_server_that_does_not_listen_to_sigterm_is_killed(
    home: Path, up: Callable[..., Server]
) -> None:
    server = up()
    os.kill(server.pid, signal.SIGSTOP)

    assert stop_server(home, grace_s=0.5)

    assert gone(home, 1)


def test_a_process_that_is_not_the_server_is_never_stopped(
    home: Path, up: Callable[..., Server]
) -> None:
    up()
    record = record_of(home)
    with subprocess.Popen(["sleep", "60"]) as stranger:
        write_record(Place.of(home), replace(record, pid=stranger.pid))

        with pytest.raises(RejectedError, match="is not the server"):
            stop_server(home)

        assert stranger.poll() is None
        stranger.kill()
    write_record(Place.of(home), record)


def test_a_server_that_cannot_start_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    place = Place.of(tmp_path)
    (place.folder / "prefect.db").write_bytes(b"this is not a database" * 100)
    pending = start_server(tmp_path)

    with pytest.raises(TransientError, match="not a database") as caught:
        pending.wait(240)
    pending.release()

    assert str(place.log) in caught.value.message
    assert server_status(tmp_path).state == "down"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', "null", "\x00"])
def test_a_damaged_record_is_no_record(tmp_path: Path, text: str) -> None:
    place = Place.of(tmp_path)
    place.record.write_text(text)

    assert read_record(place) is None


def test_a_record_with_a_wrong_type_is_no_record(tmp_path: Path) -> None:
    place = Place.of(tmp_path)
    good = asdict(Record(2, "1", 3, "3.9.1", "s"))
    for name in good:
        place.record.write_text(json.dumps(good | {name: [1]}))

        assert read_record(place) is None


@pytest.mark.parametrize("left", [None, '{"pid":'])
def test_a_server_writes_its_record_again_when_it_was_deleted_or_damaged(
    tmp_path: Path, left: str | None
) -> None:
    place = Place.of(tmp_path)
    ours = Record(pid=os.getpid(), started="1", port=4200, version="3", secret="s" * 32)
    if left is not None:
        place.record.write_text(left)

    keep_record(place, ours)

    assert read_record(place) == ours


def test_a_server_whose_folder_is_gone_goes_on_serving_those_who_know_it(tmp_path: Path) -> None:
    place = Place.of(tmp_path)
    place.folder.rmdir()

    keep_record(place, Record(pid=2, started="1", port=4200, version="3", secret="s" * 32))

    assert not place.folder.exists()


def test_the_wait_after_a_locked_database_grows_while_it_stays_locked() -> None:
    busy = Busy()

    waits = [float(busy.retry_after()[1]) for _ in range(12)]

    assert waits[:3] == [0.1, 0.2, 0.4]
    assert max(waits) == 8.0


def test_the_server_answers_without_the_delay_of_nagles_algorithm() -> None:
    with bind(None) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_free_port_is_taken_again_and_a_taken_one_is_not() -> None:
    with bind(None) as first:
        port = first.getsockname()[1]
        first.listen()
        with bind(port) as second:
            assert second.getsockname()[1] != port

    with bind(port) as again:
        assert again.getsockname()[1] == port
