"""The durable step: look up, reserve, do, settle; and the driver that executes one run.

    await driver.step(turn, task, given, kind) returns the recorded outcome if there is one. Else it
    records the reservation, awaits the Prefect task, archives the outcome and records that it
    settled. Only the driver appends steps, under one lock a run and the epoch of its lease.

So a crash, a wait for a person, another machine and a plain retry are one code path: the flow runs
again from its beginning and every step that had settled answers from the ledger.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import Any, Generic, TypeVar

import anyio
from prefect import Task
from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from pydantic import TypeAdapter

from adapters.models.port import Answer
from flows.cancelling import Watch
from flows.kinds import kind_of
from flows.wiring import Desk, StopAfter
from state.code_state import Paper2Code
from state.effects import Effect
from state.envelope import Draft, Refs
from state.errors import IntegrityError, NotFound
from state.events import Event, Spend, draft
from state.projection import Run, replays
from state.research_projection import Research
from state.run_events import (
    EffectFailed,
    EffectReserved,
    EffectSettled,
    StageCompleted,
    StageStarted,
)
from state.values.errors import AssayError, ObstructedError, RejectedError
from state.values.ids import artifact_id, canonical_json, sha256_hex, step_call_id
from state.values.money import Usage

T = TypeVar("T")
G = TypeVar("G")

CRASHED = "CRASHED"
# What a person mends at the model's provider, after which the same step goes on.
_OF_THE_PROVIDER = (
    "MODEL_AUTH", "MODEL_QUOTA", "MODEL_NOT_FOUND", "MODEL_UNAVAILABLE", "MODEL_TIMEOUT",
)  # fmt: skip
_OF_THE_ENGINE = ("prefect", "httpx", "httpcore", "anyio", "websockets")

_executing: ContextVar["Driver"] = ContextVar("executing")


class Held(Generic[T]):
    """A value for a sub-flow that Prefect shall neither validate, copy nor record.

    It has no fields that an encoder could walk, so that Prefect shows `<Held>` in its place.
    """

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value


class StepFailed(RejectedError):
    """A step ended in a recorded failure; it is not repeated."""


class CancelRequested(RejectedError):
    """Somebody wants the run to end."""

    code = "CANCELLED"


class StopAsked(ObstructedError):
    """The run is left where it is because that was asked for; it can be resumed."""

    code = "STOPPED"


@dataclass(frozen=True, slots=True)
class Turn:
    """A stage and a round of it, counted from 1."""

    stage: str
    round: int = 1

    @property
    def id(self) -> str:
        """Return the turn id of an event's refs."""
        return f"{self.stage}/{self.round}"

    def artifact_id(self, run: Run, call: str) -> str:
        """Return the id of the artifact that `call` of this turn records.

        It names the first run of the family, so that a retry finds what its parent recorded.
        """
        return artifact_id(run.task_id, self.id, call)


@dataclass(frozen=True, slots=True)
class _Call:
    turn: Turn
    task: Task[..., Any]
    given: object
    kind: Any
    call_id: str
    reserve: Usage


class Driver:
    """Executes one run, holding its lease under `epoch`.

    `ancestors` are the runs that it is a retry of, nearest first, each as of its retry. `watch`
    ends the steps in flight when somebody wants the run's end.
    """

    def __init__(self, desk: Desk, run: Run, epoch: int, *, ancestors: Sequence[Run] = ()) -> None:
        self.desk = desk
        self.epoch = epoch
        self._run = run
        self._ancestors = ancestors
        self._lock = asyncio.Lock()
        self.watch = Watch(self._is_end_wanted)
        self._archive_is_open = False

    @property
    def run(self) -> Run:
        """Return the run as of the last append or look."""
        return self._run

    @property
    def research(self) -> Research:
        """Return the research of a research run."""
        research = self._run.research
        if research is None:
            raise RejectedError(f"run {self._run.run_id!r} has not started", code="NOT_STARTED")
        return research

    @property
    def paper2code(self) -> Paper2Code:
        """Return what is known of a Paper2Code run."""
        code = self._run.paper2code
        if code is None:
            raise RejectedError(f"run {self._run.run_id!r} has not started", code="NOT_STARTED")
        return code

    @property
    def ancestors(self) -> Sequence[Run]:
        """Return the runs that this is a retry of, nearest first, each as of its retry."""
        return self._ancestors

    async def step(
        self,
        turn: Turn,
        task: Task[..., Any],
        given: G,
        kind: type[T],
        *,
        reserve: Usage = Usage(),  # noqa: B008 - frozen
        inherit: bool = True,
        **tools: object,
    ) -> T:
        """Return the outcome of `task(given, **tools)`, from the ledger if it settled before.

        `kind` is the type of the answer's value. Without `inherit` a retry does the step again.
        Raises `StepFailed` with the recorded code when it failed for good (also when it crashed:
        one bad source or a bad verdict must not end a run), `BudgetExceeded` when `reserve` does
        not fit, `CancelRequested`, and `ObstructedError` (the disk) for what a person has to mend.
        """
        self._heed_cancel()
        call_id = step_call_id(turn.id, task.name, _jsonable(given))
        known = await self._known(turn, task.name, call_id, inherit=inherit)
        if known is None:
            known = await self._perform(_Call(turn, task, given, kind, call_id, reserve), tools)
        if known.state == "failed":
            raise StepFailed(known.message, code=known.code)
        body = await anyio.to_thread.run_sync(self.desk.artifacts.get, known.outcome_hash)
        form: Any = kind
        outcome: T = _adapter(form).validate_json(body)
        return outcome

    def is_inherited(self, turn: Turn, task: Task[..., Any], given: object) -> bool:
        """Tell whether a run that this is a retry of settled the step."""
        call_id = step_call_id(turn.id, task.name, _jsonable(given))
        known = (ancestor.effects.get(call_id) for ancestor in self._ancestors)
        return any(effect is not None and effect.state == "settled" for effect in known)

    async def record(self, turn: Turn, *events: Event) -> None:
        """Append `events` of this turn, each once however often this is called.

        The call id of an event is made of its turn, type and identity: so the same fact is never
        recorded twice, and another fact in its place is refused.
        """
        drafts = [draft(event, self._refs(turn, _event_call(turn, event))) for event in events]
        fresh = [made for made in drafts if not replays(self._run, made)]
        if fresh:
            await self._append(fresh)

    @asynccontextmanager
    async def stage(self, name: str) -> AsyncIterator[Turn]:
        """Record that the stage `name` starts, and that it ended when the block did not raise."""
        turn = Turn(name)
        await self.record(turn, StageStarted(stage=name))
        yield turn
        await self.record(turn, StageCompleted(stage=name))

    def stop_here(self, point: StopAfter) -> None:
        """Raise `StopAsked` when the run is to be left at this point."""
        if self.desk.stop_after == point:
            raise StopAsked(f"stopped after the {point}, as asked")

    async def look(self) -> Run:
        """Fold what others appended meanwhile; raise `CancelRequested` if they want an end."""
        async with self._lock:
            self._run = await anyio.to_thread.run_sync(self.desk.ledger.project, self._run.run_id)
        self._heed_cancel()
        return self._run

    def archive(self, data: bytes) -> str:
        """Keep `data` and return its content hash."""
        return self.desk.artifacts.put(data)

    def _heed_cancel(self) -> None:
        if self._run.cancel_reason is not None:
            raise CancelRequested(self._run.cancel_reason)

    async def _is_end_wanted(self) -> bool:
        try:
            await self.look()
        except CancelRequested:
            return True
        return False

    async def _known(self, turn: Turn, verb: str, call_id: str, *, inherit: bool) -> Effect | None:
        effect = self._run.effects.get(call_id)
        if effect and effect.state != "reserved":
            return effect
        if effect:
            return None  # reserved in this run: an ancestor's outcome was not to be had then
        for ancestor in self._ancestors if inherit else ():
            inherited = ancestor.effects.get(call_id)
            if inherited and inherited.state == "settled":
                event = EffectSettled(
                    epoch=self.epoch,
                    verb=verb,
                    stage=turn.stage,
                    round=turn.round,
                    outcome_hash=inherited.outcome_hash,
                    reused_from=ancestor.run_id,
                )
                await self._append([draft(event, self._refs(turn, call_id))])
                return self._run.effects[call_id]
        return None

    async def _perform(self, call: "_Call", tools: dict[str, object]) -> Effect:
        await self.look()
        if asked := kind_of(self._run).request(self._run):
            self.desk.policy.authorise(asked)
        await self._require_archive()
        await self._reserve(call)
        began = monotonic()
        with self.watch.over() as scope:
            state: State[Any] = await call.task(call.given, **tools, return_state=True)
        if scope.cancelled_caught:  # what it may have spent stays reserved
            raise CancelRequested(self._run.cancel_reason or "cancelled")
        answer = await state.aresult(raise_on_failure=False)
        ended = await self._ending(call, answer, round((monotonic() - began) * 1000))
        refs = self._refs(call.turn, call.call_id, str(state.state_details.task_run_id))
        await self._append([draft(ended, refs)])
        return self._run.effects[call.call_id]

    async def _require_archive(self) -> None:
        """Raise what the archive raises where it takes no body: then nothing is to be paid for."""
        if not self._archive_is_open:
            await anyio.to_thread.run_sync(self.archive, b"")
            self._archive_is_open = True

    async def _ending(
        self, call: "_Call", answer: Any, duration_ms: int
    ) -> EffectSettled | EffectFailed:
        if isinstance(answer, Answer):
            body = _adapter(call.kind).dump_json(answer.value)
            return EffectSettled(
                epoch=self.epoch,
                verb=call.task.name,
                stage=call.turn.stage,
                round=call.turn.round,
                outcome_hash=await anyio.to_thread.run_sync(self.archive, body),
                usage=Spend.of(answer.usage),
                duration_ms=duration_ms,
                model=answer.model[:400],
                prompt=answer.prompt,
            )
        if not isinstance(answer, Exception) or is_the_machines(answer):
            raise answer
        if isinstance(answer, (NotFound, IntegrityError)):
            raise answer  # of the archive, which can be restored: the step was not to blame
        if isinstance(answer, AssayError) and answer.code in _OF_THE_PROVIDER:
            raise ObstructedError(answer.message, code=answer.code) from answer
        if isinstance(answer, AssayError):
            code, message = answer.code, answer.message
        else:
            code, message = CRASHED, f"{type(answer).__name__}: {answer}"
        return EffectFailed(
            epoch=self.epoch,
            code=code[:80],
            message=message[:4000],
            usage=Spend.of(call.reserve),
            duration_ms=duration_ms,
        )

    async def _reserve(self, call: "_Call") -> None:
        before = self._run.effects.get(call.call_id)
        event = EffectReserved(
            epoch=self.epoch,
            verb=call.task.name,
            stage=call.turn.stage,
            round=call.turn.round,
            input_hash=sha256_hex(canonical_json(_jsonable(call.given))),
            attempt=before.attempts + 1 if before else 1,
            reserve=Spend.of(call.reserve),
        )
        await self._append([draft(event, self._refs(call.turn, call.call_id))])

    async def _append(self, drafts: Sequence[Draft]) -> None:
        async with self._lock:
            receipt = await anyio.to_thread.run_sync(
                lambda: self.desk.ledger.append(self._run.run_id, drafts, epoch=self.epoch)
            )
            self._run = receipt.state
        self.desk.observe(self._run, drafts)

    def _refs(self, turn: Turn, call_id: str, task_run_id: str | None = None) -> Refs:
        context = FlowRunContext.get()
        flow_run = context.flow_run if context else None
        return Refs(turn.id, call_id, str(flow_run.id) if flow_run else None, task_run_id)


def is_the_machines(error: BaseException) -> bool:
    """Tell whether `error` says nothing of the step: mended, or elsewhere, it may succeed."""
    if isinstance(error, (ObstructedError, OSError, MemoryError)):
        return True
    return type(error).__module__.partition(".")[0] in _OF_THE_ENGINE


def executing(run_id: str) -> Driver:
    """Return the driver of the run that this flow is part of."""
    driver = _executing.get()
    if driver.run.run_id != run_id:
        raise RejectedError(f"run {run_id!r} is not the one that is being executed here")
    return driver


@asynccontextmanager
async def driving(driver: Driver) -> AsyncIterator[Driver]:
    """Make `driver` the one that sub-flows find, and let it look for who wants its end."""
    token = _executing.set(driver)
    try:
        async with driver.watch.kept():
            yield driver
    finally:
        _executing.reset(token)


def _jsonable(given: object) -> Any:
    kind: Any = type(given)
    return _adapter(kind).dump_python(given, mode="json")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _event_call(turn: Turn, event: Event) -> str:
    named = [str(getattr(event, name)) for name in event.identity]
    call = "/".join([turn.id, event.type, *named])
    return call if len(call) <= 128 else f"{turn.id}/{event.type}/{sha256_hex(call)[:16]}"
