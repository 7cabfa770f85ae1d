"""Papers in Markdown as PDF files: headings in bold, formulas in the middle, tables as rows."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.adapters.documents.pdf_maker import Pdf, show

PAPERS = Path(__file__).parent / "papers"
_TOP, _BOTTOM, _LEFT = 730, 60, 72
_WIDTH = 92  # characters of Helvetica in 10 points, about
_SIZES = {1: 17.0, 2: 13.0, 3: 11.0}
_TEX = {
    r"\beta": "beta", r"\qquad": "   ", r"\sum": "sum", "{t=1}^{n-1}": " t=1..n-1 of ",
    "{t-1}": "t-1", "{t+1}": "t+1",
}  # fmt: skip
_FRACTION = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")


@dataclass(frozen=True)
class _Line:
    """What stands on one line: texts by where they begin."""

    texts: dict[float, str]
    size: float = 10.0
    font: str = "F1"
    before: float = 0.0


def print_pdf(markdown: str) -> bytes:
    """Return `markdown` (Latin-1, headings, paragraphs, tables and `$$` formulas) as a PDF file."""
    pdf = Pdf()
    content, y = "", float(_TOP)
    for line in _lines(markdown):
        y -= line.before + 1.25 * line.size
        if y < _BOTTOM:
            pdf.page(content)
            content, y = "", _TOP - 1.25 * line.size
        for x, text in line.texts.items():
            content += show(text, x, y, size=line.size, font=line.font)
    pdf.page(content)
    return pdf.data()


def _lines(markdown: str) -> Iterator[_Line]:
    for block in re.split(r"\n{2,}", markdown.strip()):
        if heading := re.match(r"(#+) (.+)", block):
            yield _Line({_LEFT: heading[2]}, size=_SIZES[len(heading[1])], font="F2", before=12)
        elif block.startswith("$$"):
            yield _Line({_LEFT + 90: _formula(block.strip("$"))}, before=8)
        elif block.startswith("|"):
            rows = [row for row in block.splitlines() if not set(row) <= set("|- ")]
            for at, row in enumerate(rows):
                cells = [cell.strip() for cell in row.strip("|").split("|")]
                step = 380 / len(cells)
                places = {_LEFT + 10 + step * column: cell for column, cell in enumerate(cells)}
                yield _Line(places, before=6 if at == 0 else 0)
        else:
            for at, text in enumerate(textwrap.wrap(block, _WIDTH)):
                yield _Line({_LEFT: text}, before=6 if at == 0 else 0)


def _formula(tex: str) -> str:
    text = _FRACTION.sub(r"(\1) / (\2)", tex)
    for mark, plain in _TEX.items():
        text = text.replace(mark, plain)
    return " ".join(text.replace("{", "(").replace("}", ")").split())
