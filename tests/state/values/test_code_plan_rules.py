"""What a code plan must be: each rule broken once, and every measured way to a false plan."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from state.values.code_plan import (
    Ambiguity,
    CodePlan,
    FileRole,
    PaperCitation,
    PlannedFile,
    Quantity,
    QuantityKind,
    Requirement,
    Status,
    Strategy,
    Validation,
)
from state.values.code_plan_form import normalise_code_plan, parse_code_plan
from state.values.code_plan_rules import check_code_plan, read_code_plan
from state.values.errors import InvalidRequest, RejectedError
from tests.state.values.code_plans import PATHS, code_plan, with_file

PLAN = code_plan()
TEST = PATHS[3]


def problems(plan: CodePlan) -> str:
    """Return what `check_code_plan` has against `plan`, '' for nothing."""
    try:
        check_code_plan(plan)
    except RejectedError as error:
        return f"{error.code}: {error.message}"
    return ""


def with_files(*files: PlannedFile) -> CodePlan:
    """Return the plan with more files, in order before README and requirements."""
    order = (*PATHS[:4], *(file.path for file in files), *PATHS[4:])
    return replace(
        PLAN,
        file_structure=(*PLAN.file_structure, *files),
        implementation_strategy=Strategy("Inside out.", order),
    )


def with_order(*order: str) -> CodePlan:
    return replace(PLAN, implementation_strategy=Strategy("Inside out.", order))


def without(path: str) -> CodePlan:
    """Return the plan without a file and whatever refers to it."""
    files = tuple(
        replace(file, depends_on=tuple(p for p in file.depends_on if p != path))
        for file in PLAN.file_structure
        if file.path != path
    )
    order = tuple(p for p in PATHS if p != path)
    return replace(
        PLAN, file_structure=files, implementation_strategy=Strategy("Inside out.", order)
    )


def with_part(**changes: Any) -> CodePlan:
    first, *rest = PLAN.implementation_components
    return replace(PLAN, implementation_components=(replace(first, **changes), *rest))


def with_quantity(*args: Any, **fields: Any) -> CodePlan:
    quantity = Quantity("rate", QuantityKind.CONSTANT, *args, **fields)
    return replace(PLAN, quantities=(quantity,))


def test_a_plan_that_holds_has_no_problem() -> None:
    assert problems(PLAN) == ""


# ---- the five parts


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (replace(PLAN, title="…"), "title says nothing"),
        (replace(PLAN, file_structure=()), "no source file"),
        (replace(PLAN, implementation_components=()), "implementation_components is empty"),
        (
            replace(PLAN, validation_approach=Validation(" ", (TEST,))),
            "validation_approach says nothing",
        ),
        (
            replace(PLAN, validation_approach=Validation("Tests.", ())),
            "validation_approach names no test file",
        ),
        (
            replace(PLAN, environment_setup=replace(PLAN.environment_setup, language="")),
            "the language says nothing",
        ),
        (
            replace(PLAN, implementation_strategy=Strategy("--", PATHS)),
            "implementation_strategy says nothing",
        ),
        (with_file(PLAN, PATHS[0], purpose="\n"), "its purpose says nothing"),
        (with_part(criterion=""), "its criterion says nothing"),
        (with_part(description="?"), "its description says nothing"),
        (with_part(name=""), "its name says nothing"),
    ],
)
def test_each_part_says_something(plan: CodePlan, said: str) -> None:
    assert said in problems(plan)


def test_every_problem_is_named_at_once() -> None:
    plan = replace(PLAN, title="", implementation_components=(), file_structure=())

    said = problems(plan)

    for part in ("title", "file_structure", "implementation_components", "order", "test file"):
        assert part in said


def test_five_empty_sections_are_no_plan() -> None:
    """Cases: measured, five empty sections."""
    text = json.dumps(
        {
            "title": "x",
            "file_structure": [],
            "implementation_components": [],
            "validation_approach": {"approach": "", "tests": []},
            "environment_setup": {"language": ""},
            "implementation_strategy": {"approach": "", "order": []},
        }
    )

    said = problems(normalise_code_plan(parse_code_plan(text)))

    assert said.startswith("PLAN_INVALID: the plan is not valid: ")
    assert "implementation_components is empty" in said


PARTS = [field.name for field in fields(CodePlan)][1:6]
REFUSALS = [
    "I'm sorry, but I cannot help with that request.",
    "Dabei kann ich leider nicht behilflich sein.",
    "申し訳ありませんが、このご要望にはお応えすることができません。",
    "К сожалению, я не могу помочь с этим запросом.",
    f"I cannot give you {', '.join(PARTS)}.",
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_is_no_plan_as_text(refusal: str) -> None:
    """Cases: measured, a refusal."""
    with pytest.raises(InvalidRequest, match="not readable"):
        parse_code_plan(refusal)


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_is_no_plan_in_the_form_of_one(refusal: str) -> None:
    """What has to answer in a form puts its refusal wherever the form has room for words.

    Cases: measured, a refusal.
    """
    filled = CodePlan(
        title=refusal[:200],
        file_structure=(
            PlannedFile("main.py", refusal),
            PlannedFile("tests/test_main.py", refusal, FileRole.TEST),
        ),
        implementation_components=(
            replace(PLAN.implementation_components[0], description=refusal, criterion=refusal),
        ),
        validation_approach=Validation(refusal, ("tests/test_main.py",)),
        environment_setup=replace(PLAN.environment_setup, notes=refusal),
        implementation_strategy=Strategy(refusal, ()),
    )

    said = problems(normalise_code_plan(filled))

    assert "says the same as" in said
    empty = replace(filled, file_structure=(), implementation_components=())
    assert "no source file" in problems(normalise_code_plan(empty))


# ---- paths


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../outside.py",
        "a/../../outside.py",
        "a/./b.py",
        "a//b.py",
        "a/b/",
        "a\\b.py",
        "C:/a.py",
        "c:a.py",
        "~/a.py",
        "a\x00b.py",
        "a\nb.py",
        "a\u200bb.py",
        "a\u202eyp.b",
        "name.",
        "name ",
        " name",
        "a./b.py",
        ".git/hooks/post-commit",
        ".GIT/config",
        "sub/.Git/config",
        ".git",
        "GIT~1/config",
        ".gi\u200dt/config",
        "CON",
        "con.txt",
        "src/nul.py",
        "lpt1",
        "COM¹.log",
        "a?.py",
        "a*.py",
        "a<b>.py",
        "e\u0301.py",
        "x" * 256,
        "/".join("d" * 33),
        "a" * 200 + "/" + "b" * 200,
        "api_key=abcdefgh.py",
        "",
        ".",
        "..",
    ],
)
def test_a_path_leads_nowhere_else_and_is_one_file_everywhere(path: str) -> None:
    plan = with_files(PlannedFile(path, "Does something."))

    assert f"file {path[:100]!r}" in problems(plan)
    again = normalise_code_plan(plan)
    try:
        check_code_plan(again)
    except RejectedError:
        return
    cleaned = {file.path for file in again.file_structure} - set(PATHS)
    assert not cleaned & {path}
    assert all(not p.startswith("/") and ".." not in p.split("/") for p in cleaned)


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/workflows/ci.yml", "conf.py", "größe.py", "a b.py"]
)
def test_other_paths_are_as_good_as_any(path: str) -> None:
    assert problems(with_files(PlannedFile(path, "Does something."))) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [("a.py", "A.py"), ("a/b.py", "A/B.py"), ("ﬁt.py", "fit.py"), ("x.py", "x.py")],
)
def test_two_paths_are_never_one_file(one: str, other: str) -> None:
    assert problems(with_files(PlannedFile(one, "One."), PlannedFile(other, "Other.")))


@pytest.mark.parametrize("folder", ["a", "A"])
def test_a_file_is_no_folder_as_well(folder: str) -> None:
    plan = with_files(PlannedFile(folder, "One."), PlannedFile("a/b.py", "Other."))

    assert "a folder for" in problems(plan)
    other = with_files(*(PlannedFile(p, f"File {p}.") for p in ("a", "a-b", "a/b.py")))
    assert "'a' is a file, and a folder for 'a/b.py'" in problems(other)


def test_deeply_nested_files_of_any_language_can_be_planned() -> None:
    """Cases: A 1."""
    paths = [f"src/App/Views/Main/{name}" for name in ("Main.xaml", "Main.xaml.cs", "Model.cs")]
    plan = with_files(*(PlannedFile(path, f"Is {path}.") for path in paths))

    assert problems(plan) == ""


# ---- dependencies and order


def test_files_do_not_depend_on_each_other_in_a_circle() -> None:
    plan = with_file(PLAN, PATHS[0], depends_on=(PATHS[2],))

    assert "in a circle: meanfit/" in problems(plan)
    assert "in a circle: a.py → a.py" in problems(
        with_files(PlannedFile("a.py", "One.", depends_on=("a.py",)))
    )


def test_files_depend_on_planned_files_named_once() -> None:
    assert "which is not planned" in problems(with_file(PLAN, PATHS[1], depends_on=("no.py",)))
    twice = with_file(PLAN, PATHS[1], depends_on=(PATHS[0], PATHS[0]))
    assert "the dependency 'meanfit/__init__.py' stands twice" in problems(twice)
    assert "written last" in problems(with_file(PLAN, PATHS[1], depends_on=("README.md",)))


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (PATHS[:-1], "leaves out 'requirements.txt'"),
        ((*PATHS, "x.py"), "has 'x.py', which is not planned"),
        ((*PATHS, PATHS[0]), "stands twice"),
        ((PATHS[1], PATHS[0], *PATHS[2:]), "before 'meanfit/__init__.py', which it depends on"),
        ((PATHS[5], *PATHS[:5]), "README and requirements come last"),
        ((), "leaves out"),
    ],
)
def test_the_order_has_each_file_once_after_what_it_depends_on(
    order: tuple[str, ...], said: str
) -> None:
    """Cases: C 26."""
    assert said in problems(with_order(*order))


def test_readme_and_requirements_are_planned() -> None:
    """Cases: C 26."""
    assert "no README.md" in problems(without("README.md"))
    assert "which packages are needed" in problems(without("requirements.txt"))


# ---- components, tests, packages, quantities


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (with_part(id="a b"), "the id has a wrong form"),
        (with_part(id="training"), "component 'training' stands twice"),
        (with_file(PLAN, PATHS[1], component="nothing"), "'nothing', which is no component"),
        (with_part(citations=(PaperCitation("mm"),)), "has to be 4 to 1800 characters"),
        (with_part(citations=(PaperCitation("x" * 1801),)), "has to be 4 to 1800 characters"),
        (with_part(citations=(PaperCitation("a mean", page=0),)), "pages count from 1"),
        (with_part(citations=(PaperCitation("a mean", start=4),)), "are no range"),
        (with_part(citations=(PaperCitation("a mean", start=4, end=4),)), "are no range"),
        (with_part(citations=(PaperCitation("a mean", start=-1, end=4),)), "are no range"),
        (
            replace(PLAN, validation_approach=Validation("Tests.", ("tests/test_x.py",))),
            "'tests/test_x.py' is not planned",
        ),
        (
            replace(PLAN, validation_approach=Validation("Tests.", (PATHS[1],))),
            "has the role source",
        ),
        (
            replace(PLAN, validation_approach=Validation("Tests.", (TEST, TEST))),
            "the test file 'tests/test_training.py' stands twice",
        ),
        (replace(PLAN, ambiguities=(Ambiguity("Which?", ""),)), "its resolution says nothing"),
    ],
)
def test_whatever_is_referred_to_exists(plan: CodePlan, said: str) -> None:
    assert said in problems(plan)


@pytest.mark.parametrize(
    "requirement",
    [
        Requirement("--index-url"),
        Requirement("-r other.txt"),
        Requirement("git+https://example.org/x.git"),
        Requirement("https://example.org/x.whl"),
        Requirement("../elsewhere"),
        Requirement("numpy; rm -rf /"),
        Requirement("numpy", "@ https://example.org/x.whl"),
        Requirement("numpy", ">=1 --index-url x\n"),
        Requirement("", ">=1"),
        Requirement("numpy", "", "a shop"),
    ],
)
def test_a_requirement_is_a_package_and_nothing_an_installer_obeys(
    requirement: Requirement,
) -> None:
    setup = replace(PLAN.environment_setup, requirements=(requirement,))

    assert "is no package's name" in problems(replace(PLAN, environment_setup=setup))


@pytest.mark.parametrize(
    "requirement",
    [
        Requirement("torch", ">=2.0,<3"),
        Requirement("uvicorn[standard]", "==0.30.*"),
        Requirement("@scope/name", "^1.2.3", "npm"),
        Requirement("serde_json", "1", "cargo"),
    ],
)
def test_packages_of_every_ecosystem_can_be_required(requirement: Requirement) -> None:
    setup = replace(PLAN.environment_setup, requirements=(requirement,))

    assert problems(replace(PLAN, environment_setup=setup)) == ""


CITED = PaperCitation("a learning rate of 0.01")


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (with_quantity("0.01"), "no quote of the source says so"),
        (with_quantity("", citation=CITED), "is specified and has no value"),
        (with_quantity("", status=Status.INFERRED), "is inferred and has no value"),
        (with_quantity("32", status=Status.UNSPECIFIED), "which no ambiguity gives a reason"),
        (with_quantity("1", citation=CITED, component="x"), "'x', which is no component"),
        (with_quantity("1", citation=PaperCitation("")), "the quote ''"),
    ],
)
def test_a_quantity_is_what_its_status_says(plan: CodePlan, said: str) -> None:
    assert said in problems(plan)


def test_a_value_that_the_source_leaves_open_is_explained() -> None:
    plan = with_quantity("32", status=Status.UNSPECIFIED)
    named = Ambiguity("The rate is not given.", "We take 32.")

    assert problems(replace(plan, ambiguities=(named,))) == ""
    assert problems(with_quantity("", status=Status.UNSPECIFIED)) == ""


# ---- size and what cannot be seen


@pytest.mark.parametrize("sign", ["\x1b", "\x08", "\x00", "\u202e", "\u2066"])
def test_nothing_in_a_plan_hides_from_its_reader(sign: str) -> None:
    plan = with_part(description=f"A mean.{sign}[2K Or is it?")

    assert "characters that cannot be seen" in problems(plan)
    assert problems(normalise_code_plan(plan)) == ""


def test_a_plan_has_a_bounded_size() -> None:
    many = [PlannedFile(f"p/f{number}.py", f"Part {number}.") for number in range(201)]
    assert "files; 200 are the most" in problems(with_files(*many))
    assert "longer than 8,000" in problems(with_part(description="word " * 1700))
    long = with_file(PLAN, PATHS[0], interface=tuple(["def f(): ..."] * 201))
    assert "lines of interface" in problems(long)
    wide = [replace(file, interface=("x" * 999,) * 12) for file in many[:60]]
    assert "characters of text" in problems(with_files(*wide))


# ---- reading one that a person brings


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: f"```json\n{text}\n```"])
def test_a_plan_that_holds_is_read_as_it_is(wrap: Callable[[str], str]) -> None:
    assert read_code_plan(wrap(json.dumps(PLAN.as_json()))) == PLAN


def test_a_plan_that_does_not_hold_is_an_invalid_request() -> None:
    with pytest.raises(InvalidRequest, match="no README"):
        read_code_plan(json.dumps(without("README.md").as_json()))
