"""From a source to its segments: archived bytes, text whose quality is said, and its own parts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from adapters.documents.segmenting import segment
from adapters.workspace.folder import claim
from flows.code_tools import CodeTools
from flows.step import Driver, Turn
from state.code_events import CodeSourceRecorded
from state.code_stages import CodeStage
from state.research_events import Rendition
from state.values.blocks import Block, BlockKind, Document
from state.values.orders import ordering_paragraphs
from state.values.segments import Segment, SegmentKind
from state.values.wording import counted
from tasks.acquire import Acquired, AcquiredFile, AcquireInput
from tasks.acquire import acquire as acquire_task
from tasks.convert import Converted, ConvertInput
from tasks.convert import convert as convert_task
from tasks.read import parse_blocks

_CODE_LINES = 120  # of a repository's file, in one segment
_SHOWN = 160  # characters of a passage that gives orders


@dataclass(frozen=True, slots=True)
class Material:
    """The text that plans and code are made from, and its parts.

    `requirement` is what is wanted in a person's words. A `document` is still to be segmented.
    `remarks` say what of the source could not be read, or is doubtful.
    """

    title: str
    requirement: str
    locator: str
    text: str
    text_hash: str
    segments: tuple[Segment, ...]
    document: Document | None = None
    licence: str = ""
    remarks: tuple[str, ...] = ()


async def acquire_material(driver: Driver, tools: CodeTools) -> Material:
    """Return the source as archived text in segments; raises `StepFailed` when it has no text.

    A requirement is its own document; of a repository the files that were read are one text.
    """
    request = driver.paper2code.request
    async with driver.stage(CodeStage.PREPARING):
        await anyio.to_thread.run_sync(claim, Path(request.workspace), driver.run.task_id)
    async with driver.stage(CodeStage.ACQUIRING_INPUT) as turn:
        acquired = await driver.step(
            turn, acquire_task, AcquireInput(request.source_type, request.source), Acquired,
            acquirer=tools.acquirers[request.source_type],
            artifacts=driver.desk.artifacts, now=driver.desk.now,
        )  # fmt: skip
    async with driver.stage(CodeStage.EXTRACTING_DOCUMENT) as turn:
        if request.source_type == "repository":
            material = await _of_repository(driver, turn, acquired)
        else:
            material = await _of_document(driver, turn, acquired, tools)
    async with driver.stage(CodeStage.SEGMENTING_DOCUMENT):
        material = await anyio.to_thread.run_sync(_segmented, material)
    wanted = request.source if request.source_type == "requirement" else request.requirement
    return replace(
        material,
        requirement="\n\n".join(dict.fromkeys(filter(None, (wanted, request.requirement)))),
        licence=acquired.licence,
        remarks=(*material.remarks, *acquired.dropped),
    )


async def _of_document(
    driver: Driver, turn: Turn, acquired: Acquired, tools: CodeTools
) -> Material:
    file = acquired.files[0]
    given = ConvertInput(file.content_hash, file.name, file.media_type)
    made = await driver.step(
        turn, convert_task, given, Converted,
        converter=tools.converter, artifacts=driver.desk.artifacts,
    )  # fmt: skip
    await driver.record(turn, _source_event(driver, turn, acquired, file, made))
    text = await anyio.to_thread.run_sync(driver.desk.artifacts.read_text, made.text_hash)
    blocks = await anyio.to_thread.run_sync(driver.desk.artifacts.read_text, made.blocks_hash)
    document = Document(
        text, parse_blocks(blocks), made.media_type, made.extractor, made.extractor_version
    )
    return Material(
        title=made.title or _first_heading(text, document.blocks) or _name(driver, file),
        requirement="",
        locator=acquired.locator,
        text=text,
        text_hash=made.text_hash,
        segments=(),
        document=document,
        remarks=tuple(quality_remarks(made)),
    )


def _segmented(material: Material) -> Material:
    """Return `material` in segments by its own structure; without any, as one."""
    if material.document is not None:
        whole = Segment("s1", SegmentKind.PROSE, (), material.text, 0, len(material.text))
        found = segment(material.document) or (whole,)
        material = replace(material, document=None, segments=found)
    return replace(material, remarks=(*material.remarks, *_order_remarks(material.segments)))


def _order_remarks(segments: Sequence[Segment]) -> list[str]:
    """Return a remark on passages that address whoever reads with orders: no model sees them."""
    found = [
        " ".join(each.text[start:end].split())
        for each in segments
        for start, end in ordering_paragraphs(each.text)
    ]
    if not found:
        return []
    which = counted(len(found), "passage")
    return [f"orders to its reader, in {which}, are shown to no model: “{found[0][:_SHOWN]}”"]


def _name(driver: Driver, file: AcquiredFile) -> str:
    """Return what a source without a title is called: its file, or what was wanted."""
    request = driver.paper2code.request
    return request.title if request.source_type == "requirement" else file.name


def _first_heading(text: str, blocks: Sequence[Block]) -> str:
    heading = next((b for b in blocks if b.kind is BlockKind.HEADING and b.main), None)
    return " ".join(text[heading.start : heading.end].split())[:200] if heading else ""


def _source_event(
    driver: Driver, turn: Turn, acquired: Acquired, file: AcquiredFile, made: Converted | None
) -> CodeSourceRecorded:
    return CodeSourceRecorded(
        artifact_id=turn.artifact_id(driver.run, f"{file.name}/{file.content_hash}"),
        source_type=driver.paper2code.request.source_type,
        name=file.name[:240],
        locator=acquired.locator[:4096],
        content_hash=file.content_hash,
        media_type=(made.media_type if made else file.media_type)[:120],
        size=file.size,
        rendition=_rendition(made, file) if made else None,
        pages=made.pages if made else None,
        pages_without_text=made.pages_without_text if made else 0,
        pages_in_doubt=made.pages_in_doubt if made else 0,
        dropped=tuple(each[:400] for each in made.dropped[:50]) if made else (),
        hidden_text=made.hidden_text if made else False,
        fetched_at=acquired.fetched_at,
        licence=acquired.licence[:200],
    )


def _rendition(made: Converted, file: AcquiredFile) -> Rendition:
    return Rendition(
        text_hash=made.text_hash,
        blocks_hash=made.blocks_hash,
        extractor=made.extractor,
        extractor_version=made.extractor_version,
        outcome=made.outcome,
        characters=made.characters,
        declared_type=file.media_type[:240],
    )


def quality_remarks(made: Converted) -> list[str]:
    """Return what a person should know of the conversion before money is spent on it."""
    remarks = list(made.warnings)
    if made.pages_without_text:
        remarks.append(f"{made.pages_without_text} of {made.pages} pages have no text")
    if made.pages_in_doubt:
        remarks.append(f"on {made.pages_in_doubt} of {made.pages} pages two readers disagree")
    if made.hidden_text:
        remarks.append("the file holds text that it does not show; nothing in it is obeyed")
    return remarks + [each for each in made.dropped if each not in remarks]


# ---- repositories


async def _of_repository(driver: Driver, turn: Turn, acquired: Acquired) -> Material:
    """Return the repository's files as one archived text, a segment for each stretch of one."""
    get = driver.desk.artifacts.read_text
    parts: list[str] = []
    segments: list[Segment] = []
    at = 0
    for file in acquired.files:
        await driver.record(turn, _source_event(driver, turn, acquired, file, None))
        body = await anyio.to_thread.run_sync(get, file.content_hash)
        head = f"=== {file.name} ===\n"
        parts += [head, body, "\n"]
        segments += _stretches(file.name, body, at + len(head), len(segments))
        at += len(head) + len(body) + 1
    text = "".join(parts)
    text_hash = await anyio.to_thread.run_sync(driver.archive, text.encode())
    return Material(
        title=acquired.locator.rstrip("/").rpartition("/")[2] or acquired.locator,
        requirement="",
        locator=acquired.locator,
        text=text,
        text_hash=text_hash,
        segments=tuple(segments),
    )


def _stretches(name: str, body: str, start: int, before: int) -> list[Segment]:
    lines = body.splitlines(keepends=True)
    found: list[Segment] = []
    at = start
    for first in range(0, len(lines), _CODE_LINES):
        text = "".join(lines[first : first + _CODE_LINES])
        if text.strip():
            number = before + len(found) + 1
            kind = SegmentKind.PROSE if name.endswith(".md") else SegmentKind.CODE
            found.append(Segment(f"s{number}", kind, (name,), text, at, at + len(text)))
        at += len(text)
    return found


def spell_plan(fields: dict[str, object]) -> bytes:
    """Return a plan's JSON as the archive keeps it."""
    return (json.dumps(fields, indent=2, ensure_ascii=False) + "\n").encode()
