"""What the parts of a document share while it is read: styles, numbers, and what was left out."""

from collections import Counter
from dataclasses import dataclass, field

from adapters.documents.docx_reader.fields import Fields
from adapters.documents.docx_reader.numbering import Numbering
from adapters.documents.docx_reader.numerals import numeral
from adapters.documents.docx_reader.styles import Styles

_MAX_HIDDEN = 20
_HIDDEN_CHARS = 100
_PHRASES = {
    "deletion": ("deletion that was tracked", "deletions that were tracked"),
    "comment": ("comment", "comments"),
    "picture": ("picture", "pictures"),
    "outside picture": ("link to an outside picture", "links to outside pictures"),
    "outside file": ("link to an outside file or program", "links to outside files or programs"),
    "chart": ("chart", "charts"),
    "diagram": ("diagram", "diagrams"),
    "drawn text": ("text drawn as a picture", "texts drawn as pictures"),
    "object": ("embedded object", "embedded objects"),
    "foreign equation": (
        "equation that is an object of another program",
        "equations that are objects of another program",
    ),
    "drawn field": ("field whose result is not in the file", "fields whose results are not in it"),
    "symbol": ("symbol of a font that is not known", "symbols of fonts that are not known"),
    "stray note": ("note that nothing refers to", "notes that nothing refers to"),
    "missing note": ("note that is not in the file", "notes that are not in the file"),
    "embedded document": ("document embedded in this one", "documents embedded in this one"),
}


@dataclass(frozen=True, slots=True)
class NoteMark:
    """A place that refers to a note: `mark` is what stands there, `heading` is the one above."""

    kind: str
    id: str
    mark: str
    heading: str


@dataclass(slots=True)
class NoteForm:
    """How the notes of one kind are numbered."""

    format: str
    start: int = 1


class Notes:
    """Numbers footnotes and endnotes in the order in which the text refers to them."""

    def __init__(self, forms: dict[str, NoteForm]) -> None:
        self.marks: list[NoteMark] = []
        self._forms = forms
        self._known: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()

    def refer(self, kind: str, identifier: str, *, heading: str, has_own_mark: bool) -> str:
        """Return what stands where the text refers to a note: `[1]`, or '' for its own mark."""
        known = self._known.get((kind, identifier))
        if known is not None:
            return known
        mark = ""
        if not has_own_mark:
            form = self._forms[kind]
            mark = f"[{numeral(form.start + self._counts[kind], form.format)}]"
            self._counts[kind] += 1
        self._known[kind, identifier] = mark
        self.marks.append(NoteMark(kind, identifier, mark, heading))
        return mark


@dataclass(slots=True)
class Story:
    """The state of reading one document.

    `lost` says what should have been read and was not; `outside` are the ids of the links of the
    part that is being read that lead out of the file.
    """

    styles: Styles
    numbering: Numbering
    notes: Notes
    fields: Fields = field(default_factory=Fields)
    dropped: Counter[str] = field(default_factory=Counter)
    insertions: int = 0
    hidden_chars: int = 0
    hidden: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    outside: frozenset[str] = frozenset()
    title: str = ""

    def hide(self, text: str) -> None:
        """Remember text that the file holds but does not show."""
        plain = " ".join(text.split())
        if plain:
            self.hidden_chars += len(plain)
            if len(self.hidden) < _MAX_HIDDEN:
                self.hidden.append(plain[:_HIDDEN_CHARS])

    def lose(self, what: str) -> None:
        """Remember that the reading is not whole; each reason is kept once."""
        if what not in self.lost:
            self.lost.append(what)

    def phrases(self) -> tuple[str, ...]:
        """Return what was left out, in words: `2 pictures`."""
        return tuple(
            f"{count} {phrase[count != 1]}"
            for name, phrase in _PHRASES.items()
            if (count := self.dropped[name])
        )
