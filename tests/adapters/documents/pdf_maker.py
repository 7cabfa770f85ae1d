"""Small PDF files for tests, written byte by byte."""

import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pypdf import PdfReader

FONTS = {
    "F1": "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    "F2": "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
    "F3": "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
}
WORDS = "the quick brown fox jumps over the lazy dog while seven wizards mix a potion of jade"


@dataclass
class Pdf:
    """A file in the making: add pages and objects, then take its bytes."""

    catalog: str = ""
    info: str = ""
    fonts: dict[str, str] = field(default_factory=lambda: dict(FONTS))
    objects: list[bytes] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)

    def add(self, body: str | bytes) -> int:
        """Add an object; return its number. The first four are the file's own."""
        self.objects.append(body if isinstance(body, bytes) else body.encode("latin-1"))
        return len(self.objects) + 4

    def stream(self, data: str | bytes, entries: str = "", *, packed: bool = False) -> int:
        """Add a stream; return its number."""
        raw = data if isinstance(data, bytes) else data.encode("latin-1")
        if packed:
            raw, entries = zlib.compress(raw), f"{entries} /Filter /FlateDecode"
        return self.add(
            f"<< {entries} /Length {len(raw)} >>\nstream\n".encode("latin-1") + raw + b"\nendstream"
        )

    def page(self, content: str | bytes, *, extra: str = "", xobjects: str = "") -> int:
        """Add a page of 612 by 792 points that shows `content`; return its number."""
        drawn = self.stream(content)
        self.pages.append(
            self.add(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {drawn} 0 R "
                f"/Resources << /Font 3 0 R /XObject << {xobjects} >> >> {extra} >>"
            )
        )
        return self.pages[-1]

    def picture(self) -> int:
        """Add a grey picture of 8 by 8 points; return its number."""
        return self.stream(
            bytes([180] * 64),
            "/Type /XObject /Subtype /Image /Width 8 /Height 8 /BitsPerComponent 8 "
            "/ColorSpace /DeviceGray",
        )

    def data(self, *, pages: str = "") -> bytes:
        """Return the file. `pages` replaces the dictionary of the page tree."""
        kids = " ".join(f"{number} 0 R" for number in self.pages)
        fonts = " ".join(f"/{name} {body}" for name, body in self.fonts.items())
        own = [
            f"<< /Type /Catalog /Pages 2 0 R {self.catalog} >>",
            pages or f"<< /Type /Pages /Kids [{kids}] /Count {len(self.pages)} >>",
            f"<< {fonts} >>",
            f"<< {self.info} >>",
        ]
        out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
        offsets = []
        for number, body in enumerate([*(o.encode("latin-1") for o in own), *self.objects], 1):
            offsets.append(len(out))
            out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        start = len(out)
        out += f"xref\n0 {len(offsets) + 1}\n0000000000 65535 f \n".encode()
        out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
        out += f"trailer << /Size {len(offsets) + 1} /Root 1 0 R /Info 4 0 R >>\n".encode()
        return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())


def show(text: str, x: float, y: float, *, size: float = 10, font: str = "F1") -> str:
    """Return what draws `text` (Latin-1) at a place."""
    held = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({held}) Tj ET\n"


def column(lines: Sequence[str], *, x: float = 72, top: float = 700, size: float = 10) -> str:
    """Return what draws `lines` one below the other."""
    return "".join(show(line, x, top - 12 * at, size=size) for at, line in enumerate(lines))


def prose(count: int, *, start: int = 0) -> list[str]:
    """Return different lines of words, each about 70 characters."""
    words = WORDS.split()
    return [
        " ".join(f"{words[(number * 5 + at) % len(words)]}{number}" for at in range(9))
        for number in range(start, start + count)
    ]


def simple(*contents: str, info: Mapping[str, str] | None = None) -> bytes:
    """Return a file with a page for each of `contents`."""
    pdf = Pdf(info=" ".join(f"/{key} ({value})" for key, value in (info or {}).items()))
    for content in contents:
        pdf.page(content)
    return pdf.data()


def with_object_stream(data: bytes) -> bytes:
    """Return a file whose dictionaries lie packed in one stream, and its table in another."""
    reader = PdfReader(io.BytesIO(data))
    bodies: dict[int, bytes] = {}
    for number in sorted(reader.xref[0]):
        body, found = io.BytesIO(), reader.get_object(number)
        assert found is not None
        found.write_to_stream(body)
        bodies[number] = body.getvalue()
    streams = {number: body for number, body in bodies.items() if b"\nstream" in body}
    plain = {number: body for number, body in bodies.items() if number not in streams}
    holder = max(bodies) + 1
    entries = {0: bytes(6)}
    places, inside = [], b""
    for at, (number, body_) in enumerate(plain.items()):
        entries[number] = bytes([2]) + holder.to_bytes(3, "big") + at.to_bytes(2, "big")
        places.append(f"{number} {len(inside)}")
        inside += body_ + b" "
    head = " ".join(places).encode() + b" "
    maker = Pdf()
    maker.stream(head + inside, f"/Type /ObjStm /N {len(plain)} /First {len(head)}", packed=True)
    streams[holder] = maker.objects[0]
    out = bytearray(b"%PDF-1.7\n")
    for number, body_ in streams.items():
        entries[number] = bytes([1]) + len(out).to_bytes(3, "big") + bytes(2)
        out += f"{number} 0 obj\n".encode() + body_ + b"\nendobj\n"
    entries[holder + 1] = bytes([1]) + len(out).to_bytes(3, "big") + bytes(2)
    table = b"".join(entries[number] for number in range(holder + 2))
    start = len(out)
    out += (
        f"{holder + 1} 0 obj\n<< /Type /XRef /W [1 3 2] /Size {holder + 2} /Root 1 0 R "
        f"/Length {len(table)} >>\nstream\n"
    ).encode()
    out += table + b"\nendstream\nendobj\n"
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())
