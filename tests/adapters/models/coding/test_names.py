"""A file uses what it defines."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.coding import names
from adapters.models.coding.names import undefined_names

HERE = Path(names.__file__).parent


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(m, b):\n    return [x / (1 - b ** t) for x in m]\n", ["t"]),
        ("def f():\n    return np.mean([1])\n", ["np"]),
        ("x = y\n", ["y"]),
        ("def f(x: List[int]) -> int:\n    return x[0]\n", ["List"]),
        ("def f():\n    class A:\n        b: Later\n", ["Later"]),
        ("class A(Base):\n    z: Other = 1\n", ["Base", "Other"]),
        ("def f():\n    return a\n\n\ndef g():\n    return a + b\n", ["a", "b"]),
        ("from x import *\n\ny = z\n", []),
        ("def f(:", []),
    ],
)
def test_names_that_nothing_defines_are_told(text: str, found: list[str]) -> None:
    assert undefined_names(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return g()\n\n\ndef g():\n    return len(__name__)\n",
        "def f():\n    global n\n    n = 1\n\n\ndef g():\n    return n\n",
        "class A:\n    b = 1\n    c = b\n\n    def d(self):\n        return super().d\n",
        "def f(x):\n    def g():\n        nonlocal x\n        x = 1\n    return g\n",
        "for i in range(3):\n    pass\nprint(i)\n",
        "try:\n    import a\nexcept ImportError as e:\n    print(e)\n",
        "from __future__ import annotations\n\n\ndef f(x: Later) -> Other:\n    y: Third = x\n",
        "from __future__ import annotations\n\n\nclass A:\n    b: Later\n",
        "def f():\n    x: Never = 1\n    return x\n",
        "try:\n    unicode\nexcept NameError:\n    pass\n",
        "class A:\n    name = __qualname__\n    home = __module__\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import B\nx: 'B'\nC = B\n",
        "vars().update(a=1)\nprint(a)\n",
        "def f(x):\n    match x:\n        case [a, *b]:\n            return a, (y := b), y\n",
    ],
)
def test_names_that_something_defines_are_not(text: str) -> None:
    assert undefined_names(text) == []


@pytest.mark.parametrize("file", sorted(HERE.glob("*.py")), ids=lambda file: file.name)
def test_real_files_have_none(file: Path) -> None:
    assert undefined_names(file.read_text(encoding="utf-8")) == []


@given(st.text(max_size=200))
def test_whatever_a_file_holds_its_names_are_judged_without_an_error(text: str) -> None:
    assert all(undefined_names(text))
