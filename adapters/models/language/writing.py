"""Write: ask for claims with the quotes they rest on, and let in only those that rest on some."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from adapters.models.chat.packing import Piece
from adapters.models.chat.port import ChatRequest
from adapters.models.language.archive import Archive
from adapters.models.language.asking import Asked, Choices, fitted, output_limit, request_of
from adapters.models.language.drafting import draft_of, has_matter
from adapters.models.language.forms import Form, ReportForm, SectionForm, StatedForm
from adapters.models.language.purposes import FINDINGS, tell
from adapters.models.port import (
    SectionDraft,
    SynthesisInput,
    WriteInput,
)
from state.values.claims import Claim

_TOKENS_PER_CLAIM, _FEWEST_TOKENS, _MOST_TOKENS = 110, 400, 1800


@dataclass(frozen=True, slots=True)
class _Order:
    """What is to be written, by which prompt, into which form."""

    prompt: str
    form: type[Form]
    archive: Archive
    sections: Sequence[str]
    fields: Mapping[str, str]
    context_tokens: int

    def request(self, pieces: Sequence[Piece], *, most: int) -> ChatRequest:
        """Return the request for at most `most` claims from the quotes in `pieces`."""
        usual = min(_MOST_TOKENS, max(_FEWEST_TOKENS, _TOKENS_PER_CLAIM * most))
        return request_of(
            self.prompt,
            self.form,
            output_tokens=output_limit(self.context_tokens, usual),
            choices=[
                Choices(self.form.__name__, "claims", most=most),
                Choices("StatedForm", "section", options=self.sections),
                Choices("StatedForm", "evidence", options=[piece.key for piece in pieces]),
            ],
            quotes=self.archive.render(pieces),
            known=self.archive.known(pieces),
            most=str(most),
            **self.fields,
        )

    def both(
        self, most: int, preferred: Sequence[str] = ()
    ) -> tuple[ChatRequest, Callable[[], ChatRequest]]:
        """Return the request, and how to make the one for half as many claims and quotes."""
        most = max(1, most)
        pieces = self.archive.pieces(preferred)
        whole = fitted(pieces, partial(self.request, most=most), self.context_tokens)
        half = max(1, most // 2)
        return whole.request, lambda: self.request(whole.better_half, most=half)


def ask_report(given: SynthesisInput, context_tokens: int) -> Asked[ReportForm]:
    """Return the request for all sections at once, and one for half as many claims."""
    archive = Archive(given.plan, given.assessment)
    sections = [each for each in given.sections if has_matter(each[0], given.assessment)]
    keys = [key for key, _ in sections]
    fields = {"sections": tell(sections), "example": keys[0] if keys else "findings"}
    order = _Order("synthesise", ReportForm, archive, keys, fields, context_tokens)
    request, smaller = order.both(given.max_claims)
    return Asked(request, ReportForm, smaller)


def ask_section(given: WriteInput, context_tokens: int) -> Asked[SectionForm]:
    """Return the request for one section, and one for half as many claims."""
    archive = Archive(given.plan, given.assessment)
    feedback = " ".join(given.feedback.split())
    fields = {
        "section": tell([(given.section, given.section_title)]),
        "example": given.section,
        "feedback": f"\nAn earlier version was not good enough: {feedback}\n" if feedback else "",
    }
    order = _Order("write-section", SectionForm, archive, [given.section], fields, context_tokens)
    request, smaller = order.both(given.max_claims, given.outline)
    return Asked(request, SectionForm, smaller)


def read_report(form: ReportForm, given: SynthesisInput) -> tuple[SectionDraft, ...]:
    """Return the sections in their order; a claim for none of them goes where findings do."""
    keys = [key for key, _ in given.sections]
    titles = {title.casefold(): key for key, title in given.sections}
    other = next((key for key in keys if key in FINDINGS), keys[0] if keys else "")
    said: dict[str, list[StatedForm]] = {key: [] for key in keys}
    for claim in form.claims:
        key = claim.section.strip().casefold().replace(" ", "_")
        key = key if key in said else titles.get(claim.section.strip().casefold(), other)
        if key in said:
            said[key].append(claim)
    drafts: list[SectionDraft] = []
    told: list[Claim] = []
    left = given.max_claims
    for key, title in given.sections:
        asked = WriteInput(key, title, given.plan, given.assessment, left)
        drafts.append(draft_of(said[key], asked, told=() if key in FINDINGS else told))
        told += drafts[-1].claims
        left -= len(drafts[-1].claims)
    return tuple(drafts)


def read_section(form: SectionForm, given: WriteInput) -> SectionDraft:
    """Return the section that `form` spells."""
    return draft_of(form.claims, given)
