"""What an assessment amounts to: the limits, the rules of coverage, and no conflict hidden."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from adapters.models.extractive.answers import Expected, expected_answer, holds_answer
from adapters.models.extractive.terms import question_terms, stems
from adapters.models.language.attach import facts_of
from adapters.models.language.clashes import Compared, are_compatible
from adapters.models.port import AssessInput, Assessment, Selected
from state.values.evidence import Conflict, Coverage, CoverageRow
from state.values.plan import MAX_QUERY, Subquestion, has_words

MAX_MISSING = 5
MAX_CONFLICTS = 5
_MAX_GAP = 500
_MAX_DIFFERENCE = 500
# What is said of anything that is missing, beside the words of what was asked.
_STOCK = stems(
    "passages sources documents texts quotes state mention provide specify contain give tell say "
    "find information answer exact explicit clear direct available missing details length time "
    "number amount value date period duration specific lacking"
)
_MOST = 0.6
# Sorts of answer that a quote either has or has not.
_EXACT = (
    Expected.COUNT,
    Expected.DATE,
    Expected.DURATION,
    Expected.MEASURE,
    Expected.MONEY,
    Expected.VERSION,
)
_ENDLESS = re.compile(
    r"\b(?:unlimited|no (?:\w+ )?limit|without limit|indefinite\w*|for ?ever|permanent\w*|never|"
    r"until|as long as|unbegrenzt|unbefristet|dauerhaft|solange|illimité\w*|ilimitad\w*)\b"
    r"|不限|永久",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found for one subquestion; `coverage` is '' where nothing was said.

    `conflicts` are the sides of each, of two sources at least, and on what they differ. With
    `invents` it was answered with words that stand nowhere, too.
    """

    subquestion: Subquestion
    chosen: tuple[Selected, ...]
    coverage: str = ""
    gap: str = ""
    query: str = ""
    conflicts: tuple[tuple[tuple[Selected, ...], str], ...] = ()
    invents: bool = False


def settle(findings: Sequence[Finding], given: AssessInput) -> Assessment:
    """Return the assessment of `findings`: within the limits, each row borne out by its quotes.

    Held quotes stay where there is room. Values, dates and denials that differ are a conflict
    whether or not the model saw one.
    """
    compared = Compared(given)
    served = [_with_overlooked(finding, given, compared) for finding in findings]
    complete = [_with_conflicts(finding, given, compared) for finding in served]
    selected = _within_limits(complete, given)
    conflicts = _conflicts(complete, selected)
    rows: list[CoverageRow] = []
    asked = list(given.used_queries)
    for finding in complete:
        row = _row(finding, selected, conflicts, given)
        if row.coverage is not Coverage.COVERED:
            own = _fresh(finding.query, asked)
            query = own or compared.next_query(finding.subquestion, asked)
            row = replace(row, next_query=query)
            asked.append(query)
        rows.append(row)
    missing = tuple(row.gap for row in rows if row.gap)[:MAX_MISSING]
    return Assessment(selected, tuple(rows), missing, conflicts)


def _with_overlooked(finding: Finding, given: AssessInput, compared: Compared) -> Finding:
    """Return `finding` with the sentences that answer, where it says so and quotes others.

    That is only where all it quotes is real, and an exact question has none of its sort of answer:
    what a model invents, or calls a gap, is answered by nobody else.
    """
    asked = finding.subquestion
    claims_so = finding.coverage == "covered" and bool(finding.chosen) and not finding.invents
    if not claims_so or any(_serves(item, asked) for item in finding.chosen):
        return finding
    found = [item for item in compared.answers(asked) if _serves(item, asked)]
    return replace(finding, chosen=tuple(found[: given.max_evidence])) if found else finding


def _with_conflicts(finding: Finding, given: AssessInput, compared: Compared) -> Finding:
    """Return `finding` with its held quotes, and with the conflicts that comparing finds."""
    own = [item for item in given.held if item.subquestion_id == finding.subquestion.id]
    if any(_serves(item, finding.subquestion) for item in finding.chosen):
        own = [item for item in own if _serves(item, finding.subquestion)]
    chosen = tuple(dict.fromkeys([*finding.chosen, *own]))
    seen = [
        (sides, difference if _is_told_by(difference, sides) else _both(sides))
        for sides, difference in finding.conflicts
        if not are_compatible(sides) and all(_serves(s, finding.subquestion) for s in sides)
    ]
    found = compared.clashes(finding.subquestion, chosen)
    known = [{side.id for side in sides} for sides, _ in found]
    seen = [each for each in seen if {side.id for side in each[0]} not in known]
    sides = [side for pair, _ in (*found, *seen) for side in pair]
    return replace(
        finding,
        chosen=tuple({item.id: item for item in (*sides, *chosen)}.values()),
        conflicts=(*found, *seen),
    )


def _is_told_by(text: str, quotes: Sequence[Selected], question: str = "") -> bool:
    """Tell whether what a model says of quotes has words, and no number that is its own."""
    known = [facts_of(question), *(facts_of(quote.text) for quote in quotes)]
    return has_words(text) and not facts_of(text).lacking(known)


def _both(sides: Sequence[Selected]) -> str:
    return " against ".join(f"“{' '.join(side.text.split())[:120]}”" for side in sides[:2])


def _within_limits(findings: Sequence[Finding], given: AssessInput) -> tuple[Selected, ...]:
    """Return the quotes that are let in: all subquestions take turns, conflicts' sides first."""
    if given.per_subquestion:
        kept = [item for f in findings for item in f.chosen[: given.max_evidence]]
    else:
        turns = zip_longest(*(finding.chosen for finding in findings))
        kept = [item for turn in turns for item in turn if item][: given.max_evidence]
    let_in = {item.id for item in kept}
    return tuple(item for f in findings for item in f.chosen if item.id in let_in)


def _conflicts(findings: Sequence[Finding], selected: Sequence[Selected]) -> tuple[Conflict, ...]:
    let_in = {item.id for item in selected}
    made: dict[tuple[str, frozenset[str]], Conflict] = {}
    for finding in findings:
        for sides, difference in finding.conflicts:
            here = [side for side in sides if side.id in let_in]
            said = " ".join(difference.split())[:_MAX_DIFFERENCE]
            if len({side.source_id for side in here}) > 1 and said:
                ids = tuple(side.id for side in here)
                key = finding.subquestion.id, frozenset(ids)
                made.setdefault(key, Conflict(finding.subquestion.id, ids, said))
    return tuple(made.values())[:MAX_CONFLICTS]


def _row(
    finding: Finding,
    selected: Sequence[Selected],
    conflicts: Sequence[Conflict],
    given: AssessInput,
) -> CoverageRow:
    id_ = finding.subquestion.id
    items = [item for item in selected if item.subquestion_id == id_]
    ids = tuple(item.id for item in items)
    if any(conflict.subquestion_id == id_ for conflict in conflicts):
        return CoverageRow(id_, Coverage.CONFLICT, ids)
    gap = _gap(finding, items, given)
    return CoverageRow(id_, Coverage.GAP if gap else Coverage.COVERED, ids, gap)


def _gap(finding: Finding, items: Sequence[Selected], given: AssessInput) -> str:
    """Return what is missing; '' when the quotes cover the subquestion.

    Where nothing was said, they cover an exact question whose sort of answer they hold.
    """
    asked = f"“{finding.subquestion.question}”"
    said = " ".join(finding.gap.split())[:_MAX_GAP]
    said = said if _is_told_by(said, items, finding.subquestion.question) else ""
    if not items:
        return said or f"No quote that answers {asked} was found in the passages assessed."
    is_exact = expected_answer(finding.subquestion.question) in _EXACT
    doubted = finding.coverage == "gap" and not (is_exact and _denies_itself(finding, items))
    if doubted or not (finding.coverage or is_exact):
        return said or f"The quotes do not answer {asked}."
    if not any(_serves(item, finding.subquestion) for item in items):
        sort = expected_answer(finding.subquestion.question).value
        return f"The quotes on {asked} do not state {sort}."
    voices = {item.locator for item in items if _serves(item, finding.subquestion)}
    if given.cross_check and len(voices) < 2:
        return f"{asked} is answered by one source only; a second one was asked for."
    return ""


def _denies_itself(finding: Finding, items: Sequence[Selected]) -> bool:
    """Tell whether a gap is said to be where a quote answers, with no word on what it lacks.

    A gap that says what is open beyond the question's own words is believed.
    """
    asked = finding.subquestion
    terms = {term.stem for term in question_terms(asked.question) if not term.is_name}
    lacks = stems(finding.gap) - stems(f"{asked.question} {asked.query}") - _STOCK
    return not lacks and any(
        _serves(item, asked) and len(terms & stems(item.text)) >= _MOST * len(terms)
        for item in items
    )


def _serves(item: Selected, subquestion: Subquestion) -> bool:
    """Tell whether the quote holds what an exact question asks for; to others any quote may."""
    question = subquestion.question
    expected = expected_answer(question)
    if expected not in _EXACT:
        return True
    return holds_answer(item.text, question, expected) or _ENDLESS.search(item.text) is not None


def _fresh(query: str, asked: Sequence[str]) -> str:
    """Return `query` in the form of one, or '' where it is none or was used before."""
    plain = " ".join(query.strip(" \"'“”").split())
    if len(plain) > MAX_QUERY:
        cut = plain[:MAX_QUERY]
        plain = cut[: cut.rfind(" ")] if " " in cut[MAX_QUERY // 2 :] else cut.rstrip()
    used = {tuple(sorted(stems(each))) or (each,) for each in asked if each}
    key = tuple(sorted(stems(plain))) or (plain,)
    return plain if has_words(plain) and plain not in asked and key not in used else ""
