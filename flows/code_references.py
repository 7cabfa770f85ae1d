"""References: repositories that a person named or the paper links to: a help, never a need."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import anyio

from adapters.acquisition.repository import repository_url
from adapters.models.coding.interfaces import interface_of
from flows.code_runs import is_repository_url
from flows.code_tools import CodeTools
from flows.designing import Agreed
from flows.step import Driver, StepFailed, Turn
from state.code_events import CodeReferenceRecorded
from state.code_stages import CodeStage
from state.errors import BudgetExceeded
from state.values.ids import canonical_json
from state.values.redaction import redact
from state.values.segments import Segment, SegmentKind
from tasks.acquire import Acquired, AcquireInput
from tasks.acquire import acquire as acquire_task

MOST_LINKED = 3
_IN_LINK = r"[^\s<>\"'(){}\[\]|\\^`]+"
# Pages break a link where it has a stroke; what follows may belong to it.
_LINK = re.compile(rf"(https://{_IN_LINK})(?:(?<=[/-])(?=\n[ \t]*({_IN_LINK})))?")
_CODE = (".py", ".js", ".mjs", ".ts", ".rs", ".jl", ".r", ".cpp", ".c", ".h", ".java", ".go")
_MOST_FILES = 300
_AFTER_LINK = ".,;:!?"


async def collect_references(driver: Driver, agreed: Agreed, tools: CodeTools) -> Agreed:
    """Return what was agreed with the interfaces of the references' files.

    One that cannot be had or has no code is recorded as failed, with the reason, and the work goes
    on without it.
    """
    segments: list[Segment] = []
    acquired: list[tuple[str, Acquired]] = []
    async with driver.stage(CodeStage.COLLECTING_REFERENCES) as turn:
        for locator in references_of(driver, agreed):
            given = AcquireInput("repository", locator)
            try:
                found = await driver.step(
                    turn, acquire_task, given, Acquired,
                    acquirer=tools.acquirers["repository"],
                    artifacts=driver.desk.artifacts, now=driver.desk.now,
                )  # fmt: skip
            except (StepFailed, BudgetExceeded) as failure:
                await _record_failure(driver, turn, locator, failure.message)
            else:
                acquired.append((locator, found))
    async with driver.stage(CodeStage.INDEXING) as turn:
        for locator, found in acquired:
            indexed = await anyio.to_thread.run_sync(_index, driver, found, len(segments))
            if not indexed:
                await _record_failure(driver, turn, locator, "it holds no code that can be read")
                continue
            segments += indexed
            body = canonical_json([[*each.section, each.text] for each in indexed]).encode()
            event = CodeReferenceRecorded(
                locator=redact(locator)[:2048],
                outcome="indexed",
                licence=found.licence[:200],
                files=len(indexed),
                index_hash=await anyio.to_thread.run_sync(driver.archive, body),
            )
            await driver.record(turn, event)
    return replace(agreed, references=tuple(segments))


def references_of(driver: Driver, agreed: Agreed) -> list[str]:
    """Return the repositories to look at: those named, else those the source links to.

    What a person excluded, such as the paper's own code, is none of them.
    """
    request = driver.paper2code.request
    excluded = {_folded(each) for each in request.excluded_repositories}
    wanted: Iterable[str] = request.reference_repositories or linked(agreed.material.text)
    found = dict.fromkeys(wanted)
    return [each for each in found if _folded(each) not in excluded]


def linked(text: str) -> list[str]:
    """Return the repositories that `text` links to, in their order, at most `MOST_LINKED`."""
    urls = (_address(link, following) for link, following in _LINK.findall(text))
    return list(dict.fromkeys(url for url in urls if is_repository_url(url)))[:MOST_LINKED]


def _address(link: str, following: str) -> str:
    """Return the address of a link, with what follows on the next line where that makes one."""
    whole = repository_url(f"{link}{following}".rstrip(_AFTER_LINK))
    if following and is_repository_url(whole):
        return whole
    return repository_url(link.rstrip(_AFTER_LINK))


def _folded(locator: str) -> str:
    return repository_url(locator).removesuffix(".git").casefold()


async def _record_failure(driver: Driver, turn: Turn, locator: str, why: str) -> None:
    event = CodeReferenceRecorded(
        locator=redact(locator)[:2048], outcome="failed", reason=redact(why)[:2000]
    )
    await driver.record(turn, event)


def _index(driver: Driver, found: Acquired, before: int) -> list[Segment]:
    """Return the interface of each file of code as a segment of its own."""
    return list(_interfaces(driver, found, before))


def _interfaces(driver: Driver, found: Acquired, before: int) -> Iterator[Segment]:
    number = before
    for file in found.files:
        if number - before >= _MOST_FILES:
            return
        if not file.name.casefold().endswith(_CODE):
            continue
        text = interface_of(file.name, driver.desk.artifacts.read_text(file.content_hash))
        if text.strip():
            number += 1
            section = (f"reference {redact(found.locator)}", file.name)
            yield Segment(f"r{number}", SegmentKind.CODE, section, text, 0, len(text))
