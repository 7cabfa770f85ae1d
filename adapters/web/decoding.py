"""Undoing gzip and deflate without ever holding more than was asked for."""

import zlib
from collections.abc import Iterator

from adapters.web.errors import BodyLimit, EncodingDenied, NoAnswer

ACCEPT_ENCODING = "gzip, deflate"
_PIECE = 64 * 1024
_MOST_MEMBERS = 1_000
_GZIP = zlib.MAX_WBITS | 16
_ZLIB = zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS


def make_decoder(content_encoding: str, *, host: str, max_bytes: int) -> "Decoder":
    """Return the decoder for a Content-Encoding header; raises `EncodingDenied` for others."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if not names:
        return Decoder(host, max_bytes)
    if names in (["gzip"], ["x-gzip"]):
        return Decoder(host, max_bytes, _GZIP)
    if names == ["deflate"]:
        return Decoder(host, max_bytes, _ZLIB)
    raise EncodingDenied(
        f"{host} sent a body encoded as {content_encoding[:60]!r}, though only {ACCEPT_ENCODING} "
        "was asked for; it is not read."
    )


class Decoder:
    """Decodes one body, piece by piece; more than `max_bytes` raise `BodyLimit`.

    `window` is zlib's `wbits`; 0 passes the bytes on. A body that ends too early, goes on after
    its end, or is damaged raises `NoAnswer`: half a text must not pass for the whole.
    """

    def __init__(self, host: str, max_bytes: int, window: int = 0) -> None:
        self._host = host
        self._max_bytes = max_bytes
        self._left = max_bytes
        self._window = window
        self._stream = zlib.decompressobj(window) if window else None
        self._members = 0
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` decodes to, in pieces of at most 64 KiB when it is compressed."""
        if self._stream is None:
            yield self._counted(data)
            return
        if data and not self._begun:
            self._begin(data)
        while data:
            if self._stream.eof:
                data = self._next_member(data)
                continue
            yield self._counted(self._decompress(data))
            data = self._stream.unconsumed_tail or self._stream.unused_data

    def finish(self) -> Iterator[bytes]:
        """Yield what is left at the end of the body."""
        if self._stream is None or not self._begun:
            return
        while not self._stream.eof and (piece := self._decompress(b"")):
            yield self._counted(piece)
        if not self._stream.eof:
            raise NoAnswer(f"{self._host} sent a compressed body that is cut off.", again=True)

    def _begin(self, data: bytes) -> None:
        self._begun = True
        # "deflate" is zlib's format (RFC 9110 §8.4.1.2), and from some servers bare deflate.
        if self._window == _ZLIB and (data[0] & 0x0F != 8 or data[0] >> 4 > 7):
            self._stream = zlib.decompressobj(_RAW)

    def _decompress(self, data: bytes) -> bytes:
        assert self._stream is not None  # noqa: S101 - callers have looked
        try:
            return self._stream.decompress(data, _PIECE)
        except zlib.error as error:
            raise NoAnswer(f"{self._host} sent a damaged compressed body ({error}).") from error

    def _next_member(self, data: bytes) -> bytes:
        if self._window == _GZIP:
            data = data.lstrip(b"\0")  # padding, which gzip allows
            if data.startswith(b"\x1f"):
                self._members += 1
                if self._members < _MOST_MEMBERS:
                    self._stream = zlib.decompressobj(_GZIP)
                    return data
        if data:
            raise NoAnswer(f"{self._host} sent a compressed body with something after its end.")
        return data

    def _counted(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise body_limit(self._host, self._max_bytes)
        return piece


def body_limit(host: str, max_bytes: int) -> BodyLimit:
    """Return the error for an answer of more than `max_bytes`."""
    return BodyLimit(f"{host} sent more than {max_bytes:,} bytes; it is not read.")
