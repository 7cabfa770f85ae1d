"""Code from papers with a small real model on loopback: what it came to is said truthfully.

A short method description becomes a package whose tests ran and passed. A harder one may end
incomplete: then the run has to say so, and what it delivers has to be what it says.
"""

import asyncio
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from flows.audit import audit_run
from flows.code_runs import CodeResult, compose_code_request, submit_code
from flows.runs import execute
from flows.settings import Settings
from flows.wiring import make_desk
from tests import model_server
from tests.flows.printing import PAPERS, print_pdf

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.usefixtures("prefect_server"),
]
CONTEXT = 8192
EASY, HARDER = "clipped-mean", "debiased-smoothing"
TIME_FOR_ANOTHER_S = 180.0  # a machine that took longer than this is too slow for one paper more


@dataclass
class Bench:
    """The model's server while it runs, and when the first paper was begun."""

    url: str
    began: float = field(default_factory=time.monotonic)

    def skip_if_late(self) -> None:
        """Skip what is left where the papers before took too long."""
        took = time.monotonic() - self.began
        if took > TIME_FOR_ANOTHER_S:
            pytest.skip(f"the papers before took {took:.0f} s here; there is no time for another")


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    try:
        with model_server.serve(context=CONTEXT, threads=1) as url:
            yield Bench(url)
    except model_server.Absent as absent:
        pytest.skip(absent.reason)


def make_code(paper: Path, folder: Path, url: str) -> CodeResult:
    """Make code of the paper, and check that what is said of it is true."""
    folder.mkdir(exist_ok=True)
    settings = Settings(
        home=folder / "home", model_url=url, model_context=CONTEXT, model_deadline_s=900
    )
    desk = make_desk(settings)
    request = compose_code_request(
        str(paper),
        now=desk.now(),
        workspace=folder / "code",
        model=model_server.NAME,
        review=False,
        run_id="c1",
    )
    submit_code(desk, request)
    began = time.monotonic()
    result = execute(desk, "c1")
    assert isinstance(result, CodeResult)
    last = result.verifications[-1] if result.verifications else {}
    sys.stderr.write(
        f"{paper.name}: {result.outcome or result.code}; {len(result.files)} files, "
        f"{last.get('passed', 0)} of {last.get('executed', 0)} tests passed, "
        f"{max(0, len(result.verifications) - 1)} repairs, "
        f"{result.usage['model_calls']} calls, {time.monotonic() - began:.0f} s {result.reason}\n"
    )
    if result.status == "interrupted":
        pytest.skip(f"the model was not to be had in time: {result.reason}")
    run = desk.ledger.project("c1")
    assert run.paper2code is not None
    is_pdf = paper.suffix == ".pdf"
    assert (run.paper2code.sources[0].media_type == "application/pdf") == is_pdf
    audit = asyncio.run(audit_run(desk, "c1"))
    assert audit.ok, audit.findings
    if result.status == "completed":
        assert (last["verdict"], last["failed"]) == ("passed", 0)
        assert last["executed"] >= 1
        assert len(result.verifications) <= 4
        assert result.missing == []
    else:
        assert result.code in ("WORKFLOW_INCOMPLETE", "PLAN_INVALID")
        assert result.reason
    if result.outcome:
        report = (folder / "code" / "REPORT.md").read_text(encoding="utf-8")
        assert ("Incomplete" in report) == (result.outcome == "incomplete")
        assert audit.citations_verified > 0
        for path, text_hash in result.files.items():
            assert desk.artifacts.get(text_hash) == (folder / "code" / path).read_bytes()
    return result


def test_a_short_paper_becomes_a_package_whose_tests_ran_and_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bench: Bench
) -> None:
    monkeypatch.setenv("ASSAY_MODEL_URL", bench.url)
    markdown = (PAPERS / f"{EASY}.md").read_text(encoding="utf-8")
    printed, written = tmp_path / "paper.pdf", tmp_path / "paper.md"
    printed.write_bytes(print_pdf(markdown))
    written.write_text(markdown, encoding="utf-8")

    results = [make_code(printed, tmp_path / "of-pdf", bench.url)]
    if results[0].status != "completed" or time.monotonic() - bench.began < TIME_FOR_ANOTHER_S:
        results.append(make_code(written, tmp_path / "of-markdown", bench.url))

    assert "completed" in [each.status for each in results], [each.reason for each in results]


def test_a_harder_paper_becomes_code_or_a_true_account_of_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bench: Bench
) -> None:
    bench.skip_if_late()
    monkeypatch.setenv("ASSAY_MODEL_URL", bench.url)
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(print_pdf((PAPERS / f"{HARDER}.md").read_text(encoding="utf-8")))

    result = make_code(paper, tmp_path, bench.url)

    assert (result.status == "completed") == (result.missing == [] and not result.reason)
