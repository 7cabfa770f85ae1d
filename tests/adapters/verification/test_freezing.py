"""What decides the tests is held fixed, and the rest of the same files is not."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.verification import freezing
from adapters.verification.freezing import freeze, tampered
from adapters.verification.rust_tests import unit_tests_of
from adapters.verification.walking import hash_tree
from state.values.errors import RejectedError
from tests.adapters.verification.projects import PASSING, Files, write

_RUST = "pub fn one() -> i32 {{ {0} }}\n#[cfg(test)]\nmod tests {{ #[test] fn a() {{ {1} }} }}\n"

PROJECT: Files = {
    "model.py": "VALUE = 1\n",
    "tests/test_model.py": PASSING,
    "tests/expected.json": "{}",
    "conftest.py": "",
    "pyproject.toml": "[project]\nname = 'x'\n[tool.pytest.ini_options]\nmarkers = ['slow']\n",
    "package.json": json.dumps({"version": "1", "scripts": {"test": "jest"}}),
    "src/a.test.ts": "",
    "Cargo.toml": "[package]\nname = 'x'\n",
    "src/lib.rs": _RUST.format(1, "assert!(true);"),
}


def _changes(workspace: Path, path: str, content: str | None) -> list[tuple[str, str]]:
    frozen = freeze(write(workspace, PROJECT))
    if content is None:
        (workspace / path).unlink()
    else:
        write(workspace, {path: content})
    return [(each.path, each.how) for each in tampered(workspace, frozen)]


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("tests/test_model.py", "def test_good():\n    pass\n", ("tests/test_model.py", "changed")),
        ("tests/test_model.py", None, ("tests/test_model.py", "missing")),
        ("tests/expected.json", "[]", ("tests/expected.json", "changed")),
        ("tests/test_more.py", PASSING, ("tests/test_more.py", "added")),
        ("conftest.py", "collect_ignore = []", ("conftest.py", "changed")),
        ("src/a.test.ts", "it.skip()", ("src/a.test.ts", "changed")),
        ("pytest.ini", "[pytest]\naddopts = --co", ("pytest.ini", "added")),
        ("tox.ini", "[pytest]\naddopts = --co", ("tox.ini#pytest", "added")),
        ("pyproject.toml", "[project]\nname = 'x'\n", ("pyproject.toml#pytest", "missing")),
        ("package.json", '{"scripts": {"test": "true"}}', ("package.json#scripts", "changed")),
        ("package.json", '{"scripts": {}, "jest": {}}', ("package.json#scripts", "changed")),
        ("Cargo.toml", "[package]\n[lib]\ntest = false\n", ("Cargo.toml#test", "added")),
        ("src/lib.rs", _RUST.format(1, "return;"), ("src/lib.rs#tests", "changed")),
        ("src/lib.rs", "pub fn one() -> i32 { 1 }", ("src/lib.rs#tests", "missing")),
        (".cargo/config.toml", "[target.x]\nrunner = 'true'", (".cargo/config.toml", "added")),
        ("sitecustomize.py", "", ("sitecustomize.py", "added")),
        ("pytest/__init__.py", "", ("pytest/__init__.py", "added")),
        ("jest.config.js", "", ("jest.config.js", "added")),
    ],
)
def test_changing_what_decides_the_tests_is_seen(
    tmp_path: Path, path: str, content: str | None, expected: tuple[str, str]
) -> None:
    assert _changes(tmp_path, path, content) == [expected]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("model.py", "VALUE = 2\n"),
        ("new.py", ""),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\nmarkers = ['slow']\n[project]\nname = 'y'\n",
        ),
        ("package.json", '{"dependencies": {"a": "1"}, "scripts": {"test": "jest"}}'),
        ("Cargo.toml", "[package]\nname = 'x'\n[dependencies]\n"),
        ("src/lib.rs", _RUST.format(2, "assert!(true);")),
        ("tests/__pycache__/test_model.pyc", ""),
        ("setup.cfg", "[metadata]\nname = x\n"),
    ],
)
def test_mending_the_code_beside_it_is_not_tampering(
    tmp_path: Path, path: str, content: str
) -> None:
    assert _changes(tmp_path, path, content) == []


def test_a_test_that_became_a_link_is_changed(tmp_path: Path) -> None:
    frozen = freeze(write(tmp_path, PROJECT))
    path = tmp_path / "tests" / "test_model.py"
    path.rename(tmp_path / "kept.py")
    path.symlink_to("../kept.py")

    assert [each.how for each in tampered(tmp_path, frozen)] == ["changed"]


def test_more_test_files_than_can_be_held_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezing, "MAX_FROZEN", 3)
    write(tmp_path, {f"tests/{number}.txt": "" for number in range(4)})

    with pytest.raises(RejectedError, match="at most 3"):
        freeze(tmp_path)


names = st.sampled_from(["test_a.py", "tests/b.txt", "src/c.py", "c.test.js", "d/conftest.py"])


@given(st.dictionaries(names, st.text("ab", max_size=3)), names, st.text("ab", max_size=3))
def test_any_two_workspaces_differ_exactly_where_their_test_files_do(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str], path: str, content: str
) -> None:
    before = write(tmp_path_factory.mktemp("before"), files)
    after = write(tmp_path_factory.mktemp("after"), {**files, path: content})
    decides, differs = path != "src/c.py", files.get(path) != content

    assert tampered(before, freeze(before)) == ()
    assert bool(tampered(after, freeze(before))) is (decides and differs)
    assert (hash_tree(before) != hash_tree(after)) is differs


def test_only_the_tests_of_a_rust_source_are_regions() -> None:
    source = """
// #[test] fn not_this_one() {}
const TEXT: &str = "#[test] fn nor() {}";
const RAW: &str = r#"#[cfg(test)] mod t { " } "#;
fn letter() -> char { '{' }
#[cfg(test)]
mod tests;
#[tokio::test]
async fn waits() { assert_eq!('}', '}'); /* } */ }
fn after() {}
#[derive(Debug)]
struct Test;
"""

    assert unit_tests_of(source) == (
        "#[cfg(test)]\nmod tests;\n#[tokio::test]\n"
        "async fn waits() { assert_eq!('}', '}'); /* } */ }"
    )


@given(st.text("#[test]{}();\"'/*r fnmod\n", max_size=60))
def test_any_text_has_an_end(source: str) -> None:
    assert len(unit_tests_of(source)) <= len(source) + source.count("#[")
