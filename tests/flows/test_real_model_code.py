"""Code from a paper with a small real model on loopback: what it came to is said truthfully.

So small a model does not always write code that passes: then the run has to say so, and what it
delivers has to be what it says.
"""

import asyncio
import sys
import time
from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    try:
        with model_server.serve(context=CONTEXT) as url:
            yield url
    except model_server.Absent as absent:
        pytest.skip(absent.reason)


def test_a_paper_becomes_code_or_a_true_account_of_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_url: str
) -> None:
    paper = tmp_path / "paper.pdf"
    paper.write_bytes(print_pdf((PAPERS / "debiased-smoothing.md").read_text(encoding="utf-8")))
    monkeypatch.setenv("ASSAY_MODEL_URL", base_url)
    settings = Settings(home=tmp_path / "home", model_url=base_url, model_context=CONTEXT)
    desk = make_desk(settings)
    request = compose_code_request(
        str(paper),
        now=desk.now(),
        workspace=tmp_path / "code",
        model=model_server.NAME,
        review=False,
        run_id="c1",
    )
    submit_code(desk, request)
    began = time.monotonic()

    result = execute(desk, "c1")

    assert isinstance(result, CodeResult)
    sys.stderr.write(
        f"{result.outcome or result.code}: {len(result.verifications)} verifications, "
        f"{result.usage['model_calls']} calls, {time.monotonic() - began:.0f} s: {result.reason}\n"
    )
    if result.status == "interrupted":
        pytest.skip(f"the model was not to be had in time: {result.reason}")
    run = desk.ledger.project("c1")
    assert run.paper2code is not None
    assert run.paper2code.sources[0].media_type == "application/pdf"
    audit = asyncio.run(audit_run(desk, "c1"))
    assert audit.ok, audit.findings
    if result.status == "completed":
        last = result.verifications[-1]
        assert (last["verdict"], last["failed"]) == ("passed", 0)
        assert last["executed"] >= 1
        assert result.missing == []
    else:
        assert result.code in ("WORKFLOW_INCOMPLETE", "PLAN_INVALID")
        assert result.reason
    if result.outcome:
        report = (tmp_path / "code" / "REPORT.md").read_text(encoding="utf-8")
        assert ("Incomplete" in report) == (result.outcome == "incomplete")
        assert audit.citations_verified > 0
        for path, text_hash in result.files.items():
            assert desk.artifacts.get(text_hash) == (tmp_path / "code" / path).read_bytes()
