"""Real PDF files: how each ends, sentences that stand on its pages, and what hostile ones cost."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from adapters.documents.sandboxed import SandboxedConverter
from state.values.blocks import BlockKind, Conversion, Outcome
from state.values.quotes import NormalisedText

pytestmark = pytest.mark.anyio

OK, PARTIAL, NEEDS_OCR = Outcome.OK, Outcome.PARTIAL, Outcome.NEEDS_OCR
MALFORMED, EMPTY, LOCKED = Outcome.MALFORMED, Outcome.EMPTY, Outcome.ENCRYPTED
MAX_SECONDS = 15
MAX_MEMORY_KIB = 1.2 * 1024 * 1024

OUTCOMES = {
    "papers/Transformer.pdf": OK,
    "pdf/bad_arturt_corrupted.pdf": MALFORMED,
    "pdf/bad_empty.pdf": EMPTY,
    "pdf/bad_invalid.pdf": MALFORMED,
    "pdf/bomb_giant.pdf": OK,
    "pdf/borderless_table.pdf": OK,
    "pdf/cjk_90ms.pdf": OK,
    "pdf/cjk_identity.pdf": OK,
    "pdf/cjk_noembed_sjis.pdf": OK,
    "pdf/cjk_simfang.pdf": OK,
    "pdf/code_and_formula.pdf": OK,
    "pdf/dup_chars.pdf": OK,
    "pdf/enc_arturt.pdf": LOCKED,
    "pdf/enc_libreoffice_password.pdf": LOCKED,
    "pdf/enc_password_2206.01062_pg3.pdf": LOCKED,
    "pdf/enc_r6_user.pdf": LOCKED,
    "pdf/enormous.pdf": NEEDS_OCR,
    "pdf/federal_register.pdf": OK,
    "pdf/font_nomapping.pdf": NEEDS_OCR,
    "pdf/fuzz_GHOSTSCRIPT-698804-1-fuzzed.pdf": EMPTY,
    "pdf/fuzz_PDFBOX-3148-2-fuzzed.pdf": MALFORMED,
    "pdf/fuzz_PDFBOX-4352-0.pdf": MALFORMED,
    "pdf/fuzz_helloworld-bad.pdf": OK,
    "pdf/fuzz_issue5540.pdf": OK,
    "pdf/fuzz_issue7229.pdf": NEEDS_OCR,
    "pdf/fuzz_issue9105_other.pdf": MALFORMED,
    "pdf/fuzz_poppler-67295-0.pdf": OK,
    "pdf/fuzz_poppler-742-0-fuzzed.pdf": MALFORMED,
    "pdf/fuzz_poppler-85140-0.pdf": MALFORMED,
    "pdf/fuzz_poppler-90-0-fuzzed.pdf": PARTIAL,
    "pdf/fuzz_poppler-91414-0-53.pdf": OK,
    "pdf/fuzz_poppler-937-0-fuzzed.pdf": MALFORMED,
    "pdf/fuzz_scan-bad.pdf": OK,
    "pdf/fuzz_xref_command_missing.pdf": OK,
    "pdf/latex_multicolumn.pdf": OK,
    "pdf/markitdown_test.pdf": OK,
    "pdf/multilang.pdf": OK,
    "pdf/redp5110.pdf": OK,
    "pdf/rtl_habibi.pdf": OK,
    "pdf/scan_vicksburg_ocr.pdf": OK,
    "pdf/twocol_tracemonkey.pdf": OK,
    "evil/flate_double_1GiB.pdf": Outcome.LIMIT,
    "evil/ops_70MB.pdf": Outcome.LIMIT,
    "evil/pages_95k.pdf": PARTIAL,
    "evil/tj_1.8M.pdf": Outcome.LIMIT,
}

SENTENCES = {
    "pdf/twocol_tracemonkey.pdf": """
# a ligature, and a word broken at the end of a line
Dynamic languages such as JavaScript are more difficult to compile than statically typed ones.

# over the gutter, past a notice at the foot of the first column
JavaScript, for example, is the de facto standard for client-side web programming and is used
for the application logic of browser-based productivity applications such as Google Mail, Google
Docs and Zimbra Collaboration Suite.

# past a listing, a diagram and two captions at the head of the column
In Section 7 we evaluate our dynamic compiler based on a set of industry benchmarks.

In a naïve implementation, inner loops would become hot first, and the VM would start tracing
there.

Figure 1. Sample program: sieve of Eratosthenes. primes is initialized to an array of 100 false
values on entry to this code snippet.

for (var k = i + i; i < 100; k += i)
""",
    "pdf/federal_register.pdf": """
To ensure the docket does not contain duplicate comments, commenters should submit only one copy
of the comments.

# over the page's end, past foot, hidden text and head
On October 29, 2018, a Boeing Model 737–8 airplane operated by Lion Air (Lion Air Flight 610)
was involved in an accident after takeoff from Soekarno-Hatta International Airport in Jakarta,
Indonesia, resulting in 189 fatalities.

Submissions containing CBI should be sent to the person identified in the FOR FURTHER
INFORMATION CONTACT section.

The flight control system for 737 MAX airplanes includes two flight control computers, FCC A and
FCC B, which process inputs from the pilots and aircraft sensors to move the airplane’s control
surfaces.
""",
    "pdf/latex_multicolumn.pdf": """
Lorem ipsum dolor sit amet, consectetuer adipiscing elit.

# over the page's end
Nam feugiat lacus vel est.

Finland 5.5 338,424 Helsinki Finnish, Swedish
""",
    "papers/Transformer.pdf": """
# over the page's end, past a page number and a figure
The output is computed as a weighted sum of the values, where the weight assigned to each value
is computed by a compatibility function of the query with the corresponding key.

# past a footnote
On each of these projected versions of queries, keys and values we then perform the attention
function in parallel, yielding dv -dimensional output values.

Our model achieves 28.4 BLEU on the WMT 2014 English-to-German translation task, improving over
the existing best results, including ensembles, by over 2 BLEU.

We also use the usual learned linear transformation and softmax function to convert the decoder
output to predicted next-token probabilities.

†Work performed while at Google Brain.
""",
    "pdf/redp5110.pdf": """
Most security policies limit a manager to accessing data only for the employees that they
manage.

A column mask is a database object that manifests a column value access control rule for a
specific column in a specific table.

# the first reader gives codes of glyphs here
No one else has the vast consulting experiences, skills sharing and renown service offerings to
do what we can do for you.
""",
    "pdf/markitdown_test.pdf": """
Second, because a single LLM can exhibit a broad range of capabilities (especially when
configured with the correct prompt and inference settings), conversations between differently
configured agents can help combine these broad LLM capabilities in a modular and complementary
manner.

We refer to Appendix A for a detailed discussion.
""",
    "pdf/borderless_table.pdf": """
SKU-9201 780 778 OK

SKU-6678 Software $200.00 $42,000.00 2024-10-25 High Value

Cross-location verification protocols should be reviewed to prevent future discrepancies.
""",
    "pdf/scan_vicksburg_ocr.pdf": """
Such improvements protect us better from the sun.

Accordingly a part of the day has been spent in cutting cane and building bunks with it on the
side of the hill.

The lighted fuse of each shell could be seen as it went up and came down
""",
    "pdf/code_and_formula.pdf": """At vero eos et accusam et justo duo dolores et ea rebum.

a2 + 8 = 12""",
    "pdf/dup_chars.pdf": """
开展现场爆破试验7场次，提出一种适用于高塑低强岩石隧洞开挖掏槽

北京师范大学珠海分校""",
    "pdf/cjk_90ms.pdf": """日本語テスト""",
    "pdf/cjk_identity.pdf": """ABC あいうえお 123""",
    "pdf/cjk_noembed_sjis.pdf": """あいうえお""",
    "pdf/cjk_simfang.pdf": """全 世 界 无 产 者 ， 联 合 起 来""",
    "pdf/rtl_habibi.pdf": """habibi حَبيبي""",
    "pdf/multilang.pdf": """Привет, мир

مرحبا بالعالم

สวัสดีชาวโลก

こんにちは世界""",
    "pdf/bomb_giant.pdf": """100000x100000 = 1.16GB each""",
    "pdf/fuzz_issue5540.pdf": """ἄγγελος""",
    "pdf/fuzz_helloworld-bad.pdf": """Hello, world!""",
    "pdf/fuzz_poppler-67295-0.pdf": """TestString123""",
    "pdf/fuzz_xref_command_missing.pdf": """Reduced test-case""",
}
"""By file, parted by blank lines; lines with # say what stands in the way."""


DOUBTFUL = {
    "pdf/bomb_giant.pdf": (1,),
    "pdf/cjk_identity.pdf": (1,),
    "pdf/cjk_simfang.pdf": (1,),
    "pdf/fuzz_poppler-90-0-fuzzed.pdf": (3, 10, 14),
    "pdf/redp5110.pdf": (3,),
    "pdf/rtl_habibi.pdf": (1,),
}

TITLES = {
    "papers/Transformer.pdf": "Attention Is All You Need",
    "pdf/twocol_tracemonkey.pdf": (
        "Trace-based Just-in-Time Type Specialization for Dynamic Languages"
    ),
    "pdf/redp5110.pdf": "Row and Column Access Control Support in IBM DB2 for i",
    "pdf/latex_multicolumn.pdf": "Two-Column Document with Lorem Ipsum",
    "pdf/borderless_table.pdf": "INVENTORY RECONCILIATION REPORT",
    "pdf/markitdown_test.pdf": None,
    "pdf/scan_vicksburg_ocr.pdf": None,
}


@pytest.fixture(scope="module")
async def converter() -> AsyncIterator[SandboxedConverter]:
    made = SandboxedConverter(pool=1)
    yield made
    await made.aclose()


@pytest.fixture(scope="module")
def files(shared_data: Path) -> Path:
    folder = shared_data / "files"
    if not folder.is_dir():
        pytest.skip(f"no folder of real documents at {folder}")
    return folder


@pytest.fixture(scope="module")
def known() -> dict[str, Conversion]:
    """Return what was converted already, by name."""
    return {}


async def converted(
    name: str, files: Path, converter: SandboxedConverter, known: dict[str, Conversion]
) -> Conversion:
    if name not in known:
        path = files / name
        known[name] = await converter.convert(path.read_bytes(), name=path.name)
    return known[name]


def sentences(name: str) -> list[str]:
    """Return the sentences expected in a file, each on one line."""
    told = "\n".join(line for line in SENTENCES[name].splitlines() if not line.startswith("#"))
    return [" ".join(sentence.split()) for sentence in told.split("\n\n")]


def test_every_real_pdf_is_expected_here(files: Path) -> None:
    assert {str(path.relative_to(files)) for path in files.rglob("*.pdf")} == set(OUTCOMES)
    readable = [name for name, outcome in OUTCOMES.items() if outcome in (OK, PARTIAL)]
    assert len(SENTENCES) >= len(readable) / 2


@pytest.mark.parametrize("name", [n for n in OUTCOMES if not n.startswith("evil/")])
async def test_a_real_file_ends_as_expected(
    name: str, files: Path, converter: SandboxedConverter, known: dict[str, Conversion]
) -> None:
    conversion = await converted(name, files, converter, known)

    assert conversion.outcome is OUTCOMES[name], conversion.reason
    assert bool(conversion.reason) is (conversion.outcome is not OK)
    if conversion.document is not None:
        document, reached = conversion.document, 0
        document.text.encode("utf-8")
        assert "\0" not in document.text
        assert document.quality.pages_in_doubt == DOUBTFUL.get(name, ())
        for block in document.blocks:
            assert reached <= block.start < block.end <= len(document.text)
            assert block.page in range(1, (document.quality.pages or 0) + 1)
            reached = block.end


@pytest.mark.parametrize("name", SENTENCES)
async def test_sentences_of_a_real_file_are_found_exactly(
    name: str, files: Path, converter: SandboxedConverter, known: dict[str, Conversion]
) -> None:
    """Cases: G 55, 56, 59, 61."""
    document = (await converted(name, files, converter, known)).document
    assert document is not None

    text = NormalisedText(document.text)
    assert [quote for quote in sentences(name) if text.find(quote) is None] == []


@pytest.mark.parametrize("name", TITLES)
async def test_a_real_file_has_the_title_it_shows_or_none(
    name: str, files: Path, converter: SandboxedConverter, known: dict[str, Conversion]
) -> None:
    document = (await converted(name, files, converter, known)).document

    assert document is not None
    assert document.title == TITLES[name]


async def test_what_the_federal_register_hides_is_flagged_and_not_main(
    files: Path, converter: SandboxedConverter, known: dict[str, Conversion]
) -> None:
    """Cases: G 62."""
    document = (await converted("pdf/federal_register.pdf", files, converter, known)).document

    assert document is not None
    assert len(document.quality.hidden_text) == 15
    assert document.quality.hidden_text[0].startswith("VerDate Sep<11>2014")
    assert "VerDate" not in document.main_text
    assert "Vol. 85, No. 152 / Thursday" not in document.main_text


async def test_the_sections_of_a_paper_have_levels_and_head_their_blocks(
    files: Path, converter: SandboxedConverter, known: dict[str, Conversion]
) -> None:
    document = (await converted("papers/Transformer.pdf", files, converter, known)).document
    assert document is not None

    headings = {
        document.text[b.start : b.end]: b.level
        for b in document.blocks
        if b.kind is BlockKind.HEADING
    }
    assert "Input-Input Layer5" not in headings  # the label of five figures
    sections = ["Attention Is All You Need", "3 Model Architecture", "3.2 Attention"]
    levels = [headings[section] for section in [*sections, "3.2.1 Scaled Dot-Product Attention"]]
    assert levels == sorted(set(levels))
    block = next(
        b
        for b in document.blocks
        if "most commonly used attention" in document.text[b.start : b.end]
    )
    assert (block.heading, block.page) == ("3.2.1 Scaled Dot-Product Attention", 4)


async def test_the_figures_at_the_end_of_a_paper_have_their_captions(
    files: Path, converter: SandboxedConverter, known: dict[str, Conversion]
) -> None:
    """Cases: G 58. Their labels are turned, and more than the words of the captions."""
    document = (await converted("papers/Transformer.pdf", files, converter, known)).document
    assert document is not None

    captions = {
        document.text[b.start : b.end].split(":")[0]: b.page
        for b in document.blocks
        if b.kind is BlockKind.CAPTION and b.main
    }
    figures = {name: page for name, page in captions.items() if name.startswith("Figure")}
    assert figures == {f"Figure {n}": page for n, page in enumerate((3, 4, 13, 14, 15), 1)}
    assert "The Law will never" not in " ".join(document.main_text.split())


@pytest.mark.parametrize("name", [n for n in OUTCOMES if n.startswith("evil/")])
async def test_a_hostile_file_ends_in_time_and_memory_and_the_next_is_read(
    name: str, files: Path
) -> None:
    converter, peak = SandboxedConverter(pool=1), 0
    await converter.convert(b"warm up", name="a.txt")
    (child,) = (worker.pid for worker in converter._idle)

    async def watch() -> None:
        nonlocal peak
        status = anyio.Path(f"/proc/{child}/status")
        while await status.exists():
            text = await status.read_text()
            if "VmHWM:" in text:
                peak = max(peak, int(text.partition("VmHWM:")[2].split()[0]))
            await anyio.sleep(0.05)

    began = time.monotonic()
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        conversion = await converter.convert((files / name).read_bytes(), name="evil.pdf")
        took = time.monotonic() - began
        group.cancel_scope.cancel()
    following = await converter.convert(b"fine text", name="b.txt")
    await converter.aclose()

    assert conversion.outcome is OUTCOMES[name]
    assert conversion.reason
    assert took < MAX_SECONDS
    assert peak < MAX_MEMORY_KIB
    assert following.outcome is OK
