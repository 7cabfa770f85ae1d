"""Reading what the scripts inside of the sandbox wrote down: counts, and what did not run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from state.values.verification import Counts


@dataclass(frozen=True, slots=True)
class Record:
    """What a run of tests left behind.

    `is_complete` tells whether the runner came to its end; else the counts are as of shortly
    before. `exit_code` is what the runner itself said then. `seen` are the tests that were found,
    as (file, name); a name is '' for a file that said that it is to be skipped. `faults` are tests
    that failed, `unrun` those that were found and not run, `rewritten` those whose failure was
    reported as something else, and `idle` files that were run and had no test. `foreign` are those
    of `seen` whose code is not from that file, `replaced` what tests assert with and something else
    was put in its place, `files` where tests are that ran. `details` is what the runner says of
    failures, where it does not say so in its output.
    """

    counts: Counts
    is_complete: bool
    exit_code: int | None = None
    seen: frozenset[tuple[str, str]] = frozenset()
    faults: tuple[str, ...] = ()
    unrun: tuple[str, ...] = ()
    unrun_count: int = 0
    rewritten: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    foreign: frozenset[tuple[str, str]] = frozenset()
    replaced: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    details: str = ""


def read_record(data: bytes | None, nonce: str) -> Record | None:
    """Return the record that `data` ends with, or None when nothing in it is from our script.

    Lines without the `nonce` are somebody else's, and are passed over.
    """
    said: Mapping[str, Any] = {}
    for line in (data or b"").splitlines():
        found = _line(line, nonce)
        if found is not None and not said.get("end"):
            said = found
    sums = said.get("sums")
    if not isinstance(sums, dict):
        return None
    number = {key: _count(sums.get(key)) for key in ("passed", "failed", "errors", "skipped")}
    seen = _pairs(said.get("seen"))
    seen |= {(each, "") for each in _texts(said.get("skipped_files"))}
    return Record(
        counts=Counts(executed=number["passed"] + number["failed"], **number),
        is_complete=said.get("end") is True,
        exit_code=said["exit"] if isinstance(said.get("exit"), int) else None,
        seen=frozenset(seen),
        faults=_texts(said.get("faults")),
        unrun=_texts(said.get("unrun")),
        unrun_count=_count(sums.get("unrun")),
        rewritten=_texts(said.get("rewritten")),
        idle=_texts(said.get("idle")),
        foreign=frozenset(_pairs(said.get("foreign"))),
        replaced=_texts(said.get("replaced")),
        files=_texts(said.get("files")),
    )


def _line(line: bytes, nonce: str) -> Mapping[str, Any] | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) and said.get("nonce") == nonce else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each)[:400] for each in _list(value))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _pairs(value: object) -> set[tuple[str, str]]:
    return {(each[0], each[1]) for each in _list(value) if _is_pair(each)}


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and [type(part) for part in value] == [str, str]
