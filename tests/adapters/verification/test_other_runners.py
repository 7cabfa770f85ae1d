"""Node's runner and Cargo: what their exit codes say, and what they ran."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.sandbox import toolchains
from adapters.sandbox.port import Sandbox
from state.values.verification import Verdict, Verification
from tests.adapters.verification.projects import Files, verify_all

_TEST = "const test = require('node:test');\nconst assert = require('node:assert');\n"
_MANIFEST = "[package]\nname = 'made'\nversion = '0.1.0'\nedition = '2021'\n"


def _npm(script: str, files: Mapping[str, str]) -> Files:
    package = json.dumps({"name": "made", "scripts": {"test": script}})
    return {"package.json": b"\xef\xbb\xbf" + package.encode(), **files}


def _rust(tests: str, body: str = "") -> Files:
    source = f"pub fn one() -> i32 {{ 1 }}\n{body}\n#[cfg(test)]\nmod tests {{\n{tests}\n}}\n"
    return {"Cargo.toml": _MANIFEST, "src/lib.rs": source}


NODE: dict[str, tuple[Files, Verdict, str]] = {
    "a test passes": (
        _npm("node --test", {"test/a.test.js": _TEST + "test('ok', () => {});"}),
        Verdict.PASSED,
        "",
    ),
    "a helper lies beside it": (
        _npm(
            "node -p 1 && NODE_ENV=test node --test",
            {"test/a.test.js": _TEST + "test('ok', () => {});", "test/help.js": "exports.x = 1;"},
        ),
        Verdict.PASSED,
        "",
    ),
    "a test fails": (
        _npm("node --test", {"test/a.test.js": _TEST + "test('no', () => assert(false));"}),
        Verdict.FAILED,
        "1 of 1 tests failed",
    ),
    "there is no test in the file": (
        _npm("node --test", {"test/a.test.js": "console.log('fine');"}),
        Verdict.NOT_EXECUTED,
        "no test was executed",
    ),
    "a test ends its process": (
        _npm(
            "node --test",
            {
                "test/a.test.js": _TEST
                + "test('a', () => process.exit(0)); test('b', () => assert(false));",
                "test/b.test.js": _TEST + "test('ok', () => {});",
            },
        ),
        Verdict.NOT_EXECUTED,
        "none of the tests was reported: test/a.test.js",
    ),
    "all is skipped": (
        _npm("node --test", {"test/a.test.js": _TEST + "test('s', {skip: true}, () => {});"}),
        Verdict.NOT_EXECUTED,
        "1 skipped",
    ),
    "a file is left out": (
        _npm(
            "node --test test/easy.test.js",
            {
                "test/easy.test.js": _TEST + "test('ok', () => {});",
                "test/hard.spec.ts": _TEST + "test('no', () => assert(false));",
                "test/data.test.js": "export const rows = [];",
            },
        ),
        Verdict.NOT_EXECUTED,
        "of these files no test was run: test/hard.spec.ts",
    ),
    "the shell forgets a failure": (
        _npm("node --test || true", {"test/a.test.js": _TEST + "test('n', () => assert(0));"}),
        Verdict.NOT_EXECUTED,
        "could not be counted",
    ),
    "a script of its own": (
        _npm("node check.js", {"check.js": "require('node:assert')(true);"}),
        Verdict.NOT_EXECUTED,
        "could not be counted",
    ),
}

CARGO: dict[str, tuple[Files, Verdict, str]] = {
    "a test passes": (
        _rust("#[test] fn one() { assert_eq!(super::one(), 1); }"),
        Verdict.PASSED,
        "",
    ),
    "there are no tests": (_rust(""), Verdict.NOT_EXECUTED, "no test was executed"),
    "a test fails": (
        _rust("#[test] fn no() { assert!(false); }\n#[test] #[ignore] fn later() {}"),
        Verdict.FAILED,
        "1 of 1 tests failed",
    ),
    "a test ends its process": (
        _rust("#[test] fn a() { std::process::exit(0); }\n#[test] fn b() { assert!(false); }"),
        Verdict.NOT_EXECUTED,
        "2 of the tests that there are did not run",
    ),
    "tests are left out, and others count themselves": (
        {
            **_rust("#[test] fn no() { assert!(false); }"),
            "Cargo.toml": _MANIFEST
            + "autotests = false\n[lib]\ntest = false\n"
            + "[[test]]\nname = 'own'\nharness = false\n",
            "tests/own.rs": 'fn main() { println!("test result: ok. 5 passed; 0 failed; 0 ignored;'
            ' 0 measured; 0 filtered out"); }',
            "tests/gone.rs": "#[test]\nfn no_more() { assert!(false); }\n",
        },
        Verdict.NOT_EXECUTED,
        (
            "2 tests that the files define were never collected: src/lib.rs::no,"
            " tests/gone.rs::no_more; its tests count themselves (harness = false): Cargo.toml"
        ),
    ),
    "it does not build": (_rust("", "fn broken( {"), Verdict.FAILED, "could not be run"),
}


@pytest.fixture(scope="module")
def of_node(
    tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox, environment: Path
) -> dict[str, Verification]:
    """Return what was found of each project for Node."""
    if toolchains.npm() is None:
        pytest.skip("npm is not on this machine")
    projects = {name: files for name, (files, _, _) in NODE.items()}
    return verify_all(projects, tmp_path_factory, sandbox, environment)


@pytest.fixture(scope="module")
def of_cargo(
    tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox, environment: Path
) -> dict[str, Verification]:
    """Return what was found of each project for Cargo."""
    if toolchains.cargo() is None:
        pytest.skip("cargo is not on this machine")
    projects = {name: files for name, (files, _, _) in CARGO.items()}
    return verify_all(projects, tmp_path_factory, sandbox, environment)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NODE)
def test_a_script_passes_only_when_its_tests_ran(
    name: str, of_node: dict[str, Verification]
) -> None:
    """Cases: measured, false greens of npm."""
    _, verdict, reason = NODE[name]

    assert of_node[name].verdict is verdict, of_node[name]
    assert reason in of_node[name].reason


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CARGO)
def test_cargo_passes_only_when_every_listed_test_ran(
    name: str, of_cargo: dict[str, Verification]
) -> None:
    """Cases: measured, cargo without a test."""
    _, verdict, reason = CARGO[name]

    assert of_cargo[name].verdict is verdict, of_cargo[name]
    assert reason in of_cargo[name].reason


def test_results_say_how_they_were_counted(of_node: dict[str, Verification]) -> None:
    (counted,) = of_node["a test passes"].commands
    (uncounted,) = of_node["a script of its own"].commands

    assert counted.counted_by
    assert (uncounted.counts, uncounted.counted_by) == (None, "")
