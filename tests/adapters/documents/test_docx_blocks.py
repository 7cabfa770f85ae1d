"""What the paragraphs of a Word file are: headings, items with their numbers, tables, code."""

import pytest

from adapters.documents.docx_reader.numerals import numeral
from adapters.documents.docx_reader.reader import read_docx
from tests.adapters.documents.docx_makers import (
    blocks,
    cell,
    packed,
    para,
    paragraph_style,
    parts,
    read,
    row,
    run,
    table,
    texts,
)


def styled(style: str, *runs: str) -> str:
    return para(*runs, properties=f'<w:pStyle w:val="{style}"/>')


def item(number: int, depth: int, text: str) -> str:
    numbers = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
    return para(text, properties=numbers)


def levels(*found: tuple[str, str], extra: str = "") -> str:
    return "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/>{extra}</w:lvl>'
        for depth, (form, text) in enumerate(found)
    )


def numbering(inside: str, *numbers: str) -> str:
    return f'<w:abstractNum w:abstractNumId="0">{inside}</w:abstractNum>' + "".join(
        f'<w:num w:numId="{at}"><w:abstractNumId w:val="0"/>{said}</w:num>'
        for at, said in enumerate(numbers, start=1)
    )


# Headings


HEADINGS = (
    paragraph_style("berschrift1", "heading 1")
    + paragraph_style("Eigene", "Meine Überschrift", based_on="berschrift2")
    + paragraph_style("berschrift2", "Überschrift 2")
    + paragraph_style("Kapitel", "Kapitel", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>')
    + paragraph_style("Titel", "Title")
    + paragraph_style("Untertitel", "Subtitle", based_on="Titel")
    + paragraph_style("Beschriftung", "caption")
    + paragraph_style("Rund", "Rund", based_on="Herum")
    + paragraph_style("Herum", "Herum", based_on="Rund")
)


def test_headings_are_known_by_name_base_or_outline_in_any_language() -> None:
    """Cases: measured, German names of headings."""
    document = read(
        styled("Titel", "Der Titel")
        + styled("Untertitel", "Darunter")
        + styled("berschrift1", "Eins")
        + styled("Eigene", "Zwei")
        + styled("Kapitel", "Drei")
        + para("Vier", properties='<w:outlineLvl w:val="3"/>')
        + para("Text", properties='<w:pStyle w:val="berschrift1"/><w:outlineLvl w:val="9"/>')
        + styled("Rund", "Kreis"),
        styles=HEADINGS,
    )

    assert [(b.kind.value, b.level, b.heading) for b in document.blocks] == [
        ("heading", 1, ""),
        ("paragraph", 0, "Der Titel"),
        ("heading", 1, "Der Titel"),
        ("heading", 2, "Eins"),
        ("heading", 3, "Zwei"),
        ("heading", 4, "Drei"),
        ("paragraph", 0, "Vier"),
        ("paragraph", 0, "Vier"),
    ]


def test_a_caption_is_a_caption() -> None:
    document = read(styled("Beschriftung", "Abbildung 1"), styles=HEADINGS)

    assert blocks(document) == [("caption", "Abbildung 1")]


def test_a_paragraph_too_long_for_a_heading_is_none() -> None:
    document = read(styled("berschrift1", "word " * 100), styles=HEADINGS)

    assert document.blocks[0].kind == "paragraph"


# Titles


def titled(title: str, body: str) -> str | None:
    core = (
        '<c:coreProperties xmlns:c="http://schemas.openxmlformats.org/package/2006/metadata/'
        'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title></c:coreProperties>"
    )
    made = parts(body, styles=HEADINGS)
    rels = str(made["_rels/.rels"]).replace(
        "</Relationships>",
        '<Relationship Id="c" Type="http://schemas.openxmlformats.org/package/2006/relationships/'
        'metadata/core-properties" Target="docProps/core.xml"/></Relationships>',
    )
    return read_docx(packed(made | {"_rels/.rels": rels, "docProps/core.xml": core})).document.title


def test_the_title_is_the_one_set_as_such_then_the_stated_one_then_the_first_heading() -> None:
    set_as_title = styled("Titel", "Set as title")
    heading = styled("berschrift1", "First heading")

    assert titled("Stated", heading + set_as_title) == "Set as title"
    assert titled("Stated", heading) == "Stated"
    assert titled("", heading) == "First heading"
    assert titled("", para("Text.")) is None


@pytest.mark.parametrize(
    "stated", ["Untitled", "Word Document", "Document1", "Microsoft Word - x.doc", "report v2.docx"]
)
def test_what_programs_put_for_a_title_is_none(stated: str) -> None:
    assert titled(stated, para("Text.")) is None


# Numbers


def test_numbers_count_and_restart_as_word_shows_them() -> None:
    document = read(
        item(1, 0, "A")
        + item(1, 1, "B")
        + item(1, 1, "C")
        + para("between")
        + item(1, 0, "D")
        + item(1, 1, "E")
        + item(1, 2, "F"),
        numbering=numbering(
            levels(("decimal", "%1."), ("lowerLetter", "%1.%2)"), ("lowerRoman", "(%3)")), ""
        ),
    )

    assert texts(document) == ["1. A", "1.a) B", "1.b) C", "between", "2. D", "2.a) E", "(i) F"]
    assert "1. A\n  1.a) B\n  1.b) C\n\nbetween" in document.text


def test_a_number_may_begin_anew_or_go_on() -> None:
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    document = read(
        item(1, 0, "A") + item(2, 0, "B") + item(3, 0, "C") + item(1, 0, "D"),
        numbering=numbering(levels(("upperRoman", "%1.")), "", "", anew),
    )

    assert texts(document) == ["I. A", "II. B", "V. C", "VI. D"]


def test_bullets_are_no_part_of_the_item_and_items_are_indented() -> None:
    document = read(
        item(1, 0, "outer") + item(1, 1, "inner"),
        numbering=numbering(levels(("bullet", "\uf0b7"), ("bullet", "o")), ""),
    )

    assert document.text == "- outer\n  - inner"
    assert blocks(document) == [("list", "outer"), ("list", "inner")]


def test_a_paragraph_can_be_taken_out_of_the_list_of_its_style() -> None:
    style = paragraph_style(
        "L", "List Number", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
    )
    out = '<w:pStyle w:val="L"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>'
    document = read(
        styled("L", "in") + para("out", properties=out) + styled("L", "in again"),
        styles=style,
        numbering=numbering(levels(("decimal", "%1.")), ""),
    )

    assert blocks(document) == [("list", "1. in"), ("paragraph", "out"), ("list", "2. in again")]


def test_headings_carry_the_numbers_of_the_level_that_names_their_style() -> None:
    inside = "".join(
        f'<w:lvl w:ilvl="{depth}"><w:numFmt w:val="decimal"/><w:pStyle w:val="H{depth + 1}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for depth, text in enumerate(("Chapter %1:", "%1.%2"))
    )
    styles = "".join(
        paragraph_style(
            f"H{n}", f"heading {n}", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
        )
        for n in (1, 2)
    )
    document = read(
        styled("H1", "Scope") + styled("H2", "Terms") + styled("H2", "Names") + para("Text."),
        styles=styles,
        numbering=numbering(inside, ""),
    )

    assert texts(document) == ["Chapter 1: Scope", "1.1 Terms", "1.2 Names", "Text."]
    assert document.blocks[-1].heading == "1.2 Names"


def test_a_style_of_numbering_leads_to_its_list_and_a_circle_to_none() -> None:
    linked = (
        '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="S"/></w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="S"/>{levels(("decimal", "%1)"))}'
        "</w:abstractNum>"
        '<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="C"/></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>'
    )
    styles = "".join(
        f'<w:style w:type="numbering" w:styleId="{name}"><w:pPr><w:numPr>'
        f'<w:numId w:val="{number}"/></w:numPr></w:pPr></w:style>'
        for name, number in (("S", 2), ("C", 3))
    )

    document = read(item(1, 0, "A") + item(3, 0, "B"), styles=styles, numbering=linked)

    assert blocks(document) == [("list", "1) A"), ("paragraph", "B")]


@pytest.mark.parametrize(
    ("number", "form", "written"),
    [
        (1994, "upperRoman", "MCMXCIV"),
        (28, "lowerLetter", "bb"),
        (7, "decimalZero", "07"),
        (22, "ordinal", "22nd"),
        (13, "ordinal", "13th"),
        (121, "cardinalText", "One hundred twenty-one"),
        (20, "ordinalText", "Twentieth"),
        (32, "ordinalText", "Thirty-second"),
        (103, "chineseCounting", "一百零三"),
        (12, "japaneseCounting", "十二"),
        (3, "decimalEnclosedCircle", "③"),
        (2, "russianLower", "б"),
        (5, "some future form", "5"),
        (0, "upperRoman", "0"),
        (5, "none", ""),
    ],
)
def test_numbers_are_written_in_words_word_knows(number: int, form: str, written: str) -> None:
    assert numeral(number, form) == written


# Code


def test_code_is_known_by_its_style_or_by_font_and_look_and_is_one_block() -> None:
    def typed(text: str) -> str:
        return para(run(text, '<w:rFonts w:ascii="Courier New"/>'))

    document = read(
        styled("Code", "def f():")
        + styled("Code", "")
        + styled("Code", "    return 1")
        + para("Prose.")
        + typed("x = [1]")
        + typed("return x")
        + para("Prose.")
        + typed("A letter on a typewriter."),
        styles=paragraph_style("Code", "Source Code"),
    )

    assert blocks(document) == [
        ("code", "def f():\n\n    return 1"),
        ("paragraph", "Prose."),
        ("code", "x = [1]\nreturn x"),
        ("paragraph", "Prose."),
        ("paragraph", "A letter on a typewriter."),
    ]


def test_a_document_all_set_in_a_font_for_code_is_prose() -> None:
    styles = (
        '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr>'
        "</w:rPrDefault></w:docDefaults>"
    )

    assert blocks(read(para("A scene [night]."), styles=styles)) == [
        ("paragraph", "A scene [night].")
    ]


# Tables


def test_a_table_is_rows_of_markdown_with_a_rule_under_the_first() -> None:
    document = read(
        table(row("Plan", "Days"), row("Pro", "30 | 40"), row("", ""), row("Team", "90"))
    )

    assert blocks(document) == [
        ("table", "| Plan | Days |\n| --- | --- |\n| Pro | 30 \\| 40 |\n| Team | 90 |")
    ]


def test_merged_cells_keep_the_columns_in_line() -> None:
    down, goes_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    document = read(
        table(
            row(cell("Land", down), cell("Growth", '<w:gridSpan w:val="2"/>')),
            row(cell("", goes_on), "2019", "2020"),
            row(cell("Peru", down), "1.1", "1.2"),
            row(cell("", goes_on), "2.1", "2.2"),
            row("3.2", properties='<w:gridBefore w:val="2"/>'),
        )
    )

    assert texts(document)[0].split("\n") == [
        "| Land | Growth |  |",
        "| --- | --- | --- |",
        "| Land | 2019 | 2020 |",
        "| Peru | 1.1 | 1.2 |",
        "| Peru | 2.1 | 2.2 |",
        "|  |  | 3.2 |",
    ]


def test_several_rows_of_a_head_become_one() -> None:
    head = "<w:tblHeader/>"
    document = read(
        table(
            row(
                cell("Land", '<w:vMerge w:val="restart"/>'),
                cell("Growth", '<w:gridSpan w:val="2"/>'),
                properties=head,
            ),
            row(cell("", "<w:vMerge/>"), "2019", "2020", properties=head),
            row("Peru", "1.1", "1.2"),
        )
    )

    assert texts(document) == [
        "| Land | Growth 2019 | Growth 2020 |\n| --- | --- | --- |\n| Peru | 1.1 | 1.2 |"
    ]


def test_a_row_that_only_arranges_paragraphs_is_read_as_those() -> None:
    document = read(table(row(cell(para("One.") + para("Two.")), "Three.")) + table(row("a", "b")))

    assert blocks(document) == [
        ("paragraph", "One."),
        ("paragraph", "Two."),
        ("paragraph", "Three."),
        ("table", "| a | b |\n| --- | --- |"),
    ]


def test_a_table_in_a_cell_stands_in_one_line() -> None:
    inner = table(row("x", "y"), row("1", "2"))
    document = read(table(row("a", "b"), row("c", cell(para("Look:") + inner + para("end")))))

    assert texts(document) == ["| a | b |\n| --- | --- |\n| c | Look: [x · y; 1 · 2] end |"]


def test_a_table_of_one_column_is_only_a_frame() -> None:
    document = read(
        table(row(cell(styled("H", "Note") + para("Text.") + table(row("a", "b"), row("c", "d"))))),
        styles=paragraph_style("H", "heading 2"),
    )

    assert [kind for kind, _ in blocks(document)] == ["heading", "paragraph", "table"]


def test_rows_whose_deletion_was_tracked_are_dropped() -> None:
    document = read(
        table(
            row("a", "b"),
            row("gone", "gone", properties='<w:del w:id="1"/>'),
            row("new", "new", properties='<w:ins w:id="2"/>'),
        )
    )

    assert texts(document) == ["| a | b |\n| --- | --- |\n| new | new |"]
    assert document.quality.dropped == ("1 deletion that was tracked",)


def test_hidden_rows_and_covered_cells_are_hidden_text() -> None:
    document = read(
        table(
            row(cell("a", '<w:vMerge w:val="restart"/>'), "b"),
            row(cell("covered", "<w:vMerge/>"), "c"),
            row("secret", "orders", properties="<w:hidden/>"),
        )
    )

    assert texts(document) == ["| a | b |\n| --- | --- |\n| a | c |"]
    assert document.quality.hidden_text == ("covered", "secret", "orders")
