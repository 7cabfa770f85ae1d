"""What a question is about, and whether a quote is about it."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from adapters.models.extractive.asking import Manner, manner_of, topic_phrase
from adapters.models.extractive.needs import Need
from adapters.models.extractive.pool import Candidate, place_name
from adapters.models.extractive.sentences import is_field
from adapters.models.extractive.terms import (
    Term,
    fold,
    is_content,
    is_unspaced,
    is_weak,
    question_terms,
    stem,
    stems,
)
from state.values.evidence import Passage

_JOINED = re.compile(r"[^\W_]+(?:[-_.][^\W_]+)+|_+[^\W_][\w]*")
_QUOTED = re.compile(r"[\"“„«`]([^“”„«»`\"\n]{2,80})[\"”“»`]")
_RUN = re.compile(
    r"[A-ZÀ-ÖØ-Þ][\w’'&]*(?:\s+(?:(?:of|de|von|van|der|the|la)\s+)?[A-ZÀ-ÖØ-Þ][\w’'&]*)+"
)
_MARKED = re.compile(r"[a-z]+[A-Z]|[A-Za-z]\d|[A-Z]{2,}\Z")
_BOUND = re.compile(
    r"\b(?:with|using|via|through|in|of|for|from|by|mit|in|von|für|avec|con|par)\s+"
    r"([a-z][a-z0-9]{2,})(?=\s*(?:[?.,;:!]|\Z)|\s+(?:and|or|to|in|on|when|if|without|for|from)\b)"
)
_INFLECTED = re.compile(
    r"(?:[^s]s|ing|ed|ly|ion|ions|ness|ment|ance|ence|ity|ical|ful|ous)\Z", re.IGNORECASE
)
_LONGEST_TAIL = 4
_SHORT = 7
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Subject:
    """The words that a quote, its heading, title or file name must have to be about the question.

    `forms` has for each word the stems that count as it; `shares` what it weighs of the whole;
    `spelled`, for a name of joined words, finds it in folded text. A
    firm subject is a name, or the name of a source, or is met nowhere: what lacks it is about
    something else.
    """

    terms: tuple[Term, ...]
    forms: tuple[frozenset[str], ...]
    shares: tuple[float, ...]
    is_firm: bool
    is_found: bool
    spelled: re.Pattern[str] | None = None
    is_quoted: bool = False

    @property
    def stems(self) -> frozenset[str]:
        """Return the stems of the subject's words."""
        return frozenset(term.stem for term in self.terms)

    @property
    def name(self) -> str:
        """Return the subject as the question writes it."""
        return " ".join(term.surface for term in self.terms)

    def is_met(self, words: frozenset[str]) -> bool:
        """Tell whether `words` have at least half of the subject, by weight."""
        met = zip(self.forms, self.shares, strict=True)
        return sum(share for form, share in met if form & words) >= _HALF - 1e-9

    def is_said(self, text: str) -> bool:
        """Tell whether `text` has the subject; a joined name must stand there as one."""
        if self.spelled is not None:
            return self.spelled.search(_folded(text)) is not None
        return self.is_met(_words(text))

    def is_about(self, candidate: Candidate) -> bool:
        """Tell whether the candidate, its heading, title or file name has the subject."""
        passage = candidate.passage
        if self.spelled is None:
            return self.is_met(candidate.stems | candidate.near)
        around = f"{passage.heading}\n{passage.title or ''}\n{place_name(passage.locator)}"
        around = f"{around}\n{candidate.opening}"
        return self.is_said(candidate.text) or self.is_said(around)

    def is_context(self, candidate: Candidate) -> bool:
        """Tell whether the subject stands in the candidate's paragraph, which has no heading.

        Not for one field of a list: the others say nothing of whose fields they are.
        """
        passage = candidate.passage
        if is_field(candidate.text):
            return False
        return not passage.heading and not passage.title and self.is_said(passage.text)

    def is_own(self, passage: Passage) -> bool:
        """Tell whether the source that `passage` is of bears the subject as its name."""
        named = _own_names(passage)
        return any(
            len(name) == len(self.forms) and all(form & name for form in self.forms)
            for name in named
        )


def _titles(passage: Passage) -> tuple[str, str]:
    """Return the names that a source bears: its file's, and the beginning of its title."""
    title = re.split(r"\s*[:–—|]\s|\s-\s", passage.title or "", maxsplit=1)[0]
    file = re.sub(r"\.[a-z]{1,5}\d?\Z", "", place_name(passage.locator), flags=re.IGNORECASE)
    return file, title


def _own_names(passage: Passage) -> list[frozenset[str]]:
    return [_words(name) for name in _titles(passage)]


class Sources:
    """The words of each source in a pool, and the names the sources bear."""

    def __init__(self, pool: Iterable[Candidate]) -> None:
        words: dict[str, set[str]] = {}
        passages: dict[str, Passage] = {}
        for candidate in pool:
            words.setdefault(candidate.passage.source_id, set()).update(
                candidate.far | candidate.stems
            )
            passages.setdefault(candidate.passage.source_id, candidate.passage)
        near = {key: _around(passage) for key, passage in passages.items()}
        self.vocabularies = [frozenset(own | near[key]) for key, own in words.items()]
        self.vocabulary = frozenset().union(*self.vocabularies)
        self.names = {name for passage in passages.values() for name in _own_names(passage) if name}
        self._titles = {_folded(text) for p in passages.values() for text in _titles(p)}

    def named_in(self, question: str) -> list[str]:
        """Return the sources' names of several words that stand word for word in `question`."""
        text = f" {_folded(question)} "
        names = [name.strip() for name in self._titles if f" {name.strip()} " in text]
        return sorted(name for name in names if " " in name)

    def is_rare(self, forms: frozenset[str], *, titled: bool) -> bool:
        """Tell whether hardly any source has the word: none, or the one that is named after it."""
        having = sum(1 for words in self.vocabularies if forms & words)
        return titled or having == 0 or (having <= 2 and having * 5 <= len(self.vocabularies))

    def rarity(self, forms: frozenset[str]) -> float:
        """Return from 0 (every source has it) to 1 (none has it)."""
        count = len(self.vocabularies)
        if not count:
            return 1.0
        having = sum(1 for words in self.vocabularies if forms & words)
        return math.log((count + 1) / (having + 0.5)) / math.log((count + 1) / 0.5)


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", " ", fold(text))


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return stems(text)


def _spelling(name: str) -> re.Pattern[str]:
    """Return what finds the words of a joined name side by side, hyphens and the like aside."""
    return re.compile(r"\b" + " ?".join(map(re.escape, _folded(name).split())) + r"\b")


def _around(passage: Passage) -> frozenset[str]:
    return stems(f"{passage.title or ''}\n{place_name(passage.locator)}")


@dataclass(frozen=True, slots=True)
class _Group:
    terms: tuple[Term, ...]
    is_name: bool
    is_topic: bool
    is_whole: bool
    is_titled: bool
    spelled: str = ""
    is_bound: bool = False

    @property
    def is_written(self) -> bool:
        """Tell whether it is spelled as only a name is; a mere hyphen joins many words."""
        return bool(self.spelled) and re.fullmatch(r"[^\W_]+(?:-[^\W_]+)*", self.spelled) is None


def find_subject(need: Need, sources: Sources) -> Subject | None:
    """Return what `need` is about; None where nothing in it stands out.

    What speaks for a word: it is what the question is about by its grammar; it is a name, quoted,
    or written like an identifier; a source is named after it; few sources have it.
    """
    if not need.is_question:
        return None
    topic = stems(topic_phrase(need.subquestion.question))
    groups = list(_groups(need, topic, sources))
    has_topic = any(group.is_topic for group in groups)
    is_short = len(need.terms) <= _SHORT
    named = _named(need.question)
    best: tuple[float, Subject] | None = None
    for group in groups:
        forms = tuple(strict_forms(term.stem, sources.vocabulary) for term in group.terms)
        rare = [sources.rarity(form) for form in forms]
        titled, joined = group.is_titled, bool(group.spelled)
        score = 1.5 * max(rare) + 1.5 * group.is_topic + 1.0 * group.is_name
        score += 0.7 * joined + (2.0 if group.is_topic or group.is_name else 0.8) * titled
        score += 0.2 * (len(group.terms) - 1)
        bound = group.is_bound and sources.is_rare(forms[0], titled=titled)
        score += 2.5 * bound
        found = any(forms)
        firm = (
            titled
            or bound
            or group.is_written
            or (group.is_name and (group.is_topic or not has_topic))
        )
        weighty = any(term.weight >= 1 for term in group.terms)
        firm = firm or (group.is_whole and (joined or not forms[-1]) and is_short and weighty)
        shares = _shares(group, rare, named)
        weights = tuple(share / sum(shares) for share in shares)
        spelled = _spelling(group.spelled) if len(group.terms) > 1 and joined else None
        quoted = group.spelled in {match[1] for match in _QUOTED.finditer(need.question)}
        subject = Subject(group.terms, forms, weights, firm, found, spelled, quoted)
        if best is None or score > best[0] + 1e-9:
            best = score, subject
    return best[1] if best else None


def _shares(group: _Group, rare: Sequence[float], named: frozenset[str]) -> list[float]:
    """Return what each word of a subject weighs: the rare ones most, and of a name its own words.

    Of two words either may stand for the name ("Ada Quill"); of more, not the common ones alone.
    """
    if not group.is_name:
        return [rarity + 0.2 for rarity in rare]
    if len(group.terms) < 3:
        return [1.0 if term.stem in named else 0.1 for term in group.terms]
    pairs = zip(group.terms, rare, strict=True)
    return [0.5 + rarity + 0.5 * (rarity >= 1) if t.stem in named else 0.1 for t, rarity in pairs]


def _groups(need: Need, topic: frozenset[str], sources: Sources) -> Iterable[_Group]:
    question = need.question
    terms = [
        t for t in question_terms(question) if not t.stem.isdigit() and t.stem not in need.implied
    ]
    by_stem = {term.stem: term for term in terms}
    named = _named(question)
    spelled = {stems(text): text for text in (*_joined(question), *sources.named_in(question))}
    runs = [stems(match.group()) for match in _RUN.finditer(question) if match.start() > 0]
    together = [*spelled, *runs]
    if topic and not any(group <= topic for group in together):
        together.append(topic)
    bearer = stems(_bound_name(question))
    taken: set[frozenset[str]] = set()
    for group in [*together, *(frozenset([term.stem]) for term in terms)]:
        inside = tuple(term for term in terms if term.stem in group)
        if not inside or not group <= by_stem.keys() or group in taken:
            continue
        if any(group < run for run in runs):
            continue  # a part of a name is not what the name names
        is_titled = group in sources.names and (len(group) == 1 or group in spelled)
        if not is_titled and group != topic and all(term.weight < 1 for term in inside):
            continue
        taken.add(group)
        is_topic = bool(topic) and group <= topic
        is_name = bool(group & named)
        written = spelled.get(group, "")
        bound = bool(bearer) and group == bearer
        yield _Group(inside, is_name, is_topic, group == topic, is_titled, written, bound)


def _bound_name(question: str) -> str:
    """Return the bare word after "with", "in" and the like that may name what to do it with.

    Only in questions of how to do something: a name takes neither article nor ending.
    """
    if manner_of(question) is not Manner.WAY:
        return ""
    for match in _BOUND.finditer(question):
        word = match[1]
        if is_content(word) and not is_weak(stem(word)) and not _INFLECTED.search(word):
            return word
    return ""


def _named(question: str) -> frozenset[str]:
    terms = question_terms(question)
    return frozenset(t.stem for t in terms if t.is_name or _is_marked(t, question))


def _joined(question: str) -> Iterable[str]:
    yield from (match.group() for match in _JOINED.finditer(question))
    yield from (match[1] for match in _QUOTED.finditer(question))


def _is_marked(term: Term, question: str) -> bool:
    """Tell whether a word is written like an identifier, or in letters foreign to the question."""
    foreign = is_unspaced(question) and term.surface.isascii() and term.surface.isalpha()
    return _MARKED.search(term.surface) is not None or foreign


def strict_forms(term: str, vocabulary: Iterable[str]) -> frozenset[str]:
    """Return the stems of `vocabulary` that are `term` itself or an inflection of it."""
    return frozenset(other for other in vocabulary if _is_same(term, other))


def _is_same(term: str, other: str) -> bool:
    if term == other:
        return True
    short, long = (term, other) if len(term) <= len(other) else (other, term)
    tail = long[len(short) :]
    return (
        len(short) >= 5
        and len(tail) <= _LONGEST_TAIL
        and long.startswith(short)
        and tail.isalpha()
        and short.isalpha()
    )
