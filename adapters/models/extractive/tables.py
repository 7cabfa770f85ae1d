"""What a table's header says of the numbers in the cells under it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from adapters.models.extractive.terms import fold
from adapters.models.extractive.units import CURRENCY_SIGNS, UNITS, ValueKind
from adapters.models.extractive.values import Value

_PRICED = re.compile(
    r"\b(?:prices?|costs?|fees?|fares?|charges?|tariffs?|rent|salary|wages?|deposit|budget|preise?|"
    r"kosten|gebühr(?:en)?|tarif|prix|precios?|importe)\b",
    re.IGNORECASE,
)
_WORD = re.compile(rf"[{CURRENCY_SIGNS}%]|[^\W\d_]+(?:/[a-z]+)?|°\s?[CF]")
_BRACKETED = re.compile(r"[(\[]([^)\]]{1,20})[)\]]|,\s*([^,|]{1,12})\s*\Z|\bin\s+([^|]{1,12})\s*\Z")
_RULE = re.compile(r"[\s|:+=-]+\Z")


def with_header(text: str, values: Sequence[Value], header: str = "") -> tuple[Value, ...]:
    """Return `values` of the rows in `text`, bare numbers with the unit their column's header says.

    The header is the first line of `text` unless `header` is given: "Price (EUR)" or "Weight, kg"
    state a unit, "Price" alone makes an amount of money.
    """
    first, _, rest = text.partition("\n")
    if not header and not rest.strip():
        return tuple(values)
    columns = _cells(header or first)
    if len(columns) < 2:
        return tuple(values)
    units = [_unit(column) for column in columns]
    if not any(units):
        return tuple(values)
    body = 0 if header else len(first)
    return tuple(_measured(value, text, units, body) for value in values)


def _cells(line: str) -> list[str]:
    mark = "|" if "|" in line else "\t"
    if mark not in line:
        return []
    return [cell.strip() for cell in _bare(line).strip(f" {mark}").split(mark)]


def _bare(line: str) -> str:
    """Return `line` with other signs for the bars that its cells hold, escaped."""
    return line.replace(r"\|", "/ ")


def _unit(column: str) -> tuple[ValueKind, float, str] | None:
    """Return the unit that a column's header states; of several words only one set apart counts."""
    for match in _BRACKETED.finditer(column):
        said = next(filter(None, match.groups()))
        for word in _WORD.findall(said):
            if known := UNITS.get(fold(word).replace(" ", "")):
                return known
    for word in _WORD.findall(column):
        known = UNITS.get(fold(word))
        if known and known[0] is ValueKind.MONEY:
            return known
    return (ValueKind.MONEY, 1.0, "") if _PRICED.search(column) else None


def _measured(
    value: Value, text: str, units: Sequence[tuple[ValueKind, float, str] | None], body: int
) -> Value:
    if value.kind is not ValueKind.NUMBER or value.unit or value.start < body:
        return value
    begin = text.rfind("\n", 0, value.start) + 1
    line = _bare(text[begin : text.find("\n", begin) if "\n" in text[begin:] else len(text)])
    mark = "|" if "|" in line else "\t"
    offset = len(line) - len(line.lstrip(f" {mark}"))
    place = line[offset : value.start - begin].count(mark)
    known = units[place] if place < len(units) else None
    if known is None or _RULE.match(line):
        return value
    kind, factor, unit = known
    return replace(
        value, kind=kind, amount=value.amount * factor, step=value.step * factor, unit=unit
    )
