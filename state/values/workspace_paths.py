"""Paths of a workspace: relative, in one spelling, and the same file on every system."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise

from state.values.redaction import has_secret

MAX_PATH = 400
MAX_SEGMENT_BYTES = 255
MAX_DEPTH = 32

_FORBIDDEN = frozenset('<>:"|?*\\')
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\.|$)", re.IGNORECASE
)
_GIT = re.compile(r"(?i)(?:\.git|git~[0-9]+)$")


def path_problem(path: str) -> str:
    """Return what is wrong with `path` as a file of a workspace, or '' when nothing is.

    A path is relative, with `/`, and has one spelling. It leads neither out of the workspace nor
    into a `.git`, and names a file also where some names are devices.
    """
    if not path:
        return "it is empty"
    if len(path) > MAX_PATH:
        return f"it is longer than {MAX_PATH} characters"
    if path.startswith(("/", "~")):
        return "it is not relative to the workspace"
    if bad := sorted({sign for sign in path if sign in _FORBIDDEN}):
        return f"it holds {' '.join(bad)}"
    if any(unicodedata.category(sign)[0] == "C" or sign in "\u2028\u2029" for sign in path):
        return "it holds a character that cannot be seen"
    if unicodedata.normalize("NFC", path) != path:
        return "it is not in Unicode's normal form NFC"
    if has_secret(path):
        return "it looks like a secret"
    segments = path.split("/")
    if len(segments) > MAX_DEPTH:
        return f"it is more than {MAX_DEPTH} folders deep"
    return next(filter(None, map(_segment_problem, segments)), "")


def _segment_problem(segment: str) -> str:
    if not segment:
        return "it has an empty name between slashes, or ends in one"
    if segment in (".", ".."):
        return f"it has a part {segment!r}"
    if segment[-1] in ". " or segment[0].isspace() or segment[-1].isspace():
        return f"{segment!r} begins with a space, or ends in a space or a dot"
    if len(segment.encode()) > MAX_SEGMENT_BYTES:
        return f"a name in it is longer than {MAX_SEGMENT_BYTES} bytes"
    if _GIT.match(segment):
        return f"it lies in {segment!r}, which belongs to git"
    if _RESERVED.match(segment):
        return f"{segment!r} is the name of a device on Windows"
    return ""


def path_problems(paths: Iterable[str]) -> list[str]:
    """Return what is wrong with `paths` together and each by itself; empty when nothing is.

    Together they name each file once, whatever the case, and no file is a folder as well.
    """
    every = list(paths)
    problems = [
        f"file {path[:100]!r}: {problem}" for path in every if (problem := path_problem(path))
    ]
    # Sorted by its parts, whatever lies in a folder comes right after the folder's own name.
    parts = sorted((tuple(_folded(path).split("/")), path) for path in every)
    for (shorter, one), (longer, other) in pairwise(parts):
        if shorter == longer:
            said = "is planned twice" if one == other else f"and {other!r} are one file to some"
            problems.append(f"file {one!r} {said}")
        elif longer[: len(shorter)] == shorter:
            problems.append(f"{one!r} is a file, and a folder for {other!r}")
    return problems


def _folded(path: str) -> str:
    return unicodedata.normalize("NFKC", path.casefold())
