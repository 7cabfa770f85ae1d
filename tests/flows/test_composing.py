"""What a person asks for is refused at once where it cannot be done, whatever it was typed into."""

import pytest

from flows.composing import compose_request, micro_usd
from state.values.errors import InvalidRequest
from tests.flows.world import Clock


@pytest.mark.parametrize("source", ["notes\0.md", "\ud800", "/" + "long" * 2000, "~nobody-here/x"])
def test_a_source_that_can_be_no_path_is_refused_by_name(source: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        compose_request("Why?", sources=[source], now=Clock().now)

    assert "name a folder or a file that is there" in refused.value.message


@pytest.mark.parametrize("source", ["", "  "])
def test_an_empty_source_is_not_the_folder_that_happens_to_be_the_current_one(source: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        compose_request("Why?", sources=[source], now=Clock().now)

    assert "a source is empty" in refused.value.message


@pytest.mark.parametrize("usd", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_what_is_no_sum_to_spend_is_refused_rather_than_kept_as_no_limit(usd: float) -> None:
    with pytest.raises(InvalidRequest, match="US dollars is none"):
        micro_usd(usd)
