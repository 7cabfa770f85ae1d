"""Which files hold tests of JavaScript or TypeScript, by their names and what they call."""

import re
from pathlib import PurePosixPath

_NAME = re.compile(r"(?:test[-_.].*|.*[-_.](?:test|spec))\.[cm]?[jt]sx?")
_CALL = re.compile(rb"(?<![\w.$])(?:test|it|describe|suite)\s*(?:\.\s*\w+\s*)?\(")


def seems_to_test(source: bytes) -> bool:
    """Tell whether a source calls what defines tests."""
    return _CALL.search(source) is not None


def is_test_file(name: str, source: bytes) -> bool:
    """Tell whether a file is called as test files are, and seems to define some."""
    return _NAME.fullmatch(name) is not None and seems_to_test(source)


def stem(path: str) -> str:
    """Return what a test file is called, also once it is compiled: `a.test` for `b/a.test.ts`."""
    return PurePosixPath(path).stem
