"""Conversions as bytes, for pipes and caches: checked when they come back, whoever wrote them.

A header of three sizes, then JSON for what is small, a fixed record for each block, and the text
in UTF-8: so reading it needs little more memory than the document itself.
"""

import json
import struct
import sys
from dataclasses import asdict
from typing import Any

from state.values.blocks import Block, BlockKind, Conversion, Document, Outcome, Quality

_SIZES = struct.Struct(">QQQ")
_BLOCK = struct.Struct(">BBIIIIII")  # kind, main, start, end, paragraph, page or 0, heading, level
_KINDS = tuple(BlockKind)
_BLOCK_BYTES = 200
"""About what a block takes in memory, with its numbers."""


class WireError(ValueError):
    """The bytes are not a conversion."""


def memory_to_decode(document: Document, encoded: bytes) -> int:
    """Return about how many bytes at most it takes to bring `document` back from `encoded`."""
    held = sys.getsizeof(document.text) + len(document.blocks) * _BLOCK_BYTES
    return held + 2 * len(encoded)  # which is there meanwhile, as is a narrower copy of the text


def encode_conversion(conversion: Conversion) -> bytes:
    """Return `conversion` as bytes."""
    document = conversion.document
    head: dict[str, object] = {"outcome": conversion.outcome.value, "reason": conversion.reason}
    blocks = text = b""
    if document is not None:
        headings = {block.heading: 0 for block in document.blocks}
        headings = {heading: at for at, heading in enumerate(headings)}
        head["document"] = {
            "headings": list(headings),
            "media_type": document.media_type,
            "extractor": document.extractor,
            "extractor_version": document.extractor_version,
            "title": document.title,
            "warnings": document.warnings,
            "quality": asdict(document.quality),
        }
        blocks = b"".join(_pack(block, headings[block.heading]) for block in document.blocks)
        text = document.text.encode("utf-8", "replace")
    said = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b"".join((_SIZES.pack(len(said), len(blocks), len(text)), said, blocks, text))


def _pack(block: Block, heading: int) -> bytes:
    kind, page = _KINDS.index(block.kind), block.page or 0
    return _BLOCK.pack(
        *(kind, block.main, block.start, block.end, block.paragraph, page, heading, block.level)
    )


def decode_conversion(data: bytes | bytearray) -> Conversion:
    """Return the conversion in `data`, whose blocks are in order and inside the text.

    Raises `WireError` for anything else: the writer may have been taken over by what it read.
    """
    try:
        said, blocks, text = _parts(memoryview(data))
        head = json.loads(bytes(said))
        found = head.get("document")
        return Conversion(
            outcome=Outcome(head["outcome"]),
            reason=_text(head["reason"]),
            document=None if found is None else _document(found, blocks, str(text, "utf-8")),
        )
    except (LookupError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise WireError(f"not a conversion: {error}") from error
    except struct.error as error:
        raise WireError(f"not a conversion: {error}") from error


def _parts(data: memoryview) -> list[memoryview]:
    sizes = _SIZES.unpack_from(data)
    if _SIZES.size + sum(sizes) != len(data):
        raise WireError("its parts are longer or shorter than it says")
    parts, at = [], _SIZES.size
    for size in sizes:
        parts.append(data[at : at + size])
        at += size
    return parts


def _document(found: dict[str, Any], packed: memoryview, text: str) -> Document:  # Any: JSON
    blocks = tuple(_blocks(packed, [_text(heading) for heading in found["headings"]]))
    reached = 0
    for block in blocks:
        if not reached <= block.start < block.end <= len(text):
            raise WireError(f"block {block.paragraph} is out of place")
        reached = block.end
    return Document(
        text=text,
        blocks=blocks,
        media_type=_text(found["media_type"]),
        extractor=_text(found["extractor"]),
        extractor_version=_text(found["extractor_version"]),
        title=None if found["title"] is None else _text(found["title"]),
        warnings=tuple(map(_text, found["warnings"])),
        quality=_quality(found["quality"]),
    )


def _blocks(packed: memoryview, headings: list[str]) -> list[Block]:
    return [
        Block(
            kind=_KINDS[kind],
            start=start,
            end=end,
            paragraph=paragraph,
            page=page or None,
            heading=headings[heading],
            main=bool(main),
            level=level,
        )
        for kind, main, start, end, paragraph, page, heading, level in _BLOCK.iter_unpack(packed)
    ]


def _quality(found: dict[str, Any]) -> Quality:  # Any: JSON, checked field by field
    pages = found["pages"]
    return Quality(
        pages=None if pages is None else int(pages),
        pages_without_text=tuple(map(int, found["pages_without_text"])),
        pages_in_doubt=tuple(map(int, found["pages_in_doubt"])),
        dropped=tuple(map(_text, found["dropped"])),
        hidden_text=tuple(map(_text, found["hidden_text"])),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise WireError(f"expected text, got {type(value).__name__}")
    return value
