"""What becomes of claims that a model states: in they come resting on quotes, or not at all."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.models.extractive.negation import is_negated
from adapters.models.extractive.terms import stems
from adapters.models.extractive.write import GAPS, SUMMARY, claim_text
from adapters.models.language.archive import Archive
from adapters.models.language.attach import attached, facts_of
from adapters.models.language.forms import StatedForm
from adapters.models.language.purposes import DISPUTES, FINDINGS
from adapters.models.port import Assessment, Paragraph, SectionDraft, Selected, WriteInput
from state.values.claims import Claim
from state.values.evidence import Conflict, Coverage

MAX_CLAIM = 800
_CITED = re.compile(
    r"\s*[\[(（]\s*((?:e\d+)(?:\s*(?:[,;&]|and|und)\s*e\d+)*)\s*[\])）]", re.IGNORECASE
)
_BRACKETED = re.compile(r"(?<=[\s.,;:!?…”\"])\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]")
_ALIKE = 0.8
_END = re.compile(r"[.!?。！？](?=\s|\Z)|[。！？]")


def has_matter(section: str, assessment: Assessment) -> bool:
    """Tell whether there is anything that the section could claim."""
    return bool(assessment.conflicts if section == DISPUTES else assessment.selected)


def draft_of(
    stated: Sequence[StatedForm], given: WriteInput, *, told: Sequence[Claim] = ()
) -> SectionDraft:
    """Return the section with those of `stated` that rest on a quote, and what it leaves open.

    What was `told` in sections before is not told again. A disagreement has to be one that was
    found. Remarks are made of the assessment, never by the model: they are checked by nobody.
    """
    archive = Archive(given.plan, given.assessment)
    claims: list[Claim] = []
    lost = 0
    for each in stated if has_matter(given.section, given.assessment) else ():
        made = claim_of(each.text, each.evidence, archive)
        if made is None or len(claims) >= given.max_claims:
            lost += 1
        elif _is_disputed(made, given) and not _is_told(made, [*told, *claims]):
            id_ = f"{given.section}-{len(claims) + 1}"
            claims.append(Claim(id_, given.section, made.text, made.evidence_ids))
    claims += _other_sides(claims, given)
    paragraphs = [*_paragraphs(claims, given), *_remarks(claims, given)]
    if lost:
        text = f"{lost} sentence{'s' if lost > 1 else ''} left out: without a quote, or too many."
        paragraphs.append(Paragraph(remark=text))
    return SectionDraft(given.section, tuple(paragraphs))


@dataclass(frozen=True, slots=True)
class Rested:
    """The text of a claim, and the ids of the quotes it rests on."""

    text: str
    evidence_ids: tuple[str, ...]


def claim_of(text: str, names: Sequence[str], archive: Archive) -> Rested | None:
    """Return a claim as it is let in: on one line, without citation marks, with its quotes.

    None when it says nothing, or rests on no quote.
    """
    inside = [name for found in _CITED.findall(text) for name in re.findall(r"e\d+", found.lower())]
    said = " ".join(_BRACKETED.sub("", _CITED.sub("", text)).split())
    said = _shortened(said)
    known = archive.by_name
    cited = [known[name.lower()] for name in (*names, *inside) if name.lower() in known]
    if not any(character.isalnum() for character in said):
        return None
    quotes = attached(said, cited, archive.items)
    return Rested(said, tuple(quote.id for quote in quotes)) if quotes else None


def _other_sides(claims: Sequence[Claim], given: WriteInput) -> list[Claim]:
    """Return the sides of disagreements that their section leaves out, in the sources' words."""
    told = {id_ for claim in claims for id_ in claim.evidence_ids}
    wanted = {id_ for conflict in given.assessment.conflicts for id_ in conflict.evidence_ids}
    left = given.max_claims - len(claims) if given.section == DISPUTES else 0
    sides = [item for item in given.assessment.selected if item.id in wanted - told]
    known = {plain(claim.text) for claim in claims}
    texts = {plain(text): (text, side) for side in sides if (text := claim_text(side.text))}
    fresh = [made for key, made in texts.items() if key not in known][: max(0, left)]
    return [
        Claim(f"{given.section}-{number}", given.section, text, (side.id,))
        for number, (text, side) in enumerate(fresh, start=len(claims) + 1)
    ]


def _is_disputed(made: Rested, given: WriteInput) -> bool:
    """Tell whether the claim may stand where disagreements do; elsewhere any may."""
    disputed = {id_ for conflict in given.assessment.conflicts for id_ in conflict.evidence_ids}
    return given.section != DISPUTES or bool(disputed.intersection(made.evidence_ids))


def _is_told(made: Rested, claims: Sequence[Claim]) -> bool:
    """Tell whether one of `claims` says the same in nearly the same words."""
    words, facts = stems(made.text), facts_of(made.text)
    for claim in claims:
        others = stems(claim.text)
        alike = len(words & others) >= _ALIKE * len(words | others)
        if plain(claim.text) == plain(made.text):
            return True
        if words and alike and facts_of(claim.text) == facts and _same_side(claim.text, made.text):
            return True
    return False


def _same_side(one: str, other: str) -> bool:
    return is_negated(one) == is_negated(other)


def _shortened(text: str) -> str:
    """Return `text`, of one that is too long the whole sentences that fit; '' if none does."""
    if len(text) <= MAX_CLAIM:
        return text
    ends = [found.end() for found in _END.finditer(text, 0, MAX_CLAIM)]
    return text[: ends[-1]] if ends else ""


def plain(text: str) -> str:
    """Return the words of `text` alone, by which one claim repeats another."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _paragraphs(claims: Sequence[Claim], given: WriteInput) -> list[Paragraph]:
    """Return `claims` as one paragraph, or where findings are told one for each subquestion."""
    if given.section not in FINDINGS or len(given.plan.subquestions) < 2:
        return [Paragraph(claims=tuple(claims))] if claims else []
    by_id = {item.id: item for item in given.assessment.selected}
    groups: dict[str, list[Claim]] = {sub.id: [] for sub in given.plan.subquestions}
    for claim in claims:
        groups.setdefault(by_id[claim.evidence_ids[0]].subquestion_id, []).append(claim)
    asked = {sub.id: sub.question for sub in given.plan.subquestions}
    renumbered = [
        Paragraph(tuple(group), heading=asked.get(key, ""))
        for key, group in groups.items()
        if group
    ]
    return _numbered(renumbered, given.section)


def _numbered(paragraphs: Sequence[Paragraph], section: str) -> list[Paragraph]:
    number = 0
    made = []
    for paragraph in paragraphs:
        claims = []
        for claim in paragraph.claims:
            number += 1
            claims.append(Claim(f"{section}-{number}", section, claim.text, claim.evidence_ids))
        made.append(Paragraph(tuple(claims), heading=paragraph.heading))
    return made


def _remarks(claims: Sequence[Claim], given: WriteInput) -> list[Paragraph]:
    """Return what has to be said of the research beside the claims of this section."""
    assessment, section = given.assessment, given.section
    said = []
    if section in (*SUMMARY, *GAPS):
        cited = {id_ for claim in claims for id_ in claim.evidence_ids}
        said += [
            f"Sources disagree: {conflict.difference.rstrip('. ')}."
            for conflict in assessment.conflicts
            if section in GAPS or not _tells_both(conflict, cited, assessment.selected)
        ]
        asked = {sub.id: sub.question for sub in given.plan.subquestions}
        said += [
            row.gap or f"No source states an answer to “{asked.get(row.subquestion_id, '')}”."
            for row in assessment.rows
            if row.coverage is Coverage.GAP
        ]
    if section in GAPS and not said:
        said.append("No two quotes contradict each other, and every subquestion has an answer.")
    if not claims and not said:
        said.append("No quote states anything for this section that is not told elsewhere.")
    return [Paragraph(remark=text) for text in said]


def _tells_both(conflict: Conflict, cited: set[str], items: Sequence[Selected]) -> bool:
    sources = {item.source_id for item in items if item.id in cited & set(conflict.evidence_ids)}
    return len(sources) > 1
