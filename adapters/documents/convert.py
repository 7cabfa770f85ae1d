"""Reads bytes of any kind in this process: tells the kind, calls its reader, names the outcome.

Hostile bytes can take this process with them, so all but tests call it through the sandbox.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

from adapters.documents import sniff
from adapters.documents.charset import charset_parameter
from adapters.documents.docling_mapping import PACKAGES as DOCLING
from adapters.documents.reading import Reading, Unreadable
from state.values.blocks import Conversion, Outcome
from state.values.ids import sha256_hex

_MB = 1_000_000
_TEXT_LIMIT = 20 * _MB
_HTML_LIMIT = 5 * _MB
_DOCX_LIMIT = 50 * _MB
_PDF_LIMIT = 50 * _MB


@dataclass(frozen=True, slots=True)
class Format:
    """How one kind is read: by `module:function`, imported on first use, up to a size."""

    label: str
    reader: str
    max_bytes: int
    packages: tuple[str, ...] = ()


FORMATS = {
    sniff.MARKDOWN: Format(
        "Markdown", "adapters.documents.markdown:read_markdown", _TEXT_LIMIT, ("markdown-it-py",)
    ),
    sniff.PLAIN: Format("text", "adapters.documents.plain:read_plain", _TEXT_LIMIT),
    sniff.CODE: Format("text", "adapters.documents.plain:read_code", _TEXT_LIMIT),
    sniff.HTML: Format(
        "HTML", "adapters.documents.html:read_html", _HTML_LIMIT, ("lxml", "trafilatura")
    ),
    sniff.PDF: Format(
        "PDF", "adapters.documents.pdf.read:read_pdf", _PDF_LIMIT, ("pypdf", "pypdfium2")
    ),
    sniff.DOCX: Format(
        "Word", "adapters.documents.docx_reader.reader:read_docx", _DOCX_LIMIT, ("lxml",)
    ),
}
"""Every kind that can be read. A new kind is a new entry."""

_ADVICE = {
    "application/x-ole-storage": (
        "this is an old Office file (.doc, .xls, .ppt); save it as .html or .txt"
    ),
    "application/rtf": "this is a rich text file (.rtf); save it as .html or .txt",
    "application/vnd.openxmlformats-officedocument": (
        "spreadsheets and slides cannot be read; save the text of it as .csv, .html or .txt"
    ),
    "application/vnd.oasis.opendocument": "OpenDocument files cannot be read; save it as .html",
    "application/epub+zip": "e-books cannot be read; save it as .html or .txt",
    "application/zip": "this is an archive; unpack it and give the files inside",
    "application/postscript": "PostScript cannot be read; convert it to text first",
}


@lru_cache(maxsize=1)
def converter_version() -> str:
    """Return a string that changes whenever the same bytes might be read differently.

    It is made from the source of the readers and from the versions of what they read with.
    """
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    code = sha256_hex(b"\0".join(source.read_bytes() for source in sources))[:16]
    packages = sorted({name for known in FORMATS.values() for name in known.packages})
    packages += DOCLING
    return ",".join([code, *(f"{name}={_installed(name)}" for name in packages)])


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def convert_bytes(data: bytes, name: str, media_type: str) -> Conversion:
    """Return how reading `data` ended; see the `Converter` port for the arguments."""
    if not data:
        return Conversion(Outcome.EMPTY, "The file is empty.")
    kind = sniff.sniff(data, name=name, media_type=media_type)
    known = FORMATS.get(kind)
    if known is None:
        return Conversion(Outcome.UNSUPPORTED, _unsupported(kind))
    if len(data) > known.max_bytes:
        return Conversion(
            Outcome.LIMIT,
            f"The file has {len(data):,} bytes; at most {known.max_bytes:,} bytes of {known.label} "
            "are read. Split it.",
        )
    try:
        reading = _reader(known)(data, charset=charset_parameter(media_type))
    except Unreadable as error:
        return Conversion(error.outcome, error.reason)
    except MemoryError:
        return Conversion(Outcome.LIMIT, "Reading the file needs more memory than is allowed.")
    except ImportError as error:  # says something of this installation, and nothing of the file
        return Conversion(Outcome.CRASHED, _not_installed(known, error))
    except Exception as error:  # noqa: BLE001 - a reader may fail in any way on hostile bytes
        return Conversion(
            Outcome.MALFORMED,
            f"The file is not well-formed {known.label} ({type(error).__name__}: {error})"[:500],
        )
    return _conclude(reading, known)


def _reader(known: Format) -> Callable[..., Reading]:
    module, _, function = known.reader.partition(":")
    return cast(Callable[..., Reading], getattr(import_module(module), function))


def _not_installed(known: Format, error: ImportError) -> str:
    missing = [package for package in known.packages if _installed(package) == "none"]
    if not missing and isinstance(error, ModuleNotFoundError) and error.name:
        missing = [error.name.partition(".")[0]]
    if not missing:
        return (
            f"The reader of {known.label} files cannot be loaded ({error}); install Assay anew: "
            "pip install --force-reinstall assay-research"
        )[:500]
    named = " ".join(missing)
    return (
        f"{known.label} files cannot be read because of a missing package ({named}); "
        f"install it with: pip install {named}"
    )


def _conclude(reading: Reading, known: Format) -> Conversion:
    document = reading.document
    if not any(map(str.isalnum, document.text)):
        hint = " It may need JavaScript to show any." if known.label == "HTML" else ""
        return Conversion(Outcome.EMPTY, f"The file holds no text.{hint}")
    if reading.lost:
        return Conversion(Outcome.PARTIAL, reading.lost, document)
    return Conversion(Outcome.OK, document=document)


def _unsupported(kind: str) -> str:
    if advice := _ADVICE.get(kind):
        return advice[0].upper() + advice[1:] + "."
    if kind.startswith("image/"):
        return f"This is a picture ({kind}); only text can be read."
    if kind == sniff.BINARY:
        return "This is not text, nor any kind of document that can be read."
    return f"Files of the kind {kind} cannot be read."
