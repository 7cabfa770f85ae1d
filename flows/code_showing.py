"""What can be shown of a Paper2Code run: facts, the line it stands at, and what an event means."""

from collections.abc import Iterator
from typing import Any

from state.code_state import Paper2Code
from state.envelope import Draft
from state.projection import Run
from state.values.wording import counted

Section = tuple[str, tuple[str, ...], list[tuple[object, ...]]]

_STAGES = {
    "preparing": "preparing the workspace",
    "acquiring_input": "acquiring the source",
    "extracting_document": "making text of the source",
    "segmenting_document": "finding the parts of the source",
    "planning": "planning the code",
    "plan_review": "the plan's review",
    "collecting_references": "looking at references",
    "implementing": "writing the files",
    "verifying": "verifying: dependencies, then tests in the sandbox",
    "finalizing": "delivering the code",
}


def code_facts(run: Run, code: Paper2Code) -> dict[str, Any]:
    """Return what there is to show beyond what every run has."""
    plan = code.plan
    return {
        "title": code.request.title,
        "source": code.request.source if code.request.source_type != "requirement" else "",
        "requirement": code.request.requirement
        or (code.request.source if code.request.source_type == "requirement" else ""),
        "made_from": code.request.made_from,
        "workspace": code.request.workspace,
        "stage": run.stage,
        "progress": run.progress,
        "outcome": code.sealed.outcome if code.sealed else "",
        "commit": code.sealed.commit if code.sealed else "",
        "plan": plan and {"version": plan.version, "title": plan.title, "hash": plan.plan_hash},
        "citations": plan.citations if plan else 0,
        "citations_located": plan.located if plan else 0,
        "source_files": [_source(code, number) for number in range(len(code.sources))],
        "files": [
            {
                "path": path,
                "status": _status(code, path),
                "size": code.files[path].size if path in code.files else 0,
                "summary": code.files[path].summary if path in code.files else "",
            }
            for path in (plan.paths_planned if plan else ())
        ],
        "missing": list(code.missing),
        "verifications": [
            event.model_dump(mode="json", exclude={"result_hash"}) for event in code.verifications
        ],
    }


def _source(code: Paper2Code, number: int) -> dict[str, Any]:
    source = code.sources[number]
    return {
        "name": source.name,
        "locator": source.locator,
        "content_hash": source.content_hash,
        "size": source.size,
        "licence": source.licence,
    }


def _status(code: Paper2Code, path: str) -> str:
    file = code.files.get(path)
    if file is None:
        return "missing" if code.sealed else "open"
    return f"repaired in attempt {file.attempt}" if file.attempt else "written"


def code_sections(facts: dict[str, Any]) -> Iterator[Section]:
    """Yield the tables of `assay show`."""
    yield (
        "Source",
        ("name", "bytes", "hash"),
        [(s["name"], s["size"], s["content_hash"][:19]) for s in facts["source_files"][:20]],
    )
    yield (
        "Files",
        ("file", "status", "what it does"),
        [(f["path"], f["status"], f["summary"][:80]) for f in facts["files"]],
    )
    yield (
        "Verifications",
        ("attempt", "verdict", "executed", "passed", "failed", "isolation", "why"),
        [
            (
                *(v["attempt"], v["verdict"], v["executed"], v["passed"], v["failed"]),
                *(v["level"], v["reason"][:120]),
            )
            for v in facts["verifications"]
        ],
    )


def code_so_far(run: Run, code: Paper2Code) -> str:
    """Return how far the run came: tests once they were run, before that files, then progress."""
    if (last := code.verification) is not None:
        return f"{last.passed}/{last.executed} tests passed"
    if code.files and code.plan:
        return f"{len(code.files)}/{len(code.plan.paths_planned)} files"
    return f"{run.progress}%"


def code_standing(run: Run, code: Paper2Code) -> str:
    """Return where the run stands as one line."""
    planned = len(code.plan.paths_planned) if code.plan else 0
    parts = [f"{run.progress} %"]
    if planned:
        parts.append(f"{len(code.files)}/{planned} files")
    if (last := code.verification) is not None:
        parts.append(f"{last.passed}/{last.executed} tests passed")
    if used := run.spent.model_calls:
        most = run.limits.model_calls
        parts.append(f"model calls {used}" + (f"/{most}" if most is not None else ""))
    if run.spent.cost_micro_usd:
        parts.append(f"US$ {run.spent.cost_micro_usd / 1e6:.4f}")
    return " · ".join(parts)


def tell_code(draft: Draft) -> str:
    """Return what `draft` means for a person who waits, or '' when nothing."""
    body = draft.body
    match draft.type:
        case "stage_started":
            return _STAGES.get(body["stage"], "")
        case "code_source_recorded":
            return _tell_source(body)
        case "code_plan_recorded":
            return (
                f"plan {body['version']}: {counted(len(body['paths_planned']), 'file')}, "
                f"{body['located']} of {counted(body['citations'], 'citation')} found in the source"
            )
        case "code_file_recorded":
            return ("repaired " if body["attempt"] else "wrote ") + str(body["path"])
        case "code_tests_frozen":
            return f"froze {counted(len(body['files']), 'file')} of tests"
        case "code_dependencies_installed":
            return f"dependencies: {body['outcome']}"
        case "code_verified":
            return (
                f"attempt {body['attempt']}: {body['verdict']}; {body['executed']} tests executed, "
                f"{body['passed']} passed, {body['failed']} failed"
            )
        case "code_sealed":
            return f"sealed as {body['outcome']}"
        case _:
            return ""


def _tell_source(body: dict[str, Any]) -> str:
    said = [f"{body['name']}: {counted(body['size'], 'byte')}"]
    if body["pages"] is not None:
        said.append(counted(body["pages"], "page"))
    if body["pages_without_text"]:
        said.append(f"{body['pages_without_text']} without text")
    if body["pages_in_doubt"]:
        said.append(f"{body['pages_in_doubt']} in doubt")
    if body["hidden_text"]:
        said.append("holds hidden text, which is not obeyed")
    return ", ".join(said)
