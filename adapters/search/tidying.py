"""Makes what a provider found fit to show and to open: clean texts, addresses that work."""

import html
import re
from collections.abc import Iterable
from dataclasses import replace

from adapters.search.port import Hit
from adapters.web.errors import UrlDenied
from adapters.web.urls import parse_url

MAX_TITLE = 200
MAX_SNIPPET = 300

_MAX_RAW = 4_000
_MAX_URL = 2_048
_DROPPED = re.compile(r"(?is)<(script|style)\b[^<>]*>.*?</\1\s*>|<!--.*?-->")
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)(?::([A-Za-z]+))?(?:\s[^<>]*|/)?>")
_BREAKS = frozenset(
    "article aside blockquote br caption dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6"
    " header hr li main nav ol p pre sec section table tbody td tfoot th thead title tr ul".split()
)
_INLINE = frozenset(
    "a abbr b bdi bdo big bold body button center cite code col del details dfn em font form head"
    " html i iframe img inf input ins italic kbd link map mark math meta mfrac mi mn mo mover mrow"
    " ms msqrt mstyle msub msubsup msup mtext munder noscript object param q rp rt ruby s samp sc"
    " scp script small source span strike strong style sub summary sup svg template textarea time"
    " tt u var video wbr".split()
)
# Controls, halves of surrogate pairs, and what is there to be invisible or to turn text around.
# ZWJ and ZWNJ stay: Persian and emoji are spelled with them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """Return `text` on one line, without control or invisible characters."""
    return " ".join(_UNSEEN.sub("", text).split())


def clean_text(text: str, *, most: int) -> str:
    """Return `text` without HTML, on one line, cut at a word's end to `most` characters."""
    text = _TAG.sub(_what_a_tag_leaves, _DROPPED.sub(" ", text[:_MAX_RAW]))
    return shorten(plain(html.unescape(text)), most=most)


def shorten(text: str, *, most: int) -> str:
    """Return `text`, or its beginning and an ellipsis when it is longer than `most`."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head) + "\N{HORIZONTAL ELLIPSIS}"


def clean_url(url: str) -> str:
    """Return `url` in the one spelling that is opened and compared, or '' when it cannot be.

    Opened are absolute http and https addresses with a host and without a password.
    """
    url = url.strip().replace(" ", "%20")
    if len(url) > _MAX_URL:
        return ""
    try:
        return str(parse_url(url))
    except UrlDenied:
        return ""


def tidy(hits: Iterable[Hit]) -> tuple[list[Hit], int]:
    """Return `hits` cleaned, none twice, scored by rank, and how many had no usable address.

    Their order is the provider's ranking: the first gets score 1, the next 1/2, and so on.
    """
    kept: dict[str, Hit] = {}
    unusable = 0
    for hit in hits:
        locator = clean_url(hit.locator)
        if not locator:
            unusable += 1
        elif locator not in kept:
            kept[locator] = replace(
                hit,
                locator=locator,
                title=clean_text(hit.title or "", most=MAX_TITLE) or None,
                snippet=clean_text(hit.snippet, most=MAX_SNIPPET),
                score=1.0 / (len(kept) + 1),
            )
    return list(kept.values()), unusable


def _what_a_tag_leaves(tag: re.Match[str]) -> str:
    name = (tag[2] or tag[1]).lower()
    if name in _BREAKS:
        return " "
    # `Vec<T>` is no markup: only what is an element of HTML, MathML or JATS is taken out.
    return "" if name in _INLINE or tag[2] else tag[0]
