"""Code plans of any content, and code plans that hold, for laws."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from state.values.code_plan import (
    Ambiguity,
    CodePlan,
    Component,
    EnvironmentSetup,
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
from tests.state.values.code_plans import code_plan

TEXT = st.text(max_size=12)
PATH = st.one_of(
    TEXT,
    st.sampled_from(
        "a.py `a.py` [b.py] ./c/d.py A.py tests/test_a.py README.md requirements.txt package.json "
        "x\\y.py **e.js** ../f g: (h.py) 'i'".split()
    ),
)


def _tuple(of: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=most).map(tuple)


COUNT = st.none() | st.integers(-(10**6), 10**6)
CITATION = st.builds(PaperCitation, TEXT, TEXT, COUNT, COUNT, COUNT)
FILE = st.builds(
    PlannedFile, PATH, TEXT, st.sampled_from(FileRole), _tuple(TEXT), _tuple(PATH), TEXT
)
COMPONENT = st.builds(Component, TEXT, TEXT, TEXT, TEXT, _tuple(CITATION, 2))
QUANTITY = st.builds(
    Quantity,
    TEXT,
    st.sampled_from(QuantityKind),
    TEXT,
    TEXT,
    st.sampled_from(Status),
    st.none() | CITATION,
    TEXT,
)
REQUIREMENT = st.builds(Requirement, TEXT, TEXT, TEXT)
ANY_PLAN = st.builds(
    CodePlan,
    TEXT,
    _tuple(FILE, 6),
    _tuple(COMPONENT),
    st.builds(Validation, TEXT, _tuple(PATH)),
    st.builds(EnvironmentSetup, TEXT | st.just("Rust"), TEXT, _tuple(REQUIREMENT), TEXT),
    st.builds(Strategy, TEXT, _tuple(PATH, 6)),
    _tuple(QUANTITY),
    _tuple(st.builds(Ambiguity, TEXT, TEXT)),
)


@st.composite
def sound_plans(draw: st.DrawFn) -> CodePlan:
    """Draw a plan that holds, whose files depend on each other in any way without a circle."""
    count = draw(st.integers(1, 8))
    names = draw(st.permutations([f"pkg/part{number}.py" for number in range(count)]))
    files = [
        PlannedFile(
            path,
            f"Does part {path}.",
            depends_on=tuple(draw(st.sets(st.sampled_from(names[:number])))) if number else (),
        )
        for number, path in enumerate(names)
    ]
    test = PlannedFile("tests/test_all.py", "Tests all.", FileRole.TEST, depends_on=(names[-1],))
    closing = code_plan().file_structure[-2:]
    closing = (replace(closing[0], depends_on=()), closing[1])
    mixed = draw(st.permutations([*files, test, *closing]))
    plan = replace(
        code_plan(),
        file_structure=tuple(replace(file, component="") for file in mixed),
        validation_approach=Validation("Unit tests of every part.", (test.path,)),
    )
    order = (*names, test.path, closing[0].path, closing[1].path)
    return replace(plan, implementation_strategy=Strategy("From the inside out.", order))
