"""Projects whose tests pass, in every form that is found, and what is seen from inside of them."""

import os
from pathlib import Path

import pytest

from adapters.sandbox.port import Sandbox
from state.values.verification import Verdict, Verification
from tests.adapters.verification.projects import PASSING, Files, verify_all

KEPT = "assay-verification-secret-9d1"

PROJECTS: dict[str, Files] = {
    "tests inside of the package": {
        "src/pkg/__init__.py": "VALUE = 1\n",
        "src/pkg/tests/__init__.py": "",
        "src/pkg/tests/test_value.py": (
            "import subprocess, sys\n"
            "from pkg import VALUE\n"
            "def test_value():\n    assert VALUE == 1\n"
            "def test_a_child_process_finds_it():\n"
            "    subprocess.run([sys.executable, '-c', 'import pkg'], check=True)\n"
        ),
    },
    "a project one folder down": {
        "README.md": "# Read me\n",
        "project/model.py": "VALUE = 1\n",
        "project/tests/test_model.py": (
            "from model import VALUE\ndef test_value():\n    assert VALUE == 1\n"
        ),
    },
    "every form of a test": {
        "test_forms.py": (
            "import functools, unittest\n"
            "from unittest import mock\n"
            "import pytest\n"
            "@pytest.fixture(scope='module')\n"
            "def test_client():\n    yield 1\n"
            "@pytest.mark.parametrize('number', [1, 2])\n"
            "def test_numbers(test_client, number):\n    assert number\n"
            "@mock.patch('os.getcwd')\n"
            "def test_patched(patched):\n    patched()\n"
            "def careless(function):\n"
            "    def run():\n        function()\n    return run\n"
            "@careless\n"
            "def test_wrapped():\n    pass\n"
            "class TestMethods:\n"
            "    @staticmethod\n"
            "    def test_static():\n        pass\n"
            "    def test_bound(self, tmp_path, capsys):\n        assert tmp_path.is_dir()\n"
            "class Case(unittest.TestCase):\n"
            "    def test_equal(self):\n        self.assertEqual(1, 1)\n"
            "    @unittest.expectedFailure\n"
            "    def test_expected(self):\n        self.fail()\n"
        )
    },
    "a file that asks for what is not there": {
        "test_it.py": PASSING,
        "test_other.py": (
            "import pytest\nmissing = pytest.importorskip('not_there_at_all')\n"
            "def test_other():\n    assert False\n"
        ),
    },
    "modules of one name, imported by an option": {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-x --import-mode=importlib'\n",
        "a/test_it.py": PASSING,
        "b/test_it.py": PASSING,
    },
    "others' tests beside it": {
        "test_it.py": PASSING,
        "third_party/test_theirs.py": "def test_it():\n    assert False\n",
        "env/pyvenv.cfg": "",
        "env/test_theirs.py": "def test_it():\n    assert False\n",
    },
    "a server on loopback": {
        "test_server.py": (
            "import http.server, threading, urllib.request\n"
            "def test_it_answers():\n"
            "    kind = http.server.SimpleHTTPRequestHandler\n"
            "    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), kind)\n"
            "    threading.Thread(target=server.serve_forever, daemon=True).start()\n"
            "    url = f'http://127.0.0.1:{server.server_port}/'\n"
            "    assert urllib.request.urlopen(url, timeout=20).status == 200\n"
            "    server.shutdown()\n"
        )
    },
    "a clean environment": {
        "test_environment.py": (
            "import importlib.util, os, pytest\n"
            "@pytest.mark.parametrize('name', ['duckdb', 'prefect', 'adapters', 'hypothesis'])\n"
            "def test_what_nobody_required_is_not_there(name):\n"
            "    assert importlib.util.find_spec(name) is None\n"
            "def test_no_variable_of_ours_is_there():\n"
            f"    assert not any({KEPT!r} in value for value in os.environ.values())\n"
            "def test_nothing_outside_is_written():\n"
            "    with pytest.raises(OSError):\n"
            "        open(os.environ.get('OUTSIDE', '/usr/outside'), 'w')\n"
        )
    },
    "a daemon that is left behind": {
        "test_daemon.py": (
            "import subprocess\n"
            "def test_it_is_started():\n"
            "    subprocess.Popen(['setsid', 'sleep', '3600'], stdout=subprocess.DEVNULL)\n"
        )
    },
}


@pytest.fixture(scope="module")
def found(
    tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox, environment: Path
) -> dict[str, Verification]:
    """Return what was found of each project, verified while a secret is in our environment."""
    os.environ["SOME_API_KEY"] = KEPT
    try:
        return verify_all(PROJECTS, tmp_path_factory, sandbox, environment)
    finally:
        del os.environ["SOME_API_KEY"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", PROJECTS)
def test_what_passes_is_found_and_counted(name: str, found: dict[str, Verification]) -> None:
    """Cases: F 52; H 65, 71; measured, secrets, daemons and places of tests."""
    assert found[name].verdict is Verdict.PASSED, found[name]
    assert found[name].counts.executed == found[name].counts.passed > 0
    assert not found[name].reason


def test_each_test_is_counted_once(found: dict[str, Verification]) -> None:
    counts = found["every form of a test"].counts

    assert (counts.executed, counts.skipped) == (7, 1)


def test_a_skipped_file_is_counted_as_such(found: dict[str, Verification]) -> None:
    (result,) = found["a file that asks for what is not there"].commands

    assert (result.exit_code, result.counted_by[:6]) == (0, "pytest")


def test_an_inner_project_is_tested_where_it_lies(found: dict[str, Verification]) -> None:
    (result,) = found["a project one folder down"].commands

    assert result.name == "python -m pytest -q (in project)"


def test_the_level_of_confinement_is_recorded(
    found: dict[str, Verification], sandbox: Sandbox
) -> None:
    assert found["a clean environment"].level == str(sandbox.level)
