"""Sections made of exact quotes, grouped by what they answer, and remarks on the research."""

import re
from collections.abc import Iterable, Sequence

from adapters.models.extractive.editions import is_newer
from adapters.models.extractive.markup import visible
from adapters.models.extractive.pool import place_name
from adapters.models.port import (
    Assessment,
    OutlineItem,
    Paragraph,
    SectionDraft,
    Selected,
    WriteInput,
)
from state.values.claims import Claim
from state.values.evidence import Coverage, CoverageRow
from state.values.plan import Plan, Subquestion

MAX_CLAIM = 800

_MARKS = (
    (re.compile(r"\A\s*(?:```|~~~)[^\n]*\n"), ""),
    (re.compile(r"\n\s*(?:```|~~~)\s*\Z"), ""),
    (re.compile(r"^[ \t]*(?:#{1,6}|>+)[ \t]+", re.MULTILINE), ""),
    (re.compile(r"\A[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+"), ""),
    (re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.DOTALL), r"\2"),
)
_CONSEQUENCE = re.compile(
    r"\b(?:therefore|thus|hence|consequently|as a result|so that|means that|implies|recommend\w*|"
    r"should|must|advis\w+|ought to|(?:is|are|be) required|need to|"
    r"limited to|limits? (?:is|are|of|to|the)|"
    r"cannot|may not|(?<!the )(?<!an )only|risks?|warning|caution|"
    r"avoid|prefer\w*|depends?|unless|until further|at most|no more than|exceed\w*|"
    r"sollte\w*|muss|müssen|"
    r"empf\w+|daher|deshalb|darf nicht|il faut|doit)\b|建议|因此|必须|应该|不得",
    re.IGNORECASE,
)

SUMMARY = ("summary", "conclusion")
GAPS = ("conflicts_and_gaps", "borrow_diverge_risk_gate")
IMPLICATIONS = ("implications", "implementation_recommendations")
METHOD = ("method_and_verification", "verification")


def claim_text(quote: str) -> str:
    """Return `quote` on one line as it reads: without marks, links by their words alone.

    At most 800 characters: a longer one is cut after a sentence, else before a word. Nothing is
    put in.
    """
    text = visible(quote)
    for pattern, kept in _MARKS:
        text = pattern.sub(kept, text)
    text = " ".join(text.split())
    if len(text) <= MAX_CLAIM:
        return text
    cut = text[:MAX_CLAIM]
    stop = max(cut.rfind(mark) for mark in (". ", "! ", "? ", "。"))
    if stop > MAX_CLAIM // 3:
        return cut[: stop + 1]
    return cut[: cut.rfind(" ")] if " " in cut[MAX_CLAIM // 2 :] else cut


def outline(
    sections: Sequence[tuple[str, str]], plan: Plan, assessment: Assessment
) -> tuple[OutlineItem, ...]:
    """Return what each section will say, and the evidence it will rest on."""
    return tuple(
        OutlineItem(key, title, _intent(key), tuple(_evidence_for(key, plan, assessment)))
        for key, title in sections
    )


def _intent(key: str) -> str:
    if key in SUMMARY:
        return "The best quote for each subquestion."
    if key in GAPS:
        return "Both sides of each conflict, and what no source states."
    if key in IMPLICATIONS:
        return "Consequences, recommendations and limits that the sources themselves state."
    if key in METHOD:
        return "How the quotes were chosen and checked."
    return "All evidence, grouped by subquestion."


def _evidence_for(key: str, plan: Plan, assessment: Assessment) -> Iterable[str]:
    if key in SUMMARY:
        leads = [_leads(sub, assessment) for sub in plan.subquestions]
        return [item.id for lead in leads for item in lead]
    if key in GAPS:
        return list(dict.fromkeys(i for c in assessment.conflicts for i in c.evidence_ids))
    if key in IMPLICATIONS:
        return [item.id for item in assessment.selected if _is_consequence(item)]
    return [] if key in METHOD else [item.id for item in assessment.selected]


def write_section(given: WriteInput) -> SectionDraft:
    """Write one section; a key that is not known gets all evidence, grouped by subquestion."""
    desk = _Desk(given.section, given.max_claims)
    if given.section in SUMMARY:
        _summarise(desk, given)
    elif given.section in GAPS:
        _tell_conflicts_and_gaps(desk, given)
    elif given.section in IMPLICATIONS:
        _tell_implications(desk, given)
    elif given.section in METHOD:
        _tell_method(desk, given)
    else:
        _tell_findings(desk, given)
    return SectionDraft(given.section, tuple(desk.paragraphs))


class _Desk:
    """Numbers the claims of one section, and lets no quote in twice nor more than allowed."""

    def __init__(self, section: str, max_claims: int) -> None:
        self.section = section
        self.left = max_claims
        self.paragraphs: list[Paragraph] = []
        self._said: set[str] = set()

    def quote(self, items: Iterable[Selected], *, heading: str = "") -> bool:
        """Add a paragraph of claims; tell whether anything was new."""
        claims: list[Claim] = []
        for item in items:
            text = claim_text(item.text)
            if not text or text in self._said or self.left <= 0:
                continue
            self._said.add(text)
            self.left -= 1
            claims.append(
                Claim(f"{self.section}-{len(self._said)}", self.section, text, (item.id,))
            )
        if claims:
            self.paragraphs.append(Paragraph(claims=tuple(claims), heading=heading))
        return bool(claims)

    def remark(self, text: str, *, heading: str = "") -> None:
        """Add a paragraph about the research itself."""
        self.paragraphs.append(Paragraph(remark=text, heading=heading))


def _row_of(sub: Subquestion, assessment: Assessment) -> CoverageRow | None:
    return next((row for row in assessment.rows if row.subquestion_id == sub.id), None)


def _items_of(sub: Subquestion, assessment: Assessment) -> list[Selected]:
    return [item for item in assessment.selected if item.subquestion_id == sub.id]


def _leads(sub: Subquestion, assessment: Assessment) -> list[Selected]:
    """Return the best quote for `sub`: both sides of its first conflict; none for a gap."""
    row = _row_of(sub, assessment)
    if row is None or row.coverage is Coverage.GAP:
        return []
    clash = next((c for c in assessment.conflicts if c.subquestion_id == sub.id), None)
    items = _items_of(sub, assessment)
    if clash:
        return [item for item in items if item.id in clash.evidence_ids]
    return items[:1]


def _summarise(desk: _Desk, given: WriteInput) -> None:
    if not given.assessment.selected:
        desk.remark(_NO_EVIDENCE)
        return
    for sub in given.plan.subquestions:
        for clash in given.assessment.conflicts:
            if clash.subquestion_id == sub.id:
                desk.remark(f"Two sources disagree: {clash.difference}.")
                break
        desk.quote(_leads(sub, given.assessment))
        _tell_editions(desk, _items_of(sub, given.assessment))
        row = _row_of(sub, given.assessment)
        if row and row.coverage is Coverage.GAP:
            desk.remark(row.gap or f"No source states an answer to “{sub.question}”.")


def _tell_editions(desk: _Desk, items: Sequence[Selected]) -> None:
    """Say which quotes are from an older edition of a source that is quoted too."""
    told: dict[tuple[str, str], None] = {}
    for older in items:
        for newer in items:
            if is_newer(newer, older):
                told[_name(older), _name(newer)] = None
    for old, new in told:
        desk.remark(f"“{old}” is superseded: “{new}” is the newer edition.")


def _name(item: Selected) -> str:
    return item.title or place_name(item.locator)


_NO_EVIDENCE = (
    "No evidence was found: none of the sources read states anything that answers the question."
)


def _tell_findings(desk: _Desk, given: WriteInput) -> None:
    groups = [(sub, _items_of(sub, given.assessment)) for sub in given.plan.subquestions]
    allowed = _fair_share([len(items) for _, items in groups], given.max_claims)
    for (sub, items), count in zip(groups, allowed, strict=True):
        if not items:
            desk.remark("No source read states anything on this.", heading=sub.question)
        elif not desk.quote(items[:count], heading=sub.question):
            desk.remark("The quotes on this are given above.", heading=sub.question)
    if not groups:
        desk.remark(_NO_EVIDENCE)
    left_out = sum(len(items) for _, items in groups) - sum(allowed)
    if left_out > 0:
        desk.remark(f"{left_out} further quotes were left out to keep the section short.")


def _fair_share(sizes: Sequence[int], limit: int) -> list[int]:
    """Return how many of each group are let in when they take turns and `limit` are in all."""
    allowed = [0] * len(sizes)
    while sum(allowed) < min(limit, sum(sizes)):
        for place, size in enumerate(sizes):
            if allowed[place] < size and sum(allowed) < limit:
                allowed[place] += 1
    return allowed


def _tell_conflicts_and_gaps(desk: _Desk, given: WriteInput) -> None:
    assessment = given.assessment
    by_id = {item.id: item for item in assessment.selected}
    for clash in assessment.conflicts:
        desk.remark(f"Two sources disagree: {clash.difference}.")
        desk.quote(by_id[key] for key in clash.evidence_ids if key in by_id)
    gaps = [row for row in assessment.rows if row.coverage is Coverage.GAP]
    asked = {sub.id: sub.question for sub in given.plan.subquestions}
    for row in gaps:
        question = asked.get(row.subquestion_id, row.subquestion_id)
        desk.remark(row.gap or f"No source states an answer to “{question}”.")
    if not assessment.conflicts:
        desk.remark("No two quotes were found that contradict each other.")
    if not gaps and assessment.rows:
        desk.remark("Every subquestion has evidence that covers its terms.")


def _is_consequence(item: Selected) -> bool:
    return _CONSEQUENCE.search(item.text) is not None


def _tell_implications(desk: _Desk, given: WriteInput) -> None:
    items = [item for item in given.assessment.selected if _is_consequence(item)]
    if not desk.quote(items):
        desk.remark("No source among the evidence states a consequence, recommendation or limit.")
    desk.remark("This report draws no conclusions of its own beyond what the sources state.")


def _tell_method(desk: _Desk, given: WriteInput) -> None:
    assessment = given.assessment
    sources = len({item.source_id for item in assessment.selected})
    covered = sum(row.coverage is Coverage.COVERED for row in assessment.rows)
    desk.remark(
        "The report is extractive: its claims are exact quotes chosen by matching words, without a "
        "language model."
    )
    desk.remark(
        f"{len(assessment.selected)} quotes from {sources} sources were chosen; {covered} of "
        f"{len(assessment.rows)} subquestions are covered, {len(assessment.conflicts)} conflicts "
        "were found."
    )
