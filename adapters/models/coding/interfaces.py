"""What other files may use of a file: its signatures, without its bodies."""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath

MAX_CHARACTERS = 4000
_SENTENCE = 160
_VALUE = 80
_CUT = "…"
_EXPORTS = re.compile(
    r"^[ \t]*(?:(?:export\s+(?:default\s+)?)?(?:async\s+)?(?:function\*?|class|interface|enum|type)"
    r"\s+\w+[^\n{;]*|export\s+(?:default\s+)?(?:const|let|var)?\s*[\w{*][^\n=;]*"
    r"|(?:module\.)?exports(?:\.\w+)?\s*=[^\n]*"
    r"|pub(?:\([a-z]+\))?\s+(?:async\s+)?(?:fn|struct|enum|trait|const|type|mod)\s+\w+[^\n{;]*"
    r"|func\s+(?:\([^)]*\)\s*)?[A-Z]\w*[^\n{]*|type\s+[A-Z]\w*\s+(?:struct|interface)"
    r"|(?:public|protected)\s+[^\n{;=]*)",
    re.MULTILINE,
)
_HEADINGS = re.compile(r"^#{1,3} .+$", re.MULTILINE)


def interface_of(path: str, text: str) -> str:
    """Return the signatures in the file, one a line, at most `MAX_CHARACTERS` of them.

    For Python: imports of names are left out; constants, functions and classes with their public
    methods come with the first line of their docstrings. Other languages give the lines that
    export something; Markdown its headings; what cannot be read gives ''.
    """
    suffix = PurePosixPath(path).suffix.casefold()
    if suffix in (".py", ".pyi"):
        lines = _of_python(text)
    elif suffix == ".md":
        lines = _HEADINGS.findall(text)
    elif suffix in (".json", ".toml", ".yaml", ".yml", ".txt", ".cfg", ".ini", ".csv"):
        lines = []
    else:
        lines = [" ".join(found[0].split()) for found in _EXPORTS.finditer(text)]
    return _bounded(lines)


def _bounded(lines: list[str]) -> str:
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > MAX_CHARACTERS - len(_CUT):
            return "\n".join([*kept, _CUT])
        kept.append(line)
    return "\n".join(kept)


def _of_python(text: str) -> list[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        return [line for node in tree.body for line in _of_statement(node, "")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _of_statement(node: ast.stmt, indent: str) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            if not node.name.startswith("_") or node.name in ("__init__", "__call__"):
                yield from _of_function(node, indent)
        case ast.ClassDef(name=name):
            if name.startswith("_"):
                return
            bases = ", ".join(map(ast.unparse, node.bases))
            for each in node.decorator_list:
                yield f"{indent}@{ast.unparse(each)}"
            yield f"{indent}class {name}({bases}):" if bases else f"{indent}class {name}:"
            yield from _documented(node, indent + "    ")
            for inner in node.body:
                yield from _of_statement(inner, indent + "    ")
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
            if not name.startswith("_"):
                value = f" = {_short(node.value)}" if node.value is not None else ""
                yield f"{indent}{name}: {ast.unparse(annotation)}{value}"
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            if not name.startswith("_"):
                yield f"{indent}{name} = {_short(value)}"
        case ast.If(body=body):
            for inner in body if _is_not_main(node) else []:
                yield from _of_statement(inner, indent)


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, indent: str) -> Iterator[str]:
    for each in node.decorator_list:
        yield f"{indent}@{ast.unparse(each)}"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    yield f"{indent}{word} {node.name}({ast.unparse(node.args)}){returns}"
    yield from _documented(node, indent + "    ")


def _documented(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, indent: str
) -> Iterator[str]:
    said = (ast.get_docstring(node) or "").strip().split("\n")[0].strip()
    if said:
        yield f'{indent}"""{said[:_SENTENCE]}"""'


def _short(value: ast.expr) -> str:
    spelled = ast.unparse(value)
    return spelled if len(spelled) <= _VALUE else spelled[:_VALUE] + _CUT


def _is_not_main(node: ast.If) -> bool:
    return "__name__" not in ast.unparse(node.test)
