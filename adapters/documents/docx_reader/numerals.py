"""Numbers in the ways that Word can write them (ECMA-376 Part 1 §17.18.59, ST_NumberFormat)."""

from collections.abc import Callable

_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_CHINESE = "〇一二三四五六七八九"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщэюя"
_GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
_HEBREW = "אבגדהוזחטיכלמנסעפצקרשת"
_ARABIC = "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"
_KATAKANA = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
_MARKS = "*†‡§"
_MOST = 100_000  # beyond it, letters and numerals would be longer than anything worth reading


def numeral(number: int, form: str) -> str:
    """Return `number` as the format named `form` writes it; unknown ones are taken as decimal."""
    if form == "none":
        return ""
    write = _FORMS.get(form)
    if write is None or not 0 < number < _MOST:
        return str(number)
    return write(number)


def _roman(number: int) -> str:
    thousands = "M" * (number // 1000)
    rest, parts = number % 1000, [thousands]
    for worth, letters in _ROMAN[1:]:
        parts.append(letters * (rest // worth))
        rest %= worth
    return "".join(parts)


def _letters(alphabet: str) -> Callable[[int], str]:
    """Return a writer as Word counts letters: a … z, aa, bb … zz, aaa …"""

    def write(number: int) -> str:
        again, at = divmod(number - 1, len(alphabet))
        return alphabet[at] * (again + 1) if again < 50 else str(number)

    return write


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _cardinal_words(number: int) -> str:
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_ONES[hundreds]} hundred" + (f" {_cardinal_words(rest)}" if rest else "")
    thousands, rest = divmod(number, 1000)
    return f"{_cardinal_words(thousands)} thousand" + (f" {_cardinal_words(rest)}" if rest else "")


def _ordinal_words(number: int) -> str:
    words = _cardinal_words(number)
    at = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[at:]
    if last.endswith("y"):
        return f"{words[:-1]}ieth"
    return words[:at] + _ORDINALS.get(last, f"{last}th")


def _chinese(number: int) -> str:
    """Return a number below ten thousand as it is counted: 十, 十一, 二十, 一百零三."""
    if number >= 10_000:
        return str(number)
    parts: list[str] = []
    gap = False
    for worth, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, worth)
        if digit:
            parts.append(("零" if gap and parts else "") + _CHINESE[digit] + unit)
            gap = False
        else:
            gap = True
    written = "".join(parts)
    return written[1:] if written.startswith("一十") else written


def _circled(number: int) -> str:
    return chr(0x245F + number) if number <= 20 else str(number)


_FORMS: dict[str, Callable[[int], str]] = {
    "upperRoman": _roman,
    "lowerRoman": lambda number: _roman(number).lower(),
    "upperLetter": _letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "lowerLetter": _letters("abcdefghijklmnopqrstuvwxyz"),
    "decimalZero": "{:02d}".format,
    "ordinal": _ordinal,
    "cardinalText": lambda number: _cardinal_words(number).capitalize(),
    "ordinalText": lambda number: _ordinal_words(number).capitalize(),
    "numberInDash": "- {} -".format,
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "decimalEnclosedFullstop": "{}.".format,
    "decimalEnclosedParen": "({})".format,
    "chicago": _letters(_MARKS),
    "hex": "{:X}".format,
    "chineseCounting": _chinese,
    "chineseCountingThousand": _chinese,
    "taiwaneseCounting": _chinese,
    "taiwaneseCountingThousand": _chinese,
    "japaneseCounting": _chinese,
    "ideographDigital": lambda number: "".join(_CHINESE[int(digit)] for digit in str(number)),
    "japaneseDigitalTenThousand": lambda n: "".join(_CHINESE[int(digit)] for digit in str(n)),
    "russianLower": _letters(_RUSSIAN),
    "russianUpper": _letters(_RUSSIAN.upper()),
    "hebrew2": _letters(_HEBREW),
    "arabicAlpha": _letters(_ARABIC),
    "aiueoFullWidth": _letters(_KATAKANA),
    "aiueo": _letters(_KATAKANA),
    "greekLower": _letters(_GREEK),
}
