"""What may be quoted: the ranges of the passages at hand, with all that is compared about them."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.sentences import Span, is_item, split
from adapters.models.extractive.tables import with_header
from adapters.models.extractive.terms import Token, content, stems
from adapters.models.extractive.values import Value, find_values
from adapters.models.port import Selected
from state.values.evidence import Passage
from state.values.orders import gives_orders, ordering_paragraphs

_NEAR_COPY = 0.8
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_WIDENED = 480
_WHOLE_LIST = 700  # up to how long a list that a sentence leads into is one quote
_PRONOUN = re.compile(r"\s*(?:Its?|They|Their|He|She|His|Her|Il|Elle|Sie|Er|Es|Ihre?|Seine?)\b")
_OPENING = re.compile(
    r"\W*(?:The\s+|An?\s+|Our\s+)?"
    r"((?:[A-ZÀ-ÖØ-Þ][\w’'&-]*[ \t]+(?:of\s+|the\s+|de\s+)*){1,5})(?=[a-z(])"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A quotable range of a passage, with all that is compared about it."""

    passage: Passage
    start: int
    end: int
    text: str
    stems: frozenset[str]
    near: frozenset[str]
    far: frozenset[str]
    values: tuple[Value, ...]
    length: int
    is_ordering: bool
    lead: frozenset[str] = frozenset()
    opening: str = ""

    @property
    def place(self) -> tuple[str, int, int]:
        """Return where the range stands: source, start, end."""
        return self.passage.source_id, self.start, self.end

    @property
    def numbers(self) -> frozenset[tuple[str, float, str]]:
        """Return the values as they are told apart."""
        return frozenset((value.kind.value, value.amount, value.unit) for value in self.values)

    def selected_for(self, subquestion_id: str) -> Selected:
        """Return this range as evidence for `subquestion_id`."""
        passage = self.passage
        return Selected(
            subquestion_id, passage.source_id, passage.locator, passage.title, self.text,
            self.start, self.end, passage.paragraph, passage.page, passage.heading,
            passage.modified_at,
        )  # fmt: skip


def candidates(passages: Sequence[Passage]) -> list[Candidate]:
    """Return every quotable range of `passages`, each source's text read only once.

    `near` are the words that the heading, the title, the locator's last part, a table's header or
    a sentence that leads in with a colon add (`lead` those of the last alone), and `opening`, the
    name of what the text speaks of without saying so; `far` those of all
    the source's passages.
    """
    tokens = [content(passage.text) for passage in passages]
    distant: dict[str, frozenset[str]] = {}
    for passage, own in zip(passages, tokens, strict=True):
        known = distant.get(passage.source_id, frozenset())
        distant[passage.source_id] = known.union(token.stem for token in own)
    found: dict[tuple[str, int, int], Candidate] = {}
    leads, opened = _lead_ins(passages), _openings(passages)
    for passage, own in zip(passages, tokens, strict=True):
        lead = leads.get((passage.source_id, passage.start), frozenset())
        around, far = _around(passage) | lead, distant[passage.source_id]
        opening = opened.get((passage.source_id, passage.start), "")
        around |= stems(opening)
        doubtful = ordering_paragraphs(passage.text)
        spans = split(passage.text)
        if lead and len(spans) > 1 and len(passage.text) <= _WHOLE_LIST:
            spans.append(Span(0, len(passage.text.rstrip())))
        for span in spans:
            near = around | stems(span.context) if span.context else around
            ordering = any(start < span.end and span.start < end for start, end in doubtful)
            made = _candidate(passage, span, near, far, _within(own, span), is_ordering=ordering)
            made = replace(made, lead=lead, opening=opening) if lead or opening else made
            found.setdefault(made.place, made)
    return list(found.values())


def _lead_ins(passages: Sequence[Passage]) -> dict[tuple[str, int], frozenset[str]]:
    """Return for each passage that another leads into ("Install it with:") the words of that."""
    found: dict[tuple[str, int], frozenset[str]] = {}
    ordered = sorted(passages, key=lambda passage: (passage.source_id, passage.start))
    for before, after in pairwise(ordered):
        follows = before.source_id == after.source_id and after.paragraph - before.paragraph == 1
        place = after.source_id, after.start
        if follows and (spans := split(before.text)) and before.text.rstrip().endswith((":", "：")):
            last = spans[-1]
            found[place] = stems(before.text[last.start : last.end])
        elif follows and is_item(before.text) and is_item(after.text):
            led = found.get((before.source_id, before.start))
            found.update({place: led} if led else {})
    return found


def _openings(passages: Sequence[Passage]) -> dict[tuple[str, int], str]:
    """Return for each passage the names of what it speaks of without saying so.

    That is what the paragraph before opens with, where "its" or "they" opens this one; and what a
    source without title and headings opens with.
    """
    found: dict[tuple[str, int], str] = {}
    ordered = sorted(passages, key=lambda passage: (passage.source_id, passage.start))
    first: Passage | None = None
    names = ""
    for before, after in pairwise(ordered):
        if before.source_id != after.source_id:
            continue
        place = after.source_id, after.start
        if first is None or first.source_id != before.source_id:
            first, names = before, _opening_names(before.text)
        if names and first.start == 0 and not (after.title or after.heading or first.heading):
            found[place] = names
        follows = after.paragraph - before.paragraph == 1 and after.heading == before.heading
        led = before.text.rstrip().endswith((":", "：")) or is_item(before.text)
        if after.paragraph - before.paragraph == 2 and is_item(after.text):
            follows = led = before.heading == after.heading  # a bare "It has:" was not offered
        if follows and (_PRONOUN.match(after.text) or (led and is_item(after.text))):
            carried = found.get((before.source_id, before.start), "")
            own = "" if is_item(before.text) else _opening_names(before.text)
            found[place] = own or carried
    return found


def _opening_names(text: str) -> str:
    """Return the name that the first clause of `text` has for its subject."""
    match = _OPENING.match(text)
    return match[1].strip() if match else ""


def _within(tokens: Sequence[Token], span: Span) -> Sequence[Token]:
    first = bisect_left(tokens, span.start, key=lambda token: token.start)
    last = bisect_left(tokens, span.end, key=lambda token: token.start)
    return tokens[first:last]


def held_candidates(held: Iterable[Selected]) -> list[Candidate]:
    """Return evidence of earlier rounds as candidates, each whole as it was chosen."""
    found = []
    for item in held:
        passage = Passage(
            item.source_id, item.locator, item.title, item.text, item.start, item.end,
            item.paragraph, item.page, item.heading, item.modified_at,
        )  # fmt: skip
        whole, near, own = Span(0, len(item.text)), _around(passage), content(item.text)
        ordering = gives_orders(item.text)
        found.append(_candidate(passage, whole, near, near, own, is_ordering=ordering))
    return found


def widened(candidate: Candidate, names: Iterable[frozenset[str]]) -> Candidate | None:
    """Return `candidate` begun early enough to hold the `names` its passage has just before it.

    `names` are sets of stems of which one is to be met. None where they stand too far away.
    """
    passage = candidate.passage
    starts = [span for span in split(passage.text) if span.start < candidate.start - passage.start]
    end = candidate.end - passage.start
    for span in reversed(starts):
        if end - span.start > _WIDENED:
            return None
        known = stems(passage.text[span.start : end])
        if all(name & known for name in names):
            if not all(name & known - stems(_closing(passage.text, span)) for name in names):
                return None  # named in passing, at the end of a sentence about something else
            wide = Span(span.start, end)
            own = content(passage.text[wide.start : wide.end])
            ordering = candidate.is_ordering
            return _candidate(
                passage, wide, candidate.near, candidate.far, own, is_ordering=ordering
            )
    return None


def _closing(text: str, span: Span) -> str:
    """Return the second half of a sentence, which rarely says what the next ones are about."""
    return text[max(span.start + 30, (span.start + span.end) // 2) : span.end]


def _around(passage: Passage) -> frozenset[str]:
    place = place_name(passage.locator)
    return stems(f"{passage.heading}\n{passage.title or ''}\n{place}")


def place_name(locator: str) -> str:
    """Return what the last part of `locator` says in words."""
    return locator.rstrip("/").rsplit("/", 1)[-1].replace("_", " ").replace("-", " ")


def _candidate(
    passage: Passage,
    span: Span,
    near: frozenset[str],
    far: frozenset[str],
    tokens: Sequence[Token],
    *,
    is_ordering: bool,
) -> Candidate:
    text = passage.text[span.start : span.end]
    return Candidate(
        passage=passage,
        start=passage.start + span.start,
        end=passage.start + span.end,
        text=text,
        stems=frozenset(token.stem for token in tokens),
        near=near,
        far=far,
        values=with_header(text, find_values(text), span.context),
        length=len(tokens),
        is_ordering=is_ordering,
    )


def is_near_copy(a: Candidate, b: Candidate) -> bool:
    """Tell whether two candidates say the same in the same words, numbers and negation included."""
    if a.text == b.text:
        return True
    if a.numbers != b.numbers or is_negated(a.text) != is_negated(b.text):
        return False
    if set(_FIGURE.findall(a.text)) != set(_FIGURE.findall(b.text)):
        return False
    shared = len(a.stems & b.stems)
    return shared >= 3 and shared >= _NEAR_COPY * len(a.stems | b.stems)


def overlaps(a: Candidate, b: Candidate) -> bool:
    """Tell whether two candidates are ranges of one source that share characters."""
    return a.passage.source_id == b.passage.source_id and a.start < b.end and b.start < a.end
