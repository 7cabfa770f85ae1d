"""Outline: what each section will tell, and the quotes it will rest on."""

from collections.abc import Sequence
from functools import partial

from adapters.models.chat.packing import Piece
from adapters.models.chat.port import ChatRequest
from adapters.models.language.archive import Archive
from adapters.models.language.asking import Asked, Choices, fitted, output_limit, request_of
from adapters.models.language.forms import OutlinedForm, OutlineForm
from adapters.models.language.purposes import FINDINGS, tell
from adapters.models.port import OutlineInput, OutlineItem

_TOKENS_PER_SECTION = 160
_MAX_INTENT = 500


def ask_outline(given: OutlineInput, context_tokens: int) -> Asked[OutlineForm]:
    """Return the request for an outline, and one over half of the quotes."""
    archive = Archive(given.plan, given.assessment)
    build = partial(_request, given, archive, context_tokens)
    whole = fitted(archive.pieces(), build, context_tokens)
    return Asked(whole.request, OutlineForm, lambda: build(whole.better_half))


def _request(
    given: OutlineInput, archive: Archive, context_tokens: int, pieces: Sequence[Piece]
) -> ChatRequest:
    keys = [key for key, _ in given.sections]
    return request_of(
        "outline",
        OutlineForm,
        output_tokens=output_limit(context_tokens, _TOKENS_PER_SECTION * max(1, len(keys))),
        choices=[
            Choices("OutlineForm", "sections", least=len(keys), most=len(keys)),
            Choices("OutlinedForm", "section", options=keys),
            Choices("OutlinedForm", "evidence", options=[piece.key for piece in pieces]),
        ],
        quotes=archive.render(pieces),
        known=archive.known(pieces),
        sections=tell(given.sections),
        example=keys[0] if keys else "findings",
    )


def read_outline(form: OutlineForm, given: OutlineInput) -> tuple[OutlineItem, ...]:
    """Return one item a section, in order; findings rest on every quote, those named first."""
    archive = Archive(given.plan, given.assessment)
    known = archive.by_name
    said: dict[str, OutlinedForm] = {}
    for each in form.sections:
        said.setdefault(each.section.strip().casefold().replace(" ", "_"), each)
    items = []
    for key, title in given.sections:
        entry = said.get(key)
        names = [name.lower() for name in entry.evidence] if entry else []
        if key in FINDINGS:
            names += known
        ids = dict.fromkeys(known[name].id for name in names if name in known)
        intent = " ".join(entry.intent.split())[:_MAX_INTENT] if entry else ""
        items.append(OutlineItem(key, title, intent, tuple(ids)))
    return tuple(items)
