"""Code that says it will be written: what is named a stub is no implementation."""

import ast
import re
import warnings
from pathlib import PurePosixPath

_PYTHON = frozenset({".py", ".pyi"})
_COMMENT = r"(?:#|//|/\*|\*|--|;|<!--|%)"
_PLACEHOLDER = re.compile(
    rf"{_COMMENT}\s*(?:\.\.\.|…|(?:TODO|FIXME|XXX)\b"
    r"|(?:your|add|insert|put|write|place)\s+(?:your\s+)?(?:\w+\s+){0,3}(?:code|implementation"
    r"|logic)\s*(?:goes\s+)?here|implement(?:ation)?\s+(?:me|this|goes here|here|details)\b"
    r"|(?:the\s+)?rest\s+of\s+(?:the\s+)?(?:code|implementation|file)"
    r"|(?:existing|previous|same)\s+(?:code|implementation)(?:\s+(?:as|remains|here|above)|\s*\.\.\.)"
    r"|placeholder\b)",
    re.IGNORECASE,
)
_UNIMPLEMENTED = re.compile(
    r"\b(?:unimplemented!|todo!)\s*\(|throw\s+new\s+(?:Error|NotImplemented\w*)\s*\(\s*"
    r"[\"'`]?(?:not (?:yet )?implemented|TODO)",
    re.IGNORECASE,
)
_ABSTRACT = frozenset({"abstractmethod", "overload", "abstractproperty"})
_BARE = frozenset({"Protocol", "ABC", "Exception"})
_MOST = 20
_LINE = 100


def find_stubs(path: str, text: str) -> tuple[str, ...]:
    """Return what in the file is not written yet, one phrase each, at most twenty.

    In Python: functions and classes whose body says nothing (abstract methods, protocols and
    exceptions may), and files without any statement but imports; elsewhere, and in comments,
    the words by which a gap is marked. A test that asserts nothing is named, too. Documents and
    data have no stubs, and a file that does not parse has none that can be told.
    """
    suffix = PurePosixPath(path).suffix.casefold()
    if suffix in _PYTHON:
        return tuple(_in_python(path, text)[:_MOST])
    if suffix in (".md", ".rst", ".txt", ".json", ".toml", ".yaml", ".yml", ".csv", ".cfg", ".ini"):
        return ()
    return tuple([*_marked(text), *_matching(text, _UNIMPLEMENTED)][:_MOST])


def _in_python(path: str, text: str) -> list[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = list(_marked(text))
    is_test = PurePosixPath(path).name.startswith("test_")
    for body in _bodies(tree):
        owner, node = body
        if isinstance(node, ast.ClassDef):
            if _says_nothing(node.body) and not node.bases and not node.decorator_list:
                found.append(f"class {node.name} has no body")
        elif _says_nothing(node.body) and not _may_be_empty(owner, node):
            found.append(f"{node.name}() has no body")
        elif is_test and node.name.startswith("test") and not _asserts(node):
            found.append(f"{node.name}() asserts nothing")
    if PurePosixPath(path).name not in ("__init__.py", "conftest.py") and _only_imports(tree):
        found.append("the file states nothing")
    return found


_Body = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _bodies(tree: ast.Module) -> list[tuple[ast.ClassDef | None, _Body]]:
    """Return every class and function, with the class that it stands in; in order of lines."""
    found: list[tuple[ast.ClassDef | None, _Body]] = []
    pending: list[tuple[ast.ClassDef | None, ast.AST]] = [(None, tree)]
    while pending:
        owner, node = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Body):
                found.append((owner, child))
            inner = child if isinstance(child, ast.ClassDef) else owner
            pending.append((inner, child))
    return sorted(found, key=lambda each: each[1].lineno)


def _says_nothing(body: list[ast.stmt]) -> bool:
    return all(_is_nothing(each) for each in body)


def _is_nothing(each: ast.stmt) -> bool:
    match each:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name))):
            return name == "NotImplementedError"
        case ast.Return(value=ast.Name(id="NotImplemented")):
            return True
        case _:
            return False


def _may_be_empty(owner: ast.ClassDef | None, node: _Body) -> bool:
    names = {_name(each) for each in node.decorator_list}
    bases = {_name(each) for each in owner.bases} if owner else set()
    return bool(names & _ABSTRACT or bases & _BARE) or node.name == "__init__"


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return _name(inner)
        case _:
            return ""


def _asserts(node: ast.AST) -> bool:
    for each in ast.walk(node):
        if isinstance(each, ast.Assert | ast.Raise):
            return True
        if isinstance(each, ast.Call) and re.match(
            r"assert|raises|fail|warns|approx", _name(each.func)
        ):
            return True
    return False


def _only_imports(tree: ast.Module) -> bool:
    return all(
        isinstance(each, ast.Import | ast.ImportFrom) or _is_nothing(each) for each in tree.body
    )


def _marked(text: str) -> list[str]:
    return _matching(text, _PLACEHOLDER)


def _matching(text: str, pattern: re.Pattern[str]) -> list[str]:
    return [
        f"line {number}: {line.strip()[:_LINE]}"
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]
