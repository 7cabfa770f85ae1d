"""What a project's configuration files say: one that cannot be read says nothing."""

import json
import re
import tomllib
from collections.abc import Mapping
from configparser import Error as IniError
from configparser import RawConfigParser
from typing import Any

MAX_CONFIGURATION = 1024 * 1024
_KEPT = re.compile(r"--(?:import-mode|asyncio-mode)=\w+")


def read_toml(data: bytes | None) -> Mapping[str, Any] | None:
    """Return what a TOML file says (a BOM is tolerated), or None when it cannot be read."""
    try:
        return None if data is None else tomllib.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return None


def read_json(data: bytes | None) -> Mapping[str, Any] | None:
    """Return the object that a JSON file holds (a BOM is tolerated), or None."""
    try:
        value = None if data is None else json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_ini(data: bytes | None) -> RawConfigParser | None:
    """Return what an INI file says (a BOM is tolerated), or None when it cannot be read."""
    parser = RawConfigParser(strict=False)
    try:
        parser.read_string("" if data is None else data.decode("utf-8-sig"))
    except (UnicodeDecodeError, IniError):
        return None
    return parser


def pytest_settings(name: str, data: bytes | None) -> Mapping[str, Any] | None:
    """Return what the file called `name` sets of pytest, or None when that is nothing.

    `pyproject.toml` may do so in two tables, `setup.cfg` and the others in a section.
    """
    if name == "pyproject.toml":
        tool = (read_toml(data) or {}).get("tool")
        table = tool.get("pytest") if isinstance(tool, dict) else None
        inner = table.get("ini_options") if isinstance(table, dict) else None
        return _table({**_table(table), **_table(inner)}) or None
    if name.endswith(".toml"):
        return _table((read_toml(data) or {}).get("pytest")) or None
    section = "tool:pytest" if name == "setup.cfg" else "pytest"
    parser = read_ini(data)
    return dict(parser[section]) if parser is not None and parser.has_section(section) else None


def python_files(settings: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the patterns of names that pytest's settings take for test files."""
    value = (settings or {}).get("python_files")
    words = value.split() if isinstance(value, str) else value
    if not isinstance(words, list):
        return ()
    return tuple(word for word in words if isinstance(word, str) and word.endswith(".py"))


def kept_options(settings: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return those options that pytest's settings always add and that choose no tests."""
    value = (settings or {}).get("addopts")
    words = value.split() if isinstance(value, str) else value
    if not isinstance(words, list):
        return ()
    return tuple(word for word in words if isinstance(word, str) and _KEPT.fullmatch(word))


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
