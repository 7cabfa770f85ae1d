"""Check: hold every claim against its quotes, and say what the sources say together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from prefect import task

from adapters.models.port import Answer, CheckInput, Researcher, Selected
from state.values.claims import Claim, ClaimCheck, ClaimStatus, Verdict
from state.values.evidence import Conflict
from tasks.policy import POLICY


@dataclass(frozen=True, slots=True)
class CheckTurn:
    """The claims of one section, and the evidence their ids point at."""

    section: str
    given: CheckInput


async def check_section(turn: CheckTurn, researcher: Researcher) -> Answer[tuple[ClaimCheck, ...]]:
    """Return exactly one check a claim, in order: none is lost, and silence is unverified."""
    answer = await researcher.check_claims(turn.given)
    given: Sequence[ClaimCheck | None] = answer.value  # a model's list may have holes
    said = {check.claim_id: check for check in given if check is not None}
    held = {choice.id for choice in turn.given.evidence}
    return replace(
        answer,
        value=tuple(_check(claim, said.get(claim.id), held) for claim in turn.given.claims),
    )


def _check(claim: Claim, check: ClaimCheck | None, held: set[str]) -> ClaimCheck:
    if not held.intersection(claim.evidence_ids):
        return ClaimCheck(claim.id, Verdict.NO_TEXT, "engine", "the quotes are not in the archive")
    if check is None:
        return ClaimCheck(claim.id, Verdict.UNVERIFIED, "engine", "the check gave no verdict")
    return replace(check, method=check.method[:120], reason=check.reason[:2000])


def claim_status(
    claim: Claim, evidence: Mapping[str, Selected], conflicts: Sequence[Conflict]
) -> ClaimStatus:
    """Return what the sources say together about `claim`.

    Disputed when it rests on one side of a conflict; corroborated by quotes of at least two
    origins with at least two distinct texts; else single-source.
    """
    disputed = {id_ for conflict in conflicts for id_ in conflict.evidence_ids}
    if disputed.intersection(claim.evidence_ids):
        return ClaimStatus.DISPUTED
    quotes = [evidence[id_] for id_ in claim.evidence_ids if id_ in evidence]
    origins = {quote.locator for quote in quotes}
    texts = {" ".join(quote.text.split()).casefold() for quote in quotes}
    return (
        ClaimStatus.CORROBORATED if min(len(origins), len(texts)) > 1 else ClaimStatus.SINGLE_SOURCE
    )


@task(name="check", task_run_name="check {turn.section}", **POLICY)
async def check(turn: CheckTurn, *, researcher: Researcher) -> Answer[tuple[ClaimCheck, ...]]:
    """Check the claims of one section."""
    return await check_section(turn, researcher)
