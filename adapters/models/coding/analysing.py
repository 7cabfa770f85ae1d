"""Analyse: ask what a part of a paper says, and let in only what stands there."""

import re
from collections.abc import Iterable, Sequence
from functools import partial

from adapters.models.chat.packing import Piece
from adapters.models.chat.port import ChatRequest
from adapters.models.chat.prompts import fence
from adapters.models.coder import AnalyseInput, Analysis, Finding
from adapters.models.coding.forms import AnalysisForm, FoundForm
from adapters.models.coding.noting import plain_findings
from adapters.models.coding.showing import paper, pieces_of
from adapters.models.extractive.sentences import split
from adapters.models.extractive.terms import stems
from adapters.models.language.asking import Asked, Choices, fitted, output_limit, request_of
from state.values.code_plan import PaperCitation, QuantityKind, Status
from state.values.orders import gives_orders
from state.values.quotes import NormalisedText
from state.values.redaction import redact
from state.values.segments import Segment

_TOKENS_PER_FINDING, _FEWEST_TOKENS = 90, 700
_MOST_FINDINGS = 12
_SEGMENT_TOKENS_PER_FINDING = 120
_LONGEST_STATEMENT = 500
_LONGEST_VALUE = 120
_LONGEST_WORD = 60  # of a value that is a word
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_ALIKE = 2  # how many words a sentence and a statement share at the least


def ask_analysis(given: AnalyseInput, context_tokens: int) -> Asked[AnalysisForm]:
    """Return the request for what the segments say, and one for half of it."""
    pieces = pieces_of(given.segments)
    length = sum(len(each.text) for each in given.segments)
    most = max(3, min(_MOST_FINDINGS, length // (_SEGMENT_TOKENS_PER_FINDING * 4) + 2))
    whole = fitted(pieces, partial(_request, given, context_tokens, most), context_tokens)
    half = max(2, most // 2)
    return Asked(
        whole.request,
        AnalysisForm,
        lambda: _request(given, context_tokens, half, whole.better_half),
    )


def _request(
    given: AnalyseInput, context_tokens: int, most: int, pieces: Sequence[Piece]
) -> ChatRequest:
    usual = max(_FEWEST_TOKENS, _TOKENS_PER_FINDING * most + 200)
    return request_of(
        "code-analyse",
        AnalysisForm,
        output_tokens=output_limit(context_tokens, usual),
        choices=[Choices("AnalysisForm", "findings", most=most)],
        wanted=wanted(given.requirement),
        text=paper(pieces),
        most=str(most),
    )


def wanted(requirement: str) -> str:
    """Return what is wanted in all, as a prompt says it; '' for a paper alone."""
    said = redact(requirement.strip())
    return f"What is wanted in all:\n{fence(said, 'requirement')}\n\n" if said else ""


def read_analysis(form: AnalysisForm, given: AnalyseInput) -> Analysis:
    """Return what the form says of the segments, as far as they say it themselves.

    What stands there as a formula or a setting is noted even if the model did not. A quote that
    stands in no segment is replaced by the sentence that states the same value, and without such a
    sentence the finding is left out. A value that its quote does not hold was inferred.
    """
    reader = _Reader(given.segments)
    findings: dict[tuple[str, str], Finding] = {}
    for each in form.findings:
        found = reader.finding(each)
        if found is not None:
            key = (found.citation.quote, found.name.casefold() or found.statement.casefold())
            findings.setdefault(key, found)
    noted = plain_findings(given.segments)
    read = [each for each in findings.values() if not any(_is_same(each, one) for one in noted)]
    questions = dict.fromkeys(" ".join(each.split()) for each in form.open_questions)
    return Analysis(" ".join(form.summary.split()), (*noted, *read), tuple(questions))


def _is_same(read: Finding, plain: Finding) -> bool:
    """Tell whether the model read what is noted without it: this formula, this row's value."""
    if plain.kind is None:
        return read.citation.quote.strip() == plain.citation.quote
    return read.value == plain.value and plain.citation.quote in read.citation.quote


class _Reader:
    """Segments in which quotes are looked up."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._ready = [(each, NormalisedText(each.text)) for each in segments]
        self._text = "\n".join(each.text for each in segments)

    def finding(self, form: FoundForm) -> Finding | None:
        name, value = _short(form.name), _short(form.value)
        statement = " ".join(form.statement.split())[:_LONGEST_STATEMENT] or form.quote
        citation = self._cited(form.quote, name, value, statement)
        if citation is None or gives_orders(citation.quote):
            return None
        kind = _kind_of(form.kind, name, value)
        if kind is None:
            return Finding(statement, citation)
        if not (_figures(value) <= _figures(self._text) or stems(name) & stems(self._text)):
            return None  # neither stands anywhere, as of what is copied from a prompt's example
        is_stated = _figures(value) <= _figures(citation.quote) and (
            bool(_figures(value)) or value.casefold() in citation.quote.casefold()
        )
        status = Status.SPECIFIED if is_stated else Status.INFERRED
        return Finding(statement, citation, kind, name, value, _short(form.unit), status)

    def _cited(self, quote: str, name: str, value: str, statement: str) -> PaperCitation | None:
        quoted = None
        for segment, ready in self._ready:
            if span := ready.find(quote):
                quoted = _citation(segment, segment.text[span.start : span.end])
                break
        if quoted is not None and _figures(value) <= _figures(quoted.quote):
            return quoted
        return self._said_elsewhere(name, value, f"{quote} {statement}") or quoted

    def _said_elsewhere(self, name: str, value: str, said: str) -> PaperCitation | None:
        """Return the sentence with the value and the most words in common with what was said."""
        figures, words = _figures(value), stems(f"{name} {said}")
        best: tuple[int, Segment, str] | None = None
        for segment, sentence in self._sentences():
            common = len(words & stems(sentence))
            has_value = figures <= _figures(sentence)
            if has_value and common >= _ALIKE and (best is None or common > best[0]):
                best = (common, segment, sentence)
        return _citation(best[1], best[2]) if best and figures else None

    def _sentences(self) -> Iterable[tuple[Segment, str]]:
        for segment, _ in self._ready:
            for sentence in split(segment.text):
                yield segment, segment.text[sentence.start : sentence.end]


def _kind_of(said: str, name: str, value: str) -> QuantityKind | None:
    """Return what a value is; None for a sentence in the place of one."""
    if said == "method" or not name or not value or len(value) > _LONGEST_WORD:
        return None
    kind = QuantityKind(said)
    needs_figures = kind in (QuantityKind.RESULT, QuantityKind.CONSTANT)
    return None if needs_figures and not _figures(value) else kind


def _citation(segment: Segment, quote: str) -> PaperCitation:
    place = segment.section[-1] if segment.section else ""
    return PaperCitation(quote, place, segment.page)


def _figures(text: str) -> frozenset[str]:
    return frozenset(_FIGURE.findall(text))


def _short(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_VALUE]
