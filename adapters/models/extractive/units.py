"""Units, number words and months in the languages that are read, with their factors."""

from enum import StrEnum


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


NUMBERS = {
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
SCALES = {
    "thousand": 1e3, "tausend": 1e3, "million": 1e6, "millions": 1e6, "millionen": 1e6, "mio": 1e6,
    "billion": 1e9, "billions": 1e9, "milliarden": 1e9, "mrd": 1e9, "hundred": 100.0,
    "万": 1e4, "亿": 1e8,
}  # fmt: skip
UNITS: dict[str, tuple[ValueKind, float, str]] = {}


def _define(kind: ValueKind, factor: float, names: str, unit: str = "") -> None:
    for name in names.split():
        UNITS[name] = (kind, factor, unit)


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
_define(ValueKind.SPEED, 3.6, "m/s")
_define(ValueKind.SPEED, 1.09728, "ft/s")
_define(ValueKind.SPEED, 1, "rpm", "rpm")
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
_define(ValueKind.MONEY, 1, "crown crowns kr krone kroner kronor nok sek dkk isk", "crown")
_define(ValueKind.MONEY, 1, "cent cents ct ¢", "cent")
_define(ValueKind.MONEY, 1, "pence penny", "penny")
_define(ValueKind.MONEY, 1, "zł pln zloty zlotys", "pln")
_define(ValueKind.MONEY, 1, "₹ inr rs rupee rupees", "inr")
_define(ValueKind.MONEY, 1, "₩ krw", "krw")
_define(ValueKind.MONEY, 1, "₽ rub rouble roubles ruble rubles", "rub")
_define(ValueKind.MONEY, 1, "₺ lira liras", "try")
_define(ValueKind.MONEY, 1, "₴ uah hryvnia", "uah")
_define(ValueKind.MONEY, 1, "czk kč koruna", "czk")
_define(ValueKind.MONEY, 1, "huf forint forints", "huf")
_define(ValueKind.MONEY, 1, "aud", "aud")
_define(ValueKind.MONEY, 1, "cad", "cad")
_define(ValueKind.MONEY, 1, "nzd", "nzd")
_define(ValueKind.MONEY, 1, "sgd", "sgd")
_define(ValueKind.MONEY, 1, "brl reais", "brl")
_define(ValueKind.MONEY, 1, "peso pesos mxn", "peso")
_define(ValueKind.MONEY, 1, "zar rand", "zar")
CURRENCY_SIGNS = "$€£¥₹₩₽₺₴¢"

MONTHS = {
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
