"""What a research run keeps: sources first, then what is derived from them, each cited."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from adapters.models.port import Assessment
from flows.knowledge import Archived, Knowledge
from flows.step import Driver, Turn
from flows.wiring import Tools
from state.research_events import ArtifactRole, Rendition, ResearchArtifactRecorded
from state.values.evidence import Passage
from state.values.ids import sha256_hex
from state.values.report import Failure
from tasks.read import Reading, parse_blocks

MARKDOWN = "text/markdown"
JSON = "application/json"
MAX_CITED = 100
INVENTORY = "inventory"


async def record_sources(
    driver: Driver, turn: Turn, knowledge: Knowledge, readings: Sequence[Reading]
) -> tuple[list[Archived], list[Failure]]:
    """Record each reading as a source of the run; the same bytes twice are one source.

    Returns the new sources with their text, and what turned out to be a duplicate.
    """
    first = {source.reading.content_hash: source.reading.locator for source in knowledge.sources}
    added, duplicates = [], []
    for reading in readings:
        original = first.get(reading.content_hash)
        if original is not None and original != reading.locator:
            reason = f"{reading.display} holds the same bytes as {original}"
            duplicates.append(Failure("read", reading.locator, "DUPLICATE", reason))
            continue
        first[reading.content_hash] = reading.locator
        event = _source_event(driver, turn, reading)
        await driver.record(turn, event)
        added.append(await _load(driver, event.artifact_id, reading))
    return added, duplicates


def _source_event(driver: Driver, turn: Turn, reading: Reading) -> ResearchArtifactRecorded:
    call = f"source/{sha256_hex(reading.locator)[:16]}/{reading.content_hash}"
    return ResearchArtifactRecorded(
        artifact_id=turn.artifact_id(driver.run, call),
        role=ArtifactRole.SOURCE,
        name=(reading.title or reading.display)[:240],
        locator=reading.locator,
        content_hash=reading.content_hash,
        media_type=reading.media_type,
        size=reading.size,
        fetched_at=reading.fetched_at,
        rendition=Rendition(
            text_hash=reading.text_hash,
            blocks_hash=reading.blocks_hash,
            extractor=reading.extractor,
            extractor_version=reading.extractor_version,
            outcome=reading.outcome,
            characters=reading.characters,
            declared_type=reading.declared_type,
        ),
    )


async def _load(driver: Driver, source_id: str, reading: Reading) -> Archived:
    get = driver.desk.artifacts.get
    text = (await anyio.to_thread.run_sync(get, reading.text_hash)).decode()
    blocks = parse_blocks((await anyio.to_thread.run_sync(get, reading.blocks_hash)).decode())
    passages = tuple(
        Passage(
            source_id=source_id,
            locator=reading.locator,
            title=reading.title,
            text=text[block.start : block.end],
            start=block.start,
            end=block.end,
            paragraph=block.paragraph,
            page=block.page,
            heading=block.heading,
            modified_at=reading.modified_at,
        )
        for block in blocks
        if block.main and text[block.start : block.end].strip()
    )
    return Archived(source_id, reading, text, passages)


async def archive_inventory(driver: Driver, turn: Turn, tools: Tools) -> str:
    """Archive the list of what was searched, so that "nothing was found" can be inspected too.

    Once a turn: what is there may have changed since.
    """
    known = turn.artifact_id(driver.run, INVENTORY)
    if known in driver.research.artifacts:
        return known
    listing = await anyio.to_thread.run_sync(tools.inventory)
    body = Body(
        ArtifactRole.SOURCE,
        "Inventory of what was searched",
        INVENTORY,
        json.dumps({"searched": listing}, indent=1, ensure_ascii=False).encode(),
        media_type=JSON,
        locator="; ".join(driver.research.started.request.sources)[:4096] or "inventory",
    )
    return await record_artifact(driver, turn, body)


async def record_note(
    driver: Driver, turn: Turn, knowledge: Knowledge, assessment: Assessment
) -> str:
    """Archive the evidence note of a round, derived from and citing the sources it quotes."""
    lines = [f"# Evidence after round {turn.round}", ""]
    rows = {row.subquestion_id: row for row in assessment.rows}
    for subquestion in knowledge.plan.subquestions:
        row = rows[subquestion.id]
        lines += [
            f"## {subquestion.question}",
            "",
            f"Coverage: {row.coverage}. {row.gap}".rstrip(),
            "",
        ]
        for choice in assessment.selected:
            if choice.subquestion_id == subquestion.id:
                quoted = " ".join(choice.text.split())
                lines += [
                    f"> {quoted}",
                    f"> — {choice.source_id}, paragraph {choice.paragraph}",
                    "",
                ]
    quoted_ids = {choice.source_id for choice in assessment.selected}
    cited = [id_ for id_ in knowledge.source_ids if id_ in quoted_ids] or knowledge.source_ids
    body = Body(
        ArtifactRole.EVIDENCE_NOTE,
        f"Evidence after round {turn.round}",
        "note",
        "\n".join(lines).encode(),
        cites=cited,
    )
    return await record_artifact(driver, turn, body)


@dataclass(frozen=True, slots=True)
class Body:
    """Bytes to keep as an artifact, and what they are; `call` tells them apart in their turn.

    Everything but a source cites sources (at most 100 are recorded). A report section has a key;
    it is recorded as completed.
    """

    role: ArtifactRole
    name: str
    call: str
    data: bytes
    media_type: str = MARKDOWN
    cites: Sequence[str] = ()
    locator: str = ""
    section_key: str | None = None


async def record_artifact(driver: Driver, turn: Turn, body: Body) -> str:
    """Archive `body` and record it; return its artifact id.

    A body whose event is refused is never referenced; `gc` removes it.
    """
    address = await anyio.to_thread.run_sync(driver.archive, body.data)
    event = ResearchArtifactRecorded(
        artifact_id=turn.artifact_id(driver.run, body.call),
        role=body.role,
        name=body.name[:240],
        locator=body.locator,
        content_hash=address,
        media_type=body.media_type,
        size=len(body.data),
        source_artifact_ids=tuple(body.cites)[:MAX_CITED],
        section_key=body.section_key,
        section_status="completed" if body.section_key else None,
    )
    await driver.record(turn, event)
    return event.artifact_id
