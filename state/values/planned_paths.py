"""Paths as models write them, made into paths of a workspace; and what a path tells of its file."""

import re
import unicodedata

from state.values.code_plan import FileRole
from state.values.code_plan_order import is_manifest

_LABEL = re.compile(r"(?i)(?:#{1,6}\s*)?(?:(?:file(?:\s?name)?|path)\s*[:=]\s*)?")
_LINK = re.compile(r"\[([^\[\]]+)\]\(\1\)\Z")
_QUOTES = "`\"'*"
_BRACKETS = {"[": "]", "(": ")", "<": ">", "{": "}"}
_TESTS = frozenset({"test", "tests", "__tests__", "spec"})
_TEST_NAME = re.compile(
    r"test_.*\.py|.*_test\.(?:py|go)|conftest\.py|.*\.(?:test|spec)\.[cm]?[jt]sx?"
    r"|.*Tests?\.(?:java|kt|cs)"
)
_DOCUMENTS = (".md", ".rst", ".adoc", ".txt")
_CONFIGURATION = (".toml", ".cfg", ".ini", ".yaml", ".yml", ".lock", ".env", ".editorconfig")
_CODE = (
    *(".py", ".pyx", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".rs", ".go"),
    *(".java", ".kt", ".cs", ".c", ".cc", ".cpp", ".h", ".hpp", ".jl", ".rb", ".r", ".swift"),
)


def clean_path(said: str) -> str:
    """Return the path that `said` means, without the marks that a model puts around file names.

    Taken off are labels (`#### File: main.go`), backticks, quotes, brackets, bold and a leading
    `./`; a backslash becomes `/`. What leads out of the workspace still does: this judges nothing.
    Doing it twice is doing it once.
    """
    path = unicodedata.normalize("NFC", said)
    while (less := _less(path)) != path:
        path = less
    return path


def _less(path: str) -> str:
    path = path.strip()
    if link := _LINK.match(path):
        return link[1]
    label = _LABEL.match(path)
    if label and path[label.end() :]:
        path = path[label.end() :].strip()
    if len(path) > 2 and _is_wrapped(path):
        path = path[1:-1].strip()
    if path.endswith((":", ",", ";")) and len(path) > 1:
        path = path[:-1]
    path = re.sub(r"/{2,}", "/", path.replace("\\", "/")) if not path.startswith("//") else path
    return path.removeprefix("./") or path


def _is_wrapped(path: str) -> bool:
    if path[0] in _QUOTES:
        return path[-1] == path[0]
    return _BRACKETS.get(path[0]) == path[-1] and path[0] not in path[1:]  # `[a]/[b]` is a path


def role_of(path: str) -> FileRole:
    """Return what the file at `path` is for, as its name and folders tell."""
    *folders, name = path.split("/")
    lower = name.casefold()
    if _TEST_NAME.fullmatch(name):
        return FileRole.TEST
    if lower.endswith(_CODE):
        is_test = not _TESTS.isdisjoint(folder.casefold() for folder in folders)
        return FileRole.TEST if is_test else FileRole.SOURCE
    if is_manifest(path) or lower.endswith(_CONFIGURATION) or lower.startswith("."):
        return FileRole.CONFIGURATION
    if lower.endswith(_DOCUMENTS) or lower.partition(".")[0] in ("readme", "license", "notice"):
        return FileRole.DOCUMENT
    return FileRole.SOURCE
