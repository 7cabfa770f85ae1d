"""Real questions over documents that are installed here: Python packages' metadata, npm's manual.

Only the questions and what answers them are ours.
"""

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import distributions
from pathlib import Path

from tests.evals.asked import Asked, judge_all, rows
from tests.evals.data import Absent
from tests.evals.library_questions import NPM, NPM_HELD_OUT, PACKAGES, PACKAGES_HELD_OUT
from tests.evals.measuring import Row


def measure(_: Path) -> Iterable[Row]:
    """Yield the figures of both sets, of the questions that were held out apart."""
    sets = (
        ("packages", PACKAGES, PACKAGES_HELD_OUT, gather_packages),
        ("npm", NPM, NPM_HELD_OUT, gather_npm),
    )
    absent = []
    with tempfile.TemporaryDirectory(prefix="assay-eval-") as place:
        for name, seen, held_out, gather in sets:
            folder = Path(place) / name / "documents"
            folder.mkdir(parents=True)
            try:
                gather(folder)
            except Absent as reason:
                absent.append(str(reason))
                continue
            yield from _measured(f"libraries, {name}, tuned on", seen, folder)
            yield from _measured(f"libraries, {name}, held out", held_out, folder)
    if absent:
        raise Absent("; ".join(absent))


def _measured(name: str, questions: Sequence[Asked], folder: Path) -> Iterable[Row]:
    return rows(name, judge_all(folder, folder.parent / "cache", questions))


def gather_packages(folder: Path) -> None:
    """Write the metadata of every installed Python package into `folder`, named after it."""
    for package in distributions():
        text = package.read_text("METADATA")
        if text:
            (folder / f"{package.name}.txt").write_text(text, encoding="utf-8")
    if not (folder / "httpx.txt").exists():
        raise Absent("the packages that the questions are about are not installed")


def gather_npm(folder: Path) -> None:
    """Copy npm's manual into `folder`, as node installs it."""
    node = shutil.which("node")
    roots = [Path(node).resolve().parents[1]] if node else []
    for root in (*roots, Path("/usr"), Path("/usr/local")):
        manual = root / "lib/node_modules/npm/docs/content"
        if manual.is_dir():
            shutil.copytree(manual, folder, dirs_exist_ok=True)
            return
    raise Absent("npm and its manual are not installed")
