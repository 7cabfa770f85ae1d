"""Turns presentation MathML into LaTeX, so that a formula keeps its fractions, roots and powers."""

import re
import unicodedata
from collections.abc import Callable, Sequence

from lxml.html import HtmlElement

from adapters.documents.web_page.symbols import (
    ACCENTS,
    ALPHABETS,
    FUNCTIONS,
    INFIX,
    LIMIT_BASES,
    SYMBOLS,
    UNDER_ACCENTS,
)

_SPACE = re.compile(r"\s+")
_ATOM = re.compile(r"\\[A-Za-z]+|\\.|[^\\{}^_\s]", re.DOTALL)
_TEXT_SPECIALS = re.compile(r"([#$%&_{}])")
_PRIMES = {"′": "'", "''": "''", "″": "''", "‴": "'''", "'": "'"}


def latex(math: HtmlElement) -> str:
    """Return the LaTeX of a `<math>` element, without dollar signs; '' when it shows nothing.

    MathML Core's presentation elements are read; others give what is inside them.
    """
    return _SPACE.sub(" ", _row(math)).strip()


def _name(element: HtmlElement) -> str:
    tag = element.tag
    return tag.rpartition(":")[2].lower() if isinstance(tag, str) else ""


def _row(element: HtmlElement) -> str:
    """Return the LaTeX of all that is in `element`, in order."""
    parts = [element.text.strip()] if element.text and element.text.strip() else []
    for child in element:
        parts.append(_convert(child))
        if child.tail and child.tail.strip():
            parts.append(child.tail.strip())
    return _join(parts)


def _join(parts: Sequence[str]) -> str:
    """Return `parts` side by side, with a space where a command would run into a letter."""
    whole = ""
    for part in parts:
        if re.search(r"\\[A-Za-z]+\Z", whole[-40:]) and part[:1].isalpha():
            whole += " "
        whole += part
    return whole


def _convert(element: HtmlElement) -> str:
    name = _name(element)
    reader = _READERS.get(name)
    return reader(element) if reader else ("" if name in _SILENT else _row(element))


def _text(element: HtmlElement) -> str:
    return _SPACE.sub(" ", "".join(element.itertext())).strip()


def _parts(element: HtmlElement, count: int) -> list[str]:
    """Return the LaTeX of the first `count` children, '' for those that are missing."""
    found = [_convert(child) for child in element if isinstance(child.tag, str)][:count]
    return found + [""] * (count - len(found))


def _group(tex: str) -> str:
    return "{" + tex.strip() + "}"


def _script(tex: str) -> str:
    """Return `tex` as `_` and `^` need it: in braces unless it is one character or command."""
    bare = tex.strip()
    return bare if _ATOM.fullmatch(bare) else _group(bare)


def _base(tex: str) -> str:
    bare = tex.strip()
    simple = _ATOM.fullmatch(bare) or re.fullmatch(r"\\[A-Za-z]+\{[^{}]*\}|[\d.]+", bare)
    return bare if simple else _group(bare)


def _symbols(text: str) -> str:
    return _join([SYMBOLS.get(character, character) for character in text])


def _identifier(element: HtmlElement) -> str:
    raw = _text(element)
    is_styled = len(raw) == 1 and raw not in SYMBOLS
    text = unicodedata.normalize("NFKC", raw) if is_styled else raw
    variant = ALPHABETS.get(element.get("mathvariant", ""))
    if text in FUNCTIONS:
        return f"\\{text} "
    if variant:
        return f"{variant}{{{_symbols(text)}}}"
    if len(text) > 1 and text.isascii() and text.isalpha():
        return f"\\mathrm{{{text}}}"
    return _symbols(text)


def _operator(element: HtmlElement) -> str:
    text = _text(element)
    if text in FUNCTIONS:
        return f"\\{text} "
    tex = _symbols(text)
    return f" {tex} " if text in INFIX else tex


def _number(element: HtmlElement) -> str:
    return _symbols(_text(element))


def _words(element: HtmlElement) -> str:
    text = _SPACE.sub(" ", "".join(element.itertext()))
    if not text.strip():
        return r"\ " if text else ""
    escaped = _TEXT_SPECIALS.sub(r"\\\1", text.replace("\\", r"\backslash "))
    return f"\\text{{{escaped}}}"


def _fraction(element: HtmlElement) -> str:
    over, under = _parts(element, 2)
    if element.get("linethickness", "").strip() in ("0", "0px", "0pt", "0em"):
        return f"{{{over.strip()} \\atop {under.strip()}}}"
    return f"\\frac{_group(over)}{_group(under)}"


def _square_root(element: HtmlElement) -> str:
    return f"\\sqrt{_group(_row(element))}"


def _root(element: HtmlElement) -> str:
    base, index = _parts(element, 2)
    return f"\\sqrt[{index.strip()}]{_group(base)}"


def _raised(tex: str) -> str:
    bare = tex.strip()
    return _PRIMES.get(bare) or (f"^{_script(bare)}" if bare else "")


def _lowered(tex: str) -> str:
    return f"_{_script(tex)}" if tex.strip() else ""


def _sub(element: HtmlElement) -> str:
    base, sub = _parts(element, 2)
    return _base(base) + _lowered(sub)


def _sup(element: HtmlElement) -> str:
    base, sup = _parts(element, 2)
    return _base(base) + _raised(sup)


def _sub_sup(element: HtmlElement) -> str:
    base, sub, sup = _parts(element, 3)
    return _base(base) + _lowered(sub) + _raised(sup)


def _accented(accents: dict[str, str], mark: str, base: str) -> str:
    command = accents.get(mark)
    return f"{command}{_group(base)}" if command else ""


def _takes_limits(base: str) -> bool:
    return base.strip().startswith(LIMIT_BASES)


def _child_text(element: HtmlElement, index: int) -> str:
    return _text(element[index]) if len(element) > index else ""


def _under(element: HtmlElement) -> str:
    base, under = _parts(element, 2)
    if accented := _accented(UNDER_ACCENTS, _child_text(element, 1), base):
        return accented
    if _takes_limits(base):
        return base.strip() + _lowered(under) + " "
    return f"\\underset{_group(under)}{_group(base)}"


def _over(element: HtmlElement) -> str:
    base, over = _parts(element, 2)
    if accented := _accented(ACCENTS, _child_text(element, 1), base):
        return accented
    if _takes_limits(base):
        return base.strip() + _raised(over) + " "
    return f"\\overset{_group(over)}{_group(base)}"


def _under_over(element: HtmlElement) -> str:
    base, under, over = _parts(element, 3)
    if _takes_limits(base):
        return base.strip() + _lowered(under) + _raised(over) + " "
    return f"\\underset{_group(under)}{{\\overset{_group(over)}{_group(base)}}}"


def _multiscripts(element: HtmlElement) -> str:
    base, is_before = "", False
    before: list[str] = []
    after: list[str] = []
    for index, child in enumerate(element):
        if _name(child) == "mprescripts":
            is_before = True
        elif index == 0:
            base = _convert(child)
        else:
            (before if is_before else after).append(_convert(child))
    left = "{}" + _pairs(before) if any(part.strip() for part in before) else ""
    return left + _base(base) + _pairs(after)


def _pairs(scripts: list[str]) -> str:
    lowered, raised = " ".join(scripts[::2]), " ".join(scripts[1::2])
    return _lowered(lowered) + _raised(raised)


def _table(element: HtmlElement) -> str:
    rows = [row for row in element if _name(row) in ("mtr", "mlabeledtr")]
    lines = [_table_row(row) for row in rows]
    return "\\begin{matrix} " + r" \\ ".join(lines) + " \\end{matrix}"


def _table_row(row: HtmlElement) -> str:
    cells = [_row(cell).strip() for cell in row if _name(cell) == "mtd"]
    if _name(row) == "mlabeledtr":
        cells = cells[1:]
    return " & ".join(cells)


def _fenced(element: HtmlElement) -> str:
    opening, closing = element.get("open", "("), element.get("close", ")")
    separators = element.get("separators", ",").strip() or ""
    parts = [_convert(child).strip() for child in element if isinstance(child.tag, str)]
    inside = parts[0] if parts else ""
    for number, part in enumerate(parts[1:]):
        mark = separators[min(number, len(separators) - 1)] if separators else ""
        inside += f"{_symbols(mark)} {part}" if mark else part
    return _join([_symbols(opening), inside, _symbols(closing)])


def _enclosed(element: HtmlElement) -> str:
    notation = element.get("notation", "")
    inside = _row(element)
    if "box" in notation:
        return f"\\boxed{_group(inside)}"
    return f"\\cancel{_group(inside)}" if "strike" in notation else inside


def _first(element: HtmlElement) -> str:
    return _parts(element, 1)[0]


def _quoted(element: HtmlElement) -> str:
    return f'\\text{{"{_text(element)}"}}'


def _gap(_element: HtmlElement) -> str:
    return " "


_SILENT = frozenset(("annotation", "annotation-xml", "mphantom", "none", "mprescripts", ""))
_READERS: dict[str, Callable[[HtmlElement], str]] = {
    "mi": _identifier,
    "mo": _operator,
    "mn": _number,
    "mtext": _words,
    "ms": _quoted,
    "mspace": _gap,
    "mfrac": _fraction,
    "msqrt": _square_root,
    "mroot": _root,
    "msub": _sub,
    "msup": _sup,
    "msubsup": _sub_sup,
    "munder": _under,
    "mover": _over,
    "munderover": _under_over,
    "mmultiscripts": _multiscripts,
    "mtable": _table,
    "mfenced": _fenced,
    "menclose": _enclosed,
    "semantics": _first,
    "maction": _first,
}
