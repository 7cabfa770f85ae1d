"""Broken connections, restarted servers, refused passwords: every append is told as it ended."""

import os
from collections.abc import Iterator
from contextlib import suppress

import pytest

from state.append import Hooks
from state.errors import StorageError
from state.postgres.ledger import PostgresLedger, Waits
from state.values.errors import InvalidRequest
from tests.postgres_server import PASSWORD, PostgresServer
from tests.state.counter import Counter, CounterFold, added, leased
from tests.state.postgres_store import PostgresStore
from tests.tcp_proxy import Moment, Proxy, tcp_proxy

BRIEF = Waits(lease_s=5, lock_s=2, outage_s=5)


@pytest.fixture
def store(postgres: PostgresServer) -> PostgresStore:
    return PostgresStore(postgres)


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[Proxy]:
    with tcp_proxy(postgres.port) as running:
        yield running


def _through(store: PostgresStore, proxy: Proxy) -> PostgresLedger[Counter]:
    return store.open(url=store.server.url(port=proxy.port), waits=BRIEF)


@pytest.mark.parametrize("moment", ["before", "after", "half-open"])
@pytest.mark.parametrize("message", range(3))
def test_an_append_whose_connection_is_cut_is_recorded_once(
    store: PostgresStore, proxy: Proxy, message: int, moment: Moment
) -> None:
    ledger = _through(store, proxy)
    ledger.append("r1", [added(1)])

    proxy.cut_at(message, moment)
    receipts = [ledger.append("r1", [added(2), added(3)]), ledger.append("r1", [added(4)])]

    assert proxy.cuts == 1
    assert [receipt.position for receipt in receipts] == [3, 4]
    kept = store.open().read("r1")
    assert [line.envelope.body["amount"] for line in kept] == [1, 2, 3, 4]
    assert [*receipts[0].lines, *receipts[1].lines] == kept[1:]
    assert store.open().verify().is_sound


@pytest.mark.parametrize("message", range(14))
def test_a_first_append_that_is_cut_off_is_recorded_once_or_refused(
    store: PostgresStore, proxy: Proxy, message: int
) -> None:
    proxy.cut_at(message, "after")

    recorded = 0
    with suppress(StorageError):
        recorded = _through(store, proxy).append("r1", [added(1)]).position

    kept = store.open().read("r1") if store.open().exists("r1") else []
    assert len(kept) == recorded


def test_an_append_that_nobody_can_tell_the_end_of_says_so(
    store: PostgresStore, proxy: Proxy
) -> None:
    ledger = store.open(
        url=store.server.url(port=proxy.port), waits=Waits(lease_s=5, lock_s=2, outage_s=0.5)
    )
    ledger.append("r1", [added(1)])
    hooked = store.open(
        url=store.server.url(port=proxy.port),
        waits=Waits(lease_s=5, lock_s=2, outage_s=0.5),
        hooks=Hooks(after_write=lambda _: proxy.close_all()),
    )
    hooked.project("r1")

    with pytest.raises(StorageError, match="is not known: read the run before"):
        hooked.append("r1", [added(2, "c2")])
    proxy.reopen()

    assert ledger.append("r1", [added(2, "c2")]).position == 2
    assert store.open().project("r1").total == 3


def test_a_server_restarted_between_write_and_commit_keeps_one_of_each(
    store: PostgresStore,
) -> None:
    restarts = iter(["kill", "immediate", "fast"])

    def restart(_: object) -> None:
        with suppress(StopIteration):
            store.server.restart(next(restarts))  # type: ignore[arg-type] # one of its ways

    ledger = store.open(hooks=Hooks(after_write=restart))
    ledger.append("r1", [added(1)])
    for number in range(3):
        ledger.append("r1", [added(1, f"c{number}")])

    assert next(restarts, None) is None
    assert [line.envelope.position for line in store.open().read("r1")] == [1, 2, 3, 4]
    assert store.open().verify().is_sound


def test_every_use_goes_on_after_a_restart(store: PostgresStore) -> None:
    ledger = store.open(waits=BRIEF)
    ledger.append("r1", [added(1), leased(1)])
    with ledger.lease("r1", "driver"):
        for use in (
            lambda: ledger.append("r1", [added(1)], epoch=1),
            lambda: ledger.query("SELECT * FROM events"),
            lambda: ledger.read("r1"),
            ledger.runs,
            ledger.verify,
            ledger.sync,
            ledger.rebuild,
        ):
            store.server.restart("immediate")
            use()
        assert store.open().is_held("r1")
    assert not store.open().is_held("r1")


def test_a_server_that_stays_away_is_a_clear_error(store: PostgresStore, proxy: Proxy) -> None:
    ledger = store.open(
        url=store.server.url(port=proxy.port), waits=Waits(lease_s=5, lock_s=2, outage_s=0.3)
    )
    ledger.append("r1", [added(1)])
    proxy.close_all()

    for use in (lambda: ledger.append("r1", [added(2)]), lambda: ledger.query("SELECT 1")):
        with pytest.raises(StorageError, match=r"PostgreSQL at 127\.0\.0\.1.*see that it runs"):
            use()
    proxy.reopen()

    assert ledger.append("r1", [added(2)]).position == 2


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("postgresql://ann:{secret}@127.0.0.1:{port}/assay", "check the user and the password"),
        ("postgresql://bob:{secret}@127.0.0.1:{port}/assay", "check the user and the password"),
        ("postgresql://ann:{right}@127.0.0.1:{port}/nowhere", "create what is missing"),
        ("postgresql://ann:{right}@127.0.0.1:1/assay", "see that it runs"),
    ],
)
def test_an_address_that_leads_nowhere_is_told_at_once_and_without_its_password(
    store: PostgresStore, wrong: str, told: str
) -> None:
    right = store.url.split("@127")[0].rpartition(":")[2]
    url = wrong.format(secret="hunter2", right=right, port=store.server.port)

    with pytest.raises(StorageError, match=told) as caught:
        store.open(url=url).runs()

    _shows_no_password(caught.value)


@pytest.mark.parametrize(
    "url", ["", "hunter2", "mysql://ann:hunter2@host/db", "postgresql://ann:hunter2@ho st:x/d b%",
            "postgresql://ann:hunter2@host/db?nothing=1"],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(InvalidRequest, match="postgresql://USER@HOST") as caught:
        PostgresLedger(url, CounterFold())

    _shows_no_password(caught.value)


def test_what_is_shown_of_a_ledger_holds_no_password(store: PostgresStore) -> None:
    ledger = store.open()

    for shown in (ledger.place, repr(ledger), repr(vars(ledger)), repr(ledger._connections.target)):
        assert PASSWORD not in shown
        assert "p%40ss" not in shown


def _shows_no_password(error: BaseException | None) -> None:
    while error is not None:
        assert "hunter2" not in str(error)
        assert PASSWORD not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@pytest.mark.parametrize("schema", ["", "Assay", "pg_assay", "a b", 'a"; DROP', "1a", "x" * 64])
def test_a_schema_that_cannot_be_named_so_is_refused(store: PostgresStore, schema: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot name the ledger's schema"):
        PostgresLedger(store.url, CounterFold(), schema=schema)


def test_a_ledger_in_use_survives_a_fork(store: PostgresStore) -> None:
    ledger = store.open()
    ledger.append("r1", [added(1)])
    if (pid := os.fork()) == 0:
        ok = ledger.append("r1", [added(2)]).position == 2
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0

    assert ledger.append("r1", [added(4)]).state.total == 7


def test_a_run_that_stays_locked_is_a_clear_error(store: PostgresStore) -> None:
    ledger = store.open(waits=Waits(lock_s=0.3))
    ledger.append("r1", [added(1)])

    with store.connect() as other, other.transaction():
        other.execute("SELECT 1 FROM run_heads FOR NO KEY UPDATE")
        with pytest.raises(StorageError, match="stayed locked by another process"):
            ledger.append("r1", [added(2)])
        assert ledger.project("r1").total == 1
        assert ledger.query("SELECT count(*) FROM events").rows == ((1,),)

    assert ledger.append("r1", [added(2)]).position == 2
