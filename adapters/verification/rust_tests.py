"""The tests inside of a Rust source: Rust keeps unit tests in the file that they test."""

import re

# A test module or function: `#[cfg(test)]`, `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[case(1)]`.
_TEST = re.compile(
    r"#\[\s*(?:cfg\s*\(\s*(?:all\s*\(\s*)?test\b|(?:\w+::)*(?:test|rstest|test_case)\b)"
)
_TOKEN = re.compile(
    r"//[^\n]*+"
    r"|/\*.*?\*/"
    r"|b?r(?P<hashes>#*)\".*?\"(?P=hashes)"
    r"|\"(?:\\.|[^\"\\])*+\""
    r"|'(?:\\[^']{1,12}|[^\\'\n])'"
    r"|#!?\["
    r"|[{}()\[\];]",
    re.DOTALL,
)


def unit_tests_of(source: str) -> str:
    """Return the tests that a Rust source holds, in order, one after another; '' for none.

    A region goes from its attribute to the end of the item that the attribute stands before.
    """
    regions: list[str] = []
    at = 0
    while (token := _TOKEN.search(source, at)) is not None:
        at = token.end()
        if token[0] == "#[" and _TEST.match(source, token.start()):
            at = _end_of_item(source, at)
            regions.append(source[token.start() : at])
    return "\n".join(regions)


def _end_of_item(source: str, at: int) -> int:
    """Return where the item ends whose attribute's bracket was opened just before `at`."""
    depth = 1
    while (token := _TOKEN.search(source, at)) is not None:
        at = token.end()
        if token[0] in ("{", "(", "[", "#[", "#!["):
            depth += 1
        elif token[0] in ("}", ")", "]"):
            depth -= 1
            if depth <= 0 and token[0] == "}":
                return at
        elif token[0] == ";" and depth <= 0:
            return at
    return len(source)
