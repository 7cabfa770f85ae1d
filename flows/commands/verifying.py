"""Commands that check: verify a run's chain of evidence, and doctor."""

from typing import TYPE_CHECKING, Annotated

import typer

from flows.boundary import FAILED
from flows.commands.shared import RUN_HELP, Json, settings
from state.values.wording import counted

if TYPE_CHECKING:
    from flows.audit import Audit
    from flows.wiring import Desk


def verify(
    run_id: Annotated[str | None, typer.Argument(metavar="RUN", help=RUN_HELP)] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Every run.")] = False,
    json: Json = False,
) -> None:
    """Walk a run's chain of evidence again.

    From the report to citation, quote, text, bytes, source and event: no network, no model. Ends
    with exit code 1 when something does not check out.

    Example: assay verify 20260102-101500-a1b2
    """
    from flows.commands.ledgering import needed_desk
    from flows.commands.shared import run_at_desk
    from flows.terminal import out_json
    from state.values.errors import InvalidRequest

    if (run_id is None) == (not all_):
        raise InvalidRequest("name one run, or ask for --all")
    if run_id is None:
        opened = needed_desk()
    else:
        opened, run_id = run_at_desk(run_id)
    audits = [_audit(opened, each) for each in ([run_id] if run_id else opened.ledger.runs())]
    if json:
        shown = [audit.as_json() for audit in audits]
        out_json(shown[0] if run_id else shown)
    else:
        for audit in audits:
            _print(audit)
    if not all(audit.ok for audit in audits):
        raise typer.Exit(FAILED)


def _audit(opened: "Desk", run_id: str) -> "Audit":
    """Return the audit of a run; a journal that does not check out is what it finds."""
    import anyio

    from flows.audit import Audit, Finding, audit_run
    from flows.schedule_keeping import changes_problems
    from state.errors import CorruptLedger

    try:
        audit = anyio.run(audit_run, opened, run_id)
        audit.findings += [Finding("changes", each) for each in changes_problems(opened, run_id)]
        return audit
    except CorruptLedger as error:
        return Audit(run_id, findings=[Finding("journal", error.message)])


def _print(audit: "Audit") -> None:
    from flows.terminal import out, talk

    for finding in audit.findings:
        out(f"{audit.run_id}: FAILED {finding.about}: {finding.problem}")
    for remark in audit.remarks:
        talk(f"{audit.run_id}: {remark}")
    parts = []
    if audit.outcome != "withheld":
        parts.append(f"{audit.citations_verified} of {counted(audit.citations, 'citation')}")
    parts.append(f"{audit.sources_rederived} of {counted(audit.sources, 'source')} made again")
    if audit.withheld:
        bodies = counted(audit.withheld, "body", "bodies")
        because = "; ".join(audit.withheld_because)
        parts.append(
            f"{bodies} of the archive withheld, {audit.deleted} of them deleted ({because})"
        )
    out(f"{audit.run_id}: {audit.outcome}: {', '.join(parts)}")


def doctor(
    *,
    ui: Annotated[
        bool, typer.Option("--ui", help="Show the address of Prefect's pages, and the login.")
    ] = False,
    json: Json = False,
) -> None:
    """Look whether everything Assay needs is there.

    Changes nothing. Ends with exit code 1 when something has to be mended. With --ui it only says
    how to watch runs in a browser; the login is a secret.

    Example: assay doctor
    """
    from dataclasses import asdict

    from flows.doctor import examine, login
    from flows.terminal import out, out_json

    if ui:
        _show_login(login(settings()), json=json)
        return
    checks = examine(settings())
    if json:
        out_json([asdict(check) for check in checks])
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            out(f"{'ok  ' if check.ok else 'FAIL'}  {check.name:<{width}}  {check.detail}")
    if not all(check.ok for check in checks):
        raise typer.Exit(FAILED)


def _show_login(found: dict[str, str], *, json: bool) -> None:
    from flows.terminal import out_facts, out_json

    if json:
        out_json(found)
    else:
        out_facts({"open": found["address"], "log in with": found["login"]})
