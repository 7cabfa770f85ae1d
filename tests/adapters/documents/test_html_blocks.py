"""What of a page becomes which block: lists, tables, notes, captions, code, controls."""

import pytest

from adapters.documents.html import read_html
from state.values.blocks import Document


def read(page: str) -> Document:
    return read_html(page.encode()).document


def parts(document: Document) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.start : b.end]) for b in document.blocks]


def kinds(document: Document) -> list[str]:
    return [b.kind.value for b in document.blocks]


PROSE = "<p>" + "Audit logs are kept for thirty days in every region of the service. " * 8 + "</p>"


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("Auto<b>Encoder</b>s", "AutoEncoders"),
        ("long<wbr>word and hy&shy;phen", "longword and hyphen"),
        ("x<sub>i</sub><sup>2</sup>", "xᵢ²"),
        ("CO<sub>2</sub> and 10<sup>-6</sup> m<sup>2</sup>", "CO₂ and 10⁻⁶ m²"),
        ("T<sub>max</sub>, e<sup>iπt</sup>, f<sup>x</sup>", "T_{max}, e^{iπt}, fˣ"),
        ("the 1<sup>st</sup> and XIX<sup>e</sup>, Brand<sup>TM</sup>", "the 1st and XIXe, Brand™"),
        ('as shown<sup><a href="#n1">1</a></sup> and<sup>[2]</sup>', "as shown[1] and[2]"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>です", "漢字です"),
        ("she said <q>yes</q>", "she said “yes”"),
        ("one<br>two", "one\ntwo"),
        ("it&#146;s &nbsp; here", "it’s here"),
        ("a <!-- remark -->b", "a b"),
        ('a <a href="javascript:alert(1)">link</a>', "a link"),
    ],
)
def test_inline_elements_read_as_they_look(inside: str, text: str) -> None:
    """Cases: measured, words in parts, and raised and lowered letters."""
    assert parts(read(f"<p>{inside}</p>")) == [("paragraph", text)]


def test_items_stand_behind_their_markers_which_are_not_part_of_the_block() -> None:
    """Cases: measured, lists in lists."""
    document = read(
        "<ul><li>one<ul><li>inner<li>last</ul><li>two<br>lines</ul>"
        "<ol start=3><li>three<p>more<li value=7>seven<li>eight</ol>"
    )

    assert document.text == (
        "- one\n  - inner\n  - last\n- two\n  lines\n3. three\n\n   more\n7. seven\n8. eight"
    )
    assert parts(document)[1] == ("list", "inner")
    assert set(kinds(document)) == {"list"}


def test_terms_are_items_and_their_definitions_items_below() -> None:
    document = read("<dl><dt>Term</dt><dd>One.</dd><dd>Two.</dd><dt>Other</dt><dd>Three.</dd></dl>")

    assert document.text == "- Term\n  - One.\n  - Two.\n- Other\n  - Three."


def test_a_definition_without_a_term_only_indents() -> None:
    assert kinds(read("<dl><dd>An indented remark.</dd></dl>")) == ["paragraph"]


def test_a_table_is_rows_of_markdown_with_a_rule() -> None:
    """Cases: measured, a table of HTML."""
    document = read(
        "<table><caption>Prices</caption><thead><tr><th>Plan<th>EUR</tr></thead>"
        "<tr><td>Pro|Max<td>30<br>a year</tr></table>"
    )

    assert parts(document) == [
        ("caption", "Prices"),
        ("table", "| Plan | EUR |\n| --- | --- |\n| Pro\\|Max | 30 a year |"),
    ]


def test_cells_over_rows_are_repeated_and_header_rows_become_one() -> None:
    document = read(
        "<table><thead><tr><th rowspan=2>Region<th colspan=2>2019</tr><tr><th>Q1<th>Q2</tr></thead>"
        "<tr><td rowspan=2>North<td>1<td>2<tr><td>3<td>4<tr><td colspan=3>All sums</table>"
    )

    assert document.text.splitlines() == [
        "| Region | 2019 Q1 | 2019 Q2 |",
        "| --- | --- | --- |",
        "| North | 1 | 2 |",
        "| North | 3 | 4 |",
        "| All sums |  |  |",
    ]


def test_lists_formulas_and_tables_in_cells_stay_on_one_line() -> None:
    document = read(
        "<table><tr><th>A<th>B</tr><tr><td><ul><li>x<li>y</ul><td>"
        "<math alttext='|z|'></math><table><tr><th>n<th>m<tr><td>1<td>2</table></tr></table>"
    )

    assert document.text.splitlines()[-1] == r"| • x • y | $\vert z\vert $ n, m; 1, 2 |"


@pytest.mark.parametrize(
    "table",
    [
        "<table role=presentation><tr><td>First words<td>Second words</table>",
        "<table><tr><td>First words</td></tr><tr><td>Second words</table>",
        "<table><tr><td>First words<td>Second words</table>",
        f"<table><tr><td>First words<td>Second words{PROSE * 3}</table>",
        "<table><tr><td><table><tr><td>First words</table><tr><td>Second words<td></table>",
    ],
)
def test_a_table_that_arranges_is_read_as_what_is_in_it(table: str) -> None:
    document = read(table)

    assert "table" not in kinds(document)
    assert ("paragraph", "First words") in parts(document)


def test_headings_have_their_depth_and_blocks_the_heading_above() -> None:
    document = read("<h1>A</h1><h3>B <i>c</i></h3><div role=heading aria-level=4>D</div><p>text")

    assert [(b.level, b.heading) for b in document.blocks] == [
        *((1, ""), (3, "A"), (4, "B c"), (0, "D"))
    ]


def test_notes_are_footnotes_with_their_number_before_them() -> None:
    """Cases: G 61."""
    document = read(
        f"{PROSE}<section class=footnotes><ol><li id=fn:1><p>First note. "
        '<a class="footnote-backref" href="#r">↩</a></p></li><li id=fn:2>Second note.</li></ol>'
        '</section><aside role="doc-footnote">A third.</aside>'
    )

    assert parts(document)[-3:] == [
        *(("footnote", "First note."), ("footnote", "Second note."), ("footnote", "A third."))
    ]
    assert "[1] First note.\n[2] Second note." in document.text


def test_references_of_a_wiki_are_footnotes() -> None:
    document = read(
        f'{PROSE}<ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink">'
        '<a href="#c">^</a></span> <span class="reference-text">Smith, J. (2001).</span></li></ol>'
    )

    assert parts(document)[-1] == ("footnote", "Smith, J. (2001).")


def test_captions_code_and_summaries() -> None:
    document = read(
        "<figure><img src=a.png alt=x><figcaption>Figure 1: Growth.</figcaption></figure>"
        "<pre><span class=lineno>1</span>def f():<br>    return 1\n\n</pre>"
        "<details><summary>More</summary>Inside.</details>"
    )

    assert parts(document) == [
        ("caption", "Figure 1: Growth."),
        ("code", "def f():\n    return 1"),
        ("paragraph", "More"),
        ("paragraph", "Inside."),
    ]


def test_controls_and_navigation_are_text_but_never_main() -> None:
    document = read(
        f"<nav>Home Blog</nav>{PROSE}<select><option>Albania<option>Belgium</select>"
        "<button>Send</button><div role=navigation>Next page</div>"
    )

    aside = [document.text[b.start : b.end] for b in document.blocks if not b.main]
    assert aside == ["Home Blog", "Albania", "Belgium", "Send", "Next page"]


def test_what_is_for_readers_without_scripts_counts_only_when_there_is_nothing_else() -> None:
    alone = read("<body><noscript><p>The plain version.</p></noscript></body>")
    beside = read("<body><p>The page.</p><noscript>Enable scripts.</noscript></body>")

    assert alone.text == "The plain version."
    assert beside.text == "The page."


def test_what_is_dropped_is_counted() -> None:
    document = read(
        "<p>Text<script>x()</script><script>y()</script><img src=a><iframe src=b></iframe>"
        "<form><textarea>typed</textarea></form><svg><title>t</title></svg>"
    )

    assert document.quality.dropped == ("1 drawing", "1 form", "1 frame", "1 picture", "2 scripts")
    assert document.text == "Text"


def test_a_page_that_ends_within_a_tag_or_needs_scripts_is_doubted() -> None:
    cut = read("<html><body><p>Some words of the page<p>and more<a hre")
    empty = read(
        '<body><noscript>Please enable JavaScript.</noscript><div id="root"></div>Load'
        "<script src=a.js></script></body>"
    )
    sound = read(f"<html><body>{PROSE}</body></html>")

    assert "the page seems to be cut off" in cut.warnings
    assert "the page shows little without JavaScript" in empty.warnings
    assert sound.warnings == ()


def test_the_article_is_main_with_what_stands_between_and_its_like() -> None:
    document = read(
        "<html><head><title>Retention of logs - Site</title></head><body><div class=menu><ul>"
        "<li><a href=/>Home</a><li><a href=/b>Blog of the company</a></ul></div>"
        f"<div class=text><h1>Retention of logs</h1>{PROSE}<h2>Regions</h2>{PROSE}"
        "<pre>rm logs</pre></div><div class=rail><h3>Most read</h3><ul><li><a href=/c>Another "
        "story that many people have read</a></ul></div></body></html>"
    )

    main = {document.text[b.start : b.end][:14]: b.main for b in document.blocks}
    assert [opening for opening, is_main in main.items() if is_main] == [
        *("Audit logs are", "Regions", "rm logs")
    ]
    assert len(main) == 8
