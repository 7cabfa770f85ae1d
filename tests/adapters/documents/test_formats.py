"""What each kind of file becomes: its text, blocks, headings and title."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.charset import decode
from adapters.documents.html import read_html
from adapters.documents.markdown import read_markdown
from adapters.documents.plain import read_code, read_plain
from adapters.documents.reading import MAX_BLOCK, Segment, number_blocks
from adapters.documents.sniff import CODE, HTML, MARKDOWN, PDF, PLAIN, sniff
from adapters.documents.wire import decode_conversion, encode_conversion
from state.values.blocks import Block, BlockKind, Conversion, Document, Outcome


def parts(document: Document) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.start : b.end]) for b in document.blocks]


def find(document: Document, words: str) -> Block:
    return next(b for b in document.blocks if words in document.text[b.start : b.end])


MARKDOWN_SOURCE = """---
title: "The *real* title"
---
# First *heading*

A paragraph
on two lines.

- one
  - inner
- two

  more of two

> quoted

| a | b |
|---|---|
| 1 | 2 |

```py
x = 1
```

[![badge](b.svg)](ci)

<!-- a comment -->
"""


def test_markdown_is_its_own_text_with_blocks_that_are_ranges_of_it() -> None:
    document = read_markdown(MARKDOWN_SOURCE.encode()).document

    assert document.text == MARKDOWN_SOURCE
    assert parts(document)[1:] == [
        ("heading", "First *heading*"),
        ("paragraph", "A paragraph\non two lines."),
        ("list", "one"),
        ("list", "inner"),
        ("list", "two"),
        ("list", "more of two"),
        ("paragraph", "quoted"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("code", "x = 1"),
        ("paragraph", "[![badge](b.svg)](ci)"),
        ("paragraph", "<!-- a comment -->"),
    ]


def test_front_matter_pictures_and_comments_are_not_main() -> None:
    document = read_markdown(MARKDOWN_SOURCE.encode()).document

    aside = [document.text[b.start : b.end][:5] for b in document.blocks if not b.main]
    assert aside == ["---\nt", "[![ba", "<!-- "]


def test_the_title_of_markdown_is_stated_in_front_matter_or_the_first_h1_or_none() -> None:
    assert read_markdown(MARKDOWN_SOURCE.encode()).document.title == "The *real* title"
    assert read_markdown(b"## Two\n\n# A *b* `c`\n").document.title == "A b c"
    assert read_markdown(b"Only text.").document.title is None


def test_blocks_know_the_heading_above_them() -> None:
    document = read_markdown(b"before\n\n# One\n\nfirst\n\nTwo\n---\nsecond").document

    headings = [find(document, words).heading for words in ("before", "first", "second")]
    assert headings == ["", "One", "Two"]


@given(st.text(alphabet="#->*`| \n\ra1[]()<!é\u00a0\t~$", max_size=120))
def test_any_markdown_gives_ordered_blocks_without_space_around_them(source: str) -> None:
    document = read_markdown(source.encode()).document

    reached = 0
    assert document.text == source
    for number, block in enumerate(document.blocks, start=1):
        text = source[block.start : block.end]
        assert block.paragraph == number
        assert reached <= block.start
        assert text == text.strip() != ""
        reached = block.end


def test_underlined_headings_and_items_of_plain_text_are_recognised() -> None:
    source = b"=====\nTitle\n=====\n\nIntro\ntext.\n\nPart\n----\n1. one\n2. two\n   more\n"

    document = read_plain(source).document

    assert document.title == "Title"
    assert parts(document) == [
        ("heading", "Title"),
        ("paragraph", "Intro\ntext."),
        ("heading", "Part"),
        ("list", "1. one"),
        ("list", "2. two\n   more"),
    ]
    assert document.blocks[-1].heading == "Part"


def test_plain_text_has_no_title_unless_a_heading_opens_it() -> None:
    assert read_plain(b"A first line.\n\nTitle\n=====\n").document.title is None


def test_source_code_is_code_without_headings() -> None:
    document = read_code(b"x = 1\n\n# Title\n# =====\ny = 2\n").document

    assert parts(document) == [("code", "x = 1"), ("code", "# Title\n# =====\ny = 2")]


ARTICLE = "Audit logs are kept for thirty days in every region, and then they are deleted. "
PAGE = f"""<!DOCTYPE html><html><head><title>The
 title</title><style>p {{}}</style><script>var hidden = 1</script></head><body>
<nav><ul><li><a href="/">Home page of this site</a></li><li><a href="/b">Blog</a></li></ul></nav>
<main><article><h1>Retention</h1><p>{ARTICLE * 4}</p><p style="display: none">secret orders</p>
<p>A formula <math><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></math> and
 a&nbsp;<b>bold</b>er word.<br>Next line.</p><p>{ARTICLE * 3}</p>
<pre>a
  b</pre><table><tr><th>Plan</th><th>Days</th></tr><tr><td>Pro</td><td>30</td></tr></table>
<noscript>enable scripts</noscript></article></main></body></html>"""


def test_html_becomes_the_visible_text() -> None:
    document = read_html(PAGE.encode()).document

    assert ("paragraph", "A formula $x^2$ and a bolder word.\nNext line.") in parts(document)
    assert ("code", "a\n  b") in parts(document)
    assert ("table", "| Plan | Days |\n| --- | --- |\n| Pro | 30 |") in parts(document)
    for unseen in ("var hidden", "secret orders", "enable scripts", "p {}"):
        assert unseen not in document.text
    assert any("hides" in warning for warning in document.warnings)


def test_the_article_is_main_and_navigation_is_not() -> None:
    document = read_html(PAGE.encode()).document

    assert find(document, "Audit logs").main
    assert find(document, "Retention").main
    assert not find(document, "Home page").main


def test_the_title_of_html_is_its_title_or_h1_or_none() -> None:
    assert read_html(PAGE.encode()).document.title == "The title"
    assert read_html(b"<h1>Only <i>this</i></h1><p>text").document.title == "Only this"
    assert read_html(b"<svg><title>icon</title></svg><p>text").document.title is None


def test_the_declared_charset_of_a_page_is_honoured() -> None:
    page = '<meta charset="windows-1251"><p>Москва</p>'.encode("cp1251")

    assert "Москва" in read_html(page).document.text


def test_two_line_breaks_separate_paragraphs() -> None:
    assert parts(read_html(b"<div>one<br><br>two</div>").document) == [
        ("paragraph", "one"),
        ("paragraph", "two"),
    ]


def test_a_table_that_arranges_the_page_is_read_as_blocks() -> None:
    page = b"<table><tr><td><h2>Menu</h2></td><td><p>Words here</p></td></tr></table>"

    assert parts(read_html(page).document) == [("heading", "Menu"), ("paragraph", "Words here")]


def test_bytes_are_decoded_by_mark_then_utf8_then_declaration_then_detection() -> None:
    word = "Größe"

    assert decode(word.encode("utf-8-sig")).text == word
    assert decode(word.encode("utf-16")).text == word
    assert decode("plain text".encode("utf-16-le")).text == "plain text"
    assert decode(word.encode(), declared="latin-1").text == word
    assert decode("Ελλάδα".encode("cp1253"), declared="windows-1253").text == "Ελλάδα"
    assert decode("Le café était fermé à cause de la grève.".encode("cp1252")).text.endswith(
        "grève."
    )


def test_damaged_bytes_are_counted_and_reported() -> None:
    decoded = decode("Größe Länge Höhe ".encode() * 5 + b"\xff")

    assert decoded.replaced == 1
    assert "1 character could not be read" in decoded.lost


@given(st.binary(max_size=300))
def test_any_bytes_decode_to_text_without_surrogates_or_nul(data: bytes) -> None:
    text = decode(data).text

    text.encode()
    assert "\0" not in text


def test_content_decides_before_the_name_and_the_name_before_the_media_type() -> None:
    assert sniff(b"%PDF-1.7\n", name="a.md") == PDF
    assert sniff(b"The mark %PDF- in words", name="a.md") == MARKDOWN
    assert sniff(b"<!doctype html><p>x", name="page") == HTML
    assert sniff(b"# x", name="a.md", media_type="text/html") == MARKDOWN
    assert sniff(b"# x", name="a", media_type="text/markdown; charset=utf-8") == MARKDOWN
    assert sniff(b"import os", name="a.py") == CODE
    assert sniff("x".encode("utf-16"), name="a") == PLAIN
    assert sniff(b"ID3 tags are metadata", name="a") == PLAIN


def test_long_blocks_are_split_at_sentence_ends_and_lose_nothing_but_space() -> None:
    text = " ".join(f"Sentence number {n} ends here." for n in range(400))

    blocks = number_blocks(text, [Segment(BlockKind.PARAGRAPH, 0, len(text))])

    pieces = [text[b.start : b.end] for b in blocks]
    assert " ".join(pieces) == text
    assert all(len(piece) <= MAX_BLOCK and piece.endswith(".") for piece in pieces)


@given(st.text(alphabet="ab. \n。!", max_size=9_000), st.sampled_from(BlockKind))
def test_splitting_never_loses_a_character(text: str, kind: BlockKind) -> None:
    blocks = number_blocks(text, [Segment(kind, 0, len(text))])

    kept = "".join(text[b.start : b.end] for b in blocks)
    assert "".join(kept.split()) == "".join(text.split())
    assert all(b.end - b.start <= MAX_BLOCK for b in blocks)


def test_a_conversion_survives_the_wire() -> None:
    document = read_html(PAGE.encode()).document
    for conversion in (
        Conversion(Outcome.PARTIAL, "lost", document),
        Conversion(Outcome.EMPTY, "The file is empty."),
    ):
        assert decode_conversion(encode_conversion(conversion)) == conversion
