"""The normal form in which quote and source are compared, with a way back to the source's offsets.

What an extractor or a model may change on the way is folded: case, ligatures, spaces, line ends,
the shapes of quotes and dashes, invisible characters, detached accents, Markdown's marks. What
changes a fact is not: digits, signs, words, and raised, lowered or circled digits stay apart.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache


class Accents(Enum):
    """How an accent that stands by itself, beside its letter, is read; PDFs hold all three."""

    BEFORE = "belongs to the letter after it, if that can bear it"
    AFTER = "belongs to the letter before it, if that can bear it"
    APOSTROPHE = "is an apostrophe"


class Hyphen(Enum):
    """A hyphen between letters, which the form leaves out. A soft one ended a line, maybe."""

    HARD = "written"
    SOFT = "written or only there to break the word"


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a text in code points: `text[start:end]`."""

    start: int
    end: int


class _Layer:
    """One pass over a text: pieces taken over as they are, and pieces that were replaced."""

    def __init__(
        self, text: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str], int], str]
    ) -> None:
        self._at, self._old, self._end = array("q"), array("q"), array("q")
        parts: list[str] = []
        done = length = 0
        for match in pattern.finditer(text):
            start, end = match.span()
            length += self._piece(parts, text[done:start], length, done, -1)
            new = replace(match, length)
            length += self._piece(parts, new, length, start, end)
            done = end
        self._piece(parts, text[done:], length, done, -1)
        self.text = "".join(parts)

    def _piece(self, parts: list[str], text: str, at: int, old: int, end: int) -> int:
        if text:
            parts.append(text)
            self._at.append(at)
            self._old.append(old)
            self._end.append(end)
        return len(text)

    def back(self, span: Span) -> Span | None:
        """Return what `span` was made from; None when it begins or ends inside a replacement."""
        first = bisect_right(self._at, span.start) - 1
        last = bisect_right(self._at, span.end - 1) - 1
        start = self._old[first] + span.start - self._at[first]
        end = self._old[last] + span.end - self._at[last]
        if self._end[first] >= 0 and span.start != self._at[first]:
            return None
        if self._end[last] >= 0:
            after = self._at[last + 1] if last + 1 < len(self._at) else len(self.text)
            if span.end != after:
                return None
            end = self._end[last]
        return Span(start, end)

    def forward(self, offset: int) -> int:
        """Return where what stands at `offset`, or else what follows it, begins in the new text."""
        piece = bisect_right(self._old, offset) - 1
        if piece < 0:
            return 0
        after = self._at[piece + 1] if piece + 1 < len(self._at) else len(self.text)
        if self._end[piece] >= 0:
            return self._at[piece] if offset < self._end[piece] else after
        return min(self._at[piece] + offset - self._old[piece], after)


@dataclass(frozen=True, slots=True)
class Normalised:
    """A text's normal form. `hyphens` tells, by position in `form`, which were left out."""

    form: str
    hyphens: dict[int, Hyphen]
    hyphen_positions: Sequence[int]
    _layers: tuple[_Layer, ...]

    def original(self, start: int, end: int) -> Span | None:
        """Return the range of the text that `form[start:end]` (not empty) was made from.

        None when an end of it lies inside one character of the text, such as `ﬁ`.
        """
        span: Span | None = Span(start, end)
        for layer in reversed(self._layers):
            if span is None:
                return None
            span = layer.back(span)
        return span

    def position(self, offset: int) -> int:
        """Return the position in `form` of what stands at `offset` of the text, or follows it."""
        for layer in self._layers:
            offset = layer.forward(offset)
        return offset


_SPACING = {
    "´": "\u0301", "ˊ": "\u0301", "ˋ": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303",
    "¸": "\u0327", "˚": "\u030a", "ˇ": "\u030c", "˘": "\u0306", "˙": "\u0307", "˛": "\u0328",
    "˝": "\u030b", "¯": "\u0304",
}  # fmt: skip
_ACCENT = re.compile(f"[{''.join(_SPACING)}]")
_DOTLESS = {"ı": "i", "ȷ": "j"}  # what typesetters put under an accent


def has_loose_accents(text: str) -> bool:
    """Tell whether `text` has accents that stand by themselves, so that readings may differ."""
    return not text.isascii() and _ACCENT.search(text) is not None


def normalise(text: str, accents: Accents = Accents.BEFORE) -> Normalised:
    """Return the normal form of `text`, in time linear in its length."""
    layers: list[_Layer] = []
    if accents is not Accents.APOSTROPHE and has_loose_accents(text):
        layers.append(_attach_accents(text, accents))
        text = layers[-1].text
    text = _fold_characters(text, layers)
    layers.append(_Layer(text, _MARKS, _drop_marks))
    hyphens: dict[int, Hyphen] = {}
    layers.append(_Layer(layers[-1].text, _GAPS, _Gaps(hyphens)))
    form = layers[-1].text.replace("\n", " ")
    return Normalised(form, hyphens, array("q", hyphens), tuple(layers))


# Accents


def _attach_accents(text: str, accents: Accents) -> _Layer:
    letters = [letter for letter in set(text) if letter.isalpha()]
    both = []
    for accent in sorted(set(_ACCENT.findall(text))):
        bearing = _class(letter for letter in letters if _compose(letter, accent))
        before = f"{accent}{bearing}"
        after = f"{bearing}{accent}"
        if accents is Accents.BEFORE:
            both.append(f"{before}|{after}(?!{bearing})")
        else:
            both.append(f"{after}|{before}")
    return _Layer(text, re.compile("|".join(both)), _join_accent)


def _join_accent(match: re.Match[str], _at: int) -> str:
    first, second = match[0][0], match[0][1]
    return _compose(second, first) if first in _SPACING else _compose(first, second)


@lru_cache(maxsize=4096)
def _compose(letter: str, accent: str) -> str:
    """Return `letter` with `accent` as one character, or '' when there is none."""
    pair = unicodedata.normalize("NFC", _DOTLESS.get(letter, letter) + _SPACING[accent])
    return pair if len(pair) == 1 else ""


# Characters

_INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\ufeff"
) | frozenset(map(chr, range(0xFE00, 0xFE10)))
_ALIKE = {
    **dict.fromkeys("‘’‚‛′‹›ʼʻ´ˊˋ", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−⁃˗﹘﹣－", "-"),
    "æ": "ae",
    "œ": "oe",
}
_NEWLINES = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


@lru_cache(maxsize=1 << 16)
def _fold(char: str) -> str:
    if char in _INVISIBLE:
        return ""
    if char.isspace():
        return "\n" if char in _NEWLINES else " "
    if char in _ALIKE:
        return _ALIKE[char]
    plain = unicodedata.normalize("NFKC", char)
    if _says_more(char, plain):
        return char
    folded = unicodedata.normalize("NFKC", plain.casefold())
    return "".join(_ALIKE.get(each, each) for each in folded)


def _says_more(char: str, plain: str) -> bool:
    """Tell whether plain characters would lose what `char` says, as 2 does of a raised 2."""
    if char == plain:
        return False
    if unicodedata.decomposition(char).startswith(("<super>", "<sub>")) or plain.startswith(" "):
        return True
    return unicodedata.category(char) != "Nd" and any(each.isdigit() for each in plain)


def _fold_characters(text: str, layers: list[_Layer]) -> str:
    """Return `text` with its characters folded, adding a layer unless each gave exactly one."""
    if text.isascii():
        return text.lower().translate(_ascii_spaces())
    chars = set(text)
    marks = _class(char for char in chars if _joins_the_one_before(char))
    # The second alternative takes runs, as for soft hyphens and zero-width characters.
    odd = _class(char for char in chars if len(_fold(char)) != 1)
    layer = _Layer(text, re.compile(rf"[^\s]{marks}+|{odd}"), _fold_cluster)
    table = {ord(char): _fold(char) for char in chars}
    if layer.text != text:
        layers.append(layer)
        # What the layer has put in is folded already, and folding it again changes nothing.
        table |= {ord(char): _fold(char) for char in set(layer.text) - chars}
        table = {code: new for code, new in table.items() if len(new) == 1}
    return layer.text.translate(table)


@cache
def _ascii_spaces() -> dict[int, str]:
    return {code: _fold(chr(code)) for code in range(128) if chr(code).isspace()}


def _joins_the_one_before(char: str) -> bool:
    if char in _INVISIBLE:
        return False
    conjoining = "\u1160" <= char <= "\u11ff" or char in "\uff9e\uff9f"
    return conjoining or unicodedata.category(char).startswith("M")


def _fold_cluster(match: re.Match[str], _at: int) -> str:
    composed = unicodedata.normalize("NFC", match[0])
    return unicodedata.normalize("NFC", "".join(map(_fold, composed)))


def _class(chars: Iterable[str]) -> str:
    inside = "".join(re.escape(char) for char in sorted(chars))
    return f"[{inside}]" if inside else r"(?!)"


# Markdown's marks, on folded text

_MARKS = re.compile(r"(?m)^(?: *>)+(?= [^\s\d.+-])|^ *#{1,6}(?= )|[*_`]+")


def _drop_marks(match: re.Match[str], _at: int) -> str:
    run = match[0]
    if run[0] not in "*_`":
        return ""
    text, (start, end) = match.string, match.span()
    if start == 0 or end == len(text):
        return ""
    before, after = text[start - 1], text[end]
    if run.strip("`") == "":
        return run if before.isdigit() and after.isdigit() else ""
    if before.isspace() and after.isspace():
        return run
    if not (before.isalnum() or before in ".)"):
        return ""
    if before.isalnum() and after.isalnum():
        return run
    number = _NUMBER_NEXT.match(text, end)
    return run if number is not None else ""


_NUMBER_NEXT = re.compile(r"[-+.,(]{0,4}\d")

# Spaces and hyphens, on folded text without marks

_CJK = "[\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_GAPS = re.compile(
    rf"\s{{2,}}|(?<={_CJK})\s|\s(?={_CJK})"
    r"|(?<=[^\W\d_])-\s*(?=[^\W\d_])"
    r"|(?<=\w)-\s+(?=\w)"
)


class _Gaps:
    """Closes gaps, and notes the hyphens between letters that it leaves out."""

    def __init__(self, hyphens: dict[int, Hyphen]) -> None:
        self._hyphens = hyphens

    def __call__(self, match: re.Match[str], at: int) -> str:
        gap, (start, end) = match[0], match.span()
        text = match.string
        if gap[0] != "-":
            before, after = text[max(0, start - 1) : start], text[end : end + 1]
            return "" if _is_chance(gap, before, after) else " "
        if _is_letter(text[start - 1]) and _is_letter(text[end]):
            self._hyphens[at] = Hyphen.HARD if gap == "-" else Hyphen.SOFT
            return ""
        return "-"


def _is_chance(gap: str, before: str, after: str) -> bool:
    """Tell whether `gap` is beside a script without spaces, where it says nothing.

    Between two numbers, and before a sign, it does say something; a line's end never does.
    """
    if not before or not after:
        return False
    if _is_cjk(before) and _is_cjk(after) and "\n" in gap:
        return True
    if before.isnumeric() and after.isnumeric():
        return False
    if _is_cjk(before):
        return after.isalnum() or after in ",;:!?)\"'"
    return _is_cjk(after) and (before.isalnum() or before in ",.;:!?()\"'")


def _is_cjk(char: str) -> bool:
    return re.match(_CJK, char) is not None


def _is_letter(char: str) -> bool:
    return re.match(r"[^\W\d_]", char) is not None
