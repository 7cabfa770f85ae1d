"""The tests in a Rust source: Rust keeps unit tests in the file that they test."""

import re

# A test module or function: `#[cfg(test)]`, `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[case(1)]`.
_TEST = re.compile(
    r"#\[\s*(?:cfg\s*\(\s*(?:all\s*\(\s*)?test\b|(?:\w+::)*(?:test|rstest|test_case)\b)"
)
_FUNCTION = re.compile(r"#\[\s*(?:\w+::)*test\s*(?:\([^)\]]*\)\s*)?\]")
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
# What may rightly be left out of a build on this machine.
_CONDITION = re.compile(r"#!?\[\s*(?:cfg\s*\((?!\s*test\s*\))|cfg_attr\b)")
_NAMED = re.compile(r"(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(\w+)")


def defined_tests(source: str) -> tuple[str, ...]:
    """Return the names of the functions that a Rust source says are tests, sorted.

    Empty for a file of which anything is compiled on a condition.
    """
    if _CONDITION.search(source):
        return ()
    found: set[str] = set()
    at = 0
    while (token := _TOKEN.search(source, at)) is not None:
        at = token.end()
        if token[0] == "#[" and (test := _FUNCTION.match(source, token.start())) is not None:
            named = _NAMED.match(source, test.end())
            found |= {named[1]} if named is not None else set()
    return tuple(sorted(found))


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
