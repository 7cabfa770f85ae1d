"""Projects whose test command ends with code 0, or could, without their tests having passed."""

import py_compile
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from adapters.sandbox.port import Sandbox
from state.values.verification import Verdict, Verification
from tests.adapters.verification.projects import FAILING, PASSING, Files, verify_all


@dataclass(frozen=True, slots=True)
class Case:
    """A project, what is to be said of it, and words that the reason must have."""

    files: Files
    verdict: Verdict
    reason: str


def _failed(files: Files, reason: str = "1 of 1 tests failed") -> Case:
    return Case(files, Verdict.FAILED, reason)


def _not_run(files: Files, reason: str) -> Case:
    return Case(files, Verdict.NOT_EXECUTED, reason)


def _with_conftest(body: str, tests: str = FAILING) -> Files:
    return {"test_it.py": tests, "conftest.py": body}


def _compiled(source: str) -> bytes:
    """Return byte code that Python uses whatever the source beside it says (PEP 552)."""
    with TemporaryDirectory() as folder:
        module, compiled = Path(folder, "module.py"), Path(folder, "module.pyc")
        module.write_text(source)
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(module), str(compiled), invalidation_mode=mode)
        return compiled.read_bytes()


_REWRITING = (
    "import pytest\n"
    "@pytest.hookimpl(hookwrapper=True)\n"
    "def pytest_runtest_makereport(item, call):\n"
    "    outcome = yield\n"
    "    report = outcome.get_result()\n"
    "    if report.failed:\n"
)

_UNRUN = ("test_taken", "test_replaced", "test_tried", "test_passed_over", "test_uncalled")

CASES: dict[str, Case] = {
    # Options of the project's that choose what is run.
    "only collected": _failed(
        {"test_it.py": FAILING, "pytest.ini": "[pytest]\naddopts = --collect-only\n"}
    ),
    "only collected, says a table": _failed(
        {"test_it.py": FAILING, "pyproject.toml": "[tool.pytest]\naddopts = ['--co']\n"}
    ),
    "deselected by an option": _failed(
        {"test_it.py": PASSING + FAILING, "tox.ini": "[pytest]\naddopts = -k good\n"},
        "1 of 2 tests failed",
    ),
    "plugins switched off by an option": _failed(
        {"test_it.py": FAILING, "setup.cfg": "[tool:pytest]\naddopts = -p no:python\n"}
    ),
    "looked for elsewhere, called something else, left out": _not_run(
        {
            "pytest.ini": "[pytest]\ntestpaths = easy\npython_functions = test_good\n",
            "easy/conftest.py": "collect_ignore = ['test_left.py']\n",
            "easy/test_easy.py": PASSING + FAILING,
            "easy/test_left.py": PASSING,
            "tests/test_it.py": FAILING,
        },
        (
            "3 tests that the files define were never collected: easy/test_easy.py::test_bad,"
            " easy/test_left.py::test_good, tests/test_it.py::test_bad"
        ),
    ),
    # Tests that do not run.
    "all skipped, or expected to fail": _not_run(
        {
            "test_it.py": "import pytest\n@pytest.mark.skip\n"
            + FAILING
            + "@pytest.mark.xfail\ndef test_expected():\n    assert False\n"
        },
        "no test was executed, 2 skipped",
    ),
    "tests that only seem to pass, and a warning ignored": _failed(
        {
            "test_it.py": (
                "def test_returns():\n    return False\n"
                "async def test_is_not_awaited():\n    assert False\n"
                "def test_exits():\n    raise SystemExit(0)\n"
            ),
            "pytest.ini": "[pytest]\nfilterwarnings = ignore\n",
        },
        "3 of 3 tests failed",
    ),
    "an empty file": _failed({"tests/test_it.py": ""}, "exit code 5"),
    # The process ends early.
    "conftest ends the process": _not_run(
        _with_conftest("import os\nos._exit(0)\n"), "could not be counted"
    ),
    "a test ends the process": _not_run(
        {"test_it.py": PASSING + "def test_end():\n    import os\n    os._exit(0)\n" + FAILING},
        "ended before its tests did",
    ),
    "a module exits": _failed(
        {"test_it.py": PASSING + "import sys\nsys.exit(0)\n"}, "ended with exit code 3"
    ),
    "a test ends the session": _failed(
        {"test_it.py": "import pytest\ndef test_it():\n    pytest.exit('ok', returncode=0)\n"},
        "reported as something else",
    ),
    "the session's status and the exit code are changed": _failed(
        _with_conftest(
            "import atexit, os\natexit.register(os._exit, 0)\n"
            "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
        )
    ),
    # conftest files that say something else than what happened.
    "failures, and a fixture's fault, reported as passed": _failed(
        _with_conftest(
            _REWRITING + "        report.outcome = 'passed'\n",
            "import pytest\n@pytest.fixture\ndef made():\n    yield\n    raise ValueError\n"
            "def test_it(made):\n    pass\n" + FAILING,
        ),
        (
            "1 of 1 tests failed, 1 could not be run to the end; of these were reported as"
            " something else: test_it.py::test_it, test_it.py::test_bad"
        ),
    ),
    "failures reported as skipped": _failed(
        _with_conftest(
            _REWRITING + "        report.outcome, report.longrepr = 'skipped', ('', 1, '')\n",
            PASSING + FAILING,
        ),
        "reported as something else: test_it.py::test_bad",
    ),
    "failures swallowed": _failed(
        _with_conftest(
            "import pytest\n"
            "@pytest.hookimpl(hookwrapper=True, trylast=True)\n"
            "def pytest_runtest_call(item):\n"
            "    outcome = yield\n"
            "    outcome.force_result(None)\n"
        ),
        "reported as something else",
    ),
    "tests taken out, replaced, passed over, not called, or tried again without": _not_run(
        _with_conftest(
            "def pytest_collection_modifyitems(items):\n"
            "    items[:] = [each for each in items if each.name != 'test_taken']\n"
            "    for each in items:\n"
            "        if each.name == 'test_replaced':\n            each.obj = lambda: None\n"
            "        if each.name == 'test_tried':\n"
            "            each.runtest = twice(each, each.runtest)\n"
            "def twice(item, run):\n"
            "    def again():\n"
            "        try:\n            run()\n"
            "        except AssertionError:\n"
            "            item.obj = lambda: None\n            run()\n"
            "    return again\n"
            "def pytest_runtest_protocol(item, nextitem):\n"
            "    return True if item.name == 'test_passed_over' else None\n"
            "def pytest_pyfunc_call(pyfuncitem):\n"
            "    return True if pyfuncitem.name == 'test_uncalled' else None\n",
            PASSING + "".join(f"def {name}():\n    assert False\n" for name in _UNRUN),
        ),
        "5 of the tests that there are did not run: "
        + ", ".join(f"test_it.py::{name}" for name in _UNRUN),
    ),
    "failures expected afterwards": _failed(
        _with_conftest(
            "import pytest\n"
            "def pytest_collection_modifyitems(items):\n"
            "    for item in items:\n"
            "        item.add_marker(pytest.mark.xfail)\n",
            PASSING + FAILING,
        ),
        "reported as something else: test_it.py::test_bad",
    ),
    "the watch taken off": _failed(
        _with_conftest(
            "def pytest_configure(config):\n"
            "    for name, plugin in list(config.pluginmanager.list_name_plugin()):\n"
            "        if type(plugin).__name__ == 'Watch':\n"
            "            config.pluginmanager.unregister(plugin)\n"
        ),
        "ended with exit code 1",
    ),
    "assertions that skip": _not_run(
        _with_conftest(
            "import builtins, pytest\nbuiltins.AssertionError = pytest.skip.Exception\n"
        ),
        "no test was executed",
    ),
    # What is tested has a say in it.
    "tests excused by what they test": _not_run(
        {
            "model.py": (
                "import unittest, pytest\n"
                "def skip():\n    pytest.skip('later')\n"
                "def expect():\n    pytest.xfail('known')\n"
                "def leave():\n    raise unittest.SkipTest('later')\n"
            ),
            "absent.py": "import pytest\npytest.skip('no', allow_module_level=True)\n",
            "test_absent.py": "import absent\ndef test_it():\n    assert False\n",
            "test_it.py": (
                "import unittest, model\n"
                "def test_good():\n    pass\n"
                "def test_skipped():\n    model.skip()\n"
                "def test_expected():\n    model.expect()\n"
                "class TestCase(unittest.TestCase):\n"
                "    def test_left(self):\n        model.leave()\n"
            ),
        },
        "3 of the tests that there are did not run: test_it.py::test_skipped,"
        " test_it.py::test_expected, test_it.py::TestCase::test_left;"
        " 1 tests that the files define were never collected: test_absent.py::test_it",
    ),
    "what tests assert with replaced": _not_run(
        {
            "test_it.py": "import model\n" + PASSING,
            "model.py": (
                "import builtins, unittest, pytest\n"
                "builtins.all = pytest.approx = lambda *given: True\n"
                "unittest.TestCase.assertEqual = lambda *given: None\n"
            ),
        },
        "replaced: builtins.all, pytest.approx, unittest.TestCase.assertEqual",
    ),
    "tests replaced as they are imported": _not_run(
        {
            "test_it.py": FAILING + "def test_code():\n    assert False\nimport model\n",
            "model.py": (
                "import sys\n"
                "frame = sys._getframe()\n"
                "while 'test_bad' not in frame.f_globals:\n    frame = frame.f_back\n"
                "frame.f_globals['test_bad'] = lambda: None\n"
                "frame.f_globals['test_code'].__code__ = (lambda: None).__code__\n"
            ),
        },
        "in the place of 2 tests: test_it.py::test_bad, test_it.py::test_code",
    ),
    "a record forged by a child process": _not_run(
        {
            "test_it.py": (
                "import os\n"
                "def test_it():\n"
                "    child = os.fork()\n"
                "    if child:\n"
                "        os.waitpid(child, 0)\n        os._exit(0)\n"
            ),
            "conftest.py": (
                "import os, pytest\n"
                "@pytest.hookimpl(trylast=True)\n"
                "def pytest_unconfigure():\n    os._exit(0)\n"
            ),
        },
        "could not be counted",
    ),
    # Modules in the place of those that run the tests, and forged results.
    "pytest in the workspace": _failed(
        {
            "test_it.py": FAILING,
            "pytest.py": "print('1 passed')\n",
            "_pytest/__init__.py": "raise SystemExit(0)\n",
            "pluggy.py": "raise SystemExit(0)\n",
            "sitecustomize.py": "import os\nos._exit(0)\n",
            "usercustomize.py": "import os\nos._exit(0)\n",
        }
    ),
    "results written by a test": _not_run(
        {
            "test_it.py": (
                "import os, pathlib\n"
                'xml = \'<testsuite tests="9" failures="0"/>\'\n'
                "pathlib.Path('junit.xml').write_text(xml)\n"
                "for path in pathlib.Path().glob('.assay-*'):\n"
                '    path.write_text(\'{"end": true, "sums": {"passed": 9}}\')\n'
                "os._exit(0)\n"
            )
        },
        "could not be counted",
    ),
    "the order looked for": _failed(
        {
            "test_it.py": (
                "import os, sys\n"
                "def test_it():\n"
                "    said = open('/proc/self/cmdline').read() + str(os.environ)\n"
                "    assert 'nonce' in said + str(sys.orig_argv) + sys.stdin.read()\n"
            )
        }
    ),
    "byte code that is not the source's": _failed(
        {
            "test_it.py": "import judge\n\ndef test_it():\n    assert judge.RIGHT\n",
            "judge.py": "RIGHT = False\n",
            f"__pycache__/judge.{sys.implementation.cache_tag}.pyc": _compiled("RIGHT = True\n"),
        }
    ),
}


@pytest.fixture(scope="module")
def found(
    tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox, environment: Path
) -> dict[str, Verification]:
    """Return what was found of each project."""
    projects = {name: case.files for name, case in CASES.items()}
    return verify_all(projects, tmp_path_factory, sandbox, environment)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CASES)
def test_what_is_not_a_pass_is_not_taken_for_one(name: str, found: dict[str, Verification]) -> None:
    """Cases: measured, false greens of pytest."""
    case = CASES[name]

    assert found[name].verdict is case.verdict, found[name]
    assert case.reason in found[name].reason
