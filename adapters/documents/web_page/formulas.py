"""Finds the source of each formula on a page, and takes each formula once."""

import re
from dataclasses import dataclass

from lxml import html as lxml_html
from lxml.etree import ParserError
from lxml.html import HtmlElement

from adapters.documents.web_page.maths import latex

_COPIES = frozenset(("MathJax_Preview",))
_RENDERINGS = frozenset(
    "MathJax MathJax_Display MathJax_SVG MathJax_SVG_Display MathJax_CHTML MJXc-display "
    "mjx-chtml mjx-container".split()
)
_DISPLAYS = frozenset(
    "katex-display MathJax_Display MathJax_SVG_Display MJXc-display ltx_equation "
    "ltx_eqn_cell mwe-math-element-block".split()
)
_PICTURES = re.compile(r"\b(?:mwe-math-fallback-image\S*|latex|tex|math|eqn?|equation)\b")
_PICTURE_MAKERS = re.compile(r"latex\.php|cht=tx|codecogs\.com|/math/render/", re.IGNORECASE)
_LOOKS_LIKE_TEX = re.compile(r"\\[A-Za-z]+|[_^{}=+<>]|^\W*\w\W*$")
_PROSE = re.compile(r"(?<![\\\w])(?!sinh|cosh|tanh|sqrt)[^\W\d_]{4,}(?!\w)")
_TEX_COMMENT = re.compile(r"(?<!\\)%[^\n]*\n\s*")
_STYLE = re.compile(r"\A\{\\(?:displaystyle|textstyle)\b(.*)\}\Z|\A\\(?:displaystyle|textstyle)\b")
_MAX_TEX = 10_000


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula's TeX without dollar signs; '' where it is to be passed over."""

    tex: str
    is_display: bool = False

    @property
    def text(self) -> str:
        """Return the formula as it stands in a text."""
        return f"$${self.tex}$$" if self.is_display else f"${self.tex}$"


_PASSED_OVER = Formula("")


class Formulas:
    """Reads the formulas of one page; `lost` counts those whose source is not in it."""

    def __init__(self, tree: HtmlElement) -> None:
        self._has_scripts = any(_is_tex_script(script) for script in tree.iter("script"))
        self.lost = 0

    def read(self, element: HtmlElement) -> Formula | None:
        """Return the formula that `element` is, or None when it is none."""
        tag = element.tag
        if tag in ("math", "m:math", "mml:math"):
            return _of_math(element)
        if tag == "script" and _is_tex_script(element):
            display = "mode=display" in element.get("type", "").replace(" ", "")
            return Formula(bare_tex(element.text or ""), display)
        if tag == "mjx-container":
            return self._of_rendering(element)
        names = element.get("class")
        if not names:
            return _of_picture(element) if tag == "img" and element.get("alt") else None
        if tag == "img":
            return _of_picture(element)
        classes = frozenset(names.split())
        if "katex-html" in classes:
            return _PASSED_OVER if _has_sibling(element, "katex-mathml") else None
        if classes & _COPIES:
            return _PASSED_OVER
        if classes & _RENDERINGS and tag in ("span", "div", "mjx-container"):
            return self._of_rendering(element)
        return None

    def _of_rendering(self, element: HtmlElement) -> Formula | None:
        if self._has_scripts:
            return _PASSED_OVER
        display = element.get("display") in ("true", "block") or _is_displayed(element)
        for math in element.iter("math"):
            formula = _of_math(math)
            return Formula(formula.tex, display or formula.is_display)
        for inner in element.iter():
            if isinstance(inner.tag, str) and inner.get("data-mathml"):
                return Formula(_of_markup(inner.get("data-mathml", "")), display)
        if any(map(str.isalnum, element.text_content())):
            return None  # at least its characters
        self.lost += 1
        return _PASSED_OVER


def _is_tex_script(script: HtmlElement) -> bool:
    return (script.get("type") or "").startswith(("math/tex", "math/asciimath"))


def _has_sibling(element: HtmlElement, name: str) -> bool:
    parent = element.getparent()
    return parent is not None and any(
        isinstance(child.tag, str) and name in child.get("class", "") for child in parent
    )


def _of_math(math: HtmlElement) -> Formula:
    display = math.get("display") == "block" or math.get("mode") == "display" or _is_displayed(math)
    return Formula(_source(math) or _spelled(math), display)


def _source(math: HtmlElement) -> str:
    for note in math.iter("annotation", "m:annotation", "mml:annotation"):
        if "tex" in note.get("encoding", "").lower() and (note.text or "").strip():
            return bare_tex(note.text or "")
    said = math.get("alttext", "").strip()
    return bare_tex(said) if said and ("\\" in said or not _PROSE.search(said)) else ""


def _of_markup(markup: str) -> str:
    try:
        tree = lxml_html.fragment_fromstring(markup[: _MAX_TEX * 10])
    except (ParserError, ValueError):
        return ""
    return _source(tree) or _spelled(tree)


def _spelled(math: HtmlElement) -> str:
    """Return the TeX of `math`; its plain text where it is nested beyond what anybody writes."""
    try:
        return latex(math)
    except RecursionError:
        return " ".join(" ".join(math.itertext()).split())[:_MAX_TEX]


def _is_displayed(element: HtmlElement) -> bool:
    """Tell whether one of the few elements around sets the formula apart."""
    around: HtmlElement | None = element
    for _ in range(5):
        if around is None:
            return False
        if _DISPLAYS.intersection((around.get("class") or "").split()):
            return True
        around = around.getparent()
    return False


def _of_picture(image: HtmlElement) -> Formula | None:
    said = (image.get("alt") or "").strip()
    if not said or len(said) > _MAX_TEX:
        return None
    names = image.get("class") or ""
    if not (_PICTURES.search(names) or _PICTURE_MAKERS.search(image.get("src") or "")):
        return None
    around = image.getparent()
    if "mwe-math" in names and around is not None:
        holder = around.getparent() if around.getparent() is not None else around
        if holder.find(".//math") is not None or around.find(".//math") is not None:
            return _PASSED_OVER
    if not _LOOKS_LIKE_TEX.search(said) or ("\\" not in said and _PROSE.search(said)):
        return None
    return Formula(bare_tex(said), "display" in names)


def bare_tex(tex: str) -> str:
    """Return `tex` on one line, without comments, dollar signs and a style around all of it."""
    bare = " ".join(_TEX_COMMENT.sub("", tex[:_MAX_TEX]).split())
    for opening, closing in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        if bare.startswith(opening) and bare.endswith(closing) and len(bare) > 2 * len(opening):
            bare = bare[len(opening) : -len(closing)].strip()
            break
    if found := _STYLE.match(bare):
        bare = (found[1] if found[1] is not None else bare[found.end() :]).strip()
    return bare
