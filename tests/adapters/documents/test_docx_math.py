"""How Office's mathematics is written as LaTeX."""

import pytest
from lxml import etree

from adapters.documents.docx_reader.omml import to_latex
from tests.adapters.documents.docx_makers import NAMESPACES, blocks, para, paragraph_style, read


def r(text: str, properties: str = "") -> str:
    return f"<m:r><m:rPr>{properties}</m:rPr><m:t>{text}</m:t></m:r>"


def e(*inside: str) -> str:
    return f"<m:e>{''.join(inside)}</m:e>"


def math(*inside: str) -> str:
    return f"<m:oMath>{''.join(inside)}</m:oMath>"


def latex(*inside: str) -> str:
    return to_latex(etree.fromstring(f"<m:oMath {NAMESPACES}>{''.join(inside)}</m:oMath>"))


def fraction(kind: str = "") -> str:
    said = f'<m:fPr><m:type m:val="{kind}"/></m:fPr>' if kind else ""
    return f"<m:f>{said}<m:num>{r('a+b')}</m:num><m:den>{r('c')}</m:den></m:f>"


def delimited(*parts: str, begin: str | None = None, end: str | None = None) -> str:
    said = "" if begin is None else f'<m:begChr m:val="{begin}"/>'
    said += "" if end is None else f'<m:endChr m:val="{end}"/>'
    return f"<m:d><m:dPr>{said}</m:dPr>{''.join(parts)}</m:d>"


def matrix(*rows: tuple[str, ...]) -> str:
    inside = "".join(f"<m:mr>{''.join(e(r(cell)) for cell in row)}</m:mr>" for row in rows)
    return f"<m:m>{inside}</m:m>"


def limit(kind: str, base: str, below: str) -> str:
    return f"<m:{kind}>{e(base)}<m:lim>{below}</m:lim></m:{kind}>"


UPRIGHT = '<m:sty m:val="p"/>'


@pytest.mark.parametrize(
    ("omml", "expected"),
    [
        (r("αx≤β·∞"), r"\alpha x\leq\beta\cdot\infty"),
        (r("𝑥∈ℝ"), r"x\in\mathbb{R}"),
        (r("50% of $5_1"), r"50\% of \$5\_1"),
        (r("if x", "<m:nor/>"), r"\text{if x}"),
        (r("A", '<m:sty m:val="b"/>'), r"\mathbf{A}"),
        (r("L", '<m:scr m:val="script"/>'), r"\mathcal{L}"),
        (r("sin", UPRIGHT) + r("x"), r"\sin x"),
        (r("rate", UPRIGHT), r"\mathrm{rate}"),
        (fraction(), r"\frac{a+b}{c}"),
        (fraction("lin"), "{a+b}/c"),
        (fraction("noBar"), r"\genfrac{}{}{0pt}{}{a+b}{c}"),
        (delimited(e(fraction("noBar"))), r"\binom{a+b}{c}"),
        (f"<m:sSup>{e(r('x'))}<m:sup>{r('2')}</m:sup></m:sSup>", "x^{2}"),
        (f"<m:sSup>{e(r('ab'))}<m:sup>{r('2')}</m:sup></m:sSup>", "{ab}^{2}"),
        (
            f"<m:sSubSup>{e(r('x'))}<m:sub>{r('i')}</m:sub><m:sup>{r('2')}</m:sup></m:sSubSup>",
            "x_{i}^{2}",
        ),
        (
            f"<m:sPre><m:sub>{r('6')}</m:sub><m:sup>{r('14')}</m:sup>{e(r('C'))}</m:sPre>",
            "{}_{6}^{14}C",
        ),
        (f"<m:rad><m:deg/>{e(r('x'))}</m:rad>", r"\sqrt{x}"),
        (f"<m:rad><m:deg>{r('3')}</m:deg>{e(r('x'))}</m:rad>", r"\sqrt[3]{x}"),
        (
            f'<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>{e(r("x"))}</m:rad>',
            r"\sqrt{x}",
        ),
        (
            f"<m:nary><m:sub>{r('0')}</m:sub><m:sup>{r('1')}</m:sup>{e(r('x'))}</m:nary>",
            r"\int_{0}^{1} x",
        ),
        (
            (
                f'<m:nary><m:naryPr><m:chr m:val="∑"/><m:supHide m:val="1"/></m:naryPr>'
                f"<m:sub>{r('i')}</m:sub><m:sup>{r('n')}</m:sup>{e(r('x'))}</m:nary>"
            ),
            r"\sum_{i} x",
        ),
        (delimited(e(r("x")), e(r("y"))), "(x|y)"),
        (delimited(e(fraction())), r"\left(\frac{a+b}{c}\right)"),
        (delimited(e(r("x")), begin="[", end=""), r"\left[x\right."),
        (delimited(e(r("x")), begin="{", end="}"), r"\{x\}"),
        (delimited(e(r("x")), begin="⌈", end="⌉"), r"\lceil x\rceil"),
        (matrix(("a", "b"), ("c", "d")), r"\begin{matrix}a & b \\ c & d\end{matrix}"),
        (
            delimited(e(matrix(("a", "b"), ("c", "d"))), begin="[", end="]"),
            r"\begin{bmatrix}a & b \\ c & d\end{bmatrix}",
        ),
        (
            delimited(e(f"<m:eqArr>{e(r('1,x'))}{e(r('0,y'))}</m:eqArr>"), begin="{", end=""),
            r"\begin{cases}1,x \\ 0,y\end{cases}",
        ),
        (
            f"<m:eqArr>{e(r('a&amp;=b'))}{e(r('c&amp;=d'))}</m:eqArr>",
            r"\begin{aligned}a&=b \\ c&=d\end{aligned}",
        ),
        (f"<m:eqArr>{e(r('a=b#'), delimited(e(r('7'))))}</m:eqArr>", r"a=b\tag{7}"),
        (f"<m:func><m:fName>{r('cos', UPRIGHT)}</m:fName>{e(r('x'))}</m:func>", r"\cos x"),
        (f"<m:func><m:fName>{r('rank')}</m:fName>{e(r('A'))}</m:func>", r"\operatorname{rank} A"),
        (
            (
                f"<m:func><m:fName>{limit('limLow', r('lim', UPRIGHT), r('x→0'))}</m:fName>"
                f"{e(r('x'))}</m:func>"
            ),
            r"\lim_{x\rightarrow0} x",
        ),
        (limit("limLow", r("argmax"), r("x")), r"\operatorname*{argmax}_{x}"),
        (limit("limUpp", r("="), r("!")), r"\overset{!}{=}"),
        (f"<m:acc>{e(r('x'))}</m:acc>", r"\hat{x}"),
        (
            f'<m:acc><m:accPr><m:chr m:val="\u20d7"/></m:accPr>{e(r("AB"))}</m:acc>',
            r"\overrightarrow{AB}",
        ),
        (f'<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>{e(r("x"))}</m:bar>', r"\overline{x}"),
        (f"<m:bar>{e(r('x'))}</m:bar>", r"\underline{x}"),
        (
            limit("limLow", f"<m:groupChr>{e(r('x+y'))}</m:groupChr>", r("s")),
            r"\underbrace{x+y}_{s}",
        ),
        (
            f'<m:groupChr><m:groupChrPr><m:chr m:val="→"/></m:groupChrPr>{e(r("k"))}</m:groupChr>',
            r"\xrightarrow{k}",
        ),
        (f"<m:borderBox>{e(r('x'))}</m:borderBox>", r"\boxed{x}"),
        (f"<m:box>{e(r('x'))}</m:box>", "x"),
        (
            f'<m:phant><m:phantPr><m:show m:val="0"/></m:phantPr>{e(r("x"))}</m:phant>',
            r"\phantom{x}",
        ),
        (f"<w:ins>{r('x')}</w:ins><w:del>{r('y')}</w:del>", "x"),
        (r("α") + "<w:r><w:t>text</w:t></w:r>", r"\alpha\text{text}"),
    ],
)
def test_every_structure_has_its_latex(omml: str, expected: str) -> None:
    """Cases: measured, a fraction of Word."""
    assert latex(omml) == expected


def test_a_formula_in_a_line_stays_in_it() -> None:
    document = read(para("Area ", math(r("A=πr")), "."))

    assert blocks(document) == [("paragraph", "Area $A=\\pi r$.")]


def test_a_formula_alone_is_an_equation_with_its_number() -> None:
    document = read(
        para(math(r("a=b")), " ")
        + para("<w:r><w:tab/></w:r>", math(r("c=d")), "<w:r><w:tab/></w:r>", "(3)")
        + para("Then ", f"<m:oMathPara>{math(r('e'))}{math(r('f'))}</m:oMathPara>", " follows.")
        + f"<m:oMathPara>{math(r('g'))}</m:oMathPara>"
    )

    assert blocks(document) == [
        ("equation", "$$a=b$$"),
        ("equation", "$$c=d$$ (3)"),
        ("paragraph", "Then"),
        ("equation", "$$e$$"),
        ("equation", "$$f$$"),
        ("paragraph", "follows."),
        ("equation", "$$g$$"),
    ]


def test_a_formula_in_a_heading_leaves_it_a_heading() -> None:
    document = read(
        para("The ", math(r("O(n)")), " bound", properties='<w:pStyle w:val="H"/>'),
        styles=paragraph_style("H", "heading 1"),
    )

    assert blocks(document) == [("heading", "The $O(n)$ bound")]


def test_a_bar_in_a_formula_does_not_end_a_cell() -> None:
    formula = para(math(delimited(e(r("x")), begin="|", end="|")))
    document = read(
        "<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr>"
        f"<w:tr><w:tc>{formula}</w:tc><w:tc>{para('b')}</w:tc></w:tr></w:tbl>"
    )

    assert "\\vert x\\vert" in document.text
    assert document.text.count("|") == 6
