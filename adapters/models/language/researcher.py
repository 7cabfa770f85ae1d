"""The `Researcher` that asks a language model: one call an operation, each answer held to proof."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar, assert_never

from adapters.models.chat.errors import LOOP, OUTPUT, ModelRejected
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.port import ChatModel
from adapters.models.language.asking import Asked, price_of, put
from adapters.models.language.assessing import ask_assessment, read_assessment
from adapters.models.language.checking import ask_checks, read_checks
from adapters.models.language.drafting import draft_of, has_matter
from adapters.models.language.forms import CheckForm, Form, RepairForm
from adapters.models.language.outlining import ask_outline, read_outline
from adapters.models.language.planning import ask_plan, fallback_plan, read_plan
from adapters.models.language.repairing import ask_repairs, failed_claims, read_repairs
from adapters.models.language.reviewing import ask_review, read_review
from adapters.models.language.rows import Finding, settle
from adapters.models.language.writing import ask_report, ask_section, read_report, read_section
from adapters.models.port import (
    Answer,
    AssessInput,
    Assessment,
    CheckInput,
    Given,
    OutlineInput,
    OutlineItem,
    PlanInput,
    Reopened,
    RepairInput,
    ReportCheckInput,
    SectionDraft,
    SynthesisInput,
    WriteInput,
)
from state.values.claims import ClaimCheck
from state.values.money import Usage
from state.values.plan import Plan

Operation = Literal[
    "plan",
    "assess",
    "synthesise",
    "outline",
    "write_section",
    "check_claims",
    "repair",
    "check_report",
]
F = TypeVar("F", bound=Form)
T = TypeVar("T")

_NO_CHECKS = CheckForm.model_construct(checks=[])
_NO_REPAIRS = RepairForm(repairs=[])


class LanguageResearcher:
    """Asks `model`, or for some operations one of `models`, and takes nothing on trust.

    Quotes are located in the passages or dropped; values, dates and denials that differ are a
    conflict whether the model saw one or not; claims rest on quotes, and no verdict overrules a
    number. What the model says has no field for a budget, an address or a tool. Where there is
    nothing to ask, no call is made. With `kept`, an answer that was validated once is not paid
    twice.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        models: Mapping[Operation, ChatModel] | None = None,
        kept: KeptAnswers | None = None,
    ) -> None:
        self._model = model
        self._models = dict(models or {})
        self._kept = kept

    @property
    def name(self) -> str:
        """Return `model:` and the name of the model that is asked where no other is set."""
        return f"model:{self._model.name}"

    @property
    def uses_model(self) -> bool:
        """Return True."""
        return True

    def price(self, given: Given) -> Usage:
        """Return what one call takes at most: the prompt as it is packed, answer and mending."""
        match given:
            case PlanInput():
                return self._price("plan", ask_plan(given, self._context("plan")))
            case AssessInput():
                return self._price("assess", ask_assessment(given, self._context("assess")))
            case SynthesisInput():
                return self._price("synthesise", ask_report(given, self._context("synthesise")))
            case OutlineInput():
                return self._price("outline", ask_outline(given, self._context("outline")))
            case WriteInput():
                asked = ask_section(given, self._context("write_section"))
                return self._price("write_section", asked)
            case CheckInput():
                return self._price("check_claims", ask_checks(given, self._context("check_claims")))
            case RepairInput():
                return self._price("repair", ask_repairs(given, self._context("repair")))
            case ReportCheckInput():
                return self._price("check_report", ask_review(given, self._context("check_report")))
            case _:
                assert_never(given)

    async def plan(self, given: PlanInput) -> Answer[Plan]:
        """Return the model's plan; the one the question's structure gives when there is none."""
        asked = ask_plan(given, self._context("plan"))
        try:
            return await self._answer("plan", asked, lambda form: read_plan(form, given))
        except ModelRejected as error:
            if error.code not in (OUTPUT, LOOP):
                raise
            return self._made("plan", asked, fallback_plan(given), error.usage)

    async def assess(self, given: AssessInput) -> Answer[Assessment]:
        """Return what was found in the passages, every quote located in its source."""
        if not given.passages and not given.held:
            return Answer(settle([Finding(sub, ()) for sub in given.plan.subquestions], given))
        asked = ask_assessment(given, self._context("assess"))
        return await self._answer("assess", asked, lambda form: read_assessment(form, given))

    async def synthesise(self, given: SynthesisInput) -> Answer[tuple[SectionDraft, ...]]:
        """Return all sections; their remarks are told by rule, their claims by the model."""
        if not given.assessment.selected or given.max_claims < 1:
            return Answer(tuple(_without_claims(given)))
        asked = ask_report(given, self._context("synthesise"))
        return await self._answer("synthesise", asked, lambda form: read_report(form, given))

    async def outline(self, given: OutlineInput) -> Answer[tuple[OutlineItem, ...]]:
        """Return what each section will rest on."""
        if not given.assessment.selected or not given.sections:
            return Answer(tuple(OutlineItem(key, title, "") for key, title in given.sections))
        asked = ask_outline(given, self._context("outline"))
        return await self._answer("outline", asked, lambda form: read_outline(form, given))

    async def write_section(self, given: WriteInput) -> Answer[SectionDraft]:
        """Return one section, its claims resting on quotes."""
        if not has_matter(given.section, given.assessment) or given.max_claims < 1:
            return Answer(draft_of((), given))
        asked = ask_section(given, self._context("write_section"))
        return await self._answer("write_section", asked, lambda form: read_section(form, given))

    async def check_claims(self, given: CheckInput) -> Answer[tuple[ClaimCheck, ...]]:
        """Return a verdict for each claim, from a reading that sees claim and quotes alone."""
        if not any(_has_text(claim.evidence_ids, given) for claim in given.claims):
            return Answer(read_checks(_NO_CHECKS, given, self._method))
        asked = ask_checks(given, self._context("check_claims"))
        return await self._answer(
            "check_claims", asked, lambda form: read_checks(form, given, self._method)
        )

    async def repair(self, given: RepairInput) -> Answer[tuple[SectionDraft, ...]]:
        """Return the sections with what failed reworded or taken out, and all else as it was."""
        if not failed_claims(given) or not given.assessment.selected:
            return Answer(read_repairs(_NO_REPAIRS, given))
        asked = ask_repairs(given, self._context("repair"))
        return await self._answer("repair", asked, lambda form: read_repairs(form, given))

    async def check_report(self, given: ReportCheckInput) -> Answer[tuple[Reopened, ...]]:
        """Return the sections that the model finds a serious fault in."""
        if not given.drafts:
            return Answer(())
        asked = ask_review(given, self._context("check_report"))
        return await self._answer("check_report", asked, lambda form: read_review(form, given))

    @property
    def _method(self) -> str:
        return f"model:{self._for('check_claims').name}"

    def _for(self, operation: Operation) -> ChatModel:
        return self._models.get(operation, self._model)

    def _context(self, operation: Operation) -> int:
        return self._for(operation).context_tokens

    async def _answer(
        self, operation: Operation, asked: Asked[F], read: Callable[[F], T]
    ) -> Answer[T]:
        form, usage = await put(self._for(operation), asked, self._kept)
        return self._made(operation, asked, read(form), usage)

    def _made(self, operation: Operation, asked: Asked[F], value: T, usage: Usage) -> Answer[T]:
        return Answer(value, usage, self._for(operation).name, asked.request.prompt)

    def _price(self, operation: Operation, asked: Asked[F]) -> Usage:
        return price_of(self._for(operation), asked)


def _has_text(ids: Sequence[str], given: CheckInput) -> bool:
    return any(item.id in ids and item.text.strip() for item in given.evidence)


def _without_claims(given: SynthesisInput) -> Iterable[SectionDraft]:
    for key, title in given.sections:
        yield draft_of((), WriteInput(key, title, given.plan, given.assessment, given.max_claims))
