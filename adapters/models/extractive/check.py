"""Whether a claim says no more than its quotes: containment word for word, else abstention."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.models.extractive.markup import visible
from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.sentences import split
from adapters.models.extractive.terms import is_unspaced, stems
from adapters.models.extractive.values import find_values
from adapters.models.port import CheckInput
from state.values.claims import Claim, ClaimCheck, Verdict
from state.values.normal_form import Span
from state.values.quotes import find_all

METHOD = "exact-quote"
_ALIKE = 0.7
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])")


def check_claims(given: CheckInput) -> tuple[ClaimCheck, ...]:
    """Return one check a claim, in order. Supported means contained, and nothing else does."""
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
    if " ".join(said.split()) == " ".join(quote.split()):
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
    reason = "no quote contains these words; without a model other wording is not judged"
    return ClaimCheck(claim.id, Verdict.UNVERIFIED, METHOD, reason)


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
