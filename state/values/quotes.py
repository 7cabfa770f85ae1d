"""Finding a quote in an archived text: exact in normal form, and bound to the original's offsets.

Nothing here is fuzzy: a quote with another digit, sign or word is not found. A hyphen may be
missing on one side only where it ended a line on the other.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from state.values.normal_form import (
    Accents,
    Hyphen,
    Normalised,
    Span,
    has_loose_accents,
    normalise,
)

MIN_QUOTE = 4
MAX_QUOTE = 1800

# Bounds the work on texts made to look like the quote over and over without being it.
_MAX_NEAR_MISSES = 10_000
_MAX_FAILED_CHECKS = 100
_EDGE = 200
_LOOSE_EDGES = re.compile(r"^[-#>•\s]+(?=\D)|^[-#>•\s]+(?<!-)|[-#>\s]+$")  # no number's sign
_ITEM = re.compile(r"[-•]\s")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_NEWLINES = re.compile(r"\s*[\n\r]\s*")


class NormalisedText:
    """A text made ready once, to look up many quotes in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._has_accents = has_loose_accents(text)
        self._forms: dict[Accents, Normalised] = {}

    def find(self, quote: str, *, start_hint: int | None = None) -> Span | None:
        """Return where `quote` stands, or None when it does not, or is not 4 to 1800 characters.

        Of several places the first at or after `start_hint` (a code point of the text) is
        returned, or else the first of all. The range found has the quote's normal form; space
        and emphasis marks at the ends of the quote are not part of it.
        """
        hinted = next(self._places(quote, start_hint), None) if start_hint else None
        return hinted or next(self._places(quote), None)

    def find_all(self, quote: str, *, limit: int = 1000) -> list[Span]:
        """Return the places of `quote` in order, at most `limit`; they do not overlap."""
        return list(islice(self._places(quote), limit))

    def _places(self, quote: str, start: int = 0) -> Iterator[Span]:
        if not MIN_QUOTE <= len(quote) <= MAX_QUOTE:
            return
        ambiguous = self._has_accents or has_loose_accents(quote)
        for accents in Accents if ambiguous else (Accents.BEFORE,):
            found = False
            for span in self._read(quote, accents, start):
                found = True
                yield span
            if found:
                return

    def _read(self, quote: str, accents: Accents, start: int) -> Iterator[Span]:
        """Yield the places of `quote` in one reading of accents."""
        text, said = self._form(accents), quote.strip()
        at = text.position(start)
        found = False
        # What begins a line of the quote by chance (`>`, `#`) is no mark of Markdown on one line.
        for reading in dict.fromkeys((said, _NEWLINES.sub(" ", said))):
            for span in _search(self._text, text, normalise(reading, accents), accents, at):
                found = True
                yield _with_marks(self._text, span, said)
            if found:
                return
        bare = _LOOSE_EDGES.sub("", said)
        if bare and bare != said:
            for span in _search(self._text, text, normalise(bare, accents), accents, at):
                whole = _with_edges(self._text, span, said, bare)
                if whole is not None:
                    yield _with_marks(self._text, whole, said)

    def _form(self, accents: Accents) -> Normalised:
        key = accents if self._has_accents else Accents.BEFORE
        if key not in self._forms:
            self._forms[key] = normalise(self._text, key)
        return self._forms[key]


def find_quote(text: str, quote: str, *, start_hint: int | None = None) -> Span | None:
    """Return where `quote` stands in `text`; see `NormalisedText.find`."""
    return NormalisedText(text).find(quote, start_hint=start_hint)


def find_all(text: str, quote: str, *, limit: int = 1000) -> list[Span]:
    """Return the places of `quote` in `text`; see `NormalisedText.find_all`."""
    return NormalisedText(text).find_all(quote, limit=limit)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands: the text, by the name its caller knows it by, and the range in it."""

    name: str
    span: Span


def find_elsewhere(
    quote: str, texts: Mapping[str, NormalisedText | str], *, besides: str = ""
) -> tuple[Place, ...]:
    """Return where `quote` stands in `texts` but the one called `besides`, in their order.

    It is for saying more of a quote that its own source does not hold than "absent": another
    rendition of the source may, or another source. One place a text, the first.
    """
    found = (
        (name, (text if isinstance(text, NormalisedText) else NormalisedText(text)).find(quote))
        for name, text in texts.items()
        if name != besides
    )
    return tuple(Place(name, span) for name, span in found if span is not None)


def _search(
    text: str, source: Normalised, wanted: Normalised, accents: Accents, at: int
) -> Iterator[Span]:
    form = wanted.form.strip(" ")
    if len(form) + len(wanted.hyphens) < MIN_QUOTE:
        return
    shift = wanted.form.index(form)
    hyphens = {at - shift: kind for at, kind in wanted.hyphens.items()}
    near_misses = failed_checks = 0
    at = source.form.find(form, at)
    while at >= 0 and near_misses < _MAX_NEAR_MISSES and failed_checks < _MAX_FAILED_CHECKS:
        end = at + len(form)
        span = None
        if not _cuts_a_number(source.form, at, end) and _hyphens_agree(source, at, end, hyphens):
            span = _trimmed(text, source.original(at, end))
        if span is None:
            near_misses += 1
        elif normalise(text[span.start : span.end], accents).form != form:
            failed_checks += 1  # what stands around it had made it look the same
        else:
            yield span
            at = source.form.find(form, end)
            continue
        at = source.form.find(form, at + 1)


def _hyphens_agree(source: Normalised, start: int, end: int, wanted: dict[int, Hyphen]) -> bool:
    """Tell whether hyphens stand at the same places, leaving open those that may end a line."""
    positions = source.hyphen_positions
    first, last = bisect_left(positions, start + 1), bisect_left(positions, end)
    matched = 0
    for position in positions[first:last]:
        other = wanted.get(position - start)
        if other is not None:
            matched += 1
        elif source.hyphens[position] is Hyphen.HARD:
            return False
    if matched == len(wanted):
        return True
    return all(start + at in source.hyphens or kind is Hyphen.SOFT for at, kind in wanted.items())


def _cuts_a_number(form: str, start: int, end: int) -> bool:
    """Tell whether a number goes on beyond an end of the range: `5 mg` in `-5 mg`, `3.5 mg`."""
    if form[start].isnumeric() and (
        form[start - 1 : start].isnumeric()
        or _NUMBER_BEFORE.search(form, max(0, start - 2), start) is not None
    ):
        return True
    if _cuts_at_a_sign(form, start, end):
        return True
    return form[end - 1].isnumeric() and (
        form[end : end + 1].isnumeric() or _NUMBER_AFTER.match(form, end) is not None
    )


def _cuts_at_a_sign(form: str, start: int, end: int) -> bool:
    """Tell whether an end lies inside a number beside its sign: `3.` in `3.5`, `-5` in `3-5`."""
    if form[start] in _INSIDE and form[start - 1 : start].isalnum() and form[start + 1].isdigit():
        return True
    return form[end - 1] in _POINTS and form[end - 2].isdigit() and form[end : end + 1].isdigit()


_POINTS = ".,:/⁄"
_INSIDE = _POINTS + "+±-"
_NUMBER_BEFORE = re.compile(r"(?:\d[.,:/⁄]|(?<!\w)[.+±-]|[<≤≥≠] ?)$")
_NUMBER_AFTER = re.compile(r"[.,:/⁄^]\d|[⁺⁻]|e[+-]?\d")


def _trimmed(text: str, span: Span | None) -> Span | None:
    """Return `span` without the space at its ends, as after a hyphen that ends a line."""
    if span is None:
        return None
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    return Span(start, max(start, span.start + len(piece.rstrip())))


def _with_marks(text: str, span: Span, quote: str) -> Span:
    """Return the range that is `quote` character by character, marks at its ends too, if any is."""
    before = quote.find(text[span.start : span.end])
    start = span.start - before
    whole = before >= 0 <= start and text.startswith(quote, start)
    return Span(start, start + len(quote)) if whole else span


def _with_edges(text: str, span: Span, quote: str, bare: str) -> Span | None:
    """Return `span` with the edges of `quote` that `bare` lacks, or None when they differ.

    The mark of a list's item before a word need not be there: it says nothing, and models add it.
    """
    lead, trail = quote[: quote.index(bare)], quote[quote.index(bare) + len(bare) :]
    start, end = span.start, span.end
    if _ITEM.match(quote) and _LETTERS.match(bare) and lead.split() == [quote[0]]:
        lead = ""
    lead = normalise(lead + ("0" if bare[0].isnumeric() else "x")).form[:-1]
    trail = normalise(f"x{trail}").form[1:]
    for mark in reversed(lead.split()):
        head = text[max(0, start - _EDGE) : start]
        start -= len(head) - len(head.rstrip()) + len(mark)
        if start < 0 or not _same_marks(text[start : start + len(mark)], mark):
            return None
    for mark in trail.split():
        tail = text[end : end + _EDGE]
        end += len(tail) - len(tail.lstrip()) + len(mark)
        if not _same_marks(text[end - len(mark) : end], mark):
            return None
    return Span(start, end)


def _same_marks(one: str, other: str) -> bool:
    return normalise(one).form == normalise(other).form
