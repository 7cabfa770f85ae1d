"""What a quote must have to answer a need: the subject, what is asked of it, the way it is told."""

import re
from dataclasses import dataclass
from functools import lru_cache

from adapters.models.extractive.asking import Manner, manner_of
from adapters.models.extractive.lexicon import CLASS_NOUNS
from adapters.models.extractive.markup import visible
from adapters.models.extractive.needs import Need
from adapters.models.extractive.pool import Candidate
from adapters.models.extractive.subject import Sources, Subject, find_subject
from adapters.models.extractive.terms import Term, content, fold, stems

_LEAD = 3000  # how far from its beginning a source says what it is, in characters
_VERB = re.compile(
    r"\b(?:is|are|was|were|provides?|offers?|contains?|implements?|gives?|lets|allows?|enables?|"
    r"helps|makes?|means|refers? to|stands? for|aims|supports?|can|will|has|have|does|takes?|"
    r"returns?|adds?|sets?|creates?|defines?|describes?|ist|sind|war|bietet|enthält|bedeutet|est|sont|était|"
    r"fournit|es|son|era|ofrece|proporciona)\b|是|は",
    re.IGNORECASE,
)
_DEFINING = re.compile(
    r"(?:is|are|was|were)\s+(?:\W*(?:an?|the|one|any|another|both)\b|(?:[\w-]+\s+){0,4}(?:library|"
    r"package|tool|framework|module|format|language|parser|set|collection|kind|way|name|term)s?\b)"
    r"|(?:provides?|offers?|contains?|implements?|lets|allows?|enables?|helps|means|refers? to|"
    r"stands? for|bietet|enthält|bedeutet|fournit|ofrece|proporciona)\b"
    r"|(?:ist|sind|war)\s+(?:ein|das|die|der|eine)\w*\b"
    r"|(?:est|sont|était)\s+(?:une?|la|le|l|des|les)\b"
    r"|(?:es|son|era)\s+(?:una?|la|el|los|las)\b|是|は",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"(?:is|are|was|were|has|have)\s+(?:now|also|not|only|still|no|been|[a-z]+ed|available|used)\b",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"\s*(?:this|these|the|dieses?|diese[rsnm]?|das|ce|cette|este|esta)\s+(?:[\w-]+\s+){0,3}?"
    r"(?:package|library|module|project|repository|command|tool|plugin|framework|software|program|"
    r"extension|document|page|guide|file|function|is|provides?|implements?|contains?|removes?|"
    r"paket|bibliothek|modul|befehl|projekt|ist|paquet|bibliothèque|est)\b|\s*It\s+(?:is|provides)\b",
    re.IGNORECASE,
)
_IT = re.compile(r"\W*(?:It|Es|Il|Elle)\b")
_WITHIN = re.compile(r"\s(?:in|within|for|im|bei|dans|en)\s+(.+)\Z", re.IGNORECASE)
_ASIDE = re.compile(r"\s?\([^()]{1,120}\)")
_MARKS = re.compile(r"\A[\s*_`#>|=:“\"-]+")
_SENTENCE_END = (".", "!", "。", "！", ".*", ".**", ").")


@dataclass(frozen=True, slots=True)
class Focus:
    """One need as it stands against one pool of candidates."""

    need: Need
    subject: Subject | None
    relation: tuple[Term, ...]
    manner: Manner

    def is_about(self, candidate: Candidate) -> bool:
        """Tell whether the candidate, its heading, title or file name has the subject."""
        return self.subject is None or self.subject.is_about(candidate)

    def concerns(self, candidate: Candidate) -> bool:
        """Tell whether the candidate is about the subject, or stands beside it without headings."""
        subject = self.subject
        return subject is None or subject.is_about(candidate) or subject.is_context(candidate)

    @property
    def is_firm(self) -> bool:
        """Tell whether what lacks the subject is about something else."""
        return self.subject is not None and self.subject.is_firm

    @property
    def is_proper(self) -> bool:
        """Tell whether the subject is a proper name: what it is bears on most of what is asked."""
        subject = self.subject
        return subject is not None and (
            subject.is_quoted or any(t.is_name and t.surface[0].isupper() for t in subject.terms)
        )

    @property
    def is_found(self) -> bool:
        """Tell whether the subject stands anywhere in the pool."""
        return self.subject is None or self.subject.is_found

    def lead(self, candidate: Candidate) -> float:
        """Return from 0 to 1 how near the candidate is to the beginning of the subject's source."""
        if self.subject is None or not self.subject.is_own(candidate.passage):
            return 0.0
        return max(0.0, 1 - candidate.start / _LEAD)

    def defines(self, candidate: Candidate) -> float:
        """Return from 0 to 1 how far the candidate says what the subject is or does."""
        subject = self.subject
        if subject is None:
            return 0.0
        text = _ASIDE.sub("", _MARKS.sub("", visible(candidate.text)))
        verb = _VERB.search(text, 0, 160)
        own = subject.is_own(candidate.passage)
        if verb and verb.start() and subject.is_said(text[: verb.start()]):
            early = len(content(text[: verb.start()])) <= len(subject.terms) + 3
            plain = _DEFINING.match(text, verb.start())
            grade = (0.85 if plain and own else 0.7 if plain else 0.5) if early else 0.45
            if not plain and _PASSING.match(text, verb.start()):
                return 0.25
            return grade + 0.15 * self.lead(candidate) if own else grade
        if not own:
            return 0.0
        lead = self.lead(candidate)
        if _SELF.match(text):
            return 0.0 if _speaks_of_another(candidate, subject) else 0.5 + 0.4 * lead
        if lead <= 0 or candidate.length < 3:
            return 0.0
        if text.rstrip().endswith(_SENTENCE_END):
            return 0.75 * lead
        tells = candidate.length > len(subject.terms) + 1 and subject.is_said(candidate.text)
        return 0.55 * lead if tells else 0.0


def _speaks_of_another(candidate: Candidate, subject: Subject) -> bool:
    """Tell whether "it" follows on sentences of its paragraph that do not have the subject."""
    before = candidate.passage.text[: candidate.start - candidate.passage.start]
    return (
        bool(before.strip())
        and _IT.match(candidate.text) is not None
        and not (subject.is_said(before))
    )


def focus_on(need: Need, sources: Sources) -> Focus:
    """Return what in `need` is its subject and what is asked of that.

    A question that asks nothing of its subject but what it is, or does, wants a definition.
    """
    subject = find_subject(need, sources)
    own = subject.stems if subject else frozenset()
    relation = tuple(t for t in need.terms if t.stem not in own and t.weight >= 1)
    asked = [term for term in relation if fold(term.surface) not in CLASS_NOUNS]
    manner = manner_of(need.subquestion.question)
    if manner is Manner.DEFINE:
        told = _context(need.question)
        asked = [t for t in asked if t.stem not in told and not _describes(t, need.question)]
        if asked or subject is None:
            manner = Manner.OTHER
    return Focus(need, subject, tuple(asked) if subject else relation, manner)


def _describes(term: Term, question: str) -> bool:
    """Tell whether the term only says what sort of thing is named: "the Python package h2"."""
    nouns = "|".join(sorted(CLASS_NOUNS))
    return re.search(rf"\b{re.escape(term.surface)}\s+(?:{nouns})\s+\w", question) is not None


def _context(question: str) -> frozenset[str]:
    """Return the words of "in npm" and the like, which say where the definition holds."""
    match = _WITHIN.search(question)
    return _words(match[1]) if match else frozenset()


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return stems(text)
