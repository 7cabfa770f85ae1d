"""What a run may take of a language model, as a rule and at most, told before it starts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from adapters.models.port import (
    AssessInput,
    Assessment,
    CheckInput,
    Given,
    OutlineInput,
    Paragraph,
    PlanInput,
    RepairInput,
    ReportCheckInput,
    Researcher,
    SectionDraft,
    Selected,
    SynthesisInput,
    WriteInput,
)
from state.request import ResearchRequest
from state.reviews import MAX_REVISIONS
from state.values.claims import Claim, ClaimCheck, Verdict
from state.values.evidence import Coverage, CoverageRow, Passage
from state.values.money import Usage
from state.values.plan import MAX_SUBQUESTIONS, Plan, Subquestion
from state.values.profiles import PROFILES
from state.values.quotes import MAX_QUOTE

# An answer is seldom as long as it may be and seldom has to be mended; its price is for both.
_USUAL_SHARE = 3
_USUAL_ROUNDS = 2
_BLOCK = 1_500
# As the method has them; to take them from there would import Prefect before it is needed.
MAX_EVIDENCE, MAX_CLAIMS, POOL_CHARACTERS = 8, 12, 48_000
# Five, three characters and one to a token: prose, what is full of figures, and Chinese.
_USUAL_TEXT, _LONG_TEXT, _LONGEST_TEXT = "word ", "ab ", "字"
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run takes as a rule, and at most: within its budgets whatever happens."""

    about: Usage
    most: Usage

    def __str__(self) -> str:
        """Return it as a sentence for people; dollars only of models that have a price."""
        return f"about {_said(self.about)}; at most {_said(self.most)}"


def _said(usage: Usage) -> str:
    cost = usage.cost_micro_usd / 1_000_000
    dollars = f" for {cost:.2f} US dollars" if usage.cost_micro_usd else ""
    return f"{usage.model_calls} model calls and {usage.tokens:,} tokens{dollars}"


def estimate(request: ResearchRequest, researcher: Researcher) -> Estimate:
    """Return what `request` may take of `researcher`, by its prices; nobody is asked."""
    budgets = request.budgets
    most = _total(researcher, _worst(request))
    most = replace(most, model_calls=min(most.model_calls, budgets.max_model_calls))
    about = _shared(_total(researcher, _usual(request)))
    about = replace(about, model_calls=min(about.model_calls, most.model_calls))
    return Estimate(_within(request, about), _within(request, most))


def _total(researcher: Researcher, asked: Iterator[tuple[int, Given]]) -> Usage:
    """Return the price of all that is `asked`, each so many times."""
    prices = [(times, researcher.price(given)) for times, given in asked if times]
    return sum((price for times, price in prices for _ in range(times)), start=Usage())


def _shared(usage: Usage) -> Usage:
    return replace(
        usage,
        input_tokens=usage.input_tokens // _USUAL_SHARE,
        cached_tokens=usage.cached_tokens // _USUAL_SHARE,
        output_tokens=usage.output_tokens // _USUAL_SHARE,
        cost_micro_usd=usage.cost_micro_usd // _USUAL_SHARE,
    )


def _within(request: ResearchRequest, usage: Usage) -> Usage:
    """Return `usage` within the budgets of tokens and money."""
    most, left = request.budgets.max_cost_micro_usd, request.budgets.max_tokens
    if most is not None:
        usage = replace(usage, cost_micro_usd=min(usage.cost_micro_usd, most))
    if left is not None and usage.tokens > left:
        put_out = min(usage.output_tokens, left)
        usage = replace(usage, input_tokens=left - put_out, cached_tokens=0, output_tokens=put_out)
    return usage


def _usual(request: ResearchRequest) -> Iterator[tuple[int, Given]]:
    """Yield what is asked when the second round covers everything and all claims hold."""
    known = _Known(request, _USUAL_TEXT, MAX_QUOTE // 6)
    yield 1, PlanInput(request.question, request.audience, request.boundaries)
    yield 1, known.assessed(1)
    yield min(_USUAL_ROUNDS, request.budgets.max_rounds) - 1, known.assessed(2)
    if request.scope != "deep":
        yield 1, known.synthesis
        yield 1, known.checked(1)
        return
    yield 1, known.outline
    yield len(known.sections), known.section
    yield len(known.sections), known.checked(1)
    yield 1, known.whole


def _worst(request: ResearchRequest) -> Iterator[tuple[int, Given]]:
    """Yield what is asked when every round is needed, nothing holds, and all is long."""
    text = _LONGEST_TEXT if _CJK.search(request.question) else _LONG_TEXT
    known = _Known(request, text, MAX_QUOTE)
    revisions = MAX_REVISIONS if request.plan_review else 0
    yield 1 + revisions, PlanInput(request.question, request.audience, request.boundaries)
    yield 1, known.assessed(1)
    yield request.budgets.max_rounds - 1, known.assessed(2)
    yield 1, known.repair
    if request.scope != "deep":
        yield 1, known.synthesis
        yield 2, known.checked(MAX_EVIDENCE)
        return
    yield 1, known.outline
    yield 1, known.whole
    # Each section is written, mended and opened again, and checked each time.
    yield 2 * len(known.sections), known.section
    yield 3 * len(known.sections), known.checked(MAX_EVIDENCE)


class _Known:
    """Stand-ins for what a run will know by then, made of `text` again and again."""

    def __init__(self, request: ResearchRequest, text: str, quoted: int) -> None:
        self._text = text
        self._quoted = quoted
        asked = [f"{request.question[:380]} ({n})" for n in range(1, MAX_SUBQUESTIONS + 1)]
        self.plan = Plan(
            request.question, tuple(Subquestion(f"q{i}", q, q[:90]) for i, q in enumerate(asked, 1))
        )
        profile = PROFILES[request.profile]
        self.sections = tuple((s.key, s.title) for s in profile.sections if not s.computed)
        count = MAX_EVIDENCE * (MAX_SUBQUESTIONS if request.scope == "deep" else 1)
        quotes = tuple(self._quote(number) for number in range(count))
        rows = tuple(
            CoverageRow(
                s.id, Coverage.COVERED, tuple(q.id for q in quotes if q.subquestion_id == s.id)
            )
            for s in self.plan.subquestions
        )
        self.assessment = Assessment(quotes, rows)

    def _words(self, characters: int) -> str:
        return (self._text * (characters // len(self._text) + 1))[:characters]

    def _quote(self, number: int) -> Selected:
        sub = self.plan.subquestions[number % len(self.plan.subquestions)]
        text, place = self._words(self._quoted), f"https://source-{number}.example/page"
        return Selected(sub.id, f"s{number}", place, "A title", text, 0, self._quoted, 1)

    def assessed(self, round_: int) -> AssessInput:
        """Return a round over as many passages as there may be."""
        text = self._words(_BLOCK)
        passages = tuple(
            Passage(f"s{n}", f"https://source-{n}.example/page", "A title", text, 0, _BLOCK, 1)
            for n in range(POOL_CHARACTERS // _BLOCK)
        )
        held = self.assessment.selected if round_ > 1 else ()
        return AssessInput(self.plan, round_, passages, held, max_evidence=MAX_EVIDENCE)

    @property
    def synthesis(self) -> SynthesisInput:
        """Return the writing of a report at once."""
        return SynthesisInput(self.sections, self.plan, self.assessment, MAX_CLAIMS)

    @property
    def outline(self) -> OutlineInput:
        """Return the outline of a report."""
        return OutlineInput(self.sections, self.plan, self.assessment)

    @property
    def section(self) -> WriteInput:
        """Return the writing of one section."""
        key, title = self.sections[0]
        return WriteInput(key, title, self.plan, self.assessment, MAX_CLAIMS, feedback="x" * 300)

    def checked(self, cited: int) -> CheckInput:
        """Return the check of as many claims as there may be, each on `cited` quotes."""
        return CheckInput(self._claims(cited), self.assessment.selected)

    @property
    def repair(self) -> RepairInput:
        """Return the repair of a report of which nothing holds."""
        drafts = (SectionDraft("summary", (Paragraph(self._claims(MAX_EVIDENCE)),)),)
        checks = tuple(
            ClaimCheck(claim.id, Verdict.CONTRADICTED, "estimate", "x" * 300)
            for claim in drafts[0].claims
        )
        return RepairInput(drafts, checks, self.plan, self.assessment, MAX_CLAIMS)

    @property
    def whole(self) -> ReportCheckInput:
        """Return the look at a whole report."""
        drafts = tuple(
            SectionDraft(key, (Paragraph(self._claims(MAX_EVIDENCE)),)) for key, _ in self.sections
        )
        return ReportCheckInput(drafts, self.plan, self.assessment)

    def _claims(self, cited: int) -> tuple[Claim, ...]:
        ids = tuple(item.id for item in self.assessment.selected[:cited])
        text = self._words(300)
        return tuple(
            Claim(f"summary-{number}", "summary", f"{number} {text}", ids)
            for number in range(1, MAX_CLAIMS + 1)
        )
