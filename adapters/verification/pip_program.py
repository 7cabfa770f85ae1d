"""The pip that installs into clean environments, which have none of their own."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from adapters.verification import environments
from state.values.errors import ObstructedError


class NoPip(ObstructedError):
    """There is no pip on this machine that could be used."""

    code = "PIP_MISSING"


def copy_pip(folder: Path) -> Path:
    """Copy pip, and nothing that lies beside it, into `folder`; return what Python is to run.

    It is that beside Assay, else that of the Python below it, else the one that Python brings to
    install it with. Raises `NoPip`.
    """
    beside = find_spec("pip")
    base = environments.site_packages(environments.base_python().parent.parent)
    for package in (Path(beside.origin).parent if beside and beside.origin else None, base / "pip"):
        if package is not None and (package / "__main__.py").is_file():
            shutil.copytree(package, folder / "pip")
            return folder / "pip"
    bundled = find_spec("ensurepip")
    wheels = Path(bundled.origin).parent / "_bundled" if bundled and bundled.origin else base
    for wheel in sorted(wheels.glob("pip-*.whl")):
        shutil.copyfile(wheel, folder / wheel.name)
        return folder / wheel.name / "pip"
    raise NoPip("there is no pip to install dependencies with; install pip beside Assay")
