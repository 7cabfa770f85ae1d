"""Commands that only look: runs, show, watch. They make nothing and change no run."""

import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from flows.boundary import exit_code
from flows.commands.shared import Json, RunId, desk_if_any, run_at_desk
from state.values.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flows.wiring import Desk
    from state.envelope import Envelope
    from state.projection import Run

Status = Literal[
    "queued", "running", "waiting", "interrupted", "completed", "failed", "cancelled", "damaged"
]
_POLL_S = 0.3
_NEWEST_FIRST = "SELECT run_id FROM events GROUP BY run_id ORDER BY min(time) DESC, run_id DESC"


def runs(
    *,
    status: Annotated[Status | None, typer.Option(help="Only runs of this status.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the newest.")] = 20,
    json: Json = False,
) -> None:
    """List runs, the newest first.

    Example: assay runs --status interrupted
    """
    from itertools import islice
    from textwrap import shorten

    from flows.terminal import out_json, out_rows, talk

    opened = desk_if_any()
    found = list(islice(_lines(opened, status), limit)) if opened else []
    if json:
        out_json(found)
    elif not found:
        talk(f"There are no {status} runs." if status else "There are no runs yet.")
    else:
        columns = ("run", "status", "answer", "so far", "updated", "about")
        rows = [
            (
                *(line["run_id"], line["status"], line["answer_status"]),
                *(line["so_far"], line["updated_at"][:19].replace("T", " ")),
                shorten(line["question"], 80, placeholder=" …"),
            )
            for line in found
        ]
        out_rows(columns, rows, right=frozenset({"so far"}), whole=frozenset({"run", "status"}))


def _lines(opened: "Desk", status: str | None) -> "Iterator[dict[str, Any]]":
    from flows.showing import run_line
    from state.errors import CorruptLedger

    table = opened.ledger.query(_NEWEST_FIRST)
    for run_id in dict.fromkeys([*table.quarantined, *[row[0] for row in table.rows]]):
        try:
            line = run_line(opened.ledger.project(run_id))
        except CorruptLedger as error:
            line = {
                **dict.fromkeys(
                    ("answer_status", "stop_reason", "so_far", "queued_at", "updated_at"), ""
                ),
                "run_id": run_id,
                "status": "damaged",
                "coverage": 0.0,
                "question": error.message,
            }
        if status in (None, line["status"]):
            yield line


def show(run_id: RunId, *, json: Json = False) -> None:
    """Show what RUN found, what it cost and why it stopped.

    And what became of every source, and whatever failed or was asked.

    Example: assay show 20260102-101500-a1b2
    """
    from flows.runs import existing_run
    from flows.showing import describe
    from flows.terminal import out_json

    opened, run_id = run_at_desk(run_id)
    facts = describe(opened, existing_run(opened, run_id))
    if json:
        out_json(facts)
    else:
        _print(facts)


def _print(facts: dict[str, Any]) -> None:
    from flows.figures import spent
    from flows.terminal import out, out_facts, out_rows

    out(facts.get("question") or facts["run_id"])
    out("")
    usage = {name: value for name, value in facts["usage"].items() if value}
    out_facts(
        {
            "run": facts["run_id"],
            "status": " · ".join(filter(None, [facts["status"], facts["code"], facts["reason"]])),
            "answer": facts["answer_status"],
            "stopped": facts["stop_reason"],
            "covered": "" if facts["kind"] == "paper2code" else f"{facts['coverage']:.0%}",
            "source": facts.get("source", ""),
            "wanted": " ".join(facts.get("requirement", "").split())[:300],
            "plan": _plan(facts),
            "stage": f"{facts['stage']} ({facts['progress']} %)" if "progress" in facts else "",
            "workspace": facts.get("workspace", ""),
            "commit": facts.get("commit", ""),
            "executed by": facts["executed_by"] and _process(facts["executed_by"]),
            "retry of": facts["retry_of"],
            "asked by": f"{facts['requested_by']} at {facts['queued_at']}",
            "took": spent(facts["worked_s"], facts["waited_s"]) if facts["started_at"] else "",
            "used": ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in usage.items()),
            "steps": ", ".join(f"{n} {state}" for state, n in facts["steps"].items() if n),
            "withheld": _withheld(facts["withheld"]),
            "report": _report(facts),
        }
    )
    sections = _code_sections(facts) if facts["kind"] == "paper2code" else _sections(facts)
    for title, columns, rows in sections:
        if rows:
            out(f"\n{title}")
            out_rows(columns, rows)


def _plan(facts: dict[str, Any]) -> str:
    """Return the plan of code in a line: its version, and how well its quotes stand."""
    if facts["kind"] != "paper2code" or not facts["plan"]:
        return ""
    quotes = f"{facts['citations_located']} of {counted(facts['citations'], 'quote')}"
    return f"version {facts['plan']['version']}, {quotes} found in the {facts['made_from']}"


def _process(holder: dict[str, Any]) -> str:
    return f"process {holder['pid']} on {holder['host']}"


def _report(facts: dict[str, Any]) -> str:
    """Return where the report is; another machine may be the one that published it."""
    if path := facts["report"].get("report.md") or facts["report"].get("REPORT.md"):
        return str(path)
    published = any(stage["stage"] == "publishing" for stage in facts.get("stages", ()))
    if not published or facts["status"] != "completed" or facts["withheld"]:
        return ""
    return f"not on this machine; write it with: assay resume {facts['run_id']}"


def _withheld(withheld: dict[str, str]) -> str:
    """Return how many bodies of the archive were forgotten, and why."""
    if not withheld:
        return ""
    why = "; ".join(dict.fromkeys(withheld.values()))
    return f"{counted(len(withheld), 'body', 'bodies')} of the archive: {why}"


def _sections(
    facts: dict[str, Any],
) -> "Iterator[tuple[str, tuple[str, ...], list[tuple[object, ...]]]]":
    yield (
        "Subquestions",
        ("coverage", "quotes", "question", "gap"),
        [(s["coverage"], s["quotes"], s["question"], s["gap"]) for s in facts["subquestions"]],
    )
    yield "Conflicts", ("difference",), [(each,) for each in facts["conflicts"]]
    yield (
        "Claims",
        ("verdict", "claim", "quotes", "sections"),
        [
            (c["verdict"], c["text"], len(c["citations"]), ", ".join(c["sections"]))
            for c in facts["claims"]
        ],
    )
    yield (
        "Sources",
        ("disposition", "source", "why"),
        [
            (s["disposition"], s["locator"], " ".join((s.get("code", ""), s.get("reason", ""))))
            for s in facts["sources"]
        ],
    )
    yield "Blockers", ("what", "why"), list(facts["blockers"].items())
    yield from _life(facts)


def _code_sections(
    facts: dict[str, Any],
) -> "Iterator[tuple[str, tuple[str, ...], list[tuple[object, ...]]]]":
    from flows.code_showing import code_sections

    yield from code_sections(facts)
    yield from _life(facts)


def _life(
    facts: dict[str, Any],
) -> "Iterator[tuple[str, tuple[str, ...], list[tuple[object, ...]]]]":
    yield (
        "Reviews",
        ("request", "answer", "by", "asked", "answered"),
        [
            (r["interaction_id"], r["action"], r["by"], r["requested_at"], r["answered_at"])
            for r in facts["reviews"]
        ],
    )
    yield (
        "Stages",
        ("stage", "seconds"),
        [
            (stage["stage"], "open" if stage["duration_s"] is None else stage["duration_s"])
            for stage in facts["stages"]
        ],
    )


def watch(run_id: RunId, *, json: Json = False) -> None:
    """Follow RUN until it ends or waits. Ctrl-C leaves the run alone.

    With --json every event is one line of JSON. Ends with the exit code of the run.

    Example: assay watch 20260102-101500-a1b2
    """
    from flows.recovery import mark_interrupted
    from flows.terminal import talk
    from state.projection import Run, evolve

    opened, run_id = run_at_desk(run_id)
    run = Run()
    while True:
        for line in opened.ledger.read(run_id, run.position + 1):
            run = evolve(run, line.envelope, line.hash)  # as it stood then, which is what is told
            _tell(run, line.envelope, json=json)
        if run.is_terminal or run.status in ("waiting", "interrupted"):
            break
        if not mark_interrupted(opened, run_id):
            time.sleep(_POLL_S)
    if not json:
        talk(f"assay: run {run_id} is {run.status}")
    raise typer.Exit(exit_code(run.status, run.answer_status))


def _tell(run: "Run", envelope: "Envelope", *, json: bool) -> None:
    from flows.progress import tell
    from flows.terminal import out, out_json
    from state.envelope import Draft

    if json:
        facts = {"position": envelope.position, "time": envelope.time, "type": envelope.type}
        out_json({**facts, "call_id": envelope.refs.call_id, "body": envelope.body}, indent=None)
    elif said := tell(run, Draft(envelope.type, envelope.body, envelope.refs)):
        out(f"{envelope.time[11:19]}  {said}")
