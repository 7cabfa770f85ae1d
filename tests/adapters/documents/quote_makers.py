"""How a true quote may be spelt differently on its way, and how a false one is made of it."""

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from state.values.blocks import Document
from state.values.normal_form import Span

Damage = Callable[[str, random.Random], str]
Falsify = Callable[[str, random.Random, Sequence[str]], str]

_SENTENCE_END = re.compile(r"""(?<=[.!?])["')\]”’»]*\s+|(?<=[。！？])""")
_LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}
_SPACING = {
    "\u0301": "´", "\u0300": "ˋ", "\u0308": "¨", "\u0302": "ˆ", "\u0303": "˜", "\u0327": "¸",
    "\u030a": "˚", "\u030c": "ˇ",
}  # fmt: skip
_INSIDE = re.compile(r"(?<=[^\W\d_]{2})(?=[^\W\d_]{2})")
_WORD = re.compile(r"(?<![^\s(])[^\W\d_]{3,}(?=[\s,.;:)]|$)")


def sentences(document: Document) -> Iterator[Span]:
    """Yield the ranges of the sentences of the main text, by the simplest of rules."""
    for block in document.blocks:
        text, at = document.text[block.start : block.end], 0
        for cut in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
            piece = text[at:cut]
            start = block.start + at + len(piece) - len(piece.lstrip())
            end = block.start + at + len(piece.rstrip())
            at = cut
            if block.main and end - start >= 4:
                yield Span(start, end)


# ---- damage


def _somewhere(pattern: str | re.Pattern[str], new: str, *, share: float = 0.3) -> Damage:
    """Put `new` (a template) for about a `share` of what `pattern` finds, and for one at least."""

    def damage(text: str, chance: random.Random) -> str:
        places = list(re.finditer(pattern, text))
        chosen = {match.start() for match in places if chance.random() < share}
        if places and not chosen:
            chosen = {chance.choice(places).start()}
        return re.sub(
            pattern, lambda match: match.expand(new) if match.start() in chosen else match[0], text
        )

    return damage


def _mapped(change: Callable[[str], str]) -> Damage:
    return lambda text, _: change(text)


def _with_ligatures(text: str) -> str:
    for letters, ligature in _LIGATURES.items():
        text = text.replace(letters, ligature)
    return text


def _without_ligatures(text: str) -> str:
    for letters, ligature in (*_LIGATURES.items(), ("ae", "æ"), ("oe", "œ")):
        text = text.replace(ligature, letters)
    return text


def _detached(text: str, *, before: bool) -> str:
    def detach(char: str) -> str:
        base, *marks = list(unicodedata.normalize("NFD", char))
        if len(marks) != 1 or marks[0] not in _SPACING:
            return char
        base = "ı" if base == "i" else base
        return _SPACING[marks[0]] + base if before else base + _SPACING[marks[0]]

    return "".join(map(detach, text))


def _full_width(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if char.isascii() and char.isalnum() else char
                   for char in text)  # fmt: skip


def _curled(text: str) -> str:
    text = re.sub(r'(?<!\S)"', "“", text).replace('"', "”")
    return re.sub(r"(?<!\S)'", "‘", text).replace("'", "’")


def _straight(text: str) -> str:
    return text.translate(
        {**dict.fromkeys(map(ord, "‘’‚"), "'"), **dict.fromkeys(map(ord, "“”„«»"), '"')}
    )


def _other_dashes(text: str) -> str:
    return text.translate({ord("–"): "-", ord("—"): "–", ord("−"): "-", ord("‐"): "-"})


_INLINE = r"(?<=[^\s\d(])[ ](?=[^\s\d#>*+-])"

DAMAGE: dict[str, Damage] = {
    "line breaks put in": _somewhere(r"(?<=\S) (?=\S)", "\n"),
    "line breaks and indents put in": _somewhere(r"(?<=\S) (?=\S)", "\r\n    "),
    "line breaks taken out": _mapped(lambda text: " ".join(text.split())),
    "hyphens at line ends put in": _somewhere(_INSIDE, "-\n", share=0.05),
    "hyphens at line ends taken out": _mapped(
        lambda text: re.sub(r"(?<=[^\W\d_])[-\u00ad‐]\n\s*(?=[^\W\d_])", "", text)
    ),
    "ligatures put in": _mapped(_with_ligatures),
    "ligatures taken out": _mapped(_without_ligatures),
    "quotes curled": _mapped(_curled),
    "quotes straightened": _mapped(_straight),
    "other dashes": _mapped(_other_dashes),
    "no-break spaces": _somewhere(r"(?<=\S) (?=\S)", "\u00a0"),
    "thin spaces": _somewhere(r"(?<=\S) (?=\S)", "\u2009"),
    "narrow no-break spaces": _somewhere(r"(?<=\S) (?=\S)", "\u202f"),
    "accents before their letters": _mapped(lambda text: _detached(text, before=True)),
    "accents after their letters": _mapped(lambda text: _detached(text, before=False)),
    "accents as combining marks": _mapped(lambda text: unicodedata.normalize("NFD", text)),
    "soft hyphens": _somewhere(_INSIDE, "\u00ad", share=0.1),
    "capitals": _mapped(str.upper),
    "small letters": _mapped(str.lower),
    "full width": _mapped(_full_width),
    "zero-width characters": _somewhere(_INSIDE, "\u200b", share=0.1),
    "byte order marks": _somewhere(r"(?<=\S) (?=\S)", " \ufeff"),
    "emphasis put in": _somewhere(_WORD, r"**\g<0>**", share=0.1),
    "emphasis in one star": _somewhere(_WORD, r"*\g<0>*", share=0.1),
    "code marks put in": _somewhere(_WORD, r"`\g<0>`", share=0.1),
    "emphasis taken out": _mapped(
        lambda text: re.sub(r"(?<![\w*])(\*\*|\*|`)(?=\w)([^*`\n]*\w)\1(?![\w*])", r"\2", text)
    ),
    "quoted lines": _mapped(lambda text: re.sub(r"(?m)^(?=[^\W\d])", "> ", text)),
    "a heading's mark": _mapped(lambda text: f"## {text}" if text[0].isalpha() else text),
    "a list's mark": _mapped(lambda text: f"- {text}" if text[:2].isalpha() else text),
}  # fmt: skip
"""What extractors, typesetters and models do to a text. Unchanged: it does not apply."""


# ---- falsifying

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|without|nor|n't)\b ?", re.IGNORECASE)
_VERB = re.compile(r"\b(?:is|are|was|were|can|could|will|would|do|does|did|has|have|had|may)\b")
_UNITS = (
    ("percent", "percentage points"), ("%", "‰"), ("km", "m"), ("mg", "g"), ("ms", "s"),
    ("GB", "MB"), ("million", "billion"), ("hours", "days"), ("days", "weeks"),
    ("years", "months"), ("minutes", "seconds"), ("pages", "chapters"), ("miles", "yards"),
    ("feet", "inches"), ("$", "€"), ("bits", "bytes"), ("USD", "EUR"), ("weeks", "years"),
    ("seconds", "hours"), ("months", "years"), ("dollars", "cents"), ("pounds", "tons"),
)  # fmt: skip


def _a_digit(change: Callable[[str, random.Random], str]) -> Falsify:
    def falsify(text: str, chance: random.Random, _: Sequence[str]) -> str:
        places = [match.start() for match in re.finditer(r"[0-9]", text)]
        if not places:
            return text
        at = chance.choice(places)
        return text[:at] + change(text[at], chance) + text[at + 1 :]

    return falsify


def _sign(text: str, chance: random.Random, _: Sequence[str]) -> str:
    numbers = [m for m in _NUMBER.finditer(text) if text[: m.start()][-1:] in ("", " ", "(")]
    if not numbers:
        return text
    at = chance.choice(numbers).start()
    return text[:at] + chance.choice("-−±+><") + text[at:]


def _sign_dropped(text: str, chance: random.Random, _: Sequence[str]) -> str:
    return re.sub(r"(?<![\w)])[-−+±<>≤≥](?=\d)", "", text, count=1)


def _negated(text: str, chance: random.Random, _: Sequence[str]) -> str:
    verbs = list(_VERB.finditer(text))
    if not verbs:
        return text
    at = chance.choice(verbs).end()
    return text[:at] + chance.choice([" not", " never", " hardly", "n't"]) + text[at:]


def _affirmed(text: str, chance: random.Random, _: Sequence[str]) -> str:
    found = list(_NEGATION.finditer(text))
    if not found:
        return text
    gone = chance.choice(found)
    return text[: gone.start()] + text[gone.end() :]


def _prefixed(text: str, chance: random.Random, _: Sequence[str]) -> str:
    words = list(_WORD.finditer(text))
    if not words:
        return text
    at = chance.choice(words).start()
    return text[:at] + chance.choice(["un", "in", "non-", "mis"]) + text[at:]


def _another_word(text: str, chance: random.Random, words: Sequence[str]) -> str:
    found = list(_WORD.finditer(text))
    if not found or not words:
        return text
    gone = chance.choice(found)
    return text[: gone.start()] + chance.choice(words) + text[gone.end() :]


def _a_word_less(text: str, chance: random.Random, _: Sequence[str]) -> str:
    words = text.split(" ")
    if len(words) < 5:
        return text
    at = chance.randrange(1, len(words) - 1)
    return " ".join([*words[:at], *words[at + 1 :]])


def _swapped(text: str, chance: random.Random, _: Sequence[str]) -> str:
    words = text.split(" ")
    if len(words) < 4:
        return text
    one, other = sorted(chance.sample(range(len(words)), 2))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def _another_unit(text: str, chance: random.Random, _: Sequence[str]) -> str:
    known = [(unit, other) for unit, other in _UNITS if re.search(_unit(unit), text)]
    if not known:
        return text
    unit, other = chance.choice(known)
    return re.sub(_unit(unit), lambda _: other, text, count=1)


def _unit(unit: str) -> str:
    return rf"(?<!\w){re.escape(unit)}(?!\w)" if unit.isalpha() else re.escape(unit)


def _point_moved(text: str, chance: random.Random, _: Sequence[str]) -> str:
    found = list(re.finditer(r"(\d)([.,])(\d)", text))
    if not found:
        return text
    at = chance.choice(found)
    moved = chance.choice([r"\g<2>\g<1>\g<3>", r"\g<1>\g<3>\g<2>", r"\g<1>\g<3>", r"\g<1> \g<3>"])
    return text[: at.start()] + at.expand(moved) + text[at.end() :]


def _joined(text: str, chance: random.Random, words: Sequence[str]) -> str:
    """Join the first half of a sentence with words that follow each other elsewhere."""
    own = text.split(" ")
    if len(own) < 6 or len(words) < 40:
        return text
    at = chance.randrange(len(words) - 12)
    return " ".join([*own[: len(own) // 2], *words[at : at + chance.randrange(3, 12)]])


FALSE: dict[str, Falsify] = {
    "a digit changed": _a_digit(lambda d, chance: str((int(d) + chance.randrange(1, 10)) % 10)),
    "a digit added": _a_digit(lambda d, chance: d + str(chance.randrange(10))),
    "a digit removed": _a_digit(lambda d, chance: ""),
    "a digit raised": _a_digit(lambda d, chance: "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(d)]),
    "a sign put in": _sign,
    "a sign dropped": _sign_dropped,
    "a negation put in": _negated,
    "a negation dropped": _affirmed,
    "a prefix put in": _prefixed,
    "a word replaced": _another_word,
    "a word dropped": _a_word_less,
    "two words swapped": _swapped,
    "a unit changed": _another_unit,
    "a decimal point moved": _point_moved,
    "two halves joined": _joined,
}
"""What makes another statement of a sentence. Unchanged: it does not apply."""
