"""Check a report as a whole: which sections have to be written again."""

from collections.abc import Iterable, Sequence
from functools import partial

from adapters.models.chat.packing import Piece
from adapters.models.chat.port import ChatRequest
from adapters.models.chat.prompts import fence
from adapters.models.language.archive import Archive
from adapters.models.language.asking import Asked, Choices, fitted, output_limit, request_of
from adapters.models.language.attach import facts_of
from adapters.models.language.forms import WholeForm
from adapters.models.language.purposes import tell
from adapters.models.port import Reopened, ReportCheckInput, SectionDraft
from state.values.plan import Plan, has_words
from state.values.redaction import redact

_USUAL_TOKENS = 400
_MAX_PROBLEM = 500
_SECTION = 10.0  # the report itself comes before the quotes


def ask_review(given: ReportCheckInput, context_tokens: int) -> Asked[WholeForm]:
    """Return the request to look over the report, and one with half of what it rests on."""
    archive = Archive(given.plan, given.assessment)
    sections = [Piece(f"s{i}", _text(draft), _SECTION) for i, draft in enumerate(given.drafts)]
    build = partial(_request, given, archive, context_tokens)
    whole = fitted([*sections, *archive.pieces()], build, context_tokens)
    return Asked(whole.request, WholeForm, lambda: build(whole.better_half))


def _text(draft: SectionDraft) -> str:
    lines = [f"Section {draft.section}:"]
    for paragraph in draft.paragraphs:
        lines += [f"- {_line(claim.text)}" for claim in paragraph.claims]
        if paragraph.remark:
            lines.append(f"- (on the research) {_line(paragraph.remark)}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(redact(text).split())


def _request(
    given: ReportCheckInput, archive: Archive, context_tokens: int, pieces: Sequence[Piece]
) -> ChatRequest:
    keys = [draft.section for draft in given.drafts]
    return request_of(
        "check-report",
        WholeForm,
        output_tokens=output_limit(context_tokens, _USUAL_TOKENS),
        choices=[
            Choices("WholeForm", "reopen", most=max(1, len(keys))),
            Choices("ReopenedForm", "section", options=keys),
        ],
        quotes=archive.render(pieces),
        known=archive.known(pieces),
        sections=tell([(key, key.replace("_", " ")) for key in keys]),
        example=keys[0] if keys else "findings",
        report="\n\n".join(fence(p.text) for p in pieces if p.key.startswith("s")),
    )


def read_review(form: WholeForm, given: ReportCheckInput) -> tuple[Reopened, ...]:
    """Return the sections of the report that are named with a problem, each once, in order.

    A problem that has a number which no quote has is none: it would be written into the section.
    """
    known = [facts_of(item.text) for item in given.assessment.selected]
    known += [facts_of(text) for text in (given.plan.goal, *_asked(given.plan))]
    said: dict[str, str] = {}
    for each in form.reopen:
        problem = " ".join(each.problem.split())[:_MAX_PROBLEM]
        if has_words(problem) and not facts_of(problem).lacking(known):
            said.setdefault(each.section.strip().casefold().replace(" ", "_"), problem)
    return tuple(
        Reopened(draft.section, said[draft.section])
        for draft in given.drafts
        if draft.section in said
    )


def _asked(plan: Plan) -> Iterable[str]:
    return (subquestion.question for subquestion in plan.subquestions)
