"""What kind of file some bytes are: first bytes decide, then the name, then what was said."""

import re
from pathlib import PurePath

from adapters.documents.charset import is_utf16

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
HTML = "text/html"
CODE = "text/x-source"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
BINARY = "application/octet-stream"

_HEAD = 4096
_MAGIC = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"{\\rtf", "application/rtf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\x7fELF", "application/x-executable"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"PAR1", "application/vnd.apache.parquet"),
    (b"%!PS", "application/postscript"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
)
_MAGIC_LIKE_WORDS = (b"GIF8", b"BZh", b"PAR1", b"ID3", b"OggS")
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).){0,1000}-->\s*)*"
    rb"<(?:!doctype\s+html|html|head|body|title|script|table|div|p|h1)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_SUFFIXES = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd", ".mdx"), MARKDOWN),
    **dict.fromkeys((".html", ".htm", ".xhtml", ".shtml"), HTML),
    **dict.fromkeys((".txt", ".text", ".rst", ".rest", ".log", ".asc", ".adoc", ".org"), PLAIN),
    **dict.fromkeys(
        (
            *(".py", ".pyi", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".java", ".c", ".h", ".cc"),
            *(".cpp", ".hpp", ".rs", ".go", ".rb", ".php", ".sh", ".bash", ".sql", ".css", ".scss"),
            *(".kt", ".swift", ".scala", ".lua", ".r", ".jl", ".pl", ".cs", ".json", ".jsonl"),
            *(".yaml", ".yml", ".toml", ".ini", ".cfg", ".xml", ".csv", ".tsv", ".tex", ".bib"),
        ),
        CODE,
    ),
}
_SAID = {
    "text/markdown": MARKDOWN,
    "text/x-markdown": MARKDOWN,
    "text/html": HTML,
    "application/xhtml+xml": HTML,
}
_PDF_HEADER = re.compile(rb"%PDF-\d")
_PDF_HEADER_WITHIN = 1024
_PDF_OBJECT = re.compile(rb"(?:^|[\r\n\s>])\d{1,10}\s+\d{1,5}\s+obj\b")
_PDF_PARTS = (b"endobj", b"endstream", b"trailer", b"startxref")
_OLE = _MAGIC[0][0]
_ENCRYPTED_PACKAGE = "EncryptedPackage\0".encode("utf-16-le")
_ZIP_END = 22
_ZIP64_RECORDS = 76  # they stand between the directory and its end
_WORD_PART = re.compile(rb"(?:^|[^/\w-])/?word/(?:document|styles|settings|_rels)")
_CONTROLS = bytes(byte for byte in range(0x20) if byte not in b"\t\n\r\f\v\b\x1b")


def sniff(data: bytes, *, name: str, media_type: str = "") -> str:
    """Return the media type of `data`; text of no known form is `text/plain`.

    Office files of the ZIP kind are told apart by the names inside. What is neither known nor
    text is `application/octet-stream`.
    """
    head = data[:_HEAD]
    is_binary = _is_binary(data)
    if _is_pdf(data, name, media_type, is_binary=is_binary):
        return PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(data)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(_OLE) and _is_encrypted_package(data):
        return DOCX
    for magic, kind in _MAGIC:
        if head.startswith(magic) and (is_binary or magic not in _MAGIC_LIKE_WORDS):
            return kind
    if is_binary:
        return BINARY
    return _text_kind(head, name, media_type)


def _is_pdf(data: bytes, name: str, media_type: str, *, is_binary: bool) -> bool:
    """Tell a PDF from a text that speaks of one: by its objects, which words alone do not make.

    Readers take a header that stands within the first 1024 bytes (ISO 32000-1, annex H).
    """
    header = _PDF_HEADER.search(data, 0, _PDF_HEADER_WITHIN + 8)
    if header is None:
        return False
    is_first = not data[: header.start()].strip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n\f\v")
    suffix = PurePath(name).suffix.lower()
    if is_binary and is_first:
        return True
    if not is_binary and not is_first and suffix in _SUFFIXES:
        return False  # a text that shows how a PDF looks
    if _PDF_OBJECT.search(data) and any(part in data for part in _PDF_PARTS):
        return True
    if not is_first:
        return False
    if suffix == ".pdf" or media_type.lower().startswith(PDF):
        return True
    return len(data.strip()) <= len(b"%PDF-1.7")  # cut off after its header


def _zip_kind(data: bytes) -> str:
    # The names stand uncompressed in the directory at the end; a file that is cut off has none.
    end = data.rfind(b"PK\x05\x06")
    size = int.from_bytes(data[end + 12 : end + 16], "little") + _ZIP64_RECORDS
    is_whole = 0 <= end <= len(data) - _ZIP_END
    names = data[max(end - size, 0) : end] if is_whole else data[: 16 * _HEAD]
    names = names.lower().replace(b"\\", b"/")
    if b"[content_types].xml" in names and _WORD_PART.search(names):
        return DOCX
    if b"xl/workbook" in names or b"ppt/presentation" in names:
        return "application/vnd.openxmlformats-officedocument"
    if b"opendocument" in data[:_HEAD]:
        return "application/vnd.oasis.opendocument"
    if b"application/epub+zip" in data[:_HEAD]:
        return "application/epub+zip"
    return "application/zip"


def _is_encrypted_package(data: bytes) -> bool:
    """Tell a new Office file that is encrypted from an old one: by a stream's name (MS-OFFCRYPTO).

    Entries of the directory that names the streams stand at multiples of 128 bytes.
    """
    at = data.find(_ENCRYPTED_PACKAGE)
    while at >= 0 and at % 128:
        at = data.find(_ENCRYPTED_PACKAGE, at + 1)
    return at >= 0


def _is_binary(data: bytes) -> bool:
    if is_utf16(data):
        return False
    sample = data[: 64 * 1024]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls > max(4, len(sample) // 100)


def _text_kind(head: bytes, name: str, media_type: str) -> str:
    narrow = head.replace(b"\0", b"") if is_utf16(head) else head
    named = _SUFFIXES.get(PurePath(name).suffix.lower())
    if named in (None, HTML, PLAIN) and _HTML_START.match(narrow.lstrip(b"\xef\xbb\xbf\xff\xfe")):
        return HTML
    if named is not None:
        return named
    return _SAID.get(media_type.partition(";")[0].strip().lower(), PLAIN)
