"""What can be noted of a paper without a model: formulas, tables of settings, worked examples."""

import re
from collections.abc import Iterator, Sequence

from adapters.models.coder import Finding
from adapters.models.coding.exemplified import numbers_of
from adapters.models.extractive.sentences import split
from state.values.code_plan import PaperCitation, QuantityKind
from state.values.orders import gives_orders
from state.values.segments import Segment, SegmentKind

_ROW = re.compile(
    r"\A\|?\s*(?P<name>[^|\d]*[^\W\d_][^|\d]*?)\s*(?:\||\s)\s*"
    r"(?P<value>[-+±]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?)\s*(?P<unit>%|[^\W\d_]{0,6})\s*\|?\Z",
    re.IGNORECASE,
)
_SETTINGS = re.compile(r"(?i)\b(?:hyper-?parameters?|settings?|parameters?|einstellung\w*)\b")
_SUMMARY = re.compile(r"(?i)\b(?:abstract|summary|introduction|zusammenfassung|einleitung)\b")
_RESULTS = re.compile(r"(?i)\b(?:results?|errors?|accuracy|scores?|ergebnis\w*|fehler)\b")
_MOST = 40
_LONGEST_NAME = 80
_LONGEST_FORMULA = 400
_REFERENCE = re.compile(
    r"(?i)\b(?:tables?|figures?|figs?|eqs?|equations?|sections?|secs?|steps?|tabelle|abbildung"
    r"|gleichung|abschnitt)\.?\s*\(?\d+(?:\.\d+)*\)?|\[\d+\]"
)
_FEWEST_FIGURES = 2  # what goes in, and what comes out
_LONGEST_EXAMPLE = 500
_MOST_EXAMPLES = 12
_ENDED = re.compile(r"[.!?]\s+(?=[^\W\d_a-z])")


def plain_findings(segments: Sequence[Segment]) -> tuple[Finding, ...]:
    """Return a finding for each formula, and for each row of a name and one number in a table.

    At most forty, in the order of the paper; the quotes are slices of the segments.
    """
    found: list[Finding] = []
    for at, each in enumerate(segments):
        if each.kind is SegmentKind.EQUATION and len(each.text) <= _LONGEST_FORMULA:
            before = segments[at - 1] if at else None
            found.append(_formula(each, before))
        elif each.kind is SegmentKind.TABLE:
            found.extend(_settings(each))
    return tuple(each for each in found[:_MOST] if not gives_orders(each.citation.quote))


def worked_examples(segments: Sequence[Segment]) -> tuple[Finding, ...]:
    """Return what states numbers together: sentences, and tables with several numbers in a row.

    At most twelve, in the order of the paper, those of its summary only where there are no others;
    the quotes are slices of the segments. What only numbers its sections, formulas or references is
    none, nor are settings.
    """
    found: list[Finding] = []
    late: list[Finding] = []
    for each in segments:
        title = each.section[-1] if each.section else ""
        if _SETTINGS.search(title) or each.kind not in (SegmentKind.PROSE, SegmentKind.TABLE):
            continue
        is_summary = _SUMMARY.search(title) is not None
        quotes = _sentences(each.text) if each.kind is SegmentKind.PROSE else [each.text.strip()]
        for quote in quotes:
            if _shows_numbers(quote, each.kind) and not gives_orders(quote):
                said = f"{title}: {' '.join(quote.split())}"
                (late if is_summary else found).append(Finding(said, _cited(each, quote)))
    return tuple((found or late)[:_MOST_EXAMPLES])


def _sentences(text: str) -> Iterator[str]:
    end = 0
    for span in split(text):
        if span.start >= end:
            yield text[span.start : span.end]
            end = span.end


def _shows_numbers(quote: str, kind: SegmentKind) -> bool:
    if len(quote) > _LONGEST_EXAMPLE:
        return False
    parts = quote.splitlines() if kind is SegmentKind.TABLE else [quote]
    return max(len(stated_numbers(part)) for part in parts) >= _FEWEST_FIGURES


def stated_numbers(text: str) -> tuple[float, ...]:
    """Return the numbers in `text`, in order, without those by which tables and the like go."""
    return numbers_of(_REFERENCE.sub(" ", text))


def _formula(segment: Segment, before: Segment | None) -> Finding:
    title = segment.section[-1] if segment.section else "Formula"
    led = ""
    if before is not None and before.section == segment.section:
        led = " ".join(_ENDED.split(before.text.strip().split("\n\n")[-1])[-1].split())
    said = f"{title}: {led}" if led and len(led) <= _LONGEST_FORMULA else f"{title}."
    return Finding(said, _cited(segment, segment.text.strip()))


def _settings(segment: Segment) -> Iterator[Finding]:
    kind = QuantityKind.CONSTANT
    if _SETTINGS.search(segment.text):
        kind = QuantityKind.HYPERPARAMETER
    elif _RESULTS.search(segment.text):
        kind = QuantityKind.RESULT
    for line in segment.text.splitlines():
        row = _ROW.match(line.strip())
        if row is None or len(row["name"]) > _LONGEST_NAME:
            continue
        name = " ".join(row["name"].split())
        statement = f"{name} is {row['value']} {row['unit']}".strip()
        yield Finding(
            statement, _cited(segment, line.strip()), kind, name, row["value"], row["unit"]
        )


def _cited(segment: Segment, quote: str) -> PaperCitation:
    place = segment.section[-1] if segment.section else ""
    return PaperCitation(quote, place, segment.page)
