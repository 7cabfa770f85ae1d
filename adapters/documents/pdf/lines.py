"""Lines of a page as a reader of PDF gives them: characters, where they stand and how they look."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

_BOLD = re.compile(
    r"bold|black|heavy|semib|demi|medi(?!um)|cmbx|cmssbx|sfbx|ecbx|-b\b|\bbd\b", re.IGNORECASE
)
_MONO = re.compile(
    r"cour|mono|consol|typewriter|cmtt|sftt|ectt|menlo|inconsolata|nimbusmon|fixed|andale|lettergo"
    r"|cmsltt|txtt",
    re.IGNORECASE,
)
_MATH = re.compile(
    r"cmmi|cmsy|cmex|msam|msbm|math|symbol|rsfs|eufm|mtsy|mtmi|stix.*ital", re.IGNORECASE
)
# What stands for a bullet whose name no list of glyphs knows.
_NAMED_BULLET = re.compile(r"\A/[A-Za-z]{1,3}\d{3,6}\s+(?=\S)")
_SHADOWS = 4
_LONG_ROWS = 1.5  # how much more they count: turned labels of a figure are many, and short
_GUESSED = 0.4
_SUBSET = re.compile(r"^/?[A-Z]{6}\+")


@dataclass(frozen=True, slots=True)
class Style:
    """How a font looks, as far as its name and flags tell."""

    bold: bool = False
    mono: bool = False
    math: bool = False


PLAIN = Style()


def style_of(name: str, *, fixed_pitch: bool = False, weight: float = 0) -> Style:
    """Return the style of a font by its name, such as `ABCDEF+NimbusRomNo9L-Medi`."""
    name = _SUBSET.sub("", name)
    return Style(
        bold=weight >= 600 or _BOLD.search(name) is not None,
        mono=fixed_pitch or _MONO.search(name) is not None,
        math=_MATH.search(name) is not None,
    )


@dataclass(frozen=True, slots=True)
class Run:
    """Characters in one font. `x` and `y` are where they begin; `angle` is 0, 90, 180 or 270."""

    text: str
    x: float
    y: float
    size: float
    style: Style = PLAIN
    angle: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page (from 1): where it begins, x to the right and y up as its reader sees it.

    `size` is the largest that many of its characters have, `math` the share of those in formulas.
    `cells` counts what a row of a table is made of; `aside` is text that runs across the page's;
    `hidden` says why no reader sees the line, or is ''. `head` and `tail` are the sizes it begins
    and ends in.
    """

    text: str
    page: int
    x: float
    y: float
    size: float
    bold: bool = False
    mono: bool = False
    math: float = 0.0
    cells: int = 1
    aside: bool = False
    hidden: str = ""
    head: float = 0.0
    tail: float = 0.0

    @property
    def letters(self) -> int:
        """Return how many characters are not space."""
        return len(self.text) - self.text.count(" ")


def angle_of(along_x: float, along_y: float) -> int:
    """Return the right angle that is nearest to the direction of writing."""
    return round(math.degrees(math.atan2(along_y, along_x)) / 90) % 4 * 90


def upright(x: float, y: float, angle: int) -> tuple[float, float]:
    """Return a point as someone sees it who has turned the page by `angle` to read."""
    match angle:
        case 90:
            return y, -x
        case 180:
            return -x, -y
        case 270:
            return -y, x
        case _:
            return x, y


def make_lines(rows: Iterable[Sequence[Run]], page: int) -> list[Line]:
    """Return the lines that rows of runs make, in order; blank ones are left out.

    Lines that are written across the direction of most of the page are `aside`, and last.
    """
    made = [(row, main) for row in rows if (main := _main_run(row)) is not None]
    weights: defaultdict[int, float] = defaultdict(float)
    for row, main in made:
        weights[main.angle] += sum(len(run.text) for run in row) ** _LONG_ROWS
    if not weights:
        return []
    frame = max(weights, key=lambda angle: weights[angle])
    lines = [_line(row, main, page, frame) for row, main in made]
    lines = [line for line in lines if line.text]
    return [line for line in lines if not line.aside] + [line for line in lines if line.aside]


def _main_run(row: Sequence[Run]) -> Run | None:
    told = [run for run in row if run.text and not run.text.isspace()]
    return max(told, key=lambda run: len(run.text.strip()), default=None)


def _drawn_once(row: Sequence[Run]) -> list[Run]:
    """Return a row without the runs drawn again over themselves to look bold."""
    kept: list[Run] = []
    for run in row:
        reach = 0.25 * run.size
        if not any(
            run.text.strip() == other.text.strip() != ""
            and abs(run.x - other.x) <= reach
            and abs(run.y - other.y) <= reach
            for other in kept[-_SHADOWS:]
        ):
            kept.append(run)
    return kept


def _line(whole: Sequence[Run], main: Run, page: int, frame: int) -> Line:
    row = _drawn_once(whole) if len(whole) > 1 else whole
    told = [run for run in row if run.text and not run.text.isspace()]
    first = told[0]
    x, _ = upright(first.x, first.y, frame)
    _, y = upright(main.x, main.y, frame)
    bold = mono = math_ = total = 0
    sizes: Counter[float] = Counter()
    for run in row:
        count = len(run.text) - run.text.count(" ")
        total += count
        sizes[run.size] += count
        bold += count if run.style.bold else 0
        mono += count if run.style.mono else 0
        math_ += count if run.style.math else 0
    return Line(
        text=_NAMED_BULLET.sub("• ", "".join(run.text for run in row).strip(), count=1),
        page=page,
        x=x,
        y=y,
        # Indices are many in formulas, and smaller than the line they stand in.
        size=max(size for size, count in sizes.items() if count >= 0.25 * max(sizes.values())),
        bold=bold > 0.8 * total,
        mono=mono > 0.8 * total,
        math=math_ / total if total else 0.0,
        aside=main.angle != frame,
        head=first.size,
        tail=told[-1].size,
    )


def without_copies(lines: Sequence[Line]) -> list[Line]:
    """Return `lines` without those drawn twice to look bold, a shadow's breadth apart."""
    seen: dict[str, list[Line]] = {}
    kept = []
    for line in lines:
        same = seen.setdefault(line.text, [])
        if not any(_overlies(line, other) for other in same[-_SHADOWS:]):
            kept.append(line)
            same.append(line)
    return kept


def _overlies(one: Line, other: Line) -> bool:
    reach = 0.25 * max(one.size, 1.0)
    return abs(one.x - other.x) <= reach and abs(one.y - other.y) <= reach


def join_rows(lines: Sequence[Line]) -> list[Line]:
    """Return `lines` with those joined, by tabs, that follow one another on one base line.

    Programs that write tables give each cell by itself.
    """
    joined: list[Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last is not None and _is_next_cell(last, line):
            joined[-1] = replace(
                last,
                text=f"{last.text}\t{line.text}",
                cells=last.cells + 1,
                tail=line.tail,
                bold=last.bold and line.bold,
                mono=last.mono and line.mono,
            )
        else:
            joined.append(line)
    return joined


def _is_next_cell(last: Line, line: Line) -> bool:
    if line.aside or last.aside or last.hidden != line.hidden:
        return False
    size = max(last.size, line.size)
    return abs(last.y - line.y) <= 0.25 * size and line.x > last.x + 0.5 * size


def level_sizes(lines: Sequence[Line]) -> list[Line]:
    """Return `lines` with sizes near the usual one made equal to it, as a scan's are guesses."""
    usual = median(line.size for line in lines)
    return [
        replace(line, size=usual, head=usual, tail=usual)
        if abs(line.size - usual) <= _GUESSED * usual
        else line
        for line in lines
    ]
