"""A converter that lets docling read first, and the built-in readers whatever it cannot."""

import os
from dataclasses import replace
from pathlib import Path

from adapters.documents.docling_reader import FUNCTION, is_installed, target_of
from adapters.documents.port import Converter
from adapters.documents.sandboxed import Limits, SandboxedConverter
from state.values.blocks import Conversion, Outcome

_MIB = 1024 * 1024

DOCLING_LIMITS = Limits(wall_s=300.0, cpu_s=1_200, memory_bytes=12 * 1024 * _MIB)
"""What one conversion by docling may use.

Its models need about 2 GiB of memory and several times as many addresses, which is what the kernel
counts; they work on several processors at once, so that seconds of these are more than those on the
wall.
"""

# Where people say that models are, and where they are by default, below the home folder.
_PLACES = ("DOCLING_ARTIFACTS_PATH", "DOCLING_CACHE_DIR", "HF_HOME", "HF_HUB_CACHE")
_USUAL = (".cache/docling", ".cache/huggingface")
_PASSED_ON = (*_PLACES, "HOME", "OMP_NUM_THREADS", "DOCLING_NUM_THREADS")
# What libraries for computing ask for on the machine; without it they count one processor.
_MACHINE = ("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu")


def prefer_docling(inner: Converter) -> Converter:
    """Return a converter that prefers docling where it is installed, else `inner` itself.

    Its one child process may read the places of its models, and is told of them as this one is.
    """
    if not is_installed():
        return inner
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    named = [environment[name] for name in _PLACES if name in environment]
    usual = [str(Path.home() / place) for place in _USUAL]
    docling = SandboxedConverter(
        pool=1,
        limits=DOCLING_LIMITS,
        function=FUNCTION,
        environment=environment,
        readable=(*named, *usual, *_MACHINE),
    )
    return PreferringConverter(inner, docling)


class PreferringConverter:
    """A `Converter` that asks `docling` for PDF, slides and spreadsheets, and else `inner`.

    What docling cannot read, for whatever reason, `inner` reads, and the document says so. When
    docling cannot work at all, for want of its models say, it is not asked again.
    """

    def __init__(self, inner: Converter, docling: Converter) -> None:
        self._inner = inner
        self._docling = docling
        self._unusable = ""

    async def convert(self, data: bytes, *, name: str, media_type: str = "") -> Conversion:
        """Return how reading `data` ended."""
        if target_of(data, name=name, media_type=media_type) is None:
            return await self._inner.convert(data, name=name, media_type=media_type)
        why = self._unusable
        if not why:
            made = await self._docling.convert(data, name=name, media_type=media_type)
            if made.outcome.is_readable:
                return made
            why = made.reason
            if made.outcome is Outcome.UNSUPPORTED:
                self._unusable = why
        made = await self._inner.convert(data, name=name, media_type=media_type)
        return _remarked(made, why)

    async def aclose(self) -> None:
        """End the child processes of both."""
        await self._docling.aclose()
        await self._inner.aclose()


def _remarked(made: Conversion, why: str) -> Conversion:
    if made.document is None:
        return replace(made, reason=f"{made.reason} Docling was asked first: {why}".strip())
    said = f"read by the built-in reader, since docling did not: {why}"
    document = replace(made.document, warnings=(*made.document.warnings, said))
    return replace(made, document=document)
