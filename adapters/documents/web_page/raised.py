"""Writes raised and lowered text in one line: m², CO₂, xᵢ, and x_{max} where no character is."""

import re

_SIGNS = "0123456789+-−=()"
_RAISED = dict(zip(_SIGNS, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾", strict=True))
_LOWERED = dict(zip(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))
_RAISED_LETTERS = dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
_LOWERED_LETTERS = dict(zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
# Raised in print, and read without that: ordinals, notes, and words that are no exponents.
_PLAIN = re.compile(
    r"(?:st|nd|rd|th|er|re|ère|ème|eme|nde|me|mes|lle|os|as)\Z|\W*\Z|[^\W\d_]{4,}|.*\[.*\]\Z",
    re.IGNORECASE | re.DOTALL,
)
_ORDINAL_LETTERS = frozenset("aeoª°º")
_MARKS = {"tm": "™", "sm": "℠", "(tm)": "™", "(r)": "®", "®": "®", "™": "™"}


def raised(text: str, before: str = "") -> str:
    """Return `text` as it stands raised after the character `before`; '' stays ''."""
    if mark := _MARKS.get(text.lower()):
        return mark
    if text in _ORDINAL_LETTERS and (before.isdigit() or before in "IVX"):
        return text
    if _PLAIN.match(text) and text not in _RAISED:
        return text
    return _shifted(text, _RAISED, _RAISED_LETTERS, "^")


def lowered(text: str) -> str:
    """Return `text` as it stands lowered after other text; '' stays ''."""
    return _shifted(text, _LOWERED, _LOWERED_LETTERS, "_")


def _shifted(text: str, signs: dict[str, str], letters: dict[str, str], mark: str) -> str:
    if not text:
        return ""
    if all(character in signs for character in text):
        return "".join(map(signs.__getitem__, text))
    if len(text) == 1:
        return letters.get(text) or f"{mark}{text}"
    return text if len(text) > 40 or "\n" in text else f"{mark}{{{text}}}"
