"""The JSON form of a code plan: read strictly, with the place of whatever is wrong."""

import json
import re
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from state.values.code_plan import CodePlan
from state.values.errors import InvalidRequest

MAX_TEXT = 4_000_000

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?:json[c5]?|JSON)?[ \t]*$", re.MULTILINE)
_ADVICE = "it is JSON with the parts " + ", ".join(
    field.name for field in fields(CodePlan) if field.default is MISSING
)


class _Number(str):
    """A number as it is spelled: `1e-3` shall not become `0.001`."""

    __slots__ = ()


def parse_code_plan(text: str) -> CodePlan:
    """Return the plan that JSON `text` spells, as `CodePlan.as_json` gives it.

    The JSON may stand in a fenced block, and under the key `plan` of a larger object. What the form
    gives a default may be left out or null, and a number may stand for its own text. Whether the
    plan can be carried out is for `check_code_plan`. Raises `InvalidRequest` saying where the text
    is wrong.
    """
    try:
        value = _load(text)
        if isinstance(value, dict) and "plan" in value and "file_structure" not in value:
            value = value["plan"]
        plan = _read(CodePlan, value, "")
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(f"the plan is not readable: {error}; {_ADVICE}") from error
    assert isinstance(plan, CodePlan)  # noqa: S101 - what `_read` was asked for
    return plan


def _load(text: str) -> object:
    if len(text) > MAX_TEXT:
        raise ValueError(f"it is longer than {MAX_TEXT:,} characters")
    decoder = json.JSONDecoder(
        parse_float=_Number, parse_int=_Number, parse_constant=_refuse, object_pairs_hook=_once
    )
    bare = text.strip().removeprefix("\ufeff")
    fence = _FENCE.search(bare)
    if bare.startswith(("{", "[")) or fence is None:
        value: object = decoder.decode(bare)
        return value
    # Whatever the block holds is JSON: a fence within one of its texts does not end it.
    start = fence.end() + 1
    start += len(bare[start:]) - len(bare[start:].lstrip())
    value, end = decoder.raw_decode(bare, start)
    if not _FENCE.match(bare[end:].lstrip()):
        raise ValueError("something stands behind the JSON in its block")
    return value


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise ValueError(f"an object has the key {twice!r} twice")
    return found


def _read(kind: Any, value: object, where: str) -> object:
    """Return `value` as a `kind`; an error says what is wrong, and where."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _read_object(kind, value, where)
    if isinstance(kind, UnionType):  # something, or None
        return None if value is None else _read(get_args(kind)[0], value, where)
    if get_origin(kind) is tuple:
        return _read_list(get_args(kind)[0], value, where)
    return _READERS[StrEnum if issubclass(kind, StrEnum) else kind](kind, value, where)


def _read_object(kind: Any, value: object, where: str) -> object:
    if not isinstance(value, dict):
        raise TypeError(f"{where or 'the plan'} is not an object")
    known: dict[str, Field[Any]] = {field.name: field for field in fields(kind)}
    if unknown := sorted(set(value) - set(known)):
        raise ValueError(f"{where or 'the plan'} has unknown keys: {', '.join(unknown)}")
    hints = get_type_hints(kind)
    given = {}
    for name, field in known.items():
        at = f"{where}.{name}" if where else name
        if value.get(name) is not None:
            given[name] = _read(hints[name], value[name], at)
        elif field.default is MISSING:
            raise ValueError(f"{at} is missing")
    return kind(**given)


def _read_list(kind: Any, value: object, where: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{where} is not a list")
    return tuple(_read(kind, item, f"{where}[{number}]") for number, item in enumerate(value))


def _read_text(_kind: Any, value: object, where: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{where} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{where} holds half a character (a lone surrogate)") from None
    return str(value)


def _read_word(kind: Any, value: object, where: str) -> object:
    words = [str(member) for member in kind]
    text = value.strip().lower() if isinstance(value, str) else value
    if text not in words:
        raise ValueError(f"{where} is {value!r}; it is one of {', '.join(words)}")
    return kind(text)


def _read_count(_kind: Any, value: object, where: str) -> int:
    if not isinstance(value, _Number) or not re.fullmatch(r"-?[0-9]{1,15}", value):
        raise TypeError(f"{where} is not a whole number")
    return int(value)


_READERS: dict[Any, Callable[[Any, object, str], object]] = {
    str: _read_text,
    int: _read_count,
    StrEnum: _read_word,
    NoneType: _read_text,
}
