"""How text becomes search terms, and BM25 over passages that are already at hand."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import tantivy

from state.values.evidence import Passage

TOKENS_VERSION = "2"
"""Part of every index's key: an index made with other terms is never searched."""

_K1 = 1.2
_B = 0.6
_CONTEXT_WEIGHT = 0.5  # a term in the heading or title counts half of one in the text
_PARTED = 0.7  # what a passage loses that has hardly any of the query
_MAX_TERM_BYTES = 80

# Scripts written without spaces, or (Hangul) with particles stuck to the words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff"
)
# Vowel signs and accents belong to the word, though they are no letters.
_MARKS = "\u0300-\u036f\u05b0-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TERM = re.compile(rf"([{_UNSPACED}]+)|(\d+(?:\.\d+)+)|((?:(?![{_UNSPACED}])[^\W_]|[{_MARKS}])+)")
_ASCII_TERM = re.compile(r"\d+(?:\.\d+)+|[a-z0-9]+")  # the same, where there is nothing else

_STOP_WORDS = (
    "a about above after again against all also am an and any are as at be because been before "
    "being below between both but by can could did do does doing don down during each few for "
    "from further had has have having he her here hers herself him himself his how i if in into "
    "is isn it its itself ll me more most my myself no nor not of off on once only or other our "
    "ours ourselves out over own re s same she should so some such t than that the their theirs "
    "them themselves then there these they this those through to too under until up us ve very "
    "was we were what when where whether which while who whom whose why will with would you your "
    "yours yourself yourselves"
)


# British spellings that the stemmer leaves apart from the American ones.
_SPELLINGS = {
    british + ending: american + ending
    for pair in (
        "licence license", "defence defense", "offence offense", "colour color",
        "behaviour behavior", "favour favor", "favourite favorite", "neighbour neighbor",
        "harbour harbor", "honour honor", "labour labor", "centre center", "theatre theater",
        "metre meter", "kilometre kilometer", "litre liter", "fibre fiber", "catalogue catalog",
        "dialogue dialog", "programme program", "grey gray", "tyre tire", "organise organize",
        "organisation organization", "recognise recognize", "authorise authorize",
        "optimise optimize", "optimisation optimization", "normalise normalize", "analyse analyze",
        "customise customize", "initialise initialize", "serialise serialize",
    )
    for british, american in [pair.split()]
    for ending in ("", "s", "d")
}  # fmt: skip


@lru_cache(maxsize=1)
def _analyzers() -> tuple[tantivy.TextAnalyzer, tantivy.TextAnalyzer]:
    def build(stop_words: Sequence[str]) -> tantivy.TextAnalyzer:
        return (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
            .filter(tantivy.Filter.remove_long(_MAX_TERM_BYTES))
            .filter(tantivy.Filter.custom_stopword(list(stop_words)))
            .filter(tantivy.Filter.ascii_fold())
            .filter(tantivy.Filter.stemmer("english"))
            .build()
        )

    return build(_STOP_WORDS.split()), build(())


def tokens(text: str) -> list[str]:
    """Return the search terms of `text` in order; text without letters or digits gives [].

    Compatibility forms and case are folded, accents dropped, English words stemmed. Scripts
    without spaces become characters and pairs of characters. English stop words are dropped
    unless there is nothing else.
    """
    folded = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold())
    words = _words(folded)
    if not words:
        return []
    line = " ".join(words)
    content, everything = _analyzers()
    return content.analyze(line) or everything.analyze(line)


def _words(folded: str) -> list[str]:
    if folded.isascii():  # most text by far, and so in a third of the time
        return [_SPELLINGS.get(word, word) for word in _ASCII_TERM.findall(folded)]
    words: list[str] = []
    for match in _TERM.finditer(folded):
        if run := match[1]:
            for first, second in pairwise(run):
                words += (first, first + second)
            words.append(run[-1])
        else:
            words.append(_SPELLINGS.get(match[0], match[0]))
    return words


@lru_cache(maxsize=8192)
def term_counts(text: str) -> Counter[str]:
    """Return how often `text` has each of its search terms. The answer is shared: only read it."""
    return Counter(tokens(text))


def rank_passages(query: str, passages: Sequence[Passage]) -> list[float]:
    """Return the BM25 score (≥0) of each passage for `query`, in the order given.

    A passage with all that is asked counts more than one that often has a part of it. Inverse
    document frequencies come from `passages` alone, smoothed so that a term found in all
    of them still counts a little. Terms of a passage's heading count half, less where it
    has others too, and so do those of its title or file name.
    """
    wanted = term_counts(query)
    if not wanted or not passages:
        return [0.0] * len(passages)
    bodies = [term_counts(passage.text) for passage in passages]
    lengths = [max(1, body.total()) for body in bodies]
    mean_length = sum(lengths) / len(lengths)
    frequencies = [
        _frequencies(wanted, body, passage) for body, passage in zip(bodies, passages, strict=True)
    ]
    found_in = Counter(term for body in bodies for term in wanted if body[term])
    idf = {
        term: math.log(1 + (len(passages) - found_in[term] + 0.5) / (found_in[term] + 0.5))
        for term in wanted
    }
    whole = sum(wanted[term] * idf[term] for term in wanted) or 1.0
    scores = []
    for terms, length in zip(frequencies, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / mean_length)
        weights = {term: wanted[term] * idf[term] for term in terms}
        score = sum(weights[term] * tf * (_K1 + 1) / (tf + norm) for term, tf in terms.items())
        scores.append(score * (1 - _PARTED * (1 - sum(weights.values()) / whole)))
    return scores


def _frequencies(wanted: Counter[str], body: Counter[str], passage: Passage) -> dict[str, float]:
    heading = term_counts(passage.heading)
    title = term_counts(passage.title or "") | term_counts(_file_name(passage.locator))
    exact = sum(term in wanted for term in heading) / max(1, len(heading))
    weighted = {
        term: body[term] + _CONTEXT_WEIGHT * (exact * min(1, heading[term]) + min(1, title[term]))
        for term in wanted
    }
    return {term: tf for term, tf in weighted.items() if tf > 0}


def _file_name(locator: str) -> str:
    return locator.rstrip("/").rsplit("/", 1)[-1]
