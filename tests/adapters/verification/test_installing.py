"""Requirements that are none are refused; the others are installed and can be used by tests."""

import asyncio
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.sandbox.fake import FakeSandbox, finished
from adapters.sandbox.port import Sandbox
from adapters.verification import environments
from adapters.verification.installing import Index, IndexUnreachable, Installed, install
from adapters.verification.requirements import check_index, npm_requirement, pypi_requirement
from adapters.verification.verifying import verify
from state.values.code_plan import Requirement
from state.values.errors import InvalidRequest, ObstructedError
from state.values.verification import Verdict
from tests.adapters.verification.projects import PATIENT, write

PUBLIC = Index()
HOSTILE = [
    "--index-url=https://example.org", "-r other.txt", "-e .", "./here", "../there", "/etc/passwd",
    "https://example.org/x.whl", "git+https://example.org/x", "x @ file:///etc", "x; os_name=='a'",
    "x y", "x\n--pre", "$(id)", "`id`", "x|y", "", "-", "é", "x" * 200, "x --hash=y",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("ecosystem", ["pypi", "npm"])
def test_what_is_no_name_is_refused(name: str, ecosystem: str) -> None:
    check = pypi_requirement if ecosystem == "pypi" else npm_requirement

    with pytest.raises(InvalidRequest, match="nothing was installed"):
        check(Requirement(name, "", ecosystem))


@pytest.mark.parametrize(
    "specifier",
    ["@ https://example.org", ">=1 --pre", "==1;x", "~>1", ">=", "==1,", "\n-r x", "git://x", "^"],
)
def test_what_is_no_version_is_refused(specifier: str) -> None:
    with pytest.raises(InvalidRequest):
        pypi_requirement(Requirement("numpy", specifier))
    with pytest.raises(InvalidRequest):
        npm_requirement(Requirement("numpy", specifier + " file:x", "npm"))


@pytest.mark.parametrize(
    ("name", "specifier", "given"),
    [
        ("numpy", "", "numpy"),
        ("numpy", " >=1.26, <3 ", "numpy>=1.26,<3"),
        ("uvicorn[standard]", "~=0.30", "uvicorn[standard]~=0.30"),
        ("torch", "2.4.1", "torch==2.4.1"),
        ("torch", "==2.4.*", "torch==2.4.*"),
        ("x", "latest", "x"),
    ],
)
def test_python_requirements_are_spelled_as_pip_wants_them(
    name: str, specifier: str, given: str
) -> None:
    assert pypi_requirement(Requirement(name, specifier)) == given


@pytest.mark.parametrize(
    ("name", "specifier", "given"),
    [
        ("left-pad", "", "left-pad"),
        ("@types/node", "^20.1.0", "@types/node@^20.1.0"),
        ("jest", ">=29 <30 || 31.x", "jest@>=29 <30 || 31.x"),
        ("jest", "1.2 - 2.3", "jest@1.2 - 2.3"),
    ],
)
def test_npm_requirements_are_spelled_as_npm_wants_them(
    name: str, specifier: str, given: str
) -> None:
    assert npm_requirement(Requirement(name, specifier, "npm")) == given


@given(st.text(max_size=30), st.text(max_size=30))
def test_whatever_passes_is_one_word_that_names_a_package(name: str, specifier: str) -> None:
    try:
        spelled = pypi_requirement(Requirement(name, specifier))
    except InvalidRequest:
        return

    assert spelled[0].isalnum()
    assert not set(spelled) & set(" /\\:;@$`|&\n\t'\"")


@pytest.mark.parametrize("url", ["https://example.org/simple", "http://127.0.0.1:80/simple", ""])
def test_indexes_that_may_be_used(url: str) -> None:
    assert check_index(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/simple", "ftp://example.org", "file:///x", "--extra-index-url",
        "https://name:word@example.org/simple", "https://example.org/\n--pre", "https://",
    ],
)  # fmt: skip
def test_indexes_that_may_not_be_used(url: str) -> None:
    with pytest.raises(InvalidRequest):
        check_index(url)


def test_a_refused_requirement_is_an_outcome_that_says_so(tmp_path: Path) -> None:
    sandbox = FakeSandbox([])

    found = _install(sandbox, tmp_path / "there", Requirement("-r x"))

    assert (found.outcome, sandbox.asked_in_place) == ("failed", [])
    assert "'-r x' is no name" in found.reason
    assert environments.interpreter(tmp_path / "there").exists()


def test_other_ecosystems_are_an_outcome_that_says_so(tmp_path: Path) -> None:
    crates, conda = (
        _install(FakeSandbox([]), tmp_path, Requirement("serde", "", each))
        for each in ("crates", "conda")
    )

    assert (crates.outcome, conda.outcome) == ("failed", "failed")
    assert "'crates'" in crates.reason
    assert "'conda'" in conda.reason
    assert crates.environment_hash == conda.environment_hash  # nothing is in either


def test_what_is_there_already_is_not_asked_for(tmp_path: Path) -> None:
    found = _install(FakeSandbox([]), tmp_path, Requirement("pytest", ">=7"))

    assert (found.outcome, found.requirements) == ("nothing", ())
    assert any(each.startswith("pytest==") for each in found.packages)


def test_the_installer_gets_no_options_but_ours_and_a_network(tmp_path: Path) -> None:
    sandbox = FakeSandbox([finished(output=b"done")])

    found = _install(sandbox, tmp_path, Requirement("numpy", ">=1"), index=Index("https://a.org/s"))

    (command,) = sandbox.asked_in_place
    assert command.network
    assert command.argv[-2:] == ("--", "numpy>=1")
    assert {"--isolated", "--no-input", "--only-binary", "https://a.org/s"} <= set(command.argv)
    assert (found.outcome, found.log) == ("installed", "done")


def test_a_log_is_kept_without_secrets(tmp_path: Path) -> None:
    said = b"ERROR: cannot\nERROR: token=abcdefghij1234567890\n"

    found = _install(FakeSandbox([finished(1, output=said)]), tmp_path, Requirement("numpy"))

    assert (found.outcome, "abcdefghij" in found.log + found.reason) == ("failed", False)
    assert "ERROR: cannot" in found.reason


def test_an_index_out_of_reach_says_nothing_of_the_requirements(tmp_path: Path) -> None:
    said = b"WARNING: Retrying after connection broken by 'NewConnectionError'\nERROR: no\n"

    with pytest.raises(IndexUnreachable, match="resume"):
        _install(FakeSandbox([finished(1, output=said)]), tmp_path, Requirement("numpy"))


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, {"thesis.txt": "years of work"})

    with pytest.raises(InvalidRequest, match="holds something else"):
        _install(FakeSandbox([]), tmp_path, Requirement("numpy"))

    assert (tmp_path / "thesis.txt").exists()


def test_a_missing_environment_is_no_failure_of_the_code(tmp_path: Path) -> None:
    workspace = write(tmp_path / "code", {"test_it.py": "def test_it(): pass\n"})

    with pytest.raises(ObstructedError, match="install the dependencies again"):
        asyncio.run(verify(workspace, FakeSandbox([]), frozen=None, environment=tmp_path / "no"))


def test_an_environment_that_cannot_be_written_is_no_failure_of_the_code(tmp_path: Path) -> None:
    (tmp_path / "lib").touch()

    with pytest.raises(environments.NoRoom, match="could not be written"):
        environments.create(tmp_path)


@pytest.mark.timeout(600)
def test_wheels_are_installed_and_seen_by_tests_with_their_plugins(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    """Cases: F 52."""
    wheels = tmp_path / "wheels"
    _wheel(wheels, "tiny", {"tiny.py": "VALUE = 1\n"})
    entries = "[pytest11]\nplug = plug\n[console_scripts]\nplug = plug:say\n"
    points = {"plug-1.0.dist-info/entry_points.txt": entries}
    plugin = (
        "import pytest, tiny\n"
        "@pytest.fixture\ndef plugged():\n    return tiny.VALUE\n"
        "def say():\n    print('said')\n"
    )
    _wheel(wheels, "plug", {"plug.py": plugin, **points}, requires=("tiny>=1", "pytest"))
    tests = (
        "import subprocess, tiny\n"
        "def test_it(plugged):\n    assert plugged == tiny.VALUE\n"
        "def test_script():\n    assert subprocess.check_output(['plug']) == b'said\\n'\n"
    )
    target = tmp_path / "there"

    found = _install(sandbox, target, Requirement("plug", "1.0"), index=Index(wheels=wheels))
    workspace = write(tmp_path / "code", {"test_it.py": tests})
    verified = asyncio.run(
        verify(workspace, sandbox, frozen=None, environment=target, limits=PATIENT)
    )
    again = _install(sandbox, target, Requirement("absent"), index=Index(wheels=wheels))

    assert found.outcome == "installed", found
    assert {"plug==1.0", "tiny==1.0"} <= set(found.packages)
    assert (again.outcome, "absent" in again.reason) == ("failed", True)
    assert again.environment_hash != found.environment_hash
    assert verified.verdict is Verdict.PASSED, verified


def _install(
    sandbox: Sandbox, target: Path, *requirements: Requirement, index: Index = PUBLIC
) -> Installed:
    return asyncio.run(install(requirements, sandbox, target, index=index, limits=PATIENT))


def _wheel(
    folder: Path, name: str, files: Mapping[str, str], *, requires: tuple[str, ...] = ()
) -> None:
    """Make a wheel of version 1.0 (PyPA, "Binary distribution format")."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    about = f"{name}-1.0.dist-info"
    needed = "".join(f"Requires-Dist: {each}\n" for each in requires)
    contents = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needed}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    listed = "".join(f"{path},,\n" for path in [*contents, f"{about}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, content in {**contents, f"{about}/RECORD": listed}.items():
            wheel.writestr(path, content)
