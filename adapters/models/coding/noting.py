"""What can be noted of a paper without a model: its formulas, and its tables of settings."""

import re
from collections.abc import Iterator, Sequence

from adapters.models.coder import Finding
from state.values.code_plan import PaperCitation, QuantityKind
from state.values.orders import gives_orders
from state.values.segments import Segment, SegmentKind

_ROW = re.compile(
    r"\A\|?\s*(?P<name>[^|\d]*[^\W\d_][^|\d]*?)\s*(?:\||\s)\s*"
    r"(?P<value>[-+±]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?)\s*(?P<unit>%|[^\W\d_]{0,6})\s*\|?\Z",
    re.IGNORECASE,
)
_SETTINGS = re.compile(r"(?i)\b(?:hyper-?parameters?|settings?|parameters?|einstellung\w*)\b")
_RESULTS = re.compile(r"(?i)\b(?:results?|errors?|accuracy|scores?|ergebnis\w*|fehler)\b")
_MOST = 40
_LONGEST_NAME = 80
_LONGEST_FORMULA = 400
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
