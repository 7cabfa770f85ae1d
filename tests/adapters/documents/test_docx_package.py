"""What is refused of a Word file's package before, and while, it is unpacked."""

import struct
import zipfile
from io import BytesIO

import pytest

from adapters.documents.convert import convert_bytes
from adapters.documents.docx_reader import package as package_module
from adapters.documents.docx_reader.package import Package
from adapters.documents.sniff import DOCX, sniff
from state.values.blocks import Conversion, Outcome
from tests.adapters.documents.docx_makers import (
    NAMESPACES,
    docx,
    link,
    packed,
    para,
    parts,
    relations,
    texts,
)

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
STRICT = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": (
        "http://purl.oclc.org/ooxml/wordprocessingml/main"
    ),
    "http://schemas.openxmlformats.org/officeDocument/2006/": (
        "http://purl.oclc.org/ooxml/officeDocument/"
    ),
}


def convert(data: bytes) -> Conversion:
    return convert_bytes(data, "a.docx", "")


def shown(conversion: Conversion) -> list[str]:
    assert conversion.document is not None, conversion.reason
    return texts(conversion.document)


def central(data: bytes, name: str) -> int:
    """Return where the directory's entry of `name` begins."""
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        size = struct.unpack_from("<H", data, at + 28)[0]
        if data[at + 46 : at + 46 + size] == name.encode():
            return at
        at = data.find(b"PK\x01\x02", at + 1)
    raise AssertionError(name)


def changed(data: bytes, name: str, offset: int, form: str, value: int) -> bytes:
    """Return `data` with one number of the directory's entry of `name` set."""
    found = bytearray(data)
    struct.pack_into(form, found, central(data, name) + offset, value)
    return bytes(found)


# Reading what is sound


def test_strict_names_are_read_like_the_transitional_ones_and_text_is_left_as_it_is() -> None:
    words = "See http://purl.oclc.org/ooxml/officeDocument/math for more."
    made = {name: str(content) for name, content in parts(para(words)).items()}
    for transitional, strict in STRICT.items():
        made = {name: content.replace(transitional, strict) for name, content in made.items()}

    assert "purl.oclc.org/ooxml/wordprocessingml/main" in made["word/document.xml"]
    assert shown(convert(packed(made))) == [words]


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("UTF-8", "utf-8-sig"),
        ("UTF-16", "utf-16"),
        ("UTF-16", "utf-16-le"),
        ("UTF-16", "utf-16-be"),
        ("windows-1252", "cp1252"),
        ("ISO-8859-1", "latin-1"),
    ],
)
def test_parts_are_read_in_every_usual_encoding(declared: str, encoding: str) -> None:
    made = parts(para("Größe"))
    text = f'<?xml version="1.0" encoding="{declared}"?>{made["word/document.xml"]!s}'

    assert shown(convert(packed(made | {"word/document.xml": text.encode(encoding)}))) == ["Größe"]


def test_the_main_part_is_where_the_links_say_whatever_its_name() -> None:
    made = parts(para("Text."))
    made["word/document2.xml"] = made.pop("word/document.xml")
    made["_rels/.rels"] = relations(link("r", "officeDocument", "/Word/Document2.xml"))

    assert shown(convert(packed(made))) == ["Text."]


def test_names_with_backslashes_and_in_other_cases_are_found() -> None:
    made = {name.replace("/", "\\"): content for name, content in parts(para("Text.")).items()}
    made["WORD\\Document.XML"] = made.pop("word\\document.xml")

    assert shown(convert(packed(made))) == ["Text."]


def test_a_damaged_part_beside_the_text_makes_the_reading_partial() -> None:
    made = parts(para("Text."), styles="") | {"word/styles.xml": "<w:styles"}

    conversion = convert(packed(made))

    assert conversion.outcome is Outcome.PARTIAL
    assert "word/styles.xml" in conversion.reason
    assert shown(conversion) == ["Text."]


# Refusing what is not


DOCTYPE = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd">'
FILE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    "name",
    [
        "word/document.xml",
        "word/styles.xml",
        "word/numbering.xml",
        "word/settings.xml",
        "word/footnotes.xml",
        "word/header.xml",
        "word/_rels/document.xml.rels",
        "_rels/.rels",
    ],
)
@pytest.mark.parametrize("prologue", [DOCTYPE, OUTSIDE, FILE, f"<!-- c --><?p q?>\n{DOCTYPE}"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_in_any_part_is_refused(name: str, prologue: str, encoding: str) -> None:
    """Cases: measured, entities that multiply."""
    section = '<w:sectPr><w:headerReference r:id="rIdheader"/></w:sectPr>'
    made = parts(
        para("Text.") + section,
        styles="",
        numbering="",
        settings="",
        footnotes="",
        header=para("h"),
    )
    hostile = f'<?xml version="1.0"?>{prologue}{made[name]!s}'.encode(encoding)

    conversion = convert(packed(made | {name: hostile}))

    assert conversion.outcome is Outcome.MALFORMED
    assert "document type" in conversion.reason
    assert conversion.document is None


@pytest.mark.parametrize("encoding", ["utf-7", "cp037", "utf-32"])
def test_encodings_in_which_markup_could_hide_are_not_read(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>{DOCTYPE}<a>&b;</a>'

    conversion = convert(packed(parts("") | {"word/document.xml": text.encode(encoding)}))

    assert conversion.outcome is Outcome.MALFORMED


def test_an_undefined_entity_is_malformed() -> None:
    assert convert(docx(para("a &undefined; b"))).outcome is Outcome.MALFORMED


@pytest.mark.parametrize(
    ("body", "outcome", "words"),
    [
        ("<w:p>", Outcome.MALFORMED, "not well-formed"),
        ("<w:sdt>" * 100_000 + "</w:sdt>" * 100_000, Outcome.LIMIT, "256 levels"),
        ("<w:p/>" * 20, Outcome.EMPTY, "no text"),
    ],
)
def test_what_is_wrong_with_the_body_is_named(body: str, outcome: Outcome, words: str) -> None:
    conversion = convert(docx(body))

    assert conversion.outcome is outcome
    assert words in conversion.reason


def test_another_kind_of_xml_in_the_place_of_the_body_is_malformed() -> None:
    made = parts("") | {"word/document.xml": f"<w:styles {NAMESPACES}/>"}

    assert convert(packed(made)).outcome is Outcome.MALFORMED


def test_a_size_that_is_a_lie_is_found_out() -> None:
    data = docx(para("word " * 10_000))

    for size in (10, 100_000):
        conversion = convert(changed(data, "word/document.xml", 24, "<I", size))
        assert conversion.outcome is Outcome.MALFORMED
        assert "damaged" in conversion.reason


def test_a_bomb_that_says_it_is_small_is_unpacked_no_further_than_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(package_module, "MAX_PART", 100_000)
    data = changed(docx(para("word " * 100_000)), "word/document.xml", 24, "<I", 1_000)

    conversion = convert(data)

    assert conversion.outcome is Outcome.LIMIT
    assert "100,001" in conversion.reason


def test_a_part_far_larger_than_in_the_file_is_a_bomb() -> None:
    made = parts(para("Text.")) | {"word/media/image1.bmp": bytes(20_000_000)}

    conversion = convert(packed(made))

    assert conversion.outcome is Outcome.LIMIT
    assert "300 times" in conversion.reason


def test_parts_that_say_to_be_too_much_together_are_refused_before_unpacking() -> None:
    data = docx(para("Text."), styles="", settings="")
    for name in ("word/styles.xml", "word/settings.xml"):
        data = changed(data, name, 24, "<I", 600_000_000)

    conversion = convert(data)

    assert conversion.outcome is Outcome.LIMIT
    assert "1,000,000,000" in conversion.reason


def test_too_many_parts_are_refused() -> None:
    made = parts(para("Text.")) | {f"word/media/{number}": b"" for number in range(10_000)}

    conversion = convert(packed(made))

    assert conversion.outcome is Outcome.LIMIT
    assert "10,000 parts" in conversion.reason


def test_parts_that_overlap_are_refused() -> None:
    data = docx(para("Text."))
    first = zipfile.ZipFile(BytesIO(data)).infolist()[0]

    conversion = convert(changed(data, "word/document.xml", 42, "<I", first.header_offset))

    assert conversion.outcome is Outcome.MALFORMED
    assert "overlap" in conversion.reason


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name_are_refused() -> None:
    buffer = BytesIO(docx(para("Text.")))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("Word/document.xml", "<another/>")

    conversion = convert(buffer.getvalue())

    assert conversion.outcome is Outcome.MALFORMED
    assert "2 parts named word/document.xml" in conversion.reason


def test_a_changed_byte_is_noticed() -> None:
    data = bytearray(packed(parts(para("Text."))))
    data[data.find(b"word/document.xml") + 30] ^= 0xFF

    assert convert(bytes(data)).outcome is Outcome.MALFORMED


@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_a_file_that_is_cut_off_is_malformed(share: float) -> None:
    data = docx(para("Text."), styles="")

    conversion = convert(data[: int(len(data) * share)])

    assert conversion.outcome is Outcome.MALFORMED
    assert "cut off" in conversion.reason


def test_an_encrypted_part_is_named_so() -> None:
    data = changed(docx(para("Text.")), "word/document.xml", 8, "<H", 1)

    assert convert(data).outcome is Outcome.ENCRYPTED


def test_other_ways_of_packing_are_named() -> None:
    data = changed(docx(para("Text.")), "word/document.xml", 10, "<H", 12)

    assert convert(data).outcome is Outcome.MALFORMED


def test_a_file_encrypted_with_a_password_is_told_from_an_old_one() -> None:
    name = "EncryptedPackage".encode("utf-16-le")
    entry = name + bytes(64 - len(name)) + struct.pack("<H", len(name) + 2) + bytes(62)

    encrypted = convert(OLE + bytes(1016) + entry * 2 + bytes(600))
    old = convert(OLE + bytes(1020) + entry + bytes(600))

    assert encrypted.outcome is Outcome.ENCRYPTED
    assert "password" in encrypted.reason
    assert old.outcome is Outcome.UNSUPPORTED
    assert ".doc" in old.reason


def test_a_lost_body_is_named() -> None:
    made = parts("")
    del made["word/document.xml"]

    conversion = convert(packed(made | {"word/styles.xml": "<a/>"}))

    assert conversion.outcome is Outcome.MALFORMED
    assert "no Word document" in conversion.reason


def test_kinds_of_zip_files_are_told_apart_by_their_directory() -> None:
    other = {"[Content_Types].xml": "", "xl/workbook.xml": ""}
    backup = {f"backup/{name}": content for name, content in parts("").items()}

    assert sniff(docx(""), name="a.zip") == DOCX
    assert sniff(packed(other), name="a.docx").endswith("officedocument")
    assert sniff(packed(backup), name="a.docx") == "application/zip"
    assert sniff(packed({}), name="a.docx") == "application/zip"


def test_links_outside_the_package_lead_nowhere() -> None:
    made = parts(para("Text.")) | {
        "word/_rels/document.xml.rels": relations(
            link("a", "styles", "../../../etc/passwd"), link("b", "numbering", "//host/share")
        )
    }
    package = Package(packed(made))

    assert package.target("word/document.xml", "styles") == "etc/passwd"
    assert package.part("etc/passwd") is None
    assert package.target("word/document.xml", "numbering") is None
    assert shown(convert(packed(made))) == ["Text."]
