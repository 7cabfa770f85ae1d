"""Files of every format that are made to hurt whoever reads them."""

import random
import warnings
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO

from tests.adapters.documents.docx_makers import CONTENT_TYPES, docx, packed, para, parts
from tests.adapters.documents.pdf_maker import Pdf, column, prose, show, simple, with_object_stream

MIB = 1024 * 1024


# ---- PDF


def _pdf_of_objects(*bodies: bytes, root: int = 1, trailer: bytes = b"") -> bytes:
    """Return a file of numbered objects, from 1, with a sound table."""
    out, offsets = bytearray(b"%PDF-1.7\n"), list[int]()
    for number, body in enumerate(bodies, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root %d 0 R %b >>\n" % (len(bodies) + 1, root, trailer)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def pdf_deep_page_tree() -> bytes:
    depth = 60_000
    inner = (b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (at + 1) for at in range(2, depth))
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    return _pdf_of_objects(b"<< /Type /Catalog /Pages 2 0 R >>", *inner, page)


def pdf_deep_arrays() -> bytes:
    pdf = Pdf(info="/Title " + "[" * 200_000 + "]" * 200_000)
    pdf.page(column(prose(3)))
    return pdf.data()


def pdf_deep_dictionaries() -> bytes:
    pdf = Pdf(catalog="/X " + "<< /A " * 100_000 + "1" + " >>" * 100_000)
    pdf.page(column(prose(3)))
    return pdf.data()


def pdf_references_in_a_circle() -> bytes:
    return _pdf_of_objects(
        b"<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 5 0 R >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox 6 0 R /Resources 6 0 R /Contents 6 0 R >>",
        b"<< /First 4 0 R /Next 4 0 R /Parent 4 0 R /Title 5 0 R >>",
        b"6 0 R",
        b"5 0 R",
    )


def pdf_object_streams_in_a_circle() -> bytes:
    sound = with_object_stream(simple(column(prose(3))))
    return sound.replace(b"/Type /ObjStm", b"/Extends 5 0 R /Type /ObjStm /X", 1)


def pdf_object_stream_of_millions() -> bytes:
    pdf = Pdf()
    pdf.page(column(prose(3)))
    pdf.stream(b"0 0 " * 4_000_000, "/Type /ObjStm /N 4000000 /First 16000000", packed=True)
    return pdf.data()


def pdf_tables_in_a_circle() -> bytes:
    data = simple(column(prose(3)))
    start = data.rindex(b"xref\n0")
    return data.replace(b"/Info 4 0 R", b"/Info 4 0 R /Prev %d /XRefStm %d" % (start, start))


def pdf_chain_of_tables() -> bytes:
    out = bytearray(simple(column(prose(3))))
    before = out.rindex(b"xref\n0", 0, out.rindex(b"startxref"))
    for _ in range(30_000):
        here = len(out)
        out += b"xref\n0 0\ntrailer << /Size 9 /Root 1 0 R /Prev %d >>\n" % before
        before = here
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % before)


def pdf_table_of_millions() -> bytes:
    data = simple(column(prose(3)))
    rows = b"0000000015 00000 n \n" * 2_000_000
    start = len(data)
    end = b"trailer << /Size 2000009 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % start
    return data + b"xref\n9 2000000\n" + rows + end


def pdf_table_that_claims_billions() -> bytes:
    data = simple(column(prose(3)))
    return data.replace(b"xref\n0 ", b"xref\n0 99999999", 1)


def _page_with(filters: str, body: bytes, entries: str = "") -> bytes:
    pdf = Pdf()
    image = pdf.stream(
        body,
        f"/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /BitsPerComponent 8 "
        f"/ColorSpace /DeviceRGB /Filter {filters} {entries}",
    )
    pdf.page(
        column(prose(3)) + "q 612 0 0 792 0 0 cm /Im Do Q\n" * 200, xobjects=f"/Im {image} 0 R"
    )
    return pdf.data()


def pdf_jbig2_bomb() -> bytes:
    size = (60_000).to_bytes(4, "big")
    page = b"\0\0\0\0\x30\0\x01\0\0\0\x13" + size * 2 + bytes(8) + b"\0\0\0"
    region = b"\0\0\0\x01\x26\0\x01\0\0\0\x20" + size * 2 + bytes(8) + b"\0\x08" + bytes(14)
    return _page_with("/JBIG2Decode", page + region)


def pdf_dct_bomb() -> bytes:
    frame = b"\xff\xc0\0\x11\x08\xea\x60\xea\x60\x03\x01\x22\0\x02\x11\x01\x03\x11\x01"
    return _page_with("/DCTDecode", b"\xff\xd8" + frame + b"\xff\xda\0\x0c\x03" + bytes(3000))


def pdf_jpx_bomb() -> bytes:
    size = b"\xff\x51\0\x2f\0\0" + (60_000).to_bytes(4, "big") * 2 + bytes(8)
    return _page_with(
        "/JPXDecode", b"\xff\x4f" + size + (60_000).to_bytes(4, "big") * 2 + bytes(50)
    )


def pdf_runlength_bomb() -> bytes:
    pdf = Pdf()
    once = zlib.compress(b"\x81 " * (32 * MIB))
    drawn = pdf.stream(zlib.compress(once), "/Filter [/FlateDecode /FlateDecode /RunLengthDecode]")
    pdf.pages.append(pdf.add(f"<< /Type /Page /Parent 2 0 R /Contents {drawn} 0 R >>"))
    return pdf.data()


def pdf_lzw_bomb() -> bytes:
    pdf = Pdf()
    drawn = pdf.stream(b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01" * 800_000, "/Filter /LZWDecode")
    pdf.pages.append(pdf.add(f"<< /Type /Page /Parent 2 0 R /Contents {drawn} 0 R >>"))
    return pdf.data()


def pdf_filters_without_end() -> bytes:
    pdf = Pdf()
    drawn = pdf.stream(b"0" * 100_000, f"/Filter [{'/ASCIIHexDecode ' * 5_000}]")
    pdf.pages.append(pdf.add(f"<< /Type /Page /Parent 2 0 R /Contents {drawn} 0 R >>"))
    return pdf.data()


def pdf_hundred_thousand_annotations() -> bytes:
    pdf = Pdf()
    note = "<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (a remark) >>"
    numbers = " ".join(f"{pdf.add(note)} 0 R" for _ in range(100_000))
    pdf.page(column(prose(3)), extra=f"/Annots [{numbers}]")
    return pdf.data()


def pdf_font_with_a_huge_map() -> bytes:
    pdf = Pdf()
    rows = b"".join(b"<%04x> <%04x>\n" % (at % 65536, at % 55000) for at in range(600_000))
    table = pdf.stream(b"600000 beginbfchar\n" + rows + b"endbfchar\n", packed=True)
    pdf.fonts["F1"] = (
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode {table} 0 R >>"
    )
    pdf.page(column(prose(3)))
    return pdf.data()


def pdf_font_that_maps_ranges_of_everything() -> bytes:
    pdf = Pdf()
    rows = b"<0000> <ffff> <0041>\n" * 3_000
    table = pdf.stream(b"3000 beginbfrange\n" + rows + b"endbfrange\n", packed=True)
    pdf.fonts["F1"] = (
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode {table} 0 R >>"
    )
    pdf.page(column(prose(3)))
    return pdf.data()


def pdf_character_that_means_a_book() -> bytes:
    pdf = Pdf()
    table = pdf.stream(b"1 beginbfchar\n<41> <" + b"0042" * 200_000 + b">\nendbfchar\n")
    pdf.fonts["F1"] = (
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode {table} 0 R >>"
    )
    pdf.page(show("A" * 5_000, 72, 700))
    return pdf.data()


def pdf_forms_that_multiply() -> bytes:
    """Return a file in which each of twelve forms draws the next one twelve times."""
    pdf = Pdf()
    inner = pdf.stream(show("Ha.", 1, 1), "/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
    for _ in range(12):
        inner = pdf.stream(
            "/F Do " * 12,
            f"/Type /XObject /Subtype /Form /BBox [0 0 9 9] "
            f"/Resources << /Font 3 0 R /XObject << /F {inner} 0 R >> >>",
        )
    pdf.page(column(prose(3)) + "/F Do", xobjects=f"/F {inner} 0 R")
    return pdf.data()


def pdf_white_space_before_its_end() -> bytes:
    return simple(column(prose(3)))[:-6] + b" " * (47 * MIB) + b"%%EOF\n"


def pdf_white_space_after_its_end() -> bytes:
    return simple(column(prose(3))) + b"\0" * (47 * MIB)


def pdf_streams_that_never_end() -> bytes:
    return b"%PDF-1.7\n" + b"1 0 obj\n<< /Length 99999999 >>\nstream\n" * 200_000


def pdf_objects_without_number() -> bytes:
    return b"%PDF-1.7\n" + b"9 0 obj " * 2_000_000 + b"trailer << /Root 9 0 R >>"


def pdf_string_that_nests() -> bytes:
    return simple(f"BT /F1 9 Tf {'(' * 500_000}x{')' * 500_000} Tj ET")


# ---- HTML


def html_million_nested_tags() -> bytes:
    return b"<p>Fine text.</p>" + b"<i>" * 1_000_000 + b"deep"


def html_million_attributes() -> bytes:
    return b"<p " + b" ".join(b"a%d" % at for at in range(600_000)) + b">Fine text.</p>"


def html_giant_spans() -> bytes:
    row = b"<tr>" + b"<td colspan=1000000000 rowspan=1000000000>x</td>" * 100 + b"</tr>"
    return b"<table>" + row * 500 + b"</table>"


def html_tables_in_tables() -> bytes:
    return b"<table><tr><td>x</td><td>" * 90_000 + b"deep"


def html_style_heavy() -> bytes:
    rules = b"".join(b".a%d>*+.b~p:not(.c) .d{display:none}" % at for at in range(60_000))
    body = b'<p class="a1 b d">Text of it.</p>' * 20_000
    return b"<style>" + rules + b"</style><body>" + body


def html_style_brackets() -> bytes:
    return b"<style>" + b"a{" * 700_000 + b"/*" * 700_000 + b"</style><p>Fine text.</p>"


def html_one_line() -> bytes:
    return b"<p>" + b"word " * 990_000 + b"</p>"


def html_references() -> bytes:
    return b"<p>" + b"&amp" * 600_000 + b"&#x110000;&#-1;&#99999999999;&;" * 50_000


def html_entities_in_a_doctype() -> bytes:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 20}">' for n in range(1, 9))
    page = (
        f'<!DOCTYPE html [<!ENTITY e0 "ha">{entities}]><html><body><p>Fine. &e8;</p></body></html>'
    )
    return page.encode()


def html_comments_that_never_end() -> bytes:
    return b"<!-- <!" * 500_000 + b"<p>Fine text.</p>"


def html_formulas_in_formulas() -> bytes:
    inside = b"<msup><mi>x</mi>" * 50_000
    return b"<p>Fine text.</p><math>" + inside + b"</math>"


def html_lists_in_lists() -> bytes:
    return b"<ul><li>x" * 400_000


def html_null_bytes() -> bytes:
    return b"<\0p\0>\0" * 500_000 + b"<p>Fine text.</p>"


# ---- Markdown and text


def md_brackets() -> bytes:
    return b"[" * 4_000_000


def md_links_without_end() -> bytes:
    return b"[a](<b" * 600_000


def md_images_in_links() -> bytes:
    return b"![[" * 500_000 + b"a" + b"](b)" * 500_000


def md_quotes() -> bytes:
    return b">" * 2_000_000 + b" deep"


def md_emphasis() -> bytes:
    return b"*a_ " * 800_000 + b"**b" * 300_000


def md_table_of_columns() -> bytes:
    head = b"|a" * 20_000
    return head + b"|\n" + b"|-" * 20_000 + b"|\n" + (b"|b\n" * 20_000)


def md_reference_bomb() -> bytes:
    return b"[a]: /" + b"x" * 200_000 + b"\n\n" + b"[a] " * 400_000


def md_back_ticks() -> bytes:
    return b" ".join(b"`" * (at % 3_000) for at in range(6_000))


def md_entities() -> bytes:
    return b"&" * 3_000_000 + b"&#x;" * 500_000


def md_lists_in_lists() -> bytes:
    return b"".join(b" " * (2 * at) + b"- a\n" for at in range(3_000))


def md_html_block() -> bytes:
    return b"<!-- " * 1_000_000


def text_combining_characters() -> bytes:
    return b"e" + "\u0301".encode() * 9_900_000


def text_overrides() -> bytes:
    return "\u202edrow \u2067x".encode() * 1_200_000


def text_wide_characters() -> bytes:
    return "\U0001f600".encode() + b"word " * 3_990_000


def text_of_short_paragraphs() -> bytes:
    return b"ab\n\n" * 4_900_000


def text_of_line_ends() -> bytes:
    return b"\r\n\x0b\x0c" * 4_900_000 + b"x"


def text_of_one_word() -> bytes:
    return b"x" * 19_900_000


def text_in_utf16() -> bytes:
    return b"\xff\xfe" + "研".encode("utf-16-le") * 9_900_000


def code_of_brackets() -> bytes:
    return b"def f(" + b"(" * 5_000_000


# ---- Word and archives


def _stored(members: list[tuple[str, bytes]]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def docx_that_lies_about_its_size() -> bytes:
    data = bytearray(packed({**parts(para("Fine.")), "word/document.xml": b" " * (300 * MIB)}))
    size = (300 * MIB).to_bytes(4, "little")
    return bytes(data).replace(size, (1000).to_bytes(4, "little"))


def docx_with_members_that_overlap() -> bytes:
    data = docx(para("Fine text.") * 1000)
    directory = data.index(b"PK\x01\x02")
    entry_end = data.index(b"PK\x01\x02", directory + 4)
    entry, tail = data[directory:entry_end], data.rindex(b"PK\x05\x06")
    many = entry * 60_000
    end = bytearray(data[tail:])
    end[8:12] = (60_000).to_bytes(2, "little") * 2
    end[12:16] = len(many).to_bytes(4, "little")
    return data[:directory] + many + bytes(end)


def docx_in_docx() -> bytes:
    inner = docx(para("Fine text."))
    for _ in range(200):
        inner = packed({**parts(para("Fine text.")), "word/embeddings/a.docx": inner})
    return inner


def docx_with_paths_outside() -> bytes:
    members = [*parts(para("Fine text.")).items()]
    outside = [("../../../../etc/passwd", b"x"), ("/etc/shadow", b"x"), ("C:\\a", b"x")]
    plain = [(name, body if isinstance(body, bytes) else body.encode()) for name, body in members]
    return _stored([*plain, *outside])


def docx_with_a_member_twice() -> bytes:
    plain = [
        (n, b if isinstance(b, bytes) else b.encode()) for n, b in parts(para("First.")).items()
    ]
    again = parts(para("Second."))["word/document.xml"]
    assert isinstance(again, str)
    buffer = BytesIO(_stored(plain))
    with zipfile.ZipFile(buffer, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are two of that name
        archive.writestr(zipfile.ZipInfo("word/document.xml"), again)
    return buffer.getvalue()


def docx_of_deep_properties() -> bytes:
    inside = "<w:rPr>" * 100 + "</w:rPr>" * 100
    return docx(f"<w:p><w:r>{inside}<w:t>Fine text.</w:t></w:r></w:p>" * 5_000)


def zip_of_types_only() -> bytes:
    return packed({"[Content_Types].xml": CONTENT_TYPES})


# ---- several things at once, and nothing whole


def pdf_and_zip_and_html() -> bytes:
    page = b"<html><body><p>Fine text of a page.</p></body></html>"
    return simple(column(prose(3))) + page + docx(para("Fine text."))


def html_and_pdf() -> bytes:
    return b"<html><!--\n" + simple(column(prose(3))) + b"--><body><p>Fine text.</p></body></html>"


def zip_and_pdf() -> bytes:
    return docx(para("Fine text.")) + simple(column(prose(3)))


def _cut(data: bytes) -> Callable[[], bytes]:
    return lambda: data[: len(data) * 2 // 3]


def _noise_after(magic: bytes) -> Callable[[], bytes]:
    return lambda: magic + random.Random(len(magic)).randbytes(3 * MIB)


MAGIC = {
    "pdf": b"%PDF-1.7\n",
    "docx": b"PK\x03\x04\x14\0\0\0\x08\0",
    "html": b"<!DOCTYPE html><html><body><p>",
    "doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "rtf": b"{\\rtf1 ",
    "utf-16": b"\xff\xfe",
    "utf-8": b"\xef\xbb\xbf",
    "gzip": b"\x1f\x8b\x08",
    "nothing": b"",
}

HOSTILE: dict[str, Callable[[], bytes]] = {
    f"{name.replace('_', ' ')}.{name.split('_')[0]}": make
    for name, make in list(globals().items())
    if name.split("_")[0] in ("pdf", "html", "md", "text", "code", "docx", "zip")
    and callable(make)
    and "_" in name
    and getattr(make, "__module__", "") == __name__
}
"""What makes each file, by the name it is given."""

HOSTILE |= {
    "cut.pdf": _cut(simple(*[column(prose(40))] * 20)),
    "cut.docx": _cut(docx(para("Fine text.") * 500)),
    "cut.html": _cut(b"<html><body>" + b"<p>Fine text.</p>" * 500),
    "a web page.pdf": lambda: b"<html><body><p>Fine text.</p></body></html>",
    "a pdf.docx": lambda: simple(column(prose(3))),
    "a word file.html": lambda: docx(para("Fine text.")),
    "a pdf.txt": lambda: simple(column(prose(3))),
    **{f"noise after {name}.bin": _noise_after(magic) for name, magic in MAGIC.items()},
}
