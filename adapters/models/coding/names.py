"""Names in a Python file that nothing defines, told by the compiler's own tables of symbols."""

import builtins
import symtable
import warnings
from collections.abc import Iterator

_BUILTIN = frozenset(dir(builtins)) | {"__file__", "__path__", "__annotations__", "__class__"}
_MAKERS = ("globals(", "import *", "exec(", "__getattr__")


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
            module = symtable.symtable(text, "<file>", "exec")
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


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    pending = [table]
    while pending:
        at = pending.pop()
        yield at
        pending += reversed(at.get_children())
