"""Tells by its title whether a work was retracted, or is the notice that another one was."""

import re
from typing import Literal

Notice = Literal["", "retracted", "retraction-notice"]

RETRACTED: Notice = "retracted"
RETRACTION_NOTICE: Notice = "retraction-notice"

_MARGIN = re.compile(r"\A[\s\"'“”‘’«»*]+")
_RETRACTED = re.compile(
    r"""
    [\[(]? (?:retracted|withdrawn) (?:\s+(?:article|paper|chapter|manuscript|preprint))?
        (?: \s*[\])] | \s*[:.–—] | \s+-\s )
    | [\[(]? REMOVED (?:\s+ARTICLE)? (?: \s*[\])] | \s*: )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_RETRACTED_TAIL = re.compile(
    r"[\[(]\s*(?:this\s+article\s+has\s+been\s+)?(?:retracted|withdrawn)\b[^\])]*[\])]\.?\s*\Z",
    re.IGNORECASE,
)
# A notice names what it takes back; a study of notices goes on otherwise (“Retraction notices in”).
_NOTICE = re.compile(
    r"""
    (?: editorial \s+ )?
    (?:
        (?: retraction | removal | withdrawal ) \s+ (?: note | notice | statement )
        (?: \s* (?: \Z | [:.–—] ) | \s+ (?: - | to | for | of | on | regarding ) [\s:] )
      | (?: notice | statement | note ) \s+ of \s+ (?: retraction | withdrawal | removal )
        (?: \s+ and \s+ replacement )?
        (?: \s* (?: \Z | [:.–—<] ) | \s+ (?: - | to | for | of ) [\s:] )
      | retraction (?: \s+ and \s+ (?: replacement | republication ) )?
        (?: \s* (?: \Z | [:–—] )
          | \s+ (?: of | to ) \s* [:"'“‘«]
          | \s+ for \s .+ \b et \s al\b )
      | (?: partial \s+ | temporary \s+ | author(?:s|s'|'s|’s|s’)? \s+ )
        (?: retraction | removal ) \s* [:–—]
      | expression \s+ of \s+ (?: editorial \s+ )? concern
        (?: \s* (?: \Z | [:.–—] )
          | \s+ (?: - | about | for | on | over | regarding | to ) [\s:] )
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def notice_of_title(title: str | None) -> Notice:
    """Return `retracted` or `retraction-notice` when `title` says so, or ''.

    An expression of concern counts as a notice, since it is no evidence either. A work *about*
    retractions has no notice.
    """
    if title is None:
        return ""
    text = _MARGIN.sub("", title)
    if _NOTICE.match(text.lstrip("[(")):
        return RETRACTION_NOTICE
    if _RETRACTED.match(text) or _RETRACTED_TAIL.search(text):
        return RETRACTED
    return ""
