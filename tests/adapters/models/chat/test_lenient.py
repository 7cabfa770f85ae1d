"""JSON as models write it is read; what is not there or not whole is said to be so."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.chat.lenient import CutOff, NoJson, read_json, without_thoughts

values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=10,
)
containers = values.filter(lambda value: isinstance(value, dict | list))


def first(text: str) -> object:
    return next(read_json(text))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ["b", 1]}',
        '\ufeff {"a": ["b", 1]}\n',
        'Sure! Here is the JSON:\n\n{"a": ["b", 1]}\n\nI hope this helps {you}.',
        '```json\n{"a": ["b", 1]}\n```',
        'Text\n```\n{"a": ["b", 1]}\n```\nmore',
        '```json\n{"a": ["b", 1]}',
        '<think>Perhaps {"a": 2}?</think>{"a": ["b", 1]}',
        'So {"a": 3} is wrong.</think>\n{"a": ["b", 1]}',
        '{"a": ["b", 1,],}',
        "{'a': ['b', 1]}",
        '{"a": ("b", 1)}',
        'Use {curly} braces: {"a": ["b", 1]}',
        'As in [1], {"a": ["b", 1]}',
    ],
)
def test_json_is_found_in_what_stands_around_it(text: str) -> None:
    assert {"a": ["b", 1]} in list(read_json(text))


def test_what_cannot_be_a_number_is_null() -> None:
    assert first('{"a": NaN, "b": -Infinity}') == {"a": None, "b": None}


def test_python_words_are_read() -> None:
    assert first("{'yes': True, 'no': False, 'none': None}") == {
        "yes": True,
        "no": False,
        "none": None,
    }


def test_line_breaks_in_a_text_are_kept() -> None:
    assert first('{"a": "one\ntwo"}') == {"a": "one\ntwo"}


def test_commas_inside_a_text_are_left_alone() -> None:
    assert first('{"a": "x,]", "b": [1,],}') == {"a": "x,]", "b": [1]}


def test_a_thought_is_only_taken_off_where_an_answer_begins() -> None:
    assert first('{"a": "the tag <think> opens, </think> closes"}') == {
        "a": "the tag <think> opens, </think> closes"
    }
    assert (
        without_thoughts("The tag <think> opens a thought.") == "The tag <think> opens a thought."
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>a</think>b", "b"),
        ("<thinking>a</thinking>\n<think>c</think> b", "b"),
        ("a long thought</think>b", "b"),
        ("<think>without an end", ""),
        ("", ""),
    ],
)
def test_thoughts_are_taken_off(text: str, left: str) -> None:
    assert without_thoughts(text) == left


@pytest.mark.parametrize(
    "text", ["", "No.", "{curly}", "see [1] and [2, 3", "<html></html>", "42", '"a"']
)
def test_a_text_without_json_is_said_to_have_none(text: str) -> None:
    with pytest.raises(NoJson, match="no JSON"):
        list(read_json(text))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [{"b": 1}, {"b": ',
        '{"a": "and then',
        '```json\n[{"a": 1}',
        "Here: {",
        "{'a': 'b",
        "[null, []",
    ],
)
def test_json_that_is_cut_off_is_said_to_be(text: str) -> None:
    with pytest.raises(CutOff, match="cut off"):
        list(read_json(text))


@given(containers)
def test_all_json_is_read_as_it_is(value: object) -> None:
    assert first(json.dumps(value)) == value
    assert first(f"Here you are:\n\n```json\n{json.dumps(value, indent=2)}\n```\n") == value


@given(containers.filter(bool), st.data())
def test_no_part_of_json_passes_for_the_whole(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(1, len(text) - 1))

    with pytest.raises(NoJson):
        list(read_json(text[:end]))


@given(st.text(alphabet="{}[]\"'\\,:a1 \n`<>/think"))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(NoJson):
        assert all(isinstance(value, dict | list) for value in read_json(text))


@pytest.mark.parametrize(
    "piece", ["{", "[", '{"a":', "[{'", "<think>", "</think>", '{"a": 1} x ', "```\n{"]
)
def test_hostile_text_is_done_with_fast(piece: str) -> None:
    before = time.perf_counter()

    with suppress(NoJson):
        list(read_json(piece * (200_000 // len(piece))))

    assert time.perf_counter() - before < 2
