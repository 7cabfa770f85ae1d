"""Characters of PDF text: made sound for every index, and judged for whether they are language."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

# Private characters of the fonts Symbol and Wingdings, as office programs write bullets and arrows.
_SYMBOLS = {
    "\uf0b7": "•", "\uf0a7": "▪", "\uf0a8": "▫", "\uf076": "❖", "\uf0d8": "➢", "\uf0fc": "✓",
    "\uf0e0": "→", "\uf02d": "-",
}  # fmt: skip
_DROPPED = [*range(0x09), 0x0B, *range(0x0E, 0x20), *range(0x7F, 0xA0), 0xFFFF]
_TABLE = str.maketrans(
    {
        **dict.fromkeys(map(chr, _DROPPED), ""),
        **_SYMBOLS,
        "\r": "\n",
        "\f": "\n",
        "\u00ad": "-",  # a glyph that is drawn is no hint where to break
        "\ufffe": "-",  # what PDFium writes for a hyphen at the end of a line
    }
)
_UNSOUND = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\ud800-\udfff\uf02d-\uf0fc\ufffe\uffff]")
_LATIN_MARKS = re.compile("[¡-¿À-ÿ]")
_GLYPH_NAME = re.compile(r"/[A-Za-z]{1,3}\d{1,5}(?![\d.])|\(cid:\d+\)")
_ODD = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f\x80-\x9f]")
_MAX_LATIN_MARKS = 0.4
_SPACED = re.compile(r"\S+")
_MARKS = re.compile(r"[!\"#$%&'*+/:;<=>?@\[\\\]^_`{|}~’]")
_MIN_NOISE = 6
_MIN_SHAPE_FAULT = 0.1
_WORD = re.compile(r"[^\W_]+")
_LINE_END_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\s*\n\s*(?=[^\W\d_])|\ufffe")
_FILLERS = str.maketrans("", "", "._·…-=\ufffe")
_LATIN_WORD = re.compile(r"[A-Za-z]+")


def sound(text: str) -> str:
    """Return `text` as every index can hold it: no NUL, no control, no half of a pair.

    Halves of surrogate pairs that a font's map gave apart are joined, others dropped.
    """
    if _UNSOUND.search(text) is None:
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return whole.translate(_TABLE)


def garbage_share(text: str) -> float:
    """Return the share of `text` (0 to 1; 1 of no text) that is no language but codes of glyphs."""
    size = len(text) - text.count(" ") - text.count("\n")
    if size <= 0:
        return 1.0
    odd = len(_ODD.findall(text)) + sum(len(found) for found in _GLYPH_NAME.findall(text))
    if not text.isascii():
        odd += _loose_marks(text)
        marks = len(_LATIN_MARKS.findall(text))
        if marks > _MAX_LATIN_MARKS * size:  # bytes of another script, shown as Western ones
            odd += marks
    return min(1.0, odd / size)


def is_language(text: str) -> bool:
    """Tell whether `text` has letters and digits enough for its marks; dots and rules are none."""
    spaceless = "".join(text.split()).translate(_FILLERS)
    return sum(map(str.isalnum, spaceless)) >= 0.35 * len(spaceless)


def is_noise(text: str) -> bool:
    """Tell whether a line is but marks, as labels of figures are whose font tells no characters."""
    dense = "".join(text.split())
    return len(dense) >= _MIN_NOISE and len(_MARKS.findall(dense)) > 0.4 * len(dense)


def shape_fault(text: str) -> float:
    """Return the share of Latin words (0 to 1) that are glued, spaced out or written double."""
    repeated = [line for line in text.splitlines() if _is_repeated(line.strip())]
    if repeated:
        return min(1.0, sum(map(len, repeated)) / len(text) + _MIN_SHAPE_FAULT)
    words = _LATIN_WORD.findall(text)
    letters = sum(map(len, words))
    if letters < 40:
        return 0.0
    glued = sum(len(word) for word in words if len(word) > 24)
    single = sum(len(word) == 1 for word in words)
    doubled = sum(len(word) for word in words if len(word) > 3 and _is_doubled(word))
    spaced = single if single > 0.5 * len(words) else 0
    return min(1.0, (glued + spaced + doubled) / letters)


def word_counts(text: str) -> Counter[str]:
    """Return how often each word of `text` occurs, in one form for both readers."""
    whole = _LINE_END_HYPHEN.sub("", text)
    if not whole.isascii():
        whole = unicodedata.normalize("NFKC", whole)
    return Counter(_WORD.findall(whole.casefold()))


def _is_repeated(line: str) -> bool:
    half = len(line) // 2
    return half >= _MIN_NOISE and line[:half] == line[half:] and not line[:half].isdigit()


def _is_doubled(word: str) -> bool:
    return len(word) % 2 == 0 and word[::2] == word[1::2]


def _loose_marks(text: str) -> int:
    """Count combining marks that stand on no letter, and characters that are not assigned."""
    if not any(_category(char) in ("Mn", "Cn") for char in set(text)):
        return 0
    count, previous = 0, " "
    for char in text:
        if char > "\u02ff":
            kind = _category(char)
            if (kind == "Cn" and char != "\ufffe") or (kind == "Mn" and not _bears(previous)):
                count += 1
        previous = char
    return count


@lru_cache(maxsize=1 << 14)
def _category(char: str) -> str:
    return unicodedata.category(char)


def _bears(char: str) -> bool:
    return not char.isspace() and _category(char)[0] in "LM"
