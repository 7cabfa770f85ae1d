"""What a gap says to people: which words no source has, or which sort of answer is missing."""

from collections.abc import Iterable, Sequence

from adapters.models.extractive.answers import Expected
from adapters.models.extractive.asking import Manner
from adapters.models.extractive.decompose import shorten
from adapters.models.extractive.focus import Focus
from adapters.models.extractive.needs import Need
from adapters.models.extractive.pool import Candidate
from adapters.models.extractive.select import Reach
from adapters.models.extractive.terms import Term, matches
from adapters.models.port import Selected

_NAMED = 6


def tell_gap(
    focus: Focus, reached: Reach, quotes: Sequence[Selected], pool: Sequence[Candidate]
) -> str:
    """Return a sentence that says what is missing, naming the words not covered."""
    need, subject = focus.need, focus.subject
    question = _asked(need)
    if not pool:
        return f"No source read answers {question}: nothing was found to read."
    if not quotes and subject and focus.is_firm and not any(focus.is_about(one) for one in pool):
        where = "not found in the passages assessed"
        return f"No source read answers {question}: “{subject.name}” {where}."
    if not quotes:
        absent = unmentioned(need, pool)
        if absent:
            words = _listed(absent)
            return f"No source read answers {question}: {words} not found in the passages assessed."
        if subject and focus.relation:
            words = _listed(focus.relation)
            return (
                f"No source read answers {question}: nothing is said of “{subject.name}” "
                f"together with {words}."
            )
        if subject and focus.manner is Manner.DEFINE:
            return f"No source read answers {question}: none says what “{subject.name}” is."
        return f"No source read answers {question}: no passage brings its words together."
    if reached.lacks_answer and need.expected is not Expected.OPEN:
        also = f", nor anything on {_listed(reached.uncovered)}" if reached.uncovered else ""
        return (
            f"The quotes answer {question} only in part: none of them states "
            f"{need.expected.value}{also}."
        )
    if reached.uncovered:
        words = _listed(reached.uncovered)
        return f"The quotes answer {question} only in part: nothing found on {words}."
    return f"The quotes answer {question} only in part: its words are only met apart."


def tell_alone(need: Need, quotes: Sequence[Selected]) -> str:
    """Return a sentence that says that only one source answers `need`, where two are wanted."""
    where = quotes[0].title or quotes[0].locator
    return f"{_asked(need)} is answered by one source only ({where}); a second one was asked for."


def unmentioned(need: Need, pool: Sequence[Candidate]) -> tuple[Term, ...]:
    """Return the terms of `need` that stand nowhere in `pool`."""
    vocabulary = frozenset().union(*(candidate.stems for candidate in pool))
    return tuple(term for term in need.terms if not matches(term.stem, vocabulary))


def _asked(need: Need) -> str:
    return f"“{shorten(need.subquestion.question, 160)}”"


def _listed(terms: Iterable[Term]) -> str:
    return ", ".join(f"“{term.surface}”" for term in list(terms)[:_NAMED])
