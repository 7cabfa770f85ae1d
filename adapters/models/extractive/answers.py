"""What sort of answer a question expects, and whether a quote holds one."""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import cache

from adapters.models.extractive.lexicon import CALENDAR
from adapters.models.extractive.markup import visible
from adapters.models.extractive.terms import fold, stem
from adapters.models.extractive.units import ValueKind
from adapters.models.extractive.values import Value, find_values


class Expected(StrEnum):
    """The sort of answer a question asks for; its value says so to people."""

    PERSON = "a person or body"
    DATE = "a date"
    TIME = "a time or occasion"
    COUNT = "a number"
    MONEY = "an amount of money"
    DURATION = "a length of time"
    MEASURE = "a measure with its unit"
    PLACE = "a place"
    REASON = "a reason"
    VERSION = "a version"
    OPEN = "a statement"


_DIMENSIONS = {
    "tall": ValueKind.LENGTH, "high": ValueKind.LENGTH, "height": ValueKind.LENGTH,
    "far": ValueKind.LENGTH, "deep": ValueKind.LENGTH, "wide": ValueKind.LENGTH,
    "thick": ValueKind.LENGTH, "heavy": ValueKind.MASS, "weigh": ValueKind.MASS,
    "warm": ValueKind.TEMPERATURE, "cool": ValueKind.TEMPERATURE, "thin": ValueKind.LENGTH,
    "narrow": ValueKind.LENGTH, "shallow": ValueKind.LENGTH, "slow": ValueKind.SPEED,
    "fast": ValueKind.SPEED, "hot": ValueKind.TEMPERATURE, "cold": ValueKind.TEMPERATURE,
    "old": ValueKind.DURATION, "distance": ValueKind.LENGTH, "width": ValueKind.LENGTH,
    "weight": ValueKind.MASS, "speed": ValueKind.SPEED, "age": ValueKind.DURATION,
    "depth": ValueKind.LENGTH, "temperature": ValueKind.TEMPERATURE, "long": ValueKind.DURATION,
    "duration": ValueKind.DURATION, "cost": ValueKind.MONEY, "size": ValueKind.AREA,
    "percentage": ValueKind.PERCENT, "share": ValueKind.PERCENT, "date": ValueKind.DATE,
    "year": ValueKind.DATE,
}  # fmt: skip
_BY_STEM = {stem(word): kind for word, kind in _DIMENSIONS.items()}
# One alternative a line; where two sorts begin at one place, the earlier sort wins.
_QUESTIONS = {
    Expected.MONEY: r"""
how much\b.*\b(?:costs?|pays?|paid|earn|charge[ds]?|spen[dt]|prices?|fees?|sells?|sold|worth)\b
what\b.*\b(?:price|cost|fee|fare|salary|fine|budget|tariff)\b(?! of living)
was kostet|wie teuer|wie viel kostet|combien co[uû]te|cu[aá]nto cuesta
多少钱
""",
    Expected.VERSION: r"""
(?:which|what|(?:from|since) which) (?:(?!must|should|do|does|did|can|will|the)\w+ ){0,2}versions?\b
what (?:is|was|are) the (?:\w+ ){0,2}versions?\b
welche (?:\w+)?versione?n?\b|quelles? versions?\b|qué versi[oó]n
哪些?版本|什么版本
""",
    Expected.DURATION: r"""
how (?:long|old)\b(?! is the (?:river|road|tunnel|bridge|wall|coast))
for how (?:many|long)|what (?:is|are) the (?:duration|lifetime|retention)
wie (?:lange|alt)\b|combien de temps|cu[aá]nto tiempo
多久|多长时间
""",
    Expected.COUNT: r"""
how many\b|how often\b|what (?:is|was) the (?:number|population|total)\b
wie ?viele\b|wie oft\b|combien\b|cu[aá]nt[oa]s\b
多少(?!钱)|几(?!乎)|いくつ|何人
""",
    Expected.MEASURE: r"""
how (?:tall|high|far|deep|wide|thick|heavy|fast|hot|cold|big|large|much|strong)\b
how (?:warm|cool|loud|steep|thin|narrow|shallow|slow(?:ly)?|powerful|bright|quick(?:ly)?)\b
what (?:is|was) the (?:height|width|depth|weight|speed|distance|temperature|size|length)\b
(?:at )?what (?:height|width|depth|weight|speed|distance|temperature|size|length|capacity)\b
wie (?:hoch|weit|tief|breit|schwer|schnell|viel|gro[sß])
多[高大重深远宽快]
""",
    Expected.DATE: r"""
when (?:was|were|did|had)\b|(?:what|which|in which) (?:year|date|day|month)\b|since when
wann (?:wurde|war|hat|ist)|in welchem jahr|seit wann|quand (?:a|fut|est)|cu[aá]ndo (?:fue|se)
什么时候|何时|哪年|哪一年|いつ
""",
    Expected.TIME: r"""
when\b|wann\b|quand\b|cu[aá]ndo\b|(?:at )?what time\b
""",
    Expected.PERSON: r"""
who\b|whom\b|whose\b|by whom
(?:which|what) (?:person|company|team|organi[sz]ation|author|office|body)\b
wer\b|wen\b|wem\b|qui\b|qui[eé]n(?:es)?\b
谁|誰
""",
    Expected.PLACE: r"""
where\b|(?:in )?(?:which|what) (?:city|country|town|place|room|street|region)\b
wo\b|woher\b|wohin\b|o[uù] (?:est|se)|d[oó]nde\b
哪里|哪儿|何处|どこ
""",
    Expected.REASON: r"""
why\b|what (?:causes|caused|is the reason|are the reasons)
warum\b|wieso\b|weshalb\b|pourquoi\b|por qu[eé]\b
为什么|为何|なぜ
""",
}


@cache
def _asking() -> dict[Expected, re.Pattern[str]]:
    before = r"(?<![^\W\u3040-\u9fff])"
    return {
        kind: re.compile(before + f"(?:{'|'.join(lines.strip().splitlines())})", re.IGNORECASE)
        for kind, lines in _QUESTIONS.items()
    }


_ASPECT = re.compile(r": (?:the )?([^:()]+) \(compared with: ", re.IGNORECASE)
_ANCHORED = re.compile(
    r"(?:and|so|but|then|exactly|in|at|by|for|on|to|from|since|until)\b\s*", re.IGNORECASE
)

_OCCASION = re.compile(
    r"\b(?:when|whenever|after|before|once|until|while|as soon as|during|daily|weekly|"
    r"monthly|yearly|"
    r"annually|every|each|always|never|immediately|noon|midnight|dawn|dusk|sunset|sunrise|"
    r"spring|summer"
    r"|autumn|winter|morning|evening|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"century|nach|vor|"
    r"sobald|wenn|täglich|avant|après)\b",
    re.IGNORECASE,
)
_CENTURY = re.compile(
    r"\b(?:century|decade|spring|summer|autumn|winter|19\d0s|18\d0s|世纪)\b", re.IGNORECASE
)
_CAUSE = re.compile(
    r"\b(?:because|since|due to|owing to|so that|in order to|as a result|caused? by|causes|"
    r"leads? to|"
    r"therefore|thus|hence|to (?:avoid|prevent|ensure|protect|reduce|keep|allow|make|save|"
    r"help|stop)|"
    r"reasons?|otherwise|thereby|this means|means that|so as to|for fear|thanks to|"
    r"prevents?|avoids?|"
    r"weil|denn|wegen|damit|daher|deshalb|aufgrund|parce que|car|afin|porque|debido)\b|"
    r"because|因为|由于|"
    r"因此|所以|ため|から", re.IGNORECASE,
)  # fmt: skip
_ROLES = re.compile(
    r"\b(?:director|keeper|manager|minister|ministry|officer|president|chair(?:man|woman|person)?|"
    r"committee|council|board|company|department|office|authority|agency|team|trust|association|"
    r"society|author|engineer|inspector|secretary|governor|mayor|curator|captain|owner|operators?|"
    r"administrators?|maintainers?|users?|members?|staff|contractor|crew|volunteers?|family|"
    r"foundation|institute|university|government|leiter(?:in)?|direktor(?:in)?|amt|behörde|"
    r"verein)\b"
    r"|人|者|员|局|公司|会", re.IGNORECASE,
)  # fmt: skip
_PASSIVE = re.compile(
    r"\b(?:be|been|being|is|are|was|were)\s+(?:\w+ly\s+|now\s+|still\s+|first\s+)?"
    r"(?P<verb>[a-z]+(?:ed|en|ilt|ade|un|wn))\b"
)
_AGENT = re.compile(r"\bby\b|@\w", re.IGNORECASE)
_HANDLE = re.compile(r"(?<![\w/.])@[A-Za-z][\w-]+(?![\w./-]*/)|[\w.+-]+@[\w-]+\.\w+")
_NAME = re.compile(r"(?<![.!?:\n]\s)(?<!^)\b[A-ZÀ-ÖØ-Þ][\w’'-]+")
_PLACED = re.compile(r"\b(?:on|via|at|in|auf|im|sur|dans)\s+\Z", re.IGNORECASE)
_TWO_NAMES = re.compile(
    r"\b[A-ZÀ-ÖØ-Þ][\w’'-]+\s+(?:(?:de|van|von|der|la|of)\s+)*"
    r"(?:[A-Z]\.\s+)*[A-ZÀ-ÖØ-Þ][\w’'-]+"
)
_VERSION = re.compile(
    r"\bv?\d+(?:\.(?:\d+|x))+|\bv\d|[^\W\d_]@v?\d|[<>=~]=\s*\d|[^\W\d_]\s?\d+\+"
    r"|\b(?:version|release|series)s?\s\d+\b",
    re.IGNORECASE,
)
_RATIO = re.compile(
    r"\d\s?(?:x|×|times|-fold)\b|\d\s?%|\d\s?(?:rpm|hz|[kmg]hz|fps|[km]?bps|[kmgt]?bit/s|[kmgt]i?b/s)\b"
    r"|\d\s(?:[a-z-]+\s){0,3}(?:per|an?|each|every|/)\s(?:milli)?(?:second|sec|minute|min|hour|day|week)\b|"
    r"\d\s?[a-z]+/(?:s|sec|min|h|hr|hour|day)\b|\b(?:twice|half|orders? of magnitude)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\bhow many (?:(?:of|the)\s+)*([^\W\d_]+)", re.IGNORECASE)
_NUMBER_WORD = re.compile(
    r"\b(?:no|none|single|twice|once|daily|weekly|monthly|yearly|every)\b|[一二三四五六七八九十百千两]",
    re.IGNORECASE,
)
_EXTENT = re.compile(r"\bhow long (?:is|are|was|were)\b(?!.*\w(?:ed|en)\W*\Z)", re.IGNORECASE)
_LONG = re.compile(r"\b(?:long|length)\b", re.IGNORECASE)
_SITE = re.compile(
    r"\b(?:in|at|on|near|under|inside|behind|beside|between|beneath|off|im|am|auf|bei|neben|unter|à|"
    r"dans|sur|en)\s+(?:the\s+|der\s+|dem\s+|la\s+|le\s+)?(?P<name>[^\W\d_]+)"
    r"|\b(?:from|to|via|of|outside|opposite|past|aus|nach|von|de)\s+(?:(?:the|our|an?|der|dem|la|le)\s+)?"
    r"(?P<source>[A-ZÀ-ÖØ-Þ][^\W\d_]+)"
)
_SITE_WORD = re.compile(
    r"\b(?:north|south|east|west|floor|room|building|street|road|island|harbou?r|bay|directory|folder|"
    r"file|cellar|tower|valley|village|city|town|district|county|province|region|coast)\b"
    r"|[/~]\w+/|\w://\w|位于|在",
    re.IGNORECASE,
)


def expected_answer(question: str) -> Expected:
    """Return what `question` asks for, judged by its question words."""
    if aspect := _ASPECT.search(question):
        return expected_answer(f"What is the {aspect[1]}?")
    best: tuple[int, Expected] | None = None
    for kind, pattern in _asking().items():
        match = pattern.search(question)
        if match is not None and (best is None or match.start() < best[0]):
            best = match.start(), kind
    return best[1] if best and _is_asked(question, best[0]) else Expected.OPEN


def _is_asked(question: str, at: int) -> bool:
    """Tell whether the question word opens the question, rather than some clause within it."""
    lead = question[:at].strip().lower()
    lead = _ANCHORED.sub("", lead).strip(" ,¿¡\"'“(")
    unspaced = not question[at : at + 2].strip().isascii()
    return unspaced or not lead or len(lead.split()) <= 1


def stands_for(term: str, values: Iterable[Value]) -> bool:
    """Tell whether one of `values` is what the stem `term` speaks of: "temperature" and 18 °C."""
    kind = _BY_STEM.get(term)
    return kind is not None and any(value.kind is kind for value in values)


def wanted_kind(question: str) -> ValueKind | None:
    """Return the dimension a measure must have, as "how tall" wants a length; None: any."""
    match = re.search(r"\b(?:how|the|what|wie)\s+(\w+)", question, re.IGNORECASE)
    wanted = _DIMENSIONS.get(fold(match[1])) if match else None
    return None if wanted is ValueKind.AREA else wanted  # a size may be told in many ways


def holds_answer(
    quote: str, question: str, expected: Expected, values: list[Value] | None = None
) -> bool:
    """Tell whether `quote` holds an answer of the sort `expected`, one the question does not."""
    values = find_values(quote) if values is None else values
    kinds = {value.kind for value in values}
    match expected:
        case Expected.OPEN:
            return True
        case Expected.DATE:
            return ValueKind.DATE in kinds or _CENTURY.search(quote) is not None
        case Expected.TIME:
            timed = {ValueKind.DATE, ValueKind.CLOCK, ValueKind.DURATION} & kinds
            return bool(timed) or _OCCASION.search(quote) is not None
        case Expected.DURATION:
            extent = _EXTENT.search(question) is not None and ValueKind.LENGTH in kinds
            return ValueKind.DURATION in kinds or (extent and _LONG.search(quote) is not None)
        case Expected.MONEY:
            return ValueKind.MONEY in kinds
        case Expected.COUNT:
            return _counts(quote, question, values)
        case Expected.MEASURE:
            wanted = wanted_kind(question)
            measured = kinds - {ValueKind.DATE, ValueKind.CLOCK}
            if wanted is None or wanted in kinds:
                return bool(measured)
            return wanted is ValueKind.SPEED and _RATIO.search(quote) is not None
        case Expected.PERSON:
            return _names_someone(quote, question) and not _leaves_agent_unsaid(quote, question)
        case Expected.PLACE:
            return _tells_place(quote, question)
        case Expected.VERSION:
            return _VERSION.search(quote) is not None
        case Expected.REASON:
            return _CAUSE.search(quote) is not None


def _counts(quote: str, question: str, values: Iterable[Value]) -> bool:
    """Tell whether the quote has a number, or a word for one, that may count what is asked."""
    match = _COUNTED.search(question)
    counted = stem(match[1]) if match else ""
    met = not counted or any(stem(word) == counted for word in re.findall(r"[^\W\d_]+", quote))
    for value in values:
        bare = value.kind is not ValueKind.NUMBER or not value.unit or value.unit == counted
        if value.kind not in (ValueKind.DATE, ValueKind.CLOCK) and (bare or met):
            return True
    if not counted:
        return _NUMBER_WORD.search(quote) is not None
    few = re.findall(r"\b(?:no|none of the|a single|only one|every)\s+([^\W\d_]+)", quote.lower())
    return any(stem(word) == counted for word in few)


def _tells_place(quote: str, question: str) -> bool:
    asked = {stem(word) for word in re.findall(r"[^\W\d_]+", question)}
    if any(stem(match.group()) not in asked for match in _SITE_WORD.finditer(quote)):
        return True
    return any(
        stem(name) not in asked and fold(name) not in CALENDAR
        for match in _SITE.finditer(quote)
        if (name := match["name"] or match["source"])
        and (name[0].isupper() or match.group().count(" ") > 1)
    )


def _leaves_agent_unsaid(quote: str, question: str) -> bool:
    """Tell whether the quote has the question's verb in the passive, without saying by whom."""
    asked = {stem(word) for word in re.findall(r"[^\W\d_]+", question)}
    passives = [m for m in _PASSIVE.finditer(quote) if stem(m["verb"]) in asked]
    return bool(passives) and not any(_AGENT.search(quote, m.end()) for m in passives)


def _names_someone(quote: str, question: str) -> bool:
    asked = {stem(word) for word in re.findall(r"[^\W\d_]+", question)}
    quote = visible(quote)
    for pattern in (_TWO_NAMES, _NAME):
        for match in pattern.finditer(quote):
            if pattern is _NAME and _PLACED.search(quote, 0, match.start()):
                continue  # "on GitHub", "in Marnby"
            if any(stem(word) not in asked for word in re.findall(r"[^\W\d_]{3,}", match.group())):
                return True
    if _HANDLE.search(quote):
        return True
    return any(stem(match.group()) not in asked for match in _ROLES.finditer(quote))
