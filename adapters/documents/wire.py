"""Conversions as bytes, for pipes and caches: JSON that is checked when it comes back."""

import json
from dataclasses import asdict
from typing import Any

from state.values.blocks import Block, BlockKind, Conversion, Document, Outcome, Quality


class WireError(ValueError):
    """The bytes are not a conversion."""


def encode_conversion(conversion: Conversion) -> bytes:
    """Return `conversion` as JSON in UTF-8."""
    document = conversion.document
    body: dict[str, object] = {"outcome": conversion.outcome.value, "reason": conversion.reason}
    if document is not None:
        body["document"] = {
            "text": document.text,
            "blocks": [
                [b.kind.value, b.start, b.end, b.paragraph, b.page, b.heading, b.main, b.level]
                for b in document.blocks
            ],
            "media_type": document.media_type,
            "extractor": document.extractor,
            "extractor_version": document.extractor_version,
            "title": document.title,
            "warnings": document.warnings,
            "quality": asdict(document.quality),
        }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def decode_conversion(data: bytes) -> Conversion:
    """Return the conversion in `data`, whose blocks are in order and inside the text.

    Raises `WireError` for anything else: the writer may have been taken over by what it read.
    """
    try:
        body = json.loads(data)
        found = body.get("document")
        return Conversion(
            outcome=Outcome(body["outcome"]),
            reason=_text(body["reason"]),
            document=None if found is None else _document(found),
        )
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise WireError(f"not a conversion: {error}") from error


def _document(found: dict[str, Any]) -> Document:  # Any: JSON, checked field by field
    text = _text(found["text"])
    blocks = tuple(
        Block(
            BlockKind(kind),
            int(start),
            int(end),
            int(number),
            page,
            _text(heading),
            main is True,
            int(level),
        )
        for kind, start, end, number, page, heading, main, level in found["blocks"]
    )
    reached = 0
    for block in blocks:
        if not reached <= block.start < block.end <= len(text):
            raise WireError(f"block {block.paragraph} is out of place")
        if block.page is not None and type(block.page) is not int:
            raise WireError(f"block {block.paragraph} has no page number but {block.page!r}")
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
