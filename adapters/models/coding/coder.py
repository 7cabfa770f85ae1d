"""The `Coder` that asks a language model: what it gives back is read, checked and put together."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, assert_never

from adapters.models.chat.errors import OUTPUT, ModelRejected, ModelUnavailable
from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.port import ChatModel
from adapters.models.coder import (
    AnalyseInput,
    Analysis,
    CoderInput,
    DesignInput,
    FileDraft,
    Repair,
    RepairFilesInput,
    WriteFileInput,
)
from adapters.models.coding.analysing import ask_analysis, read_analysis
from adapters.models.coding.asking import SMALL_CONTEXT, price_of_text, put_text
from adapters.models.coding.assembling import plan_of
from adapters.models.coding.designing import (
    all_findings,
    ask_components,
    ask_files,
    open_questions,
)
from adapters.models.coding.drafting import Draft, draft_of
from adapters.models.coding.noting import worked_examples
from adapters.models.coding.parts import parts_by_rule
from adapters.models.coding.repairing import ask_repair
from adapters.models.coding.writing import ask_file, written_by_rule
from adapters.models.language.asking import price_of, put
from adapters.models.port import Answer
from state.values.code_plan import CodePlan, PlannedFile
from state.values.money import Usage

Operation = Literal["analyse", "design", "write_file", "repair"]
_LONGEST_LINE = "x" * 200


class LanguageCoder:
    """Reads papers, plans and writes code by asking `model`, or another by operation.

    Answers are `kept` where they were of use, so that none is paid for twice. A plan takes two
    calls, which count as one: files first, then the parts and what they must meet; a small model is
    not asked for parts that follow from formulas and examples. Order, tests, README and
    requirements are the code's own. A file that follows from the plan alone is written without a
    model. Errors are those of `adapters.models.chat.errors`, with what was spent.
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
    def context_tokens(self) -> int:
        """Return the shortest context of the models that are asked."""
        return min(each.context_tokens for each in (self._model, *self._models.values()))

    def price(self, given: CoderInput) -> Usage:
        """Return the most that the operation on `given` is expected to take, retries included.

        Raises `ModelRejected` MODEL_CONTEXT when it does not fit the model.
        """
        match given:
            case AnalyseInput():
                model = self._for("analyse")
                return price_of(model, ask_analysis(given, model.context_tokens))
            case DesignInput():
                return self._price_of_design(given)
            case WriteFileInput():
                model = self._for("write_file")
                if written_by_rule(given, model.context_tokens) is not None:
                    return Usage()
                return price_of_text(model, ask_file(given, model.context_tokens).request)
            case RepairFilesInput():
                model = self._for("repair")
                return price_of_text(model, ask_repair(given, model.context_tokens).request)
            case _:
                assert_never(given)

    async def analyse(self, given: AnalyseInput) -> Answer[Analysis]:
        """Return what the segments hold, every quote a slice of one."""
        model = self._for("analyse")
        asked = ask_analysis(given, model.context_tokens)
        form, usage = await put(model, asked, self._kept)
        return Answer(read_analysis(form, given), usage, model.name, asked.request.prompt)

    async def design(self, given: DesignInput) -> Answer[CodePlan]:
        """Return a plan, or a new version of the previous one."""
        model = self._for("design")
        asked = ask_files(given, model.context_tokens)
        files, spent = await put(model, asked, self._kept)
        draft = draft_of(files, given)
        if draft is None:
            raise ModelRejected(
                f"{model.name}: the plan in its answer has no source file with a usable path",
                code=OUTPUT,
                usage=spent,
            )
        findings = all_findings(given)
        if model.context_tokens <= SMALL_CONTEXT and given.previous is None:
            examples = worked_examples(given.segments)
            if parts := parts_by_rule(draft, files, findings, examples):
                found = (*findings, *examples)
                plan = plan_of(draft, parts, given, found, open_questions(given))
                return Answer(plan, spent, model.name, asked.request.prompt)
        components = ask_components(given, draft, model.context_tokens)
        try:
            form, usage = await put(model, components, self._kept)
        except (ModelRejected, ModelUnavailable) as error:
            error.usage = _as_one(error.usage + spent)
            raise
        plan = plan_of(draft, form, given, findings, open_questions(given))
        prompts = f"{asked.request.prompt} {components.request.prompt}"
        return Answer(plan, _as_one(spent + usage), model.name, prompts)

    async def write_file(self, given: WriteFileInput) -> Answer[FileDraft]:
        """Return the whole file: it parses, keeps to its interface, and has no gap."""
        model = self._for("write_file")
        text = written_by_rule(given, model.context_tokens)
        if text is not None:
            return Answer(FileDraft(given.file.path, text, given.file.purpose))
        asked = ask_file(given, model.context_tokens)
        draft, usage = await put_text(model, asked, self._kept)
        return Answer(draft, usage, model.name, asked.request.prompt)

    async def repair(self, given: RepairFilesInput) -> Answer[Repair]:
        """Return changed files as a whole, at least one, and none that is frozen."""
        model = self._for("repair")
        asked = ask_repair(given, model.context_tokens)
        repair, usage = await put_text(model, asked, self._kept)
        return Answer(repair, usage, model.name, asked.request.prompt)

    def _for(self, operation: Operation) -> ChatModel:
        return self._models.get(operation, self._model)

    def _price_of_design(self, given: DesignInput) -> Usage:
        """Return the price of both calls; the second as if the first had planned long files."""
        model = self._for("design")
        first = price_of(model, ask_files(given, model.context_tokens))
        file = PlannedFile("package_name/module_name.py", _LONGEST_LINE, interface=(_LONGEST_LINE,))
        files = tuple(replace(file, path=f"package_name/module_{at}.py") for at in range(4))
        draft = Draft("python", "", files, ())
        second = price_of(model, ask_components(given, draft, model.context_tokens))
        return _as_one(first + second)


def _as_one(usage: Usage) -> Usage:
    return replace(usage, model_calls=min(1, usage.model_calls))
