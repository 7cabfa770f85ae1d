"""What is to be said of a page besides its text: title, what was dropped, what is doubtful."""

import re
from collections import Counter
from collections.abc import Sequence

from lxml.html import HtmlElement

from adapters.documents.web_page.writer import Piece
from state.values.blocks import BlockKind

_LITTLE = 250
_UNFINISHED = re.compile(r"<(?:[a-zA-Z/][^<>]*|!--(?:(?!-->).)*)\Z", re.DOTALL)
_APP_ROOTS = frozenset(("root", "app", "__next", "__nuxt", "react-root", "application", "main-app"))
_ASKS_FOR_SCRIPTS = re.compile(r"java\s?script", re.IGNORECASE)
_TAIL = 4_000


def title_of(tree: HtmlElement, text: str, pieces: Sequence[Piece]) -> str | None:
    """Return the page's `<title>`, else its first `<h1>` that is shown, else None."""
    for element in tree.iterfind(".//title"):
        if not any(parent.tag == "svg" for parent in element.iterancestors()):
            title = " ".join(element.text_content().split())
            if title:
                return title
    for piece in pieces:
        if piece.kind is BlockKind.HEADING and piece.level == 1:
            return " ".join(text[piece.start : piece.end].split())
    return None


def dropped(counts: Counter[str], lost_formulas: int) -> tuple[str, ...]:
    """Return in short phrases what is on the page and not in the text."""
    found = dict(counts)
    if lost_formulas:
        found["formula without a source"] = lost_formulas
    return tuple(_count(name, number) for name, number in sorted(found.items()) if number)


def _count(name: str, number: int) -> str:
    if number == 1:
        return f"1 {name}"
    noun, space, rest = name.partition(" ")
    if name == "embedded object":
        return f"{number} embedded objects"
    return f"{number} {noun}s{space}{rest}"


def needs_scripts(tree: HtmlElement, text: str) -> bool:
    """Tell whether the page shows little and seems to be filled in by scripts."""
    if len(text) > _LITTLE or tree.find(".//script") is None:
        return False
    said = " ".join(element.text_content() for element in tree.iter("noscript"))
    if _ASKS_FOR_SCRIPTS.search(said) or _ASKS_FOR_SCRIPTS.search(text):
        return True
    return any(
        element.get("id") in _APP_ROOTS and not element.text_content().strip()
        for element in tree.iter("div", "main", "section")
    )


def is_cut_off(markup: str) -> bool:
    """Tell whether the page ends inside a tag or comment, or its body is never closed."""
    tail = markup[-_TAIL:].rstrip()
    if _UNFINISHED.search(tail):
        return True
    head = markup[: _TAIL * 5].lower()
    opened = "<body" in head or "<html" in head
    return opened and "</html" not in markup[-_TAIL:].lower() and not tail.endswith(">")
