"""The order of files, what depends on what, quotes that are looked up, and what was changed."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.values.code_plan import CodePlan, PaperCitation, Requirement, Status
from state.values.code_plan_changes import diff_code_plans
from state.values.code_plan_citing import locate_citations, unlocated
from state.values.code_plan_form import normalise_code_plan
from state.values.code_plan_order import dependents_of, find_cycle, is_closing, write_order
from state.values.errors import RejectedError
from state.values.quotes import NormalisedText
from tests.state.values.code_plans import PAPER, PATHS, code_plan, with_file
from tests.state.values.plan_strategies import ANY_PLAN, sound_plans

PLAN = code_plan()


def unordered(plan: CodePlan) -> CodePlan:
    return replace(plan, implementation_strategy=replace(plan.implementation_strategy, order=()))


# ---- order


@given(sound_plans())
def test_every_file_comes_after_those_it_depends_on(plan: CodePlan) -> None:
    for given_plan in (plan, unordered(plan)):
        order = write_order(given_plan)
        place = {path: number for number, path in enumerate(order)}
        assert sorted(order) == sorted(file.path for file in plan.file_structure)
        for file in plan.file_structure:
            assert all(place[other] < place[file.path] for other in file.depends_on)
        assert [is_closing(path) for path in order] == [False] * (len(order) - 2) + [True] * 2


@given(sound_plans())
def test_an_order_that_can_stand_stands(plan: CodePlan) -> None:
    assert write_order(plan) == plan.implementation_strategy.order


@given(ANY_PLAN.map(normalise_code_plan))
def test_a_plan_has_an_order_or_a_circle(plan: CodePlan) -> None:
    if cycle := find_cycle(plan):
        assert cycle[0] == cycle[-1]
        for path, other in pairwise(cycle):
            needed = [f.depends_on for f in plan.file_structure if f.path == path]
            assert any(other in each for each in needed)
    else:
        assert set(write_order(plan)) == {file.path for file in plan.file_structure}


def test_a_circle_has_no_order() -> None:
    with pytest.raises(RejectedError, match="in a circle") as caught:
        write_order(with_file(PLAN, PATHS[0], depends_on=(PATHS[2],)))
    assert caught.value.code == "PLAN_INVALID"


def test_a_long_chain_is_ordered_without_recursion() -> None:
    files = [
        replace(PLAN.file_structure[0], path=f"f{n}.py", depends_on=(f"f{n - 1}.py",) if n else ())
        for n in range(5000)
    ]
    plan = unordered(replace(PLAN, file_structure=tuple(reversed(files))))

    assert write_order(plan) == tuple(f"f{n}.py" for n in range(5000))


# ---- what has to be written anew


def test_what_depends_on_a_file_is_found_through_others() -> None:
    assert dependents_of(PLAN, [PATHS[0]]) == PATHS[1:5]
    assert dependents_of(PLAN, [PATHS[2]]) == PATHS[3:5]
    assert dependents_of(PLAN, [PATHS[3]]) == ()
    assert dependents_of(PLAN, PATHS[:2]) == PATHS[2:5]
    assert dependents_of(PLAN, ["unknown.py"]) == ()
    assert dependents_of(PLAN, []) == ()


@given(sound_plans(), st.data())
def test_dependents_are_closed_and_exclude_what_changed(
    plan: CodePlan, data: st.DataObject
) -> None:
    paths = sorted(file.path for file in plan.file_structure)
    changed = data.draw(st.sets(st.sampled_from(paths)))

    found = dependents_of(plan, changed)

    assert not set(found) & changed
    for file in plan.file_structure:
        if set(file.depends_on) & (changed | set(found)):
            assert file.path in changed | set(found)


# ---- quotes


def test_quotes_are_bound_to_where_they_stand() -> None:
    plan = locate_citations(PLAN, NormalisedText(PAPER))

    for citation in plan.citations:
        assert citation.start is not None
        assert citation.end is not None
        assert PAPER[citation.start : citation.end] == citation.quote
    assert unlocated(plan) == ()
    assert plan.hash == PLAN.hash


def test_a_quote_that_does_not_stand_there_is_kept_and_named() -> None:
    false = PaperCitation("a learning rate of 0.1", "Section 3", start=14, end=36)
    quantity = replace(PLAN.quantities[0], citation=false)
    plan = locate_citations(replace(PLAN, quantities=(quantity,)), NormalisedText(PAPER))

    assert unlocated(plan) == (replace(false, start=None, end=None),)
    assert len(plan.citations) == 2


def test_an_approval_covers_what_a_quote_says_and_not_where_it_was_found() -> None:
    moved = PLAN.with_citations(lambda citation: replace(citation, start=1, end=9))
    other = PLAN.with_citations(lambda citation: replace(citation, quote="something else"))

    assert moved.hash == PLAN.hash
    assert other.hash != PLAN.hash


# ---- what a version changed


def test_a_plan_does_not_differ_from_itself() -> None:
    changes = diff_code_plans(PLAN, locate_citations(PLAN, NormalisedText(PAPER)))

    assert changes.is_empty
    assert changes.as_text() == "No change."


def test_a_diff_tells_what_was_added_removed_and_changed() -> None:
    first, second, *rest = PLAN.implementation_components
    new = replace(
        with_file(PLAN, PATHS[2], depends_on=(PATHS[0],)),
        title="Running mean",
        implementation_components=(replace(first, criterion="After 1 and 3 it is 2.0."), *rest),
        environment_setup=replace(
            PLAN.environment_setup, requirements=(Requirement("torch", ">=2"),)
        ),
        quantities=(replace(PLAN.quantities[0], value="0.02"), *PLAN.quantities[2:]),
        ambiguities=(),
    )

    changes = diff_code_plans(PLAN, new)

    assert changes.components.removed == (second.id,)
    assert changes.requirements.added == ("torch",)
    assert changes.quantities.removed == ("batch size",)
    assert changes.as_text().splitlines() == [
        "~ title",
        "    was: Running mean estimator",
        "    now: Running mean",
        "~ file meanfit/training.py: depends_on",
        "    was: meanfit/estimator.py",
        "    now: meanfit/__init__.py",
        "- component training",
        "~ component estimator: criterion",
        "    was: After losses 1 and 3 the mean is 2.",
        "    now: After 1 and 3 it is 2.0.",
        "- quantity batch size",
        "~ quantity learning rate (training): value",
        "    was: 0.01",
        "    now: 0.02",
        "+ requirement torch",
        "- requirement numpy",
        "- ambiguity Which batch size is used?",
    ]


def test_a_diff_tells_of_files_and_their_order() -> None:
    order = (*PATHS[:2], PATHS[3], PATHS[2], "x.py", *PATHS[4:])
    extra = replace(PLAN.file_structure[0], path="x.py")
    new = replace(
        PLAN,
        file_structure=(*PLAN.file_structure, extra),
        implementation_strategy=replace(PLAN.implementation_strategy, order=order),
    )

    changes = diff_code_plans(PLAN, new)
    back = diff_code_plans(new, PLAN)

    assert changes.files.added == back.files.removed == ("x.py",)
    assert changes.order is not None
    assert back.order == (changes.order[1], changes.order[0])
    assert "~ order" in changes.as_text()


def test_quantities_of_one_name_are_told_apart() -> None:
    twice = replace(PLAN, quantities=(PLAN.quantities[0],) * 2)
    other = replace(PLAN.quantities[0], status=Status.INFERRED)

    changes = diff_code_plans(twice, replace(PLAN, quantities=(PLAN.quantities[0], other)))

    (change,) = changes.quantities.changed
    assert change.name == "learning rate (training) #2"
    assert [(field.name, field.after) for field in change.fields] == [("status", "inferred")]


@given(ANY_PLAN, ANY_PLAN)
def test_a_diff_is_empty_only_for_the_same_plan(one: CodePlan, other: CodePlan) -> None:
    changes = diff_code_plans(one, other)

    assert changes.as_text()
    assert diff_code_plans(one, one).is_empty
    if one.title != other.title:
        assert not changes.is_empty


@given(st.sampled_from(["purpose", "interface", "depends_on", "component"]), sound_plans())
def test_every_field_of_a_file_is_told(name: str, plan: CodePlan) -> None:
    file = plan.file_structure[0]
    value: Any = ("other.py",) if name in ("interface", "depends_on") else "other"
    new = with_file(plan, file.path, **{name: value})

    (change,) = diff_code_plans(plan, new).files.changed
    assert [field.name for field in change.fields] == [name]
