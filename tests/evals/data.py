"""Labelled data from a folder laid out as the evaluations want it; says clearly what is amiss."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Absent(Exception):
    """What an evaluation needs is not there; it is left out and said to be."""


class BadData(Exception):
    """What is there does not have the form that the evaluation reads."""


def default_folder() -> Path:
    """Return the folder of the labelled data: ASSAY_SHARED/data, or ../shared/data."""
    shared = os.environ.get("ASSAY_SHARED")
    return (Path(shared) if shared else ROOT.parent / "shared") / "data"


def text_of(folder: Path, name: str) -> str:
    """Return the text of the file `name` below `folder`."""
    path = folder / name
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Absent(f"{path} is not there") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read as UTF-8 text: {error}") from error


def records(folder: Path, name: str, fields: Mapping[str, type]) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file, each with at least `fields` of these types."""
    found = []
    for number, line in enumerate(text_of(folder, name).splitlines(), 1):
        if not line.strip():
            continue
        place = f"{folder / name}, line {number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise BadData(f"{place} is not JSON: {error}") from error
        if not isinstance(record, dict):
            raise BadData(f"{place} is not an object")
        for field, kind in fields.items():
            if not isinstance(record.get(field), kind):
                raise BadData(f"{place}: {field!r} is missing or not of type {kind.__name__}")
        found.append(record)
    if not found:
        raise BadData(f"{folder / name} holds no record")
    return found
