"""The error boundary of the command line: every error becomes one clear line and an exit code.

Exit codes: 0 done (answered, conflicting evidence) · 1 failed or cancelled · 2 refused, nothing was
started or changed · 3 waiting for a person · 4 interrupted, resumable · 5 insufficient evidence or
needs clarification · 130 Ctrl-C · 143 SIGTERM · 129 the terminal was closed.
"""

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import NoReturn

import typer

from flows.terminal import out_json, talk
from state.values.errors import AssayError, RejectedError
from state.values.wording import plain_problem

DONE, FAILED, REFUSED, WAITING, INTERRUPTED, UNANSWERED = 0, 1, 2, 3, 4, 5
JSON = "assay.json"  # the key in a Typer context under which `--json` is remembered

# What is wrong with the data rather than with what was asked for.
_BROKEN = ("CORRUPT_LEDGER", "INTEGRITY", "WITHHELD")
_STATUS = {"waiting": WAITING, "queued": INTERRUPTED, "interrupted": INTERRUPTED}


class Stopped(KeyboardInterrupt):
    """A signal came outside of a run; SIGTERM and SIGHUP are treated as Ctrl-C is."""

    def __init__(self, number: int, message: str = "interrupted") -> None:
        super().__init__(message)
        self.signal = number


def heed_signals() -> None:
    """Let SIGTERM and SIGHUP raise `Stopped`, unless they are ignored."""

    def stop(number: int, _: FrameType | None) -> None:
        raise Stopped(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, stop)


def signal_of(stopped: KeyboardInterrupt) -> int:
    """Return the number of the signal that raised `stopped`."""
    return stopped.signal if isinstance(stopped, Stopped) else signal.SIGINT


def exit_code(status: str, answer_status: str) -> int:
    """Return the exit code for a run that stands at `status` with this answer."""
    if status != "completed":
        return _STATUS.get(status, FAILED)
    answered = answer_status in ("answered", "conflicting-evidence", "verified")
    return DONE if answered else UNANSWERED


@contextmanager
def boundary(context: typer.Context) -> Iterator[None]:
    """Turn what a command raises into one line, or JSON where asked for, and an exit code."""
    try:
        yield
    except AssayError as error:
        reason = getattr(error, "reason", None)
        _fail(context, error.code, error.message, _code_of(error), reason=reason)
    except KeyboardInterrupt as stopped:
        _fail(context, "INTERRUPTED", str(stopped) or "interrupted", 128 + signal_of(stopped))
    except BrokenPipeError:
        raise typer.Exit(DONE) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if _is_of_the_parser(error):
            said = getattr(error, "message", None)
            if isinstance(said, str):
                error.message = plain_problem(said)  # type: ignore[attr-defined]  # Typer has it
            raise
        _fail(context, "INTERNAL", _explain(error), FAILED)


def unexpected(error: Exception) -> int:
    """Say that `error` came from outside of a command, and return the exit code for it."""
    talk(f"assay: {_explain(error)}")
    return FAILED


def _is_of_the_parser(error: Exception) -> bool:
    """Tell whether Typer itself shows `error`: a wrong option, or the end of a command."""
    return type(error).__module__.partition(".")[0] == "typer"


def _code_of(error: AssayError) -> int:
    refused = isinstance(error, RejectedError) or error.code == "PERMISSION_DENIED"
    return REFUSED if refused and error.code not in _BROKEN else FAILED


def _fail(
    context: typer.Context, code: str, message: str, exit_with: int, *, reason: str | None = None
) -> NoReturn:
    if context.meta.get(JSON):
        why = {"reason": reason} if reason else {}
        out_json({"error": {"code": code, "message": message, **why}})
    else:
        talk(f"assay: {message}")
    raise typer.Exit(exit_with) from None


def _explain(error: Exception) -> str:
    said = f"unexpected {type(error).__name__}: {error}"
    log = _write_log(error)
    return f"{said} (details in {log})" if log else said


def _write_log(error: Exception) -> Path | None:
    """Keep the redacted traceback under the data folder; None when that cannot be written."""
    from flows.settings import load_settings
    from state.values.redaction import redact

    try:
        folder = load_settings().home / "logs"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"error-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}.log"
        command = " ".join(sys.argv)
        trace = "".join(traceback.format_exception(error))
        path.touch(mode=0o600)
        path.write_text(redact(f"{command}\n\n{trace}"), encoding="utf-8", errors="replace")
    except (OSError, AssayError):
        return None
    return path
