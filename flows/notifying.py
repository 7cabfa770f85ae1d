"""Tells a webhook what became of runs: each occurrence once, whoever looks, and never in the way.

What is to be told is in the ledger (see `state.notices`), and so is every attempt: claimed before
the request is made, ended after it. Two processes never tell the same at once, and what was told is
not told again. Only a process that is killed between the receiver's answer and its record leaves
that in doubt: then it is told a second time, under the same `webhook-id`.
"""

import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any

import anyio

from adapters.notify.errors import NotificationDelayed, NotificationRefused
from adapters.notify.port import Message, Notifier
from flows.kinds import kind_of
from flows.runs import read_result
from flows.settings import Settings
from flows.terminal import one_line
from flows.wiring import Desk
from state.envelope import Refs
from state.errors import Refused
from state.events import draft
from state.notices import MAX_ATTEMPTS, Notice, NotificationEvent
from state.projection import Run
from state.run_events import (
    NoticeKind,
    NotificationClaimed,
    NotificationFailed,
    NotificationSent,
)
from state.values.errors import AssayError, InvalidRequest
from state.values.ids import canonical_json

PATIENCE_S = 10.0  # in which a second and a third attempt may follow the first at once
LONGEST_S = 30.0
_OPEN = (
    "SELECT DISTINCT run_id FROM notifications "
    "WHERE state IN ('due', 'claimed', 'failed') ORDER BY run_id"
)
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Told:
    """How one attempt to tell of an occurrence ended; `code` is '' when the receiver took it."""

    run_id: str
    what: NoticeKind
    position: int
    attempt: int
    code: str = ""
    gives_up: bool = False


def open_notifier(settings: Settings) -> Notifier | None:
    """Return who is told by these settings, or None. Raises `InvalidRequest`, with no secret."""
    address = settings.webhook_url.get_secret_value()
    if not address:
        return None
    from adapters.notify.signing import signing_keys
    from adapters.notify.webhook import Webhook

    try:
        keys = signing_keys(settings.webhook_secret.get_secret_value())
    except InvalidRequest as error:
        raise InvalidRequest(f"check the setting ASSAY_WEBHOOK_SECRET: {error.message}") from None
    try:
        return Webhook(address, keys=keys, services=settings.services)
    except InvalidRequest as error:
        raise InvalidRequest(f"check the setting ASSAY_WEBHOOK_URL: {error.message}") from None


def notify_due(desk: Desk, run_ids: Sequence[str] | None = None) -> list[Told]:
    """Tell what is due of the runs `run_ids`, or of all; return the attempts. Not in a loop."""
    return anyio.run(partial(tell_due, desk, run_ids))


async def tell_due(
    desk: Desk,
    run_ids: Sequence[str] | None = None,
    *,
    notifier: Notifier | None = None,
    patience_s: float = PATIENCE_S,
    sleep: Sleep = anyio.sleep,
) -> list[Told]:
    """Tell what is due of the runs `run_ids`, or of all; return the attempts, in their order.

    After a failure the next attempt follows at once if it is due within `patience_s` from the
    start, and else at a later call; no other run is told of meanwhile, since the receiver is the
    same. Raises `StorageError` when the ledger cannot be read or written.
    """
    told = notifier or open_notifier(desk.settings)
    if told is None:
        return []
    if run_ids is None:
        found = await anyio.to_thread.run_sync(desk.ledger.query, _OPEN)
        run_ids = [row[0] for row in found.rows]
    teller = _Teller(desk, told, monotonic() + patience_s, sleep)
    for run_id in run_ids:
        if not await teller.tell(run_id):
            break
    return teller.attempts


async def tell_quietly(desk: Desk, run_id: str) -> None:
    """Tell what is due of one run that has just stopped; takes half a minute at the very most.

    It never raises for what is wrong with the webhook or the ledger: what could not be told or
    recorded is due as before, for whoever looks next.
    """
    with anyio.move_on_after(LONGEST_S, shield=True):
        try:
            await tell_due(desk, [run_id], patience_s=PATIENCE_S)
        except AssayError:
            return


@dataclass(slots=True)
class _Teller:
    desk: Desk
    notifier: Notifier
    patient_until: float
    sleep: Sleep
    attempts: list[Told] = field(default_factory=list)
    name: str = field(default_factory=lambda: f"teller-{token_hex(8)}")

    async def tell(self, run_id: str) -> bool:
        """Tell what is due of a run; tell whether the receiver is there for the next one."""
        while (found := await self._due(run_id)) is not None:
            run, notice, wait_s = found
            if wait_s > 0 and monotonic() + wait_s > self.patient_until:
                return not self._failed_last(run_id)
            await self.sleep(max(0.0, wait_s))
            if wait_s <= 0 and not await self._attempt(run, notice):
                break  # another process was quicker, and sees to it
        return True

    def _failed_last(self, run_id: str) -> bool:
        return bool(self.attempts) and self.attempts[-1].run_id == run_id

    async def _due(self, run_id: str) -> tuple[Run, Notice, float] | None:
        """Return the notice of the run that can be told of first, and in how many seconds."""
        run = await anyio.to_thread.run_sync(self.desk.ledger.project, run_id)
        left = [each for each in run.notices if not each.is_settled and run.is_current(each)]
        if not left:
            return None
        first = min(left, key=lambda notice: notice.next_at)
        return run, first, (first.next_at - self.desk.now()).total_seconds()

    async def _attempt(self, run: Run, notice: Notice) -> bool:
        """Make the next attempt; tell whether it was for this process to make."""
        body = await anyio.to_thread.run_sync(payload, self.desk, run, notice)
        attempt = notice.attempts + 1
        about: dict[str, Any] = {
            "what": notice.what, "about": notice.position, "attempt": attempt,
        }  # fmt: skip
        if not await self._record(run.run_id, NotificationClaimed(by=self.name, **about)):
            return False
        ended: NotificationSent | NotificationFailed
        try:
            status = await self.notifier.send(Message(message_id(notice), body))
            ended = NotificationSent(http_status=status, **about)
        except NotificationDelayed as error:
            ended = NotificationFailed(
                code=error.code,
                http_status=error.http_status,
                retry_after_s=error.retry_after_s,
                gives_up=attempt >= MAX_ATTEMPTS,
                **about,
            )
        except NotificationRefused as error:
            ended = NotificationFailed(
                code=error.code, http_status=error.http_status, gives_up=True, **about
            )
        await self._record(run.run_id, ended)
        told = Told(run.run_id, notice.what, notice.position, attempt)
        if isinstance(ended, NotificationFailed):
            told = replace(told, code=ended.code, gives_up=ended.gives_up)
        self.attempts.append(told)
        return True

    async def _record(self, run_id: str, event: NotificationEvent) -> bool:
        """Record an attempt's beginning or end; tell whether the run's rules allowed it."""
        turn = f"notify/{event.attempt}"
        refs = Refs(turn, f"{turn}/{event.type}/{event.about}")
        made = [draft(event, refs)]
        try:
            await anyio.to_thread.run_sync(self.desk.ledger.append, run_id, made)
        except Refused:
            return False
        return True


def message_id(notice: Notice) -> str:
    """Return the id under which a receiver knows an occurrence again: made of its event's hash."""
    return f"msg_{notice.hash[:32]}"


def payload(desk: Desk, run: Run, notice: Notice) -> bytes:
    """Return what is told of an occurrence, as JSON: small, and with nothing that is secret."""
    data: dict[str, Any] = {
        "run_id": run.run_id,
        "kind": run.kind,
        "subject": one_line(kind_of(run).subject(run), 300),
        "status": run.status,
        "requested_by": run.requested_by,
        "host": socket.gethostname(),
    }
    match notice.what:
        case "waiting":
            command = f"assay review {run.run_id}"
            data["review"] = {
                "interaction_id": notice.interaction_id, "command": command, "page": _page(),
            }  # fmt: skip
        case "completed":
            data |= {"answer_status": run.answer_status, "stop_reason": run.stop_reason}
            data["report"] = _report(desk, run.run_id)
        case "failed" | "interrupted":
            going_on = "retry" if notice.what == "failed" else "resume"
            data |= {"code": run.code, "reason": one_line(run.reason, 500)}
            data["command"] = f"assay {going_on} {run.run_id}"
        case "cancelled":
            data["reason"] = one_line(run.cancel_reason or run.reason, 500)
    said = {"type": f"run.{notice.what}", "timestamp": notice.at, "data": data}
    return canonical_json(said).encode()


def _report(desk: Desk, run_id: str) -> dict[str, str]:
    try:
        files = read_result(desk, run_id).report
    except AssayError:
        return {}  # it was forgotten, or the archive is away: the run completed all the same
    return {name: path for name, path in files.items() if Path(path).exists()}


def _page() -> str:
    """Return the address of the page in Prefect that has a form to answer in, or ''."""
    if "prefect" not in sys.modules:
        return ""
    from prefect.context import FlowRunContext
    from prefect.utilities.urls import url_for

    context = FlowRunContext.get()
    flow_run = context.flow_run if context else None
    if flow_run is None or flow_run.deployment_id is None:
        return ""
    return url_for(flow_run) or ""
