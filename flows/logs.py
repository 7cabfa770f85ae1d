"""Logs: one JSON object a line on stderr for `--log-json`, and the file of Prefect's warnings."""

import json
import logging
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from flows.terminal import as_json
from state.envelope import Draft
from state.projection import Run

_LOG = logging.getLogger("assay")


class JsonLines(logging.Formatter):
    """Formats a record as one line of redacted JSON; `run_id` and `call_id` come from `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        said: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name in ("run_id", "call_id", "event", "position"):
            if (value := getattr(record, name, None)) is not None:
                said[name] = value
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return as_json(said, indent=None)


class LogFile(logging.FileHandler):
    """A log file that says nothing on the terminal when it cannot be written: on a full disk, say.

    `logging` would print a traceback for each line that is lost.
    """

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - its name in logging
        """Let a line go that the disk does not take; tell of all else as `logging` does."""
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)


def log_to_stderr() -> None:
    """Write what Assay logs to stderr as JSON lines, and warnings of others."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    _LOG.handlers = [handler]
    _LOG.setLevel(logging.INFO)
    _LOG.propagate = False


def log_events(run: Run, drafts: Sequence[Draft]) -> None:
    """Log each event of `drafts`, which have just been appended to `run`."""
    for draft in drafts:
        _LOG.info(
            _summary(draft),
            extra={
                "run_id": run.run_id,
                "call_id": draft.refs.call_id,
                "event": draft.type,
                "position": run.position,
            },
        )


def _summary(draft: Draft) -> str:
    facts = {
        name: draft.body[name]
        for name in ("stage", "round", "verb", "code", "reason", "message", "status")
        if draft.body.get(name)
    }
    return f"{draft.type} {json.dumps(facts, ensure_ascii=False)}" if facts else draft.type
