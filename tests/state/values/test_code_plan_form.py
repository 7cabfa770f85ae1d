"""The JSON of a code plan is read strictly, and what a model writes is brought into one form."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings

from state.values.code_plan import CodePlan, EnvironmentSetup, FileRole, PlannedFile, Validation
from state.values.code_plan_form import normalise_code_plan, parse_code_plan
from state.values.code_plan_rules import check_code_plan
from state.values.errors import InvalidRequest
from state.values.ids import canonical_json
from state.values.planned_paths import clean_path, role_of
from tests.state.values.code_plans import PATHS, code_plan
from tests.state.values.plan_strategies import ANY_PLAN, PATH, sound_plans

PLAN = code_plan()


def spelled(**changes: Any) -> str:
    return json.dumps({**PLAN.as_json(), **changes})


# ---- reading


@given(ANY_PLAN)
def test_a_plan_comes_back_from_its_json(plan: CodePlan) -> None:
    assert parse_code_plan(json.dumps(plan.as_json())) == plan
    assert parse_code_plan(canonical_json({"plan": plan.as_json()})) == plan
    assert parse_code_plan(f"```json\n{json.dumps(plan.as_json(), indent=2)}\n```") == plan


@pytest.mark.parametrize(
    "text",
    [
        spelled(),
        "\ufeff" + spelled(),
        f"\n```json\n{spelled()}\n```\n",
        f"Here is the plan:\n\n```\n{spelled()}\n```\nTell me what you think.",
        f"~~~json\n{spelled()}\n~~~",
        json.dumps({"plan": PLAN.as_json(), "version": 3}),
    ],
)
def test_a_plan_is_read_as_models_and_people_hand_it_over(text: str) -> None:
    """Cases: C 20."""
    assert parse_code_plan(text) == PLAN


def test_a_block_of_code_within_a_plan_ends_nothing() -> None:
    """Cases: measured, a block of code within a plan."""
    inner = "Like this:\n```python\nprint('x')\n```\nand so on."
    setup = replace(PLAN.environment_setup, notes=inner)
    plan = replace(PLAN, environment_setup=setup)
    text = json.dumps(plan.as_json())

    assert parse_code_plan(text) == plan
    assert parse_code_plan(f"```json\n{text}\n```") == plan


def test_a_number_is_read_as_it_is_spelled() -> None:
    quantity = {"name": "rate", "kind": "constant", "value": 1e-3, "status": "inferred"}
    text = spelled(quantities=[quantity]).replace("0.001", "1e-3")

    assert parse_code_plan(text).quantities[0].value == "1e-3"


def test_what_has_a_default_may_be_null_or_missing() -> None:
    files = [{"path": "a.py", "purpose": "One.", "depends_on": None, "component": None}]

    assert parse_code_plan(spelled(file_structure=files)).file_structure == (
        PlannedFile("a.py", "One."),
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "not readable"),
        ("null", "the plan is not an object"),
        ("[]", "the plan is not an object"),
        ("<!DOCTYPE html><title>Just a moment…</title>", "not readable"),
        ("```python\nprint()\n```", "not readable"),
        (spelled() + " and more", "Extra data"),
        (f"```json\n{spelled()}\nand more\n```", "behind the JSON"),
        (spelled(surprise=1), "unknown keys: surprise"),
        (spelled(title=None), "title is missing"),
        (spelled(title=["x"]), "title is not a text"),
        (spelled(title=True), "title is not a text"),
        (spelled(title="\ud800"), "half a character"),
        (spelled(file_structure={}), "file_structure is not a list"),
        (spelled(file_structure=[{"path": "a"}]), r"file_structure\[0\].purpose is missing"),
        (
            spelled(file_structure=[{"path": "a", "purpose": "b", "role": "thing"}]),
            r"file_structure\[0\].role is 'thing'; it is one of source, test",
        ),
        (
            spelled(quantities=[{"name": "a", "kind": "constant", "value": "1", "status": 1}]),
            r"quantities\[0\].status",
        ),
        (
            spelled(implementation_components=[{"citations": [{"quote": "a", "page": 1.5}]}]),
            r"implementation_components\[0\].id is missing",
        ),
        ('{"title": NaN}', "NaN is no JSON"),
        ('{"title": "a", "title": "b"}', "key 'title' twice"),
        ("[" * 100_000, "not readable"),
        ("x" * 4_000_001, "longer than"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, where: str) -> None:
    with pytest.raises(InvalidRequest, match=where):
        parse_code_plan(text)


def test_pages_are_whole_numbers() -> None:
    part = {"id": "a", "name": "A", "description": "D", "criterion": "C"}
    for page in (1.5, "1", True, 10**30):
        cited = [{"quote": "a mean", "page": page}]
        with pytest.raises(InvalidRequest, match=r"citations\[0\].page is not a whole number"):
            parse_code_plan(spelled(implementation_components=[{**part, "citations": cited}]))


# ---- paths as models write them


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("`App.js`", "App.js"),
        ("[main.py]", "main.py"),
        ("./x", "x"),
        ("././a/b.py", "a/b.py"),
        ("#### File: main.go", "main.go"),
        ("File: `main.go`", "main.go"),
        ("filename: src/a.rs", "src/a.rs"),
        ("**setup.py**", "setup.py"),
        ('"a b.py"', "a b.py"),
        ("'x.py',", "x.py"),
        ("main.py:", "main.py"),
        ("src\\pkg\\a.py", "src/pkg/a.py"),
        ("src//a.py", "src/a.py"),
        ("[a.py](a.py)", "a.py"),
        ("  a.py \n", "a.py"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("[id]/[slug]", "[id]/[slug]"),
        ("e\u0301.py", "é.py"),
        ("../x.py", "../x.py"),
        ("/etc/passwd", "/etc/passwd"),
        ("C:\\a.py", "C:/a.py"),
    ],
)
def test_a_file_name_loses_the_marks_around_it(said: str, path: str) -> None:
    assert clean_path(said) == path


@given(PATH)
@example("``")
@example("./")
@example("###")
def test_a_clean_path_stays(said: str) -> None:
    assert clean_path(clean_path(said)) == clean_path(said)


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/a.py", FileRole.SOURCE),
        ("tests/helpers.py", FileRole.TEST),
        ("pkg/test_a.py", FileRole.TEST),
        ("src/a.test.js", FileRole.TEST),
        ("src/__tests__/a.tsx", FileRole.TEST),
        ("conftest.py", FileRole.TEST),
        ("README.md", FileRole.DOCUMENT),
        ("docs/notes.rst", FileRole.DOCUMENT),
        ("LICENSE", FileRole.DOCUMENT),
        ("requirements.txt", FileRole.CONFIGURATION),
        ("pyproject.toml", FileRole.CONFIGURATION),
        ("config/default.yaml", FileRole.CONFIGURATION),
        (".gitignore", FileRole.CONFIGURATION),
        ("Views/Main.xaml", FileRole.SOURCE),
        ("contest/latest.py", FileRole.SOURCE),
    ],
)
def test_a_path_tells_what_its_file_is_for(path: str, role: FileRole) -> None:
    assert role_of(path) is role


# ---- normal form


def rough(
    language: str = "Python 3.11", *files: PlannedFile, tests: tuple[str, ...] = ()
) -> CodePlan:
    """Return a plan as a model might write it."""
    return replace(
        PLAN,
        file_structure=files
        or (
            PlannedFile(
                "`./pkg/train.py`", "Trains.", depends_on=("[pkg/model.py]", "pkg/train.py")
            ),
            PlannedFile("#### File: pkg/Model.py", "Models.", depends_on=("README.md",)),
            PlannedFile("tests\\test_train.py", "Tests it.", depends_on=("pkg/train.py",)),
            PlannedFile("README.md", "Explains it.", depends_on=("pkg/train.py",)),
        ),
        environment_setup=EnvironmentSetup(language),
        validation_approach=Validation("Unit tests.", tests),
        implementation_strategy=replace(PLAN.implementation_strategy, order=()),
        quantities=(),
    )


def test_what_a_model_writes_becomes_a_plan_that_holds() -> None:
    plan = normalise_code_plan(rough())

    check_code_plan(plan)
    assert plan.implementation_strategy.order == (
        "pkg/Model.py",
        "pkg/train.py",
        "tests/test_train.py",
        "README.md",
        "requirements.txt",
    )
    assert plan.validation_approach.tests == ("tests/test_train.py",)
    roles = {file.path: file.role for file in plan.file_structure}
    assert roles["tests/test_train.py"] is FileRole.TEST
    assert roles["requirements.txt"] is FileRole.CONFIGURATION
    assert plan.file("pkg/train.py") == PlannedFile(
        "pkg/train.py", "Trains.", depends_on=("pkg/Model.py",)
    )


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("Python", "requirements.txt"),
        ("TypeScript / React", "package.json"),
        ("Node.js 20", "package.json"),
        ("Rust", "Cargo.toml"),
        ("go 1.22", "go.mod"),
        ("Brainfuck", "requirements.txt"),
    ],
)
def test_the_file_that_names_packages_is_that_of_the_language(language: str, name: str) -> None:
    plan = normalise_code_plan(rough(language))

    assert plan.implementation_strategy.order[-2:] == ("README.md", name)
    check_code_plan(plan)


def test_a_manifest_that_is_there_is_enough() -> None:
    files = rough().file_structure
    plan = normalise_code_plan(
        rough("Python", *files, PlannedFile("pyproject.toml", "Packages it."))
    )

    assert plan.implementation_strategy.order[-2:] == ("README.md", "pyproject.toml")
    assert plan.file("requirements.txt") is None


def test_an_added_readme_is_about_every_source_file() -> None:
    files = rough().file_structure[:3]
    plan = normalise_code_plan(rough("Python", *files))
    readme = plan.file("README.md")

    assert readme is not None
    assert readme.depends_on == ("pkg/train.py", "pkg/Model.py")


def test_a_file_that_is_called_a_test_is_one() -> None:
    files = (*rough().file_structure, PlannedFile("checks/rates.py", "Checks rates."))
    plan = normalise_code_plan(rough("Python", *files, tests=("`checks/rates.py`",)))

    assert plan.validation_approach.tests == ("checks/rates.py",)
    assert plan.file("checks/rates.py") == PlannedFile(
        "checks/rates.py", "Checks rates.", FileRole.TEST
    )


def test_an_order_that_can_stand_is_kept() -> None:
    order = (PATHS[0], PATHS[1], PATHS[2], PATHS[3], PATHS[5], PATHS[4])
    plan = replace(PLAN, implementation_strategy=replace(PLAN.implementation_strategy, order=order))

    assert normalise_code_plan(plan) == plan


def test_what_only_a_person_can_decide_stays_for_the_check() -> None:
    lost = replace(PLAN.implementation_strategy, order=(*PATHS, "lost.py"))
    circle = replace(PLAN.file_structure[0], depends_on=(PATHS[2],))
    plans = (
        replace(PLAN, implementation_strategy=lost),
        replace(PLAN, file_structure=(circle, *PLAN.file_structure[1:])),
        replace(PLAN, file_structure=(PlannedFile("../x.py", "Out."), *PLAN.file_structure)),
        replace(PLAN, implementation_components=()),
    )
    for plan in plans:
        with pytest.raises(Exception, match="the plan is not valid"):
            check_code_plan(normalise_code_plan(plan))


@given(ANY_PLAN)
@settings(max_examples=200)
def test_normalising_twice_is_normalising_once(plan: CodePlan) -> None:
    once = normalise_code_plan(plan)

    assert normalise_code_plan(once) == once


@given(sound_plans())
def test_a_plan_that_holds_keeps_its_order_when_it_is_normalised(plan: CodePlan) -> None:
    check_code_plan(plan)

    assert normalise_code_plan(plan) == plan
