"""`assay serve` on a real Prefect server: asked, reviewed, killed and gone on with as people do."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from flows.answering import answer_review
from flows.resuming import FROM_OUTSIDE
from flows.runs import request_of, submit
from flows.serving_record import knock
from state.events import Holder, draft
from state.projection import Run
from state.run_events import RunInterrupted, RunLeased, RunStarted
from tests.flows.command_line import QUESTION, CommandLine
from tests.flows.pages_client import HttpError, PagesClient, until
from tests.flows.served_home import RESEARCH, ServedHome, question_of, served_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHome]:
    with served_home(tmp_path_factory.mktemp("served")) as made:
        yield made


@pytest.fixture
def serving(home: ServedHome) -> ServedHome:
    """Return the home, served: by what serves it already, or anew."""
    if not home.served or home.served[-1].process.poll() is not None:
        home.serve()
    home.model.held = ""
    return home


def pause_key(flow_run: dict[str, Any]) -> str:
    return str(flow_run["state"]["state_details"]["pause_key"])


def steps_of(run: Run) -> list[str]:
    """Return the steps of the run, without the hashes of what they were given."""
    return sorted(call_id.rpartition("/")[0] for call_id in run.effects)


def timeless(home: ServedHome, run_id: str) -> str:
    """Return the run's report without its id, and the times at which its sources were read."""
    report = home.report(run_id).replace(f"Run `{run_id}`", "Run `…`")
    return re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+(Z|\+00:00| UTC)?", "(a time)", report)


def asked_again(home: ServedHome, flow_run: str, key: str) -> str:
    """Return what the form says once the flow run is suspended under `key`."""
    seen = until(
        lambda: home.pages.flow_run(flow_run),
        lambda run: run["state"]["name"] == "Suspended" and pause_key(run) == key,
    )
    return str(until(lambda: home.pages.form(seen, "description"), bool))


def test_what_waits_and_what_works_outlasts_the_end_of_everything(serving: ServedHome) -> None:
    """Cases: B4 50; D 28, 34."""
    flow_run = serving.start("reviewed", review=True)
    working = serving.start_held("stopped")
    seen = serving.pages.wait(flow_run, "Suspended")
    shown = until(lambda: serving.pages.form(seen, "description"), bool)
    before = serving.types("reviewed")

    code = serving.served[-1].told_to_end(signal.SIGINT)
    left = serving.run("stopped")
    crashed = serving.pages.flow_run(working)["state"]["name"]
    down = serving.line.look("down")
    serving.model.held = ""
    serving.serve()
    still = serving.pages.flow_run(flow_run)["state"]["name"]
    answer = serving.pages.resume(flow_run, decision="approve", your_name="Ada")
    ended = serving.pages.wait(flow_run, "Completed", "Failed", "Crashed")

    assert (code, down.code) == (0, 0)
    assert left.status == "interrupted"
    assert left.reason == "the server that executed the run was stopped"
    assert crashed == "Crashed"
    assert serving.completed("stopped").epoch == 2
    assert "## Plan 1" in shown
    assert "effect_reserved" not in before[before.index("review_requested") :]
    assert still == "Suspended"
    assert answer["status"] == "ACCEPT"
    assert ended["state"]["name"] == "Completed", ended["state"]
    run = serving.completed("reviewed")
    assert run.reviews[0].answer is not None
    assert (run.reviews[0].answer.by, run.reviews[0].answer.channel) == ("Ada", "prefect")
    assert serving.line.look("verify", "reviewed").code == 0
    assert {"assay", "research", "run:reviewed"} == set(ended["tags"])
    assert ended["name"].startswith("reviewed · ")
    keys = {artifact["key"] for artifact in serving.pages.artifacts(flow_run)}
    assert {"plan-reviewed", "coverage-reviewed", "report-reviewed"} < keys


def test_what_cannot_be_an_answer_is_asked_for_again_and_approves_nothing(
    serving: ServedHome,
) -> None:
    """Cases: B3 43; D 29, 37."""
    flow_run = serving.start("badly-answered", review=True)
    seen = serving.pages.wait(flow_run, "Suspended")
    until(lambda: serving.pages.form(seen, "description"), bool)

    nothing = serving.pages.resume(flow_run)
    nonsense = serving.pages.resume(flow_run, decision="perhaps")
    serving.pages.resume(flow_run, decision="revise", feedback="  ")
    second = asked_again(serving, flow_run, "review-1-again-2")
    serving.pages.resume(flow_run, decision="replace", plan="{not a plan")
    third = asked_again(serving, flow_run, "review-1-again-3")
    scheduled = {"state": {"type": "SCHEDULED", "name": "Scheduled"}, "force": True}
    serving.pages.ask("POST", f"/flow_runs/{flow_run}/set_state", scheduled)
    fourth = asked_again(serving, flow_run, "review-1-again-4")

    assert nothing["status"] == "REJECT"
    assert nonsense["status"] == "REJECT"
    assert "a revision needs feedback" in second
    assert "The last answer could not be taken" in third
    assert "there was no decision" in fourth
    run = serving.run("badly-answered")
    assert run.status == "waiting"
    assert run.reviews[0].answer is None

    serving.pages.resume(flow_run, decision="cancel", reason="enough")
    ended = serving.pages.wait(flow_run, "Cancelled", "Completed", "Failed", "Crashed")
    assert ended["state"]["name"] == "Cancelled"
    assert serving.run("badly-answered").status == "cancelled"


def test_an_answer_on_the_command_line_goes_on_at_once(serving: ServedHome) -> None:
    flow_run = serving.start("answered", review=True)
    serving.pages.wait(flow_run, "Suspended")

    ran = serving.line.look("review", "answered", "approve")
    ended = serving.pages.wait(flow_run, "Completed", "Failed", "Crashed", within_s=50)

    assert ran.code == 0
    assert "assay serve" in ran.out
    assert ended["state"]["name"] == "Completed", ended["state"]
    assert "review_refused" not in serving.types("answered")


def test_an_answer_that_comes_too_late_is_refused_and_shown(serving: ServedHome) -> None:
    flow_run = serving.start("late", review=True)
    serving.pages.wait(flow_run, "Suspended")

    answer_review(serving.desk, "late", "approve", by="Grace")
    serving.pages.resume(flow_run, decision="cancel", reason="no", your_name="Ada")
    ended = serving.pages.wait(flow_run, "Completed", "Cancelled", "Failed", "Crashed")

    assert ended["state"]["name"] == "Completed", ended["state"]
    refused = [e for e in serving.desk.ledger.read("late") if e.envelope.type == "review_refused"]
    assert [e.envelope.body["by"] for e in refused] == ["Ada"]
    remarks = [a for a in serving.pages.artifacts(flow_run) if a["key"] == "remark-late"]
    assert "already answered" in remarks[0]["data"]


def test_cancelling_in_prefect_ends_the_run_whether_it_waits_or_works(serving: ServedHome) -> None:
    waiting = serving.start("waits", review=True)
    serving.pages.wait(waiting, "Suspended")
    working = serving.start_held("works")
    process = serving.executing("works")
    children = process.children(recursive=True)

    for flow_run in (waiting, working):
        cancelling = {"state": {"type": "CANCELLING", "name": "Cancelling"}, "force": True}
        serving.pages.ask("POST", f"/flow_runs/{flow_run}/set_state", cancelling)
    ended = serving.pages.wait(working, "Cancelled", "Crashed", "Completed", "Failed")
    until(lambda: serving.run("works").status, lambda status: status == "cancelled")
    until(
        lambda: (knock(serving.home), serving.run("waits").status)[1],  # not in a minute: now
        lambda status: status == "cancelled",
    )

    assert ended["state"]["name"] == "Cancelled"
    assert serving.pages.flow_run(waiting)["state"]["name"] == "Cancelled"
    until(
        lambda: [each for each in (process, *children) if each.is_running()], lambda left: not left
    )


def test_a_killed_process_is_noticed_and_its_run_goes_on(serving: ServedHome) -> None:
    flow_run = serving.start_held("killed")

    serving.model.held = ""
    serving.executing("killed").kill()
    serving.completed("killed")

    assert serving.pages.wait(flow_run, "Crashed")
    events = serving.types("killed")
    assert events.count("run_interrupted") == 1
    assert events.count("run_leased") == 2
    by_tag = until(
        lambda: serving.pages.flow_runs("run:killed"),
        lambda runs: len(runs) == 2 and runs[1]["state"]["name"] == "Completed",
    )
    assert [run["state"]["name"] for run in by_tag] == ["Crashed", "Completed"]


def test_a_prefect_server_that_dies_is_started_again_and_the_run_goes_on(
    serving: ServedHome,
) -> None:
    serving.start_held("serverless")
    before = serving.pages.url

    serving.kill_server()
    serving.model.held = ""
    serving.completed("serverless")

    assert serving.pages.url == before
    said = until(lambda: serving.served[-1].said, lambda said: "gone, and is back" in said)
    assert serving.pages.login.partition(":")[2] not in said
    assert serving.served[-1].process.poll() is None


def test_after_a_power_cut_the_run_completes_with_the_report_that_it_would_have_had(
    serving: ServedHome,
) -> None:
    """Cases: B3 34; E 38."""
    flow_run = serving.start_held("cut-off")

    serving.kill_all()
    serving.model.held = ""
    serving.serve()
    run = serving.completed("cut-off")
    asked = {"question": question_of("cut-off"), "model": "served", "scope": "quick"}
    serving.start("undisturbed", **asked)
    undisturbed = serving.completed("undisturbed")

    assert {effect.state for effect in run.effects.values()} == {"settled"}
    assert steps_of(run) == steps_of(undisturbed)
    assert timeless(serving, "cut-off") == timeless(serving, "undisturbed")
    serving.pages.wait(flow_run, "Crashed")
    assert serving.line.look("verify", "cut-off").code == 0


def test_one_home_is_served_once_and_its_server_stays_up(serving: ServedHome) -> None:
    ran = serving.line.run("serve")
    down = serving.line.look("down")

    assert ran.code == 2
    assert "already serving" in ran.err
    assert down.code == 2
    assert "is serving" in down.err


def test_a_port_that_is_taken_is_refused(serving: ServedHome, tmp_path: Path) -> None:
    taken = urlsplit(serving.server.base_url).port
    other = CommandLine(tmp_path / "other", serving.line.notes)

    refused = other.run("serve", "--port", str(taken))

    assert refused.code == 2
    assert f"port {taken}" in refused.err
    assert not (other.home / "prefect" / "server.json").exists()


def test_two_flow_runs_of_one_run_execute_it_once(serving: ServedHome) -> None:
    first = serving.start_held("twice")
    form = {"question": question_of("twice"), "model": "served", "scope": "quick"}
    second = serving.pages.wait(serving.start("twice", **form), "Executed elsewhere", "Completed")
    leased = serving.types("twice").count("run_leased")
    shown = command_lines(serving)
    said = "".join(each.said for each in serving.served)
    serving.line.look("cancel", "twice")

    assert second["state"]["name"] == "Executed elsewhere"
    assert second["state"]["type"] == "COMPLETED"
    assert leased == 1
    assert serving.pages.wait(first, "Cancelled")
    secret = serving.pages.login.partition(":")[2]
    assert "prefect.engine" in shown
    assert secret not in shown + said


def test_what_a_crashed_command_left_goes_on_on_the_server(serving: ServedHome) -> None:
    desk = serving.desk
    leased = RunLeased(epoch=1, holder=Holder(pid=1, host="elsewhere"))
    stopped = RunInterrupted(code="WORKFLOW_INTERRUPTED", reason=FROM_OUTSIDE)
    for run_id, ended in (("orphan", ()), ("left", (stopped,))):
        submit(desk, request_of(desk, QUESTION, sources=[serving.line.notes], run_id=run_id))
        desk.ledger.append(run_id, [draft(each) for each in (leased, RunStarted(), *ended)])

    knock(serving.home)
    run = serving.completed("orphan")

    assert run.epoch == 2
    by_tag = serving.pages.flow_runs("run:orphan")
    assert [each["name"] for each in by_tag] == [f"orphan · {QUESTION}"]
    assert serving.run("left").status == "interrupted"
    assert serving.pages.flow_runs("run:left") == []


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_page_of_another_origin_can_neither_resume_nor_start_nor_read(
    serving: ServedHome, origin: str
) -> None:
    flow_run = waiting_run(serving)
    deployment = serving.pages.ask("GET", f"/deployments/name/{RESEARCH}")["id"]
    resume = f"/flow_runs/{flow_run}/resume"
    start = f"/deployments/{deployment}/create_flow_run"
    body: dict[str, Any] = {"run_input": {"decision": "approve"}, "parameters": {}}
    evil = PagesClient(serving.pages.url, origin=origin)
    with_login = PagesClient(serving.pages.url, serving.pages.login, origin=origin)

    for path in (resume, start):
        with pytest.raises(HttpError) as unknown:
            evil.ask("POST", path, body)
        with pytest.raises(HttpError) as forged:
            with_login.ask("POST", path, body, csrf=False)
        allowed = with_login.headers("OPTIONS", path, {"Access-Control-Request-Method": "POST"})

        assert unknown.value.code == 401
        assert forged.value.code == 403
        assert "access-control-allow-origin" not in allowed
    assert "access-control-allow-origin" not in with_login.headers("GET", "/admin/version")
    assert serving.pages.flow_run(flow_run)["state"]["name"] == "Suspended"
    assert serving.run("unanswered").status == "waiting"


def test_the_pages_need_the_login_and_lead_nowhere_else(serving: ServedHome) -> None:
    stranger = PagesClient(serving.pages.url)

    with pytest.raises(HttpError) as refused:
        stranger.ask("GET", "/admin/version")
    page = stranger.headers("GET", "/../")

    assert refused.value.code == 401
    policy = page["content-security-policy"]
    assert f"connect-src 'self' {serving.pages.url.removesuffix('/api')} ws://127" in policy
    assert "frame-ancestors 'none'" in policy


def command_lines(home: ServedHome) -> str:
    """Return the command lines of all processes of what serves."""
    root = psutil.Process(home.served[-1].process.pid)
    return "\n".join(" ".join(each.cmdline()) for each in (root, *root.children(recursive=True)))


def waiting_run(home: ServedHome) -> str:
    """Return the flow run of a run that waits for a decision which nobody gives."""
    if home.desk.ledger.exists("unanswered"):
        return str(home.pages.flow_runs("run:unanswered")[0]["id"])
    flow_run = home.start("unanswered", review=True)
    home.pages.wait(flow_run, "Suspended")
    return flow_run
