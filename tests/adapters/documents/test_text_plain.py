"""Plain text: what separates its lines and paragraphs, and how deep its headings are."""

import pytest

from adapters.documents.plain import read_plain


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_every_line_end_separates_paragraphs(end: str) -> None:
    document = read_plain(f"one{end}more{end}{end}two".encode()).document

    texts = [document.text[b.start : b.end] for b in document.blocks]
    assert texts == [f"one{end}more", "two"]


def test_mixed_line_ends_lose_nothing() -> None:
    source = "a\r\nb\rc\nd\r\n\r\ne\x0cf"

    document = read_plain(source.encode()).document

    assert document.text == source
    assert len(document.blocks) == 3


def test_headings_are_as_deep_as_their_rule_is_new() -> None:
    source = b"=====\nTitle\n=====\n\nPart\n====\n\na\n\nSub\n---\n\nb\n\nPart 2\n======\n\nc\n"

    document = read_plain(source).document

    depths = [(document.text[b.start : b.end], b.level) for b in document.blocks if b.level]
    assert depths == [("Title", 1), ("Part", 2), ("Sub", 3), ("Part 2", 2)]
