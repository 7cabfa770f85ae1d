"""Ledgers on the tests' PostgreSQL: each test has a schema of its own."""

from itertools import count
from typing import Any

import psycopg
from psycopg import sql

from state.postgres.ledger import PostgresLedger
from tests.postgres_server import PostgresServer
from tests.state.counter import Counter, CounterFold

_numbers = count(1)
_UNGUARDED = (
    "ALTER TABLE run_lines DISABLE TRIGGER USER",
    "ALTER TABLE run_lines DROP CONSTRAINT IF EXISTS line_has_its_hash",
)


class PostgresStore:
    """Where a ledger under test keeps its events, and how to get at them by hand."""

    amount = "(body_json->>'amount')::INT"

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.url = server.url()
        self.schema = f"ledger_{next(_numbers)}"

    def open(self, **options: Any) -> PostgresLedger[Counter]:
        options.setdefault("url", self.url)
        return PostgresLedger(fold=CounterFold(), schema=self.schema, **options)

    def code(self) -> str:
        return (
            "from state.postgres.ledger import PostgresLedger\n"
            f"ledger = PostgresLedger({self.url!r}, CounterFold(), schema={self.schema!r})"
        )

    def flip_byte(self, run_id: str, position: int) -> None:
        self.tamper(
            "UPDATE run_lines SET line = overlay(line PLACING chr(ascii(substr(line, 20, 1)) # 1) "
            "FROM 20) WHERE position = %s AND run = (SELECT run FROM run_heads WHERE run_id = %s)",
            [position, run_id],
        )

    def tamper(self, statement: str, values: list[Any] | None = None) -> None:
        """Change what was recorded, as its owner who first takes the guards away."""
        with self.connect() as connection:
            for guard in _UNGUARDED:
                connection.execute(guard)
            assert connection.execute(statement, values).rowcount

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        connection = psycopg.connect(self.url, autocommit=True)
        path = sql.SQL("SET search_path TO {}").format(sql.Identifier(self.schema))
        connection.execute(path)
        return connection
