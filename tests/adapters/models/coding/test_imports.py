"""A file imports what there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.coder import KnownFile
from adapters.models.coding.imports import check_imports, with_imports
from state.values.code_plan import Requirement

KNOWN = (
    KnownFile(
        "pkg/a.py", "RATE = 1\nN: int\nclass A:\n    def inner(self)\n@wraps\ndef f(x) -> int", ""
    ),
    KnownFile("src/lib/b.py", "", ""),
)
PACKAGES = (Requirement("numpy"), Requirement("scikit-learn"), Requirement("PyYAML"))


def check(text: str) -> list[str]:
    return check_imports("pkg/c.py", text, KNOWN, PACKAGES)


@pytest.mark.parametrize(
    "text",
    [
        "from pkg.a import A, f, RATE, N",
        "from .a import f",
        "import pkg.a as a",
        "import pkg",
        "from pkg import a",
        "from lib.b import whatever",
        "import numpy as np\nimport sklearn.metrics\nimport yaml\nimport math",
        "from pkg.a import *",
        "def f(:",
    ],
)
def test_what_there_is_can_be_imported(text: str) -> None:
    assert check(text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from pkg.a import g", "pkg.a has no g"),
        ("from pkg.a import inner", "pkg.a has no inner"),
        ("from .a import g", "pkg.a has no g"),
        ("from pkg.z import f", "it imports pkg.z"),
        ("import torch", "torch, which is not among the packages"),
        ("def f():\n    import pandas", "pandas"),
    ],
)
def test_what_is_not_there_is_told(text: str, said: str) -> None:
    assert said in " ".join(check(text))


@given(st.text(max_size=200))
def test_whatever_a_file_holds_its_imports_are_judged_without_an_error(text: str) -> None:
    assert all(check(text))


def test_what_only_one_thing_can_be_is_imported() -> None:
    text = (
        '"""Tests."""\n\ndef test_a():\n    with pytest.raises(ValueError):\n        f(math.pi)\n'
    )

    mended = with_imports(text, KNOWN, (Requirement("pytest"),))

    assert mended == text.replace(
        '"""\n', '"""\nfrom pkg.a import f\nimport math\nimport pytest\n', 1
    )
    assert with_imports(mended, KNOWN, (Requirement("pytest"),)) == mended


@pytest.mark.parametrize("text", ["x = g(1)\n", "import pkg.a\nx = pkg.a.f(1)\n", "x = inner()\n"])
def test_what_nothing_gives_is_left_as_it_is(text: str) -> None:
    assert with_imports(text, KNOWN, PACKAGES) == text
