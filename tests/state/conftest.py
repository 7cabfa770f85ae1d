"""Servers that a shared memory needs, started once a test session where they are asked for."""

from collections.abc import Iterator

import pytest

from tests import postgres_server as postgres_servers
from tests import s3_server as s3_servers
from tests.postgres_server import PostgresServer
from tests.s3_server import S3Server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Give a running PostgreSQL; skips the test where none is installed."""
    try:
        with postgres_servers.postgres_server() as server:
            yield server
    except postgres_servers.Absent as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def s3_service() -> Iterator[S3Server]:
    """Give a running S3-compatible server; skips the test where none is installed."""
    try:
        with s3_servers.s3_server() as server:
            yield server
    except s3_servers.Absent as error:
        pytest.skip(str(error))


@pytest.fixture
def s3(s3_service: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """Give that server, with its credentials in the environment."""
    for name, value in s3_service.environment.items():
        monkeypatch.setenv(name, value)
    return s3_service
