"""Paper2Code runs as a library: compose a request, submit it, read what came of it, export it."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flows.composing import BUILT_IN, new_run_id, principal
from flows.queueing import Asked, requeue_asked, submit_asked
from flows.runs import RunResult, run_times
from flows.wiring import Desk
from state.code_events import CodeStarted
from state.code_request import CodeOptions, CodeRequest, SourceType
from state.events import Limits
from state.projection import Run
from state.request import as_invalid_request
from state.values.errors import InvalidRequest, RejectedError
from state.values.redaction import redact

_RESEARCH_ONLY = ("coverage", "claims", "citations", "clarification")
_FORGES = ("github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht")


@dataclass(frozen=True, slots=True)
class CodeResult(RunResult):
    """What a Paper2Code run came to, or how far it is (`progress`, 0 to 100).

    `outcome` is complete, incomplete or '' (not sealed yet); `files` maps paths to content hashes;
    `verifications` say how often tests were run and what that showed.
    """

    outcome: str = ""
    workspace: str = ""
    stage: str = ""
    progress: int = 0
    files: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    verifications: list[dict[str, Any]] = field(default_factory=list)
    commit: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the result for programs."""
        return {name: value for name, value in asdict(self).items() if name not in _RESEARCH_ONLY}


def compose_code_request(  # noqa: PLR0913 - one keyword for each part of a request
    source: str | None,
    *,
    now: datetime,
    requirement: str = "",
    workspace: Path | None = None,
    model: str | None = None,
    review: bool = True,
    indexing: bool = False,
    references: tuple[str, ...] = (),
    excluded: tuple[str, ...] = (),
    run_id: str | None = None,
    budgets: Mapping[str, int | None] | None = None,
    asked_by: str | None = None,
) -> CodeRequest:
    """Return the request to make code from `source`, or from `requirement` alone.

    Without a `workspace` the code goes into a folder named after the run, in the present folder.
    Needs no desk and leaves nothing on the disk. Raises `InvalidRequest` when there is neither
    source nor requirement, a local source is no file or folder, or no model is named.
    """
    kind, where = _source(source, requirement)
    in_dollars = (budgets or {}).get("max_cost_micro_usd") is not None
    chosen = _model(model, in_dollars=in_dollars)
    if (references or excluded) and not indexing:
        raise InvalidRequest("references are looked at with --indexing; add it")
    id_ = run_id or new_run_id(now)
    folder = _workspace(workspace or Path(f"code-{id_}"), id_)
    given = {name: value for name, value in (budgets or {}).items() if value is not None}
    with as_invalid_request():
        return CodeRequest.model_validate(
            {
                "id": id_,
                "principal": asked_by or principal(),
                "source_type": kind,
                "source": where,
                "requirement": "" if kind == "requirement" else requirement,
                "workspace": str(folder),
                "options": CodeOptions(enable_indexing=indexing, plan_review=review),
                "reference_repositories": references,
                "excluded_repositories": excluded,
                "model": chosen,
                "budgets": given,
            }
        )


def _model(name: str | None, *, in_dollars: bool) -> str:
    """Return the model that codes; there is no built-in one."""
    from flows.settings import load_settings

    settings = load_settings()
    chosen = settings.model if name is None else name.strip()
    if chosen in ("", BUILT_IN):
        raise InvalidRequest(
            "making code needs a language model: set ASSAY_MODEL, or name one with --model "
            "(and ASSAY_MODEL_URL for a server of your own)",
            code="MODEL_MISSING",
        )
    from flows.coders import require_coder

    require_coder(settings, chosen, in_dollars=in_dollars)
    return chosen


def _workspace(workspace: Path, run_id: str) -> Path:
    """Return where the code goes, which neither holds anything nor is part of Assay's own data."""
    from adapters.workspace.folder import workspace_problem
    from flows.settings import load_settings

    folder = Path(os.path.normpath(workspace.expanduser().absolute()))
    home = load_settings().home.expanduser().resolve()
    if folder.resolve().is_relative_to(home):
        raise InvalidRequest(
            f"the workspace {folder} lies in {home}, where Assay keeps its own data; name another "
            "folder with --workspace"
        )
    if problem := workspace_problem(folder, run_id):
        raise InvalidRequest(problem)
    return folder


def _source(source: str | None, requirement: str) -> tuple[SourceType, str]:
    """Return what kind of source was named, and its absolute path, address or text."""
    if source is None or not source.strip():
        if not requirement.strip():
            raise InvalidRequest(
                "say what to make code from: a paper's file, its URL, a repository, or "
                "--requirement TEXT"
            )
        return "requirement", requirement
    if "://" in source:
        _require_web(source)
        return ("repository" if is_repository_url(source) else "url"), source
    path = Path(source).expanduser()
    try:
        path = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidRequest(
            f"source {source!r}: {reason}; name a file or folder that is there, or a URL"
        ) from error
    if path.is_dir():
        return "repository", str(path)
    if not path.is_file():
        raise InvalidRequest(f"source {source!r} is no regular file; name a file or a folder")
    return "local", str(path)


def _require_web(source: str) -> None:
    """Raise `InvalidRequest` for an address that nothing could be read from."""
    try:
        parts = urlsplit(source.strip())
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web:
        raise InvalidRequest(
            f"{redact(source)!r} is no address that can be read; name a URL with http or https, or "
            "a file or folder of this machine"
        )


def is_repository_url(url: str) -> bool:
    """Tell whether `url` names a git repository: by .git, or as owner/name at a known forge."""
    parts = urlsplit(url)
    names = [part for part in parts.path.split("/") if part]
    if names and names[-1].endswith(".git"):
        return True
    return (parts.hostname or "") in _FORGES and len(names) == 2


def submit_code(desk: Desk, request: CodeRequest, *, flow_run_id: str | None = None) -> Run:
    """Record `request` as a queued run, once; see `flows.queueing.submit_asked`."""
    return submit_asked(desk, _asked(request), flow_run_id=flow_run_id)


def requeue_code(desk: Desk, parent: Run, run_id: str) -> Run:
    """Queue the retry of the Paper2Code run `parent` under `run_id`."""
    if parent.paper2code is None:
        raise RejectedError(f"run {parent.run_id!r} makes no code", code="KIND")
    request = parent.paper2code.request.model_copy(update={"id": run_id})
    return requeue_asked(desk, _asked(request), parent)


def _asked(request: CodeRequest) -> Asked:
    budgets = request.budgets
    limits = Limits(
        model_calls=budgets.max_model_calls,
        tokens=budgets.max_tokens,
        cost_micro_usd=budgets.max_cost_micro_usd,
    )
    return Asked("paper2code", request, CodeStarted(request=request), limits)


def read_code_result(desk: Desk, run: Run) -> CodeResult:
    """Return what is known of the run now, from the ledger alone."""
    code = run.paper2code
    folder = desk.reports / run.run_id
    sealed = code.sealed if code else None
    published = run.status in ("completed", "failed") and sealed is not None
    return CodeResult(
        run_id=run.run_id,
        status=run.status,
        answer_status=run.answer_status,
        stop_reason=run.stop_reason,
        coverage=0.0,
        report={
            name: str(folder / name)
            for name in ("REPORT.md", "report.json", "PLAN.json")
            if published
        },
        usage=asdict(run.spent),
        **run_times(run, desk.now()),
        code=run.code,
        reason=redact(run.cancel_reason or run.reason) if run.status != "completed" else "",
        outcome=sealed.outcome if sealed else "",
        workspace=code.request.workspace if code else "",
        stage=run.stage,
        progress=run.progress,
        files=code.file_hashes if code else {},
        missing=list(code.missing) if code else [],
        verifications=[
            event.model_dump(mode="json", exclude={"result_hash"})
            for event in (code.verifications if code else ())
        ],
        commit=sealed.commit if sealed else "",
    )


def read_plan_fields(desk: Desk, run: Run) -> dict[str, Any]:
    """Return the run's present plan in the form that `replace` takes; {} when there is none."""
    plan = run.paper2code.plan if run.paper2code else None
    if plan is None:
        return {}
    fields: dict[str, Any] = json.loads(desk.artifacts.get(plan.body_hash))
    return fields
