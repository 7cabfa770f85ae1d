"""What a run with a model may use: reserved before each call, and a report whatever ends first."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.models.language.researcher import LanguageResearcher
from flows import estimating, rounds, writing
from flows.chat_models import chat_model
from flows.estimating import estimate
from flows.models import require_model
from flows.settings import Settings
from state.request import ResearchRequest, make_request
from state.values.errors import InvalidRequest
from tasks import assess
from tests.adapters.models.chat.openai_server import Say
from tests.annex import QUESTION
from tests.flows.answerer import Answer
from tests.flows.modelled import MODEL, Place, overspent, served

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Give the model a price, as the settings of one behind a gateway do."""
    monkeypatch.setenv("ASSAY_MODEL_INPUT_USD", "1")
    monkeypatch.setenv("ASSAY_MODEL_OUTPUT_USD", "4")
    return {"model_input_usd": 1, "model_output_usd": 4}


def always_open(prompt: str, honest: Answer) -> Answer:
    """Call nothing covered, and ask for more each time."""
    used = prompt.count(";")
    for each in honest["answers"]:
        each |= {"coverage": "gap", "gap": "More is needed.", "next_query": f"Meridian {used}"}
    return honest


# ---- research ends, and a report is written


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_rounds": 1}, "round-budget"),
        ({"max_searches": 2}, "search-budget"),
        ({"max_read_pages": 2}, "page-budget"),
        ({"research_seconds": 1}, "deadline"),
    ],
)
def test_a_budget_of_research_that_ends_leaves_an_answer_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], reason: str
) -> None:
    """Cases: round budget, search budget, page budget, deadline."""
    with served(tmp_path, monkeypatch) as place:
        result = place.research(limits=limits)

        assert (result.status, result.stop_reason) == ("completed", reason)
        assert result.answer_status == "answered"
        assert "**Answered in part.**" in place.markdown
        assert "25 members" in " ".join(claim["text"] for claim in result.claims)
        assert len(place.annex.searches) <= limits.get("max_searches", 9)
        assert result.usage["pages"] <= limits.get("max_read_pages", 16)
        assert overspent(place) == []


def test_calls_are_kept_for_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases: model budget, B3 35."""
    with served(tmp_path, monkeypatch, lies={"assess": always_open}) as place:
        result = place.research(limits={"max_model_calls": 8}, scope="deep")

        assert (result.status, result.stop_reason) == ("completed", "model-budget")
        assert result.usage["model_calls"] <= 8
        assert place.calls <= 8
        assert place.answerer.asked.count("assess") == 1
        assert place.answerer.asked.count("write_section") >= 2
        assert result.claims
        assert overspent(place) == []


# ---- tokens and money


@pytest.mark.parametrize("tokens", [6_000, 12_000, 14_000])
def test_tokens_are_reserved_and_never_exceeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokens: int
) -> None:
    """Cases: B5 58, 61."""
    with served(tmp_path, monkeypatch) as place:
        result = place.read_notes(limits={"max_tokens": tokens})

        assert result.status == "completed"
        assert (result.answer_status, result.stop_reason) == (
            ("answered", "coverage-complete")
            if tokens > 6_000
            else ("insufficient-evidence", "token-budget")
        )
        assert overspent(place) == []


@pytest.mark.parametrize("micro_usd", [8_000, 40_000])
def test_dollars_are_reserved_and_never_exceeded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    priced: dict[str, Any],
    micro_usd: int,
) -> None:
    with served(tmp_path, monkeypatch, **priced) as place:
        result = place.read_notes(limits={"max_cost_micro_usd": micro_usd})

        assert result.status == "completed"
        answers = micro_usd > 8_000
        assert result.stop_reason == ("coverage-complete" if answers else "cost-budget")
        assert bool(result.claims) == answers
        assert 0 < result.usage["cost_micro_usd"] <= micro_usd
        assert overspent(place) == []


def test_tokens_that_a_provider_had_cached_are_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: B5 61."""
    counted = []
    for cached in (0, 50):
        with served(tmp_path / f"{cached:02}", monkeypatch) as place:
            place.answerer.shape = partial(Say, truth=True, cached=cached, piece=2000)
            usage = place.read_notes().usage
        assert usage["cached_tokens"] == cached * usage["model_calls"]
        counted.append(usage["input_tokens"] + usage["cached_tokens"])

    assert counted[0] == counted[1]


def test_a_budget_too_small_for_a_plan_asks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path, monkeypatch) as place:
        result = place.read_notes(limits={"max_tokens": 1_000})

        assert (result.status, result.code) == ("failed", "BUDGET_EXCEEDED")
        assert "limit is 1000" in result.reason
        assert place.calls == 0


def test_dollars_of_a_hosted_model_without_a_price_are_refused(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, model_url="https://models.example/v1")
    priced = settings.model_copy(update={"model_input_usd": 1, "model_output_usd": 4})

    require_model(priced, MODEL, in_dollars=True)
    require_model(settings, MODEL, in_dollars=False)
    with pytest.raises(InvalidRequest, match="ASSAY_MODEL_INPUT_USD"):
        require_model(settings, MODEL, in_dollars=True)


def test_without_evidence_a_deep_report_asks_the_model_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path, monkeypatch, "empty") as place:
        result = place.research(scope="deep", limits={"max_rounds": 1})

        assert result.answer_status == "insufficient-evidence"
        assert place.answerer.asked == ["plan"]


def test_an_assessment_that_fails_later_leaves_what_was_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: B1 20."""

    def once(prompt: str, honest: Answer) -> Answer | str:
        return "I cannot say." if "Quotes held" in prompt else honest

    with served(tmp_path, monkeypatch, lies={"assess": once}) as place:
        result = place.research()

        assert (result.status, result.stop_reason) == ("completed", "no-progress")
        assert "**Answered in part.**" in place.markdown
        assert "MODEL_OUTPUT" in place.markdown.replace("\\", "")
        assert "25 members" in " ".join(claim["text"] for claim in result.claims)


# ---- what is recorded, and what is told before


def test_every_outcome_of_a_model_names_the_model_and_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path, monkeypatch) as place:
        place.read_notes()

        rows = place.desk.ledger.query("SELECT verb, model, prompt FROM model_calls").rows
        assert {(verb, prompt.partition("@")[0]) for verb, _, prompt in rows} == {
            ("plan", "plan"),
            ("assess", "assess"),
            ("synthesise", "synthesise"),
            ("check", "check-claims"),
        }
        assert {model for _, model, _ in rows} == {MODEL}
        assert all(re.fullmatch(r"[a-z-]+@\d+\+[0-9a-f]{12}", prompt) for *_, prompt in rows)
        others = place.desk.ledger.query("SELECT model FROM steps WHERE model_calls = 0").rows
        assert {model for (model,) in others} == {None}


def request(**options: Any) -> ResearchRequest:
    given = {"id": "r", "principal": "p", "question": QUESTION, "sources": ("/notes",), **options}
    return make_request(**given)


def researcher(home: Path, **settings: Any) -> LanguageResearcher:
    given = {"model_url": "http://127.0.0.1:9/v1", "model_context": 8192, **settings}
    return LanguageResearcher(chat_model(Settings(home=home, **given), MODEL))


def test_an_estimate_bounds_what_a_run_reserves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, priced: dict[str, Any]
) -> None:
    """Cases: B5 59."""
    told = estimate(request(), researcher(tmp_path, **priced))

    with served(tmp_path / "home", monkeypatch, **priced) as place:
        result = place.research()
        reserved = sum(_reserved(place))

    assert told.about.model_calls == result.usage["model_calls"]
    assert reserved <= told.most.tokens
    used = result.usage["input_tokens"] + result.usage["output_tokens"]
    assert used <= 2 * told.about.tokens <= told.most.tokens
    assert result.usage["cost_micro_usd"] <= told.most.cost_micro_usd


def _reserved(place: Place) -> list[int]:
    spends = [body["reserve"] for type_, body in place.events if type_ == "effect_reserved"]
    return [spend["input_tokens"] + spend["output_tokens"] for spend in spends]


def test_an_estimate_is_within_the_budgets_and_grows_with_the_scope(tmp_path: Path) -> None:
    asked = researcher(tmp_path)
    quick, deep = estimate(request(scope="quick"), asked), estimate(request(scope="deep"), asked)
    within = estimate(request(limits={"max_model_calls": 8, "max_tokens": 9_000}), asked)

    assert quick.about.tokens < deep.about.tokens
    assert quick.most.tokens < deep.most.tokens
    assert within.most.tokens == 9_000
    assert within.about.model_calls <= within.most.model_calls == 8
    assert "dollars" not in str(deep)
    small = estimate(
        request(question="帕沃团队最多可以有多少成员?"), researcher(tmp_path, model_context=4096)
    )
    assert small.about.tokens < small.most.tokens < quick.most.tokens * 2


def test_an_estimate_is_made_with_the_limits_that_the_method_has() -> None:
    assert estimating.MAX_EVIDENCE == rounds.MAX_EVIDENCE
    assert estimating.MAX_CLAIMS == writing.MAX_CLAIMS
    assert estimating.POOL_CHARACTERS == assess.POOL_CHARACTERS
