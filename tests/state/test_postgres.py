"""The ledger on PostgreSQL: the contract, and what belongs to a database."""

import pytest

from state.ledger import Ledger
from state.postgres.ledger import PostgresLedger
from tests.postgres_server import PostgresServer
from tests.state.counter import Counter
from tests.state.ledger_contract import LedgerContract
from tests.state.postgres_store import PostgresStore


@pytest.fixture
def store(postgres: PostgresServer) -> PostgresStore:
    return PostgresStore(postgres)


class TestPostgresLedger(LedgerContract):
    pass


def _ledger_is_a_ledger(ledger: PostgresLedger[Counter]) -> Ledger[Counter]:
    return ledger
