"""JSON as models write it: read out of prose, fences and thoughts, small slips mended."""

import ast
import json
import re
from collections.abc import Iterator

_TAG = r"(?:think|thinking|thought|reasoning)"
# Only where an answer begins: further on, the word stands for itself.
_THOUGHTS = re.compile(rf"(?is)\A(?:\s*<({_TAG[3:-1]})>.*?</\1>)+")
_ENDLESS_THOUGHT = re.compile(rf"(?i)\A\s*<{_TAG}>")
# The opening tag can be part of the prompt: then the answer begins in the midst of a thought.
_REST_OF_THOUGHT = re.compile(rf"(?is)\A(?!\s*[{{\[])(?:(?!<{_TAG}>).)*?</{_TAG}>")
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_TEXT_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL)
# A brace in prose is followed by something else.
_START = re.compile(r"\{(?=\s*(?:[\"'}]|\Z))|\[(?=\s*(?:[\"'{\[\]]|\Z))")
_MOST_STARTS = 32


class NoJson(ValueError):
    """There is no JSON in the text."""


class CutOff(NoJson):
    """The JSON in the text begins and does not end."""


def without_thoughts(text: str) -> str:
    """Return `text` without what a model thinks aloud before it answers; '' when that is all."""
    text = _REST_OF_THOUGHT.sub("", _THOUGHTS.sub("", text.lstrip("\ufeff")))
    return "" if _ENDLESS_THOUGHT.match(text) else text.strip()


def read_json(text: str) -> Iterator[object]:
    """Yield the objects and lists in `text`, the whole and what is fenced before what is found.

    NaN and infinities are null. Trailing commas, `True`, `None` and single quotes are mended when
    what results is beyond doubt. Raises `CutOff` or `NoJson` when there is nothing to yield.
    """
    text = without_thoughts(text)
    found = cut = False
    for candidate in [text, *(fenced.strip() for fenced in _FENCED.findall(text))]:
        if candidate[:1] in ("{", "[") and (value := _load(candidate)) is not None:
            found = True
            yield value
    if found:
        return
    if text[:1] in ("{", "[") and _end(text, 0) is None:  # what is whole in it is only a part
        raise CutOff("the JSON is cut off")
    for piece in _pieces(text):
        if piece is None:
            cut = True
        elif (value := _load(piece)) is not None:
            found = True
            yield value
    if not found:
        raise CutOff("the JSON is cut off") if cut else NoJson("there is no JSON object")


def _pieces(text: str) -> Iterator[str | None]:
    """Yield each balanced piece, and None for one that does not end."""
    at = 0
    for _ in range(_MOST_STARTS):
        found = _START.search(text, at)
        if found is None:
            return
        start = found.start()
        end = _end(text, start)
        if end is None:
            yield None
            return
        yield text[start:end]
        at = end


def _end(text: str, start: int) -> int | None:
    depth = 0
    in_text = escaped = False
    for i in range(start, len(text)):
        character = text[i]
        if in_text:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_text = False
        elif character == '"':
            in_text = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return i + 1
    return None


def _load(text: str) -> object:
    """Return the object or list that `text` is, or None."""
    for attempt in (text, _TEXT_OR_COMMA.sub(r"\1", text)):
        try:
            value: object = json.loads(attempt, strict=False, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict | list) else None
    return _load_python(text)


def _load_python(text: str) -> object:
    """Read `{'a': True}`: quotes are single only where Python too sees one literal in it."""
    try:
        value: object = ast.literal_eval(text)
        return json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
