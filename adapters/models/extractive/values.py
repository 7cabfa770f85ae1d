"""Numbers, amounts and dates that a text states, each with its unit, in comparable form."""

import re
from dataclasses import dataclass, replace

from adapters.models.extractive.lexicon import APPROXIMATIONS
from adapters.models.extractive.numbered import is_part_of_name
from adapters.models.extractive.terms import fold, is_content, stem
from adapters.models.extractive.units import (
    CURRENCY_SIGNS,
    MONTHS,
    NUMBERS,
    SCALES,
    UNITS,
    ValueKind,
)


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


_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
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
    r"ab|bis|jahr|jahre|anno|um|wurden?|war|en|depuis|desde|año|spring|summer|autumn|winter|early|late|mid)\s+\Z|[(–—-]\s*\Z",
    re.IGNORECASE,
)
_CODES = "|".join(
    sorted(
        name.upper()
        for name, known in UNITS.items()
        if known[0] is ValueKind.MONEY and re.fullmatch("[a-z]{3}", name)
    )
)
_NUMBER_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?:-[^\W\d_]+)?")
_CURRENCY = re.compile(
    rf"(?P<sign>[{CURRENCY_SIGNS}])\s?\Z|(?<![^\W_])(?P<code>(?-i:{_CODES})|kr|rs)\.?\s\Z",
    re.IGNORECASE,
)
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
    rf"\+?[\s-]?(?P<symbol>[%％{CURRENCY_SIGNS}]|°\s?[CF]|km/h|m/s\b|ft/s\b|m²|km²|[万亿]|[^\W\d_]+(?:-[^\W\d_]+)?)"
)

# What may stand between a figure and the unit of time it counts, and what makes that another unit.
_COUNTING = re.compile(
    r"(?:(?P<own>business|working|trading|school)|calendar|consecutive|full|whole|straight|solid"
    r"|successive)\s+(?P<unit>[^\W\d_]+)",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    r"\b(?:for|within|after|is|lasts?|least|most|exactly|only|than|about|nearly|almost|until|pendant)"
    r"\s+(?P<one>an?|une?)\s+(?:(?:full|whole|single|calendar)\s+)?(?P<unit>[^\W\d_]+)",
    re.IGNORECASE,
)
_RANGE_BEFORE = re.compile(r"(?<![\w.,-])\d{1,4}(?:[.,]\d+)?-\Z")


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
        month = MONTHS[named.lower().rstrip(".")] if named else int(match["m1"] or match["cm"] or 0)
        day = match["d1"] or match["cd"] or match["d2"] or match["d3"] or "0"
        found.append(_date(int(year), month, int(day), *match.span()))
    for match in _BARE_YEAR.finditer(text):
        follows = match["next"]
        plausible = _opens_date(text, match.start()) or (
            follows is not None and not is_content(follows)
        )
        counted = follows is not None and fold(follows) in UNITS
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
        named = is_part_of_name(text, match.start(), match.end())
        if (
            marked
            or named
            or (_LABEL.search(before) and not _ends_range(text, match))
            or _is_list_mark(text, match.start(), match.end())
        ):
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
    return [*found, *_single(text)]


def _ends_range(text: str, match: re.Match[str]) -> bool:
    """Tell whether a figure is the last one of "20-40 days", rather than a part of a code."""
    if not _RANGE_BEFORE.search(text[max(0, match.start() - 12) : match.start()]):
        return False
    after = _AFTER.match(text, match.end())
    return after is not None and after["symbol"].lower() in UNITS


def _single(text: str) -> list[Value]:
    """Return the lengths of time that an article counts: "for a month"."""
    found: list[Value] = []
    for match in _SINGLE.finditer(text):
        kind, factor, unit = UNITS.get(match["unit"].lower(), (ValueKind.NUMBER, 1.0, ""))
        if kind is ValueKind.DURATION and len(match["unit"]) > 2:
            span = match.start("one"), match.end("unit")
            found.append(Value(kind, factor, factor, unit, *span))
    return found


def _spelled(word: str) -> float | None:
    """Return the number that `word` spells ("twelve", "twenty-two"), or None."""
    tens, dash, ones = word.lower().partition("-")
    number = NUMBERS.get(tens)
    if number is None or not dash:
        return number
    below_ten = NUMBERS.get(ones, 0.0)
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


def number_of(digits: str) -> float:
    """Return the amount that the figure `digits` stands for."""
    return _number(digits)[0]


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
    if match and (scale := SCALES.get(match["symbol"].lower())):
        number, step, stop = number * scale, step * scale, match.end()
        stop += text[stop : stop + 1] == "."
        match = _AFTER.match(text, stop)
    near = any(fold(word) in APPROXIMATIONS for word in before.split()[-2:]) or before[-1:] == "~"
    if currency := _CURRENCY.search(before):
        unit = UNITS[(currency["sign"] or currency["code"]).lower()][2]
        return Value(ValueKind.MONEY, number, step, unit, start - len(currency.group()), stop, near)
    if match is None:
        return Value(ValueKind.NUMBER, number, step, "", start, stop, near)
    symbol = match["symbol"].lower().replace(" ", "")
    if symbol == "nautical" and (miles := re.match(r"\s+miles?\b", text[match.end() :])):
        end = match.end() + miles.end()
        return Value(ValueKind.LENGTH, number * 1852, step * 1852, "", start, end, near)
    if symbol == "per" and re.match(r"\s+cent\b", text[match.end() :]):
        return Value(ValueKind.PERCENT, number, step, "", start, match.end() + 5, near)
    if counted := _COUNTING.match(text, match.start("symbol")):
        kind, factor, _ = UNITS.get(counted["unit"].lower(), (ValueKind.NUMBER, 1.0, ""))
        if kind is ValueKind.DURATION:
            own = (counted["own"] or "").lower()
            return Value(kind, number * factor, step * factor, own, start, counted.end(), near)
    base, _, rest = symbol.partition("-")
    known = UNITS.get(symbol) or (UNITS.get(base) if rest else None)
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
        if known := UNITS.get(text[at : at + size]):
            kind, factor, unit = known
            amount, step = bare.amount * factor, bare.step * factor
            return Value(kind, amount, step, unit, bare.start, at + size, bare.approximate)
    return replace(bare, unit=text[at : at + 1], end=at + 1)
