"""Writes what a run made into a folder of one's own, from the archive alone."""

from pathlib import Path
from typing import Any

from flows.wiring import Desk
from state.projection import Run
from state.research_events import ArtifactRole
from state.values.errors import InvalidRequest


def export_run(desk: Desk, run_id: str, to: Path) -> dict[str, Any]:
    """Write the run's result into the folder `to`, which must be new or empty.

    Returns what was written. Raises `InvalidRequest` when there is nothing yet, or the folder
    holds something.
    """
    run = desk.ledger.project(run_id)
    bodies = _code(desk, run) if run.paper2code else _report(desk, run)
    if not bodies:
        raise InvalidRequest(f"run {run_id!r} is {run.status} and has made nothing to export yet")
    folder = to.expanduser().absolute()
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InvalidRequest(f"{to} is there and not empty; name a new folder with --to")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidRequest(f"{to}: {error.strerror}; name another folder with --to") from error
    from adapters.workspace.folder import write_files

    write_files(folder, bodies, ours={})
    return {"run_id": run_id, "status": run.status, "folder": str(folder), "files": sorted(bodies)}


def _code(desk: Desk, run: Run) -> dict[str, bytes]:
    code = run.paper2code
    if code is None or not code.files:
        return {}
    hashes = dict(code.file_hashes)
    if code.plan:
        hashes["PLAN.json"] = code.plan.body_hash
    if code.sealed:
        hashes["REPORT.md"] = code.sealed.report_hash
    return {path: desk.artifacts.get(address) for path, address in hashes.items()}


def _report(desk: Desk, run: Run) -> dict[str, bytes]:
    if run.research is None or not run.research.completed:
        return {}
    return {
        artifact.name: desk.artifacts.get(artifact.content_hash)
        for artifact in run.research.of_role(ArtifactRole.REPORT)
        if artifact.content_hash not in run.withheld
    }
