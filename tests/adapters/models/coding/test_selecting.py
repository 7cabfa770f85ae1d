"""A task is given the parts of a paper that it is about."""

import os
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.documents.convert import convert_bytes
from adapters.documents.segmenting import segment
from adapters.models.chat.tokens import estimate
from adapters.models.coding.selecting import select
from state.values.segments import Segment, SegmentKind

SHARED = Path(os.environ.get("ASSAY_SHARED") or Path(__file__).resolve().parents[4] / "../shared")


def made(*texts: str, kind: SegmentKind = SegmentKind.PROSE) -> tuple[Segment, ...]:
    return tuple(
        Segment(f"s{at}", kind, (), text, 1000 * at, 1000 * at + len(text))
        for at, text in enumerate(texts, 1)
    )


@cache
def transformer() -> tuple[Segment, ...]:
    path = SHARED / "files/papers/Transformer.pdf"
    if not path.is_file():
        pytest.skip(f"no {path}; set ASSAY_SHARED to the folder that has it")
    document = convert_bytes(path.read_bytes(), path.name, "").document
    assert document is not None
    return segment(document)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("scaled dot-product attention formula", "softmax( QK"),
        ("ScaledDotProductAttention forward", "softmax( QK"),
        ("hyper-parameters d_model d_ff heads dropout", "base 6 512 2048 8 64 64 0.1"),
        ("positional encoding", "cos(pos/10000"),
        ("learning rate schedule warmup_steps", "lrate = d"),
        ("label smoothing epsilon", "label smoothing of value"),
    ],
)
def test_a_fitting_query_finds_its_place_in_a_real_paper(wanted: str, said: str) -> None:
    chosen = select(transformer(), wanted, room_tokens=1200)

    assert any(said in each.text for each in chosen)


def test_a_formula_brings_the_prose_beside_it() -> None:
    chosen = select(transformer(), "positional encoding sine cosine", room_tokens=700)

    text = " ".join(each.text for each in chosen)
    assert "sine and cosine functions of different frequencies:" in text
    assert "where pos is the position" in text


def test_the_order_of_reading_is_kept() -> None:
    segments = made("beta of gamma gamma", "nothing", "gamma alone")

    chosen = select(segments, ["gamma", "alone"], room_tokens=1000)

    assert [each.id for each in chosen] == ["s1", "s3"]


def test_where_no_word_is_met_it_is_the_beginning() -> None:
    segments = made(*(f"Paragraph {word}." for word in "abcdefgh"))

    assert select(segments, "zebra", room_tokens=20)[0].id == "s1"


def test_one_that_alone_is_too_long_is_cut_and_its_range_says_so() -> None:
    (whole,) = made("The gamma step is taken. " * 100)

    (cut,) = select([whole], "gamma", room_tokens=120)

    assert whole.text.startswith(cut.text)
    assert cut.end - cut.start == len(cut.text)
    assert estimate(cut.text) <= 120


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text("abg .\n", max_size=400), max_size=12),
    st.text("abg ", max_size=20),
    st.integers(0, 400),
)
def test_what_is_chosen_fits_and_is_the_same_again(
    texts: list[str], wanted: str, room: int
) -> None:
    segments = made(*texts)

    chosen = select(segments, wanted, room_tokens=room)

    assert sum(estimate(each.text) for each in chosen) <= room
    assert chosen == select(segments, wanted, room_tokens=room)
    assert [each.start for each in chosen] == sorted(each.start for each in chosen)
