"""Whether a claim says no more than its quotes: word for word, by its wording, or not judged."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.models.extractive.markup import visible
from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.sentences import split
from adapters.models.extractive.support import Wording, probability, sentences_of, wording
from adapters.models.extractive.terms import is_unspaced, stems
from adapters.models.extractive.values import Value, find_values
from adapters.models.port import CheckInput
from state.values.claims import Claim, ClaimCheck, Verdict
from state.values.normal_form import Span
from state.values.quotes import find_all

METHOD = "exact-quote"
WORDING = "wording"
SUPPORTED = 0.85
"""From this probability on other words support; of such claims over nine in ten are borne out."""
PARTIAL = 0.2
_FEWEST = 4  # content words that a claim has at least for its wording to be judged
_ALIKE = 0.7
_MARKS = " \t\n-*+•#>"
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])")


def check_claims(given: CheckInput) -> tuple[ClaimCheck, ...]:
    """Return one check a claim, in order.

    Supported means contained word for word (`exact-quote`), or in nearly the same words with every
    number, name and negation (`wording`); much of a claim's wording alone is partial support.
    """
    texts = {item.id: item.text for item in given.evidence}
    return tuple(_check(claim, texts) for claim in given.claims)


def _check(claim: Claim, texts: Mapping[str, str]) -> ClaimCheck:
    quotes = [texts[key] for key in claim.evidence_ids if texts.get(key, "").strip()]
    if not quotes:
        return ClaimCheck(claim.id, Verdict.NO_TEXT, METHOD, "none of its quotes has any text")
    if not claim.text.strip():
        return ClaimCheck(claim.id, Verdict.UNVERIFIED, METHOD, "the claim has no words")
    found = [span for quote in quotes if (span := contained(claim.text, quote))]
    if any(not span.is_qualified for span in found):
        return ClaimCheck(
            claim.id, Verdict.SUPPORTED, METHOD, "the quote contains it word for word"
        )
    if found:
        reason = "it is cut out of a sentence of the quote that denies it"
        return ClaimCheck(claim.id, Verdict.PARTIAL, METHOD, reason)
    return _judge_other_words(claim, quotes)


@dataclass(frozen=True, slots=True)
class Containment:
    """A claim found in a quote; qualified when the rest of its sentence denies it."""

    is_qualified: bool


def contained(said: str, quote: str) -> Containment | None:
    """Return how `quote` holds `said` word for word in normal form, or None when it does not."""
    plain = " ".join(said.split())
    if plain in (" ".join(quote.split()), " ".join(quote.strip(_MARKS).split())):
        return Containment(is_qualified=False)
    whole = _whole_places(quote, said)
    if not whole:
        shown = visible(quote)  # of a link, a reader sees the words and not the address
        return contained(said, shown) if shown != quote else None
    return Containment(all(_is_denied_outside(quote, span, said) for span in whole))


def _whole_places(quote: str, said: str) -> list[Span]:
    return [span for span in find_all(quote, said, limit=50) if _at_word_edges(quote, span)]


def _at_word_edges(quote: str, span: Span) -> bool:
    before, after = quote[span.start - 1 : span.start], quote[span.end : span.end + 1]
    opens = not (_is_letter(before) and _is_letter(quote[span.start]))
    return opens and not (_is_letter(after) and _is_letter(quote[span.end - 1]))


def _is_letter(char: str) -> bool:
    """Tell whether `char` binds to the letters beside it; those of unspaced scripts do not."""
    return char.isalnum() and not is_unspaced(char)


def _is_denied_outside(quote: str, span: Span, said: str) -> bool:
    for part in split(quote):
        if part.start < span.end and span.start < part.end and not is_negated(said):
            around = quote[part.start : max(part.start, span.start)]
            around += " " + quote[min(part.end, span.end) : part.end]
            if part.start <= span.start and is_negated(around):
                return True
    return False


def _judge_other_words(claim: Claim, quotes: Sequence[str]) -> ClaimCheck:
    sentences = [part for part in _SENTENCE.split(claim.text) if part.strip()]
    found = [any(contained(part, quote) for quote in quotes) for part in sentences]
    if len(sentences) > 1 and any(found):
        reason = f"{sum(found)} of {len(found)} sentences are in the quotes word for word"
        return ClaimCheck(claim.id, Verdict.PARTIAL, METHOD, reason)
    for quote in quotes:
        if reason := _contradiction(claim.text, quote):
            return ClaimCheck(claim.id, Verdict.CONTRADICTED, METHOD, reason)
    return _judge_wording(claim, quotes)


def _judge_wording(claim: Claim, quotes: Sequence[str]) -> ClaimCheck:
    found = wording(claim.text, quotes)
    chance = probability(found)
    lacking = _lacking(claim.text, quotes, found)
    if len(stems(claim.text)) < _FEWEST or chance < PARTIAL:
        reason = "no quote contains these words; without a model other wording is not judged"
        return ClaimCheck(claim.id, Verdict.UNVERIFIED, METHOD, reason)
    if chance < SUPPORTED or lacking:
        reason = lacking or "the quotes have part of its wording; the rest is not judged"
        return ClaimCheck(claim.id, Verdict.PARTIAL, WORDING, reason)
    reason = "the quotes have nearly all of its words, and every number and name"
    return ClaimCheck(claim.id, Verdict.SUPPORTED, WORDING, reason)


def _lacking(claim: str, quotes: Sequence[str], found: Wording) -> str:
    """Return what keeps a claim from being supported, however much of its wording is met; or ''."""
    stated = [value for quote in quotes for value in find_values(quote)]
    figures = {figure for quote in quotes for figure in _FIGURE.findall(quote)}
    for value in find_values(claim):
        written = _FIGURE.findall(claim[value.start : value.end])
        is_met = any(_is_same(value, other) for other in stated)
        if not is_met and not (written and figures.issuperset(written)):
            return f"no quote has the number “{claim[value.start : value.end].strip()}”"
    if found.numbers and any(figure not in figures for figure in _FIGURE.findall(claim)):
        return "no quote has one of its numbers"
    if found.names:
        return "no quote has one of its names"
    parts = [part for quote in quotes for part in sentences_of(quote)]
    nearest = max(parts, key=lambda part: len(stems(part) & stems(claim)))
    if is_negated(nearest) != is_negated(claim):
        return "the nearest sentence of the quotes denies what it states, or the other way round"
    return ""


def _is_same(one: Value, other: Value) -> bool:
    slack = max(one.step, other.step) / 2 if one.step != other.step else 1e-9
    return (one.kind, one.unit) == (other.kind, other.unit) and abs(
        one.amount - other.amount
    ) <= slack


def _contradiction(claim: str, quote: str) -> str:
    """Return why `quote` says otherwise than `claim` in nearly the same words, or ''."""
    for part in [quote, *_SENTENCE.split(quote)]:
        said, stated = find_values(claim), find_values(part)
        words = stems(claim) - stems(" ".join(claim[v.start : v.end] for v in said))
        others = stems(part) - stems(" ".join(part[v.start : v.end] for v in stated))
        if len(words & others) < 2 or len(words & others) < _ALIKE * len(words | others):
            continue
        mine = {(v.kind, v.unit, v.amount) for v in said}
        theirs = {(v.kind, v.unit, v.amount) for v in stated}
        same_sorts = {m[:2] for m in mine} & {t[:2] for t in theirs}
        if mine and same_sorts and not mine & theirs:
            return "the quote states another value in nearly the same words"
        if mine == theirs and is_negated(claim) != is_negated(part):
            return "the quote states the opposite in nearly the same words"
    return ""
