"""Values are fitted to their schema where their meaning is beyond doubt."""

from enum import StrEnum
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from adapters.models.chat.fitting import fit


class Verdict(StrEnum):
    SUPPORTED = "supported"
    NO_TEXT = "no-text"


class Claim(BaseModel):
    claim_text: str
    verdict: Verdict = Verdict.SUPPORTED


class Report(BaseModel):
    queries: list[str] = []
    claims: list[Claim] = []
    score: float = 0.0
    share: float = Field(default=0.0, ge=0, le=1)
    count: int = 0
    is_done: bool = False
    note: str | None = None
    state: Literal["covered", "gap"] = "gap"


SCHEMA = Report.model_json_schema()


def fitted(value: object) -> Report:
    return Report.model_validate(fit(value, SCHEMA))


@pytest.mark.parametrize(
    ("queries", "wanted"),
    [
        (["a b", "c"], ["a b", "c"]),
        (["", ["a b", ["c"]], None, " "], ["a b", "c"]),
        ("a b", ["a b"]),
        ("- a b\n- c", ["a b", "c"]),
        (["Query: a b", "query 2: c"], ["a b", "c"]),
        (["Search query: a b"], ["a b"]),
        ([{"query": "a b"}, {"q": "c"}], ["a b", "c"]),
    ],
)
def test_lists_of_texts_come_in_many_forms(queries: object, wanted: list[str]) -> None:
    assert fitted({"queries": queries}).queries == wanted


def test_no_queries_stay_no_queries() -> None:
    assert fitted({"queries": ["", None, []]}).queries == []


@pytest.mark.parametrize(
    ("given_value", "wanted"),
    [("100%", 100), ("1,200", 1200), ("~ 12.5 %", 12.5), ("-3", -3), (7, 7)],
)
def test_numbers_are_read_out_of_texts(given_value: object, wanted: float) -> None:
    assert fitted({"score": given_value}).score == wanted


def test_a_percentage_of_a_share_is_a_share() -> None:
    assert fitted({"share": "80%"}).share == 0.8


def test_a_whole_number_with_a_point_is_whole() -> None:
    assert fitted({"count": 3.0}).count == 3
    assert fitted({"count": "100%"}).count == 100


@pytest.mark.parametrize("state", ["covered", "Covered", "COVERED", " covered. "])
def test_enumerated_values_are_known_in_any_case(state: str) -> None:
    assert fitted({"state": state}).state == "covered"


@pytest.mark.parametrize("verdict", ["No_Text", "NO TEXT", "noText"])
def test_enumerated_values_are_known_in_any_spelling(verdict: str) -> None:
    report = fitted({"claims": [{"claim_text": "x", "verdict": verdict}]})

    assert report.claims[0].verdict is Verdict.NO_TEXT


@pytest.mark.parametrize("key", ["claimText", "Claim Text", "CLAIM-TEXT", "claim_text"])
def test_keys_are_known_in_any_spelling(key: str) -> None:
    assert fitted({"Claims": [{key: "x"}]}).claims[0].claim_text == "x"


@pytest.mark.parametrize(
    "value",
    [
        {"Report": {"count": 4, "note": "n"}},
        {"properties": {"count": 4, "note": "n"}},
        [{"count": 4, "note": "n"}],
    ],
)
def test_an_envelope_too_many_is_taken_off(value: object) -> None:
    assert (fitted(value).count, fitted(value).note) == (4, "n")


def test_a_missing_envelope_is_added() -> None:
    class Plan(BaseModel):
        queries: list[str]

    assert fit(["a", "b"], Plan.model_json_schema()) == {"queries": ["a", "b"]}


def test_holes_in_lists_are_dropped_and_one_is_a_list() -> None:
    assert len(fitted({"claims": [None, {"claim_text": "x"}, None]}).claims) == 1
    assert len(fitted({"claims": {"claim_text": "x"}}).claims) == 1


def test_a_null_that_is_allowed_stays_null() -> None:
    assert fitted({"note": None}).note is None


@pytest.mark.parametrize(("word", "wanted"), [("Yes", True), ("false", False)])
def test_words_for_true_and_false_are_read(word: str, wanted: bool) -> None:
    assert fitted({"is_done": word}).is_done is wanted


def test_a_text_that_only_looks_like_a_label_is_left_alone() -> None:
    text = "Note that ratio: 3 to 1"

    assert fitted({"note": text}).note == text


reports = st.builds(
    Report,
    queries=st.lists(st.from_regex(r"[a-z]{1,8}( [a-z]{1,8})?", fullmatch=True), max_size=3),
    claims=st.lists(
        st.builds(
            Claim, claim_text=st.text(min_size=1, max_size=9), verdict=st.sampled_from(Verdict)
        ),
        max_size=3,
    ),
    score=st.floats(allow_nan=False, allow_infinity=False),
    share=st.floats(0, 1),
    count=st.integers(),
    is_done=st.booleans(),
    note=st.none() | st.from_regex(r"[a-z ]{0,9}", fullmatch=True),
    state=st.sampled_from(["covered", "gap"]),
)


@given(reports)
def test_what_fits_is_left_as_it_is(report: Report) -> None:
    assert fitted(report.model_dump(mode="json")) == report


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["queries", "claims", "count", "x"]), inner, max_size=4
            )
        ),
    )
)
def test_nothing_breaks_it(value: object) -> None:
    fit(value, SCHEMA)
