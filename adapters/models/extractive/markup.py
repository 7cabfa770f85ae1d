"""What of a text is markup: the text a reader sees of it, and what is furniture, not statement."""

import re
from functools import lru_cache

_IMAGE = re.compile(r"!\[[^\]\n]*\](?:\([^)\s]*(?:\s[^)]*)?\)|\[[^\]\n]*\])")
_LINK = re.compile(
    r"\[((?:[^\[\]\n]|\n(?!\s*\n)|\[[^\[\]\n]*\])+)\]"
    r"\((?:[^()\s]|\([^()\s]*\))*(?:\s[^)\n]*)?\)"
)
_EMPTY = re.compile(r"\[\s*\](?:\([^)\s]*\)|\[[^\]\n]*\])")
_REFERENCE = re.compile(r"(?<![\w\]])\[([^\[\]\n]{2,120})\]\[[^\[\]\n]{0,80}\]")
_RST_LINK = re.compile(r"`([^`<>\n]+(?:\n[^`<>\n]+)?)\s+<[^<>`\s]+>`_{1,2}")
_RST_NAMED = re.compile(
    r"`([^`<>\n]+)`_{1,2}(?!\w)|(?<![\w`])([A-Za-z][\w.-]*[A-Za-z0-9])_(?=[\s.,;:)]|\Z)"
)
_ROLE = re.compile(r":[a-z][\w:-]*:`(?:([^`<]+?)\s*<[^`>]+>|[~!]?([^`<]+))`")
_TAG = re.compile(
    r"</?(?:p|br|img|a|b|i|em|strong|code|kbd|sub|sup|div|span|picture|source|h[1-6])\b[^<>]*/?>",
    re.IGNORECASE,
)
_AUTOLINK = re.compile(r"<(https?://[^<>\s]+)>")

_DIRECTIVE = re.compile(
    r"^\s*(?:\.\. (?:_[^:\n]+:|\|[^|\n]+\|\s"
    r"|(?:image|figure|raw|contents|toctree|highlight|include)::)"
    r"|:(?:target|alt|width|height|align|scale|class|name|local|depth|backlinks|maxdepth):"
    r"|\[[^\]\n]+\]:\s+\S)",
    re.MULTILINE,
)
_URL = re.compile(r"\b[a-z]{2,10}://[^\s)>\]]+", re.IGNORECASE)
_SUBSTITUTION = re.compile(r"\|[\w -]+\|_{0,2}")
_VERSION = re.compile(
    r"(?:^|[\s\[(v])\d+\.\d+(?:\.\d+|\.x|[a-z]\w*)*|\b(?:19|20)\d\d-\d\d-\d\d\b", re.IGNORECASE
)
_CHANGES = re.compile(
    r"\b(?:change ?log|changes|release notes|release history|history|what['’]s (?:new|changed)|"
    r"news|unreleased|added|fixed|changed|removed|deprecated|bug ?fixes|new features)\b",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"permission is hereby granted|without warranty of any kind|provided [\"“]as is|"
    r"in no event shall|all rights reserved|copyright (?:\(c\)|©)|"
    r"redistributions? (?:of|in) source|the above copyright notice|merchantability",
    re.IGNORECASE,
)
_ABOUT_CHANGES = re.compile(
    r"\b(?:release[ds]?|version|change[ds]?|changelog|new|added|fix(?:ed|es)?|dropp?(?:ed)?|removed|"
    r"deprecated|history|since|first|last|latest|introduced|bugs?|updated?|when)\b",
    re.IGNORECASE,
)
_ABOUT_LICENCE = re.compile(
    r"\b(?:licen[sc]\w*|copyright\w*|warrant\w*|liab\w+|redistribut\w*|legal\w*|terms)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def visible(text: str) -> str:
    """Return `text` as a reader sees it: of a link its words, of an image nothing."""
    if "[" in text:
        shown = _IMAGE.sub("", text)
        for _ in range(2):  # an image within a link leaves an empty link
            shown = _LINK.sub(r"\1", shown)
        text = _REFERENCE.sub(r"\1", _EMPTY.sub("", shown))
    if "`" in text:
        text = _ROLE.sub(lambda match: f"`{match[1] or match[2]}`", text)
        text = _RST_LINK.sub(r"\1", text)
    if "_" in text:
        text = _RST_NAMED.sub(lambda match: match[1] or match[2], text)
    if "<" in text:
        text = _AUTOLINK.sub(r"\1", _TAG.sub("", text))
    return text


def worth(text: str, heading: str, question: str) -> float:
    """Return how much of a statement `text` can be, from 0.1 (badges, link lists) to 1.

    Notes on changes and licence texts count less unless `question` asks for such.
    """
    told = _told(text)
    if told < 0.3:
        return 0.1
    factor = 0.5 if told < 0.5 else 1.0
    if _is_change_note(heading) and not _ABOUT_CHANGES.search(question):
        factor *= 0.6
    if _BOILERPLATE.search(text) and not _ABOUT_LICENCE.search(question):
        factor *= 0.4
    return factor


@lru_cache(maxsize=8192)
def _told(text: str) -> float:
    """Return what share of the letters of `text` is neither link, image nor directive."""
    letters = _letters(text)
    if not letters:
        return 0.0
    if _DIRECTIVE.search(text):
        plain = "\n".join(line for line in text.splitlines() if not _DIRECTIVE.match(line))
    else:
        plain = text
    plain = (
        _SUBSTITUTION.sub("", _EMPTY.sub("", _IMAGE.sub("", plain)))
        if "|" in plain or "!" in plain
        else plain
    )
    if "[" in plain:
        links = _LINK.findall(plain)
        rest = _LINK.sub("", plain)
        if links and _letters(rest) < 0.25 * sum(map(_letters, links)):
            return 0.35 if len(links) > 1 else 0.45  # a list of links only names what is elsewhere
        plain = visible(plain)
    shown = _URL.sub("", visible(plain))
    lost = _letters(plain) - _letters(shown)
    return max(0.0, (_letters(shown) - 0.2 * lost)) / (_letters(_URL.sub("", visible(text))) or 1)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


@lru_cache(maxsize=1024)
def _is_change_note(heading: str) -> bool:
    return bool(_VERSION.search(heading) or _CHANGES.search(heading))
