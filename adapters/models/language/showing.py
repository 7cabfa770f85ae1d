"""How texts of sources stand in a prompt: numbered, fenced by source, and what is asked of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from adapters.models.chat.packing import Piece
from adapters.models.chat.prompts import fence
from adapters.models.port import Selected
from state.values.evidence import Passage
from state.values.orders import gives_orders
from state.values.plan import Plan
from state.values.redaction import redact

_PLACE_CHARACTERS = 90
# What a text could pass for another numbered text with.
_NUMBER = re.compile(r"\[(?=\s*[pheqcs]\s*\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """A text under the name that a model calls it by; `note` is put beside the name."""

    name: str
    text: str
    source_id: str
    source: str
    note: str = ""


def shown_passage(name: str, passage: Passage, text: str) -> Shown:
    """Return `text`, which is what is shown of `passage`."""
    page = f"page {passage.page}" if passage.page is not None else ""
    return Shown(name, text, passage.source_id, _source(passage), page)


def shown_evidence(name: str, item: Selected, note: str = "", *, text: str = "") -> Shown:
    """Return the quote `item`, or of it `text` alone."""
    page = f"page {item.page}" if item.page is not None else ""
    return Shown(
        name,
        text or item.text,
        item.source_id,
        _source(item),
        ", ".join(part for part in (note, page) if part),
    )


def render(items: Iterable[Shown]) -> str:
    """Return `items`, those of one source that follow each other in one fence; secrets redacted."""
    parts = []
    for _, group in groupby(items, key=lambda item: item.source_id):
        listed = list(group)
        lines = [f"{_mark(item)} {_numbers_apart(redact(item.text))}" for item in listed]
        parts.append(fence("\n".join(lines), listed[0].source))
    return "\n\n".join(parts)


def pieces_of(items: Sequence[Shown], priorities: Sequence[float]) -> list[Piece]:
    """Return what can be packed: the texts, each with its priority."""
    return [
        Piece(item.name, item.text, priority)
        for item, priority in zip(items, priorities, strict=True)
    ]


def packed(items: Sequence[Shown], pieces: Sequence[Piece]) -> list[Shown]:
    """Return those of `items` that went in, with the text that did."""
    texts = {piece.key: piece.text for piece in pieces}
    return [
        Shown(item.name, texts[item.name], item.source_id, item.source, item.note)
        for item in items
        if item.name in texts
    ]


def numbered(letter: str, count: int) -> list[str]:
    """Return the names e1, e2, …"""
    return [f"{letter}{number}" for number in range(1, count + 1)]


def asked(plan: Plan) -> str:
    """Return the goal and the subquestions, one a line, as q1, q2, …"""
    names = numbered("q", len(plan.subquestions))
    lines = [f"Question: {plan.goal}"]
    lines += [f"{name}: {sub.question}" for name, sub in zip(names, plan.subquestions, strict=True)]
    return "\n".join(lines)


def _mark(item: Shown) -> str:
    return f"[{item.name}, {item.note}]" if item.note else f"[{item.name}]"


def _numbers_apart(text: str) -> str:
    return _NUMBER.sub("(", text.strip())


def _source(item: Passage | Selected) -> str:
    place = item.locator if len(item.locator) <= _PLACE_CHARACTERS else _shortened(item.locator)
    title = "" if gives_orders(item.title or "") else (item.title or "")[:_PLACE_CHARACTERS]
    return " | ".join(part for part in (title, place, item.modified_at[:10]) if part)


def _shortened(place: str) -> str:
    half = _PLACE_CHARACTERS // 2
    return f"{place[:half]}…{place[-half:]}"
