"""Paths are what a file can have, whatever stands around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.coding.paths import module_of, normal_path, packages, role_of
from state.values.code_plan import FileRole


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("`App.js`", "App.js"),
        ("[main.py]", "main.py"),
        ("**src/a.py**", "src/a.py"),
        ("./pkg//a.py", "pkg/a.py"),
        ("/pkg/a.py", "pkg/a.py"),
        ("File: pkg/a.py", "pkg/a.py"),
        ("pkg\\a.py", "pkg/a.py"),
        ("App/Views/Main/Parts/Head.xaml", "App/Views/Main/Parts/Head.xaml"),
        ("Makefile", "Makefile"),
        (".gitignore", ".gitignore"),
        ("../a.py", ""),
        ("a/../../b.py", ""),
        (".git/config.py", ""),
        ("pkg/", ""),
        ("pkg", ""),
        ("C:\\a.py", ""),
        ("~/a.py", ""),
        ("https://example.org/a.py", ""),
        ("a\x00.py", ""),
        ("a" * 300 + ".py", ""),
        ("", ""),
    ],
)
def test_a_path_is_normalised_or_none(said: str, path: str) -> None:
    assert normal_path(said) == path


@given(st.text("ab/.\\`[]*~: -_", max_size=40))
def test_no_path_leaves_the_workspace_and_each_is_its_own_normal_form(said: str) -> None:
    path = normal_path(said)

    assert not path.startswith("/")
    assert ".." not in path.split("/")
    assert normal_path(path) == path


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("pkg/a.py", FileRole.SOURCE),
        ("tests/test_a.py", FileRole.TEST),
        ("src/pkg/tests/test_a.py", FileRole.TEST),
        ("a.test.ts", FileRole.TEST),
        ("tests/conftest.py", FileRole.TEST),
        ("README.md", FileRole.DOCUMENT),
        ("pyproject.toml", FileRole.CONFIGURATION),
        ("requirements.txt", FileRole.CONFIGURATION),
        ("data/a.csv", FileRole.DATA),
        ("Makefile", FileRole.CONFIGURATION),
    ],
)
def test_a_path_tells_what_its_file_is_for(path: str, role: FileRole) -> None:
    assert role_of(path) is role


def test_a_module_is_imported_from_the_root_or_from_src() -> None:
    assert module_of("pkg/a.py") == "pkg.a"
    assert module_of("src/pkg/__init__.py") == "pkg"
    assert module_of("my-pkg/a.py") == ""


def test_packages_are_named_as_they_are_installed() -> None:
    said = [
        "numpy>=1.20, <3",
        "sklearn",
        "math",
        "NumPy",
        "pkg",
        "not a package",
        "torch==2.*",
        "None",
    ]

    assert packages(said, ["pkg"]) == [
        ("numpy", ">=1.20,<3"),
        ("scikit-learn", ""),
        ("torch", "==2.*"),
    ]
