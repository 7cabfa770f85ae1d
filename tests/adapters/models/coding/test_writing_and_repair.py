"""Files keep to their plan, and repairs to the files that they may change."""

import asyncio
from dataclasses import replace

import pytest

from adapters.models.chat.errors import CONTEXT, OUTPUT, ModelRejected
from adapters.models.chat.scripted import ScriptedModel
from adapters.models.coder import FileDraft, KnownFile, RepairFilesInput, WriteFileInput
from adapters.models.coding.coder import LanguageCoder
from adapters.models.coding.repairing import told_output
from adapters.models.coding.showing import import_of
from adapters.models.coding.syntax import check_syntax
from state.values.code_plan import (
    Ambiguity,
    Component,
    FileRole,
    PaperCitation,
    PlannedFile,
    Quantity,
    QuantityKind,
    Requirement,
)
from state.values.money import Usage
from state.values.segments import Segment, SegmentKind

TEXT = "The error on the ramp is 1.4095."
PAPER = Segment("s1", SegmentKind.PROSE, ("3 Results",), TEXT, 0, len(TEXT))
SOURCE = PlannedFile("pkg/a.py", "Computes it.", interface=("def f(x: float = 0.9) -> float",))
TEST = PlannedFile("tests/test_a.py", "Tests it.", FileRole.TEST, depends_on=("pkg/a.py",))
CODE = "def f(x: float = 0.9) -> float:\n    return x\n"
WRONG = "def f(x: float = 0.9) -> float:\n    return x + 1\n"


def writing(file: PlannedFile, **more: object) -> WriteFileInput:
    given = WriteFileInput(
        title="Smoothing",
        language="python",
        file=file,
        component=Component("core", "Core", "The core.", "f(0.9) is 0.9"),
        quantities=(Quantity("error", QuantityKind.RESULT, "1.4095"),),
        ambiguities=(Ambiguity("Which unit?", "None."),),
        requirements=(Requirement("numpy", ">=1.26"), Requirement("pytest")),
        segments=(PAPER,),
        known=(
            KnownFile("pkg/b.py", "def g(y: int) -> int\nclass H:\n    def k(self)\nRATE = 1", ""),
        ),
    )
    return replace(given, **more)  # type: ignore[arg-type]


def write(
    given: WriteFileInput, *answers: str, context: int = 8192
) -> tuple[FileDraft, ScriptedModel]:
    model = ScriptedModel(answers, context_tokens=context)
    return asyncio.run(LanguageCoder(model).write_file(given)).value, model


def test_a_file_is_written_from_its_part_of_the_plan_and_the_paper() -> None:
    draft, model = write(writing(SOURCE, problem="It did not parse."), f"```python\n{CODE}```")

    assert draft.text == CODE
    said = model.requests[0].messages[1].text
    for shown in (
        "pkg/a.py", "def f(x: float = 0.9) -> float", "from pkg.b import g, H, RATE", TEXT,
        "f(0.9) is 0.9", "error = 1.4095", "Which unit? None.", "numpy", "It did not parse.",
    ):  # fmt: skip
        assert shown in said


def test_a_small_model_is_shown_the_values_of_the_file_alone() -> None:
    own = Quantity("core decay", QuantityKind.HYPERPARAMETER, "0.9")
    other = Quantity("window", QuantityKind.RESULT, "19")
    given = writing(SOURCE, quantities=(own, other))

    _, small = write(given, f"```python\n{CODE}```")
    _, large = write(given, f"```python\n{CODE}```", context=131_072)

    assert "window = 19" not in small.requests[0].messages[1].text
    assert "core decay = 0.9" in small.requests[0].messages[1].text
    assert "window = 19" in large.requests[0].messages[1].text


def test_requirements_and_packages_are_written_without_a_model() -> None:
    manifest = PlannedFile("requirements.txt", "Packages.", FileRole.CONFIGURATION)
    package = PlannedFile("pkg/__init__.py", 'The "package".')

    listed, first = write(writing(manifest))
    module, second = write(writing(package))

    assert listed.text.splitlines()[1:] == ["numpy>=1.26", "pytest"]
    assert check_syntax("pkg/__init__.py", module.text) is None
    assert not first.requests
    assert not second.requests
    assert LanguageCoder(first).price(writing(manifest)) == Usage()


def test_a_small_model_is_not_asked_for_a_readme() -> None:
    readme = PlannedFile("README.md", "What it is.", FileRole.DOCUMENT)
    known = (KnownFile("pkg/b.py", "def g(y: int) -> int", "Gives g."),)

    small, nobody = write(writing(readme, known=known))
    _, large = write(writing(readme, known=known), "# Smoothing\n", context=131_072)

    assert not nobody.requests
    assert len(large.requests) == 1
    for shown in (
        "# Smoothing", "`pkg/b.py`: Gives g.", "from pkg.b import g", "requirements.txt",
        "python -m pytest", "error = 1.4095",
    ):  # fmt: skip
        assert shown in small.text


def test_a_small_model_is_shown_the_sections_of_the_formulas_and_each_quote_once() -> None:
    formula, example = "m = x / 2 (1)", "Table 1\n\n2 1\n4 2"
    texts = [
        (SegmentKind.PROSE, "2 Halves", "An empty input is an error."),
        (SegmentKind.EQUATION, "2 Halves", formula),
        (SegmentKind.PROSE, "1 Introduction", "Halves were always there."),
    ]
    segments = tuple(
        Segment(f"s{at}", kind, (section,), text, 0, len(text))
        for at, (kind, section, text) in enumerate(texts)
    )
    cited = (PaperCitation(formula), PaperCitation(example))
    part = Component("core", "Core", "The core.", "It gives: Table 1 2 1 4 2", cited)

    _, model = write(writing(SOURCE, component=part, segments=segments), f"```python\n{CODE}```")

    said = model.requests[0].messages[1].text
    assert "An empty input is an error." in said
    assert "always there" not in said
    assert said.count(formula) == 1
    assert said.count(example) == 1
    assert "Table 1 2 1" not in said
    assert "pytest" not in said


def test_a_file_that_lacks_what_its_interface_lists_is_asked_for_again() -> None:
    draft, model = write(
        writing(SOURCE),
        "```python\ndef other() -> int:\n    return 1\n```",
        f"```python\n{CODE}```",
    )

    assert draft.text == CODE
    assert "it lacks f" in model.requests[1].messages[-1].text


def test_a_file_that_uses_what_nothing_defines_is_asked_for_again() -> None:
    wrong = "from pkg.b import h\n\n\ndef f(x: float = 0.9) -> float:\n    return x ** t\n"

    draft, model = write(writing(SOURCE), f"```python\n{wrong}```", f"```python\n{CODE}```")

    assert draft.text == CODE
    said = model.requests[1].messages[-1].text
    assert "pkg.b has no h; t is used and defined nowhere" in said


def test_a_stub_is_asked_for_again() -> None:
    draft, model = write(
        writing(SOURCE), "```python\ndef f(x):\n    pass\n```", f"```python\n{CODE}```"
    )

    assert draft.text == CODE
    assert "f() has no body" in model.requests[1].messages[-1].text


def test_a_small_model_writes_a_test_for_each_example_and_what_it_makes_up_is_left_out() -> None:
    cited = (PaperCitation("The start is 0.5."), PaperCitation("For 4 and 6 the value is 1.25."))
    part = Component("core", "Core", "The core.", "It gives numbers such as 0.5.", cited)
    good = "def test_example_1():\n    assert g([4, 6]) == 1.25\n"
    bad = "def test_example_2():\n    assert g([4, 8]) == 1.25\n"

    draft, model = write(writing(TEST, component=part), f"```python\n{good}\n\n{bad}```")

    said = model.requests[0].messages[1].text
    assert "Example 1: “For 4 and 6 the value is 1.25.”" in said
    assert "from pkg.b import g, H, RATE\n\n\ndef test_example_1():" in said
    assert draft.text == f"from pkg.b import g\n{good}"
    assert "test_example_2" in draft.summary


def test_tests_that_expect_numbers_of_nobody_are_left_out_and_said_so() -> None:
    good = "from pkg.b import g\n\n\ndef test_a():\n    assert g(1) == 1.4095\n"
    bad = "def test_b():\n    assert g(1) == 2.7182\n"

    draft, _ = write(writing(TEST), f"```python\n{good}\n\n{bad}```")

    assert draft.text == good
    assert "test_b" in draft.summary


@pytest.mark.parametrize("context", [4096, 8192, 16_384])
def test_a_file_fits_a_small_context_with_a_long_paper(context: int) -> None:
    long = tuple(replace(PAPER, id=f"s{at}", text=f"{TEXT} " * 60) for at in range(1, 30))
    given = writing(SOURCE, segments=long)

    draft, model = write(given, f"```python\n{CODE}```", context=context)

    assert draft.text == CODE
    assert LanguageCoder(model).price(given).tokens > 0


def test_what_does_not_fit_at_all_is_told_before_it_is_asked() -> None:
    known = tuple(KnownFile(f"pkg/m{at}.py", "def g() -> int\n" * 200, "") for at in range(20))

    with pytest.raises(ModelRejected) as error:
        LanguageCoder(ScriptedModel(context_tokens=4096)).price(writing(SOURCE, known=known))

    assert error.value.code == CONTEXT


REPAIR = RepairFilesInput(
    "Smoothing", "python", 2, "E  assert 1.9 == 0.9\npkg/a.py:2: AssertionError",
    (FileDraft("pkg/a.py", WRONG, "Computes it."), FileDraft("pkg/b.py", "B = 1\n")),
    (FileDraft("tests/test_a.py", "def test_a():\n    assert f(0.9) == 0.9\n"),),
    tried=("A sign was wrong.",),
)  # fmt: skip


def repaired(*answers: str) -> tuple[tuple[FileDraft, ...], ScriptedModel]:
    model = ScriptedModel(answers)
    made = asyncio.run(LanguageCoder(model).repair(REPAIR)).value
    assert made.diagnosis
    return made.files, model


GOOD = f"Cause: one is added.\n\nFile: pkg/a.py\n```python\n{CODE}```\n"


def test_a_repair_is_whole_files_and_its_cause() -> None:
    files, model = repaired(GOOD)

    assert files == (FileDraft("pkg/a.py", CODE, "Computes it."),)
    said = model.requests[0].messages[1].text
    assert "A sign was wrong." in said
    assert "assert 1.9 == 0.9" in said


def test_a_small_model_is_shown_the_tests_that_failed_alone_and_is_warmer_later() -> None:
    tests = "def test_a():\n    assert f(0.9) == 0.9\n\n\ndef test_b():\n    assert f(1) == 1\n"
    shown = replace(
        REPAIR,
        output="FAILED tests/test_a.py::test_b - assert 2 == 1",
        frozen=(FileDraft("tests/test_a.py", tests),),
    )
    small, large = (ScriptedModel([GOOD], context_tokens=size) for size in (8192, 131_072))

    for model in (small, large):
        asyncio.run(LanguageCoder(model).repair(shown))
    first = ScriptedModel([GOOD])
    asyncio.run(LanguageCoder(first).repair(replace(REPAIR, attempt=1)))

    assert "test_a()" not in small.requests[0].messages[1].text
    assert "test_a()" in large.requests[0].messages[1].text
    assert first.requests[0].temperature < small.requests[0].temperature
    assert small.requests[0].seed == 2


def test_a_repair_is_shown_what_the_paper_says() -> None:
    part = Component("core", "Core", "It.", "f(1) is 1", (PaperCitation("f(x) = x (1)"),))
    model = ScriptedModel([GOOD])

    asyncio.run(LanguageCoder(model).repair(replace(REPAIR, components=(part,))))

    assert "The paper says: “f(x) = x (1)”" in model.requests[0].messages[1].text


def test_frozen_files_stay_as_they_are() -> None:
    files, _ = repaired(
        f"{GOOD}\nFile: tests/test_a.py\n```python\ndef test_a():\n    assert 1\n```\n"
    )

    assert [each.path for each in files] == ["pkg/a.py"]


@pytest.mark.parametrize(
    "answer",
    [
        f"Cause: none.\n\nFile: pkg/a.py\n```python\n{WRONG}```\n",
        "File: tests/test_a.py\n```python\ndef test_a():\n    assert 1\n```\n",
        "The test is wrong.",
        "File: pkg/a.py\n```python\ndef f(:\n```",
        "File: pkg/a.py\n```python\ndef f(x):\n    # ... rest of the code\n    return x\n```",
    ],
)
def test_a_repair_that_changes_nothing_usable_is_an_error(answer: str) -> None:
    with pytest.raises(ModelRejected) as error:
        repaired(answer)

    assert error.value.code == OUTPUT
    assert error.value.usage.model_calls == 1


def test_a_long_output_keeps_what_tells_and_its_end() -> None:
    noise = "collecting many things from many places\n" * 3000
    output = f"{noise}E   assert 1 == 2\n{noise}1 failed in 0.1s"

    told = told_output(output, 400)

    assert "E   assert 1 == 2" in told
    assert told.endswith("1 failed in 0.1s")
    assert len(told) < 4000


def test_imports_are_spelled_as_a_file_lies() -> None:
    assert import_of("src/pkg/a.py", "def f()\n    def inner()\nclass C(B):\nX: int = 1") == (
        "from pkg.a import f, C, X"
    )
    assert import_of("lib/a.js", "export function f()") == ""
