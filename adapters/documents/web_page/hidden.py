"""Text that a page holds but does not show, for people to see that it is there."""

import re
from collections.abc import Iterable
from itertools import islice

from lxml.etree import Comment
from lxml.html import HtmlElement

from state.values.orders import gives_orders

MAX_HIDDEN = 20
MAX_BEGINNING = 200

_SPACE = re.compile(r"\s+")
_TAGS = re.compile(r"<[^<>]*>")
_MACHINERY = re.compile(
    r"\[if |\[endif|[{}]|\bvar |\bfunction\b|=\"|/>|<[a-z!/]|-->", re.IGNORECASE
)
_PROSE = re.compile(r"[^\W\d_]{2,}(?:[\s,;:]+[^\W\d_]{2,}){7}")
_MAX_LOOKED_AT = 20_000
_MAX_TEXTS = 2_000
_INLINE = frozenset("a abbr b code em font i mark s small span strong sub sup u".split())
_SCRIPTS = ("script", "style", "template")


def words_in(element: HtmlElement) -> str:
    """Return the text of `element` without scripts and styles, white space collapsed."""
    parts: list[str] = []
    for inner in element.iter():
        parts.append("" if inner.tag in _INLINE else " ")
        if inner.tag not in _SCRIPTS and isinstance(inner.tag, str):
            parts.append(inner.text or "")
        if inner is not element:
            parts.append(inner.tail or "")
    return _SPACE.sub(" ", "".join(parts)).strip()


def comments(tree: HtmlElement) -> list[str]:
    """Return the comments of a page that hold sentences or orders, not code or markup.

    Of a page with very many, the first are looked at.
    """
    found: list[str] = []
    looked_at = 0
    for node in islice(tree.getroottree().iter(Comment), _MAX_TEXTS):
        comment = (node.text or "")[:_MAX_LOOKED_AT]
        looked_at += len(comment)
        if looked_at > _MAX_LOOKED_AT * 20:
            break
        if text := told(comment):
            found.append(text)
    return found


def told(comment: str) -> str:
    """Return what a comment says to people or to models, or '' for remarks of machines."""
    comment = comment[:_MAX_LOOKED_AT]
    text = _SPACE.sub(" ", _TAGS.sub(" ", comment)).strip()
    if _PROSE.search(text) and not _MACHINERY.search(comment):
        return text
    return text if gives_orders(text) else ""


def beginnings(texts: Iterable[str]) -> tuple[str, ...]:
    """Return beginnings of `texts`, each once, at most 20; those that give orders come first."""
    distinct = list(dict.fromkeys(text for text in texts if any(map(str.isalnum, text))))
    del distinct[_MAX_TEXTS:]
    distinct.sort(key=lambda text: not gives_orders(text[:_MAX_LOOKED_AT]))
    return tuple(dict.fromkeys(_begin(text) for text in distinct))[:MAX_HIDDEN]


def warning(texts: Iterable[str]) -> list[str]:
    """Return a warning when one of `texts`, which are hidden, gives orders; else nothing."""
    if any(gives_orders(text[:_MAX_LOOKED_AT]) for text in islice(texts, _MAX_TEXTS)):
        return ["text that is hidden in the source gives orders to whoever reads it"]
    return []


def _begin(text: str) -> str:
    if len(text) <= MAX_BEGINNING:
        return text
    return text[: MAX_BEGINNING - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
