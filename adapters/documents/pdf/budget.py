"""How much work one file may cause, counted so that the same file always gets equally far."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from pypdf import apply_configuration

MAX_PAGES = 3_000
MAX_PAGE_BYTES = 6_000_000
MAX_BYTES = 48_000_000
MAX_OPERATORS = 2_500_000
_MAX_TOKENS_OF_STREAM = 600_000
_MAX_STREAM = 16_000_000
_MAX_FORMS_OF_PAGE = 5_000
_OPERATORS_BETWEEN_LOOKS = 1024
_PARSING_S = 0.7e-6  # for each byte, about


class Spent(Exception):
    """The work that one file may cause is done; the message says which part."""


class PageTooLarge(Exception):
    """One page is more than is read; the message says why. Other pages may be read."""


class Budget:
    """Counts the bytes and operators of content that were read.

    The seconds, of work and of waiting for it, are a last resort, for files and machines where
    what is counted takes too long; blocks are still to be made after that.
    """

    def __init__(self, *, cpu_s: float = 9.0, wall_s: float = 10.0) -> None:
        self._cpu_start, self._wall_start = time.process_time(), time.monotonic()
        self._cpu_s, self._wall_s = cpu_s, wall_s
        self._operators = 0
        self._bytes = 0
        self._spent: Spent | None = None

    def add_bytes(self, count: int) -> None:
        """Count decoded content that is to be parsed; raises `PageTooLarge` or `Spent`."""
        if count > MAX_PAGE_BYTES:
            raise PageTooLarge(f"more than {MAX_PAGE_BYTES:,} bytes of drawing")
        self._bytes += count
        if self._bytes > MAX_BYTES:
            raise Spent(f"more than {MAX_BYTES:,} bytes of drawing")
        self.check_time(beyond=count * _PARSING_S)

    def add_operator(self) -> None:
        """Count one operator; raises `Spent`, from then on each time."""
        self._operators += 1
        if self._spent is not None:
            raise self._spent
        if self._operators > MAX_OPERATORS:
            self._spent = Spent(f"more than {MAX_OPERATORS:,} drawing operators")
            raise self._spent
        if self._operators % _OPERATORS_BETWEEN_LOOKS == 0:
            try:
                self.check_time()
            except Spent as error:
                self._spent = error
                raise

    def check_time(self, *, beyond: float = 0.0) -> None:
        """Raise `Spent` when time is up, or would be after `beyond` seconds of work."""
        cpu = time.process_time() - self._cpu_start
        wall = time.monotonic() - self._wall_start
        slowness = max(1.0, wall / max(cpu, 0.1))
        if cpu + beyond > self._cpu_s or wall + beyond * slowness > self._wall_s:
            raise Spent("the time allowed for one file")


@contextmanager
def bounded_parsing() -> Iterator[None]:
    """Have pypdf give up on streams that unpack to more than is read, and start no program."""
    with apply_configuration(
        array_based_stream_maximum_output_length=_MAX_STREAM,
        zlib_maximum_output_length=_MAX_STREAM,
        lzw_maximum_output_length=_MAX_STREAM,
        run_length_maximum_output_length=_MAX_STREAM,
        brotli_maximum_output_length=_MAX_STREAM,
        zlib_maximum_recovery_input_length=1_000_000,
        stream_decoding_work_maximum_length=4 * _MAX_STREAM,
        stream_parsing_work_maximum_count=_MAX_TOKENS_OF_STREAM,
        xform_maximum_invocations_per_extraction=_MAX_FORMS_OF_PAGE,
        jbig2dec_binary=None,
    ):
        yield
