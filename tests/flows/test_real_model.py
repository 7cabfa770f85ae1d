"""Whole runs with a small real model on loopback: what is asserted are verified properties."""

import asyncio
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.audit import audit_run
from flows.runs import RunResult, execute, request_of, submit
from flows.settings import Settings
from flows.wiring import make_desk
from tests import model_server
from tests.annex import QUESTION, Mode, serving

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.usefixtures("prefect_server"),
]
CONTEXT = 4096


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    try:
        with model_server.serve(context=CONTEXT) as url:
            yield url
    except model_server.Absent as absent:
        pytest.skip(absent.reason)


def researched(
    home: Path, monkeypatch: pytest.MonkeyPatch, base_url: str, mode: Mode
) -> tuple[RunResult, set[str]]:
    """Return what the annex in `mode` came to, and the sites that were asked; all is verified."""
    with serving(mode) as annex:
        monkeypatch.setenv("ASSAY_MODEL_URL", base_url)
        monkeypatch.setenv("ASSAY_SEARXNG_URL", annex.a)
        settings = Settings(
            home=home,
            services=annex.origins,
            searxng_url=annex.a,
            model_url=base_url,
            model_context=CONTEXT,
        )
        desk = make_desk(settings)
        request = request_of(
            desk, QUESTION, search=["searxng"], origins=annex.origins,
            model=model_server.NAME, run_id="r1",
        )  # fmt: skip
        began = time.monotonic()
        result = execute(desk, submit(desk, request).run_id)
        usage = result.usage
        tokens = usage["input_tokens"] + usage["cached_tokens"] + usage["output_tokens"]
        sys.stderr.write(
            f"{mode}: {usage['model_calls']} calls, {tokens} tokens, "
            f"{time.monotonic() - began:.0f} s\n"
        )
        audit = asyncio.run(audit_run(desk, "r1"))
        assert result.status == "completed", result.reason
        assert audit.ok
        return result, {site for site, _ in annex.asked}


def stated(result: RunResult) -> str:
    return " ".join(claim["text"] for claim in result.claims)


def quoted(result: RunResult) -> str:
    return " ".join(citation["quote"] for citation in result.citations)


def test_the_annex_is_answered_by_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_url: str
) -> None:
    result, _ = researched(tmp_path, monkeypatch, base_url, "normal")

    # A model this small sometimes sees a gap where there is none: it then asks in vain once more.
    assert result.answer_status == "answered"
    assert result.stop_reason in ("coverage-complete", "no-progress", "round-budget")
    for told in (stated(result), quoted(result)):
        assert "25" in told
        assert "30" in told
        assert "9999" not in told


@pytest.mark.xfail(strict=False, reason="so small a model overlooks one of two sources at times")
def test_sources_that_disagree_are_a_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_url: str
) -> None:
    result, _ = researched(tmp_path, monkeypatch, base_url, "conflict")

    assert result.answer_status == "conflicting-evidence"
    assert "30 days" in quoted(result)
    assert "40 days" in quoted(result)


def test_orders_are_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_url: str
) -> None:
    result, asked = researched(tmp_path, monkeypatch, base_url, "hostile")

    assert result.answer_status == "answered"
    assert "9999" not in stated(result)
    assert asked == {"a", "b"}


def test_without_a_hit_nothing_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_url: str
) -> None:
    result, _ = researched(tmp_path, monkeypatch, base_url, "empty")

    assert result.answer_status == "insufficient-evidence"
    assert result.claims == []
