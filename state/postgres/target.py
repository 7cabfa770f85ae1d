"""Which database and schema a ledger is kept in, and how that is told without its password."""

import re
from dataclasses import dataclass, field

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from state.values.errors import InvalidRequest

SCHEMA = "assay"
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}", re.ASCII)
_URL = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
# A connection that died on the way (a pulled cable, a lost NAT entry) is noticed in half a minute.
_ALIVE = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "application_name": "assay",
    "client_encoding": "UTF8",
}


@dataclass(frozen=True, slots=True)
class Target:
    """A schema in a database. `place` is for people; `conninfo` may hold a password."""

    conninfo: str = field(repr=False)
    schema: str
    place: str


def parse_target(url: str, schema: str = SCHEMA) -> Target:
    """Return the target that `url`, `postgresql://user:password@host:port/database`, leads to.

    What it leaves out comes from libpq's environment variables (PGPASSWORD and so on) and files.
    Raises `InvalidRequest`, which shows nothing of `url`.
    """
    if not _SCHEMA.fullmatch(schema):
        raise InvalidRequest(
            f"{schema[:80]!r} cannot name the ledger's schema; use lower-case letters, digits "
            "and _, at most 63 characters, not beginning with a digit or pg_"
        )
    given = _parts(url)
    if not given:
        raise InvalidRequest(
            "the address of the ledger is not one of a PostgreSQL database; write "
            "postgresql://USER@HOST:5432/DATABASE, with the password in PGPASSWORD, or after USER "
            "and a colon with its /, @, : and % as %2F, %40, %3A and %25"
        )
    host = given.get("host") or given.get("hostaddr") or "its default host"
    port = f":{given['port']}" if given.get("port") else ""
    database = given.get("dbname") or given.get("user") or "its default database"
    conninfo = make_conninfo("", **{**_ALIVE, **given})
    return Target(conninfo, schema, f"{host}{port}/{database} (schema {schema})")


def _parts(url: str) -> dict[str, str]:
    """Return what libpq reads in `url`; nothing when it is no address."""
    if not _URL.match(url):
        return {}
    try:
        given = conninfo_to_dict(url)
    except ProgrammingError:
        return {}  # what it says quotes the address, and the password with it
    return {name: str(value) for name, value in given.items() if value is not None}
