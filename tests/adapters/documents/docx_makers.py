"""Builds Word files from pieces of XML, for tests."""

import zipfile
from collections.abc import Mapping
from io import BytesIO

from adapters.documents.docx_reader.reader import read_docx
from state.values.blocks import Document

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{name}"'
    for prefix, name in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "r": _OFFICE,
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    }.items()
)
ROOTS = {
    "styles": "styles",
    "numbering": "numbering",
    "settings": "settings",
    "footnotes": "footnotes",
    "endnotes": "endnotes",
    "header": "hdr",
    "footer": "ftr",
}
CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)


def run(text: str, properties: str = "") -> str:
    """Return a run of text."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def para(*runs: str, properties: str = "") -> str:
    """Return a paragraph; what does not begin with `<` is put into a run."""
    inside = "".join(part if part.startswith("<") else run(part) for part in runs)
    return f"<w:p><w:pPr>{properties}</w:pPr>{inside}</w:p>"


def table(*rows: str) -> str:
    """Return a table of rows."""
    return f"<w:tbl><w:tblPr/>{''.join(rows)}</w:tbl>"


def row(*cells: str, properties: str = "") -> str:
    """Return a row; what is no cell yet is put into one."""
    inside = "".join(part if part.startswith("<w:tc>") else cell(part) for part in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{inside}</w:tr>"


def cell(content: str, properties: str = "") -> str:
    """Return a cell; text is put into a paragraph."""
    inside = content if content.startswith("<") else para(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"


def relations(*links: str) -> str:
    """Return a part of links."""
    name = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{name}">{"".join(links)}</Relationships>'


def link(identifier: str, kind: str, target: str, *, outside: bool = False) -> str:
    """Return a link to a part, or to the outside."""
    mode = ' TargetMode="External"' if outside else ""
    return f'<Relationship Id="{identifier}" Type="{_OFFICE}/{kind}" Target="{target}"{mode}/>'


def document(body: str) -> str:
    """Return the main part."""
    return f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"


def parts(body: str, *links: str, **others: str) -> dict[str, str | bytes]:
    """Return the parts of a file with this body; `others` are the insides of parts, by kind."""
    found: dict[str, str | bytes] = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": relations(link("rId1", "officeDocument", "word/document.xml")),
        "word/document.xml": document(body),
    }
    made = [link(f"rId{kind}", kind, f"{kind}.xml") for kind in others]
    found["word/_rels/document.xml.rels"] = relations(*made, *links)
    for kind, inside in others.items():
        root = ROOTS[kind]
        found[f"word/{kind}.xml"] = f"<w:{root} {NAMESPACES}>{inside}</w:{root}>"
    return found


def packed(members: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP file of these members."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def docx(body: str, *links: str, **others: str) -> bytes:
    """Return a Word file with this body; see `parts`."""
    return packed(parts(body, *links, **others))


def read(body: str, *links: str, **others: str) -> Document:
    """Return what a Word file with this body is read as."""
    return read_docx(docx(body, *links, **others)).document


def blocks(document: Document) -> list[tuple[str, str]]:
    """Return kind and text of each block."""
    return [(b.kind.value, document.text[b.start : b.end]) for b in document.blocks]


def texts(document: Document) -> list[str]:
    """Return the text of each block."""
    return [text for _, text in blocks(document)]


def paragraph_style(identifier: str, name: str, inside: str = "", based_on: str = "") -> str:
    """Return a style of paragraphs."""
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{identifier}"><w:name w:val="{name}"/>'
        f"{base}{inside}</w:style>"
    )
