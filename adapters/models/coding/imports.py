"""Imports of a Python file that lead nowhere: to names that a file lacks, to unlisted packages."""

import ast
import re
import sys
import warnings
from collections.abc import Iterator, Sequence

from adapters.models.coder import KnownFile
from adapters.models.coding.paths import installed_name, module_of
from state.values.code_plan import Requirement

_NAME = re.compile(r"(?:async def|def|class) +(\w+)|(\w+) *(?:[:=]|$)")
_CUT = "…"


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
