"""Any document as Markdown: what is written for each kind, and that it reads back as the same."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.html import read_html
from adapters.documents.markdown import read_markdown
from adapters.documents.plain import read_code, read_plain
from adapters.documents.reading import Segment, number_blocks
from adapters.documents.render import to_markdown
from state.values.blocks import Block, BlockKind, Document

PAGE = """<title>Guide</title><h2>Set-up</h2><p>Take care.</p><ul><li>one<ul><li>inner</ul>
<li>two</ul><ol start=3><li>three</ol><table><tr><th>a<th>b<tr><td>1<td>2</table>
<pre>x = `y`</pre><p><math display=block alttext="E=m"></math></p>
<figure><figcaption>Figure 1: It.</figcaption></figure>
<section class=footnotes><ol><li>A note.</ol></section>"""

MARKDOWN = """# Guide

## Set-up

Take care.

- one
  - inner
- two
3. three

| a | b |
| --- | --- |
| 1 | 2 |

```
x = `y`
```

$$E=m$$

Figure 1: It.

[^1]: A note.
"""


def kinds(blocks: tuple[Block, ...] | list[Block]) -> list[str]:
    """Return the kinds in order; Markdown has no captions, they are paragraphs."""
    return [b.kind.value.replace("caption", "paragraph") for b in blocks]


def reread(document: Document, *, main_only: bool) -> list[str]:
    """Return the kinds that the Markdown of `document` has, without a title put before."""
    source = to_markdown(document, main_only=main_only)
    again = kinds(read_markdown(source.encode()).document.blocks)
    written = [b for b in document.blocks if b.main or not main_only]
    return again[1:] if len(again) > len(written) else again


def test_each_kind_is_written_in_its_way() -> None:
    assert to_markdown(read_html(PAGE.encode()).document) == MARKDOWN


def test_what_was_written_reads_back_as_the_same_kinds() -> None:
    document = read_html(PAGE.encode()).document

    assert reread(document, main_only=True) == kinds(document.blocks)


def test_markdown_is_given_as_it_is() -> None:
    source = "Any *text*\n<!-- with remarks -->\n"

    assert to_markdown(read_markdown(source.encode()).document) == source


def test_only_main_blocks_are_written_unless_all_are_asked_for() -> None:
    document = read_html(b"<nav>Home</nav><p>Some text that is the article.</p>").document

    assert to_markdown(document) == "Some text that is the article.\n"
    assert to_markdown(document, main_only=False) == "Home\n\nSome text that is the article.\n"


def test_a_title_that_a_heading_says_is_not_said_twice() -> None:
    document = read_html(b"<title>Logs</title><h1>Logs</h1><p>Some text.</p>").document

    assert to_markdown(document, main_only=False) == "# Logs\n\nSome text.\n"


def test_nothing_gives_nothing() -> None:
    assert to_markdown(Document("", (), "text/plain", "x", "1")) == ""


def test_a_fence_is_longer_than_any_inside() -> None:
    document = read_code(b"```\n````x````\n```").document

    assert to_markdown(document).startswith("`````\n```\n")


@pytest.mark.parametrize(
    "text",
    [
        *("# no heading", "> no quote", "1. no item", "2) no item", "- no item", "+ no", "* no"),
        *("---", "***", "===", "| no | table |", "```", "~~~ no code", "[a]: no reference"),
        *("[^1]: no note", "$$no formula$$", "<div>no markup</div>", "<!-- no remark -->"),
        *("a &amp; b", "text\n---", "a | b\n--- | ---", "text\n# no heading", ":-- | --"),
        *("\\[\nx\n\\]", "    no code", "a <b>c</b>", "text\n$$\nx\n$$"),
    ],
)
def test_text_stays_text(text: str) -> None:
    document = Document(
        text, number_blocks(text, [Segment(BlockKind.PARAGRAPH, 0, len(text))]), "a/b", "x", "1"
    )

    again = read_markdown(to_markdown(document).encode()).document

    assert kinds(again.blocks) == ["paragraph"]
    assert again.blocks[0].main


def test_blocks_that_were_split_are_put_together_again() -> None:
    words = "A sentence of some length. " * 200
    page = (
        f"<p>{words}<pre>{'code line' * 4}\n" + "more code\n" * 500 + "</pre><table><tr><th>a<th>b"
    )
    document = read_html((page + "<tr><td>some words<td>some more" * 300).encode()).document

    assert len(document.blocks) > 10
    assert reread(document, main_only=False) == kinds(
        [b for n, b in enumerate(document.blocks) if not n or b.kind != document.blocks[n - 1].kind]
    ) or len(reread(document, main_only=False)) == len(document.blocks)
    assert to_markdown(document).count("```") == 2
    assert to_markdown(document).count("| --- |") == 1


def test_plain_text_keeps_its_headings_and_items() -> None:
    document = read_plain(b"Title\n=====\n\nText.\n\n1. one\n2. two\n\n* three\n").document

    assert to_markdown(document) == "# Title\n\nText.\n\n1. one\n2. two\n- three\n"


@pytest.mark.parametrize("main_only", [True, False])
def test_real_pages_read_back_as_the_same_kinds(shared_data: Path, main_only: bool) -> None:
    pages = sorted((shared_data / "files" / "html").glob("*.html"))
    if not pages:
        pytest.skip("the real pages are not there")
    for page in pages:
        document = read_html(page.read_bytes()).document
        written = [b for b in document.blocks if b.main or not main_only]

        assert (page.name, reread(document, main_only=main_only)) == (page.name, kinds(written))


SIGNS = "ab1.)#>-+*_=`~|$[]^:<>&;\\ \n!é"


@given(st.lists(st.tuples(st.sampled_from(BlockKind), st.text(SIGNS, max_size=40)), max_size=6))
def test_any_document_can_be_written_and_read(found: list[tuple[BlockKind, str]]) -> None:
    text, segments = "", []
    for kind, words in found:
        segments.append(Segment(kind, len(text), len(text) + len(words)))
        text += words + "\n\n"
    document = Document(text, number_blocks(text, segments), "a/b", "x", "1")

    again = read_markdown(to_markdown(document).encode()).document

    headings = [b.kind for b in document.blocks].count(BlockKind.HEADING)
    assert [b.kind for b in again.blocks].count(BlockKind.HEADING) <= headings
    assert (BlockKind.CODE in kinds_of(again)) <= (BlockKind.CODE in kinds_of(document))


def kinds_of(document: Document) -> set[BlockKind]:
    return {b.kind for b in document.blocks}
