"""What a file imports of its project is there, or it is said what is not; in doubt nothing is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.coding import provided
from adapters.models.coding.provided import provided_names, unprovided_imports

ROOT = Path(provided.__file__).parents[3]
WRITTEN = {
    "pkg/a.py": (
        "import math\nfrom typing import TYPE_CHECKING\n\nRATE = 1\n_private = 2\n\n"
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None\n\n"
        "if RATE:\n    def maybe(): ...\n\ndef f(): ...\n\n\n"
        "def g():\n    global made\n    made = 1\n"
    ),
    "pkg/dynamic.py": "def __getattr__(name):\n    return name\n",
    "pkg/stars.py": "from pkg.a import *\n",
    "pkg/__init__.py": "from .a import f\n\n__version__ = '1'\n",
}
PLANNED = (*WRITTEN, "pkg/later.py", "pkg/sub/deep.py", "tests/test_a.py", "src/lib/b.py", "run.py")


def wrong(text: str, path: str = "pkg/c.py") -> list[str]:
    return unprovided_imports(
        path, text, planned=PLANNED, written=WRITTEN, packages=("scikit-learn",)
    )


@pytest.mark.parametrize(
    "text",
    [
        "from pkg.a import f, RATE, _private, np, maybe, math, made, __doc__",
        "from .a import f",
        "from . import a, later, f, __version__",
        "import pkg, pkg.a, pkg.sub.deep as deep",
        "from pkg.sub import deep",
        "from pkg.later import anything",
        "from pkg.dynamic import anything",
        "from pkg.stars import anything",
        "from pkg import *",
        "from lib.b import x",
        "import numpy\nimport unknown_to_all\nfrom elsewhere import y",
        "try:\n    from pkg.fast import f\nexcept ImportError:\n    from pkg.a import f",
        "try:\n    import pkg.fast\nexcept (ValueError, ModuleNotFoundError):\n    pass",
        "try:\n    import pkg.fast\nexcept:\n    pass",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg.types import T",
        "import sys\nif sys.version_info > (3, 99):\n    from pkg.new import x",
        "import sys\nsys.path.insert(0, '.')\nfrom pkg.nowhere import x",
        "from ....far import x",
        "def f(:",
    ],
)
def test_what_may_be_there_is_let_pass(text: str) -> None:
    assert wrong(text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from pkg.a import h", "pkg.a has no h"),
        ("from .a import h, f", "pkg.a has no h"),
        ("from pkg import nowhere", "pkg has no nowhere"),
        ("from pkg.sub import nowhere", "pkg.sub has no nowhere"),
        ("from pkg.nowhere import x", "it imports pkg.nowhere, which no file"),
        ("import pkg.nowhere", "it imports pkg.nowhere, which no file"),
        ("def f():\n    from pkg.nowhere import x", "it imports pkg.nowhere"),
        ("try:\n    import pkg.nowhere\nfinally:\n    pass", "it imports pkg.nowhere"),
        ("if 1:\n    pass\nelse:\n    import pkg.nowhere", "it imports pkg.nowhere"),
    ],
)
def test_what_no_file_provides_is_told(text: str, said: str) -> None:
    (problem,) = wrong(text)

    assert said in problem


def test_a_package_s_own_file_imports_from_beside_it() -> None:
    assert wrong("from .a import f\nfrom .sub.deep import x", "pkg/__init__.py") == []
    assert wrong("from .nowhere import x", "pkg/__init__.py")


@pytest.mark.parametrize("room", ["adapters/models/coding", "state/values"])
def test_real_code_imports_nothing_that_is_not_there(room: str) -> None:
    paths = [
        str(path.relative_to(ROOT))
        for each in ("adapters", "state")
        for path in (ROOT / each).rglob("*.py")
    ]
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths}

    told = {
        path: found
        for path in paths
        if path.startswith(room)
        and (found := unprovided_imports(path, texts[path], planned=paths, written=texts))
    }

    assert told == {}


@given(st.text(max_size=200))
def test_whatever_files_hold_they_are_judged_without_an_error(text: str) -> None:
    unprovided_imports("pkg/c.py", text, planned=PLANNED, written={**WRITTEN, "pkg/later.py": text})
    provided_names(text)
