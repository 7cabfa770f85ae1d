"""Opens the ZIP package of a Word file: measured before it is unpacked, and while it is."""

import posixpath
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from urllib.parse import unquote

from lxml import etree

from adapters.documents.docx_reader.xml import Forbidden, parse_xml
from adapters.documents.reading import Unreadable
from state.values.blocks import Outcome

MAX_MEMBERS = 10_000
MAX_DECLARED = 1_000_000_000
MAX_PART = 64_000_000
MAX_UNPACKED = 128_000_000
MAX_RATIO = 300
"""How many times its packed size a part above `_SMALL` may be; Word's own reach about 60."""

_SMALL = 8_000_000
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//|\\\\")


@dataclass(frozen=True, slots=True)
class Relation:
    """A link from one part to another, or to the outside.

    `kind` is the last word of its type, such as `image`; `target` is a part's name, or an address.
    """

    id: str
    kind: str
    target: str
    is_external: bool


class Package:
    """The parts of a file. Nothing is ever written, and only what is asked for is unpacked.

    Raises `Unreadable` when the file is no ZIP, is encrypted, or would unpack to too much.
    """

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            raise Unreadable(
                Outcome.ENCRYPTED, "The file is encrypted with a password; save a copy without one."
            )
        self._data = data
        self._room = MAX_UNPACKED
        self._members: dict[str, list[zipfile.ZipInfo]] = {}
        self._relations: dict[str, list[Relation]] = {}
        members = _directory(data)
        _check_sizes(members)
        self._check_places(members)
        for member in members:
            self._members.setdefault(_key(member.filename), []).append(member)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all parts, in lower case."""
        return tuple(self._members)

    def has(self, name: str) -> bool:
        """Tell whether there is a part of this name."""
        return _key(name) in self._members

    def part(self, name: str) -> bytes | None:
        """Return the bytes of one part, or None when there is none; names ignore case."""
        found = self._members.get(_key(name))
        if not found:
            return None
        if len(found) > 1:
            raise Forbidden(Outcome.MALFORMED, f"The file holds {len(found)} parts named {name}.")
        return self._unpack(found[0])

    def relations(self, part: str) -> list[Relation]:
        """Return the links of `part` ('' for those of the package), in order."""
        if part not in self._relations:
            self._relations[part] = self._read_relations(part)
        return self._relations[part]

    def target(self, part: str, kind: str) -> str | None:
        """Return the name of the first part that `part` links to as `kind`, or None."""
        for relation in self.relations(part):
            if relation.kind == kind and not relation.is_external:
                return relation.target
        return None

    def _read_relations(self, part: str) -> list[Relation]:
        folder, name = posixpath.split(part)
        path = posixpath.join(folder, "_rels", f"{name}.rels")
        data = self.part(path)
        if data is None:
            return []
        found = []
        for element in parse_xml(data, path).iter(_RELATION):
            relation = _relation(element, folder)
            if relation:
                found.append(relation)
        return found

    def _check_places(self, members: list[zipfile.ZipInfo]) -> None:
        places = sorted((member.header_offset, self._end(member)) for member in members)
        for (_, end), (start, _) in pairwise(places):
            if end > start:
                raise Unreadable(
                    Outcome.MALFORMED, "Parts of the file overlap each other, as in a ZIP bomb."
                )

    def _start(self, member: zipfile.ZipInfo) -> int:
        """Return where the packed bytes begin, from the header before them."""
        at = member.header_offset
        header = self._data[at : at + 30] if at >= 0 else b""
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            raise Unreadable(Outcome.MALFORMED, "The file is damaged: a part is not in its place.")
        name, extra = struct.unpack_from("<HH", header, 26)
        return at + 30 + int(name) + int(extra)

    def _end(self, member: zipfile.ZipInfo) -> int:
        end = self._start(member) + member.compress_size
        if end > len(self._data):
            raise Unreadable(Outcome.MALFORMED, "The file is cut off.")
        return end

    def _unpack(self, member: zipfile.ZipInfo) -> bytes:
        name = member.filename[:100]
        if member.flag_bits & 0x1:
            raise Forbidden(
                Outcome.ENCRYPTED, f"The part {name} is encrypted; save a copy without a password."
            )
        room = min(MAX_PART, self._room)
        if member.file_size > room:
            raise _too_large(name, member.file_size, room)
        packed = memoryview(self._data)[self._start(member) : self._end(member)]
        if member.compress_type == zipfile.ZIP_STORED:
            content = bytes(packed)
        elif member.compress_type == zipfile.ZIP_DEFLATED:
            content = _inflate(packed, name, room)
        else:
            raise Unreadable(
                Outcome.MALFORMED, f"The part {name} is packed in a way that Word does not use."
            )
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise Unreadable(
                Outcome.MALFORMED, f"The part {name} is damaged: it is not what was packed."
            )
        self._room -= len(content)
        return content


def _directory(data: bytes) -> list[zipfile.ZipInfo]:
    # Counted by its mark, since the number that a directory states may be a lie.
    if data.count(b"PK\x01\x02") > MAX_MEMBERS:
        raise Unreadable(
            Outcome.LIMIT,
            f"The file holds more than {MAX_MEMBERS:,} parts, which is the most read.",
        )
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as error:
        raise Unreadable(
            Outcome.MALFORMED, f"The file is damaged or cut off ({error})."[:300]
        ) from error


def _check_sizes(members: list[zipfile.ZipInfo]) -> None:
    declared = sum(member.file_size for member in members)
    if declared > MAX_DECLARED:
        raise Unreadable(
            Outcome.LIMIT,
            f"The file would unpack to {declared:,} bytes; at most {MAX_DECLARED:,} are accepted.",
        )
    for member in members:
        too_dense = member.file_size > MAX_RATIO * max(member.compress_size, 1)
        if too_dense and member.file_size > _SMALL:
            raise Unreadable(
                Outcome.LIMIT,
                f"The part {member.filename[:100]} unpacks to {member.file_size:,} bytes, more "
                f"than {MAX_RATIO} times its size in the file, as in a ZIP bomb.",
            )


def _inflate(packed: memoryview, name: str, room: int) -> bytes:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = unpacker.decompress(packed, room + 1)
    except zlib.error as error:
        raise Unreadable(Outcome.MALFORMED, f"The part {name} is damaged ({error}).") from error
    if len(content) > room:
        raise _too_large(name, len(content), room)
    if not unpacker.eof:
        raise Unreadable(Outcome.MALFORMED, f"The part {name} is cut off.")
    return content


def _too_large(name: str, size: int, room: int) -> Unreadable:
    return Unreadable(
        Outcome.LIMIT, f"The part {name} unpacks to {size:,} bytes or more; {room:,} are accepted."
    )


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()


def _relation(element: etree._Element, folder: str) -> Relation | None:
    kind = element.get("Type", "").rstrip("/").rpartition("/")[2]
    target = element.get("Target", "").strip()
    is_external = element.get("TargetMode", "").casefold() == "external"
    if not target:
        return None
    if is_external or _SCHEME.match(target):
        return Relation(element.get("Id", ""), kind, target, is_external=True)
    path = posixpath.normpath(posixpath.join("/", folder, unquote(target)))
    return Relation(element.get("Id", ""), kind, path.lstrip("/"), is_external=False)
