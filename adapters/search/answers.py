"""Reads what a provider answered, without trusting a byte of it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from state.values.errors import InvalidRequest

_DEPTH = 4
_TOLD = ("code", "error", "errors", "detail", "message", "info", "text", "msg", "title", "reason")
_POSITION = re.compile(r"[0-9]{1,9}\Z")


class Malformed(ValueError):
    """The provider answered something that is not its format; the message says what is missing."""


class Refused(ValueError):
    """The provider answered, in its own format, that it will not; the message is what it says."""


def json_object(body: bytes) -> Mapping[str, object]:
    """Return the JSON object in `body`. Raises `Malformed` for anything else."""
    if body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        raise Malformed("a web page instead of JSON")
    try:
        value: object = json.loads(body, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise Malformed("JSON that is nested too deeply") from error
    except ValueError as error:
        raise Malformed(_why_no_json(error)) from error
    return mapping(value, "an answer")


def mapping(value: object, what: str) -> Mapping[str, object]:
    """Return `value` if it is a JSON object. Raises `Malformed`, calling it `what`, if not."""
    if isinstance(value, dict):
        return value
    raise Malformed(f"{what} that is no JSON object")


def items(holder: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """Return the objects of the list `name` in `holder`, passing over what is no object.

    Raises `Malformed` when there is no such list.
    """
    value = holder.get(name)
    if not isinstance(value, list):
        raise Malformed(f"no list of `{name}`")
    return [item for item in value if isinstance(item, dict)]


def string(holder: Mapping[str, object], name: str) -> str:
    """Return the text `name` of `holder`, or '' when there is none."""
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def position(cursor: str | None, *, most: int) -> int:
    """Return the number that `cursor` holds (None: 0). Raises `InvalidRequest` past `most`."""
    if cursor is None:
        return 0
    if not _POSITION.match(cursor) or int(cursor) > most:
        raise no_cursor(cursor)
    return int(cursor)


def no_cursor(cursor: str) -> InvalidRequest:
    """Return the error to raise for a cursor that the provider never gave."""
    shown = cursor if len(cursor) <= 40 else cursor[:40] + "\N{HORIZONTAL ELLIPSIS}"
    return InvalidRequest(f"{shown!r} is no cursor of this search; pass back the one it gave.")


def said(body: bytes) -> str:
    """Return what the body of a refusal says in words: '' for a web page or for nothing."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        text = body[:1_000].decode("utf-8", "replace").strip()
        return "" if text[:1] in ("<", "{", "[") else text
    told = dict.fromkeys(_told(value, _DEPTH))
    return ": ".join(list(told)[:3]).replace(".: ", ": ")


def _told(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif depth and isinstance(value, Mapping):
        for name in _TOLD:
            yield from _told(value.get(name), depth - 1)
    elif depth and isinstance(value, Sequence) and not isinstance(value, str):
        for item in value[:3]:
            yield from _told(item, depth - 1)


def _refuse_constant(name: str) -> NoReturn:
    raise Malformed(f"JSON with the number {name}, which JSON does not have")


def _why_no_json(error: ValueError) -> str:
    if isinstance(error, Malformed):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        return f"JSON that breaks off or is spoilt at character {error.pos}"
    return "bytes that are no JSON"
