"""Text from outside as Markdown that shows exactly its characters and does nothing else."""

import re
import unicodedata

# Marks that mean something anywhere in a line; `$` and `:` where Markdown is shown with formulas
# or makes links of bare addresses.
_ANYWHERE = re.compile(r"([\\`*_\[\]<>#|~&$]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
# Marks that mean something at the beginning of a line: lists, rules, underlined headings.
_AT_START = re.compile(r"^(?:([-+=])|(\d{1,9})([.)]))")
_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def escape(text: str) -> str:
    """Return `text` on one line, as Markdown that shows exactly its characters.

    White space is collapsed; what cannot be seen (control characters, marks that turn the reading
    direction, half characters) is spelled out.
    """
    escaped = within(text)
    return _AT_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", escaped)


def within(text: str) -> str:
    """Return `text` as `escape` does, for a place within a line, where no list or rule begins."""
    return _ANYWHERE.sub(r"\\\1", _visible(" ".join(text.split())))


def code(text: str) -> str:
    """Return `text` as a code span that holds exactly its characters, whatever they are."""
    shown = _visible(text)
    longest = max(map(len, re.findall("`+", shown)), default=0)
    marks = "`" * (longest + 1)
    pad = " " if longest or (shown.startswith(" ") and shown.endswith(" ")) else ""
    return f"{marks}{pad}{shown}{pad}{marks}"


def _visible(text: str) -> str:
    return "".join(_spelled(character) for character in text)


def _spelled(character: str) -> str:
    number = ord(character)
    if number < 0x20:
        return chr(0x2400 + number)
    if number == 0x7F:
        return "\u2421"
    hidden = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTION
    return f"⟨U+{number:04X}⟩" if hidden else character
