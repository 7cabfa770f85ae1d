"""What form a text has, and how fit that is for a quote."""

import re

from adapters.models.extractive.asking import Manner
from adapters.models.extractive.focus import Focus
from adapters.models.extractive.markup import visible, worth
from adapters.models.extractive.pool import Candidate
from adapters.models.extractive.sentences import is_field, is_item

_CODE = re.compile(
    r"\A\s*(?:```|~~~|>>>|\$ |#!|[\w.]+\(.*\)\s*\Z|(?:from|import|def|class|return|const|let|var) )"
    r"|\w\(\w+=|\w = |[{}]|;\s*$",
    re.MULTILINE,
)
_FORMULA = re.compile(r"\$\$?[^$\n]{1,2000}\$\$?|[_^]\{[^{}\n]{1,80}\}")
_SHELL = re.compile(
    r"\A\s*(?:sudo )?(?:pip3?|pipx|uvx?|conda|npm|npx|yarn|pnpm|apt(?:-get)?|dnf|brew|"
    r"cargo|git|docker|python3? -m|curl|wget|make|cmake|go|gem|rm|cd|export)"
    r"\s+[^\s.,]+(?:\s+\S+){0,12}\s*\Z"
)
_FORMER = re.compile(
    r"\b(?:prior to|formerly|previously|used to|no longer|until (?:v|version)|older versions?|"
    r"earlier versions?|legacy|ehemals|früher|autrefois|antes)\b",
    re.IGNORECASE,
)
_ASKS_FORMER = re.compile(
    r"\b(?:was|were|did|had|prior|former\w*|previous\w*|old\w*|earlier|before|until|once|legacy|"
    r"originally|history|war|waren|était|era)\b",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://\S+")
_LINK = re.compile(r"\W*(?:\[[^\]]*\]\([^)]*\)|<?https?://\S+>?)\W*")


def is_code(text: str) -> bool:
    """Tell whether `text` is code or a command to type in; formulas are neither."""
    text = _FORMULA.sub("x", text)
    return _CODE.search(text) is not None or _SHELL.match(text) is not None


def _is_address(text: str) -> bool:
    shown = visible(text)
    return "://" in shown and sum(map(len, _URL.findall(shown))) > 0.4 * len(shown)


def form_factor(candidate: Candidate, focus: Focus) -> float:
    """Return how fit the form is for a quote: questions, headings, code and links say little."""
    text = candidate.text
    factor = worth(text, candidate.passage.heading, focus.need.question)
    if _FORMER.search(text) and not _ASKS_FORMER.search(focus.need.question):
        factor *= 0.7
    wants_code = focus.manner is Manner.WAY
    if text.endswith(("?", "？")):
        return factor * 0.35
    if is_code(text) or _is_address(text):
        return factor * (1.3 if wants_code else 0.6)
    if text.strip("# *=") == candidate.passage.heading.strip() or text.startswith("#"):
        return factor * 0.4
    if text.endswith((":", "：")) or _LINK.fullmatch(text):
        return factor * (0.9 if wants_code else 0.5)
    if is_field(text) or (candidate.lead and is_item(candidate.passage.text)):
        return factor
    if candidate.length < 4 and text[-1:] not in ".!。！;|":
        return factor * 0.5
    return factor * (1.0 if candidate.length >= 3 else 0.8)
