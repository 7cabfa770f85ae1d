"""Which kinds of answers are read, by what the server says and by what the bytes are."""

from pathlib import PurePosixPath

from adapters.documents import sniff
from adapters.web.errors import TypeDenied
from adapters.web.urls import Url, shown

READABLE = (sniff.HTML, sniff.PLAIN, sniff.MARKDOWN, sniff.CODE, sniff.PDF, sniff.DOCX)
SUFFIXES = {
    sniff.HTML: ".html",
    sniff.PLAIN: ".txt",
    sniff.MARKDOWN: ".md",
    sniff.CODE: ".txt",
    sniff.PDF: ".pdf",
    sniff.DOCX: ".docx",
}
# What servers call a file of theirs when they do not know, or mean to have it saved.
_VAGUE = frozenset(
    {
        *("", "application/octet-stream", "binary/octet-stream", "application/binary"),
        *("application/download", "application/x-download", "application/force-download"),
    }
)
_DOCUMENTS = frozenset(
    {
        "application/pdf",
        "application/x-pdf",
        "application/acrobat",
        "application/msword",
        sniff.DOCX,
    }
)
_TEXTUAL = frozenset(
    {
        *("application/json", "application/xml", "application/xhtml+xml", "application/yaml"),
        *("application/x-tex", "application/x-latex", "application/x-ndjson"),
    }
)
_MARKUP = ("text/html", "application/xhtml+xml")


def essence(media_type: str) -> str:
    """Return a media type without its parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


def refuse_unreadable(url: Url, media_type: str) -> None:
    """Raise `TypeDenied` for what no reading would make readable, before it is downloaded."""
    said = essence(media_type)
    if not (said in _VAGUE | _DOCUMENTS or _is_textual(said)):
        raise _denied(url, said)


def kind_of(url: Url, data: bytes, media_type: str) -> str:
    """Return what `data` is, one of `READABLE`; raises `TypeDenied` for everything else."""
    # A page may be called README.md or index.php; who says that it is HTML is believed.
    name = "" if essence(media_type) in _MARKUP else PurePosixPath(url.path).name
    kind = sniff.sniff(data, name=name, media_type=media_type)
    if kind not in READABLE:
        raise _denied(url, kind)
    return kind


def is_document(start: bytes) -> bool:
    """Tell by its first bytes whether an answer is a PDF or an office file."""
    return start.lstrip()[:5] == b"%PDF-" or start.startswith(b"PK\x03\x04")


def declared(kind: str, media_type: str) -> str:
    """Return the media type to hand on: the server's, charset included, unless it is wrong."""
    if kind in (sniff.PDF, sniff.DOCX):
        return kind
    said = essence(media_type)
    if _is_textual(said) and (kind == sniff.HTML) == (said in _MARKUP):
        return media_type
    charset = media_type.partition(";")[2].strip()
    return f"{kind}; {charset}" if charset else kind


def _is_textual(said: str) -> bool:
    if said.startswith("text/") or said in _TEXTUAL:
        return True
    return said.endswith(("+json", "+xml")) and said.startswith("application/")


def _denied(url: Url, kind: str) -> TypeDenied:
    return TypeDenied(
        f"{shown(url)} is {kind[:80] or 'of no known kind'}; web pages, text, Markdown, JSON, XML, "
        "PDF and DOCX are read."
    )
