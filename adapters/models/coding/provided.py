"""What a Python file imports of its own project that no file of it provides; in doubt, nothing."""

import ast
import symtable
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping

from adapters.models.coding.paths import installed_name, module_of

# With these, names and modules come from where only running the code would tell.
_MAKERS = ("globals(", "vars(", "import *", "exec(", "__getattr__", "sys.modules", "setattr(")
_FINDERS = ("sys.path", "site.addsitedir", "sys.meta_path")
_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def unprovided_imports(
    path: str,
    text: str,
    *,
    planned: Collection[str],
    written: Mapping[str, str],
    packages: Collection[str] = (),
) -> list[str]:
    """Return what the file at `path` imports of the project and no file provides, a phrase each.

    `planned` are the paths of all files, `written` the texts of those that are there; what a file
    that is not written yet will hold is let pass, and so are `packages` and the standard library,
    imports that are tried or only for types, and whatever is made while the code runs.
    """
    if any(finder in text for finder in _FINDERS):
        return []
    tree = _parsed(text)
    if tree is None:
        return []
    project = _Project(planned, written)
    foreign = {installed_name(each) for each in packages}
    problems: list[str] = []
    for module, names in _imports(tree, path):
        root = module.partition(".")[0]
        if root in sys.stdlib_module_names or installed_name(root) in foreign:
            continue
        if root in project.roots and module != module_of(path):
            problems += project.problems_of(module, names)
    return list(dict.fromkeys(problems))


class _Project:
    """The modules of a project, and what is known of each."""

    def __init__(self, planned: Collection[str], written: Mapping[str, str]) -> None:
        self._modules = {module for path in planned if (module := module_of(path))}
        parts = (module.split(".") for module in self._modules)
        self._packages = {".".join(each[:size]) for each in parts for size in range(1, len(each))}
        self._texts = {module: written[path] for path in written if (module := module_of(path))}
        self._known: dict[str, set[str] | None] = {}
        self.roots = {module.partition(".")[0] for module in self._modules}

    def problems_of(self, module: str, names: list[str]) -> Iterator[str]:
        if not self._is_there(module):
            yield f"it imports {module}, which no file of the project provides"
            return
        has = self._names(module)
        for name in names:
            known = has is None or name in has or name.startswith("__")
            if not known and not self._is_there(f"{module}.{name}"):
                yield f"{module} has no {name}"

    def _is_there(self, module: str) -> bool:
        return module in self._modules or module in self._packages

    def _names(self, module: str) -> set[str] | None:
        """Return the names of a module; None where that cannot be told."""
        if module in self._texts:
            if module not in self._known:
                self._known[module] = provided_names(self._texts[module])
            return self._known[module]
        return None if module in self._modules else set()  # a folder without a file of its own


def provided_names(text: str) -> set[str] | None:
    """Return all names that a module can have at its top level; None where that cannot be told."""
    if any(maker in text for maker in _MAKERS):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = symtable.symtable(text, "<file>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    pending, names = [module], set[str]()
    while pending:
        table = pending.pop()
        pending += table.get_children()
        names |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if (table is module or symbol.is_declared_global())
            and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace())
        }
    return names


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _imports(tree: ast.Module, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each module that is imported for certain, with the names that are taken of it."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        match node:
            case ast.Try(handlers=handlers) if any(map(_catches, handlers)):
                pending += [*node.handlers, *node.orelse, *node.finalbody]
            case ast.If():
                pending += node.orelse  # whether the condition holds is not known
            case ast.Import(names=names):
                yield from ((each.name, []) for each in names)
            case ast.ImportFrom():
                if module := _absolute(node, path):
                    yield module, [each.name for each in node.names if each.name != "*"]
            case _:
                pending += ast.iter_child_nodes(node)


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(each, ast.Name) and each.id in _CAUGHT for each in ast.walk(handler.type))


def _absolute(node: ast.ImportFrom, path: str) -> str:
    """Return the module that is imported from, '' where a relative import leaves the project."""
    if not node.level:
        return node.module or ""
    package = module_of(path).split(".")
    up = node.level - 1 if path.endswith("__init__.py") else node.level
    if up >= len(package):
        return ""
    return ".".join([*package[: len(package) - up], *filter(None, [node.module])])
