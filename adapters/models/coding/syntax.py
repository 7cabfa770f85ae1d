"""Whether a text can be the file that its path says: it parses, or at least it is whole."""

import json
import re
import tomllib
import warnings
from collections.abc import Callable
from pathlib import PurePosixPath

MAX_CHARACTERS = 1_000_000
_PAGE = re.compile(r"\s*(?:<!doctype html|<html\b)", re.IGNORECASE)
_PAGES = frozenset({".html", ".htm", ".xhtml", ".md", ".xml", ".svg", ".vue"})
_EMPTY_ALLOWED = frozenset({"__init__.py", ".gitkeep", "py.typed"})
_FENCE = re.compile(r"\s*(?:```|~~~)")
_C_LIKE = frozenset(
    ".c .h .cc .cpp .hpp .cu .cs .java .kt .js .mjs .cjs .jsx .ts .tsx .go .rs .swift .scala"
    .split()
)  # fmt: skip
# Where a bracket or a quote can stand in a pattern or as text between tags, nothing is told.
_REGEXPS = frozenset(".js .mjs .cjs .jsx .ts .tsx".split())
_SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|`(?:\\.|[^`\\])*`", re.DOTALL
)
_SINGLE_QUOTED = re.compile(r"'(?:\\.|[^'\\\n])*'")
_LONGEST_LINE = 400
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_REQUIREMENT = re.compile(
    r"(?:-{1,2}[a-z][\w-]*(?:[ =].*)?|[A-Za-z0-9][\w.-]*\s*(?:\[[\w,. -]*\])?\s*(?:@.+"
    r"|\(?\s*(?:[<>=!~]=?=?\s*[\w.*+!-]+\s*,?\s*)*\)?)\s*(?:;.*)?)\Z"
)


def check_syntax(path: str, text: str) -> str | None:
    """Return what is wrong with `text` as the file `path`, in a sentence; None if nothing is seen.

    Python, JSON, TOML and requirements are parsed. In languages like C it is told whether brackets
    and comments are closed, and of YAML whether its indentation can be; for the rest None says
    only that there is text. Nothing is executed. Blank is wrong except for `__init__.py` and the
    like.
    """
    name = PurePosixPath(path).name
    suffix = PurePosixPath(path).suffix.casefold()
    if len(text) > MAX_CHARACTERS:
        return f"{path} has {len(text)} characters; at most {MAX_CHARACTERS} are taken"
    if not text.strip():
        return None if name in _EMPTY_ALLOWED else f"{path} is empty"
    if "\0" in text:
        return f"{path} contains a null character"
    if is_page(text) and suffix not in _PAGES:
        return f"{path} is a page of HTML, not what its name says"
    if suffix not in (".md", ".rst", ".txt") and _FENCE.match(text):
        return f"{path} begins with a code fence"
    problem = _checker(name, suffix)(text)
    return f"{path}: {problem}" if problem else None


def is_page(text: str) -> bool:
    """Tell whether `text` is a page of HTML, as a broken server answers with."""
    return _PAGE.match(text) is not None


def _checker(name: str, suffix: str) -> Callable[[str], str]:
    if re.fullmatch(r"(?:requirements|constraints)[\w.-]*\.(?:txt|in)", name):
        return _check_requirements
    if suffix in _C_LIKE:
        return lambda text: _check_brackets(text, may_hold_patterns=suffix in _REGEXPS)
    return {
        ".py": _check_python,
        ".pyi": _check_python,
        ".json": _check_json,
        ".ipynb": _check_json,
        ".toml": _check_toml,
        ".yaml": _check_yaml,
        ".yml": _check_yaml,
    }.get(suffix, lambda _: "")


def _check_python(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<file>", "exec", dont_inherit=True, optimize=0)
    except SyntaxError as error:
        line = text.splitlines()[error.lineno - 1 : error.lineno] if error.lineno else []
        shown = f": {line[0].strip()[:120]}" if line else ""
        return f"line {error.lineno}: {error.msg}{shown}"
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        return f"it cannot be compiled: {str(error) or type(error).__name__}"
    return ""


def _check_json(text: str) -> str:
    try:
        json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return f"it is no JSON: {error}"
    return ""


def _check_toml(text: str) -> str:
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        return f"it is no TOML: {error}"
    return ""


def _check_yaml(text: str) -> str:
    """Say what no YAML can have: YAML 1.2, section 6.1, forbids tabs as indentation."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip(" ").startswith("\t") and line.strip():
            return f"line {number}: a tab as indentation"
    return ""


def _check_requirements(text: str) -> str:
    for number, line in enumerate(text.splitlines(), start=1):
        wanted = re.sub(r"(?:^|\s)#.*", "", line).rstrip("\\ ").strip()
        if wanted and not _REQUIREMENT.match(wanted[:_LONGEST_LINE]):
            return f"line {number} names no requirement: {wanted[:80]}"
    return ""


def _check_brackets(text: str, *, may_hold_patterns: bool) -> str:
    """Say which bracket has no partner; nothing where a quote or a pattern leaves that in doubt."""
    plain = _SKIPPED.sub(_blank, text)
    if may_hold_patterns:
        plain = _SINGLE_QUOTED.sub(_blank, plain)
    if "/*" in plain:
        return "a comment is not closed"
    in_doubt = re.search(
        r"[/'\"`]" if may_hold_patterns else r"[\"`]|^\s*#\s*el", plain, re.MULTILINE
    )
    if in_doubt:
        return ""
    opened: list[tuple[str, int]] = []
    for number, line in enumerate(plain.splitlines(), start=1):
        for character in line:
            if character in "([{":
                opened.append((character, number))
            elif character in _BRACKETS and (not opened or opened.pop()[0] != _BRACKETS[character]):
                return f"line {number}: a {character} that nothing opens"
    return f"line {opened[-1][1]}: a {opened[-1][0]} that is not closed" if opened else ""


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n") or " "
