"""Which tests a Python file defines, as can be read without running it."""

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard


def defined_tests(source: bytes) -> tuple[str, ...]:
    """Return the tests that a Python file defines, sorted: `test_x`, `TestThing.test_y`.

    Only what is at the top of a module or in a class there, and no fixtures; what is defined
    under a condition may rightly be absent. Empty when the file does not parse.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(sorted(set(_defined(module))))


def _defined(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if _is_test(node):
            yield node.name
        elif isinstance(node, ast.ClassDef) and _is_test_class(node):
            yield from (f"{node.name}.{each.name}" for each in node.body if _is_test(each))


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
    return node.name.startswith("Test") and "__init__" not in named and "__test__" not in assigned
