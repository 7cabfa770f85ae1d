"""PDF conversion: what two readers, blocks and checks cost over pypdf's text alone."""

import io
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import DependencyError, DeprecationError, PyPdfError

from adapters.documents.pdf.first import silenced
from adapters.documents.pdf.read import read_pdf
from adapters.documents.reading import Unreadable
from tests.bench.measuring import ROOT, Row

TIMES = 3
MOST_RATIO = 1.5


def measure(folder: Path) -> Iterator[Row]:
    """Yield processor seconds for all readable PDF files of the shared data, one after another."""
    files = readable(Path(os.environ.get("ASSAY_SHARED") or ROOT.parent / "shared") / "files")
    if not files:
        return
    own = sum(_best(read_pdf, data) for data in files)
    bare = sum(_best(bare_text, data) for data in files)
    what = f"PDF, {len(files)} files, processor time"
    yield Row(what, own, bare, "pypdf's extract_text", most_ratio=MOST_RATIO)


def readable(folder: Path) -> list[bytes]:
    """Return the PDF files below `folder` that both ways can read."""
    found = []
    for path in sorted(folder.glob("p*/*.pdf")):
        data = path.read_bytes()
        with suppress(Unreadable, PyPdfError, DependencyError, DeprecationError), silenced():
            read_pdf(data)
            bare_text(data)
            found.append(data)
    return found


def bare_text(data: bytes) -> str:
    """Return what pypdf alone makes of a file."""
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)


def _best(read: Callable[[bytes], object], data: bytes) -> float:
    """Return the least processor time of some repetitions."""
    seconds = []
    with silenced():
        for _ in range(TIMES):
            began = time.process_time()
            read(data)
            seconds.append(time.process_time() - began)
    return min(seconds)
