"""Numbers that tests expect: from what the paper states, or computed in the test itself."""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from adapters.models.coding.fenced import Unusable

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_FEW_DIGITS = 2
_EXPECTED = re.compile(r"(?i)expect|result|want|output|answer|erwart")
_APPROX = frozenset({"approx", "isclose", "allclose", "assert_allclose", "assertAlmostEqual"})


@dataclass(frozen=True, slots=True)
class Grounded:
    """A test file without the tests that expect what nobody stated, and their names."""

    text: str
    left_out: tuple[str, ...]


def numbers_in(text: str) -> frozenset[float]:
    """Return the numbers that stand in `text`, without signs."""
    return frozenset(float(each) for each in _NUMBER.findall(text.replace(",", " ")))


def keep_grounded(text: str, stated: frozenset[float]) -> Grounded:
    """Return the Python test file `text` with the tests that rest on what was stated.

    A number that a test compares with has to be among `stated`, or have at most two digits, which
    anybody can check, or be given to the test's own computation before. Raises `Unusable` when no
    test is left.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    tests = list(tests_in(tree))
    guessed = {id(each): numbers for each in tests if (numbers := _guessed(each, stated))}
    if tests and len(guessed) == len(tests):
        named = ", ".join(f"{number:g}" for numbers in guessed.values() for number in numbers[:3])
        raise Unusable(
            f"the expected numbers {named} stand nowhere in the paper; expect what it states, or "
            "compute the number in the test from the formula"
        )
    gone = [each for each in tests if id(each) in guessed]
    lines = text.splitlines(keepends=True)
    for each in sorted(gone, key=lambda node: -node.lineno):
        first = min([each.lineno, *(mark.lineno for mark in each.decorator_list)])
        del lines[first - 1 : each.end_lineno]
    kept = re.sub(r"\n{4,}", "\n\n\n", "".join(lines)).strip("\n") + "\n"
    return Grounded(kept, tuple(each.name for each in gone))


_Test = ast.FunctionDef | ast.AsyncFunctionDef


def tests_in(tree: ast.Module) -> Iterator[_Test]:
    """Yield the tests that can be taken out: those of the module, not of classes."""
    for node in tree.body:
        if isinstance(node, _Test) and node.name.startswith("test"):
            yield node


def _guessed(test: _Test, stated: frozenset[float]) -> list[float]:
    return [number for number in _expected(test) if not _is_grounded(number, stated)]


def _expected(test: _Test) -> Iterator[float]:
    """Yield the numbers that stand for a result: compared with, alone or as a list."""
    named = {
        target.id: node.value
        for node in ast.walk(test)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for mark in test.decorator_list:
        yield from _parametrized(mark)
    for node in ast.walk(test):
        if not isinstance(node, ast.Assert):
            continue
        for side in _sides(node.test):
            yield from _constants(named.get(side.id, side) if isinstance(side, ast.Name) else side)


def _parametrized(mark: ast.expr) -> Iterator[float]:
    """Yield the numbers that `pytest.mark.parametrize` gives to what is named as expected."""
    match mark:
        case ast.Call(
            func=ast.Attribute(attr="parametrize"),
            args=[ast.Constant(value=str(names)), ast.List(elts=rows) | ast.Tuple(elts=rows), *_],
        ):
            listed = [name.strip() for name in names.split(",")]
        case _:
            return
    for row in rows:
        cells = row.elts if len(listed) > 1 and isinstance(row, ast.Tuple | ast.List) else [row]
        for name, cell in zip(listed, cells, strict=False):
            if _EXPECTED.search(name):
                yield from _constants(_unwrapped(cell))


def _sides(node: ast.expr) -> Iterator[ast.expr]:
    for each in ast.walk(node):
        if isinstance(each, ast.Compare):
            yield from map(_unwrapped, [each.left, *each.comparators])
        elif isinstance(each, ast.Call) and _name(each.func) in _APPROX - {"approx"}:
            yield from each.args[:2]


def _unwrapped(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Call) and _name(node.func) == "approx" and node.args:
        return node.args[0]
    return node


def _constants(node: ast.expr) -> Iterator[float]:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield abs(float(value))
        case ast.UnaryOp(operand=operand):
            yield from _constants(operand)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for each in elements:
                yield from _constants(_unwrapped(each))


def _is_grounded(number: float, stated: frozenset[float]) -> bool:
    digits = re.sub(r"[^\d]", "", f"{number:.12g}").strip("0")
    return len(digits) <= _FEW_DIGITS or number in stated


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
