"""Characters that could hide from a reader what a text says."""

import unicodedata

_TURNS_WRITING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_LAYOUT = "\n\t\r"


def is_hidden(sign: str) -> bool:
    """Tell whether `sign` commands a terminal, turns the direction of writing, or has no form."""
    return sign in _TURNS_WRITING or (
        unicodedata.category(sign) in ("Cc", "Cs", "Co") and sign not in _LAYOUT
    )


def without_hidden(text: str) -> str:
    """Return `text` with a space for each hidden character."""
    if text.isprintable():
        return text
    return "".join(" " if is_hidden(sign) else sign for sign in text)
