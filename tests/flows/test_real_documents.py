"""Real documents, real questions: verified quotes, and not one connection beyond loopback."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest

from tests.flows.command_line import PROGRAM, CommandLine
from tests.migrated import with_database

# Notes every address that the process, or a library in it, connects or resolves.
WATCHED = """
import os, sys
log = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        address = arguments[1] if event in ("socket.connect", "socket.sendto") else arguments[0]
        os.write(log, (event + " " + repr(address) + chr(10)).encode())
sys.addaudithook(watch)
from flows.cli import main
main()
"""
HARMLESS = re.compile(r"socket\.\w+ (\('(127\.0\.0\.1|::1)'|'(127\.0\.0\.1|localhost)'|b?'/)")


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    folder = tmp_path_factory.mktemp("real")
    made = CommandLine(with_database(folder / "home"), folder)
    yield made
    made.run("down")


@pytest.fixture(scope="module")
def cranfield(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cranfield")
    records = (shared_data / "data" / "cranfield" / "cran.all.1400").read_text().split("\n.I ")
    for record in records:
        number = record.removeprefix(".I ").partition("\n")[0]
        title = record.partition(".T\n")[2].partition("\n.A")[0]
        body = record.partition("\n.W\n")[2]
        (folder / f"{int(number):04}.txt").write_text(f"{title}\n\n{body}\n")
    return folder


@pytest.fixture(scope="module")
def readmes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write out the descriptions of every installed package."""
    folder = tmp_path_factory.mktemp("readmes")
    for distribution in distributions():
        text = str(distribution.metadata.json.get("description", ""))
        if len(text) > 500:
            (folder / f"{distribution.name}.md").write_text(text)
    return folder


def researched(assay: CommandLine, question: str, sources: Path) -> dict[str, Any]:
    """Answer `question` and return the result, once every one of its citations is verified."""
    ran = assay.run("research", question, "--sources", str(sources), "--json", "--quiet")
    result: dict[str, Any] = ran.json
    assert ran.code in (0, 5), ran.err
    audit = assay.run("verify", result["run_id"], "--json")
    assert audit.code == 0, audit.out
    assert audit.json["citations"] == audit.json["citations_verified"] == len(result["citations"])
    assert audit.json["sources"] == audit.json["sources_rederived"]
    return result


@pytest.mark.parametrize("number", [1, 2, 3])
def test_cranfield_s_questions_are_answered_by_quotes_of_relevant_abstracts(
    assay: CommandLine, cranfield: Path, shared_data: Path, number: int
) -> None:
    queries = (shared_data / "data" / "cranfield" / "cran.qry").read_text().split("\n.W\n")
    question = " ".join(queries[number].partition("\n.I")[0].split()).removesuffix(" .") + "?"
    judged = (shared_data / "data" / "cranfield" / "cranqrel").read_text().splitlines()
    rows = [row.split() for row in judged if row.split()]
    relevant = {f"{int(row[1]):04}" for row in rows if int(row[0]) == number and row[2] != "-1"}

    result = researched(assay, question, cranfield)

    cited = {Path(citation["locator"]).stem for citation in result["citations"]}
    assert cited & relevant
    for citation in result["citations"]:
        text = (cranfield / Path(citation["locator"]).name).read_text()
        assert citation["quote"] in text


@pytest.mark.parametrize(
    ("question", "answer", "file"),
    [
        ("What does the pluggy package provide?", "plugin", "pluggy"),
        ("How does hypothesis report a failing test case?", "simplest", "hypothesis"),
        ("What is httpcore?", "HTTP", "httpcore"),
    ],
)
def test_installed_packages_are_explained_by_quotes_of_their_own_descriptions(
    assay: CommandLine, readmes: Path, question: str, answer: str, file: str
) -> None:
    result = researched(assay, question, readmes)

    best = [
        citation
        for citation in result["citations"][:5]
        if Path(citation["locator"]).stem == file and answer in citation["quote"]
    ]
    assert best, json.dumps(result["citations"], indent=1)


def test_research_over_local_files_connects_to_nothing_but_prefect_on_loopback(
    assay: CommandLine, readmes: Path, tmp_path: Path
) -> None:
    log = tmp_path / "connections"
    program = [PROGRAM[0], "-c", WATCHED.format(log=str(log))]

    done = subprocess.run(
        [*program, "research", "What is anyio?", "--sources", str(readmes), "--quiet", "--json"],
        env=assay.environment(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.returncode in (0, 5), done.stderr
    connections = log.read_text().splitlines()
    assert connections
    assert [line for line in connections if not HARMLESS.match(line)] == []


def test_research_works_where_there_is_no_network_at_all(tmp_path: Path) -> None:
    """Runs in a network namespace that has nothing but its own loopback."""
    inside = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("unshare and ip are needed to make a network namespace")
    if subprocess.run([*inside, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("making a network namespace is not permitted here")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "loom.md").write_text("# Looms\n\nThe Varr loom has 96 shafts.\n")
    assay = CommandLine(tmp_path / "home", tmp_path / "notes")

    done = subprocess.run(
        [*inside, *PROGRAM, "research", "How many shafts has the Varr loom?", "--json", "--quiet",
         "--sources", str(assay.notes)],
        env={**assay.environment(), "CI": "true"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "96 shafts" in json.loads(done.stdout)["citations"][0]["quote"]
