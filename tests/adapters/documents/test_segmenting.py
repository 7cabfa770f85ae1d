"""Documents are cut where they have structure, and nothing of them is lost."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.documents.convert import convert_bytes
from adapters.documents.segmenting import PROSE_CHARACTERS, segment
from state.values.blocks import Block, BlockKind, Document
from state.values.segments import Segment, SegmentKind

SHARED = Path(os.environ.get("ASSAY_SHARED") or Path(__file__).resolve().parents[3] / "../shared")
TEXTS = ["Table 1: Values", "Algorithm 1 Fit", "References", "1 0.5 2", "for each x do", "(A)"]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text, blocks = "", []
    for number in range(1, draw(st.integers(0, 24)) + 1):
        said = draw(st.sampled_from(TEXTS) | st.text("ab. \n", min_size=1, max_size=60))
        said *= draw(st.sampled_from([1, 1, 1, 90]))
        start = len(text)
        text += said
        blocks.append(
            Block(
                draw(st.sampled_from(list(BlockKind))),
                start,
                len(text),
                number,
                page=draw(st.none() | st.integers(1, 3)),
                main=draw(st.booleans() | st.just(value=True)),
                level=draw(st.integers(0, 3)),
            )
        )
        text += draw(st.sampled_from(["", "\n", "\n\n"]))
    return Document(text, tuple(blocks), "text/plain", "test", "1")


def markdown(text: str) -> tuple[Segment, ...]:
    document = convert_bytes(text.encode(), "paper.md", "").document
    assert document is not None
    return segment(document)


def kinds(segments: tuple[Segment, ...]) -> list[SegmentKind]:
    return [each.kind for each in segments]


@settings(max_examples=300, deadline=None)
@given(documents())
def test_every_main_character_is_in_exactly_one_segment(document: Document) -> None:
    segments = segment(document)

    covered = [at for each in segments for at in range(each.start, each.end)]
    assert len(covered) == len(set(covered))
    for block in document.blocks:
        inside = set(range(block.start, block.end)) & set(covered)
        assert len(inside) == (block.end - block.start if block.main else 0)
    assert [each.text for each in segments] == [
        document.text[each.start : each.end] for each in segments
    ]
    assert [each.id for each in segments] == [f"s{at}" for at in range(1, len(segments) + 1)]


@settings(max_examples=100, deadline=None)
@given(documents())
def test_prose_is_short_and_all_else_is_whole(document: Document) -> None:
    segments = segment(document)

    borders = {each.start for each in segments}
    for each in segments:
        if each.kind is SegmentKind.PROSE:
            assert len(each.text) <= PROSE_CHARACTERS
    for block in document.blocks:
        if block.main and block.kind in (BlockKind.TABLE, BlockKind.CODE, BlockKind.EQUATION):
            assert not borders & set(range(block.start + 1, block.end))


def test_sections_hold_the_headings_above_outermost_first() -> None:
    segments = markdown(
        "# Paper\n\nIntro.\n\n## Method\n\n### Update\n\nStep.\n\n## Results\n\nGood.\n"
    )

    assert [each.section for each in segments] == [
        ("Paper",),
        ("Paper", "Method", "Update"),
        ("Paper", "Results"),
    ]
    assert segments[1].text.startswith("Method")


def test_a_table_has_its_caption_with_it() -> None:
    segments = markdown(
        "Some words.\n\nTable 2: Settings\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nMore.\n"
    )

    assert kinds(segments) == [SegmentKind.PROSE, SegmentKind.TABLE, SegmentKind.PROSE]
    assert segments[1].text.startswith("Table 2: Settings")


def test_an_algorithm_is_kept_with_its_steps() -> None:
    segments = markdown(
        "Before.\n\nAlgorithm 1 Smoothing\n\n1. set s to 0\n2. for each x do\n\nAfter.\n"
    )

    assert kinds(segments) == [SegmentKind.PROSE, SegmentKind.ALGORITHM, SegmentKind.PROSE]
    assert "for each x" in segments[1].text


def test_references_stand_apart_until_a_heading_of_their_level() -> None:
    segments = markdown(
        "# A\n\nText.\n\n## References\n\n[1] B.\n\n[2] C.\n\n## Appendix\n\nMore.\n"
    )

    assert kinds(segments) == [SegmentKind.PROSE, SegmentKind.REFERENCES, SegmentKind.PROSE]
    assert segments[2].section == ("A", "Appendix")


def test_a_numbered_formula_that_was_read_as_a_paragraph_is_one() -> None:
    segments = markdown(
        "It is updated by\n\nm_t = b m_(t-1) + (1 - b) x_t (1)\n\nA decay is given.\n"
    )

    assert kinds(segments) == [SegmentKind.PROSE, SegmentKind.EQUATION, SegmentKind.PROSE]


def test_a_document_without_blocks_has_no_segments() -> None:
    assert segment(Document("", (), "text/plain", "test", "1")) == ()


def test_the_parts_of_a_real_paper_are_told_apart() -> None:
    path = SHARED / "files/papers/Transformer.pdf"
    if not path.is_file():
        pytest.skip(f"no {path}; set ASSAY_SHARED to the folder that has it")
    document = convert_bytes(path.read_bytes(), path.name, "").document
    assert document is not None

    segments = segment(document)

    equations = [each.text for each in segments if each.kind is SegmentKind.EQUATION]
    assert any("softmax(" in each for each in equations)
    tables = [each.text for each in segments if each.kind is SegmentKind.TABLE]
    assert any("base 6 512 2048 8 64 64 0.1" in each and "Table 3" in each for each in tables)
    assert all(
        each.text.startswith("References") is False
        for each in segments
        if each.kind is SegmentKind.PROSE
    )
    assert any(each.section[-1:] == ("3.5 Positional Encoding",) for each in segments)
