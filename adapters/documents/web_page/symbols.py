"""Names in LaTeX for the characters of MathML."""

FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf "
    "limsup ln log max min Pr sec sin sinh sup tan tanh".split()
)
ALPHABETS = {
    "bold": r"\mathbf",
    "bold-italic": r"\boldsymbol",
    "double-struck": r"\mathbb",
    "script": r"\mathcal",
    "bold-script": r"\mathcal",
    "fraktur": r"\mathfrak",
    "sans-serif": r"\mathsf",
    "monospace": r"\mathtt",
}

_NAMED = """
α alpha β beta γ gamma δ delta ϵ epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu
ν nu ξ xi π pi ρ rho σ sigma τ tau υ upsilon ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta
Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ε varepsilon φ varphi
ϑ vartheta ϱ varrho ς varsigma ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋃ bigcup
⋂ bigcap ⨁ bigoplus ⨂ bigotimes ⋁ bigvee ⋀ bigwedge ∂ partial ∇ nabla ∞ infty ℓ ell ℏ hbar
ℜ Re ℑ Im ℵ aleph ∅ emptyset ∀ forall ∃ exists ¬ neg ∧ wedge ∨ vee ⊕ oplus ⊗ otimes ⊙ odot
± pm ∓ mp × times ÷ div ⋅ cdot · cdot ∗ ast ⋆ star ∘ circ ∙ bullet ≤ le ≥ ge ≠ ne ≈ approx
≡ equiv ∼ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg ⩽ leqslant ⩾ geqslant ≺ prec ≻ succ
≜ triangleq ∈ in ∉ notin ∋ ni ⊂ subset ⊆ subseteq ⊃ supset ⊇ supseteq ∪ cup ∩ cap ∖ setminus
∣ mid ∤ nmid ∥ parallel ⊥ perp ⊢ vdash ⊨ models ∠ angle △ triangle → to ← leftarrow
↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ⟶ longrightarrow
⟹ Longrightarrow ⟵ longleftarrow ⟷ longleftrightarrow ↑ uparrow ↓ downarrow ↗ nearrow
↘ searrow ⇀ rightharpoonup ⇌ rightleftharpoons ⟨ langle ⟩ rangle 〈 langle 〉 rangle ⌊ lfloor
⌋ rfloor ⌈ lceil ⌉ rceil ‖ Vert … ldots ⋯ cdots ⋮ vdots ⋱ ddots † dagger ‡ ddagger √ surd
∴ therefore ∵ because ⊤ top □ square ℘ wp ı imath ȷ jmath
""".split()
SYMBOLS = {
    **{character: f"\\{name}" for character, name in zip(_NAMED[::2], _NAMED[1::2], strict=True)},
    **{character: f"\\{character}" for character in "{}%&#$_"},
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b\u200c\u200d\u2060\ufeff", ""),
    "−": "-",
    "–": "-",
    "′": "'",
    "″": "''",
    "\u00a0": " ",
    "\\": r"\backslash",
    "^": r"\hat{}",
    "ℝ": r"\mathbb{R}",
    "ℕ": r"\mathbb{N}",
    "ℤ": r"\mathbb{Z}",
    "ℚ": r"\mathbb{Q}",
    "ℂ": r"\mathbb{C}",
    "ℙ": r"\mathbb{P}",
    "𝔼": r"\mathbb{E}",
    "≔": ":=",
}
"""What to write for one character; those not named stay as they are."""

INFIX = frozenset("=<>+-−±∓×÷≤≥≠≈≡∼≃≅∝≪≫⩽⩾≺≻≜∈∉∋⊂⊆⊃⊇∪∩∧∨→←↔⇒⇐⇔↦⟶⟹⟵⟷∖∣⊢⊨⊕⊗≔") | {
    ":=",
    "==",
    "<=",
    ">=",
}
"""Operators that are written with space around them."""

ACCENTS = {
    **dict.fromkeys(("¯", "‾", "_", "―", "\u0305", "\u0304"), r"\overline"),
    **dict.fromkeys(("^", "ˆ", "\u0302"), r"\hat"),
    **dict.fromkeys(("~", "˜", "∼", "\u0303"), r"\tilde"),
    **dict.fromkeys(("→", "⃗", "⇀"), r"\vec"),
    **dict.fromkeys(("˙", "\u0307", "."), r"\dot"),
    **dict.fromkeys(("¨", "\u0308", ".."), r"\ddot"),
    "ˇ": r"\check",
    "˘": r"\breve",
    "´": r"\acute",
    "`": r"\grave",
    "⏞": r"\overbrace",
}
UNDER_ACCENTS = {
    **dict.fromkeys(("_", "¯", "‾", "―", "\u0332"), r"\underline"),
    "⏟": r"\underbrace",
}
LIMIT_BASES = tuple(
    "\\" + name
    for name in (
        *("sum", "prod", "coprod", "int", "iint", "iiint", "oint", "bigcup", "bigcap", "bigoplus"),
        *("bigotimes", "bigvee", "bigwedge", "lim", "liminf", "limsup", "max", "min", "sup", "inf"),
        *("det", "gcd", "Pr", "mathrm{arg", "mathrm{lim", "mathrm{max", "mathrm{min"),
    )
)
"""What has its limits under and over it, as `_` and `^` give them."""
