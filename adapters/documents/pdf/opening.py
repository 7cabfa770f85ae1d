"""Opens a PDF with both readers, and names what keeps it shut."""

import re
from dataclasses import dataclass

import pypdfium2
from pypdf import PasswordType, PdfReader
from pypdf.errors import DependencyError, EmptyFileError, LimitReachedError
from pypdfium2 import raw

from adapters.documents.pdf.first import open_first
from adapters.documents.pdf.second import SecondReader
from adapters.documents.reading import Unreadable
from state.values.blocks import Outcome

_HEADER_WITHIN = 1024
_ENCRYPT = re.compile(rb"/Encrypt\b")
_LOCKED = "The file is encrypted and asks for a password. Save a copy without one, and give that."


@dataclass(frozen=True, slots=True)
class Opened:
    """Both readers of one file; at least one of them could open it."""

    first: PdfReader | None
    second: SecondReader | None
    pages: int


def open_both(data: bytes) -> Opened:
    """Return the readers of `data`; raises `Unreadable` when it is locked, damaged or too large.

    An empty user password is tried. An empty owner password is not: with it, a file that asks
    its users for a password could be read.
    """
    data = _from_header(data)
    try:
        first, damage = _open_first(data), ""
    except (LimitReachedError, MemoryError, RecursionError) as error:
        raise Unreadable(Outcome.LIMIT, f"The file is too large to be opened ({error}).") from error
    except EmptyFileError as error:
        raise Unreadable(Outcome.EMPTY, "The file is empty.") from error
    except Unreadable:
        raise
    except Exception as error:  # noqa: BLE001 - pypdf raises anything on a damaged file
        first, damage = None, f"{type(error).__name__}: {error}"
    second = _open_second(data)
    if first is not None:
        return Opened(first, second, len(first.pages))
    if second is not None:
        return Opened(None, second, second.pages)
    raise Unreadable(Outcome.MALFORMED, f"The file is not a well-formed PDF ({damage})"[:300] + ".")


def _from_header(data: bytes) -> bytes:
    """Return `data` without what stands before its header, from where positions are counted."""
    at = data.find(b"%PDF-", 0, _HEADER_WITHIN + 5)
    return data[at:] if at > 0 else data


def _open_first(data: bytes) -> PdfReader:
    try:
        reader = open_first(data)
        if reader.is_encrypted and reader.decrypt("") is not PasswordType.USER_PASSWORD:
            _check_user_password(data)
        len(reader.pages)
    except DependencyError as error:  # a kind of encryption that is not supported
        raise Unreadable(Outcome.ENCRYPTED, _LOCKED) from error
    return reader


def _check_user_password(data: bytes) -> None:
    """Raise `Unreadable` unless PDFium, which tries the user password only, opens the file."""
    try:
        SecondReader(data).close()
    except pypdfium2.PdfiumError as error:
        raise Unreadable(Outcome.ENCRYPTED, _LOCKED) from error


def _open_second(data: bytes) -> SecondReader | None:
    try:
        return SecondReader(data)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
        if locked and _ENCRYPT.search(data):
            raise Unreadable(Outcome.ENCRYPTED, _LOCKED) from error
        return None
