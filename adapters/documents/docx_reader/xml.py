"""Parses the XML of Word's parts: bounded, no DTD, no entity, no network, one set of names."""

import re

from lxml import etree

from adapters.documents.reading import Unreadable
from state.values.blocks import Outcome

MAX_ELEMENTS = 2_500_000
"""The most elements and attributes in one part, since each takes about 100 bytes of memory."""

W_NS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
M_NS = "http://schemas.openxmlformats.org/officeDocument/2006/math"
R_NS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MC_NS = "http://schemas.openxmlformats.org/markup-compatibility/2006"
A_NS = "http://schemas.openxmlformats.org/drawingml/2006/main"
V_NS = "urn:schemas-microsoft-com:vml"

_UTF16 = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"<\0", "utf-16-le"))
_BOM = b"\xef\xbb\xbf"
_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)""")
# Encodings in which `<` is always the byte 0x3C, so that a DOCTYPE cannot hide.
_LEGACY = re.compile(r"(?:iso-8859-1|latin-?1|windows-125[0-8]|cp125[0-8])\Z", re.IGNORECASE)
_DOCTYPE = re.compile(rb"(?>\s+|<\?(?>.*?\?>)|<!--(?>.*?-->))*+<!DOCTYPE", re.DOTALL)
_STRICT = b"http://purl.oclc.org/ooxml/"
_TAG_WITH_STRICT = re.compile(rb"<[^<>]*http://purl\.oclc\.org/ooxml/[^<>]*")
_STRICT_NAME = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_TRANSITIONAL_NAME = rb"http://schemas.openxmlformats.org/\1/2006/"
_RESOURCE_LIMIT = 114  # XML_ERR_RESOURCE_LIMIT of libxml2: depth, and lengths of values


class Forbidden(Unreadable):
    """What no Word file holds and an attack may: the whole file is refused, not only the part."""


def w(name: str) -> str:
    """Return `name` in the namespace of WordprocessingML, as lxml spells it."""
    return f"{{{W_NS}}}{name}"


def m(name: str) -> str:
    """Return `name` in the namespace of Office's mathematics, as lxml spells it."""
    return f"{{{M_NS}}}{name}"


def parse_xml(data: bytes, part: str) -> etree._Element:
    """Return the root of the XML in `data`; names of strict OOXML become the transitional ones.

    UTF-8, UTF-16 and single-byte encodings are read; comments and instructions are left out. At
    most 256 levels, as libxml2 limits them. Raises `Unreadable`, with the name of the `part`.
    """
    text = _in_utf8(data, part)
    if _DOCTYPE.match(text):
        raise Forbidden(
            Outcome.MALFORMED, f"The part {part} has a document type, which Word files never have."
        )
    if text.count(b"<") // 2 + text.count(b'="') > MAX_ELEMENTS:
        raise Unreadable(
            Outcome.LIMIT,
            f"The part {part} holds more than {MAX_ELEMENTS:,} elements.",
        )
    if _STRICT in text:
        text = _TAG_WITH_STRICT.sub(lambda tag: _STRICT_NAME.sub(_TRANSITIONAL_NAME, tag[0]), text)
    return _parse(text, part)


def _in_utf8(data: bytes, part: str) -> bytes:
    encoding = next((name for mark, name in _UTF16 if data.startswith(mark)), "")
    if data.startswith(b"\0<"):
        encoding = "utf-16-be"
    if not encoding:
        data = data.removeprefix(_BOM)
        declared = _DECLARED.match(data[:200])
        name = declared[1].decode("ascii", "replace") if declared else ""
        encoding = name if _LEGACY.match(name) else ""
    if not encoding:
        return data
    try:
        return data.decode(encoding).encode()
    except UnicodeError as error:
        raise Unreadable(
            Outcome.MALFORMED, f"The part {part} is not the {encoding} that it says to be."
        ) from error


def _parse(text: bytes, part: str) -> etree._Element:
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        if error.code == _RESOURCE_LIMIT:
            raise Unreadable(
                Outcome.LIMIT,
                f"The part {part} is nested deeper than 256 levels, or holds a value that is too "
                "long.",
            ) from error
        raise Unreadable(
            Outcome.MALFORMED, f"The part {part} is not well-formed XML ({error.msg})."[:300]
        ) from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise Forbidden(
            Outcome.MALFORMED, f"The part {part} has a document type, which Word files never have."
        )
    return root
