"""What only a browser shows: Prefect's pages of `assay serve` as a person sees and uses them.

A research run and a Paper2Code run wait for a decision on their plans, everything is stopped and
started again, and then a person signs in.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from state.projection import Run
from tests.browser import SMALL, WIDE, Browser, Page, Screen, browser, find_chromium
from tests.flows.code_world import PAPER
from tests.flows.pages_client import until
from tests.flows.served_home import ServedHome, served_home
from tests.flows.test_paper2code import needs_sandbox

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        find_chromium() is None,
        reason="there is no Chromium; install Debian's package chromium, as .ci/run does",
    ),
]

QUESTION = "How long are Meridian audit logs kept, and how many members has a Pavo team?"
ASIDE = "How long are Meridian audit logs kept?"


# As a page would that hopes for the login of whoever has it open: with and without a look ahead
# by the browser (CORS preflight).
_FORGE = """
async (api, asks) => {
    const manners = [
        {mode: "cors", headers: {"Content-Type": "application/json"}},
        {mode: "no-cors", headers: {"Content-Type": "text/plain"}},
    ];
    const came = [];
    for (const [path, body] of asks) for (const manner of manners) {
        const given = {method: "POST", credentials: "include", body: JSON.stringify(body)};
        try { came.push((await fetch(api + path, {...given, ...manner})).type) }
        catch (error) { came.push(error.name) }
    }
    return came;
}
"""


@dataclass
class Shown:
    """The home after everything was started again, the browser, and flow runs by their run."""

    home: ServedHome
    browser: Browser
    page: Page
    folder: Path
    flow_runs: dict[str, str]

    def open_run(self, run_id: str, tab: str = "Logs", screen: Screen = WIDE) -> None:
        """Open the page of the run's flow run."""
        self.page.resize(screen)
        flow_run = self.flow_runs[run_id]
        self.page.open(f"{self.home.address}/v2/runs/flow-run/{flow_run}?tab={tab}")

    def open_report(self, run_id: str, screen: Screen = WIDE) -> None:
        """Open the run's report from the page of its flow run."""
        self.open_run(run_id, "Artifacts", screen)
        self.page.shows(f"The report of {run_id}")  # until then the cards still grow
        self.page.click("a", f"report-{run_id}")

    def open_form(self) -> None:
        """Open the form of the flow run whose page is open."""
        self.page.click("button", "Open menu")
        self.page.click("[role=menuitem]", "Resume")
        self.page.shows("Decision", "[role=dialog]")

    def decide(self, decision: str) -> None:
        """Choose a decision in the form and send it."""
        self.page.click("[role=dialog] button", "Decision")
        self.page.click("[role=option]", decision)
        self.page.shows(decision, "[role=dialog] button")
        self.page.until("() => !document.querySelector('[role=option]')")
        self.page.click("[role=dialog] button", "Resume")
        self.page.shows("Flow run resumed")

    def wait(self, run_id: str, *names: str) -> dict[str, Any]:
        """Return the run's flow run once its state has one of `names`."""
        return self.home.pages.wait(self.flow_runs[run_id], *names)

    def shoot(self, name: str) -> None:
        """Keep what is on the screen for whoever wants to look."""
        self.page.shoot(self.folder / f"{name}.png")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("shown")
    with served_home(folder) as home, browser(folder / "profile") as chromium:
        home.serve()
        review = {"review": True, "model": "served", "scope": "quick"}
        flow_runs = {
            "reviewed": home.start("reviewed", question=QUESTION, **review),
            "refused": home.start("refused", scope="quick", limits={"max_rounds": 9}),
        }
        page = chromium.page()
        sign_in(page, home)
        ask_for_code(page, home, folder)
        flow_runs["smoother"] = until(lambda: home.pages.flow_runs("run:smoother"), bool)[0]["id"]
        for run_id in ("reviewed", "smoother"):
            home.pages.wait(flow_runs[run_id], "Suspended")
        home.pages.wait(flow_runs["refused"], "Failed")

        assert home.stop_all() == 0
        home.serve()
        sign_in(page, home)
        yield Shown(home, chromium, page, folder, flow_runs)


def sign_in(page: Page, home: ServedHome) -> None:
    """Sign in as the login says that 'assay doctor --ui' shows."""
    page.open(f"{home.address}/v2/login")
    page.fill("input[type=password]", {"": home.pages.login})
    page.click("button", "Login")
    page.until("() => location.pathname.endsWith('/dashboard')")


def ask_for_code(page: Page, home: ServedHome, folder: Path) -> None:
    """Ask for code by the form, as the README says."""
    (folder / "paper.md").write_text(PAPER)
    page.click("a", "Deployments")
    page.click("a", "paper2code")
    page.click("button", "Run")
    page.click("[role=menuitem]", "Custom run")
    asked = {
        "Paper or repository": str(folder / "paper.md"),
        "Folder for the code": str(folder / "code"),
        "Language model": "served",
        "Run id": "smoother",
    }
    page.fill("textarea", asked)
    page.click("button", "Submit")
    page.until("() => !location.pathname.endsWith('/run')")


def completed(shown: Shown, run_id: str) -> Run:
    """Return the run once its flow run has completed."""
    ended = shown.wait(run_id, "Completed", "Failed", "Crashed", "Suspended")
    assert ended["state"]["name"] == "Completed", ended["state"]
    return shown.home.completed(run_id)


def test_a_plan_is_carried_out_as_soon_as_a_person_approves_it_and_for_no_other_reason(
    shown: Shown,
) -> None:
    shown.open_run("reviewed")
    shown.open_form()
    for said in ("Plan 1", "How many members has a Pavo team?", "What was asked for", "served"):
        shown.page.shows(said, "[role=dialog]")
    shown.page.shows(str(shown.home.line.notes), "[role=dialog]")
    shown.shoot("form")

    refuse_another_origin(shown, "reviewed")
    shown.page.click("[role=dialog] button", "Resume")
    shown.page.shows("'decision' is a required property")
    shown.shoot("refused")
    assert shown.wait("reviewed", "Suspended")
    assert shown.home.run("reviewed").status == "waiting"

    shown.decide("revise")
    asked_again(shown, "reviewed")
    shown.open_run("reviewed")
    shown.open_form()
    shown.page.shows("a revision needs feedback: say what should change", "[role=dialog]")
    shown.shoot("asked-again")
    assert shown.home.run("reviewed").live_review is not None

    shown.decide("approve")
    run = completed(shown, "reviewed")
    assert run.reviews[0].answer is not None
    assert run.reviews[0].answer.channel == "prefect"
    shown.open_report("reviewed")
    shown.page.shows("Meridian audit logs are kept for 30 days.")
    shown.page.shows("A Pavo team holds at most 25 members.")
    shown.shoot("report")


def refuse_another_origin(shown: Shown, run_id: str) -> None:
    """Let a page of another origin, open in the same browser, try to approve and to deploy."""
    home, api = shown.home, shown.home.pages
    flow = api.ask("POST", "/flows/filter", {})[0]["id"]
    asks = [
        (f"/flow_runs/{shown.flow_runs[run_id]}/resume", {"run_input": {"decision": "approve"}}),
        ("/deployments/", {"name": "forged", "flow_id": flow}),
    ]
    before = home.types(run_id), len(api.ask("POST", "/deployments/filter", {}))

    with another_origin() as address:
        evil = shown.browser.page()
        evil.send("Network.enable")
        evil.open(address)
        came = evil.ask(_FORGE, api.url, asks)
        answers = until(lambda: evil.answers(api.url), lambda given: len(given) >= len(came))
    shown.page.send("Page.bringToFront")  # a tab behind another draws nothing

    assert came == ["TypeError", "opaque"] * len(asks)
    # Refused before they are sent, as no other origin may ask, or for want of the pages' token.
    assert [(asked.split()[0], status) for asked, status in answers] == [
        ("OPTIONS", HTTPStatus.BAD_REQUEST),
        ("POST", HTTPStatus.FORBIDDEN),
    ] * len(asks)
    assert api.flow_run(shown.flow_runs[run_id])["state"]["name"] == "Suspended"
    assert before == (home.types(run_id), len(api.ask("POST", "/deployments/filter", {})))


def asked_again(shown: Shown, run_id: str) -> None:
    """Return when the flow run is suspended under the next key."""
    until(
        lambda: shown.home.pages.flow_run(shown.flow_runs[run_id])["state"],
        lambda state: str(state["state_details"]["pause_key"]).endswith("-again-2"),
    )


@needs_sandbox
def test_code_that_was_asked_for_by_the_form_is_approved_on_a_small_screen_and_tested(
    shown: Shown,
) -> None:
    """Cases: A 8, D 28."""
    page = shown.page
    shown.open_run("smoother", screen=SMALL)
    shown.open_form()
    for said in ("Plan 1: A smoother with a correction", "tests/test_smoother.py", "200"):
        page.shows(said, "[role=dialog]")
    assert page.ask(
        "width => document.querySelector('[role=dialog]').getBoundingClientRect().right <= width",
        SMALL.width,
    )
    shown.shoot("small-form")

    shown.decide("approve")
    run = completed(shown, "smoother")

    assert run.paper2code is not None
    assert run.paper2code.verification is not None
    assert run.paper2code.verification.passed == run.paper2code.verification.executed > 0
    assert (shown.folder / "code" / "smoother.py").is_file()
    shown.open_report("smoother", SMALL)
    page.shows("Complete: every planned file is there")
    shown.shoot("small-report")


def test_a_refused_form_says_so_by_the_names_of_its_fields(shown: Shown) -> None:
    shown.open_run("refused", "Details")

    shown.page.shows(f"refused · {ASIDE}")
    shown.page.shows("“Rounds in all” is 9; scope quick allows 1 to 1")
    shown.shoot("failure")
    said = shown.home.served[0].said
    assert "run reviewed waits for a decision on its plan: http" in said
    assert "/v2/runs/flow-run/" in said
    assert f"refused · {ASIDE}: “Rounds in all” is 9" in said


@contextmanager
def another_origin() -> Iterator[str]:
    """Serve an empty page on another port and give its address."""

    class Empty(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_request(self, code: object = "-", size: object = "-") -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Empty) as http:
        threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{http.server_address[1]}/"
        http.shutdown()
