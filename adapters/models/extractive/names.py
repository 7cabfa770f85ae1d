"""What a found text points at elsewhere, as the next round's query."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from adapters.models.extractive.decompose import MAX_QUERY, make_query
from adapters.models.extractive.focus import Focus
from adapters.models.extractive.lexicon import CALENDAR
from adapters.models.extractive.pool import Candidate
from adapters.models.extractive.terms import Term, fold, is_capitalising, is_content, stem, stems

_CAP = r"[A-ZÀ-ÖØ-ÞА-Я][\w’'&-]*"
_LINK = r"(?:(?:of|the|and|for|on|de|der|des|la|du|van|von|&)\s+){1,2}"
_PROPER = re.compile(rf"(?:{_CAP}|\d+[A-Z]?)(?:\s+(?:{_LINK})?(?:{_CAP}|\d{{1,4}}\b))*")
_QUOTED = re.compile(r"[“„«\"]([^“”„«»\"\n]{3,60})[”“»\"]|《([^《》\n]{2,40})》|\*([^*\n]{3,60})\*")
_IDENTIFIER = re.compile(
    r"`([^`\n]{2,60})`|\b([a-z0-9]+(?:_[a-z0-9]+)+)\b|\b([A-Z]?[a-z]+(?:[A-Z][a-z]+)+)\b"
    r"|\b([\w-]+\.(?:md|rst|txt|html?|pdf|docx|toml|ya?ml|json|cfg|ini|py))\b"
    r"|\b([A-Z]{1,6}[- ]?\d{1,5}(?:[-/]\d+)?)\b"
)
_LINKED = re.compile(r"\[([^\]\n]{2,80})\]\([^)\n]*\)")
_POINTER = re.compile(
    r"\b(?:see(?: also)?|refer(?:s|red)? to|described|documented|defined|explained|"
    r"specified|set out|"
    r"laid down|listed|published|recorded|found|detailed|covered|given|stated|kept|held|governed|"
    r"regulated|maintained|issued|handled|consult|according to|under|as per|indexed|is up to|"
    r"responsib\w+|lies with|siehe|beschrieben|geregelt|regel[nt]|(?:steht|stehen) i[mn]|"
    r"festgelegt|laut|gemäß|voir|véase)\b|见|参见|记载|详见",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(
    r"\b(?:annex|appendix|schedule|register|handbook|manual|polic(?:y|ies)|report|ordinance|"
    r"statute|"
    r"charter|guide|standard|regulation|record|archive|log|ledger|catalogue|list|notice|bulletin|"
    r"agreement|contract|document|page|file|protocol|code|act|rules|anhang|handbuch|"
    r"verzeichnis)s?\b",
    re.IGNORECASE,
)
_LABELS = frozenset("section figure table chapter note page step i a".split())


@dataclass(frozen=True, slots=True)
class Name:
    """A name met in the sources, and how much speaks for asking after it."""

    text: str
    score: float


def find_names(pool: Iterable[Candidate], focus: Focus, uncovered: Sequence[Term]) -> list[Name]:
    """Return the names in `pool` that the question does not have, the most promising first.

    Only names beside a word that is still uncovered, or where the sentence points at them; and
    where the subject is firm, only of what is about it.

    A name counts more where the sentence points ("see …", "is described in …"), where it is called
    a document, and where the words stand that are still uncovered.
    """
    need = focus.need
    asked = stems(need.question) | stems(need.subquestion.query)
    wanted = {term.stem for term in uncovered}
    topic = {term.stem for term in (*need.terms, *need.helpful)}
    found: dict[str, Name] = {}
    for candidate in pool:
        if candidate.is_ordering:
            continue
        bearing = 2.0 * len(wanted & candidate.stems) + len(topic & candidate.stems)
        bearing += 0.3 * len(topic & (candidate.near | candidate.far))
        points = _POINTER.search(candidate.text) is not None
        beside = wanted & (candidate.stems | candidate.near)
        if bearing < 0.3 or not (beside or (points and topic & candidate.stems)):
            continue
        if focus.is_firm and not focus.is_about(candidate):
            continue
        for text, bonus, own in _named(candidate.text):
            key = " ".join(sorted(own))
            if not own - asked:
                continue
            score = bearing + bonus
            known = found.get(key)
            if known is None or score > known.score:
                found[key] = Name(text, score)
    return sorted(found.values(), key=lambda name: -name.score)


@lru_cache(maxsize=4096)
def _named(text: str) -> tuple[tuple[str, float, frozenset[str]], ...]:
    return tuple((name, bonus, stems(name)) for name, bonus in _names_in(text))


def _names_in(text: str) -> Iterable[tuple[str, float]]:
    points = _POINTER.search(text) is not None
    marks = not is_capitalising(text)
    for match in _LINKED.finditer(text):
        yield match[1], 3.0
    for match in _QUOTED.finditer(text):
        title = next(filter(None, match.groups())).strip()
        if _is_title(title):
            yield title, 1.0 + 2.0 * points
    for match in _IDENTIFIER.finditer(text):
        yield next(filter(None, match.groups())), 0.5 + 2.0 * points
    for match in _PROPER.finditer(text):
        name = _sound(match, text)
        joined = " " in name or "-" in name  # in German, whose nouns are capitals all
        if name and (marks or (points and joined)):
            document = _DOCUMENT.search(text[match.start() : match.end() + 30]) is not None
            parts = 0.5 * min(2, name.count(" "))
            yield name, parts + 2.0 * points + 1.5 * document


def _is_title(text: str) -> bool:
    """Tell whether quoted words look like a title and not like somebody's speech."""
    carrying = [word for word in text.split() if is_content(word)]
    capitals = sum(word[0].isupper() or not word[0].isascii() for word in carrying)
    return text[-1] not in ",.!?" and len(carrying) <= 7 and 2 * capitals > len(carrying)


def _sound(match: re.Match[str], text: str) -> str:
    """Return the name without an opening function word; '' where it is only a sentence's start."""
    parts = match.group().split()
    opens = match.start() == 0 or re.search(r"[.!?:\n•*-]\s*\Z", text[: match.start()]) is not None
    while parts and (not is_content(parts[0]) or fold(parts[0]) in _LABELS):
        parts, opens = parts[1:], False
    while parts and not is_content(parts[-1]):
        parts.pop()
    name = " ".join(parts).strip("'’&-")
    if not name or name[0].isdigit() or all(fold(part) in CALENDAR for part in parts):
        return ""
    return "" if opens and len(parts) == 1 else name


def next_query(
    pool: Sequence[Candidate], focus: Focus, uncovered: Sequence[Term], used: Iterable[str]
) -> str:
    """Return a query not yet used for what `need` still misses, or ''.

    First the names that the sources point at, with the uncovered terms; else the uncovered terms
    with the question's own names.
    """
    need = focus.need
    spent = {stems(query) for query in used}
    still = " ".join(term.surface for term in uncovered)
    for name in find_names(pool, focus, uncovered):
        if any(stems(name.text) <= query for query in spent):
            continue
        query = _joined(name.text, still)
        if query and not any(stems(query) <= known for known in spent):
            return query
    names = focus.subject.terms if focus.subject else ()
    own = " ".join(t.surface for t in need.terms if t in names or t.is_name)
    for text in (f"{own} {still}", still, need.question):
        query = make_query(text)
        if still and query and not any(stems(query) <= known for known in spent):
            return query
    return ""


def _joined(name: str, still: str) -> str:
    words = [word for word in name.split() if is_content(word.strip("`*_"))]
    known = {stem(word) for word in words}
    words += [word for word in still.split() if stem(word) not in known]
    query = ""
    for word in words:
        if len(query) + 1 + len(word) <= MAX_QUERY:
            query = f"{query} {word}".strip()
    return query
