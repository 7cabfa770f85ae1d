"""Word files made to hurt end in a named outcome, in time, and the next file is read normally."""

import random
import time
from collections.abc import AsyncIterator, Callable

import pytest

from adapters.documents.sandboxed import SandboxedConverter
from state.values.blocks import Outcome
from tests.adapters.documents.docx_makers import docx, packed, para, paragraph_style, parts, run

pytestmark = pytest.mark.anyio

CELL = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def converter() -> AsyncIterator[SandboxedConverter]:
    made = SandboxedConverter(pool=1)
    yield made
    await made.aclose()


def varied(pattern: str, times: int) -> str:
    """Return a pattern filled with words that do not pack well, so that only work is tested."""
    words = random.Random(7)
    return "".join(pattern.format(f"{words.getrandbits(32):08x}") for _ in range(times))


def nested(opening: str, closing: str, depth: int, inside: str = "") -> str:
    return opening * depth + (inside or para("deep")) + closing * depth


def table_of_a_million_cells() -> bytes:
    return docx(f"<w:tbl>{('<w:tr>' + CELL.format('x') * 10 + '</w:tr>') * 100_000}</w:tbl>")


def paragraph_of_many_runs() -> bytes:
    return docx(f"<w:p>{varied('<w:r><w:t>{}</w:t></w:r>', 300_000)}</w:p>")


def row_of_many_cells() -> bytes:
    return docx(f"<w:tbl><w:tr>{varied(CELL, 100_000)}</w:tr><w:tr/></w:tbl>")


def hundred_thousand_members() -> bytes:
    return packed(parts(para("Text.")) | {f"word/{number}": b"" for number in range(100_000)})


def tables_in_tables() -> bytes:
    return docx(nested("<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc>", "</w:tc></w:tr></w:tbl>", 80))


def controls_in_controls() -> bytes:
    return docx(nested("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>", 120))


def insertions_in_insertions() -> bytes:
    return docx(f"<w:p>{nested('<w:ins>', '</w:ins>', 248, run('deep'))}</w:p>")


def boxes_in_boxes() -> bytes:
    box = "<w:p><w:r><w:pict><w:txbxContent>"
    return docx(nested(box, "</w:txbxContent></w:pict></w:r></w:p>", 62))


def roots_in_roots() -> bytes:
    inside = f"<m:r><m:t>{'x' * 500_000}</m:t></m:r>"
    math = nested("<m:d><m:e>", "</m:e></m:d>", 120, inside)
    return docx(f"<w:p><m:oMath>{math}</m:oMath></w:p>")


def styles_in_a_circle() -> bytes:
    styles = paragraph_style("A", "A", based_on="B") + paragraph_style("B", "B", based_on="A")
    return docx(para("Text.", properties='<w:pStyle w:val="A"/>'), styles=styles)


def styles_in_a_long_chain() -> bytes:
    styles = "".join(
        f'<w:style w:styleId="s{n}"><w:basedOn w:val="s{n + 1}"/></w:style>' for n in range(20_000)
    )
    body = "".join(para("x", properties=f'<w:pStyle w:val="s{n}"/>') for n in range(20_000))
    return docx(body, styles=styles)


def numbers_that_are_long() -> bytes:
    level = (
        '<w:lvl w:ilvl="0"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="{}"/></w:lvl>'
    ).format("%1" * 100_000)
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    item = para("x", properties='<w:numPr><w:numId w:val="1"/></w:numPr>')
    return docx(item * 20_000, numbering=numbering)


def cells_that_span_everything() -> bytes:
    wide = '<w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p/></w:tc>'
    return docx(f"<w:tbl>{f'<w:tr>{wide}{CELL}</w:tr>'.format('x') * 20_000}</w:tbl>")


def fields_that_never_end() -> bytes:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/><w:t>{}</w:t></w:r>'
    return docx(f"<w:p>{varied(begin, 100_000)}</w:p>")


def notes_without_end() -> bytes:
    count = 30_000
    body = "".join(f'<w:r><w:footnoteReference w:id="{n}"/></w:r>' for n in range(count))
    notes = "".join(f'<w:footnote w:id="{n}">{para("x")}</w:footnote>' for n in range(count))
    return docx(f"<w:p>{body}</w:p>", footnotes=notes)


def paragraphs_without_end() -> bytes:
    return docx(varied("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", 201_000))


@pytest.mark.parametrize(
    ("make", "outcomes"),
    [
        (table_of_a_million_cells, {Outcome.LIMIT}),
        (paragraph_of_many_runs, {Outcome.OK}),
        (row_of_many_cells, {Outcome.OK}),
        (hundred_thousand_members, {Outcome.LIMIT}),
        (tables_in_tables, {Outcome.OK}),
        (controls_in_controls, {Outcome.OK}),
        (insertions_in_insertions, {Outcome.OK}),
        (boxes_in_boxes, {Outcome.OK, Outcome.LIMIT}),
        (roots_in_roots, {Outcome.OK}),
        (styles_in_a_circle, {Outcome.OK}),
        (styles_in_a_long_chain, {Outcome.OK}),
        (numbers_that_are_long, {Outcome.OK}),
        (cells_that_span_everything, {Outcome.OK}),
        (fields_that_never_end, {Outcome.OK}),
        (notes_without_end, {Outcome.OK}),
        (paragraphs_without_end, {Outcome.LIMIT}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_hostile_files_end_in_a_named_outcome_and_the_next_is_read(
    converter: SandboxedConverter, make: Callable[[], bytes], outcomes: set[Outcome]
) -> None:
    data = make()
    started = time.monotonic()

    conversion = await converter.convert(data, name="a.docx")
    took = time.monotonic() - started
    following = await converter.convert(docx(para("Fine text.")), name="b.docx")

    assert conversion.outcome in outcomes, conversion.reason
    assert conversion.document is not None or conversion.reason
    assert took < 20
    assert following.outcome is Outcome.OK
