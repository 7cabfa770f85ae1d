"""The command that keeps a Prefect server for every day: deployments, pages, recovery."""

import os
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from flows.commands.shared import LogJson, settings

if TYPE_CHECKING:
    from flows.settings import Settings

Recovery = Literal["auto", "mark", "off"]


def serve(
    *,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", help="The port of Assay's own server, 1024 to 65535."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=64, help="Runs executed at once.")
    ] = None,
    recovery: Annotated[
        Recovery | None,
        typer.Option(help="auto: let interrupted runs go on; mark: only mark them."),
    ] = None,
    log_json: LogJson = False,
) -> None:
    """Execute what is asked for in Prefect's pages and schedules.

    Serves until it is told to end (Ctrl-C, SIGTERM); what it executes then is interrupted, and
    goes on with the next 'assay serve'. PREFECT_API_URL names a server of your own; without it,
    Assay's is started and kept. 'assay doctor --ui' shows the login.

    Example: assay serve --port 4200
    """
    if port is not None:
        _require_open_to_all(port)
    found = settings()
    if log_json:
        from flows.logs import log_to_stderr

        log_to_stderr()
    _for_children()
    _serve(
        found,
        port=port,
        limit=limit or found.runs_at_once,
        recovery=recovery or found.recovery,
    )


def _serve(found: "Settings", *, port: int | None, limit: int, recovery: Recovery) -> None:
    from flows.doctor import login
    from flows.engine_session import engine_for
    from flows.interruption import Interrupted, run_interruptibly
    from flows.server_record import Place
    from flows.serving_record import the_only_one
    from flows.terminal import talk
    from flows.wiring import make_desk

    desk = make_desk(found)
    with the_only_one(Place.of(found.home)), engine_for(found, port=port) as engine:
        talk("assay: starting the Prefect server")
        engine.ready()
        from flows.serving import Manner
        from flows.serving import serve as serve_desk

        address = login(found)["address"]

        def ready(names: str) -> None:
            talk(f"assay: serving {names}")
            talk(f"assay: open {address} ('assay doctor --ui' shows the login); Ctrl-C ends")

        def tell(text: str) -> None:
            talk(f"assay: {text}")

        manner = Manner(limit, recovery, tell, ready, engine.revive)
        try:
            run_interruptibly(serve_desk(desk, manner))
        except Interrupted:
            talk("assay: stopped; what was being executed goes on with the next 'assay serve'")


def _require_open_to_all(port: int) -> None:
    """Raise `InvalidRequest` for a port that not everybody may listen at."""
    from state.values.errors import InvalidRequest

    if not 1024 <= port <= 65535:
        why = "is kept for the system" if 0 < port < 1024 else "does not exist"
        raise InvalidRequest(f"port {port} {why}; name one from 1024 to 65535, such as 4200")


def _for_children() -> None:
    """Set what the processes of flow runs need of the environment, beyond what is there."""
    from pathlib import Path

    os.environ["PYTHONSAFEPATH"] = "1"  # nothing in the current folder shadows a module
    root = str(Path(__file__).resolve().parents[2])
    if not root.endswith("site-packages"):  # run from a source tree
        given = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, given)))
