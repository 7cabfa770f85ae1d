"""One small document of each kind, to see that every reader works where it is installed."""

import io
import zipfile

SENTENCE = "A sentence."

_PARTS = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.wordprocessingml.document.main+xml"/></Types>'
    ),
    "_rels/.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships/officeDocument" Target="word/document.xml"/></Relationships>'
    ),
    "word/document.xml": (
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body><w:p><w:r><w:t>{SENTENCE}</w:t></w:r></w:p></w:body></w:document>"
    ),
}


def samples() -> dict[str, bytes]:
    """Return documents by file name, each holding `SENTENCE`."""
    return {
        "sample.md": f"# Title\n\n{SENTENCE}\n".encode(),
        "sample.txt": f"{SENTENCE}\n".encode(),
        "sample.html": f"<p>{SENTENCE}</p>".encode(),
        "sample.docx": _docx(),
        "sample.pdf": _pdf(),
    }


def _docx() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, text in _PARTS.items():
            package.writestr(zipfile.ZipInfo(name), text)
    return buffer.getvalue()


def _pdf() -> bytes:
    drawing = f"BT /F 12 Tf 72 720 Td ({SENTENCE}) Tj ET".encode()
    font = b"<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources %s>>" % font,
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing),
    )
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return body + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
