"""The lease in the database: lost by whoever is not heard of, and then every append is refused."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from state.errors import Fenced, LeaseHeld
from state.postgres.ledger import PostgresLedger, Waits
from tests.postgres_server import PostgresServer
from tests.state.counter import Counter, added, leased
from tests.state.ledger_contract import child, said
from tests.state.postgres_store import PostgresStore
from tests.tcp_proxy import Proxy, tcp_proxy

SHORT = Waits(lease_s=0.8, lock_s=5, outage_s=0.3)
_DRIVER = """
from state.postgres.ledger import Waits
from state.errors import Fenced
ledger._waits = Waits(lease_s=0.8)
lease = ledger.lease("r1", "driver")
ledger.append("r1", [leased(1)])
print("held", flush=True)
for line in sys.stdin:
    try:
        print(ledger.append("r1", [added(1)], epoch=1).position, flush=True)
    except Fenced as error:
        print("fenced:", error.message, flush=True)
"""


@pytest.fixture
def store(postgres: PostgresServer) -> PostgresStore:
    made = PostgresStore(postgres)
    made.open().append("r1", [added(1)])
    return made


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[Proxy]:
    with tcp_proxy(postgres.port) as running:
        yield running


def _take_when_free(ledger: PostgresLedger[Counter], within_s: float = 5.0) -> float:
    """Take the lease of r1 and give it back; return how long it took to become free."""
    began = time.monotonic()
    while time.monotonic() - began < within_s:
        with suppress(LeaseHeld), ledger.lease("r1", "second"):
            return time.monotonic() - began
        time.sleep(0.02)
    raise AssertionError("the lease never became free")


@pytest.mark.parametrize("somebody_took_it", [True, False])
def test_a_driver_that_was_stopped_too_long_is_fenced_when_it_goes_on(
    store: PostgresStore, somebody_took_it: bool
) -> None:
    ledger = store.open(waits=SHORT)
    with child(store, _DRIVER) as driver:
        assert said(driver) == "held"
        assert driver.stdin is not None
        driver.stdin.write("\n")
        driver.stdin.flush()
        assert said(driver) == "3"

        os.kill(driver.pid, signal.SIGSTOP)
        assert ledger.is_held("r1")
        if somebody_took_it:
            assert _take_when_free(ledger) > 0.1
        else:
            time.sleep(1.0)
        os.kill(driver.pid, signal.SIGCONT)
        driver.stdin.write("\n")
        driver.stdin.flush()

        assert said(driver).startswith("fenced: the lease under which this process executes run")
    assert len(store.open().read("r1")) == 3


def test_a_lease_is_kept_as_long_as_its_holder_lives(store: PostgresStore) -> None:
    ledger, other = store.open(waits=SHORT), store.open(waits=SHORT)
    with ledger.lease("r1", "driver"):
        began = time.monotonic()
        while time.monotonic() - began < 2:
            assert other.is_held("r1")
            with pytest.raises(LeaseHeld, match=rf"pid {os.getpid()} on host .*\(driver\)"):
                other.lease("r1", "second")
            time.sleep(0.1)
        ledger.append("r1", [leased(1), added(1)])
        ledger.append("r1", [added(1)], epoch=1)
    assert not other.is_held("r1")


def test_a_killed_driver_of_this_machine_need_not_be_waited_for(store: PostgresStore) -> None:
    with child(store, _DRIVER.replace("0.8", "600")) as driver:
        assert said(driver) == "held"
        assert store.open().is_held("r1")

    assert store.open().holder("r1") is None
    with store.open().lease("r1", "second"):
        pass


def test_a_killed_driver_of_another_machine_holds_the_run_until_its_lease_runs_out(
    store: PostgresStore,
) -> None:
    ledger = store.open(waits=SHORT)
    with child(store, _DRIVER) as driver:
        assert said(driver) == "held"
        with store.connect() as connection:
            connection.execute("UPDATE run_leases SET process = 'another 4 17'")

    assert ledger.is_held("r1")
    assert 0 < _take_when_free(ledger) < 2


def test_a_driver_that_loses_its_connection_loses_its_run_after_a_while(
    store: PostgresStore, proxy: Proxy
) -> None:
    url = store.server.url(port=proxy.port)
    cut_off, other = store.open(url=url, waits=SHORT), store.open(waits=SHORT)
    with cut_off.lease("r1", "driver"):
        cut_off.append("r1", [leased(1)])
        proxy.close_all()
        assert other.is_held("r1")
        _take_when_free(other)
        proxy.reopen()

        with pytest.raises(Fenced, match="has run out"):
            cut_off.append("r1", [added(1)], epoch=1)
        # Neither may it make itself the driver again under the lease it has lost.
        with pytest.raises(Fenced, match="has run out"):
            cut_off.append("r1", [leased(2)])
        assert cut_off.append("r1", [added(1)]).position == 3  # a command needs no lease


def test_a_short_outage_does_not_cost_a_driver_its_run(store: PostgresStore, proxy: Proxy) -> None:
    ledger = store.open(url=store.server.url(port=proxy.port), waits=Waits(lease_s=2, outage_s=2))
    with ledger.lease("r1", "driver"):
        ledger.append("r1", [leased(1)])
        for _ in range(2):
            proxy.close_all()
            time.sleep(0.7)
            proxy.reopen()
            time.sleep(0.7)

        assert ledger.append("r1", [added(1)], epoch=1).position == 3


def test_each_grant_has_a_higher_epoch(store: PostgresStore) -> None:
    ledger = store.open()
    for number in range(1, 4):
        with ledger.lease("r1", f"driver {number}"):
            found = ledger.query("SELECT epoch, is_live, command FROM leases")
            assert found.rows == ((number, True, f"driver {number}"),)
    assert ledger.query("SELECT * FROM leases").rows == ()


def test_nobody_writes_steps_of_a_run_that_another_process_executes(store: PostgresStore) -> None:
    with child(store, _DRIVER.replace("0.8", "30")) as driver:
        assert said(driver) == "held"

        with pytest.raises(Fenced, match=rf"executed by pid {driver.pid} "):
            store.open().append("r1", [added(1)], epoch=1)
        with pytest.raises(Fenced, match=rf"executed by pid {driver.pid} "):
            store.open().append("r1", [leased(2)])


def test_a_lease_survives_a_restart_of_the_server(store: PostgresStore) -> None:
    ledger = store.open(waits=Waits(lease_s=5))
    with ledger.lease("r1", "driver"):
        ledger.append("r1", [leased(1)])
        store.server.restart("kill")

        assert store.open().is_held("r1")
        assert ledger.append("r1", [added(1)], epoch=1).position == 3


def test_a_forked_child_neither_keeps_nor_releases_the_lease(store: PostgresStore) -> None:
    ledger = store.open()
    lease = ledger.lease("r1", "driver")
    if (pid := os.fork()) == 0:
        lease.release()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0

    assert ledger.is_held("r1")
    lease.release()
    assert not ledger.is_held("r1")
