"""Prompts are packed to the context: whole pieces by priority, the rest named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.chat.errors import ModelRejected
from adapters.models.chat.packing import CUT_MARK, Piece, cut_to, pack, room_for_pieces
from adapters.models.chat.tokens import estimate

TEXT = " ".join(f"Sentence number {n} says a little more." for n in range(200))
pieces = st.lists(
    st.builds(
        Piece, st.uuids().map(str), st.text(max_size=300), st.floats(min_value=0, max_value=9)
    ),
    max_size=12,
)


def test_the_important_go_in_whole_and_in_their_order() -> None:
    given_pieces = [
        Piece("a", "alpha " * 40, 1),
        Piece("b", "beta " * 40, 3),
        Piece("c", "gamma " * 40, 2),
    ]

    packed = pack(given_pieces, room_tokens=estimate("gamma " * 80) + 20)

    assert [piece.key for piece in packed.pieces] == ["b", "c"]
    assert (packed.left_out, packed.cut) == (("a",), "")


def test_a_small_piece_goes_in_after_a_large_one_did_not() -> None:
    packed = pack(
        [Piece("a", "one " * 50, 3), Piece("b", TEXT, 2), Piece("c", "end", 1)], room_tokens=80
    )

    assert [piece.key for piece in packed.pieces] == ["a", "c"]
    assert packed.left_out == ("b",)


def test_a_piece_longer_than_the_room_is_cut_after_a_sentence_and_marked() -> None:
    packed = pack([Piece("a", TEXT)], room_tokens=200)

    (piece,) = packed.pieces
    kept = piece.text.removesuffix(CUT_MARK)
    assert piece.text.endswith(CUT_MARK)
    assert TEXT.startswith(kept)
    assert kept.endswith("more.")
    assert packed.cut == "a"
    assert 120 < packed.tokens <= 200


@given(pieces, st.integers(min_value=0, max_value=400))
def test_what_was_packed_never_outgrows_the_room(given_pieces: list[Piece], room: int) -> None:
    packed = pack(given_pieces, room_tokens=room)

    assert packed.tokens <= room
    assert sum(estimate(piece.text) for piece in packed.pieces) <= packed.tokens
    assert {piece.key for piece in packed.pieces} | set(packed.left_out) == {
        piece.key for piece in given_pieces
    }


@given(st.text(max_size=2000), st.integers(min_value=0, max_value=300))
def test_a_cut_text_fits_and_begins_as_the_whole_does(text: str, tokens: int) -> None:
    cut = cut_to(text, tokens)

    assert estimate(cut) <= tokens or cut == ""
    assert text.startswith(cut.removesuffix(CUT_MARK))


def test_the_room_is_what_instructions_and_answer_leave() -> None:
    room = room_for_pieces(8192, ["word " * 1000], output_tokens=1000)

    assert 5500 < room < 6100


def test_no_room_for_the_instructions_is_an_error_before_the_call() -> None:
    with pytest.raises(ModelRejected, match="longer context") as caught:
        room_for_pieces(2048, ["word " * 1500], output_tokens=1000)

    assert caught.value.code == "MODEL_CONTEXT"
