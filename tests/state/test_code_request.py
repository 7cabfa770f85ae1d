"""What is asked for when code shall be made, and what of it is kept to the letter."""

from typing import Any

import pytest
from pydantic import ValidationError

from state.code_events import CodeStarted
from state.events import draft
from state.values.redaction import REDACTED
from tests.state.builders import TOKEN
from tests.state.code_builders import code_request


def recorded(**fields: Any) -> dict[str, Any]:
    """Return the request as it is recorded."""
    body = draft(CodeStarted(request=code_request(**fields))).body["request"]
    assert isinstance(body, dict)
    return body


def test_paths_are_kept_to_the_letter() -> None:
    paths = {
        "source": "/home/ann/sk-learn-tutorials/paper.pdf",
        "workspace": "/home/ann/token=abcdefgh",
        "reference_repositories": ("/home/ann/sk-learn-tutorials",),
        "excluded_repositories": ("/home/ann/sk-learn-forks",),
    }
    body = recorded(**paths)

    assert {name: body[name] for name in paths} == {
        **paths,
        "reference_repositories": list(paths["reference_repositories"]),
        "excluded_repositories": list(paths["excluded_repositories"]),
    }


def test_secrets_in_addresses_and_in_words_are_redacted() -> None:
    url = f"https://papers.example.org/a.pdf?token={TOKEN}"
    words = f"/implement it with {TOKEN}"

    assert REDACTED in recorded(source_type="url", source=url)["source"]
    for field in ("source", "requirement"):
        body = recorded(source_type="requirement", **{"source": "Print it.", field: words})
        assert TOKEN not in body[field]
        assert REDACTED in body[field]


def test_a_request_that_was_recorded_is_read_again() -> None:
    request = code_request(source_type="requirement", source="Print it.", plan_review=False)
    event = CodeStarted(request=request)

    assert CodeStarted.model_validate(draft(event).body).request == request


@pytest.mark.parametrize(
    "fields",
    [
        {"run_id": "a b"},
        {"run_id": TOKEN},
        {"principal": ""},
        {"principal": TOKEN},
        {"source_type": "chat"},
        {"source": ""},
        {"source": " \n"},
        {"source": "x" * 16385},
        {"source": "\ud800"},
        {"requirement": "\t"},
        {"workspace": ""},
        {"model": "a b"},
        {"model": TOKEN},
        {"max_files": 0},
        {"max_files": 201},
        {"max_repairs": 4},
        {"max_repairs": True},
        {"surprise": 1},
    ],
)
def test_a_request_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        code_request(**fields)


def test_the_fingerprint_is_of_everything_asked() -> None:
    asked = code_request().fingerprint

    assert code_request().fingerprint == asked
    for other in ({"plan_review": False}, {"max_repairs": 1}, {"requirement": "In Rust."}):
        assert code_request(**other).fingerprint != asked


def test_a_title_is_one_short_line() -> None:
    request = code_request(source_type="requirement", source="Print\n  it. " + "x" * 200)

    assert request.title.startswith("Print it. x")
    assert len(request.title) == 120
