"""Imports of a Python file: those that are missing, and those that lead nowhere."""

import ast
import re
import sys
import warnings
from collections.abc import Iterator, Sequence

from adapters.models.coder import KnownFile
from adapters.models.coding.names import undefined_names
from adapters.models.coding.paths import installed_name, module_of
from state.values.code_plan import Requirement

_NAME = re.compile(r"(?:async def|def|class) +(\w+)|(\w+) *(?:[:=]|$)")
_CUT = "…"
_MODULES = frozenset({"math", "pytest", "random", "statistics", "itertools", "functools", "json"})


def with_imports(text: str, known: Sequence[KnownFile], requirements: Sequence[Requirement]) -> str:
    """Return the Python file with imports of what it uses and only one thing can be.

    That is a name of one of the `known` files, a module of the standard library, or a package that
    is called as it is imported. What nothing of this gives is left to be said.
    """
    packages = {each.name for each in requirements} | sys.stdlib_module_names
    added = []
    for name in undefined_names(text):
        given = [each for each in known if name in (_names(each) or ())]
        if len(given) == 1:
            added.append(f"from {module_of(given[0].path)} import {name}")
        elif not given and name in packages and name in _MODULES:
            added.append(f"import {name}")
    if not added:
        return text
    lines = text.splitlines(keepends=True)
    at = _first_statement(text)
    return "".join([*lines[:at], *(f"{line}\n" for line in sorted(added)), *lines[at:]])


def _first_statement(text: str) -> int:
    """Return the line, counted from 0, before which an import can stand."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ast.parse(text).body
    at = 0
    for each in body:
        is_docstring = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        is_future = isinstance(each, ast.ImportFrom) and each.module == "__future__"
        if not (is_docstring or is_future):
            break
        at = each.end_lineno or at
    return at


def check_imports(
    path: str, text: str, known: Sequence[KnownFile], requirements: Sequence[Requirement]
) -> list[str]:
    """Return what is wrong with the imports of the Python file, a phrase each.

    A file may import the standard library, `requirements`, itself, and of `known` files the names
    that their interfaces hold. What cannot be told of a file, such as one whose interface is cut
    or empty, is let pass.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names = {module_of(each.path): _names(each) for each in known}
    own = {module.split(".")[0] for module in [module_of(path), *names] if module}
    installed = {installed_name(each.name) for each in requirements}
    problems = []
    for module, wanted in _imports(tree, module_of(path)):
        root = module.split(".")[0]
        if root in own:
            if module in names and (has := names[module]) is not None:
                problems += [f"{module} has no {each}" for each in wanted if each not in has]
            elif module not in names and f"{module}." not in "".join(f"{each}." for each in names):
                problems.append(f"it imports {module}, which is not among the files shown")
        elif root not in sys.stdlib_module_names and installed_name(root) not in installed:
            problems.append(f"it imports {root}, which is not among the packages")
    return list(dict.fromkeys(problems))


def _imports(tree: ast.Module, module: str) -> Iterator[tuple[str, list[str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name, []
        elif isinstance(node, ast.ImportFrom):
            wanted = [each.name for each in node.names if each.name != "*"]
            base = node.module or ""
            if node.level:
                package = module.split(".")[: -node.level]
                base = ".".join([*package, base] if base else package)
            if base:
                yield base, wanted


def _names(file: KnownFile) -> set[str] | None:
    """Return what the interface has at its top level; None where that cannot be told."""
    if not file.interface.strip() or _CUT in file.interface:
        return None
    found = (_NAME.match(line) for line in file.interface.splitlines())
    return {match[1] or match[2] for match in found if match}
