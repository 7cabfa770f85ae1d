"""What can be told of a file without running it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.coding.interfaces import MAX_CHARACTERS, interface_of
from adapters.models.coding.stubs import find_stubs
from adapters.models.coding.syntax import check_syntax


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "x = '\\d'\n"),
        ("pkg/__init__.py", ""),
        ("a.json", '{"a": 1}'),
        ("a.toml", "a = 1\n"),
        ("a.yaml", "a:\n  - b\n"),
        (
            "requirements.txt",
            "# none\nnumpy>=1.26,<3\nfoo[bar]==1.*; python_version < '4'\n-r b.txt\n",
        ),
        ("a.md", "```python\nx = 1\n```\n"),
        ("index.html", "<!DOCTYPE html><html></html>"),
        ("a.js", "const r = /[(]/; const s = `${'{'}`;\n"),
        ("a.js", "function f(a) { return [a, '}', \"]\"]; } // {\n"),
        ("a.rs", "fn f<'a>(x: &'a str) -> char { '{' }\n"),
        ("a.c", "int main() { /* } */ char c = '{'; char *s = \"}\"; return 0; }\n"),
        ("a.c", "#ifdef A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\n"),
        ("a.go", "package a\nvar s = `\\`\n"),
        ("a.unknown", "whatever ((("),
    ],
)
def test_a_file_that_can_be_what_it_says_has_no_problem(path: str, text: str) -> None:
    assert check_syntax(path, text) is None


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("a.py", "", "empty"),
        ("a.md", " \n\n", "empty"),
        ("a.py", "def f(:\n", "line 1"),
        ("a.py", "return 1\n", "outside function"),
        ("a.py", "x = 1\0", "null"),
        ("a.py", "<!DOCTYPE html>\n<html>", "HTML"),
        ("a.py", "```python\nx = 1\n```", "fence"),
        ("a.py", "(" * 90_000, "parentheses"),
        ("a.py", "a+" * 200_000 + "a", "compiled"),
        ("a.py", "x=1\n" * 300_000, "at most"),
        ("a.json", "{'a': 1}", "JSON"),
        ("a.json", "[" * 100_000, "JSON"),
        ("a.toml", "a = ", "TOML"),
        ("a.yml", "a:\n\t- b\n", "tab"),
        ("requirements.txt", "Here is the file:\nnumpy\n", "line 1"),
        ("a.ts", "export class A {\n  f() { return 1; }\n", "line 1: a {"),
        ("a.java", "class A { void f() { } } }", "nothing opens"),
        ("a.c", "int a; /* and so on", "comment"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_what_it_says_has_one(path: str, text: str, said: str) -> None:
    problem = check_syntax(path, text)

    assert problem is not None
    assert said in problem
    assert path in problem


@given(
    st.sampled_from(["a.py", "a.json", "a.toml", "a.yaml", "a.js", "requirements.txt"]), st.text()
)
def test_whatever_a_file_holds_it_is_judged_without_an_error(path: str, text: str) -> None:
    assert check_syntax(path, text) is None or path in str(check_syntax(path, text))
    assert all(find_stubs(path, text)) or not find_stubs(path, text)
    assert len(interface_of(path, text)) <= MAX_CHARACTERS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f():\n    pass\n", "f()"),
        ("def f():\n    '''Do it.'''\n    ...\n", "f()"),
        ("class A:\n    def f(self):\n        raise NotImplementedError('later')\n", "f()"),
        ("class A:\n    pass\n", "class A"),
        ("def f():\n    # TODO: implement\n    return 1\n", "line 2"),
        ("def f():\n    # ... rest of the code\n    return 1\n", "line 2"),
        ("def f():\n    # Your code here\n    return 1\n", "line 2"),
        ("import os\n", "states nothing"),
    ],
)
def test_code_that_is_not_written_yet_is_found(text: str, said: str) -> None:
    assert said in " ".join(find_stubs("a.py", text))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "class E(Exception):\n    pass\n"),
        ("a.py", "from typing import Protocol\nclass P(Protocol):\n    def f(self) -> int: ...\n"),
        ("a.py", "import abc\nclass P(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\n"),
        (
            "a.py",
            "def f(x):\n    try:\n        return x[0]\n    except IndexError:\n        pass\n",
        ),
        ("pkg/__init__.py", "from pkg.a import f\n"),
        ("README.md", "# TODO list app\n"),
        ("test_a.py", "def test_a():\n    assert 1\n"),
        ("a.py", "def f(:"),
    ],
)
def test_code_that_rightly_says_little_is_no_stub(path: str, text: str) -> None:
    assert find_stubs(path, text) == ()


def test_a_test_that_asserts_nothing_is_a_stub() -> None:
    assert find_stubs("tests/test_a.py", "def test_a():\n    print(1)\n") == (
        "test_a() asserts nothing",
    )


def test_gaps_in_other_languages_are_found_by_their_words() -> None:
    assert find_stubs("a.rs", "fn f() { unimplemented!() }\n")
    assert find_stubs("a.js", "function f() {\n  // your code here\n}\n")


def test_an_interface_has_signatures_and_no_bodies() -> None:
    text = (
        "import os\nRATE: float = 0.5\n_HIDDEN = 1\n\n"
        "class Smoother(Base):\n    '''Smooths.\n\n    More.'''\n\n"
        "    def __init__(self, beta: float = 0.9) -> None:\n        self.b = beta\n\n"
        "    def _inner(self): return 1\n\n"
        "async def fit(xs: list[float], *, n: int) -> float:\n    return secret\n"
    )

    assert interface_of("a.py", text).splitlines() == [
        "RATE: float = 0.5",
        "class Smoother(Base):",
        '    """Smooths."""',
        "    def __init__(self, beta: float=0.9) -> None",
        "async def fit(xs: list[float], *, n: int) -> float",
    ]


def test_other_languages_show_what_they_export() -> None:
    script = "const a = 1;\nexport function f(x) {\n  return x;\n}\nexport const B = 2;\n"

    assert interface_of("a.js", script) == "export function f(x)\nexport const B"
    assert (
        interface_of("a.rs", "pub fn f(x: u8) -> u8 {\n x\n}\nfn g() {}\n")
        == "pub fn f(x: u8) -> u8"
    )
    assert interface_of("README.md", "# A\n\ntext\n\n## B\n") == "# A\n## B"


def test_a_long_interface_is_cut_between_lines() -> None:
    shown = interface_of("a.py", "".join(f"def f{at}(a, b, c): pass\n" for at in range(1000)))

    assert len(shown) <= MAX_CHARACTERS
    assert shown.endswith("\n…")
