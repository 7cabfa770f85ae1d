"""Which parts of a paper a task needs: by its words, with what stands around a formula."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from adapters.models.chat.packing import cut_to
from adapters.models.chat.tokens import estimate
from adapters.models.extractive.terms import stems
from state.values.segments import Segment, SegmentKind

_IDENTIFIER = re.compile(r"\w+(?:[_^{}\\.]+\w+)+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_JOINTS = re.compile(r"[\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WANTED_KINDS = {
    SegmentKind.EQUATION: stems("formula equation function loss update rule gradient"),
    SegmentKind.TABLE: stems("table hyperparameter hyper parameter result metric benchmark"),
    SegmentKind.ALGORITHM: stems("algorithm pseudocode procedure step loop"),
}
_IN_TITLE = 1.6
_KIND_BONUS = 0.25
_AROUND = 0.75  # what a formula and the prose beside it share of each other's score
_UNWANTED = 0.05
_LEAST_SHARE = 0.12  # of the best one's score; what has less meets a word by chance
_LONG_CHARACTERS = 1600
_JOINT_TOKENS = 4
_SHORTEST_TITLE = 2


@dataclass(frozen=True, slots=True)
class _Read:
    segment: Segment
    text: frozenset[str]
    title: frozenset[str]


def select(
    segments: Sequence[Segment], wanted: str | Iterable[str], *, room_tokens: int
) -> tuple[Segment, ...]:
    """Return those of `segments` that `wanted` is about, in reading order, within the room.

    `wanted` are words of the task: names, purposes, quantities. A formula brings the prose beside
    it. Where no word is met, it is the beginning. The best one alone is cut at a sentence if it is
    longer than the room; its range is then shorter, too. The same input gives the same answer.
    """
    words = wanted if isinstance(wanted, str) else " ".join(wanted)
    scores = relevance(segments, words)
    if not any(scores):
        scores = [1.0 - at / (2 * len(segments)) for at in range(len(segments))]
        scores = [
            0.0 if segment.kind is SegmentKind.REFERENCES else score
            for segment, score in zip(segments, scores, strict=True)
        ]
    chosen: dict[int, Segment] = {}
    left = room_tokens
    least = _LEAST_SHARE * max(scores, default=0.0)
    for at in sorted(range(len(segments)), key=lambda at: (-scores[at], at)):
        size = estimate(segments[at].text) + _JOINT_TOKENS
        if scores[at] <= 0 or scores[at] < least:
            break
        if size <= left:
            chosen[at] = segments[at]
            left -= size
        elif not chosen and (shorter := _shortened(segments[at], room_tokens)):
            return (shorter,)
    return tuple(chosen[at] for at in sorted(chosen))


def relevance(segments: Sequence[Segment], wanted: str) -> list[float]:
    """Return for each segment how much of `wanted` it is about; 0 where no word is met."""
    terms = _terms(wanted)
    read = [_Read(each, _terms(each.text), _terms(" ".join(each.section))) for each in segments]
    weights = _weights(terms, read)
    own = [_score(each, terms, weights) for each in read]
    scores = list(own)
    for at, each in enumerate(segments):
        if each.kind not in (SegmentKind.EQUATION, SegmentKind.ALGORITHM):
            continue
        beside = [near for near in (at - 1, at + 1) if _are_beside(segments, at, near)]
        scores[at] = max([own[at], *(_AROUND * own[near] + own[at] / 2 for near in beside)])
        for near in beside:
            scores[near] = max(scores[near], _AROUND * own[at])
    return scores


def _terms(text: str) -> frozenset[str]:
    """Return the stems of `text`, its numbers, and its identifiers without what joins them.

    A paper set in type has `dmodel` where code has `d_model`.
    """
    text = unicodedata.normalize("NFKC", text)
    plain = _CAMEL.sub(" ", text).casefold()
    joined = {_JOINTS.sub("", each) for each in _IDENTIFIER.findall(text.casefold())}
    return stems(plain) | joined | frozenset(_NUMBER.findall(plain))


def _weights(terms: frozenset[str], read: Sequence[_Read]) -> dict[str, float]:
    """Return how much each term tells one segment from another."""
    counts = Counter(term for each in read for term in terms & (each.text | each.title))
    return {term: math.log(1 + len(read) / counts[term]) if counts[term] else 0.0 for term in terms}


def _score(each: _Read, terms: frozenset[str], weights: dict[str, float]) -> float:
    met = sum(weights[term] for term in sorted(terms & each.text))
    titled = sum(weights[term] for term in sorted(terms & each.title))
    own = terms & each.title
    if len(own) >= _SHORTEST_TITLE:
        titled *= _IN_TITLE
    score = (met + titled) / (1 + len(each.segment.text) / _LONG_CHARACTERS / 4)
    if score and terms & _WANTED_KINDS.get(each.segment.kind, frozenset()):
        score += _KIND_BONUS * sum(weights.values()) / max(1, len(weights))
    return score * (_UNWANTED if each.segment.kind is SegmentKind.REFERENCES else 1.0)


def _are_beside(segments: Sequence[Segment], at: int, near: int) -> bool:
    if not 0 <= near < len(segments):
        return False
    other = segments[near]
    return other.kind is SegmentKind.PROSE and other.section == segments[at].section


def _shortened(segment: Segment, room_tokens: int) -> Segment | None:
    """Return the beginning of `segment` that fits, without the mark of a cut."""
    cut = cut_to(segment.text, room_tokens - _JOINT_TOKENS)
    length = next(
        (at for at, pair in enumerate(zip(cut, segment.text, strict=False)) if pair[0] != pair[1]),
        min(len(cut), len(segment.text)),
    )
    kept = segment.text[:length].rstrip()
    return replace(segment, text=kept, end=segment.start + len(kept)) if kept else None
