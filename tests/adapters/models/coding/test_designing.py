"""Of a plan the model chooses what is judgement; the code answers for the rest."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.models.chat.errors import OUTPUT, ModelRejected
from adapters.models.chat.port import ChatRequest
from adapters.models.chat.scripted import Scripted, ScriptedModel
from adapters.models.coder import Analysis, DesignInput, Finding
from adapters.models.coding.assembling import plan_of
from adapters.models.coding.coder import LanguageCoder
from adapters.models.coding.drafting import Draft, draft_of
from adapters.models.coding.forms import ComponentsForm, FileForm, FilesForm, RevisedForm
from state.values.code_plan import (
    CodePlan,
    FileRole,
    PaperCitation,
    Quantity,
    QuantityKind,
    Requirement,
    Status,
)

CITED = PaperCitation("The decay is 0.9.", "Method")
FOUND = (
    Finding("A rule.", PaperCitation("m = beta * m", "Method")),
    Finding("Decay.", CITED, QuantityKind.HYPERPARAMETER, "decay", "0.9"),
)
GIVEN = DesignInput(
    "", "Debiased Smoothing", (Analysis("It smooths.", FOUND, ("Which start?",)),), ()
)
PATHS = [
    "pkg/a.py", "pkg/b.py", "pkg/sub/c.py", "tests/test_a.py", "d.py", "README.md", "../e.py",
    "`pkg/a.py`", "pkg", "data/x.csv", "requirements.txt", "src/pkg/a.py", "pkg/__init__.py",
]  # fmt: skip


def files(*each: FileForm, **more: object) -> FilesForm:
    return FilesForm.model_validate({"files": list(each), **more})


def planned(*each: FileForm, **more: object) -> Draft:
    draft = draft_of(files(*each, **more), GIVEN)
    assert draft is not None
    return draft


def paths(draft: Draft) -> list[str]:
    return [each.path for each in draft.files]


def planned_with(components: Sequence[dict[str, object]], **more: object) -> CodePlan:
    draft = planned(FileForm(path="pkg/a.py", purpose="It.", interface=["def f() -> int"]))
    form = ComponentsForm.model_validate({"components": list(components), **more})
    return plan_of(draft, form, GIVEN, FOUND, ("Which start?",))


forms = st.builds(
    FileForm,
    path=st.sampled_from(PATHS) | st.text(max_size=12),
    purpose=st.text(max_size=20),
    interface=st.lists(st.text(max_size=20), max_size=3),
    depends_on=st.lists(st.sampled_from(PATHS), max_size=4),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(forms, min_size=1, max_size=8), st.sampled_from(["python", "rust", "", "C++"]))
def test_whatever_is_planned_has_an_order_tests_and_a_readme(
    each: list[FileForm], language: str
) -> None:
    draft = draft_of(files(*each, language=language), GIVEN)

    if draft is None:
        return
    found = paths(draft)
    assert len({path.casefold() for path in found}) == len(found)
    assert found[-1] == "README.md"
    assert any(file.role is FileRole.TEST for file in draft.files) or draft.language != "python"
    for at, file in enumerate(draft.files):
        assert set(file.depends_on) <= set(found[:at])
        assert ".." not in file.path.split("/")
        assert file.purpose
    plan = plan_of(draft, ComponentsForm.model_validate({"components": [{}]}), GIVEN, FOUND, ())
    ids = [part.id for part in plan.implementation_components]
    assert len(ids) == len(set(ids)) > 0
    assert all(part.criterion and part.description for part in plan.implementation_components)
    assert all(file.component in ("", *ids) for file in plan.file_structure)


def test_readme_and_requirements_are_last() -> None:
    """Cases: C 26."""
    draft = planned(
        FileForm(path="README.md"), FileForm(path="requirements.txt"), FileForm(path="pkg/a.py")
    )

    assert paths(draft) == [
        "pkg/__init__.py", "pkg/a.py", "tests/test_a.py", "requirements.txt", "README.md",
    ]  # fmt: skip


def test_sources_come_after_what_they_depend_on_and_cycles_are_broken() -> None:
    draft = planned(
        FileForm(path="pkg/a.py", depends_on=["pkg/b.py"]),
        FileForm(path="pkg/b.py", depends_on=["`pkg/a.py`", "pkg/none.py", "pkg/b.py"]),
    )

    found = {each.path: each.depends_on for each in draft.files}
    assert found["pkg/a.py"] == ("pkg/b.py",)
    assert found["pkg/b.py"] == ()
    assert paths(draft).index("pkg/b.py") < paths(draft).index("pkg/a.py")


def test_nested_folders_of_another_language_are_all_planned() -> None:
    """Cases: A 1."""
    said = ["App/Views/Main/Parts/Head.xaml", "App/Views/Main/Parts/Head.cs", "App/Core/A/B/C/D.cs"]

    draft = planned(*(FileForm(path=path) for path in said), language="C#")

    assert set(said) <= set(paths(draft))
    assert draft.language == "c#"


def test_planned_tests_are_kept_and_test_what_they_name() -> None:
    draft = planned(
        FileForm(path="pkg/a.py"), FileForm(path="pkg/b.py"), FileForm(path="tests/test_b.py")
    )

    (test,) = [each for each in draft.files if each.role is FileRole.TEST]
    assert test.depends_on == ("pkg/b.py",)


def test_the_layout_with_src_gets_settings_that_let_tests_import_it() -> None:
    assert "pytest.ini" in paths(planned(FileForm(path="src/pkg/a.py")))


def test_the_examples_name_does_not_become_the_packages() -> None:
    assert "debiased_smoothing/a.py" in paths(planned(FileForm(path="package_name/a.py")))


def test_a_function_that_no_file_lists_goes_where_it_belongs() -> None:
    draft = planned(
        FileForm(path="pkg/average.py", purpose="The average.", interface=["def mean() -> int"]),
        FileForm(path="pkg/errors.py", purpose="Errors of forecasts."),
        functions=[
            {"note": "f1", "signature": "def mean(x: int) -> int"},
            {"note": "f2", "signature": "def forecast_error(x: int) -> int"},
            {"note": "f3", "signature": "def window() -> int", "file": "pkg/average.py"},
        ],
    )

    found = {each.path: each.interface for each in draft.files}
    assert found["pkg/average.py"] == ("def mean() -> int", "def window() -> int")
    assert found["pkg/errors.py"] == ("def forecast_error(x: int) -> int",)


def test_packages_are_those_that_are_installed_and_pytest() -> None:
    draft = planned(FileForm(path="pkg/a.py"), packages=["numpy>=1.26", "math", "pkg", "and so on"])

    assert draft.requirements == (Requirement("numpy", ">=1.26"), Requirement("pytest"))


def test_without_a_source_there_is_no_draft() -> None:
    assert draft_of(files(FileForm(path="README.md"), FileForm(path="../a.py")), GIVEN) is None


def test_values_come_from_findings_with_their_quotes() -> None:
    plan = planned_with([{"name": "Core", "findings": ["f1", "f9"], "files": ["pkg/a.py"]}])

    assert plan.quantities == (
        Quantity("decay", QuantityKind.HYPERPARAMETER, "0.9", citation=CITED),
    )
    assert [each.quote for each in plan.implementation_components[0].citations] == ["m = beta * m"]


def test_a_part_without_a_criterion_is_right_when_its_tests_pass() -> None:
    plan = planned_with([{"name": "Core", "files": ["pkg/a.py"]}])

    assert plan.implementation_components[0].criterion == "The tests in tests/test_a.py pass."
    assert plan.file("pkg/a.py").component == "core"  # type: ignore[union-attr]
    assert plan.file("tests/test_a.py").component == "core"  # type: ignore[union-attr]


def test_a_vague_criterion_says_what_the_source_says() -> None:
    said: dict[str, object] = {"name": "Core", "criterion": "It is right.", "findings": ["f1"]}

    plan = planned_with([said, {**said, "criterion": "It is."}])

    assert [each.criterion for each in plan.implementation_components[:1]] == [
        "It is right. The source says: “m = beta * m”"
    ]
    names = [each.name for each in plan.implementation_components]
    assert names.count("Core") == 1


def test_a_criterion_that_breaks_off_before_a_formula_ends_with_its_last_whole_sentence() -> None:
    said: dict[str, object] = {
        "name": "Rule",
        "criterion": "Let h be a step. The rule is",
        "findings": ["f1"],
    }

    plan = planned_with([said])

    assert plan.implementation_components[0].criterion == (
        "Let h be a step. The source says: “m = beta * m”"
    )


def test_a_criterion_does_not_repeat_what_it_quotes_already() -> None:
    said: dict[str, object] = {
        "name": "Rule",
        "criterion": "It holds that m = beta * m.",
        "findings": ["f1"],
    }

    plan = planned_with([said])

    assert plan.implementation_components[0].criterion == "It holds that m = beta * m."


def test_a_part_is_not_named_after_a_kind_of_value() -> None:
    said: dict[str, object] = {
        "name": "hyperparameter",
        "description": "The number of steps.",
        "files": ["pkg/a.py"],
    }

    plan = planned_with([said])

    assert plan.implementation_components[0].name == "The number of steps."


def test_a_criterion_of_several_parts_is_none_of_theirs() -> None:
    parts: list[dict[str, object]] = [
        {"name": name, "criterion": "f([1]) is 1", "findings": ["f1"]} for name in ("One", "Two")
    ]

    plan = planned_with(parts)

    assert plan.implementation_components[0].criterion == "The source says: “m = beta * m”"


def test_a_file_with_several_parts_says_so() -> None:
    parts: list[dict[str, object]] = [
        {"name": name, "files": ["pkg/a.py"]} for name in ("Average", "Error")
    ]

    file = planned_with(parts).file("pkg/a.py")

    assert file is not None
    assert file.component == "average"
    assert file.purpose == "It. Parts: Average; Error."


def test_questions_that_nobody_answered_are_put_to_the_review() -> None:
    plan = planned_with(
        [{"name": "Core"}], ambiguities=[{"question": "Units?", "resolution": "None."}]
    )

    assert [each.question for each in plan.ambiguities] == ["Units?", "Which start?"]
    assert "review" in plan.ambiguities[1].resolution


def test_feedback_changes_only_the_values_it_names() -> None:
    before = planned_with([{"name": "Core"}])
    given = replace(GIVEN, feedback="Use a decay of 0.8.", previous=before)
    form = RevisedForm.model_validate(
        {
            "components": [{"name": "Core"}],
            "values": [{"name": "Decay", "value": "0.8"}, {"name": "seed", "value": "42"}],
        }
    )

    plan = plan_of(planned(FileForm(path="pkg/a.py")), form, given, FOUND, ())

    assert [(each.name, each.value, each.status) for each in plan.quantities] == [
        ("decay", "0.8", Status.INFERRED)
    ]


def coder(
    answers: dict[str, Scripted], *, context: int = 8192
) -> tuple[LanguageCoder, ScriptedModel]:
    def answer(request: ChatRequest) -> Scripted:
        return answers[request.schema_name]

    model = ScriptedModel(answer, context_tokens=context)
    return LanguageCoder(model), model


FILES = json.dumps({"files": [{"path": "pkg/a.py", "purpose": "It."}]})
PARTS = json.dumps({"components": [{"name": "Core", "criterion": "f() is 1"}]})


def test_feedback_and_the_last_plan_are_shown() -> None:
    made, model = coder({"FilesForm": FILES, "RevisedForm": PARTS})
    before = planned_with([{"name": "Core part"}])

    asyncio.run(
        made.design(
            replace(GIVEN, feedback="Split it.", previous=before, notes="No part was empty.")
        )
    )

    for request in model.requests:
        said = request.messages[1].text
        assert "Split it." in said
        assert "No part was empty." in said
    assert "Core part" in model.requests[1].messages[1].text


@pytest.mark.parametrize(
    "answer",
    [
        f"Here is the plan:\n```json\n{FILES}\n```\nIt has everything.",
        '```json\n{"approach": "```python\nx = 1\n```", "files": [{"path": "pkg/a.py"}]}\n```',
    ],
)
def test_a_plan_in_a_fence_is_a_plan(answer: str) -> None:
    """Cases: C 20; measured, a block of code within a plan."""
    made, _ = coder({"FilesForm": answer, "ComponentsForm": PARTS})

    plan = asyncio.run(made.design(GIVEN)).value

    assert plan.file("pkg/a.py") is not None


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot give file_structure, implementation_components, validation_approach or more.",
        '{"files": []}',
        '{"files": [{"path": "../a.py"}]}',
        '{"files": [{"path": "pkg/a.py", "purp',
        "<!DOCTYPE html><html><body>Bad gateway</body></html>",
        '<tool_call>{"name": "plan", "arguments": {}}</tool_call>',
        "",
    ],
)
def test_what_is_no_plan_is_an_error_with_what_it_took(answer: str) -> None:
    """Cases: B 16; measured, a refusal."""
    made, model = coder({"FilesForm": answer, "ComponentsForm": PARTS})

    with pytest.raises(ModelRejected) as error:
        asyncio.run(made.design(GIVEN))

    assert error.value.code == OUTPUT
    assert error.value.usage.model_calls == 1
    assert error.value.usage.input_tokens > 0
    assert len(model.requests) <= 3


def test_a_second_call_that_fails_carries_the_usage_of_both() -> None:
    made, model = coder({"FilesForm": FILES, "ComponentsForm": "no"})

    with pytest.raises(ModelRejected) as error:
        asyncio.run(made.design(GIVEN))

    assert len(model.requests) >= 3
    assert error.value.usage.input_tokens > 3 * 400
    assert error.value.usage.model_calls == 1
