"""What the pages of a PDF become: sound characters, reading order, blocks, title."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.convert import convert_bytes
from adapters.documents.pdf.characters import garbage_share, is_language, shape_fault, sound
from adapters.documents.pdf.choice import compare
from adapters.documents.pdf.composing import compose
from adapters.documents.pdf.joining import sentence_cuts
from adapters.documents.pdf.lines import Line
from adapters.documents.pdf.titles import title_of
from adapters.documents.reading import number_blocks
from state.values.blocks import Block, BlockKind, Document
from state.values.quotes import NormalisedText
from tests.adapters.documents.pdf_maker import WORDS, Pdf, column, prose, show, simple


def document(data: bytes) -> Document:
    made = convert_bytes(data, "a.pdf", "").document
    assert made is not None
    return made


def parts(made: Document) -> list[tuple[str, str]]:
    return [(b.kind.value, made.text[b.start : b.end]) for b in made.blocks]


def block_of(made: Document, words: str) -> Block:
    return next(b for b in made.blocks if words in made.text[b.start : b.end])


def quotable(made: Document, quote: str) -> bool:
    return NormalisedText(made.text).find(quote) is not None


# Characters


def mapped(codes: str, *, shown: str = "AB") -> bytes:
    """Return a file whose font maps the codes A and B to UTF-16 numbers, as `codes` says."""
    pdf = Pdf()
    rows = "\n".join(f"<{0x41 + at:02X}> <{code}>" for at, code in enumerate(codes.split()))
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def "
        "1 begincodespacerange <00> <FF> endcodespacerange "
        f"{len(codes.split())} beginbfchar\n{rows}\nendbfchar endcmap end end"
    )
    number = pdf.stream(table)
    pdf.fonts["F4"] = (
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode {number} 0 R >>"
    )
    pdf.page(show("Plain words.", 72, 720) + show(shown, 72, 700, font="F4"))
    return pdf.data()


def test_halves_of_a_pair_are_joined_and_lone_ones_dropped() -> None:
    joined, lone = document(mapped("D83D DE00")).text, document(mapped("D83D 0042")).text

    assert "\U0001f600" in joined
    for text in (joined, lone):
        text.encode("utf-8")
        assert "Plain words." in text


def test_nul_and_controls_never_reach_the_text() -> None:
    made = document(mapped("0000 0007", shown="ABA"))

    assert made.text == "Plain words."


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\x00b\x07c", "abc"),
        ("\ud83d\ude00 and \ud83d", "\U0001f600 and "),
        ("co\u00adop", "co-op"),
        ("\uf0b7 item", "• item"),
        ("ﬁ é 日本", "ﬁ é 日本"),
    ],
)
def test_characters_are_made_sound(given: str, kept: str) -> None:
    assert sound(given) == kept


@given(st.text(st.characters(categories=None), max_size=60))
def test_any_text_is_made_sound_once_and_for_all(text: str) -> None:
    made = sound(text)

    made.encode("utf-8")
    assert "\0" not in made
    assert sound(made) == made


@given(st.lists(st.text("ab. AB\n", min_size=1, max_size=30), min_size=1, max_size=8))
def test_a_joined_paragraph_is_cut_in_order_and_only_where_sentences_end(parts: list[str]) -> None:
    cuts = sentence_cuts(parts)

    text = "\n".join(parts)
    assert len(cuts) == len(parts) - 1
    assert cuts == sorted(cuts)
    assert all(cut == len(text) or "." in text[:cut].rstrip()[-1:] for cut in cuts)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Some words here.", "1 Head", "* item", "and so on", "Table 1. x"]),
            st.integers(0, 600),
            st.integers(0, 790),
            st.sampled_from([4, 10, 16]),
        ),
        max_size=25,
    )
)
def test_any_arrangement_of_text_gives_ordered_blocks_that_hold_all_of_it(
    drawn: list[tuple[str, int, int, int]],
) -> None:
    lines = [Line(text, 1, x, y, size) for text, x, y, size in drawn]

    made = compose([lines])

    blocks = number_blocks(made.text, made.segments)
    held = "".join(made.text[b.start : b.end] for b in blocks)
    assert sorted("".join(held.split())) == sorted("".join("".join(t.split()) for t, *_ in drawn))
    assert [b.start for b in blocks] == sorted(b.start for b in blocks)


def test_garbage_is_told_from_language() -> None:
    """Cases: G 59."""
    for garbage in ("/C87/C104/C97/C116", "(cid:12)(cid:44)", "\ue001\ue002\ue003", "È« ÊÀ ½ç ÎÞ"):
        assert garbage_share(garbage) > 0.5, garbage
    for words in (
        "A plain sentence.",
        "Größe naïve façade",
        "日本語テスト",
        "مرحبا",
        "न्यूज़",
        "x² + y²",
    ):
        assert garbage_share(words) < 0.1, words
    assert not is_language('"7+%-&/(')
    assert is_language("1 . . . . . . . . . 12")
    assert shape_fault("HHeelllloo tthhiiss iiss ddoouubbllee ttyyppee wwiitthh nnooiissee") > 0.5
    assert shape_fault(" ".join("thisisspacedoutletterbyletterandishardtoreadasitstands")) > 0.5
    assert shape_fault("This is how an ordinary sentence looks, with words of usual length.") == 0


def test_the_second_reader_stands_in_only_when_it_is_better() -> None:
    """Cases: G 59."""
    words = "An ordinary sentence of several words, as pages hold many of them."

    assert compare("/C87/C104/C97/C116 /C105/C115", words).second_is_better
    assert compare("", words).second_is_better
    assert not compare(words, "/C87/C104/C97/C116").second_is_better
    assert not compare(words, words.upper()).is_doubtful
    assert not compare(words, "").second_is_better
    assert compare(words, "Entirely other things were seen here").is_doubtful
    assert not compare("hyphen-\nated words", "hyphen\ufffeated words").is_doubtful


def test_names_of_glyphs_that_only_tell_codes_are_read_as_characters() -> None:
    """Cases: G 59. The first reader says /C87/C104 of these."""
    said = ["Whatever is drawn with such names", "is read as the words that they show."]
    pdf = Pdf()
    names = " ".join(f"{ord(char)} /C{ord(char)}" for char in sorted(set("".join(said))))
    pdf.fonts["F4"] = (
        "<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+Own /FirstChar 32 /LastChar 126 "
        f"/Widths [{' '.join(['500'] * 95)}] "
        f"/Encoding << /Type /Encoding /Differences [{names}] >> >>"
    )
    pdf.page("".join(show(line, 72, 700 - 12 * at, font="F4") for at, line in enumerate(said)))

    made = document(pdf.data())

    assert made.text == "\n".join(said)
    assert made.quality.pages_in_doubt == (1,)


def test_text_drawn_twice_to_look_bold_is_read_once() -> None:
    twice = show("Bold by shadow", 72, 700) + show("Bold by shadow", 72.4, 700)

    made = document(simple(twice + show("Bold by shadow", 72, 600)))

    assert made.text.count("Bold by shadow") == 2


# Order


def test_columns_drawn_one_after_the_other_stay_so() -> None:
    """Cases: G 56."""
    left, right = prose(12), prose(12, start=50)
    made = document(simple(column([x[:40] for x in left], x=40) + column(right, x=320)))

    assert quotable(made, f"{left[3][:40]} {left[4][:40]}")
    assert quotable(made, f"{right[3]} {right[4]}")


def test_columns_drawn_line_by_line_are_put_in_order() -> None:
    """Cases: G 56."""
    left = [f"left column line {n} of the first text that goes on" for n in range(14)]
    right = [f"right column line {n} of the other text that goes on" for n in range(14)]
    rows = "".join(
        show(one, 40, 640 - 12 * at) + show(other, 320, 640 - 12 * at)
        for at, (one, other) in enumerate(zip(left, right, strict=True))
    )
    title = show("A title that stands across both of the columns of this page", 90, 700, size=16)

    made = document(simple(title + rows))

    assert quotable(made, " ".join(left))
    assert quotable(made, " ".join(right))
    assert made.text.index("A title") < made.text.index(left[0]) < made.text.index(right[0])
    assert any("columns" in warning for warning in made.warnings)


def test_rows_of_a_table_are_no_columns() -> None:
    """Cases: G 55."""
    rows = [("Alpha", "12", "ok"), ("Beta", "14", "ok"), ("Gamma", "9", "late")] * 4
    drawn = "".join(
        show(cell, 72 + 150 * at, 700 - 14 * row)
        for row, cells in enumerate(rows)
        for at, cell in enumerate(cells)
    )

    made = document(simple(drawn))

    assert quotable(made, "Beta 14 ok")
    assert parts(made)[0][0] == "table"


# Pages


def paged(count: int, *, foot: str = "Journal of Tests, page {}") -> bytes:
    pages = []
    for number in range(1, count + 1):
        lines = [f"Page {number} says in line {at} that the matter is" for at in range(30)]
        lines[0] = f"and went on here on page {number}. Then it" if number > 1 else lines[0]
        pages.append(
            show("A Running Head", 250, 760, size=8)
            + column(lines, top=720)
            + show(foot.format(number), 250, 30, size=8)
        )
    return simple(*pages)


def test_running_heads_and_feet_are_not_main_and_split_no_sentence() -> None:
    made = document(paged(4))

    assert "Running Head" not in made.main_text
    assert "Journal of Tests" not in made.main_text
    assert made.text.count("A Running Head") == 4
    assert quotable(made, "line 29 that the matter is and went on here on page 2.")


def test_a_sentence_belongs_to_the_page_it_begins_on() -> None:
    made = document(paged(2))

    crossing = block_of(made, "and went on here on page 2.")
    assert crossing.page == 1
    assert made.text[crossing.start : crossing.end].endswith("and went on here on page 2.")
    assert block_of(made, "Then it").page == 2


def test_lone_page_numbers_are_not_main() -> None:
    made = document(paged(3, foot="- {} -"))

    assert "- 2 -" in made.text
    assert "- 2 -" not in made.main_text


def test_notes_at_the_foot_of_a_page_are_kept_and_split_no_sentence() -> None:
    """Cases: G 61."""
    first = [f"The first page says in line {at} that the matter is" for at in range(20)]
    note = show("1 See https://example.org/notes for more.", 72, 80, size=7)
    second = ["settled for good. After that nobody spoke of it", "any more at all."]

    made = document(simple(column(first) + note, column(second)))

    assert block_of(made, "https://example.org/notes").kind is BlockKind.FOOTNOTE
    assert block_of(made, "https://example.org/notes").main
    assert quotable(made, "line 19 that the matter is settled for good.")


def test_the_last_page_is_read_to_its_end() -> None:
    pages = [column(prose(4, start=4 * n)) for n in range(20)]
    pages[-1] += show("Figure 9: The very last words.", 72, 100)

    made = document(simple(*pages))

    last = made.blocks[-1]
    assert (made.text[last.start : last.end], last.page) == ("Figure 9: The very last words.", 20)
    assert last.kind is BlockKind.CAPTION


# Blocks


def test_blocks_are_told_by_how_they_look() -> None:
    content = (
        show("A Study of Small Files", 72, 740, size=18, font="F2")
        + show("1 Introduction", 72, 710, size=12, font="F2")
        + column([*prose(3), "it ends here."], top=690)
        + show("2 Method", 72, 630, size=12, font="F2")
        + show("2.1 Parts", 72, 610, size=12, font="F2")
        + column(prose(2, start=10), top=590)
        + show("* first item of the list", 72, 550)
        + show("* second item of the list", 72, 538)
        + show("def main(x):", 72, 510, font="F3")
        + show("return x;", 84, 498, font="F3")
        + show("Table 2. What was measured.", 72, 470)
    )

    made = document(simple(content))

    kinds = [(kind, text.split("\n")[0]) for kind, text in parts(made)]
    assert kinds == [
        ("heading", "A Study of Small Files"),
        ("heading", "1 Introduction"),
        ("paragraph", prose(1)[0]),
        ("heading", "2 Method"),
        ("heading", "2.1 Parts"),
        ("paragraph", prose(1, start=10)[0]),
        ("list", "* first item of the list"),
        ("list", "* second item of the list"),
        ("code", "def main(x):"),
        ("caption", "Table 2. What was measured."),
    ]
    assert [b.level for b in made.blocks if b.kind is BlockKind.HEADING] == [1, 2, 2, 3]
    assert block_of(made, "def main").heading == "2.1 Parts"
    assert made.title == "A Study of Small Files"


def test_figures_at_the_end_keep_their_captions_whatever_labels_they_have() -> None:
    """Cases: G 58."""
    pdf = Pdf()
    picture = f"/Im {pdf.picture()} 0 R"
    said = {
        3: "Two heads of attention, in layer 5 of 6, that follow dependencies over a distance",
        4: "Heads of the encoder, of which each learned a task of its own in all of the layers",
    }
    pdf.page(show("Visualizations", 72, 730, size=14) + column(prose(12)))
    for number, words in said.items():
        labels = "".join(
            f"BT /F1 8 Tf 0 1 -1 0 {90 + at % 34 * 12} {410 + at // 34 * 100} Tm ({word}) Tj ET\n"
            for at, word in enumerate(
                sorted(WORDS.split() * 4, key=lambda word: word[number - 3 :])
            )
        )
        caption = show(f"Figure {number}: {words}", 72, 300)
        pdf.page(
            f"q 400 0 0 200 80 390 cm /Im Do Q\n{labels}"
            + show("Input Layer5", 80, 640, size=18)
            + caption,
            xobjects=picture,
        )

    made = document(pdf.data())

    captions = [made.text[b.start : b.end] for b in made.blocks if b.kind is BlockKind.CAPTION]
    assert [text.split(":")[0] for text in captions] == ["Figure 3", "Figure 4"]
    assert all(block_of(made, text).main for text in captions)
    headings = [text for kind, text in parts(made) if kind == "heading"]
    assert headings == ["Visualizations"]
    assert "2 pictures" in made.quality.dropped


def test_paragraphs_are_parted_by_space_or_by_their_first_line() -> None:
    spaced = column(prose(3)) + column(prose(3, start=5), top=640)
    indented = (
        column(prose(3)) + show(prose(1, start=5)[0], 90, 664) + column(prose(2, start=6), top=652)
    )

    assert len(document(simple(spaced)).blocks) == 2
    assert len(document(simple(indented)).blocks) == 2


def test_words_broken_at_the_end_of_a_line_are_found_whole() -> None:
    made = document(simple(column(["The measure was recon-", "sidered by the com-", "mittee."])))

    assert quotable(made, "The measure was reconsidered by the committee.")


# Titles


@pytest.mark.parametrize(
    ("stated", "title"),
    [
        ("Measuring the Depth of Lakes", "Measuring the Depth of Lakes"),
        ("Microsoft Word - draft_v3.doc", None),
        ("Microsoft Word - Depth of Lakes", "Depth of Lakes"),
        ("untitled", None),
        ("(anonymous)", None),
        ("paper-final.pdf", None),
        ("C:\\\\users\\\\ann\\\\x", None),
        ("1706.03762", None),
        ("", None),
    ],
)
def test_a_stated_title_is_taken_when_it_is_one(stated: str, title: str | None) -> None:
    made = document(simple(column(prose(4)), info={"Title": stated}))

    assert made.title == title


def test_no_title_is_made_up() -> None:
    assert document(simple(column(prose(4)))).title is None
    assert title_of(None, compose([])) is None
    numbered = show("1 Introduction", 72, 740, size=14, font="F2") + column(prose(4))
    assert document(simple(numbered)).title is None
