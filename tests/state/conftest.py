"""Servers that a shared memory needs, started once a test session where they are asked for."""

from collections.abc import Iterator

import pytest

from tests.postgres_server import Absent, PostgresServer, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Give a running PostgreSQL; skips the test where none is installed."""
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    try:
        with postgres_server() as server:
            yield server
    except Absent as error:
        pytest.skip(str(error))
