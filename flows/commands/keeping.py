"""Commands about what is kept, who may research, and the background server."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.boundary import FAILED
from flows.commands.ledgering import needed_desk
from flows.commands.shared import Json, settings
from state.values.wording import counted

if TYPE_CHECKING:
    from flows.settings import Settings
    from flows.wiring import Desk
    from state.policy import Policy, PolicyFile


def forget(
    target: Annotated[
        str, typer.Argument(metavar="RUN|ARTIFACT", help="A run, an artifact's id, or its hash.")
    ],
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept for good.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete the bytes of a run or an artifact for good.

    Its events stay and say that it was done: the question and the plan remain in the ledger.
    Bytes that another run needs are kept, and so are quotes that were printed or copied elsewhere,
    such as in Prefect's pages (delete its flow run and artifacts there) or in a report that another
    machine published. 'assay verify' then says withheld.

    Example: assay forget 20260102-101500-a1b2 --reason "asked for by the author"
    """
    from dataclasses import asdict

    from flows.keeping import forget as forget_bytes
    from flows.terminal import is_terminal, one_line, out, out_json
    from state.values.errors import InvalidRequest

    opened = needed_desk()
    target = _whole_id(opened, target, yes=yes)
    if not yes:
        if not is_terminal(sys.stdin):
            raise InvalidRequest("this cannot be undone: confirm it with --yes")
        typer.confirm(f"Delete the bytes of {one_line(target)} for good?", abort=True, err=True)
    done = forget_bytes(opened, target, reason)
    if json:
        out_json(asdict(done))
        return
    bodies = counted(done.withheld, "body", "bodies")
    out(f"{bodies} of the archive withheld, {done.deleted} of them deleted")
    if done.kept:
        out(f"needed by other runs and kept: {done.kept}")
    if done.left:
        out(f"only just used, and left for a later 'assay gc': {done.left}")


def _whole_id(opened: "Desk", target: str, *, yes: bool) -> str:
    """Return what is meant by `target`; a run's beginning has to be confirmed with its whole id."""
    from flows.naming import run_id_of
    from state.errors import NotFound
    from state.values.errors import InvalidRequest
    from state.values.ids import is_stable_id

    if not is_stable_id(target):
        return target
    try:
        run_id = run_id_of(opened, target)
    except NotFound:
        return target  # an artifact's, then
    if yes and run_id != target:
        raise InvalidRequest(f"name in full what is deleted for good: {run_id}")
    return run_id


def gc(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    grace_hours: Annotated[
        float | None, typer.Option(min=0, help="Leave what is younger; default 24.")
    ] = None,
    json: Json = False,
) -> None:
    """Delete bodies that no run needs.

    Touches nothing while any journal is damaged.

    Example: assay gc --dry-run
    """
    from dataclasses import asdict

    from flows.keeping import collect
    from flows.terminal import out, out_json

    opened = needed_desk()
    grace = opened.settings.gc_grace_hours if grace_hours is None else grace_hours
    done = collect(opened, grace_hours=grace, dry_run=dry_run)
    if json:
        out_json({**asdict(done), "dry_run": dry_run})
    else:
        verb = "would be deleted" if dry_run else "deleted"
        out(f"{counted(done.bodies, 'body', 'bodies')} of {counted(done.size, 'byte')} {verb}")
        if done.unfinished:
            out(f"{counted(done.unfinished, 'unfinished file')} deleted")


def backup(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A new folder, or a new file that ends in .tar.")
    ],
    *,
    json: Json = False,
) -> None:
    """Copy everything to PATH and verify the copy.

    Runs may go on meanwhile. To use the copy, point ASSAY_HOME at it; unpack a .tar first, and
    point at the folder it was unpacked to. A memory that machines share is copied to such a folder,
    too, which needs no database (unset ASSAY_LEDGER_URL and ASSAY_ARTIFACTS_URL); to restore the
    shared memory itself, back up the database with pg_dump and then the bucket.

    Example: assay backup /media/disk/assay.tar
    """
    from dataclasses import asdict

    from flows.backup import back_up
    from flows.terminal import out, out_json, talk

    done = back_up(needed_desk(), path)
    if json:
        out_json({**asdict(done), "ok": not done.problems})
    else:
        runs, events = counted(done.runs, "run"), counted(done.events, "event")
        out(f"{done.path}: {runs}, {events}, {counted(done.bodies, 'body', 'bodies')}")
        for problem in done.problems:
            talk(f"assay: {problem}")
    if done.problems:
        raise typer.Exit(FAILED)


def down(
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Also while runs use it; they are interrupted.")
    ] = False,
    json: Json = False,
) -> None:
    """Stop Assay's Prefect server in the background.

    A later run starts it again. While 'assay serve' keeps it, end that first; while a run that was
    started otherwise uses it, it is left alone, but for --force.

    Example: assay down
    """
    from flows.server import stop_server
    from flows.serving_record import refuse_served
    from flows.terminal import out, out_json

    found = settings()
    home = found.home
    refuse_served(home)
    if not force:
        _refuse_used(found)
    stopped = (home / "prefect").is_dir() and stop_server(home)
    if json:
        out_json({"stopped": stopped})
    else:
        out("the Prefect server was stopped" if stopped else "no Prefect server was running")


def _refuse_used(found: "Settings") -> None:
    """Raise `RejectedError` (USED) while a command uses the server; its runs are named."""
    import socket

    from flows.memory import is_begun
    from flows.resuming import open_runs
    from flows.server import server_status
    from flows.wiring import make_desk
    from state.values.errors import RejectedError

    if not (found.home / "prefect").is_dir() or not server_status(found.home).used:
        return
    runs = []
    if is_begun(found):
        desk = make_desk(found)
        holders = ((run_id, desk.ledger.holder(run_id)) for run_id in open_runs(desk))
        runs = [run_id for run_id, held in holders if held and held.host == socket.gethostname()]
    who = f"{counted(len(runs), 'run')}: {', '.join(runs)}" if runs else "a command of Assay"
    raise RejectedError(
        f"the Prefect server is in use by {who}; wait, cancel it, or say --force to interrupt it",
        code="USED",
    )


# ---- the policy


def show(*, json: Json = False) -> None:
    """Show who may research here.

    Example: assay policy show
    """
    _print(_policy().read(), json=json)


def set_(
    *,
    enable: Annotated[
        bool | None, typer.Option("--enable/--disable", help="Switch research on or off.")
    ] = None,
    principal: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only these may research; repeatable.")
    ] = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Everybody who can write the data folder may.")
    ] = False,
    json: Json = False,
) -> None:
    """Write the policy.

    It counts at once, for runs under way, too. --everybody names nobody any more; it does not
    switch research on.

    Example: assay policy set --enable --principal ada --principal bob
    """
    import re
    from dataclasses import replace

    from state.durable import create_private_folder
    from state.values.errors import InvalidRequest

    if enable is None and not principal and not everybody:
        raise InvalidRequest(
            "say what to set: --enable, --disable, --principal NAME, or --everybody"
        )
    if principal and everybody:
        raise InvalidRequest("choose --principal or --everybody, not both")
    for name in principal or []:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", name):
            raise InvalidRequest(f"{name!r} is no principal: 1 to 80 of A–Z a–z 0–9 _ -")
    policy = _policy()
    written = policy.read()
    if enable is not None:
        written = replace(written, enabled=enable)
    if everybody:
        written = replace(written, principals=())
    if principal:
        written = replace(written, principals=tuple(dict.fromkeys(principal)))
    create_private_folder(settings().home)
    policy.write(written)
    _print(written, json=json)


def revoke(
    *,
    principal: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only from these; repeatable.")
    ] = None,
    json: Json = False,
) -> None:
    """Take the permission back, from all or from some.

    Example: assay policy revoke --principal bob
    """
    from dataclasses import replace

    from state.durable import create_private_folder
    from state.values.errors import InvalidRequest

    policy = _policy()
    written = policy.read()
    if unknown := set(principal or ()) - set(written.principals):
        raise InvalidRequest(f"the policy does not name {', '.join(sorted(unknown))}")
    left = tuple(name for name in written.principals if name not in (principal or ()))
    # Without principals everybody may: who takes the last one back wants nobody.
    enabled = written.enabled and bool(principal) and bool(left)
    written = replace(written, enabled=enabled, principals=left or written.principals)
    create_private_folder(settings().home)
    policy.write(written)
    _print(written, json=json)


def _policy() -> "Policy":
    from state.policy import Policy

    return Policy(settings().home / "policy.json")


def _print(policy: "PolicyFile", *, json: bool) -> None:
    from dataclasses import asdict

    from flows.terminal import out, out_json

    if json:
        out_json(asdict(policy))
        return
    out(f"research is {'on' if policy.enabled else 'off'}")
    out(f"principals: {', '.join(policy.principals) or 'everybody who can write the data folder'}")
