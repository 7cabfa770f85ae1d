"""Guesses the charset of text that states none, by which reading looks most like writing."""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import pairwise

_CYRILLIC = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфёіїєґ"
_GREEK = "αοιτεσνρπκμυλςηωδγθφχβξζψάέήίόύώϊϋ"
_HEBREW = "אבגדהוזחטיכלמנסעפצקרשתםןץףך"
_ARABIC = "ابتثجحخدذرزسشصضطظعغفقكلمنهويىةءأإآؤئ"
_WEST = "éèàçüöäßñóíáãêåøæôâîúõëïûùœ"
_CENTRAL = "ąćęłńóśźżáčďéěíňřšťúůýžőűäöüßăâîşţđľĺŕ"
_TURKISH = "ığşçöüİâ"
_BALTIC = "ąčęėįšųūžāēģīķļņõäöü"
_PUNCTUATION = frozenset("–—“”‘’„‚…€«»°§©®·•™№¿¡\u00a0£×½²³ªº´。、，「」（）！？：；・ー　")
_SINGLE: Mapping[str, str] = {
    "cp1252": _WEST,
    "cp1251": _CYRILLIC,
    "cp1250": _CENTRAL,
    "koi8_r": _CYRILLIC,
    "cp1254": _TURKISH,
    "cp1253": _GREEK,
    "cp1255": _HEBREW,
    "cp1256": _ARABIC,
    "cp1257": _BALTIC,
    "iso8859_2": _CENTRAL,
    "iso8859_5": _CYRILLIC,
    "iso8859_7": _GREEK,
    "cp866": _CYRILLIC,
    "mac_roman": _WEST,
    "cp850": _WEST,
}
"""The charsets of single bytes, likeliest first, and the letters of texts in them, usual first."""

_RARE = {"mac_roman": 2.0, "cp850": 2.0, "cp866": 1.0, "iso8859_5": 1.0}
_VOWELS = frozenset("аеёиоуыэюяіїєαεηιουωάέήίόύώ")
_WORD = re.compile(r"[^\W\d_]+")
_ESCAPES = (b"\x1b$B", b"\x1b$@", b"\x1b(J", b"\x1b$A", b"\x1b$)C")
_WORDS_LOOKED_AT = 4_000
_UNUSUAL = -1.1  # a letter that no language of the charset has
_HIRAGANA = ("\u3041", "\u309f")
_KATAKANA = ("\u30a1", "\u30ff")
_HANGUL = ("\uac00", "\ud7a3")


def shifting_charset(data: bytes) -> str:
    """Return the charset of seven bits that `data` shifts into by escapes (ISO 2022), or ''."""
    if b"\x1b$" not in data or not data.isascii():
        return ""
    if any(escape in data for escape in _ESCAPES):
        for name in ("iso2022_jp_2", "iso2022_kr"):
            if _read(data, name) is not None:
                return name
    return ""


def guess(sample: bytes) -> str:
    """Return the charset in which `sample` makes most sense; '' when it makes none in any.

    Letters that a charset's languages use speak for it; letters of two scripts in one word, signs
    and capitals inside words, and rare ideographs speak against it. Of equals the more widespread
    is taken. The end of `sample` may cut a character in two.
    """
    best, most = "", 0.0
    for name, worth in _READINGS.items():
        text = _read(sample, name)
        if text is not None and (value := worth(text) - _RARE.get(name, 0.0)) > most:
            best, most = name, value
    return best


def _read(sample: bytes, name: str) -> str | None:
    """Return `sample` as text; a character that its end cuts off is left out."""
    try:
        return codecs.getincrementaldecoder(name)().decode(sample)
    except UnicodeError:
        return None


@cache
def _script(character: str) -> str:
    return unicodedata.name(character, "?").split(" ")[0]


def _worth_of_words(text: str, letters: str) -> float:
    """Return how much words with letters beyond ASCII look like words of the languages."""
    usual = 3 * len(letters) // 4
    weights = dict.fromkeys(letters[:usual], 1.0) | dict.fromkeys(letters[usual:], 0.6)
    worth = 0.0
    words = Counter(word for word in _WORD.findall(text) if not word.isascii())
    for word, count in words.most_common(_WORDS_LOOKED_AT):
        worth += count * _worth_of_word(word, weights)
    # Signs beside letters, and the marks that stand for bytes no charset names.
    signs = Counter(re.findall(r"[^\x00-\x7f\w]|(?<=[A-Za-z])[ªº²³¹]", text))
    for sign, count in signs.items():
        worth += count * (0.6 if sign in _PUNCTUATION else -1.5)
        if unicodedata.category(sign) in ("Cc", "Cn", "Co"):
            worth -= 5.0 * count
    inside = re.findall(r"(?<=[^\W\d_])[^\x00-\x7f\w’‘·\u00ad](?=[^\W\d_])", text)
    return worth - 2.0 * len(inside)


def _worth_of_word(word: str, weights: Mapping[str, float]) -> float:
    worth = sum(_worth_of_letter(each, weights) for each in word if not each.isascii())
    scripts = {_script(character) for character in word}
    if len(scripts) > 1:
        worth -= 3.0 * (len(scripts) - 1)
    if any(a.islower() and b.isupper() for a, b in pairwise(word)):
        worth -= 0.7 * len(word)
    if len(word) > 3 and scripts <= {"CYRILLIC", "GREEK"} and _VOWELS.isdisjoint(word.lower()):
        worth -= 0.6 * len(word)
    if word[0] in "םןץףך":  # end a word, and never begin one
        worth -= 2.0
    return worth


def _worth_of_letter(letter: str, weights: Mapping[str, float]) -> float:
    if letter in weights:
        return weights[letter]
    return weights[letter.lower()] - 0.3 if letter.lower() in weights else _UNUSUAL


# Charsets of two bytes and more: each character counts as two letters


def _worth_of_wide(text: str, name: str, likely: Callable[[str, int], float]) -> float:
    worth = 0.0
    for character, count in Counter(text).items():
        if character.isascii():
            continue
        try:
            lead = character.encode(name)[0]
        except UnicodeError:
            lead = 0
        if character in _PUNCTUATION:
            worth += 1.0 * count
        elif unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs"):
            worth -= 5.0 * count
        else:
            worth += likely(character, lead) * count
    mixed = re.findall(r"[A-Za-z][\u3400-\u9fff\uac00-\ud7a3](?=[A-Za-z\s]|\Z)", text)
    return worth - 4.0 * len(mixed)


def _is_between(character: str, ends: tuple[str, str]) -> bool:
    return ends[0] <= character <= ends[1]


def _japanese(first: range, second: range) -> Callable[[str, int], float]:
    def likely(character: str, lead: int) -> float:
        if _is_between(character, _HIRAGANA) or _is_between(character, _KATAKANA):
            return 2.2
        if "\uff61" <= character <= "\uff9f":  # half-width katakana
            return -0.8
        if lead in first:
            return 1.8
        return 0.5 if lead in second else -1.0

    return likely


def _chinese(first: range) -> Callable[[str, int], float]:
    def likely(character: str, lead: int) -> float:
        if lead in first and "\u4e00" <= character <= "\u9fff":
            return 1.9
        return -0.5 if "\u4e00" <= character <= "\u9fff" else -1.5

    return likely


def _korean(character: str, _lead: int) -> float:
    return 2.0 if _is_between(character, _HANGUL) else -1.0


def _wide(name: str, likely: Callable[[str, int], float]) -> Callable[[str], float]:
    return lambda text: _worth_of_wide(text, name, likely)


_READINGS: Mapping[str, Callable[[str], float]] = {
    "gb18030": _wide("gb18030", _chinese(range(0xB0, 0xD8))),
    "cp932": _wide("cp932", _japanese(range(0x88, 0x98), range(0x98, 0xA0))),
    "big5": _wide("big5", _chinese(range(0xA4, 0xC7))),
    "euc_kr": _wide("cp949", _korean),
    "euc_jp": _wide("euc_jp", _japanese(range(0xB0, 0xD0), range(0xD0, 0xF5))),
    **{name: partial(_worth_of_words, letters=each) for name, each in _SINGLE.items()},
}
