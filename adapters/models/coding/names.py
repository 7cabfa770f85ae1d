"""Names in a Python file that nothing defines, told by the compiler's own tables of symbols."""

import ast
import builtins
import symtable
import warnings
from collections.abc import Iterator

_BUILTIN = frozenset(dir(builtins)) | {
    "__file__", "__path__", "__annotations__", "__class__", "__module__", "__qualname__",
    "__cached__", "__builtins__", "__dict__", "WindowsError",
}  # fmt: skip
# Names may come from elsewhere, or a file knows that one may be missing.
_MAKERS = (
    "globals(", "vars(", "import *", "exec(", "__getattr__", "sys.modules", "builtins", "NameError",
)  # fmt: skip


def undefined_names(text: str) -> list[str]:
    """Return the names that the file uses and nothing defines, in order, each once.

    None are told where names can come from elsewhere, such as `from x import *`, and of what does
    not parse.
    """
    if any(maker in text for maker in _MAKERS):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strips = _Executed(all_="annotations" in _futures(text))
            module = symtable.symtable(ast.unparse(strips.visit(ast.parse(text))), "<file>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    tables = list(_tables(module))
    defined = {
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        if (table is module or symbol.is_declared_global())
        and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace())
    }
    found = [
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        if symbol.is_referenced()
        and (symbol.is_global() or table is module)
        and symbol.get_name() not in defined | _BUILTIN
    ]
    return list(dict.fromkeys(found))


def _futures(text: str) -> set[str]:
    found = (each for each in ast.parse(text).body if isinstance(each, ast.ImportFrom))
    return {name.name for each in found if each.module == "__future__" for name in each.names}


class _Executed(ast.NodeTransformer):
    """Takes off annotations that are never evaluated: of local variables, or with `all_` all."""

    def __init__(self, *, all_: bool) -> None:
        self._all = all_
        self._depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        depth, self._depth = self._depth, 0
        self.generic_visit(node)
        self._depth = depth
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None if self._all else node.annotation
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if self._all or self._depth:
            node.annotation = ast.Constant(value=None)
        self.generic_visit(node)
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None if self._all else node.returns
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1
        return node


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    pending = [table]
    while pending:
        at = pending.pop()
        yield at
        pending += reversed(at.get_children())
