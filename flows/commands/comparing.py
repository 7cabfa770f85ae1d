"""The command that compares: what changed from one completed run to another."""

from typing import Annotated

import typer

from flows.commands.shared import Json, RunId, run_at_desk


def diff(
    run_id: RunId,
    later: Annotated[
        str | None, typer.Argument(metavar="RUN2", help="A later run to compare RUN with.")
    ] = None,
    *,
    json: Json = False,
) -> None:
    """Show what changed: claims, coverage and sources.

    RUN is compared with the last completed run before it of the same question and scope; with
    RUN2, what changed from RUN to RUN2 is shown, whatever they asked. Ends with 0 whether anything
    changed or not; --json says "changed": true or false.

    Example: assay diff 20260102-101500-a1b2
    """
    from adapters.exports.changes import changes_content, changes_markdown
    from flows.comparing import compare_runs
    from flows.terminal import out, out_json

    opened, run_id = run_at_desk(run_id)
    if later is not None:
        _, later = run_at_desk(later)
    comparison = compare_runs(opened, run_id, later)
    if json:
        out_json(changes_content(comparison))
    else:
        out(changes_markdown(comparison).rstrip("\n"))
