"""Whether a claim says no more than its quotes: containment word for word, else abstention."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from adapters.models.extractive.conflict import is_negated
from adapters.models.extractive.terms import stems
from adapters.models.extractive.values import find_values
from adapters.models.port import CheckInput
from state.values.claims import Claim, ClaimCheck, Verdict

METHOD = "exact-quote"
_ALIKE = 0.7
_FOLDS = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'",
        "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-", "\u00ad": None, "\u200b": None,
        "\ufeff": None,
    }
)  # fmt: skip
_MARKS = re.compile(r"[*_`#>|]+|^[ \t]*(?:[-+•]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])")


def check_claims(given: CheckInput) -> tuple[ClaimCheck, ...]:
    """Return one check a claim, in order. Supported means contained, and nothing else does."""
    texts = {item.id: item.text for item in given.evidence}
    return tuple(_check(claim, texts) for claim in given.claims)


def _check(claim: Claim, texts: Mapping[str, str]) -> ClaimCheck:
    quotes = [texts[key] for key in claim.evidence_ids if texts.get(key, "").strip()]
    if not quotes:
        return ClaimCheck(claim.id, Verdict.NO_TEXT, METHOD, "none of its quotes has any text")
    said = normalise(claim.text)
    if not said:
        return ClaimCheck(claim.id, Verdict.UNVERIFIED, METHOD, "the claim has no words")
    if any(contains(quote, said) for quote in map(normalise, quotes)):
        return ClaimCheck(
            claim.id, Verdict.SUPPORTED, METHOD, "the quote contains it word for word"
        )
    return _judge_other_words(claim, quotes)


def normalise(text: str) -> str:
    """Return `text` as it is compared: NFKC, without case, Markdown marks, curls and breaks."""
    plain = unicodedata.normalize("NFKC", _MARKS.sub(" ", text)).translate(_FOLDS)
    return " ".join(plain.casefold().split())


def contains(quote: str, said: str) -> bool:
    """Tell whether normalised `quote` has `said` in it, from word edge to word edge."""
    at = quote.find(said)
    while at >= 0:
        before, after = quote[at - 1 : at], quote[at + len(said) : at + len(said) + 1]
        opens = not (before.isalnum() and said[0].isalnum()) or not said[0].isascii()
        closes = not (after.isalnum() and said[-1].isalnum()) or not said[-1].isascii()
        if opens and closes and not _cuts_number(quote, at, at + len(said)):
            return True
        at = quote.find(said, at + 1)
    return False


def _cuts_number(quote: str, start: int, end: int) -> bool:
    head = re.search(r"\d[.,]\Z", quote[:start]) and quote[start : start + 1].isdigit()
    tail = quote[end - 1 : end].isdigit() and re.match(r"[.,]\d", quote[end:])
    return bool(head or tail)


def _judge_other_words(claim: Claim, quotes: Sequence[str]) -> ClaimCheck:
    sentences = [normalise(part) for part in _SENTENCE.split(claim.text) if part.strip()]
    whole = [normalise(quote) for quote in quotes]
    found = [any(contains(quote, part) for quote in whole) for part in sentences]
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
