"""What real Word files, and hostile ones, are read as; the files lie outside this repository."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.documents.sandboxed import SandboxedConverter
from state.values.blocks import Conversion, Document, Outcome
from tests.adapters.documents.docx_makers import blocks, texts

_BESIDE = Path(__file__).resolve().parents[3] / "../shared"
FILES = Path(os.environ.get("ASSAY_SHARED", _BESIDE)) / "files"

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not (FILES / "docx").is_dir(), reason="the real documents are not beside the repository"
    ),
]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def converter() -> AsyncIterator[SandboxedConverter]:
    made = SandboxedConverter(pool=1)
    yield made
    await made.aclose()


async def convert(converter: SandboxedConverter, name: str) -> Conversion:
    path = FILES / name
    return await converter.convert(path.read_bytes(), name=path.name)


async def read(converter: SandboxedConverter, name: str) -> Document:
    conversion = await convert(converter, f"docx/{name}.docx")
    assert conversion.outcome is Outcome.OK, conversion.reason
    assert conversion.document is not None
    return conversion.document


OUTCOMES = {
    "docx/blk_containing_table.docx": (Outcome.EMPTY, "no text"),
    "docx/checkboxes.docx": (Outcome.OK, ""),
    "docx/code_blocks.docx": (Outcome.OK, ""),
    "docx/comments_docling.docx": (Outcome.OK, ""),
    "docx/endnotes.docx": (Outcome.OK, ""),
    "docx/equations.docx": (Outcome.OK, ""),
    "docx/external_image.docx": (Outcome.OK, ""),
    "docx/external_picture.docx": (Outcome.EMPTY, "only 1 link to an outside picture"),
    "docx/headers_numbered.docx": (Outcome.OK, ""),
    "docx/lists.docx": (Outcome.OK, ""),
    "docx/markitdown_test.docx": (Outcome.OK, ""),
    "docx/omml_multi.docx": (Outcome.OK, ""),
    "docx/rich_cells.docx": (Outcome.OK, ""),
    "docx/strict.docx": (Outcome.OK, ""),
    "docx/textbox.docx": (Outcome.OK, ""),
    "docx/utf8_bom.docx": (Outcome.OK, ""),
    "docx/word_sample.docx": (Outcome.OK, ""),
    "evil/docx_billion_laughs.docx": (Outcome.MALFORMED, "document type"),
    "evil/docx_deep.docx": (Outcome.LIMIT, "256 levels"),
    "evil/docx_quadratic.docx": (Outcome.MALFORMED, "document type"),
    "evil/docx_xxe_file.docx": (Outcome.MALFORMED, "document type"),
    "evil/docx_zipbomb_2GiB.docx": (Outcome.LIMIT, "would unpack to 2,147,535,167 bytes"),
}


@pytest.mark.parametrize("name", OUTCOMES)
async def test_every_file_ends_as_expected(converter: SandboxedConverter, name: str) -> None:
    outcome, words = OUTCOMES[name]

    conversion = await convert(converter, name)

    assert conversion.outcome is outcome
    assert words in conversion.reason


async def test_equations_become_latex(converter: SandboxedConverter) -> None:
    document = await read(converter, "equations")

    found = blocks(document)
    assert (
        "paragraph",
        r"This is a word document and this is an inline equation: $A=\pi r^{2}$.",
    ) in found
    assert (
        "list",
        "Second item with equations: $E=mc^{2}$ and $F=ma$ are physics formulas.",
    ) in found
    equations = [text.strip("$") for kind, text in found if kind == "equation"]
    assert equations == [
        r"a^{2}+b^{2}=c^{2} \times 23",
        (
            r"f(x)=a_{0}+\sum_{n=1}^{\infty} "
            r"\left(a_{n}\cos\frac{n\pi x}{L}+b_{n}\sin\frac{n\pi x}{L}\right)"
        ),
        r"(x+a)^{n}=\sum_{k=0}^{n} \binom{n}{k}x^{k}a^{n-k}",
        r"(1+x)^{n}=1+\frac{nx}{1!}+\frac{n(n-1)x^{2}}{2!}+\ldots",
        r"e^{x}=1+\frac{x}{1!}+\frac{x^{2}}{2!}+\frac{x^{3}}{3!}+\ldots, -\infty<x<\infty",
        r"\sum_{0}^{2} x",
        r"\bigcup_{n=1}^{m} (X_{n}\cap Y_{n})",
        r"\prod_{k=1}^{n} A_{k}",
        r"\bigwedge x",
        r"\int (2x+1)dx",
        r"\iint_{0}^{1} xdx",
        r"\iiint ydy",
        r"\oint \frac{dy}{dx}",
        r"\oiint_{0}^{2\pi} idt",
        r"\oiiint_{C} \frac{1}{z}dz",
        (
            r"\operatorname*{argmax}_{\epsilon} f(x), \lim_{n} \left(1+\frac{1}{n}\right)^{n} , "
            r"\max_{0\leq x\leq1} xe^{-x^{2}}, "
            r"\operatorname*{unsupported}_{n} \left(1+\frac{1}{n}\right)^{n}"
        ),
        r"P_{\ \text{x}}=\underbrace{S\cdot T\cdot G\cdot(x+y+z)}_{group with underbraces}+e^{x}",
        r"Q_{\text{ y}}=\overbrace{G\cdot T\cdot S\cdot(x+y+z)}^{group with overbraces}+e^{y}",
        r"s{}_{+}\tau\{\max\}= A \times B",
    ]


async def test_formulas_beside_each_other_stay_apart(converter: SandboxedConverter) -> None:
    document = await read(converter, "omml_multi")

    assert blocks(document)[2:] == [
        ("equation", "$$a=b$$"),
        ("equation", "$$c=d$$"),
        ("equation", "$$e=f$$"),
    ]


async def test_numbered_headings_carry_their_numbers(converter: SandboxedConverter) -> None:
    document = await read(converter, "headers_numbered")

    headings = [
        (b.level, document.text[b.start : b.end]) for b in document.blocks if b.kind == "heading"
    ]
    assert document.title == "Test Document"
    assert headings[1:6] == [
        (1, "1. Section 1"),
        (2, "1.1. Section 1.1"),
        (2, "1.2. Section 1.2"),
        (3, "1.2.1. Section 1.2.3"),
        (1, "2. Section 2"),
    ]
    assert "2.3.8.1. First sub-item at this level" in texts(document)


async def test_lists_keep_their_depth_and_numbers(converter: SandboxedConverter) -> None:
    document = await read(converter, "lists")

    assert "1. List item a\n2. List item b\n3. List item c" in document.text
    assert "- List item 2\n  - List item 1.1\n  - List item 1.2\n    - List item 1.2.1" in (
        document.text
    )
    assert "4. Fourth item with numId 2\n1. Single item of a new list" in document.text
    assert "1. ORCHARD MAP AND GARDEN NOTES\n  1.1 Morning Walk" in document.text
    assert "2. WEEKEND ERRAND LIST\n  2.1 Market Stops" in document.text


async def test_tables_in_cells_and_lists_in_cells_are_kept(converter: SandboxedConverter) -> None:
    document = await read(converter, "rich_cells")

    tables = [text for kind, text in blocks(document) if kind == "table"]
    assert tables[0].split("\n")[:3] == [
        "| Column A | Column B |",
        "| --- | --- |",
        (
            "| This is a list: • A First • A Second • A Third "
            "| This is a formatted list: • B First • B Second • B Third |"
        ),
    ]
    assert "with x² and H₂O |" in tables[0]
    assert tables[1].split("\n")[3] == (
        "| [A · B · C; Cell 1 · Cell 2 · Cell 3] "
        "| Rich cell A nested table [A · B · C; ~~Cell 1~~ · Cell 2 · Cell 3] |"
    )
    assert document.quality.dropped == ("2 pictures",)


async def test_text_boxes_are_read_once(converter: SandboxedConverter) -> None:
    document = await read(converter, "textbox")

    found = texts(document)
    assert found.count("Student falls ill") == 1
    assert found.count("Case closed.") == 1
    assert found[2:4] == [
        "Student falls ill",
        (
            "Suggested Reportable Symptoms:\n＊ Fever\n＊ Cough\n＊ Diarrhea\n＊ Vomiting\n"
            "＊ Rash\n＊ Blisters\n＊ Headache\n＊ Sore throat"
        ),
    ]


async def test_check_boxes_show_their_state(converter: SandboxedConverter) -> None:
    found = texts(await read(converter, "checkboxes"))

    assert found[4:9] == ["☒ Orange juice", "☐ Tea", "☒ Coffee", "☐ Milk", "☒ Water"]
    assert "☒ Implementation" in found


async def test_endnotes_stand_after_the_text(converter: SandboxedConverter) -> None:
    document = await read(converter, "endnotes")

    assert blocks(document) == [
        ("paragraph", "Ouch[i].[ii]"),
        ("footnote", "[i] A tachyon walks into a bar."),
        ("footnote", "[ii] Fin."),
    ]


async def test_code_is_told_from_prose_in_a_font_for_code(converter: SandboxedConverter) -> None:
    found = blocks(await read(converter, "code_blocks"))

    assert [text for kind, text in found if kind == "code"] == [
        "import sys\nprint(sys.argv)",
        "SELECT * FROM users WHERE active = 1;",
        (
            "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n"
            "    return a"
        ),
    ]


async def test_a_report_is_read_with_its_caption_lists_and_table(
    converter: SandboxedConverter,
) -> None:
    document = await read(converter, "word_sample")

    found = blocks(document)
    assert document.title == "Swimming in the lake"
    assert ("caption", "Figure 1: This is a cute duckling") in found
    assert ("list", "2. Don’t forget to drink water") in found
    assert (
        "table",
        (
            "|  | Food | Calories per portion |\n| --- | --- | --- |\n"
            "| Leaves | Ash, Elm, Maple | 50 |\n"
            "| Berries | Blueberry, Strawberry, Cranberry | 150 |\n"
            "| Grain | Corn, Buckwheat, Barley | 200 |"
        ),
    ) in found
    assert document.quality.dropped == ("1 picture",)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("strict", "Some text"),
        ("utf8_bom", "This XML has a byte order mark."),
        ("comments_docling", "This second paragraph also has a reviewer annotation."),
        ("external_image", "This paragraph comes after the external image."),
        ("markitdown_test", "Here is a random table for .docx parsing test purposes:"),
    ],
)
async def test_their_sentences_are_found(
    converter: SandboxedConverter, name: str, sentence: str
) -> None:
    assert sentence in texts(await read(converter, name))


async def test_what_is_left_out_is_named(converter: SandboxedConverter) -> None:
    commented = await read(converter, "comments_docling")
    linked = await read(converter, "external_image")

    assert commented.quality.dropped == ("3 comments",)
    assert "reviewer comment" not in commented.text
    assert linked.quality.dropped == ("1 link to an outside picture",)
