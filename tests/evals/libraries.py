"""Real questions over documents that are installed here: Python packages' metadata, npm's manual.

Only the questions and what answers them are ours. Every second question was held out while the
researcher was made better.
"""

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import distributions
from pathlib import Path

from tests.evals.asked import Asked, judge_all, rows
from tests.evals.data import Absent
from tests.evals.measuring import Row

PACKAGES = (
    Asked("Which Python version does httpx require?", (r"Requires-Python: >=3\.8",)),
    Asked("What is the licence of attrs?", (r"License-Expression: MIT",)),
    Asked("Who is the author of pluggy?", (r"Holger Krekel",)),
    Asked("Which version of idna does anyio need?", (r"idna>=2\.8",)),
    Asked("What is uvicorn, and which protocols does it support?",
          (r"ASGI web server", r"HTTP/1\.1.*WebSockets")),
    Asked("How do I install tantivy?", (r"pip install tantivy",)),
    Asked("Which algorithm does aiolimiter implement?", (r"Leaky bucket",)),
    Asked("Compare the licences of attrs and packaging.",
          (r"MIT", r"Apache-2\.0 OR BSD-2-Clause")),
    Asked("On which asynchronous libraries does AnyIO work?", (r"asyncio.*Trio",)),
    Asked("Which GPUs does httpx support?", gap=True),
    Asked("Who maintains click?", (r"Pallets",)),
    Asked("What does HTTP Core not handle?", (r"does not handle redirects",)),
    Asked("Which projects use pluggy as their plugin system?", (r"pytest.*tox.*devpi",)),
    Asked("How can pypdf be installed with AES encryption?", (r"pypdf\[crypto\]",)),
    Asked("Since when has NASA trusted attrs for Mars missions?", (r"2020",)),
    Asked("Was ist Jinja?", (r"templating engine",)),
    Asked("What is the test client of Starlette built on?", (r"built on `httpx",)),
    Asked("httpx 需要哪个 Python 版本？", (r">=3\.8",)),
    Asked("How many lines does the simplest Typer example add to an app?", (r"only 2 lines",)),
    Asked("How many employees does the company behind rich have?", gap=True),
)  # fmt: skip

NPM = (
    Asked("What happens to an existing node_modules when npm ci begins?",
          (r"automatically removed",)),
    Asked("How many characters may the name of a package have?", (r"214 characters",)),
    Asked("When may new versions be published after unpublishing the entire package?",
          (r"24 hours",)),
    Asked("What is the default of fetch-timeout?", (r"300000 \(5 minutes\)",)),
    Asked("What is the default loglevel, and where are logs written?", (r"notice", r"_logs")),
    Asked("How do I turn off logs completely?", (r"--logs-max=0",)),
    Asked("Which four npmrc files are relevant?", (r"per-project config file|four relevant",)),
    Asked("Which characters begin a comment in .npmrc files?", (r"`;` or `#`",)),
    Asked("What is a scope in npm?", (r"way of grouping related packages",)),
    Asked("How much does an npm Enterprise licence cost?", gap=True),
    Asked("Where are executables linked in global mode on Unix?", (r"\{prefix\}/bin",)),
    Asked("How do I un-deprecate a package?", (r"empty string",)),
    Asked("Why should it never be necessary to clear the npm cache?",
          (r"For this reason|[Cc]ache corruption|self-healing",)),
    Asked("Which takes precedence, npm-shrinkwrap.json or package-lock.json?",
          (r"(?:take|takes) precedence",)),
    Asked("Can unscoped packages depend on scoped packages?",
          (r"Unscoped packages can depend on scoped",)),
    Asked("What is the default of maxsockets?", (r"Default: 15",)),
    Asked("How does npm ci differ from npm install?",
          (r"have an existing|exit with an error|meant to be used in automated",)),
    Asked("Which command runs dedupe in dry-run mode?", (r"npm find-dupes",)),
    Asked("Since which npm version does npm warn about unknown configuration keys?",
          (r"v11\.2\.0",)),
    Asked("In which year was npm founded?", gap=True),
)  # fmt: skip


def measure(_: Path) -> Iterable[Row]:
    """Yield the figures of both sets, of the half that was held out apart."""
    with tempfile.TemporaryDirectory(prefix="assay-eval-") as place:
        sets = (("packages", PACKAGES, gather_packages), ("npm", NPM, gather_npm))
        for name, questions, gather in sets:
            folder = Path(place) / name / "documents"
            folder.mkdir(parents=True)
            gather(folder)
            yield from _measured(name, questions, folder)


def _measured(name: str, questions: Sequence[Asked], folder: Path) -> Iterable[Row]:
    judged = judge_all(folder, folder.parent / "cache", questions)
    yield from rows(f"libraries, {name}", judged)
    yield from rows(f"libraries, {name}, held out", judged[1::2])


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
