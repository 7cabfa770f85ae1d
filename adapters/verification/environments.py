"""The clean environment that Python code is verified in: pytest, what was installed, no more.

It has the form of a virtual environment, so that the tests' own child processes are in it too. What
Assay itself is installed with is not to be seen in it: pytest is copied there by the files that
its distribution lists, and so is all that pytest requires.
"""

import compileall
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import cache_from_source
from pathlib import Path

from state.values.errors import ObstructedError

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_OLDER = re.compile(r"python_version\s*<\s*[\"'](\d+)\.(\d+)[\"']")
_NOT_NEEDED = re.compile(r"/pygments/(?:styles/|lexers/(?!__init__|_mapping|python))")
_LIBRARY = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


class NoPytest(ObstructedError):
    """There is no pytest beside Assay that a clean environment could be given."""

    code = "PYTEST_MISSING"


class NoRoom(ObstructedError):
    """The environment could not be written here."""

    code = "ENVIRONMENT_NOT_WRITTEN"


@contextmanager
def writing(environment: Path) -> Iterator[None]:
    """Raise what the system refuses in this block as `NoRoom`: it says nothing about the code."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)[-200:]
        raise NoRoom(
            f"the environment for the tests could not be written to {environment}: {why}; make "
            "room there, or set TMPDIR to a folder that has some"
        ) from error


def site_packages(environment: Path) -> Path:
    """Return the folder of an environment that Python packages are installed into."""
    return environment / _LIBRARY


def interpreter(environment: Path) -> Path:
    """Return the Python of an environment."""
    return environment / "bin" / "python"


def base_python() -> Path:
    """Return the interpreter behind this one, outside of any virtual environment."""
    base: str = getattr(sys, "_base_executable", sys.executable)
    return Path(base).resolve()


def provided() -> dict[str, str]:
    """Return what every environment holds from the start: versions by normalised name.

    Raises `NoPytest`.
    """
    return {normalised(each.name): each.version for each in _distributions()}


def normalised(requirement: str) -> str:
    """Return the name that a requirement starts with, as names are compared (PyPA)."""
    name = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", name[0] if name else requirement).lower()


def create(environment: Path) -> None:
    """Make an environment in the folder `environment`, which is made with those above it.

    Everybody may read it, since the sandbox runs as nobody. Raises `NoPytest` and `NoRoom`.
    """
    distributions = _distributions()
    with writing(environment):
        _write(environment, distributions)


def _write(environment: Path, distributions: tuple[Distribution, ...]) -> None:
    library = site_packages(environment)
    (environment / "bin").mkdir(parents=True)
    library.mkdir(parents=True)
    python = base_python()
    version = ".".join(str(part) for part in sys.version_info[:3])
    (environment / "pyvenv.cfg").write_text(
        f"home = {python.parent}\ninclude-system-site-packages = false\nversion = {version}\n"
    )
    for name in ("python", "python3"):
        (environment / "bin" / name).symlink_to(python)
    for each in distributions:
        _copy(each, library)
    # The sandbox cannot keep byte code: what is not there is compiled again in every run.
    compileall.compile_dir(library, quiet=2, rx=_NOT_NEEDED)
    for folder in (environment, *(each for each in environment.rglob("*") if each.is_dir())):
        folder.chmod(0o755)


def _distributions() -> tuple[Distribution, ...]:
    """Return pytest and all that it requires here, by name."""
    found: dict[str, Distribution] = {}
    wanted = ["pytest"]
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError as error:
            if name == "pytest":
                raise NoPytest(
                    "pytest is not installed beside Assay; install it there to verify Python code"
                ) from error
            continue  # required for another system or Python
        wanted += list(_required(found[name]))
    return tuple(found[name] for name in sorted(found))


def _required(of: Distribution) -> Iterator[str]:
    """Yield what a distribution requires here; that pytest needs elsewhere is not copied."""
    for line in of.requires or ():
        needed, _, condition = line.partition(";")
        older = _OLDER.search(condition)
        applies = not condition.strip() or (
            older is not None and sys.version_info < (int(older[1]), int(older[2]))
        )
        if applies and (name := _NAME.match(needed)) is not None:
            yield normalised(name[0])


def _copy(of: Distribution, library: Path) -> None:
    for file in of.files or ():
        source = Path(str(of.locate_file(file)))
        if file.is_absolute() or ".." in file.parts or not source.is_file():
            continue
        _copy_one(source, library / file)
        if source.suffix == ".py":
            compiled = Path(cache_from_source(str(source)))
            if compiled.is_file():  # not always among the files that are listed
                _copy_one(compiled, Path(cache_from_source(str(library / file))))


def _copy_one(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)  # with its time, which byte code is valid for
    target.chmod(0o644)
