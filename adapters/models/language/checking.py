"""Check: a second reading that sees claims and their quotes alone, held to hard rules."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from adapters.models.chat.packing import Piece
from adapters.models.chat.port import ChatRequest
from adapters.models.chat.prompts import fence
from adapters.models.extractive import check as wording
from adapters.models.extractive.support import sentences_of
from adapters.models.extractive.terms import stems
from adapters.models.language.asking import Asked, Choices, fitted, output_limit, request_of
from adapters.models.language.attach import facts_of
from adapters.models.language.forms import CheckForm, VerdictForm
from adapters.models.language.locate import readings
from adapters.models.language.showing import numbered
from adapters.models.port import CheckInput
from state.values.claims import Claim, ClaimCheck, Verdict
from state.values.quotes import find_quote
from state.values.redaction import redact

_TOKENS_PER_CHECK, _FEWEST_TOKENS = 70, 200
_MOST_REASON = 300
_WINDOWS = (0, 600, 240)  # characters of a quote that are shown; 0 is all
_STAND_IN = 12
_MOST_WORDS = 0.6
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def ask_checks(given: CheckInput, context_tokens: int) -> Asked[CheckForm]:
    """Return the request to check the claims that fit, and one for half as many.

    Of long quotes only what is nearest to the claim is shown where not all fits. Without claims it
    is a request as large as one for claims that were made of the evidence.
    """
    given = given if given.claims else _stand_in(given)
    build = partial(_request, context_tokens)
    for window in _WINDOWS:
        pieces = _pieces(given, window)
        whole = fitted(pieces, build, context_tokens)
        if len(whole.pieces) == len(pieces) or window == _WINDOWS[-1]:
            break
    return Asked(whole.request, CheckForm, lambda: build(whole.better_half))


def _stand_in(given: CheckInput) -> CheckInput:
    made = [
        Claim(f"c-{number}", "all", item.text[:300], (item.id,))
        for number, item in enumerate(given.evidence[:_STAND_IN])
    ]
    return CheckInput(tuple(made), given.evidence)


def _pieces(given: CheckInput, window: int) -> list[Piece]:
    texts = {item.id: item.text for item in given.evidence}
    made = []
    for name, claim in zip(numbered("c", len(given.claims)), given.claims, strict=True):
        quotes = [texts[id_] for id_ in claim.evidence_ids if id_ in texts]
        lines = [f"Quote: {_line(_nearest(quote, claim.text, window))}" for quote in quotes]
        lines.append(f"Claim {name}: {_line(claim.text)}")
        if quotes:
            made.append(Piece(name, "\n".join(lines)))
    return made


def _line(text: str) -> str:
    """Return `text` on one line, so that it cannot begin a line of its own."""
    return " ".join(redact(text).split())


def _nearest(quote: str, claim: str, window: int) -> str:
    """Return the sentences of `quote` that are nearest to `claim`, up to `window` characters."""
    if not window or len(quote) <= window:
        return quote
    parts = sentences_of(quote)
    said = stems(claim)
    order = sorted(range(len(parts)), key=lambda i: (-len(said & stems(parts[i])), i))
    kept: list[int] = []
    for index in order:
        if sum(len(parts[i]) for i in kept) + len(parts[index]) <= window:
            kept.append(index)
    shown = kept or order[:1]
    return " … ".join(parts[index][: 2 * window] for index in sorted(shown))


def _request(context_tokens: int, pieces: Sequence[Piece]) -> ChatRequest:
    names = [piece.key for piece in pieces]
    usual = max(_FEWEST_TOKENS, _TOKENS_PER_CHECK * len(names))
    return request_of(
        "check-claims",
        CheckForm,
        output_tokens=output_limit(context_tokens, usual),
        choices=[
            Choices("CheckForm", "checks", least=len(names), most=len(names)),
            Choices("VerdictForm", "claim", options=names),
        ],
        claims="\n\n".join(fence(piece.text) for piece in pieces),
        names=", ".join(names),
    )


def read_checks(form: CheckForm, given: CheckInput, method: str) -> tuple[ClaimCheck, ...]:
    """Return one check for each claim, in order: the model's, as far as the rules let it stand."""
    said: dict[str, VerdictForm] = {}
    for each in form.checks:
        said.setdefault(each.claim.strip("[]. ").casefold(), each)
    if len(form.checks) == len(given.claims) == 1:
        said.setdefault("c1", form.checks[0])
    ruled = wording.check_claims(given)
    names = numbered("c", len(given.claims))
    return tuple(
        _combined(claim, said.get(name), rule, given, method)
        for name, claim, rule in zip(names, given.claims, ruled, strict=True)
    )


def _combined(
    claim: Claim, said: VerdictForm | None, rule: ClaimCheck, given: CheckInput, method: str
) -> ClaimCheck:
    """Return the model's verdict, unless the wording settles it, or shows it to be too good."""
    both = f"{method}+rules"
    if rule.verdict is Verdict.CONTRADICTED:
        return _contradicted(claim, rule, given, both)
    is_proven = rule.verdict is Verdict.SUPPORTED and rule.method == wording.METHOD
    if is_proven or rule.verdict is Verdict.NO_TEXT:
        return rule
    if said is None:
        return ClaimCheck(claim.id, Verdict.UNVERIFIED, method, "the check gave no verdict")
    quotes = [item.text for item in given.evidence if item.id in claim.evidence_ids]
    verdict, held_by_rule = Verdict(said.verdict), rule.verdict is Verdict.SUPPORTED
    if verdict is not Verdict.UNVERIFIED and not _is_shown(said.quoted, quotes):
        if held_by_rule:
            return replace(rule, method=both)
        text = f"read as {verdict.value}, by words that stand in none of its quotes"
        return ClaimCheck(claim.id, Verdict.UNVERIFIED, both, text)
    if verdict is Verdict.SUPPORTED and (lacking := _lacking(claim.text, quotes)):
        return ClaimCheck(claim.id, Verdict.PARTIAL, both, lacking)
    if verdict is Verdict.CONTRADICTED and held_by_rule:
        text = "read as contradicted, though the quotes have its words, numbers and names"
        return ClaimCheck(claim.id, Verdict.PARTIAL, both, text)
    reason = " ".join(redact(said.reason).split())[:_MOST_REASON]
    return ClaimCheck(claim.id, verdict, method, reason)


def _contradicted(claim: Claim, rule: ClaimCheck, given: CheckInput, method: str) -> ClaimCheck:
    """Return what a quote that states another value makes of a claim that another may bear out."""
    if _is_borne_out_by_one(claim, given):
        text = f"its quotes disagree: {rule.reason}"
        return ClaimCheck(claim.id, Verdict.PARTIAL, method, text)
    return replace(rule, method=method)


def _is_shown(said: str, quotes: Sequence[str]) -> bool:
    """Tell whether the words that decided stand in one of the quotes."""
    return any(find_quote(quote, each) for each in readings(said) for quote in quotes)


def _is_borne_out_by_one(claim: Claim, given: CheckInput) -> bool:
    """Tell whether one of the quotes, by itself, has the claim's facts and most of its words."""
    wanted, words = facts_of(claim.text), stems(claim.text)
    for item in given.evidence:
        if item.id not in claim.evidence_ids or wanted.lacking([facts_of(item.text)]):
            continue
        alone = CheckInput((replace(claim, evidence_ids=(item.id,)),), (item,))
        (check,) = wording.check_claims(alone)
        near = len(words & stems(item.text)) >= _MOST_WORDS * len(words)
        if near and check.verdict is not Verdict.CONTRADICTED:
            return True
    return False


def _lacking(text: str, quotes: Sequence[str]) -> str:
    """Return which number of the claim no quote has, or ''."""
    missing = facts_of(text).lacking([facts_of(quote) for quote in quotes])
    if not missing:
        return ""
    written = {figure for quote in quotes for figure in _FIGURE.findall(quote)}
    shown = [f for f in _FIGURE.findall(text) if f not in written]
    return f"no quote has the number “{shown[0]}”" if shown else ""
