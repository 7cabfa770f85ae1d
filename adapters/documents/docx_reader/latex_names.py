"""The LaTeX names of mathematical characters, accents, operators and functions."""

import unicodedata
from functools import lru_cache

_GREEK = {
    char: f"\\{name}"
    for char, name in zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩϑϕϖϱςϵϰ",
        "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma "
        "tau upsilon varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi "
        "Omega vartheta phi varpi varrho varsigma epsilon varkappa".split(),
        strict=True,
    )
}
# Capitals, and omicron, that look like Latin letters have no name of their own.
_LIKE_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
_SYMBOLS = {
    char: f"\\{name}"
    for char, name in zip(
        "×·⋅÷±∓∗∘•⊕⊗⊙⊖⊘∩∪⊎⊓⊔∧∨¬∖†‡⋆≀∐"
        "≤≥≠≈≡≅≃∼∝≪≫≺≻⪯⪰⊂⊃⊆⊇⊊⊋⊄⊅⊈⊉∈∉∋∣∤∥∦⊥⊢⊣⊨≐≜≔≲≳⩽⩾"
        "←→↔⇐⇒⇔↑↓⇑⇓↦↪↩⇀⇁↼↽⇌⟵⟶⟷⟸⟹⟺⟼↗↘↙↖↕⇕⇝"
        "∞∂∇∀∃∄∅∠∡△▽□◊♢♣♦♥♠′″‴…⋯⋮⋱√∴∵ℏℓ℘ℜℑℵℶ⊤"
        "∑∏∫∬∭∮∯∰⋃⋂⋁⋀⨀⨁⨂⨄⨆⟨⟩⌈⌉⌊⌋‖"
        "°‰ℇ≍⋈⊲⊳⊴⊵≦≧≨≩∔⊞⊟⊠⊡⋉⋊",
        "times cdot cdot div pm mp ast circ bullet oplus otimes odot ominus oslash cap cup uplus "
        "sqcap sqcup wedge vee neg setminus dagger ddagger star wr amalg "
        "leq geq neq approx equiv cong simeq sim propto ll gg prec succ preceq succeq subset "
        "supset subseteq supseteq subsetneq supsetneq not\\subset not\\supset nsubseteq nsupseteq "
        "in notin ni mid nmid parallel nparallel perp vdash dashv models doteq triangleq coloneqq "
        "lesssim gtrsim leqslant geqslant "
        "leftarrow rightarrow leftrightarrow Leftarrow Rightarrow Leftrightarrow uparrow "
        "downarrow Uparrow Downarrow mapsto hookrightarrow hookleftarrow rightharpoonup "
        "rightharpoondown leftharpoonup leftharpoondown rightleftharpoons longleftarrow "
        "longrightarrow longleftrightarrow Longleftarrow Longrightarrow Longleftrightarrow "
        "longmapsto nearrow searrow swarrow nwarrow updownarrow Updownarrow leadsto "
        "infty partial nabla forall exists nexists emptyset angle measuredangle triangle "
        "triangledown square lozenge diamondsuit clubsuit blacklozenge heartsuit spadesuit "
        "prime prime\\prime prime\\prime\\prime ldots cdots vdots ddots surd therefore because "
        "hbar ell wp Re Im aleph beth top "
        "sum prod int iint iiint oint oiint oiiint bigcup bigcap bigvee bigwedge bigodot bigoplus "
        "bigotimes biguplus bigsqcup langle rangle lceil rceil lfloor rfloor Vert "
        "degree permil Euler asymp bowtie vartriangleleft vartriangleright trianglelefteq "
        "trianglerighteq leqq geqq lneqq gneqq dotplus boxplus boxminus boxtimes boxdot ltimes "
        "rtimes".split(),
        strict=True,
    )
}
_ESCAPED = {char: f"\\{char}" for char in "{}$%&#_"}
_PLAIN = {
    "\\": "\\backslash",
    "^": "\\hat{}",
    "~": "\\sim",
    "\u2032": "'",
    "\u2033": "''",
    "\u2034": "'''",
    "\u00a0": "~",
    "\u2002": "\\ ",
    "\u2003": "\\quad",
    "\u2004": "\\;",
    "\u2005": "\\:",
    "\u205f": "\\:",
    **dict.fromkeys("\u2009\u200a\u202f", "\\,"),
    **dict.fromkeys("\t\n", " "),
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
    **dict(zip("\u2212\u2010\u2011\u2215\u2044\u2236ⅆⅇⅈⅉⅅℎ", "---//:deijDh", strict=True)),
    "\u00b5": "\\mu",
    "\u2206": "\\Delta",
    "\u2126": "\\Omega",
    "ı": "\\imath",
    "ȷ": "\\jmath",
}
NAMES: dict[str, str] = {**_SYMBOLS, **_GREEK, **_LIKE_LATIN, **_PLAIN, **_ESCAPED}
"""What a character is in LaTeX, where that is not the character itself."""


def _pairs(words: str) -> dict[str, str]:
    """Return a mapping from words that are keys and values by turns."""
    found = words.split()
    return dict(zip(found[::2], found[1::2], strict=True))


ACCENTS = _pairs(
    "\u0302 hat \u0303 tilde \u0304 bar \u0305 overline \u0307 dot \u0308 ddot \u20db dddot "
    "\u20dc ddddot \u0306 breve \u030c check \u0300 grave \u0301 acute \u030a mathring "
    "\u20d7 vec \u20d6 overleftarrow \u20e1 overleftrightarrow \u20d1 overrightarrow "
    "\u20d0 overleftarrow \u0332 underline \u0331 underline \u033f overline \u0338 not "
    "^ hat ~ tilde ¯ bar ‾ overline → vec ˙ dot ¨ ddot "
    "ˆ hat ˜ tilde ˘ breve ˇ check ´ acute ` grave"
)
WIDE = _pairs("hat widehat tilde widetilde bar overline vec overrightarrow check widecheck")
"""What an accent is called over more than one character."""
GROUPS = _pairs(
    "⏟ underbrace ⏞ overbrace ⏝ underparen ⏜ overparen ⎵ underbracket ⎴ overbracket "
    "\u0332 underline \u0305 overline"
)
ARROWS = _pairs(
    "→ rightarrow ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow "
    "⇌ rightleftharpoons ↦ mapsto ⇄ rightleftarrows"
)
FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf "
    "limsup ln log max min Pr sec sin sinh sup tan tanh".split()
)
LIMITS = frozenset(f"\\{name}" for name in "det gcd inf lim liminf limsup max min Pr sup".split())
"""Functions under which a limit stands as a subscript."""

_ALPHABETS = (
    ("BOLD ITALIC ", "boldsymbol"),
    ("BOLD SCRIPT ", "mathcal"),
    ("BOLD FRAKTUR ", "mathfrak"),
    ("SANS-SERIF BOLD ITALIC ", "mathsf"),
    ("SANS-SERIF BOLD ", "mathsf"),
    ("SANS-SERIF ITALIC ", "mathsf"),
    ("SANS-SERIF ", "mathsf"),
    ("BOLD ", "mathbf"),
    ("ITALIC ", ""),
    ("SCRIPT ", "mathcal"),
    ("FRAKTUR ", "mathfrak"),
    ("BLACK-LETTER ", "mathfrak"),
    ("DOUBLE-STRUCK ", "mathbb"),
    ("MONOSPACE ", "mathtt"),
)


@lru_cache(maxsize=4096)
def latex_of(char: str) -> str:
    """Return one character in LaTeX's mathematics."""
    known = NAMES.get(char)
    if known is not None:
        return known
    if char.isascii():
        return char
    name = unicodedata.name(char, "")
    for prefix in ("MATHEMATICAL ", ""):
        for words, command in _ALPHABETS:
            if name.startswith(prefix + words):
                return _in_alphabet(unicodedata.normalize("NFKC", char), command, char)
    return char


def _in_alphabet(base: str, command: str, char: str) -> str:
    if len(base) != 1 or base == char:
        return char
    plain = NAMES.get(base, base)
    if plain.startswith("\\") and command in ("mathbf", "mathsf"):
        command = "boldsymbol"
    return f"\\{command}{{{plain}}}" if command else plain
