"""Formulas on pages: from their source where it is there, once, and from MathML elsewhere."""

import pytest
from lxml import html as lxml_html

from adapters.documents.html import read_html
from adapters.documents.web_page.maths import latex


def parts(page: str) -> list[tuple[str, str]]:
    document = read_html(page.encode()).document
    return [(b.kind.value, document.text[b.start : b.end]) for b in document.blocks]


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        ("<mi>a</mi><mo>≠</mo><mn>0</mn>", r"a \ne 0"),
        ("<mfrac><mn>1</mn><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow>", r"\frac{1}{x + 1}"),
        ("<mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac>", r"{n \atop k}"),
        ("<msup><mi>x</mi><mn>2</mn></msup><msub><mi>y</mi><mi>i</mi></msub>", "x^2y_i"),
        ("<msubsup><mi>x</mi><mi>i</mi><mrow><mi>n</mi><mo>-</mo><mn>1</mn></mrow></msubsup>",
         "x_i^{n - 1}"),
        ("<msup><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow><mn>2</mn></msup>", "{(x)}^2"),
        ("<msup><mi>f</mi><mo>′</mo></msup>", "f'"),
        ("<msqrt><mi>b</mi><mo>−</mo><mn>4</mn></msqrt>", r"\sqrt{b - 4}"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt[3]{x}"),
        (("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>"
         "<mi>i</mi>"), r"\sum_{i = 1}^n i"),
        ("<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder>",
         r"\lim_{x \to 0}"),
        ("<mover><mi>x</mi><mo>¯</mo></mover><mover><mi>v</mi><mo>→</mo></mover>",
         r"\overline{x}\vec{v}"),
        ("<mover><mo>=</mo><mtext>def</mtext></mover>", r"\overset{\text{def}}{=}"),
        ("<mfenced open='['><mi>a</mi><mi>b</mi></mfenced>", "[a, b)"),
        (("<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mn>0</mn></mtd>"
         "<mtd><mn>1</mn></mtd></mtr></mtable>"), r"\begin{matrix} a & b \\ 0 & 1 \end{matrix}"),
        ("<mi>sin</mi><mo>&#x2061;</mo><mi>θ</mi>", r"\sin \theta"),
        ("<mi>speed</mi><mo>≤</mo><mi mathvariant=bold>v</mi>", r"\mathrm{speed} \le \mathbf{v}"),
        ("<mi>𝑥</mi><mo>∈</mo><mi>ℝ</mi>", r"x \in \mathbb{R}"),
        ("<mtext>if 50% of </mtext><mi>x</mi>", r"\text{if 50\% of }x"),
        ("<mo>{</mo><mi>x</mi><mo>∣</mo><mi>y</mi><mo>}</mo>", r"\{x \mid y\}"),
        ("<mmultiscripts><mi>C</mi><mn>6</mn><none/><mprescripts/><none/><mn>14</mn></mmultiscripts>",
         "{}^{14}C_6"),
        ("<mi>α</mi><mi>x</mi><mphantom><mi>y</mi></mphantom>", r"\alpha x"),
        ("<semantics><mi>x</mi><annotation encoding='text/plain'>no</annotation></semantics>", "x"),
        ("<menclose notation='updiagonalstrike'><mi>x</mi></menclose>", r"\cancel{x}"),
        ("<msup><mi>x</mi></msup><mfrac></mfrac>", r"x\frac{}{}"),
        ("", ""),
    ],
)  # fmt: skip
def test_presentation_mathml_becomes_latex(mathml: str, tex: str) -> None:
    """Cases: measured, MathML."""
    assert latex(lxml_html.fragment_fromstring(f"<math>{mathml}</math>")) == tex


@pytest.mark.parametrize(
    "math",
    [
        r'<math alttext="\frac{a}{b}"><mi>a</mi></math>',
        (
            r"<math><semantics><mi>a</mi><annotation encoding='application/x-tex'>\frac{a}{b}"
            "</annotation></semantics></math>"
        ),
        (
            r"<math><mi>a</mi><annotation encoding='application/x-tex'>{\displaystyle \frac{a}{b}}"
            "</annotation></math>"
        ),
        r"<math alttext='a over b'><mfrac><mi>a</mi><mi>b</mi></mfrac></math>",
        r'<script type="math/tex">\frac{a}{b}</script>',
        (
            r'<span class="MathJax_Preview">a/b</span><span class="MathJax">a b</span>'
            r'<script type="math/tex">\frac{a}{b}</script>'
        ),
        (
            "<mjx-container><mjx-math>a b</mjx-math><mjx-assistive-mml><math><mfrac><mi>a</mi>"
            "<mi>b</mi></mfrac></math></mjx-assistive-mml></mjx-container>"
        ),
        ('<span class="MathJax" data-mathml="<math><mfrac><mi>a</mi><mi>b</mi></mfrac>">ab</span>'),
        (
            r'<span class="katex"><span class="katex-mathml"><math><mi>a</mi><annotation encoding='
            r'"application/x-tex">\frac{a}{b}</annotation></math></span><span class="katex-html" '
            'aria-hidden="true">ab</span></span>'
        ),
        r'<img class="latex" alt="\frac{a}{b}" src="f.png">',
        (
            '<span class="mwe-math-element"><span class="mwe-math-mathml" style="display:none">'
            r'<math><annotation encoding="application/x-tex">\frac{a}{b}</annotation></math>'
            r'</span><img class="mwe-math-fallback-image-inline" alt="\frac{a}{b}" src="f"></span>'
        ),
    ],
)
def test_a_formula_is_read_once_as_its_tex(math: str) -> None:
    """Cases: measured, what a formula says it is."""
    assert parts(f"<p>Let {math} be.</p>") == [("paragraph", r"Let $\frac{a}{b}$ be.")]


@pytest.mark.parametrize(
    "math",
    [
        '<math display="block"><mi>E</mi><mo>=</mo><mi>m</mi></math>',
        '<script type="math/tex; mode=display">E = m</script>',
        '<span class="katex-display"><span class="katex"><math alttext="E = m"></math></span>',
        '<mjx-container display="true"><math><mi>E</mi><mo>=</mo><mi>m</mi></math></mjx-container>',
    ],
)
def test_a_formula_that_is_set_apart_is_an_equation(math: str) -> None:
    assert parts(f"<p>Then {math} holds.</p>") == [
        ("paragraph", "Then"),
        ("equation", "$$E = m$$"),
        ("paragraph", "holds."),
    ]


def test_a_formula_alone_in_a_paragraph_is_an_equation_with_its_full_stop() -> None:
    assert parts("<p><math alttext='E = m'></math>.</p>") == [("equation", "$$E = m$$.")]


def test_words_are_set_off_from_formulas_and_endings_are_not() -> None:
    k = "<math alttext='k'></math>"

    assert parts(f"<p>the {k}th of{k}heads</p>") == [("paragraph", "the $k$th of $k$ heads")]


def test_dollars_are_no_formula() -> None:
    assert parts("<p>$5 and $6$</p>") == [("paragraph", "$5 and $6$")]


def test_a_formula_without_a_source_is_counted() -> None:
    page = b"<p>Let <mjx-container><mjx-math><mjx-c></mjx-c></mjx-math></mjx-container> be.</p>"

    assert read_html(page).document.quality.dropped == ("1 formula without a source",)
