"""Writes Office's mathematics (OMML, ECMA-376 Part 1 §22.1) as LaTeX."""

import re
from collections.abc import Callable, Iterable

from lxml import etree

from adapters.documents.docx_reader.latex_names import (
    ACCENTS,
    ARROWS,
    FUNCTIONS,
    GROUPS,
    LIMITS,
    WIDE,
    latex_of,
)
from adapters.documents.docx_reader.xml import M_NS, MC_NS, m, w

_VAL = m("val")
_OFF = frozenset(("0", "off", "false"))
_ENDS_IN_NAME = re.compile(r"\\[A-Za-z]+\Z")
_SPECIAL = re.compile(r"[{}$%&#_]")
_NEW_ROW = " \\\\ "
_WORD = re.compile(r"[A-Za-z]{2,}")
_ATOM = re.compile(
    r"(?:[^\\{}^_\s&]|\\[A-Za-z]+|\\[^A-Za-z]|\\(?:mathbb|mathcal|mathbf|mathrm)\{\w\})\Z"
)
_TALL = re.compile(
    r"\\(?:frac|genfrac|begin|sum|prod|int|iint|iiint|oint|big\w+|binom|over|under|x)"
)
_LEFT = {"{": "\\{", "}": "\\}", "‖": "\\Vert", "∥": "\\Vert", "〈": "\\langle", "〉": "\\rangle"}
_MATRICES = {
    ("(", ")"): "pmatrix",
    ("[", "]"): "bmatrix",
    ("{", "}"): "Bmatrix",
    ("|", "|"): "vmatrix",
    ("‖", "‖"): "Vmatrix",
}
_MATRIX = re.compile(r"\\begin\{matrix\}((?:(?!\\(?:begin|end)\{).)*)\\end\{matrix\}\Z", re.DOTALL)
_CASES = re.compile(r"\\begin\{aligned\}((?:(?!\\(?:begin|end)\{).)*)\\end\{aligned\}\Z", re.DOTALL)
_STACK = "\\genfrac{}{}{0pt}{}"
_SCRIPTS = {
    "double-struck": "mathbb",
    "script": "mathcal",
    "fraktur": "mathfrak",
    "sans-serif": "mathsf",
    "monospace": "mathtt",
}
_LEFT_OUT = frozenset((w("rPr"), w("del"), w("moveFrom"), w("sdtPr"), w("instrText"), w("delText")))
_ALTERNATIVES = f"{{{MC_NS}}}AlternateContent"
_TEXT = m("t")
_W_TEXT = w("t")


def to_latex(math: etree._Element) -> str:
    """Return an `m:oMath` as LaTeX without the marks around it; '' when it shows nothing."""
    return " ".join(_inside(math).split())


def _inside(element: etree._Element | None) -> str:
    """Return all that an element holds, properties left out."""
    if element is None:
        return ""
    return _glue(_convert(child) for child in element)


def _convert(element: etree._Element) -> str:
    tag = element.tag
    writer = _WRITERS.get(tag)
    if writer is not None:
        return writer(element)
    if tag in _LEFT_OUT or tag.endswith("Pr"):
        return ""
    if tag == _W_TEXT:
        return _text(element.text or "")
    if tag == _ALTERNATIVES:
        return _inside(element[0] if len(element) else None)
    return _inside(element)


def _glue(parts: Iterable[str]) -> str:
    """Join pieces of LaTeX so that a name never runs into the letter after it."""
    out: list[str] = []
    last = ""
    for part in parts:
        if not part:
            continue
        if part[0].isalpha() and _ENDS_IN_NAME.search(last[-40:]):
            out.append(" ")
        out.append(part)
        last = part
    return "".join(out)


def _part(element: etree._Element, name: str) -> str:
    return _inside(element.find(m(name)))


def _property(element: etree._Element, name: str) -> str | None:
    """Return what the properties of an element say of `name`; '' when said without a value."""
    for properties in element:
        if properties.tag.endswith("Pr") and properties.tag.startswith(f"{{{M_NS}}}"):
            found = properties.find(m(name))
            return None if found is None else found.get(_VAL, "")
    return None


def _is_on(element: etree._Element, name: str, *, default: bool = False) -> bool:
    said = _property(element, name)
    return default if said is None else said.casefold() not in _OFF


def _atom(latex: str) -> str:
    """Return `latex` so that a script after it belongs to all of it."""
    if _ATOM.match(latex):
        return latex
    if (
        latex.startswith("\\left")
        and latex.endswith((")", "]", "\\}"))
        and latex.count("\\left") == 1
    ):
        return latex
    if latex[:1] == "(" and latex[-1:] == ")" and latex.count("(") == 1:
        return latex
    return f"{{{latex}}}"


# Runs


def _run(element: etree._Element) -> str:
    properties = element.find(m("rPr"))
    text = "".join(child.text or "" for child in element if child.tag in (_TEXT, _W_TEXT))
    if not text:
        return ""
    said = _run_properties(properties)
    if said.get("nor", "0") not in _OFF:
        return _text(text)
    latex = _characters(text, upright=said.get("sty") == "p")
    command = _SCRIPTS.get(said.get("scr", ""), "")
    if not command:
        command = {"b": "mathbf", "bi": "boldsymbol"}.get(said.get("sty", ""), "")
    return f"\\{command}{{{latex}}}" if command and latex.strip() else latex


def _run_properties(properties: etree._Element | None) -> dict[str, str]:
    if properties is None:
        return {}
    return {child.tag.rpartition("}")[2]: child.get(_VAL, "1") for child in properties}


def _characters(text: str, *, upright: bool) -> str:
    """Return text of a formula; words set upright are functions, or upright words."""
    if not upright:
        return _glue(map(latex_of, text))
    out: list[str] = []
    reached = 0
    for found in _WORD.finditer(text):
        out.extend(map(latex_of, text[reached : found.start()]))
        word = found[0]
        out.append(f"\\{word}" if word in FUNCTIONS else f"\\mathrm{{{word}}}")
        reached = found.end()
    out.extend(map(latex_of, text[reached:]))
    return _glue(out)


def _text(text: str) -> str:
    if not text.strip():
        return "\\ " if text else ""
    escaped = _SPECIAL.sub(r"\\\g<0>", text.replace("\\", "/"))
    return f"\\text{{{escaped}}}"


# Structures


def _fraction(element: etree._Element) -> str:
    over, under = _part(element, "num"), _part(element, "den")
    match _property(element, "type"):
        case "lin" | "skw":
            return f"{_atom(over)}/{_atom(under)}"
        case "noBar":
            return f"{_STACK}{{{over}}}{{{under}}}"
        case _:
            return f"\\frac{{{over}}}{{{under}}}"


def _scripts(*names: str) -> Callable[[etree._Element], str]:
    marks = {"sub": "_", "sup": "^"}

    def write(element: etree._Element) -> str:
        base = _atom(_part(element, "e"))
        parts = ((marks[name], _part(element, name)) for name in names)
        return base + "".join(f"{mark}{{{latex}}}" for mark, latex in parts if latex)

    return write


def _before(element: etree._Element) -> str:
    low, high = _part(element, "sub"), _part(element, "sup")
    scripts = (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "")
    return f"{{}}{scripts}{_part(element, 'e')}"


def _root(element: etree._Element) -> str:
    degree = "" if _is_on(element, "degHide") else _part(element, "deg")
    return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e')}}}"


def _nary(element: etree._Element) -> str:
    said = _property(element, "chr")
    operator = latex_of(said[0]) if said else ("\\int" if said is None else "")
    low = "" if _is_on(element, "subHide") else _part(element, "sub")
    high = "" if _is_on(element, "supHide") else _part(element, "sup")
    scripts = (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "")
    return f"{operator}{scripts} {_part(element, 'e')}"


def _delimiters(element: etree._Element) -> str:
    opening, closing, between = (
        default if (said := _property(element, name)) is None else said[:1]
        for name, default in (("begChr", "("), ("endChr", ")"), ("sepChr", "|"))
    )
    parts = [_inside(child) for child in element.iterchildren(m("e"))]
    if len(parts) == 1 and (special := _fenced(parts[0], opening, closing)):
        return special
    inner = latex_of(between).join(parts) if between else " ".join(parts)
    if opening and closing and not _TALL.search(inner):
        return _glue((_fence(opening), inner, _fence(closing)))
    left, right = _fence(opening) or ".", _fence(closing) or "."
    return _glue((f"\\left{left}", inner, f"\\right{right}"))


def _fenced(inner: str, opening: str, closing: str) -> str:
    """Return what is written as one thing with its delimiters, or ''."""
    kind = _MATRICES.get((opening, closing))
    if kind and (found := _MATRIX.match(inner)):
        return f"\\begin{{{kind}}}{found[1]}\\end{{{kind}}}"
    if opening == "{" and not closing and (found := _CASES.match(inner)):
        return f"\\begin{{cases}}{found[1]}\\end{{cases}}"
    if (opening, closing) == ("(", ")") and inner.startswith(_STACK):
        return f"\\binom{inner[len(_STACK) :]}"
    return ""


def _fence(char: str) -> str:
    return _LEFT.get(char) or (latex_of(char) if char else "")


def _matrix(element: etree._Element) -> str:
    rows = (
        " & ".join(_inside(cell) for cell in row.iterchildren(m("e")))
        for row in element.iterchildren(m("mr"))
    )
    return f"\\begin{{matrix}}{_NEW_ROW.join(rows)}\\end{{matrix}}"


def _equations(element: etree._Element) -> str:
    # In an array of equations `&` aligns and `#` sets the number off.
    rows = [_numbered(_inside(row).replace("\\&", "&")) for row in element.iterchildren(m("e"))]
    if len(rows) == 1:
        return rows[0].replace("&", "")
    return f"\\begin{{aligned}}{_NEW_ROW.join(rows)}\\end{{aligned}}"


def _numbered(row: str) -> str:
    before, mark, number = row.rpartition("\\#")
    if not mark:
        return row
    bare = number.strip().removeprefix("\\left").replace("\\right", "").strip("() ")
    return f"{before}\\tag{{{bare}}}"


def _function(element: etree._Element) -> str:
    name = _part(element, "fName").strip()
    plain = re.sub(r"\\mathrm\{(\w+)\}", r"\1", name)
    if plain.isalpha() and plain.isascii() and len(plain) > 1:
        name = f"\\{plain}" if plain in FUNCTIONS else f"\\operatorname{{{plain}}}"
    argument = _part(element, "e").lstrip()
    gap = " " if argument[:1].isalnum() or (name.endswith("}") and argument[:1] != "(") else ""
    return f"{name}{gap}{argument}"


def _accent(element: etree._Element) -> str:
    said = _property(element, "chr")
    name = ACCENTS.get("\u0302" if said is None else said, "")
    base = _part(element, "e")
    if not name:
        return f"\\overset{{{latex_of(said[0])}}}{{{base}}}" if said else base
    if not _ATOM.match(base):
        name = WIDE.get(name, name)
    return f"\\{name}{{{base}}}"


def _bar(element: etree._Element) -> str:
    name = "overline" if _property(element, "pos") == "top" else "underline"
    return f"\\{name}{{{_part(element, 'e')}}}"


def _group(element: etree._Element) -> str:
    said = _property(element, "chr")
    char = "⏟" if said is None else said[:1]
    base, is_above = _part(element, "e"), _property(element, "pos") == "top"
    if name := GROUPS.get(char):
        return f"\\{name}{{{base}}}"
    if arrow := ARROWS.get(char):
        return f"\\x{arrow}[{base}]{{}}" if is_above else f"\\x{arrow}{{{base}}}"
    if not char:
        return base
    return f"\\{'overset' if is_above else 'underset'}{{{latex_of(char)}}}{{{base}}}"


def _limit(mark: str, command: str, brace: str) -> Callable[[etree._Element], str]:
    def write(element: etree._Element) -> str:
        base, limit = _part(element, "e").strip(), _part(element, "lim")
        plain = re.sub(r"\\mathrm\{(\w+)\}", r"\1", base)
        if plain in FUNCTIONS:
            base = f"\\{plain}"
        elif plain.isascii() and plain.isalpha() and len(plain) > 1:
            return f"\\operatorname*{{{plain}}}{mark}{{{limit}}}"
        if base in LIMITS or base.startswith((brace, "\\sum", "\\prod")):
            return f"{base}{mark}{{{limit}}}"
        return f"\\{command}{{{limit}}}{{{base}}}"

    return write


def _border(element: etree._Element) -> str:
    base = _part(element, "e")
    strikes = ("strikeH", "strikeV", "strikeBLTR", "strikeTLBR")
    if any(_is_on(element, name) for name in strikes):
        return f"\\cancel{{{base}}}"
    return f"\\boxed{{{base}}}"


def _phantom(element: etree._Element) -> str:
    base = _part(element, "e")
    return base if _is_on(element, "show", default=True) else f"\\phantom{{{base}}}"


_WRITERS: dict[str, Callable[[etree._Element], str]] = {
    m("r"): _run,
    m("f"): _fraction,
    m("sSub"): _scripts("sub"),
    m("sSup"): _scripts("sup"),
    m("sSubSup"): _scripts("sub", "sup"),
    m("sPre"): _before,
    m("rad"): _root,
    m("nary"): _nary,
    m("d"): _delimiters,
    m("m"): _matrix,
    m("eqArr"): _equations,
    m("func"): _function,
    m("acc"): _accent,
    m("bar"): _bar,
    m("groupChr"): _group,
    m("limLow"): _limit("_", "underset", "\\underbrace"),
    m("limUpp"): _limit("^", "overset", "\\overbrace"),
    m("borderBox"): _border,
    m("phant"): _phantom,
}
