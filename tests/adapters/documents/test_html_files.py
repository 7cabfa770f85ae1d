"""Real pages: how reading them ends, sentences that must be found, and how much of each is kept."""

from functools import cache
from pathlib import Path

import pytest

from adapters.documents.convert import convert_bytes
from adapters.documents.html import read_html
from state.values.blocks import BlockKind, Document, Outcome
from state.values.quotes import NormalisedText
from tests.adapters.documents.shingles import score

# The least F1 of the main blocks against what the file's test suite expects of a reader.
FLOORS = {
    "rd_002.html": 0.98,
    "rd_ars-1.html": 0.96,
    "rd_blogger.html": 0.95,
    "rd_cnet.html": 0.97,
    "rd_daringfireball-1.html": 0.90,
    "rd_engadget.html": 0.96,
    "rd_firefox-nightly-blog.html": 0.84,
    "rd_gmw.html": 0.97,
    "rd_keep-tabular-data.html": 0.97,
    "rd_mathjax.html": 0.97,
    "rd_medium-1.html": 0.96,
    "rd_mercurial.html": 0.91,
    "rd_mozilla-1.html": 0.84,
    "rd_nytimes-1.html": 0.93,
    "rd_qq.html": 0.80,
    "rd_rtl-1.html": 0.97,
    "rd_table-style-attributes.html": 0.97,
    "rd_v8-blog.html": 0.98,
    "rd_wapo-1.html": 0.96,
    "rd_wikipedia.html": 0.87,
}

SENTENCES = {
    "rd_002.html": [
        "Legal mode values are “same-origin”, “no-cors” (default) and “cors”.",
        (
            "Along with the transition to streams, Fetch will eventually have the ability to abort "
            "running fetch()es and some way to report the progress of a fetch."
        ),
    ],
    "rd_ars-1.html": [
        "In my case, I chose to create lists within lists, down to five levels.",
        (
            "The fix for this vulnerability isn’t exactly that hard, the client should "
            "never really "
            "send a data structure as complex as NBT of arbitrary size"
        ),
    ],
    "rd_blogger.html": [
        (
            "the largest GreenPak4 device (the SLG46620V) is split into two halves with limited "
            "routing between them"
        ),
    ],
    "rd_cnet.html": [
        (
            "He also stressed the need assure your target that you have a shared vision "
            "about how you "
            "will collaborate after the deal is put to bed."
        )
    ],
    "rd_daringfireball-1.html": [
        "Additional web nerdery, including the membership system, is fueled by Perl, PHP,"
    ],
    "rd_engadget.html": [
        "You'll still have to set aside some time if you want to play an Xbox One X-enhanced title",
    ],
    "rd_gmw.html": [
        "国际空间站上的宇航员不允许喝酒。在国际空间站上，酒精和其它挥发性化合物的使用受到控制",
    ],
    "rd_keep-tabular-data.html": [
        (
            "The 4 very visible cylinders, looking like giant batteries, Tesla poles and "
            "the electric "
            "beams perfectly telegraphed its function in terms of style and readability."
        ),
    ],
    "rd_medium-1.html": [
        (
            "We’re still in the early stages of what this project will look like, so if "
            "you want to "
            "help or have thoughts, let’s talk."
        ),
    ],
    "rd_mercurial.html": [
        "We need to configure Alice’s and Bob’s working repositories to enable evolve.",
    ],
    "rd_nytimes-1.html": [
        (
            "In 1997, President Bill Clinton imposed a comprehensive trade embargo "
            "against Sudan and "
            "blocked the assets of the Sudanese government"
        ),
    ],
    "rd_qq.html": [
        "这款名为DNC（可微神经计算机）的AI模型可以接受家谱和伦敦地铁网络地图这样的信息",
    ],
    "rd_table-style-attributes.html": [
        (
            "Really my eventual goal is to be able to create video on Linux, but I "
            "figured I'd start "
            "small, and see if I could just get playback working"
        ),
    ],
    "rd_v8-blog.html": [
        (
            "We saw that Emscripten uses WASI APIs as much as possible to avoid unnecessary API "
            "differences."
        ),
    ],
    "rd_wapo-1.html": [
        "“We have nothing to fear,” he said of himself and fellow Ennahda members.",
    ],
    "rd_wikipedia.html": [
        "Some devices using this OS include[55] Alcatel One Touch Fire, ZTE Open, LG Fireweb.",
    ],
}


@cache
def document_of(path: Path) -> Document:
    return read_html(path.read_bytes()).document


@pytest.fixture(scope="module")
def pages(shared_data: Path) -> Path:
    """Return the folder of the pages."""
    folder = shared_data / "files" / "html"
    if not folder.is_dir():
        pytest.skip(f"the real pages are not there ({folder})")
    return folder


def test_every_page_is_named_here(pages: Path) -> None:
    assert {path.name for path in pages.glob("*.html")} == FLOORS.keys()


@pytest.mark.parametrize("name", FLOORS)
def test_a_real_page_is_read_whole(pages: Path, name: str) -> None:
    conversion = convert_bytes((pages / name).read_bytes(), name, "text/html")

    assert conversion.outcome is Outcome.OK
    assert conversion.document is not None
    assert conversion.document.title
    assert "\N{REPLACEMENT CHARACTER}" not in conversion.document.text


@pytest.mark.parametrize("name", FLOORS)
def test_the_main_blocks_are_what_a_reader_is_to_see(pages: Path, name: str) -> None:
    expected = document_of(pages / "expected" / name).text

    assert score(expected, document_of(pages / name).main_text).f1 >= FLOORS[name]


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences_are_found_in_main_blocks(pages: Path, name: str) -> None:
    text = NormalisedText(document_of(pages / name).main_text)

    assert [quote for quote in SENTENCES[name] if text.find(quote) is None] == []


def blocks(document: Document, kind: BlockKind) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks if b.kind is kind]


def test_mathematics_is_read_as_tex_once(pages: Path) -> None:
    document = document_of(pages / "rd_mathjax.html")

    equations = blocks(document, BlockKind.EQUATION)
    assert len(equations) == 8
    assert equations[0] == r"$$x = \frac{- b \pm \sqrt{b^2 - 4ac}}{2a}\text{ . }$$"
    assert r"$\sqrt{3x - 1} + (1 + x)^2$ is an example" in document.text
    assert document.text.count(r"\sqrt{3x - 1}") == 1


def test_tables_of_data_are_rows(pages: Path) -> None:
    document = document_of(pages / "rd_keep-tabular-data.html")

    table = blocks(document, BlockKind.TABLE)[0].splitlines()
    assert table[0].startswith("|  | General UX | UX draft | UX review | UI mockup |")
    assert table[1] == "| " + " | ".join(["---"] * 9) + " |"
    assert {line.count("|") for line in table} == {10}


def test_a_wiki_page_has_its_infobox_captions_and_references(pages: Path) -> None:
    document = document_of(pages / "rd_wikipedia.html")

    assert "| Founded | February 28, 1998; 18 years ago |" in document.text
    assert "SeaMonkey logo" in blocks(document, BlockKind.CAPTION)
    assert len(blocks(document, BlockKind.FOOTNOTE)) > 70
    assert "[edit]" not in document.text


def test_text_that_runs_from_right_to_left_keeps_its_order(pages: Path) -> None:
    document = document_of(pages / "rd_rtl-1.html")

    assert [b.kind for b in document.blocks][:2] == [BlockKind.HEADING, BlockKind.PARAGRAPH]
    assert document.text.startswith("Lorem\n\nLorem ipsum dolor sit amet.")


def test_a_page_that_says_gb2312_is_read_as_what_browsers_take_that_for(pages: Path) -> None:
    document = document_of(pages / "rd_qq.html")

    assert document.title == "DeepMind新电脑已可利用记忆自学 人工智能迈上新台阶_科技_腾讯网"
    assert document.quality.hidden_text[0].startswith("动漫 读书")
