"""What a subquestion asks of a quote."""

from dataclasses import dataclass

from adapters.models.extractive.answers import Expected, expected_answer
from adapters.models.extractive.asking import Manner, manner_of
from adapters.models.extractive.decompose import is_question, own_and_compared
from adapters.models.extractive.lexicon import CLASS_NOUNS
from adapters.models.extractive.terms import Term, question_terms, stem, stems
from state.values.plan import Subquestion

_TYPE_WORDS = {
    Expected.MONEY: "cost earn money much pay spend worth sell",
    Expected.DURATION: "long old duration lifetime",
    Expected.COUNT: "many number often total",
    Expected.MEASURE: "tall far deep wide thick heavy fast hot cold large much long distance size "
    "width weight speed height",
    Expected.DATE: "year date day month",
    Expected.TIME: "time",
    Expected.PLACE: "city country town place found located",
    Expected.REASON: "reason cause",
    Expected.PERSON: "person name",
    Expected.VERSION: "version",
    Expected.OPEN: "",
}
# Verbs that come with a licence and need not stand in the answer.
_LICENCE = stem("license")
_WITH_LICENCE = frozenset(map(stem, "release distribute publish available come ship offer".split()))
# Words that ask for a definition, and say nothing else.
_TELLING = frozenset(
    map(
        stem,
        "do provide offer contain implement mean refer macht bietet bedeutet tut fait signifie "
        "hace significa profession occupation genre sport nationality format kind field industry "
        "category species breed associated".split(),
    )
)
_CLASSES = frozenset(map(stem, CLASS_NOUNS))
_TYPE_STEMS = {kind: frozenset(map(stem, words.split())) for kind, words in _TYPE_WORDS.items()}


@dataclass(frozen=True, slots=True)
class Need:
    """What a subquestion asks of a quote: its terms, and the sort of answer.

    `implied` are the words that the sort of answer stands for: "version" in "which version";
    `compared` those of the thing that the subject is to be compared with.
    """

    subquestion: Subquestion
    question: str
    terms: tuple[Term, ...]
    helpful: tuple[Term, ...]
    expected: Expected
    is_question: bool = True
    implied: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()

    @property
    def total(self) -> float:
        """Return the weight of all terms together."""
        return sum(term.weight for term in self.terms)


def need_of(subquestion: Subquestion) -> Need:
    """Return what `subquestion` asks for; words that its sort of answer stands for weigh little."""
    own, compared = own_and_compared(subquestion.question)
    expected = expected_answer(subquestion.question)
    implied = _TYPE_STEMS[expected] | _CLASSES
    terms = question_terms(own) or question_terms(subquestion.query)
    if manner_of(subquestion.question) is Manner.DEFINE:
        implied |= _TELLING
    if any(term.stem == _LICENCE for term in terms):
        implied |= _WITH_LICENCE
    carrying = tuple(term for term in terms if term.weight >= 1 and term.stem not in implied)
    if carrying:
        terms = tuple(term for term in terms if term.stem not in implied)
    known = {term.stem for term in terms}
    around = (*question_terms(subquestion.query), *question_terms(compared))
    helpful = tuple(term for term in around if term.stem not in known | implied)
    asks = is_question(subquestion.question)
    return Need(
        subquestion,
        own,
        terms,
        helpful,
        expected,
        asks,
        _TYPE_STEMS[expected] if carrying else frozenset(),
        stems(compared),
    )
