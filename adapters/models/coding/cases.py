"""Cases of a test file that rest on a source's examples; what a small model makes up is left out.

A test is frozen once it is written: what it expects has to be what is stated for just its inputs.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapters.models.coding.exemplified import Example
from adapters.models.coding.fenced import Unusable
from adapters.models.coding.grounded import Grounded, tests_in

_NEAR = frozenset({"approx", "isclose", "allclose", "assert_allclose"})
_TOLERANCE = frozenset({"approx", "round"})  # whose first argument is the value
_DEEPEST = 4  # names that stand for names
_NAMED = 3

_Test = ast.FunctionDef | ast.AsyncFunctionDef
_Names = Mapping[str, ast.expr]


def keep_exemplified(text: str, examples: Sequence[Example]) -> Grounded:
    """Return the Python test file without the cases that expect what no example holds.

    A case is an assertion that a call equals numbers, or a row of `pytest.mark.parametrize`. What
    compares with no number, such as a test of an error, stays. Raises `Unusable` when no test does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    module = _assigned(tree.body)
    lines = text.splitlines(keepends=True)
    tests = list(tests_in(tree))
    left_out: list[str] = []
    gone = 0
    for test in reversed(tests):  # from the end, so that lines keep their numbers
        changes = _changes(test, module, examples)
        if changes is None:
            first = min([test.lineno, *(mark.lineno for mark in test.decorator_list)])
            changes = [_Change(first, test.end_lineno or first)]
            gone += 1
            left_out.append(test.name)
        elif changes:
            left_out.append(f"cases of {test.name}")
        for change in sorted(changes, key=lambda each: -each.first):
            lines[change.first - 1 : change.last] = [change.text] if change.text else []
    if tests and gone == len(tests):
        raise Unusable(
            f"no test in it rests on an example of the paper ({', '.join(left_out[:_NAMED])}); "
            "call with the inputs that an example states, and expect the number that it states"
        )
    kept = re.sub(r"\n{4,}", "\n\n\n", "".join(lines)).strip("\n") + "\n"
    return Grounded(kept, tuple(reversed(left_out)))


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines of a file, both included and counted from 1, and what stands there instead."""

    first: int
    last: int
    text: str = ""


def _changes(test: _Test, module: _Names, examples: Sequence[Example]) -> list[_Change] | None:
    """Return what has to change for each case of the test to be held; None when none is left."""
    named = {**module, **_assigned(list(_statements(test)))}
    wrong = [each for each in _asserts(test) if not _is_held(each, named, examples)]
    if wrong and len(wrong) == len(list(_checks(test))):
        return None
    changes = [_Change(each.lineno, each.end_lineno or each.lineno) for each in wrong]
    for mark in test.decorator_list:
        new = _rewritten(mark, test, examples)
        if new == "":
            return None
        if new is not None:
            changes.append(_Change(mark.lineno, mark.end_lineno or mark.lineno, f"@{new}\n"))
    return changes


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    yield from (each for each in ast.walk(node) if isinstance(each, ast.stmt))


def _assigned(statements: Sequence[ast.stmt]) -> dict[str, ast.expr]:
    return {
        target.id: each.value
        for each in statements
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }


def _asserts(test: _Test) -> Iterator[ast.Assert]:
    """Yield the assertions that can be taken out: where others stand beside them."""
    yield from (each for each in ast.walk(test) if isinstance(each, ast.Assert))


def _checks(test: _Test) -> Iterator[ast.AST]:
    """Yield what makes the test one: assertions, and errors that are expected."""
    yield from _asserts(test)
    for each in ast.walk(test):
        if isinstance(each, ast.With):
            yield each


def _is_held(node: ast.Assert, named: _Names, examples: Sequence[Example]) -> bool:
    for sides in _compared(node.test):
        for expected, called in (sides, sides[::-1]):
            numbers = _constant(expected, named)
            if not numbers or not _calls(called, named):
                continue
            inputs = list(_numbers(called, named))
            if not any(each.holds(inputs, numbers) for each in examples):
                return False
    return True


def _compared(node: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the pairs that have to be equal, or nearly so."""
    for each in ast.walk(node):
        match each:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                yield left, right
            case ast.Call(func=function, args=[left, right, *_]) if _name(function) in _NEAR:
                yield left, right


def _constant(node: ast.expr, named: _Names, depth: int = 0) -> tuple[float, ...]:
    """Return the numbers that `node` is; () for what is computed, or no number."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return (float(value),)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return tuple(-number for number in _constant(operand, named, depth))
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            parts = [_constant(each, named, depth) for each in elements]
            return tuple(number for part in parts for number in part) if all(parts) else ()
        case ast.Call(func=function, args=[first, *_]) if _name(function) == "approx":
            return _constant(first, named, depth)
        case ast.Name(id=name) if name in named and depth < _DEEPEST:
            return _constant(named[name], named, depth + 1)
        case _:
            return ()


def _calls(node: ast.expr, named: _Names, depth: int = 0) -> bool:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and _name(each.func) != "approx":
            return True
        if isinstance(each, ast.Name) and each.id in named and depth < _DEEPEST:
            inner = _calls(named[each.id], named, depth + 1)
            if inner:
                return True
    return False


def _numbers(node: ast.expr, named: _Names, depth: int = 0) -> Iterator[float]:
    """Yield the numbers that go in: not those that pick from a result, round it, or count."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            yield from _constant(node, named)
        case ast.Constant():
            yield from _constant(node, named)
        case ast.Name(id=name) if name in named and depth < _DEEPEST:
            yield from _numbers(named[name], named, depth + 1)
        case ast.Subscript(value=value):
            yield from _numbers(value, named, depth)
        case ast.Call(func=function, args=[first, *_]) if _name(function) in _TOLERANCE:
            yield from _numbers(first, named, depth)
        case _:
            for child in ast.iter_child_nodes(node):
                inner = child.value if isinstance(child, ast.keyword) else child
                if isinstance(inner, ast.expr):
                    yield from _numbers(inner, named, depth)


def _rewritten(mark: ast.expr, test: _Test, examples: Sequence[Example]) -> str | None:
    """Return `pytest.mark.parametrize` with the rows that rest on examples; None for no change.

    '' says that no row is left.
    """
    match mark:
        case ast.Call(
            func=ast.Attribute(attr="parametrize"),
            args=[ast.Constant(value=str(names)), ast.List(elts=rows) | ast.Tuple(elts=rows), *_],
        ):
            listed = [name.strip() for name in names.split(",")]
        case _:
            return None
    compared = {
        name.id
        for each in _asserts(test)
        for sides in _compared(each.test)
        for side in sides
        for name in [_unwrapped(side)]
        if isinstance(name, ast.Name) and name.id in listed
    }
    kept = [row for row in rows if _row_is_held(row, listed, compared, examples)]
    if len(kept) == len(rows):
        return None
    if not kept:
        return ""
    return ast.unparse(ast.Call(mark.func, [mark.args[0], ast.List(kept), *mark.args[2:]], []))


def _row_is_held(
    row: ast.expr, listed: Sequence[str], compared: set[str], examples: Sequence[Example]
) -> bool:
    cells = row.elts if len(listed) > 1 and isinstance(row, ast.Tuple | ast.List) else [row]
    expected: list[float] = []
    inputs: list[float] = []
    for name, cell in zip(listed, cells, strict=False):
        if name in compared:
            expected += _constant(cell, {})
        else:
            inputs += _numbers(cell, {})
    return not expected or any(each.holds(inputs, expected) for each in examples)


def _unwrapped(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Call) and _name(node.func) == "approx" and node.args:
        return node.args[0]
    return node


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
