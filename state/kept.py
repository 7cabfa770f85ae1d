"""What some views say of each run, kept as tables, so that no question computes it again.

A view says of a run only what the run's own events say, so that stays true until there is another
event. The view NAME is `kept.NAME` and, computed from their events, the same of the runs in
`kept.stale`; these are kept in turn once they hold enough events. Nothing else writes here, and all
of it can be made again from `events`.
"""

from collections.abc import Collection, Iterator, Mapping

import duckdb

from state.dictionary import VIEWS, Entry, read_folder

# Those that read events in numbers, each after the views that it reads itself.
KEPT = ("steps", "spend", "stages", "runs", "sources", "evidence", "claims", "citations")
_WORTH_KEEPING = 20_000  # stale events: about as long to compute again as to open the file
_AT_ONCE = 500_000  # events: what is kept of them takes far less memory than a sync has
_CHOOSE = """
CREATE OR REPLACE TEMP TABLE turn AS
SELECT
    run_id,
    sum(last_position) OVER (ORDER BY run_id ROWS UNBOUNDED PRECEDING) // {at_once} AS number
FROM journals
WHERE run_id {which} (FROM kept.stale)
"""
_MARK = "INSERT INTO kept.stale SELECT unnest($1::VARCHAR[]) EXCEPT FROM kept.stale"
_STALE_EVENTS = "SELECT sum(last_position) FROM journals WHERE run_id IN (FROM kept.stale)"
_DIFFERING = """
SELECT DISTINCT run_id FROM (
    (FROM ({kept}) EXCEPT ALL FROM ({said})) UNION ALL (FROM ({said}) EXCEPT ALL FROM ({kept}))
)
"""


def prepare(connection: duckdb.DuckDBPyConnection, views: Mapping[str, Entry]) -> None:
    """Make the views that are kept, of which nothing is kept yet: every run is stale."""
    connection.execute("DROP SCHEMA IF EXISTS kept CASCADE")
    connection.execute("CREATE SCHEMA kept")
    connection.execute(
        "CREATE TABLE kept.stale AS SELECT DISTINCT run_id FROM journals WHERE run_id <> ''"
    )
    connection.execute("COMMENT ON TABLE kept.stale IS 'Runs of which nothing is kept.'")
    for name in filter(views.__contains__, KEPT):
        sql = views[name].sql
        connection.execute(f"CREATE TABLE kept.{name} AS FROM ({sql}) WITH NO DATA")
        about = f"What the view {name} says of the runs that are not in kept.stale; ask the view."
        connection.execute(f"COMMENT ON TABLE kept.{name} IS '{about}'")
        stale = _said(sql, "FROM kept.stale")
        connection.execute(f"CREATE VIEW {name} AS FROM kept.{name} UNION ALL FROM ({stale})")


def outdate(
    connection: duckdb.DuckDBPyConnection, begun: Collection[str], gone_on: Collection[str]
) -> None:
    """Mark runs stale that have more events now: those `begun`, and those that were known before.

    What is kept of the latter goes.
    """
    connection.execute(_MARK, [[*begun]])
    marked = connection.execute(f"{_MARK} RETURNING run_id", [[*gone_on]]).fetchall()
    if marked:
        for name in KEPT:
            sql = f"DELETE FROM kept.{name} WHERE run_id IN (SELECT unnest($1::VARCHAR[]))"  # noqa: S608 - no text of others
            connection.execute(sql, [[run_id for (run_id,) in marked]])


def keep(connection: duckdb.DuckDBPyConnection) -> None:
    """Keep what the views say of the stale runs, if that is worth it."""
    row = connection.execute(_STALE_EVENTS).fetchone()
    if row is None or (row[0] or 0) < _WORTH_KEEPING:
        return
    views = read_folder(VIEWS)
    for turn in _turns(connection, "IN"):
        connection.execute(f"DELETE FROM kept.stale WHERE run_id IN ({turn})")  # noqa: S608 - as above
        for name in KEPT:
            connection.execute(f"INSERT INTO kept.{name} {_said(views[name].sql, turn)}")


def differing(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, str]]:
    """Give each run and view of which something else is kept than its events say."""
    views = read_folder(VIEWS)
    for turn in _turns(connection, "NOT IN"):
        for name in KEPT:
            kept = f"FROM kept.{name} WHERE run_id IN ({turn})"
            sql = _DIFFERING.format(kept=kept, said=_said(views[name].sql, turn))
            yield from ((run_id, name) for (run_id,) in connection.execute(sql).fetchall())


def _said(sql: str, runs: str) -> str:
    """Return SQL for what the view whose SELECT is `sql` says of `runs`, a SELECT of ids."""
    events = f"FROM main.events WHERE run_id IN ({runs})"
    return f"WITH events AS NOT MATERIALIZED ({events}) FROM ({sql})"


def _turns(connection: duckdb.DuckDBPyConnection, which: str) -> Iterator[str]:
    """Give SELECTs of runs, which together are those that are (NOT) IN the stale ones."""
    connection.execute(_CHOOSE.format(which=which, at_once=_AT_ONCE))
    numbers = connection.execute("SELECT DISTINCT number FROM turn ORDER BY number").fetchall()
    for (number,) in numbers:
        yield f"SELECT run_id FROM turn WHERE number = {number}"  # noqa: S608 - a number
