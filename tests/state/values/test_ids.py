"""Canonical JSON: one spelling, whoever encodes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.values.ids import canonical_json

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(_values)
def test_keys_are_sorted_and_nothing_is_escaped_that_need_not_be(value: object) -> None:
    spelled = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert canonical_json(value) == spelled


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"x": float("-inf")}])
def test_what_is_no_number_in_json_has_no_spelling(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)


@pytest.mark.parametrize("value", [{1, 2}, {"x": b"bytes"}, [object()]])
def test_what_json_cannot_hold_has_no_spelling(value: object) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        canonical_json(value)


def test_a_value_that_holds_itself_has_no_spelling() -> None:
    endless: list[object] = []
    endless.append(endless)

    with pytest.raises((ValueError, RecursionError)):
        canonical_json(endless)
