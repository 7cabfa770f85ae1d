"""Paths of planned files, whatever marks a model puts around them."""

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from state.values import planned_paths
from state.values.code_plan import FileRole

_MARKS = " \t\r\n`'\"[](){}<>*,;:"
_LABEL = re.compile(r"\A(?:file(?:name)?|path)\s*[:=]\s*", re.IGNORECASE)
_ALLOWED = re.compile(r"[\w.@+() -]+\Z")
_TEST_NAME = re.compile(r"test_.+|.+_test\.\w+|.+\.(?:test|spec)\.\w+|.+Tests?\.(?:java|cs|kt)")
_DATA = frozenset({".csv", ".tsv", ".parquet", ".npy", ".jsonl"})
_LONGEST = 200
_DEEPEST = 12
LANGUAGES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript",
    ".cjs": "javascript", ".jsx": "javascript", ".ts": "typescript", ".tsx": "typescript",
    ".rs": "rust", ".go": "go", ".java": "java", ".c": "c", ".h": "c", ".cpp": "cpp",
    ".cc": "cpp", ".hpp": "cpp", ".cs": "csharp", ".jl": "julia", ".r": "r", ".m": "matlab",
    ".rb": "ruby", ".kt": "kotlin", ".swift": "swift", ".scala": "scala", ".sh": "bash",
    ".md": "markdown", ".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml",
    ".xml": "xml", ".xaml": "xml", ".html": "html", ".css": "css", ".sql": "sql",
}  # fmt: skip


def normal_path(said: str) -> str:
    """Return the relative path with `/` that `said` means, or '' when it is none.

    Backticks, brackets, quotes, labels and a leading `./` or `/` are taken off. A folder, a path
    that leaves the workspace, and one into `.git` are none.
    """
    clean = planned_paths.clean_path(said)
    path = _LABEL.sub("", clean.strip(_MARKS)).strip(_MARKS).replace("\\", "/")
    if path.endswith("/") or len(path) > _LONGEST or re.match(r"[A-Za-z]:|~|[a-z]+://", path):
        return ""
    parts = [part.strip() for part in path.split("/")]
    parts = [part for part in parts if part not in ("", ".")]
    if not parts or len(parts) > _DEEPEST or parts[0].casefold() == ".git":
        return ""
    if any(part.endswith(".") or not _ALLOWED.match(part) for part in parts):
        return ""
    name = parts[-1]
    return "/".join(parts) if "." in name or name in ("Makefile", "Dockerfile", "LICENSE") else ""


def role_of(path: str) -> FileRole:
    """Return what a file is for, as its path tells: as for every plan, and data by its suffix."""
    suffix = PurePosixPath(path).suffix.casefold()
    return FileRole.DATA if suffix in _DATA else planned_paths.role_of(path)


def is_manifest(path: str) -> bool:
    """Tell whether the file lists packages as pip reads them."""
    return re.fullmatch(r"requirements[\w.-]*\.txt", PurePosixPath(path).name) is not None


def is_runnable_test(path: str) -> bool:
    """Tell whether a test runner finds tests in the file by its name."""
    return _TEST_NAME.fullmatch(PurePosixPath(path).name) is not None


def language_of(path: str) -> str:
    """Return the language of a file, as fences name it; '' if its suffix tells none."""
    return LANGUAGES.get(PurePosixPath(path).suffix.casefold(), "")


def module_of(path: str) -> str:
    """Return the name that a Python file is imported by, from the root or from `src`."""
    place = PurePosixPath(path)
    if place.suffix != ".py":
        return ""
    parts = [*place.parts[:-1], place.stem]
    if parts[0] == "src" and len(parts) > 1:
        parts = parts[1:]
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""


_PACKAGES = {
    "sklearn": "scikit-learn", "cv2": "opencv-python", "pil": "pillow", "yaml": "PyYAML",
    "skimage": "scikit-image", "bs4": "beautifulsoup4", "pytorch": "torch", "dateutil":
    "python-dateutil",
}  # fmt: skip
_PACKAGE = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[\w, -]+\])?"
    r"\s*((?:(?:[<>=!~]=|[<>])\s*[\w.*+!]+\s*,?\s*)*)\Z"
)


def installed_name(said: str) -> str:
    """Return one spelling of what a package is imported and installed as."""
    name = _PACKAGES.get(said.casefold(), said)
    return re.sub(r"[-_.]+", "-", name).casefold()


def packages(said: Iterable[str], own: Sequence[str]) -> list[tuple[str, str]]:
    """Return names and specifiers of packages of Python, each once, by what they are installed as.

    The standard library's and the program's `own` modules are none.
    """
    found: dict[str, tuple[str, str]] = {}
    for each in said:
        match = _PACKAGE.match(each.lstrip(" `'\"-*").rstrip(" `'\","))
        if match is None:
            continue
        name = _PACKAGES.get(match[1].casefold(), match[1])
        key = installed_name(name)
        is_own = key.replace("-", "_") in {module.casefold() for module in own}
        if match[1] in sys.stdlib_module_names or is_own or key in ("python", "none", "pip"):
            continue
        found.setdefault(key, (name, re.sub(r"\s+", "", match[2]).strip(",")))
    return list(found.values())
