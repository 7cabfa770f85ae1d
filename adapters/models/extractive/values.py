"""Numbers, amounts and dates that a text states, each with its unit, in comparable form."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from adapters.models.extractive.lexicon import APPROXIMATIONS
from adapters.models.extractive.terms import fold, is_content, stem


class ValueKind(StrEnum):
    """What sort of thing a value measures."""

    NUMBER = "number"
    DURATION = "duration"
    LENGTH = "length"
    MASS = "mass"
    DATA = "data"
    SPEED = "speed"
    POWER = "power"
    VOLUME = "volume"
    AREA = "area"
    TEMPERATURE = "temperature"
    PERCENT = "percent"
    MONEY = "money"
    DATE = "date"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class Value:
    """A value at `text[start:end]`: `amount` in the kind's base unit, `step` its last digit.

    `unit` tells apart what a kind does not: the currency, the thing counted; '' when unstated.
    A date's amount is yyyymmdd with zeros for what is not said.
    """

    kind: ValueKind
    amount: float
    step: float
    unit: str
    start: int
    end: int
    approximate: bool = False


_NUMBERS = {
    word: float(number)
    for number, words in {
        1: "one eins", 2: "two zwei deux dos", 3: "three drei trois tres",
        4: "four vier quatre cuatro", 5: "five fünf cinq cinco", 6: "six sechs seis",
        7: "seven sieben sept siete", 8: "eight acht huit ocho", 9: "nine neun neuf nueve",
        10: "ten zehn dix diez", 11: "eleven elf", 12: "twelve dozen zwölf douze doce",
        13: "thirteen", 14: "fourteen", 15: "fifteen quinze quince", 16: "sixteen",
        17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty zwanzig vingt veinte",
        30: "thirty dreißig trente treinta", 40: "forty vierzig", 50: "fifty fünfzig",
        60: "sixty sechzig", 70: "seventy siebzig", 80: "eighty achtzig", 90: "ninety neunzig",
        100: "hundred hundert cent cien", 1000: "thousand tausend mille mil",
    }.items()
    for word in words.split()
}  # fmt: skip
_SCALES = {
    "thousand": 1e3, "tausend": 1e3, "million": 1e6, "millions": 1e6, "millionen": 1e6, "mio": 1e6,
    "billion": 1e9, "billions": 1e9, "milliarden": 1e9, "mrd": 1e9, "hundred": 100.0,
    "万": 1e4, "亿": 1e8,
}  # fmt: skip
_UNITS: dict[str, tuple[ValueKind, float, str]] = {}


def _define(kind: ValueKind, factor: float, names: str, unit: str = "") -> None:
    for name in names.split():
        _UNITS[name] = (kind, factor, unit)


_define(ValueKind.DURATION, 1e-3, "ms millisecond milliseconds")
_define(ValueKind.DURATION, 1, "s sec secs second seconds sekunde sekunden seconde secondes 秒")
_define(ValueKind.DURATION, 60, "min mins minute minutes minuten minuto minutos 分钟")
_define(ValueKind.DURATION, 3600, "h hr hrs hour hours stunde stunden heure heures hora horas 小时")
_define(ValueKind.DURATION, 86_400, "day days tag tage tagen jour jours día días dias 天")
_define(ValueKind.DURATION, 604_800, "week weeks woche wochen semaine semaines semana semanas 周")
_define(ValueKind.DURATION, 2_629_800, "month months monat monate monaten mois mes meses 个月")
_define(ValueKind.DURATION, 31_557_600, "year years yr yrs jahr jahre jahren an ans année años")
_define(ValueKind.LENGTH, 1e-3, "mm millimetre millimetres millimeter millimeters")
_define(ValueKind.LENGTH, 1e-2, "cm centimetre centimetres centimeter centimeters 厘米")
_define(ValueKind.LENGTH, 1, "m metre metres meter meters meter metern mètre mètres metros 米")
_define(ValueKind.LENGTH, 1e3, "km kilometre kilometres kilometer kilometers kilometern 公里 千米")
_define(ValueKind.LENGTH, 0.3048, "ft foot feet")
_define(ValueKind.LENGTH, 0.0254, "in. inch inches")
_define(ValueKind.LENGTH, 0.9144, "yd yard yards")
_define(ValueKind.LENGTH, 1609.344, "mi mile miles")
_define(ValueKind.LENGTH, 1852, "nmi")
_define(ValueKind.MASS, 1e-3, "mg milligram milligrams")
_define(ValueKind.MASS, 1, "g gram grams gramm 克")
_define(ValueKind.MASS, 1e3, "kg kilogram kilograms kilogramm 公斤 千克")
_define(ValueKind.MASS, 1e6, "t tonne tonnes ton tons tonnen 吨")
_define(ValueKind.MASS, 453.592, "lb lbs")
_define(ValueKind.DATA, 1, "b byte bytes")
_define(ValueKind.DATA, 1e3, "kb kilobytes kilobyte")
_define(ValueKind.DATA, 1e6, "mb megabytes megabyte")
_define(ValueKind.DATA, 1e9, "gb gigabytes gigabyte")
_define(ValueKind.DATA, 1e12, "tb terabytes terabyte")
_define(ValueKind.DATA, 1024, "kib")
_define(ValueKind.DATA, 1024**2, "mib")
_define(ValueKind.DATA, 1024**3, "gib")
_define(ValueKind.SPEED, 1, "km/h kph kmh")
_define(ValueKind.SPEED, 1.609344, "mph")
_define(ValueKind.SPEED, 1.852, "knot knots kn kt")
_define(ValueKind.POWER, 1, "w watt watts")
_define(ValueKind.POWER, 1e3, "kw kilowatt kilowatts")
_define(ValueKind.POWER, 1e6, "mw megawatt megawatts")
_define(ValueKind.VOLUME, 1, "l litre litres liter liters")
_define(ValueKind.AREA, 1, "m² sqm")
_define(ValueKind.AREA, 1e4, "ha hectare hectares hektar")
_define(ValueKind.AREA, 1e6, "km²")
_define(ValueKind.TEMPERATURE, 1, "°c ℃", "c")
_define(ValueKind.TEMPERATURE, 1, "°f", "f")
_define(ValueKind.PERCENT, 1, "% percent prozent pourcent ％")
_define(ValueKind.MONEY, 1, "€ eur euro euros 欧元", "eur")
_define(ValueKind.MONEY, 1, "$ usd dollar dollars 美元", "usd")
_define(ValueKind.MONEY, 1, "£ gbp pound pounds", "gbp")
_define(ValueKind.MONEY, 1, "¥ jpy yen 円", "jpy")
_define(ValueKind.MONEY, 1, "chf franc francs franken", "chf")
_define(ValueKind.MONEY, 1, "元 人民币 yuan cny rmb", "cny")
_define(ValueKind.MONEY, 1, "crown crowns krone kroner kronor nok sek dkk", "crown")

_MONTHS = {
    name: place
    for place, names in enumerate(
        [
            "january jan januar janvier enero", "february feb februar février febrero",
            "march mar märz mars marzo", "april apr avril abril", "may mai mayo",
            "june jun juni juin junio", "july jul juli juillet julio", "august aug août agosto",
            "september sep sept septembre septiembre", "october oct oktober okt octobre octubre",
            "november nov novembre noviembre", "december dec dezember dez décembre diciembre",
        ],
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:1[0-9]{3}|20[0-9]{2}|21[0-9]{2})"
_DATES = re.compile(
    rf"\b(?P<iso>{_YEAR})-(?P<m1>\d\d)(?:-(?P<d1>\d\d))?\b"
    rf"|(?<!\d)(?P<cy>{_YEAR})年(?:(?P<cm>\d\d?)月)?(?:(?P<cd>\d\d?)日)?"
    rf"|\b(?P<d2>\d\d?)(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?(?P<m2>{_MONTH}),?(?:\s+(?:de\s+)?"
    rf"(?P<y2>{_YEAR})\b)?"
    rf"|\b(?P<m3>{_MONTH})\s+(?P<d3>\d\d?)(?:st|nd|rd|th)?\b(?:,?\s+(?P<y3>{_YEAR})\b)?"
    rf"|\b(?P<m4>{_MONTH}),?\s+(?P<y4>{_YEAR})\b"
    r"|\b(?P<clock>[0-2]?\d:[0-5]\d)\b",
    re.IGNORECASE,
)
_BARE_YEAR = re.compile(
    rf"(?:(?<=[\s(\[–—-])|^){_YEAR}s?(?=\s*(?:[.,;:)\]–—!?-]|\Z)|\s+(?P<next>[^\W\d_]+))"
)
_YEAR_BEFORE = re.compile(
    r"\b(?:in|since|of|by|until|till|from|to|after|before|around|about|circa|year|during|and|im|seit|"
    r"ab|bis|jahr|en|depuis|desde|año|spring|summer|autumn|winter|early|late|mid)\s+\Z|[(–—-]\s*\Z",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?:-[^\W\d_]+)?")
_CURRENCY = re.compile(r"[$€£¥]\s?\Z")
_LABEL = re.compile(
    r"(?:\b(?:section|sec|figure|fig|table|chapter|version|page|rfc|no|nr|part|step|line|route|room|"
    r"appendix|annex|article|equation|iso|python|release|v|abschnitt|seite|kapitel|tabelle)\.?\s*|"
    r"[#§]|(?<=\w)[-_/])\Z",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"(?<![A-Za-z0-9_À-ÿ.])(?P<digits>\d{1,3}(?:[,\u00a0\u2009\u202f’']\d{3})+(?:\.\d+)?(?!\d)"
    r"|\d{1,3}(?:\.\d{3}){2,}(?!\d)|\d{1,18}(?:[.,]\d{1,9})?)"
)
_AFTER = re.compile(
    r"[\s-]?(?P<symbol>[%％€$£¥]|°\s?[CF]|km/h|m²|km²|[万亿]|[^\W\d_]+(?:-[^\W\d_]+)?)"
)


def find_values(text: str) -> list[Value]:
    """Return the values stated in `text`, in order. Labels ("section 3", "[12]") are none."""
    dates = list(_dates(text))
    taken = [(value.start, value.end) for value in dates]
    found = dates + [
        value
        for value in _amounts(text)
        if not any(start < value.end and value.start < end for start, end in taken)
    ]
    return sorted(found, key=lambda value: value.start)


def _dates(text: str) -> list[Value]:
    found: list[Value] = []
    for match in _DATES.finditer(text):
        if clock := match["clock"]:
            hour, minute = clock.split(":")
            amount = int(hour) * 60 + int(minute)
            found.append(Value(ValueKind.CLOCK, amount, 1, "", *match.span()))
            continue
        year = match["iso"] or match["cy"] or match["y2"] or match["y3"] or match["y4"] or "0"
        named = match["m2"] or match["m3"] or match["m4"]
        month = (
            _MONTHS[named.lower().rstrip(".")] if named else int(match["m1"] or match["cm"] or 0)
        )
        day = match["d1"] or match["cd"] or match["d2"] or match["d3"] or "0"
        found.append(_date(int(year), month, int(day), *match.span()))
    for match in _BARE_YEAR.finditer(text):
        follows = match["next"]
        plausible = _opens_date(text, match.start()) or (
            follows is not None and not is_content(follows)
        )
        counted = follows is not None and fold(follows) in _UNITS
        covered = any(value.start <= match.start() < value.end for value in found)
        if plausible and not counted and not covered:
            found.append(_date(int(match.group().rstrip("s")), 0, 0, *match.span()))
    return found


def _opens_date(text: str, at: int) -> bool:
    return at == 0 or _YEAR_BEFORE.search(text[max(0, at - 24) : at]) is not None


def _date(year: int, month: int, day: int, start: int, end: int) -> Value:
    step = 1 if day else 100 if month else 10_000
    return Value(ValueKind.DATE, year * 10_000 + month * 100 + day, step, "", start, end)


def _amounts(text: str) -> list[Value]:
    found: list[Value] = []
    for match in _FIGURE.finditer(text):
        before = text[max(0, match.start() - 24) : match.start()]
        marked = before.endswith("[") and text[match.end() : match.end() + 1] in ("]", ",")
        if marked or _LABEL.search(before) or _is_list_mark(text, match.start(), match.end()):
            continue
        number, step = _number(match["digits"])
        start = match.start()
        if re.search(r"(?:^|[\s(])[-−]\Z", before):
            number, start = -number, start - 1
        found.append(_measured(text, number, step, start, match.end()))
    for word in _NUMBER_WORD.finditer(text):
        number_word = _spelled(word.group())
        if number_word is not None and not _is_idle(text, word):
            value = _measured(text, number_word, 1, word.start(), word.end())
            if value.unit or value.kind is not ValueKind.NUMBER:
                found.append(value)
    return found


def _spelled(word: str) -> float | None:
    """Return the number that `word` spells ("twelve", "twenty-two"), or None."""
    tens, dash, ones = word.lower().partition("-")
    number = _NUMBERS.get(tens)
    if number is None or not dash:
        return number
    below_ten = _NUMBERS.get(ones, 0.0)
    return number + below_ten if number >= 20 and 0 < below_ten < 10 else None


def _is_idle(text: str, word: re.Match[str]) -> bool:
    """Tell whether a number word only scales a figure before it, or is "one of", "no one"."""
    if re.search(r"\d\s\Z", text[: word.start()]):
        return True
    return word.group().lower() == "one" and not re.match(r"\s+[^\W\d_]+", text[word.end() :])


def _is_list_mark(text: str, start: int, end: int) -> bool:
    if text[end : end + 1] not in (".", ")") or text[end + 1 : end + 2].strip():
        return False
    return not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t(")


def _number(digits: str) -> tuple[float, float]:
    """Return a figure's amount, and what its last digit is worth."""
    plain = re.sub(r"[\u00a0\u2009\u202f’']", "", digits)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        plain = plain.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", plain):
        plain = plain.replace(".", "")
    plain = plain.replace(",", ".")
    decimals = plain.partition(".")[2]
    return float(plain), 10.0 ** -len(decimals) if decimals else 1.0


def _measured(text: str, number: float, step: float, start: int, end: int) -> Value:
    before = text[max(0, start - 24) : start]
    stop = end
    match = _AFTER.match(text, stop)
    if match and (scale := _SCALES.get(match["symbol"].lower())):
        number, step, stop = number * scale, step * scale, match.end()
        stop += text[stop : stop + 1] == "."
        match = _AFTER.match(text, stop)
    near = any(fold(word) in APPROXIMATIONS for word in before.split()[-2:]) or before[-1:] == "~"
    if currency := _CURRENCY.search(before):
        unit = _UNITS[currency.group().strip()][2]
        return Value(ValueKind.MONEY, number, step, unit, start - len(currency.group()), stop, near)
    if match is None:
        return Value(ValueKind.NUMBER, number, step, "", start, stop, near)
    symbol = match["symbol"].lower().replace(" ", "")
    if symbol == "nautical" and (miles := re.match(r"\s+miles?\b", text[match.end() :])):
        end = match.end() + miles.end()
        return Value(ValueKind.LENGTH, number * 1852, step * 1852, "", start, end, near)
    if symbol == "per" and re.match(r"\s+cent\b", text[match.end() :]):
        return Value(ValueKind.PERCENT, number, step, "", start, match.end() + 5, near)
    base, _, rest = symbol.partition("-")
    known = _UNITS.get(symbol) or (_UNITS.get(base) if rest else None)
    if known:
        kind, factor, unit = known
        return Value(kind, number * factor, step * factor, unit, start, match.end(), near)
    if _is_unspaced_unit(text, stop):
        bare = Value(ValueKind.NUMBER, number, step, "", start, stop, near)
        return _unspaced(text, bare)
    if not is_content(symbol):
        return Value(ValueKind.NUMBER, number, step, "", start, stop, near)
    return Value(ValueKind.NUMBER, number, step, stem(symbol), start, match.end(), near)


def _is_unspaced_unit(text: str, stop: int) -> bool:
    return bool(re.match(r"\s?[\u3400-\u9fff]", text[stop:]))


def _unspaced(text: str, bare: Value) -> Value:
    """Give `bare` the unit that follows it in a script without spaces."""
    at = bare.end + (text[bare.end] == " ")
    for size in (2, 1):
        if known := _UNITS.get(text[at : at + size]):
            kind, factor, unit = known
            amount, step = bare.amount * factor, bare.step * factor
            return Value(kind, amount, step, unit, bare.start, at + size, bare.approximate)
    return replace(bare, unit=text[at : at + 1], end=at + 1)
