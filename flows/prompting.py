"""The plan review at a terminal: shows the plan and asks until a person has decided.

Nothing but an explicit answer decides: an empty line, a wrong word and a wrong file ask again, and
what was typed before the question was there is no answer. Meanwhile an answer from another process
is noticed.
"""

import os
import sys
import termios
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from flows.answering import (
    InteractionInvalid,
    WaitingForPerson,
    answer_review,
    wait_for_answer,
)
from flows.kinds import ReviewedPlan, kind_of
from flows.progress import Progress
from flows.terminal import clean, is_terminal, talk
from flows.wiring import Desk
from state.errors import Refused
from state.projection import Run
from state.values.errors import InvalidRequest

_CHOICES = {"a": "approve", "r": "revise", "p": "replace", "c": "cancel"}
_MAX_PLAN_BYTES = 1_000_000


def plan_in(path: Path, run: Run) -> ReviewedPlan:
    """Return the plan for `run` in the JSON file `path`; raises `InvalidRequest` for none."""
    try:
        with path.expanduser().open("rb") as file:
            text = file.read(_MAX_PLAN_BYTES + 1)
        if len(text) > _MAX_PLAN_BYTES:
            raise InvalidRequest(f"{path} is too long for a plan; at most 1 MB is read")
        return kind_of(run).read_plan(text.decode())
    except OSError as error:
        raise InvalidRequest(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is no UTF-8 text") from error


class PlanPrompt:
    """Asks the person at this terminal about a run's plan."""

    def __init__(self, desk: Desk, progress: Progress) -> None:
        self._desk = desk
        self._progress = progress

    async def ask(self, run: Run) -> None:
        """Return when the live request of `run` was answered, here or anywhere else.

        Raises `WaitingForPerson` at the end of input.
        """
        live = run.live_review
        if live is None:
            return
        with self._progress.hidden():
            talk("\n" + kind_of(run).plan_text(self._desk, run))
            while not await self._answered(run, live.interaction_id):
                pass

    async def _answered(self, run: Run, interaction: str) -> bool:
        """Ask once; tell whether the request is answered now."""
        ask = partial(self._line, run.run_id, interaction)
        choice = await ask("[a]pprove  [r]evise  re[p]lace  [c]ancel > ")
        if choice is None:
            talk("answered elsewhere")
            return True
        word = choice.strip().lower()
        action = _CHOICES.get(word, word)
        if action not in _CHOICES.values():
            talk("Please answer with a, r, p or c; nothing is decided until then.")
            return False
        try:
            more = await self._more(run, action, ask)
            if more is None:
                talk("answered elsewhere")
                return True
            answer = partial(
                answer_review, self._desk, run.run_id, action,
                interaction_id=interaction, channel="terminal", **more,
            )  # fmt: skip
            await anyio.to_thread.run_sync(answer)
        except InteractionInvalid as error:
            talk(error.message)
            return True
        except (InvalidRequest, Refused) as error:
            talk(error.message)
            return False
        return True

    async def _more(
        self, run: Run, action: str, ask: Callable[[str], Awaitable[str | None]]
    ) -> dict[str, Any] | None:
        """Return what belongs to the answer; None when somebody else answered meanwhile."""
        questions = {
            "revise": ("feedback", "What should change? > "),
            "replace": ("plan", "Which file holds the new plan, as JSON? > "),
            "cancel": ("reason", "Why? > "),
        }
        if action not in questions:
            return {}
        name, question = questions[action]
        said = await ask(question)
        if said is None:
            return None
        return {name: plan_in(Path(said.strip()), run) if name == "plan" else said.strip()}

    async def _line(self, run_id: str, interaction: str, question: str) -> str | None:
        """Return a line typed here, or None when the request was answered elsewhere before.

        Raises `WaitingForPerson` at the end of input.
        """
        _forget_typed()
        sys.stderr.write(clean(question))
        sys.stderr.flush()
        lines: list[bytes] = []

        async with anyio.create_task_group() as group:

            async def typed() -> None:
                await anyio.wait_readable(sys.stdin)
                # A terminal gives a whole line at a time, and nothing at the end of input.
                lines.append(os.read(sys.stdin.fileno(), 65536))
                group.cancel_scope.cancel()

            async def elsewhere() -> None:
                await wait_for_answer(self._desk, run_id, interaction)
                group.cancel_scope.cancel()

            group.start_soon(typed)
            group.start_soon(elsewhere)
        if not lines:
            sys.stderr.write("\n")
            return None
        if not lines[0]:
            sys.stderr.write("\n")
            raise WaitingForPerson(f"run {run_id!r} waits for a review of its plan ({interaction})")
        return lines[0].decode(errors="replace").rstrip("\r\n")


def _forget_typed() -> None:
    """Drop what was typed ahead at the terminal: it was meant for something else."""
    if is_terminal(sys.stdin):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
