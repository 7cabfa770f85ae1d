"""Quote matching: damaged sentences are found again, and those that say something else are not.

True sentences come from published reports and are damaged as extractors and models damage them,
the same way in every run.
"""

import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from state.values.quotes import NormalisedText
from tests.evals.data import records
from tests.evals.measuring import Row
from tests.evals.scores import share

FILE = "published_reports/gpt-4.1.jsonl"
FIELDS = {"article": str}
_PER_REPORT = 12
_FEWEST = 8  # words of a sentence
_SENTENCE = re.compile(r"[A-Z][^.!?\n\[\]|*`<>]{50,300}[.!?](?=\s)")
_DIGIT = re.compile(r"(?<![\d.,])\d+(?![\d.,]*\d)")

Damage = Callable[[str, random.Random], str]


def measure(folder: Path) -> Iterable[Row]:
    """Yield the share found for each kind of damage, and the share refused of each falsehood."""
    rng = random.Random(7)
    cases = []
    for record in records(folder, FILE, FIELDS):
        text = record["article"]
        found = (match.group() for match in _SENTENCE.finditer(text))
        sentences = [sentence for sentence in found if len(sentence.split()) >= _FEWEST]
        picked = rng.sample(sentences, min(_PER_REPORT, len(sentences)))
        cases += [(NormalisedText(text), text, sentence) for sentence in picked]
    for name, damage in _DAMAGES.items():
        matched, simple = [], []
        for source, text, sentence in cases:
            quote = damage(sentence, rng)
            if quote != sentence:
                span = source.find(quote)
                matched.append(span is not None and _is_it(text[span.start : span.end], sentence))
                simple.append(quote in text)
        note = "plain search"
        yield Row("quotes", f"found: {name}", share(matched), len(matched), share(simple), note)
    for name, falsify in _FALSEHOODS.items():
        refused = [
            source.find(quote) is None
            for source, _, sentence in cases
            if (quote := falsify(sentence, rng)) != sentence
        ]
        yield Row("quotes", f"refused: {name}", share(refused), len(refused))


def _is_it(found: str, sentence: str) -> bool:
    return "".join(found.split()) == "".join(sentence.split())


def _hyphenated(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    long = [at for at, word in enumerate(words) if len(word) > 7 and word.isalpha()]
    if long:
        at = rng.choice(long)
        words[at] = f"{words[at][:4]}-\n{words[at][4:]}"
    return " ".join(words)


def _rewrapped(text: str, rng: random.Random) -> str:
    return "".join("\n" if char == " " and rng.random() < 0.2 else char for char in text)


_DAMAGES: dict[str, Damage] = {
    "lines broken elsewhere": _rewrapped,
    "a word hyphenated at a line's end": _hyphenated,
    "curly quotes and long dashes": lambda text, _: (
        text.replace("'", "\u2019").replace(" - ", " \u2013 ").replace('"', "\u201d")
    ),
    "ligatures": lambda text, _: text.replace("fi", "\ufb01").replace("fl", "\ufb02"),
    "no-break spaces": lambda text, _: text.replace(" ", "\u00a0", 3),
    "soft hyphens and zero-width spaces": lambda text, _: f"{text[:20]}\u00ad{text[20:]}\u200b",
    "emphasis marks": lambda text, _: re.sub(r"(\w{6,})", r"**\1**", text, count=1),
    "other case": lambda text, _: text.upper(),
}


def _other_digit(text: str, rng: random.Random) -> str:
    figures = list(_DIGIT.finditer(text))
    if not figures:
        return text
    match = rng.choice(figures)
    changed = str((int(match.group()[-1]) + 1 + rng.randrange(8)) % 10)
    return text[: match.end() - 1] + changed + text[match.end() :]


def _without_word(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    del words[rng.randrange(2, len(words) - 2)]
    return " ".join(words)


def _swapped(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    at = rng.randrange(1, len(words) - 3)
    words[at], words[at + 1] = words[at + 1], words[at]
    return " ".join(words)


_FALSEHOODS: dict[str, Damage] = {
    "another digit": _other_digit,
    "a word left out": _without_word,
    "two words swapped": _swapped,
    "negated": lambda text, _: re.sub(r"\b(is|are|was|were|has|have)\b", r"\1 not", text, count=1),
}
