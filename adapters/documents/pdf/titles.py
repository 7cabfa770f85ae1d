"""The title of a PDF: what it states, when that is a title, else the largest heading on page 1."""

import re

from adapters.documents.pdf.characters import garbage_share, sound
from adapters.documents.pdf.composing import Composition

_MAX_TITLE = 300
_NUMBERED = re.compile(r"(?:[A-Z]\.|\d{1,2}(?:\.\d{1,2})*[.:]?)\s")
_PROGRAM = re.compile(
    r"^(?:microsoft \w+|powerpoint presentation|slide \d+)\s*[-–:]?\s*", re.IGNORECASE
)
_FILE = re.compile(
    r"\.(?:docx?|pdf|tex|dvi|ps|eps|indd|qxd|rtf|odt|pptx?|xlsx?|html?|txt|md|fm|book|pub|wpd|p65)$",
    re.IGNORECASE,
)
_NO_TITLE = re.compile(
    r"(?:untitled|no title|title|document|\(?anonymous\)?|\(?unspecified\)?|none|null|unknown"
    r"|new document|microsoft word|print|output|temp|test|layout)[\s\d\-_.]*|[\W\d_]*|\S*[\\/]\S*"
    r"|[a-z]*\d[\w\-]*|https?:\S+",
    re.IGNORECASE,
)


def title_of(stated: object, composition: Composition) -> str | None:
    """Return a document's title, or None; `stated` is what its metadata hold."""
    if isinstance(stated, str) and (title := _meaningful(stated)):
        return title
    first = [heading for heading in composition.headings if heading.page == 1]
    large = [heading for heading in first if heading.lines[0].size >= 1.15 * composition.usual.body]
    if not large:
        return None
    largest = max(large, key=lambda heading: heading.lines[0].size)
    title = " ".join(largest.text.split())
    if _NUMBERED.match(title):  # a section's heading is that of no document
        return None
    return title if 2 < len(title) <= _MAX_TITLE else None


def _meaningful(stated: str) -> str:
    title = " ".join(sound(stated[: 2 * _MAX_TITLE]).split())
    title = _PROGRAM.sub("", title)
    if not 3 <= len(title) <= _MAX_TITLE or _FILE.search(title) or _NO_TITLE.fullmatch(title):
        return ""
    return title if garbage_share(title) < 0.1 else ""
