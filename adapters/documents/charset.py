"""How bytes become characters: byte order marks, declarations, UTF-8, and detection last."""

import codecs
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from adapters.documents.detection import guess, shifting_charset

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_SAMPLE = 64 * 1024
# What browsers read under these names (WHATWG Encoding §4.2).
_BROWSER_NAMES = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]|\x1b")
_ASCII_AND_ZEROS = re.compile(rb"[\0\t\r\n\f\x20-\x7f]*")
_BEFORE = 500
_CHARSET_PARAMETER = re.compile(r"""charset\s*=\s*["']?\s*([\w.:+-]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the charset it was read as, and how many characters could not be read (U+FFFD)."""

    text: str
    charset: str
    replaced: int = 0

    @property
    def lost(self) -> str:
        """Return what was lost in words, or ''."""
        if not self.replaced:
            return ""
        many = "1 character" if self.replaced == 1 else f"{self.replaced} characters"
        return (
            f"{many} could not be read as {self.charset} and are shown as \N{REPLACEMENT CHARACTER}"
        )


def charset_parameter(media_type: str) -> str:
    """Return the charset that a media type such as `text/html; charset=…` names, or ''."""
    found = _CHARSET_PARAMETER.search(media_type)
    return found[1] if found else ""


def is_utf16(data: bytes) -> bool:
    """Tell whether `data` is UTF-16 or UTF-32, by its mark or by the zeros between its letters."""
    return data.startswith(_WIDE_MARKS) or bool(_utf16_without_bom(data))


def decode(data: bytes, *, declared: str = "") -> Decoded:
    """Return `data` as text. Any bytes can be decoded; what cannot be read is replaced and counted.

    A byte order mark wins, then valid UTF-8, then `declared`, then detection. NUL characters count
    as unreadable. The byte order mark is not part of the text.
    """
    for bom, charset in _BOMS:
        if data.startswith(bom):
            return _finish(data[len(bom) :], charset)
    if charset := _utf16_without_bom(data):
        return _finish(data, charset)
    known = _known(declared)
    if known.startswith("iso2022") and (decoded := _strict(data, known)):
        return decoded
    if shifted := shifting_charset(data):
        return _finish(data, shifted)
    if decoded := _strict(data, "utf-8"):
        return decoded
    if known and known != "utf-8" and (decoded := _strict(data, known)):
        return decoded
    return _detect(data, known)


def _known(name: str) -> str:
    try:
        charset = codecs.lookup(name.strip() or "?").name
        "".encode(charset)  # refuses codecs that are not between bytes and text
    except (LookupError, ValueError):
        return ""
    if charset == "utf-7":  # lets markup hide from every other reader
        return ""
    return _BROWSER_NAMES.get(charset, charset)


def _strict(data: bytes, charset: str) -> Decoded | None:
    try:
        return _finish(data, charset, errors="strict")
    except UnicodeError:
        return None


def _finish(data: bytes, charset: str, *, errors: str = "replace") -> Decoded:
    text = data.decode(charset, errors)
    before = 0 if errors == "strict" else text.count("\N{REPLACEMENT CHARACTER}")
    nuls = text.count("\0")
    return Decoded(text.replace("\0", "\N{REPLACEMENT CHARACTER}"), charset, before + nuls)


def _utf16_without_bom(data: bytes) -> str:
    """Return the order of bytes when zeros stand where UTF-16 has them, or ''.

    Where there are few, as in Chinese, the text must be writing in that order.
    """
    sample = data[: 4096 & ~1]
    if len(sample) < 8 or len(data) % 2 or not sample.count(0):
        return ""
    zeros = {"utf-16-le": sample[1::2].count(0), "utf-16-be": sample[::2].count(0)}
    most, least = sorted(zeros, key=zeros.__getitem__, reverse=True)
    pairs = len(sample) // 2
    if zeros[most] > 0.4 * pairs and zeros[least] < 0.05 * pairs:
        return most
    if _ASCII_AND_ZEROS.fullmatch(sample):
        return ""
    return next((order for order in (most, least) if _is_writing(sample, order)), "")


def _is_writing(sample: bytes, charset: str) -> bool:
    """Tell whether `sample` is letters, marks and spaces, with no character that is none."""
    try:
        text = codecs.getincrementaldecoder(charset)().decode(sample)
    except UnicodeError:
        return False
    kinds = Counter(unicodedata.category(each)[0] for each in text if each not in "\t\r\n\f")
    return not kinds["C"] and kinds["L"] > len(text) // 2


def _detect(data: bytes, declared: str) -> Decoded:
    as_utf8 = _finish(data, "utf-8")
    multibyte = sum(1 for char in as_utf8.text[:_SAMPLE] if ord(char) > 0x7F) - min(
        as_utf8.replaced, as_utf8.text[:_SAMPLE].count("\N{REPLACEMENT CHARACTER}")
    )
    tolerated = multibyte if declared == "utf-8" else multibyte // 3
    if 0 < as_utf8.replaced <= tolerated:  # UTF-8 with a few damaged or foreign bytes
        return as_utf8
    if declared and declared != "utf-8":
        return _finish(data, declared)
    return _finish(data, _guess(data))


def _guess(data: bytes) -> str:
    first = next(_BEYOND_ASCII.finditer(data), None)
    start = max(0, first.start() - _BEFORE) if first else 0
    sample = data[start : start + _SAMPLE]
    if charset := guess(sample):
        return charset
    # Slow to import and seldom needed: for what none of the usual charsets makes sense of.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    match = from_bytes(sample).best()
    return _known(match.encoding) or "cp1252" if match else "cp1252"
