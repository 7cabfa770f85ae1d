"""Which tests a Python file defines, as can be read without running it."""

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard


def defined_tests(source: bytes) -> tuple[str, ...]:
    """Return the tests that a Python file defines, sorted: `test_x`, `TestThing.test_y`.

    Only what is at the top of a module or in a class there, and no fixtures; what is defined
    under a condition may rightly be absent, and so is what the file itself says is no test.
    Empty when the file does not parse.
    """
    module = _parsed(source)
    renounced = set(_renounced(module))
    if "" in renounced:
        return ()
    found = {name: node for name, node in _defined(module) if name.split(".")[0] not in renounced}
    return tuple(sorted(found))


def plain_tests(source: bytes) -> frozenset[str]:
    """Return those of the tests that nothing in the file decorates, so that their code is its."""
    counted: dict[str, int] = {}
    plain: set[str] = set()
    for name, node in _defined(_parsed(source)):
        counted[name] = counted.get(name, 0) + 1
        if not node.decorator_list:
            plain.add(name)
    return frozenset(name for name in plain if counted[name] == 1)


def _parsed(source: bytes) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _defined(
    module: ast.Module,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in module.body:
        if _is_test(node):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and _is_test_class(node):
            yield from ((f"{node.name}.{each.name}", each) for each in node.body if _is_test(each))


def _renounced(module: ast.Module) -> Iterator[str]:
    """Yield what the file deletes, or says is no test (nose's `__test__`); '' for all of it."""
    for node in module.body:
        if isinstance(node, ast.Delete):
            yield from (each.id for each in node.targets if isinstance(each, ast.Name))
        if not isinstance(node, ast.Assign) or ast.unparse(node.value) != "False":
            continue
        for target in map(ast.unparse, node.targets):
            if target == "__test__" or target.endswith(".__test__"):
                yield target.removesuffix("__test__").removesuffix(".")


def _is_test(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    decorators = " ".join(ast.unparse(each) for each in node.decorator_list)
    return node.name.startswith("test") and not re.search(r"fixture\b|\bproperty\b", decorators)


def _is_test_class(node: ast.ClassDef) -> bool:
    named = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    assigned = {
        target.id
        for each in node.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    decorators = " ".join(ast.unparse(each) for each in node.decorator_list)
    is_made = "__init__" in named or "dataclass" in decorators  # by arguments, so not by pytest
    return node.name.startswith("Test") and not is_made and "__test__" not in assigned
