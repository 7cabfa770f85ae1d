"""How a question becomes one to three subquestions, each with a query of its own."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from adapters.models.extractive.asking import topic_phrase
from adapters.models.extractive.lexicon import UNSPACED_WORDS
from adapters.models.extractive.terms import content, question_terms
from state.values.plan import MAX_SUBQUESTIONS, Plan, Subquestion

MAX_QUESTION = 400
MAX_QUERY = 100

_WH = (
    r"(?:who|whom|whose|what|which|when|where|why|how|whether|wer|wen|wem|wann|wo|woher|"
    r"wohin|warum|"
    r"wieso|weshalb|wie|welche[rsnm]?|ob|combien|quand|comment|pourquoi|qui|quel(?:le)?s?|"
    r"cu[aá]nt[oa]s?|cu[aá]ndo|d[oó]nde|qui[eé]n(?:es)?|c[oó]mo|qué)"
)
_AUX = r"(?:is|are|was|were|do|does|did|can|could|should|must|may|will|would|has|have|had)"
_AND = r"(?:\s*[,;]\s*|\s+)(?:and(?: also)?|as well as|or|but|und|sowie|oder|et|y)\s+"
_SENTENCE = re.compile(r"(?<=[?!？！。;；])\s*|\n+|(?<=[^\W\d_]{3}\.)\s+(?=[A-ZÄÖÜ])")
_PREPOSITION = (
    r"(?:(?:under|in|by|at|on|for|from|to|with|of|since|until|unter|von|mit|seit|bis|für|à|en|sous|"
    r"de|par|con|por|desde)\s+)?"
)
_JOINED = re.compile(
    rf"{_AND}(?={_PREPOSITION}{_WH}\b|{_AUX}\s+(?:it|they|there|the|an?|its|their|this|that)\b)",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"\s*[,;]\s*(?={_PREPOSITION}{_WH}\b)", re.IGNORECASE)
_UNSPACED_JOIN = re.compile(r"[，、,]?(?:以及|并且|而且|还有)|[，,；、]")
_UNSPACED_ASK = re.compile(
    r"谁|什么|多少|几|何|哪|怎|如何|是否|吗|多[长久高大]|いつ|どこ|誰|なぜ|何"
)
_TWO_WH = re.compile(rf"\s*({_WH})\s+(?:and|or|und|et|y)\s+({_WH})\s+(\S.*)", re.IGNORECASE)
_BARE = re.compile(
    rf"(?:(?:at|in|on|by|from|for|to)\s+)?{_WH}(?:\s+(?:much|many|long|often|exactly|"
    r"so|not|else))?\W*\Z",
    re.IGNORECASE,
)
_INVERTED = re.compile(
    rf"\W*(?:{_AUX}\b|{_PREPOSITION}(?:how|where|when|why|what|who|whom)(?:\s+(?:much|many|long|old|"
    rf"[a-z]+ly))?\s+{_AUX}\b|{_PREPOSITION}{_WH}\s.{{1,60}}?\b(?:do|does|did)\b)",
    re.IGNORECASE,
)
_NO_SUBJECT = (
    r"(?!(?:not|also|only|never|ever|be|been|have|always|still|then|in|on|at|for|by|to|from|with|of|"
    r"under|so|it\W*\Z)\b)"
)
_PARTICIPLE = (
    r"(?!(?-i:[a-z]+(?:ed|ly))\b|(?:sold|made|built|kept|held|paid|sent|taken|given|written|driven|"
    r"broken|chosen|frozen|eaten|fallen|hidden)\b)"
)
_MODAL = r"(?:do|does|did|can|could|should|must|may|will|would)"
_AND_VERB = re.compile(
    rf"{_AND}(?=(?:{_MODAL}\s+{_NO_SUBJECT}|(?:is|are|was|were|has|have|had)\s+"
    rf"{_NO_SUBJECT}{_PARTICIPLE})\w+\s+\S)",
    re.IGNORECASE,
)
# A plural or a name after "and can" is a subject, whatever the first clause is like.
_AND_SUBJECT = re.compile(
    rf"{_AND}(?={_MODAL}\s+{_NO_SUBJECT}(?-i:[A-ZÀ-ÖØ-Þ]\w+|[a-z]+[^\Wsu]s)\s+(?-i:[a-zA-Z]))",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"(?<=\s)(?:that|which|who|whose|whom|if|whether)\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|these|those|there|one|er|sie|es|ihr|ihre|"
    r"sein|seine|dessen|deren|ils?|elles?|sa|son|ses|su|sus)\b|它|他|她|其", re.IGNORECASE
)  # fmt: skip
_CLAUSE_SUBJECT = re.compile(r"\bthat\s+(?:is|are|was|were)\b", re.IGNORECASE)
_COMPARE = (
    re.compile(r"(?:compare|contrast)\s+(?P<what>.+?)\s+(?:of|for|between|in|that|which)\s+(?P<a>.+?)"
               r"\s+(?:and|with|to|against)\s+(?P<b>[^\s]+)(?P<verb>\s+[a-z]+)?[?.]?\Z",
               re.IGNORECASE),
    re.compile(r"(?:compare|contrast)\s+(?P<a>.+?)\s+(?:and|with|to|against)\s+(?P<b>.+?)"
               r"(?P<rest>\s+(?:in terms of|with respect to|regarding|by|on|"
               r"for)\s.+)?[?.]?\Z", re.IGNORECASE),
    re.compile(r"(?P<head>.*?\b(?:differences?|comparison))\s+between\s+(?P<a>.+?)\s+and\s+"
               r"(?P<b>.+?)(?P<rest>\s+(?:in|with respect to|regarding|"
               r"for)\s.+)?[?.]?\Z", re.IGNORECASE),
    re.compile(r"how (?:do|does|did)\s+(?P<a>.+?)\s+(?:compare (?:to|with)|differ from)\s+"
               r"(?P<b>.+?)(?P<rest>\s+(?:in|in terms of|regarding|"
               r"for)\s.+)?[?.]?\Z", re.IGNORECASE),
    re.compile(r"(?P<a>\S.{0,80}?)\s+(?:vs\.?|versus)\s+(?P<b>.+?)"
               r"(?P<rest>(?:\s*[:,]|\s+(?:in|for|regarding))\s.+)?[?.]?\Z", re.IGNORECASE),
)  # fmt: skip
_ABOUT = re.compile(r"\s*\((about|compared with): (.*)\)\Z")


@dataclass(frozen=True, slots=True)
class Part:
    """A subquestion in the making: its text, and words it shares with the whole question."""

    text: str
    shared: tuple[str, ...] = ()


def clean(text: str) -> str:
    """Return `text` in NFC with its white space collapsed and lone surrogates dropped."""
    sound = text.encode("utf-8", "ignore").decode()
    return " ".join(unicodedata.normalize("NFC", sound).split())


def decompose(question: str) -> tuple[Part, ...]:
    """Return the one to three parts of `question`; empty when it has no content.

    Split at: several question sentences; coordinated question clauses ("how …, and when …");
    doubled question words ("when and where …"); the two sides of a comparison. What the first part
    names goes along with parts that say "it", and as search words with all of them.
    """
    sentences = [piece.strip() for piece in _SENTENCE.split(question) if piece and piece.strip()]
    sentences = [clean(sentence) for sentence in sentences]
    asked = [s for s in sentences if is_question(s)] or sentences
    background = tuple(
        term.surface for s in sentences if s not in asked for term in question_terms(s)
    )
    clauses = [clause for sentence in asked for clause in _clauses(sentence)]
    clauses = [clause for clause in clauses if question_terms(clause) or _BARE.match(clause)]
    parts = _with_context(clauses, background)
    return _fold_surplus(parts)


def is_question(sentence: str) -> bool:
    """Tell whether `sentence` asks: by its mark, or by the word it opens with."""
    return bool(
        sentence.endswith(("?", "？"))
        or _ABOUT.search(sentence)
        or re.match(rf"{_WH}\b", sentence, re.IGNORECASE)
        or _UNSPACED_ASK.search(sentence)
    )


def _clauses(sentence: str) -> list[str]:
    for pattern in _COMPARE:
        if match := pattern.match(sentence):
            return _sides(match)
    if match := _TWO_WH.match(sentence):
        first, second, rest = match.groups()
        return [f"{first} {rest}", f"{second[0].upper()}{second[1:]} {rest}"]
    if _UNSPACED_ASK.search(sentence):
        pieces = [piece for piece in _UNSPACED_JOIN.split(sentence) if piece]
        if len(pieces) > 1 and all(_UNSPACED_ASK.search(piece) for piece in pieces):
            return pieces
    pieces = [half for piece in _JOINED.split(sentence) for half in _yes_no(piece)]
    if len(pieces) > 1:
        pieces = [part for piece in pieces for part in _LISTED.split(piece)]
    return [piece.strip(" ,;") for piece in pieces if piece.strip(" ,;?.")]


def _yes_no(clause: str) -> list[str]:
    """Split off a yes/no question that follows "and" with a verb and a subject of its own.

    Where the first clause has its subject after the verb, "and is" cannot go on with the same one;
    elsewhere the second clause must show its own: "who runs the inn, and can guests …".
    """
    pattern = _AND_VERB if _INVERTED.match(clause) else _AND_SUBJECT
    for match in pattern.finditer(clause):
        first, second = clause[: match.start()], clause[match.end() :]
        if not _RELATIVE.search(first) and len(content(second)) > 1:
            return [first, *_yes_no(second)]
    return [clause]


def _sides(match: re.Match[str]) -> list[str]:
    groups = match.groupdict()
    rest = (groups.get("rest") or groups.get("what") or "").strip(" :,?.")
    rest = f"{rest}{groups.get('verb') or ''}".strip(" ?.")
    sides = groups["a"].strip(), groups["b"].strip()
    return [
        f"{one}: {rest} (compared with: {other})" if rest else f"{one} (compared with: {other})"
        for one, other in (sides, sides[::-1])
    ]


def _with_context(clauses: list[str], background: tuple[str, ...]) -> list[Part]:
    parts: list[Part] = []
    for clause in clauses:
        text, shared = clause, background
        if parts and not _ABOUT.search(clause):
            text = _resolved(clause, parts[0].text)
            shared += (_subject(parts[0].text),)
        parts.append(Part(_ended(text), _fresh(text, shared)))
    return parts


def _resolved(clause: str, first: str) -> str:
    if _BARE.match(clause):
        rest = re.sub(rf"^\W*{_WH}\b", "", _ABOUT.sub("", first), flags=re.IGNORECASE)
        about = rest.strip(" ?？.") if question_terms(rest) else ""
    elif _PRONOUN.search(_CLAUSE_SUBJECT.sub("", clause)):
        about = _subject(first)
    else:
        return clause
    return f"{clause.rstrip(' ?.')}? (about: {about})" if about else clause


def _subject(text: str) -> str:
    """Return what `text` is about: by its grammar, else its names, else its weightiest words."""
    if topic := topic_phrase(text):
        return topic
    terms = question_terms(_ABOUT.sub(r" \2", text))
    names = tuple(term for term in terms if term.is_name and not term.surface[0].isdigit())
    found = names or tuple(term for term in terms if term.weight >= 1)[:3]
    return " ".join(term.surface for term in found)


def own_and_compared(question: str) -> tuple[str, str]:
    """Return `question` without the thing it only compares with, and that thing (or '')."""
    match = _ABOUT.search(question)
    if match is None:
        return question, ""
    if match[1] == "about":
        return f"{question[: match.start()]} {match[2]}", ""
    return question[: match.start()], match[2]


def _fresh(clause: str, shared: Iterable[str]) -> tuple[str, ...]:
    own = {term.stem for term in question_terms(clause)}
    kept: dict[str, str] = {}
    for word in shared:
        for token in content(word):
            if token.stem not in own:
                kept.setdefault(token.stem, word)
    return tuple(dict.fromkeys(kept.values()))


def _ended(clause: str) -> str:
    clause = clause.strip()
    clause = clause[0].upper() + clause[1:] if clause else clause
    if clause.endswith((")", "?", "？", "。", ".")) or ":" in clause:
        return clause
    return clause + ("？" if _UNSPACED_ASK.search(clause) else "?")


def _fold_surplus(parts: list[Part]) -> tuple[Part, ...]:
    if len(parts) <= MAX_SUBQUESTIONS:
        return tuple(parts)
    kept, rest = parts[: MAX_SUBQUESTIONS - 1], parts[MAX_SUBQUESTIONS - 1 :]
    text = " ".join(part.text for part in rest)
    return (*kept, Part(text, rest[0].shared))


def make_query(text: str, shared: Iterable[str] = ()) -> str:
    """Return the content words of `text`, then of `shared`, as a query of at most 100 characters.

    Where they do not fit, weak words go first and names last. Common words of scripts without
    spaces come with what they are in English, in which most sources are written.
    """
    terms = list(question_terms(text))
    known = {term.stem for term in terms}
    extra = [t for word in shared for t in question_terms(word) if t.stem not in known]
    extra = [replace(term, weight=term.weight / 2) for term in extra]
    chosen: dict[int, str] = {}
    size = -1
    numbered = list(enumerate([*terms, *dict.fromkeys(extra)]))
    for place, term in sorted(numbered, key=lambda item: (-item[1].weight, item[0])):
        surface = re.sub(r"['’]s\Z", "", term.surface)
        if english := UNSPACED_WORDS.get(surface):
            surface = f"{surface} {english}"
        if size + 1 + len(surface) <= MAX_QUERY:
            chosen[place] = surface
            size += 1 + len(surface)
    if terms and not chosen:
        return terms[0].surface[:MAX_QUERY]
    return " ".join(chosen[place] for place in sorted(chosen))


def shorten(text: str, limit: int = MAX_QUESTION) -> str:
    """Return `text`, cut before a word and marked with … where it is longer than `limit`."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    return cut[: cut.rfind(" ")] + "…" if " " in cut[limit // 2 :] else cut + "…"


def make_plan(question: str) -> Plan:
    """Return the plan for `question`, or a plan that asks back when it names no subject."""
    goal = clean(question)
    parts = [part for part in decompose(question) if question_terms(part.text)]
    if not parts:
        return Plan(goal, (), _ask_back(goal))
    return Plan(goal, number(parts))


def number(parts: Iterable[Part]) -> tuple[Subquestion, ...]:
    """Return `parts` as subquestions `q1`, `q2`, … within their limits."""
    return tuple(
        Subquestion(f"q{place}", shorten(part.text), make_query(part.text, part.shared))
        for place, part in enumerate(parts, 1)
    )


def _ask_back(question: str) -> str:
    if not question:
        return "The question is empty. What should be researched?"
    return (
        f"The question “{shorten(question, 200)}” names no subject. What exactly should be "
        "researched: which thing, and what about it?"
    )
