"""What every `Coder` must keep to, whoever it is."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import TypeVar

import pytest

from adapters.models.chat.port import ChatRequest
from adapters.models.chat.scripted import Scripted, ScriptedModel
from adapters.models.coder import (
    AnalyseInput,
    Analysis,
    Coder,
    CoderInput,
    DesignInput,
    FileDraft,
    Finding,
    KnownFile,
    RepairFilesInput,
    WriteFileInput,
)
from adapters.models.coding.coder import LanguageCoder
from adapters.models.port import Answer
from adapters.models.scripted_coder import ScriptedCoder
from state.values.code_plan import (
    CodePlan,
    Component,
    EnvironmentSetup,
    FileRole,
    PaperCitation,
    PlannedFile,
    Quantity,
    QuantityKind,
    Requirement,
    Strategy,
    Validation,
)
from state.values.segments import Segment, SegmentKind

T = TypeVar("T")

TEXT = "The decay beta is 0.9. The average is m = beta * m + (1 - beta) * x."
SEGMENT = Segment("s1", SegmentKind.PROSE, ("Method",), TEXT, 0, len(TEXT), 1)
CITED = PaperCitation("The decay beta is 0.9.", "Method", 1)
BETA = Quantity("beta", QuantityKind.HYPERPARAMETER, "0.9", citation=CITED)
ANALYSIS = Analysis(
    "It averages.", (Finding("Use it.", CITED, QuantityKind.HYPERPARAMETER, "beta", "0.9"),)
)
SOURCE = PlannedFile(
    "smoothing/average.py",
    "The average.",
    interface=("def average(values: list[float], beta: float = 0.9) -> float",),
    component="average",
)
CODE = (
    "def average(values: list[float], beta: float = 0.9) -> float:\n    m = 0.0\n"
    "    for x in values:\n        m = beta * m + (1 - beta) * x\n    return m\n"
)
WRONG = CODE.replace("(1 - beta)", "beta")
TEST = PlannedFile(
    "tests/test_average.py",
    "Tests it.",
    FileRole.TEST,
    depends_on=(SOURCE.path,),
    component="average",
)
TEST_CODE = (
    "from smoothing.average import average\n\n\ndef test_nothing_is_zero():\n"
    "    assert average([]) == 0\n"
)
README = PlannedFile("README.md", "Explains it.", FileRole.DOCUMENT, depends_on=(SOURCE.path,))
README_TEXT = "# Smoothing\n\nIt averages.\n"
MANIFEST = PlannedFile("requirements.txt", "Packages.", FileRole.CONFIGURATION)
PART = Component("average", "Average", "It averages.", "average([]) is 0", (CITED,))
FILES = (SOURCE, TEST, MANIFEST, README)
PLAN = CodePlan(
    "Smoothing",
    FILES,
    (PART,),
    Validation("Run the tests.", (TEST.path,)),
    EnvironmentSetup("python", requirements=(Requirement("pytest"),)),
    Strategy("Sources first.", tuple(each.path for each in FILES)),
    (BETA,),
)
TEXTS = {SOURCE.path: CODE, TEST.path: TEST_CODE, README.path: README_TEXT}


def scripted() -> Coder:
    return ScriptedCoder(PLAN, TEXTS, repairs=({SOURCE.path: CODE},), analysis=ANALYSIS)


def language() -> Coder:
    """Return the coder with a model that answers everything about the average well."""
    found = {"quote": CITED.quote, "kind": "hyperparameter", "name": "beta", "value": "0.9"}
    file = {"path": SOURCE.path, "purpose": SOURCE.purpose, "interface": list(SOURCE.interface)}
    part = {"name": PART.name, "description": PART.description, "criterion": PART.criterion}
    forms = {
        "AnalysisForm": {"summary": ANALYSIS.summary, "findings": [found]},
        "FilesForm": {"language": "python", "files": [file]},
        "ComponentsForm": {"components": [{**part, "files": [SOURCE.path]}]},
    }

    def answer(request: ChatRequest) -> Scripted:
        if request.schema is not None:
            return json.dumps(forms[request.schema_name])
        said = request.messages[1].text
        if request.prompt.startswith("code-repair"):
            return f"Cause: a wrong weight.\n\nFile: {SOURCE.path}\n```python\n{CODE}```"
        path = next(path for path in TEXTS if f"Write the file {path}" in said)
        return f"```{'markdown' if path == README.path else 'python'}\n{TEXTS[path]}```"

    return LanguageCoder(ScriptedModel(answer))


def run(made: Coroutine[object, object, Answer[T]]) -> Answer[T]:
    return asyncio.run(made)


def write(file: PlannedFile) -> WriteFileInput:
    return WriteFileInput(
        title=PLAN.title,
        language="python",
        file=file,
        component=PART if file.component else None,
        quantities=PLAN.quantities,
        ambiguities=(),
        requirements=PLAN.environment_setup.requirements,
        segments=(SEGMENT,),
        known=tuple(KnownFile(path, SOURCE.interface[0], "It.") for path in file.depends_on),
    )


REPAIR = RepairFilesInput(
    "Smoothing", "python", 1, "E assert 8.1 == 0.9", (FileDraft(SOURCE.path, WRONG),),
    (FileDraft(TEST.path, TEST_CODE),), (PART,), (BETA,),
)  # fmt: skip
GIVEN: tuple[CoderInput, ...] = (
    AnalyseInput("", (SEGMENT,)),
    DesignInput("", "Smoothing", (ANALYSIS,), (SEGMENT,)),
    write(SOURCE),
    REPAIR,
)


@pytest.fixture(params=[scripted, language])
def coder(request: pytest.FixtureRequest) -> Coder:
    make: Callable[[], Coder] = request.param
    return make()


def test_it_has_a_name_and_room(coder: Coder) -> None:
    assert coder.name.strip()
    assert coder.context_tokens > 0


def test_every_operation_has_a_price_of_one_call(coder: Coder) -> None:
    for given in GIVEN:
        assert coder.price(given).model_calls == 1


def test_an_analysis_quotes_what_it_was_given(coder: Coder) -> None:
    made = run(coder.analyse(AnalyseInput("", (SEGMENT,))))

    assert made.value.summary
    assert all(found.citation.quote in TEXT for found in made.value.findings)
    assert made.value.findings[0].value == "0.9"


def test_a_plan_has_all_its_parts_and_an_order(coder: Coder) -> None:
    plan = run(coder.design(DesignInput("", "Smoothing", (ANALYSIS,), (SEGMENT,)))).value

    paths = [each.path for each in plan.file_structure]
    assert sorted(plan.implementation_strategy.order) == sorted(set(paths))
    assert plan.implementation_strategy.order[-2:] == (MANIFEST.path, README.path)
    for each in plan.file_structure:
        assert set(each.depends_on) <= set(paths[: paths.index(each.path)])
    assert plan.validation_approach.tests
    assert all(part.criterion for part in plan.implementation_components)
    assert plan.environment_setup.language == "python"
    assert [each.value for each in plan.quantities] == ["0.9"]


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_written_whole_under_its_path(coder: Coder, file: PlannedFile) -> None:
    made = run(coder.write_file(write(file)))

    assert made.value.path == file.path
    assert made.value.text.strip()
    assert made.value.text == TEXTS.get(file.path, made.value.text)


def test_a_repair_changes_files_it_may_change(coder: Coder) -> None:
    made = run(coder.repair(REPAIR))

    assert made.value.diagnosis
    assert made.value.files == (FileDraft(SOURCE.path, CODE),)


def test_what_an_operation_took_is_within_its_price(coder: Coder) -> None:
    for given in GIVEN:
        match given:
            case AnalyseInput():
                usage = run(coder.analyse(given)).usage
            case DesignInput():
                usage = run(coder.design(given)).usage
            case WriteFileInput():
                usage = run(coder.write_file(given)).usage
            case RepairFilesInput():
                usage = run(coder.repair(given)).usage
        assert usage.model_calls == 1
        assert usage.tokens <= coder.price(given).tokens
