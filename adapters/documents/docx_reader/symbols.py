"""The characters of Symbol and Wingdings, which stand at codes of their own, as Unicode."""

import re

UNKNOWN = "\ufffd"

_PRIVATE = re.compile("[\uf020-\uf0ff]")

# Adobe's Symbol encoding, from 0x20 and from 0xA0; a space stands for what has no equal.
_SYMBOL_LOW = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?"
    "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
    "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼ "
)
_SYMBOL_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵"
    "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"
    "◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ ⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ "
)
_SYMBOL = {
    start + at: char
    for start, row in ((0x20, _SYMBOL_LOW), (0xA0, _SYMBOL_HIGH))
    for at, char in enumerate(row)
    if char != " " or start + at == 0x20
}


def _table(entries: str) -> dict[int, str]:
    """Return a font's characters by code, from words such as `6C●`."""
    return {0x20: " ", **{int(entry[:2], 16): entry[2:] for entry in entries.split()}}


_WINGDINGS = {
    **_table(
        "21✏ 22✂ 28☎ 29✆ 2A✉ 36⌛ 3F✍ 41✌ 45☜ 46☞ 47☝ 48☟ 4A☺ 4C☹ 4D💣 4E☠ 51✈ 52☼ 54❄ 58✠ 59✡ 5A☪ "
        "5B☯ 6C● 6D❍ 6E■ 6F☐ 70❐ 71❑ 72❒ 73⬧ 74⧫ 75◆ 76❖ 77⬥ 78☒ 79⮹ 7A⌘ 7D❝ 7E❞ 80⓪ 8B⓿ 9E· 9F• "
        "A0▪ A1○ A4◉ A5◎ A7▪ A8☐ AA✦ AB★ AC✶ AD✴ AE✹ B2⟡ B5✪ B6✰ D5⌫ D6⌦ D8➢ DC➲ DF← E0→ E1↑ E2↓ "
        "E3↖ E4↗ E5↙ E6↘ E7🡸 E8➔ E9🡹 EA🡻 EF⇦ F0⇨ F1⇧ F2⇩ F3⬄ F4⇳ F8▪ F9▫ FB✗ FC✓ FD☒ FE☑"
    ),
    **{0x81 + at: chr(0x2460 + at) for at in range(10)},
    **{0x8C + at: chr(0x2776 + at) for at in range(10)},
}
_WINGDINGS_2 = _table(
    "4F✗ 50✓ 51☒ 52☑ 53☒ 54☒ 55⮽ 56⮾ 95· 96• 97● 98● 99○ 9A◯ 9E▪ A0■ A1□ A2■ A3☐ AE◆ AF◇ B1⬧"
)
_WINGDINGS_3 = _table(
    "21← 22→ 23↑ 24↓ 31↔ 32↕ 70▲ 71▼ 72△ 73▽ 74◀ 75▶ 76◁ 77▷ 7C◀ 7D▶ 7E▲ 80▼ 84◢ 85▶"
)
_FONTS = {
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    "wingdings 3": _WINGDINGS_3,
}


def symbol(code: str, font: str) -> str:
    """Return the character at `code` (hexadecimal, as `w:sym` gives it) of `font`.

    `UNKNOWN` when it is not known what the font shows there.
    """
    try:
        number = int(code, 16)
    except ValueError:
        return UNKNOWN
    return _character(number, font)


def unprivate(text: str, font: str) -> str:
    """Return `text` with the characters that only a font of symbols gives a meaning replaced."""
    return _PRIVATE.sub(lambda found: _character(ord(found[0]), font), text)


def _character(number: int, font: str) -> str:
    table = _FONTS.get(font.strip().casefold())
    if table is not None:
        at = number - 0xF000 if 0xF020 <= number <= 0xF0FF else number
        if at in table or at < 0x100:
            return table.get(at, UNKNOWN)
    is_private = 0xE000 <= number <= 0xF8FF
    is_text = 0x20 <= number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
    return chr(number) if is_text and not is_private else UNKNOWN
