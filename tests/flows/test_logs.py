"""The file of Prefect's warnings: a line that the disk does not take is let go without a word."""

import logging
from contextlib import closing, suppress
from pathlib import Path

import pytest

from flows.logs import LogFile

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_prints_nothing_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with suppress(OSError), closing(LogFile(FULL, delay=True)) as file:
        file.handle(logging.LogRecord("prefect", logging.ERROR, "", 1, "it ended", (), None))

    assert capfd.readouterr() == ("", "")


def test_what_is_wrong_with_a_line_is_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(LogFile(tmp_path / "client.log", delay=True)) as file:
        file.handle(logging.LogRecord("prefect", logging.ERROR, "", 1, "%d ended", ("one",), None))

    assert "TypeError" in capfd.readouterr().err
