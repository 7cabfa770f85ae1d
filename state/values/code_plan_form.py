"""The form of a code plan: read from JSON strictly, and mended where that changes no meaning."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from state.values.code_plan import CodePlan, FileRole, PlannedFile
from state.values.code_plan_order import (
    find_cycle,
    has_manifest,
    is_closing,
    is_readme,
    manifests_for,
    write_order,
)
from state.values.errors import InvalidRequest
from state.values.planned_paths import clean_path, role_of
from state.values.visible import without_hidden

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


# ---- normal form

_PATHS = frozenset({"path", "depends_on", "tests", "order"})
_KEPT = _PATHS | {"quote"}  # what is looked up stays as it was written


def normalise_code_plan(plan: CodePlan) -> CodePlan:
    """Return `plan` with everything mended that can be without deciding anything.

    File names lose the marks around them, also where they are referred to; roles follow from paths
    where nothing else was said; README and requirements are added, and come last; the files are
    put in order. Hidden characters go. What is still wrong then is for `check_code_plan` to name.
    Doing it twice is doing it once.
    """
    plan = _visible(plan)
    files = _with_closing(plan, tuple(dict.fromkeys(map(_clean_file, plan.file_structure))))
    known = _by_folded(file.path for file in files)
    tests = _resolved(plan.validation_approach.tests, known)
    files = tuple(_settled(file, known, tests) for file in files)
    tests = tests or tuple(file.path for file in files if file.role is FileRole.TEST)
    plan = replace(
        plan,
        file_structure=files,
        validation_approach=replace(plan.validation_approach, tests=tests),
        implementation_strategy=replace(
            plan.implementation_strategy,
            order=_resolved(plan.implementation_strategy.order, known),
        ),
    )
    if find_cycle(plan) or set(plan.implementation_strategy.order) - {f.path for f in files}:
        return plan
    strategy = replace(plan.implementation_strategy, order=write_order(plan))
    return replace(plan, implementation_strategy=strategy)


def _visible(value: Any, name: str = "") -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in fields(value))
        return replace(value, **{each: _visible(getattr(value, each), each) for each in names})
    if isinstance(value, tuple):
        return tuple(_visible(each, name) for each in value)
    if isinstance(value, str) and not isinstance(value, StrEnum) and name not in _KEPT:
        return without_hidden(value)
    return value


def _clean_file(file: PlannedFile) -> PlannedFile:
    path = clean_path(file.path)
    role = role_of(path) if file.role is FileRole.SOURCE else file.role
    return replace(file, path=path, role=role)


def _with_closing(plan: CodePlan, files: tuple[PlannedFile, ...]) -> tuple[PlannedFile, ...]:
    sources = tuple(file.path for file in files if file.role is FileRole.SOURCE)
    if not any(is_readme(file.path) for file in files):
        purpose = "Says what this is, how to install and run it, and how to run its tests."
        readme = PlannedFile("README.md", purpose, FileRole.DOCUMENT, depends_on=sources)
        files = (*files, readme)
    if not has_manifest(replace(plan, file_structure=files)):
        name = (*manifests_for(plan.environment_setup.language), "requirements.txt")[0]
        purpose = "Names the packages that the code needs, with their versions."
        files = (*files, PlannedFile(name, purpose, FileRole.CONFIGURATION))
    return files


def _by_folded(paths: Iterable[str]) -> dict[str, str]:
    """Return paths by their case-folded form, without those that share one."""
    found: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        found.setdefault(path.casefold(), []).append(path)
    return {folded: same[0] for folded, same in found.items() if len(same) == 1}


def _resolved(said: Iterable[str], known: dict[str, str]) -> tuple[str, ...]:
    """Return the planned paths that `said` means, each once; what is none of them stays."""
    cleaned = (clean_path(path) for path in said)
    return tuple(dict.fromkeys(known.get(path.casefold(), path) for path in cleaned))


def _settled(file: PlannedFile, known: dict[str, str], tests: tuple[str, ...]) -> PlannedFile:
    needed = tuple(
        path
        for path in _resolved(file.depends_on, known)
        if path != file.path and (is_closing(file.path) or not is_closing(path))
    )
    is_test = file.path in tests and file.role is FileRole.SOURCE
    return replace(file, depends_on=needed, role=FileRole.TEST if is_test else file.role)
