"""What goes into a prompt when not everything fits: whole pieces, the most important first."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adapters.models.chat.errors import CONTEXT, ModelRejected
from adapters.models.chat.tokens import estimate

CUT_MARK = "\n[… cut here, the rest did not fit]"
# Around the messages, and between two pieces.
_TEMPLATE_TOKENS = 64
_JOINT_TOKENS = 4
_FEWEST_TOKENS = 48
_SENTENCE_END = re.compile(r"(?:[.!?…][\"'”’)\]]*(?=\s)|[。！？]|\n)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that may go into a prompt; of two, the one with the higher `priority` does."""

    key: str
    text: str
    priority: float = 0.0


@dataclass(frozen=True, slots=True)
class Packed:
    """What went in, in the order it was given, and the keys of what did not.

    `cut` is the key of the piece that went in only in part, or ''.
    """

    pieces: tuple[Piece, ...]
    left_out: tuple[str, ...]
    tokens: int
    cut: str = ""


def room_for_pieces(context_tokens: int, fixed: Iterable[str], *, output_tokens: int) -> int:
    """Return how many tokens are left beside the `fixed` texts and the answer.

    Raises `ModelRejected` MODEL_CONTEXT when there is not even room for those.
    """
    needed = sum(map(estimate, fixed)) + output_tokens + _TEMPLATE_TOKENS
    if needed > context_tokens:
        raise ModelRejected(
            f"the instructions and the answer need about {needed} tokens and the model has "
            f"{context_tokens}; use a model with a longer context, or ask for a shorter answer",
            code=CONTEXT,
        )
    return context_tokens - needed


def pack(pieces: Sequence[Piece], *, room_tokens: int) -> Packed:
    """Return as many of `pieces` as there is room for, by priority, then by order.

    Only a piece longer than the whole room is cut, after a sentence and with a mark, and only when
    nothing else went in before it.
    """
    taken: dict[int, Piece] = {}
    used, cut = 0, ""
    ranked = sorted(range(len(pieces)), key=lambda i: -pieces[i].priority)
    for i in ranked:
        size = estimate(pieces[i].text) + _JOINT_TOKENS
        if used + size <= room_tokens:
            taken[i] = pieces[i]
            used += size
        elif not taken and (text := cut_to(pieces[i].text, room_tokens - _JOINT_TOKENS)):
            taken[i] = Piece(pieces[i].key, text, pieces[i].priority)
            used, cut = estimate(text) + _JOINT_TOKENS, pieces[i].key
    return Packed(
        pieces=tuple(taken[i] for i in sorted(taken)),
        left_out=tuple(piece.key for i, piece in enumerate(pieces) if i not in taken),
        tokens=used,
        cut=cut,
    )


def cut_to(text: str, tokens: int) -> str:
    """Return the beginning of `text` up to the last sentence that fits, and a mark; '' if none.

    A text that fits comes back as it is.
    """
    if estimate(text) <= tokens:
        return text
    room = tokens - estimate(CUT_MARK)
    if room < _FEWEST_TOKENS:
        return ""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, low + 1)]
    fitting = [end for end in ends if low // 3 <= end <= low]
    end = fitting[-1] if fitting else max(text.rfind(" ", 0, low), 0) or low
    return text[:end].rstrip() + CUT_MARK
