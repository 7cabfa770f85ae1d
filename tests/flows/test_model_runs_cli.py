"""What the command line says of a model before it is asked."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.models.chat.openai_server import OpenAiServer, serving
from tests.flows.answerer import Answerer
from tests.flows.command_line import NOTES, CommandLine
from tests.migrated import with_database

pytestmark = pytest.mark.xdist_group("command line with a model")
QUESTION = "How long are Meridian audit logs kept?"


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAiServer]:
    with serving(answer=Answerer()) as server:
        yield server


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    folder = tmp_path_factory.mktemp("assay")
    notes = folder / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    line = CommandLine(with_database(folder / "home"), notes)
    yield line
    line.look("down")


def test_how_much_a_run_may_take_is_said_before_the_first_call(
    assay: CommandLine, model: OpenAiServer, tmp_path: Path
) -> None:
    """Cases: B5 59."""
    env = {
        "ASSAY_MODEL_URL": model.base_url,
        "ASSAY_MODEL_INPUT_USD": "1",
        "ASSAY_MODEL_OUTPUT_USD": "4",
    }
    given = ["research", QUESTION, "-s", str(assay.notes), "--model", "served"]

    ran = assay.run(*given, "--run-id", "told", "--json", "--stop-after", "plan", env=env)

    spent = r"\d+ model calls and [\d,]+ tokens for \d+\.\d\d US dollars"
    told = re.search(f"served may be asked for about {spent}; at most {spent}", ran.err)
    assert told is not None, ran.err
    assert "planning" not in ran.err[: told.start()]
    assert ran.json["run_id"] == "told"

    again = assay.run(*given, "--run-id", "told", "--json", "--quiet", env=env)
    assert "may be asked for" not in again.err
    assert again.json["answer_status"] == "answered"
