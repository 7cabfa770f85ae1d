"""Requests: what may be asked, the limits by scope, and the hash that a run is bound to."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from state.request import RANGES, ResearchRequest, make_request
from state.research_events import ResearchStarted
from state.values.errors import InvalidRequest
from tests.state.builders import request, research_started

LIMITS = [(scope, name) for scope, limits in RANGES.items() for name in limits]


def refusal(**fields: Any) -> str:
    """Return what is said to a request with these fields."""
    with pytest.raises(InvalidRequest) as caught:
        request(**fields)
    return caught.value.message


def test_a_request_without_more_is_of_standard_scope_and_asks_a_question() -> None:
    asked = request()

    assert (asked.scope, asked.profile, asked.plan_review) == ("standard", "question", False)
    assert asked.budgets.max_rounds == RANGES["standard"]["max_rounds"][2]


@pytest.mark.parametrize(("scope", "name"), LIMITS)
def test_a_limit_outside_its_scopes_range_names_the_range(scope: str, name: str) -> None:
    least, most, default = RANGES[scope][name]

    for allowed in {least, default, most}:
        asked = request(scope=scope, limits={name: allowed})
        assert getattr(asked.budgets, name) == allowed
    for wrong in (least - 1, most + 1, -1, 0):
        said = refusal(scope=scope, limits={name: wrong})
        assert f"{name} is {wrong}; scope {scope} allows {least} to {most}" in said


def test_the_ranges_are_the_contracts() -> None:
    standard = {name: bounds[:2] for name, bounds in RANGES["standard"].items()}
    assert standard == {
        "max_queries": (1, 3),
        "max_pages": (1, 6),
        "max_rounds": (1, 4),
        "max_searches": (1, 12),
        "max_read_pages": (1, 16),
        "max_model_calls": (8, 24),
        "research_seconds": (1, 3600),
    }
    assert RANGES["quick"]["max_rounds"][:2] == (1, 1)
    deep = RANGES["deep"]
    assert [deep[n][1] for n in ("max_rounds", "max_read_pages", "max_model_calls")] == [
        10, 100, 200,
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [True, 2.0, "2", 2.5])
def test_limits_are_whole_numbers(wrong: object) -> None:
    assert "integer" in refusal(limits={"max_pages": wrong})


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"scope": "huge"}, "quick, standard, deep"),
        ({"profile": "poem"}, "question, codebase"),
        ({"research_type": "gossip"}, "research_type"),
        ({"question": ""}, "question"),
        ({"question": " \n"}, "question"),
        ({"question": "?!"}, "no words"),
        ({"question": "x" * 1201}, "at most 1200"),
        ({"audience": "x" * 301}, "at most 300"),
        ({"boundaries": "x" * 1001}, "at most 1000"),
        ({"principal": "ann smith"}, "principal"),
        ({"principal": "x" * 81}, "principal"),
        ({"principal": "ann\n"}, "principal"),
        ({"principal": "sk-a1B2c3D4e5F6"}, "like a secret"),
        ({"tenant": ""}, "tenant"),
        ({"run_id": "a b"}, "run id"),
        ({"run_id": "x" * 129}, "run id"),
        ({"run_id": "sk-a1B2c3D4e5F6"}, "like a secret"),
        ({"sources": [""]}, "at least 1"),
        ({"surprise": 1}, "surprise"),
        ({"limits": {"surprise": 1}}, "surprise"),
    ],
)
def test_a_request_that_breaks_a_rule_is_refused_in_words(
    fields: dict[str, Any], part: str
) -> None:
    said = refusal(**fields)

    assert part in said
    assert "Value error" not in said


def test_lengths_are_counted_in_code_points_after_the_white_space_is_collapsed() -> None:
    request(question="\U0001f600" * 1199 + "a")
    request(question="  a  " + " " * 2000 + "b ")
    request(question="e\u0301" * 1200)


@given(st.text(max_size=60))
def test_an_objective_is_in_nfc_on_one_line_and_stays_so(text: str) -> None:
    try:
        event = research_started(question=f"a {text}")
    except InvalidRequest:
        return
    again = ResearchStarted.model_validate_json(event.model_dump_json())

    assert again == event
    assert event.objective == " ".join(event.objective.split())


def test_an_objective_has_1_to_2000_characters() -> None:
    body = research_started().model_dump(mode="json")

    for length in (1, 2000):
        ResearchStarted.model_validate({**body, "objective": "x" * length})
    for wrong in ("", "  ", "x" * 2001):
        with pytest.raises(ValidationError, match="objective"):
            ResearchStarted.model_validate({**body, "objective": wrong})
    spaced = ResearchStarted.model_validate({**body, "objective": " e\u0301 \n\t b "})
    assert spaced.objective == "\u00e9 b"


def test_research_starts_with_the_scope_and_profile_that_were_asked_for() -> None:
    body = research_started().model_dump(mode="json")

    for changed in ({"scope": "deep"}, {"profile": "codebase"}):
        with pytest.raises(ValidationError, match="those of the request"):
            ResearchStarted.model_validate({**body, **changed})


def test_the_fingerprint_covers_everything_that_was_asked() -> None:
    asked = request()
    changes: list[dict[str, Any]] = [
        {"question": "Another question?"},
        {"principal": "bob"},
        {"tenant": "other"},
        {"audience": "Everybody"},
        {"boundaries": "2026"},
        {"profile": "codebase"},
        {"scope": "quick"},
        {"sources": ("/notes", "/more")},
        {"cross_check": True},
        {"allow_partial": False},
        {"plan_review": True},
        {"research_type": "policy"},
        {"ranking": "all-MiniLM-L6-v2-int8"},
        {"limits": {"max_pages": 1}},
        {"run_id": "run-2"},
    ]
    fingerprints = {asked.fingerprint, *(request(**change).fingerprint for change in changes)}

    assert len(fingerprints) == len(changes) + 1
    assert ResearchRequest.model_validate_json(asked.model_dump_json()) == asked
    assert request(sources=("/b", "/a")).fingerprint != request(sources=("/a", "/b")).fingerprint


def test_a_request_needs_somebody_who_asks() -> None:
    with pytest.raises(InvalidRequest, match="principal"):
        make_request(id="run-1", question="What?")


WEB: dict[str, Any] = {"allowed_origins": ("Example.org",), "search_providers": ("arxiv",)}


def test_a_request_names_hosts_in_one_spelling_and_references_within_them() -> None:
    asked = request(**WEB, reference_urls=("https://example.org/a",))

    assert asked.allowed_origins == ("example.org",)
    assert asked.uses_web


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"search_providers": ("arxiv",)}, "allowed_origins"),
        ({**WEB, "reference_urls": ("https://other.org/a",)}, "not within the allowed origins"),
        ({**WEB, "reference_urls": ("http://example.org/a",)}, "not within the allowed origins"),
        ({**WEB, "reference_urls": ("https://example.org/a",) * 4}, "reference_urls"),
        ({**WEB, "allowed_origins": ("10.0.0.1",)}, "is an address"),
        ({**WEB, "allowed_origins": tuple(f"h{n}.org" for n in range(13))}, "allowed_origins"),
        ({**WEB, "search_providers": ("Ar Xiv",)}, "search_providers"),
    ],
)
def test_what_a_run_may_not_read_of_the_web_is_refused(fields: dict[str, Any], said: str) -> None:
    assert said in refusal(**fields)


def test_a_request_without_the_web_has_the_fingerprint_it_had_before_there_was_one() -> None:
    asked = make_request(id="r1", principal="p", question="What is it?", sources=("/a",))

    assert not asked.uses_web
    assert asked.fingerprint == "fdc6f4e377050f25a97687bafbe3bb97ae51d300345c7efc70ba784d78a8dc84"
    assert request(**WEB).fingerprint != request().fingerprint
