"""Repair: only the claims that failed are shown, and only they change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from adapters.models.chat.errors import ModelRejected
from adapters.models.chat.packing import Piece
from adapters.models.chat.port import ChatRequest
from adapters.models.chat.prompts import fence
from adapters.models.language.archive import Archive
from adapters.models.language.asking import (
    Asked,
    Choices,
    Fitted,
    fitted,
    output_limit,
    request_of,
)
from adapters.models.language.attach import facts_of
from adapters.models.language.drafting import Rested, claim_of, plain
from adapters.models.language.forms import RepairForm, RewordedForm
from adapters.models.language.showing import numbered
from adapters.models.port import Paragraph, RepairInput, SectionDraft
from state.values.claims import FAILED, Claim, ClaimCheck
from state.values.redaction import redact

_TOKENS_PER_CLAIM, _FEWEST_TOKENS = 110, 250


def ask_repairs(given: RepairInput, context_tokens: int) -> Asked[RepairForm]:
    """Return the request to reword what failed, and one for half as many quotes and claims.

    It is for as many claims as there is room for; those that come after stay without a repair.
    """
    archive = Archive(given.plan, given.assessment)
    build = partial(_request, archive, context_tokens)
    whole, failed = _fitting(archive, failed_claims(given), build, context_tokens)
    half = failed[: (len(failed) + 1) // 2]
    return Asked(whole.request, RepairForm, lambda: build(half, whole.better_half))


def _fitting(
    archive: Archive,
    failed: Sequence[tuple[Claim, ClaimCheck]],
    build: Callable[[Sequence[tuple[Claim, ClaimCheck]], Sequence[Piece]], ChatRequest],
    context_tokens: int,
) -> tuple[Fitted, Sequence[tuple[Claim, ClaimCheck]]]:
    """Return the request for the first of `failed` that there is room for, and these."""
    cited = [id_ for claim, _ in failed for id_ in claim.evidence_ids]
    try:
        return fitted(archive.pieces(cited), partial(build, failed), context_tokens), failed
    except ModelRejected:
        if len(failed) < 2:
            raise
        return _fitting(archive, failed[: len(failed) // 2], build, context_tokens)


def failed_claims(given: RepairInput) -> list[tuple[Claim, ClaimCheck]]:
    """Return the claims that did not hold, each with its check, in order."""
    failed = {check.claim_id: check for check in given.checks if check.verdict in FAILED}
    claims = [claim for draft in given.drafts for claim in draft.claims]
    return [(claim, failed[claim.id]) for claim in claims if claim.id in failed]


def _request(
    archive: Archive,
    context_tokens: int,
    failed: Sequence[tuple[Claim, ClaimCheck]],
    pieces: Sequence[Piece],
) -> ChatRequest:
    names = numbered("c", len(failed))
    ids = archive.names
    blocks = []
    for name, (claim, check) in zip(names, failed, strict=True):
        cited = ", ".join(ids[id_] for id_ in claim.evidence_ids if id_ in ids) or "none"
        lines = [f"Claim {name}: {_line(claim.text)}", f"Its quotes: {cited}"]
        lines.append(f"Why it did not hold: {_line(check.reason) or check.verdict.value}")
        blocks.append(fence("\n".join(lines)))
    usual = max(_FEWEST_TOKENS, _TOKENS_PER_CLAIM * len(failed))
    return request_of(
        "repair-claims",
        RepairForm,
        output_tokens=output_limit(context_tokens, usual),
        choices=[
            Choices("RepairForm", "repairs", most=max(1, len(failed))),
            Choices("RewordedForm", "claim", options=names),
            Choices("RewordedForm", "evidence", options=[piece.key for piece in pieces]),
        ],
        quotes=archive.render(pieces),
        claims="\n\n".join(blocks),
        names=", ".join(names),
    )


def _line(text: str) -> str:
    return " ".join(redact(text).split())


def read_repairs(form: RepairForm, given: RepairInput) -> tuple[SectionDraft, ...]:
    """Return the sections, each failed claim reworded or taken out, all else as it was.

    A new wording is let in when it is new, rests on quotes, and has no number that they lack.
    """
    archive = Archive(given.plan, given.assessment)
    said: dict[str, RewordedForm] = {}
    for each in form.repairs:
        said.setdefault(each.claim.strip("[]. ").casefold(), each)
    texts = {item.id: item.text for item in archive.items}
    taken = {plain(claim.text) for draft in given.drafts for claim in draft.claims}
    made: dict[str, Rested | None] = {}
    for number, (claim, _) in enumerate(failed_claims(given), start=1):
        new = said.get(f"c{number}")
        rested = claim_of(new.text, new.evidence, archive) if new else None
        if rested and (plain(rested.text) in taken or _goes_beyond(rested, texts)):
            rested = None
        made[claim.id] = rested
        taken |= {plain(rested.text)} if rested else set()
    return tuple(_mended(draft, made) for draft in given.drafts)


def _goes_beyond(rested: Rested, texts: Mapping[str, str]) -> bool:
    quotes = [facts_of(texts[id_]) for id_ in rested.evidence_ids]
    return bool(facts_of(rested.text).lacking(quotes))


def _mended(draft: SectionDraft, made: Mapping[str, Rested | None]) -> SectionDraft:
    paragraphs: list[Paragraph] = []
    for paragraph in draft.paragraphs:
        claims = []
        for claim in paragraph.claims:
            new = made.get(claim.id)
            if claim.id not in made:
                claims.append(claim)
            elif new is not None:
                claims.append(replace(claim, text=new.text, evidence_ids=new.evidence_ids))
        if claims or not paragraph.claims:
            paragraphs.append(replace(paragraph, claims=tuple(claims)))
    return SectionDraft(draft.section, tuple(paragraphs))
