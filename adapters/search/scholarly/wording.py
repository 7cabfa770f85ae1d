"""Takes a query apart for services that have a query language, so that no part of it is syntax."""

import re

FEW = 5
"""Up to so many terms, all are wanted together; of more, as many as there are."""

_TERM = re.compile(r'"([^"]*)"|([^\W_]+(?:[-\'’.+#&][^\W_]+)*[+#]*)')
_WORD = re.compile(r"[^\W_]+(?:[-'’.+#&][^\W_]+)*[+#]*")
_BARE = re.compile(r"\w+\Z")
_BOOLEAN = frozenset({"AND", "ANDNOT", "NOT", "OR"})
_STOP_WORDS = frozenset(
    "a about am an and any are as at be been between by can could did do does for from had has "
    "have how if in into is it its may me might my no nor not of on or our over per shall should "
    "so than that the their then there these they this those through to us versus via vs was we "
    "were what when where whether which who whom whose why will with would you your".split()
)


def terms(query: str) -> list[str]:
    """Return the words of `query` that say what it is about, and phrases that stand in quotes.

    All words, when it has no others; none comes twice.
    """
    found: dict[str, None] = {}
    for phrase, word in _TERM.findall(query):
        term = " ".join(_WORD.findall(phrase)) if phrase else word
        if term:
            found[term] = None
    telling = [term for term in found if not _is_stop_word(term)]
    return telling or [term for term in found if term not in _BOOLEAN] or list(found)


def quoted(term: str) -> str:
    """Return `term` as it is when it is one plain word, and else in quotation marks."""
    return term if _BARE.match(term) and term not in _BOOLEAN else f'"{term}"'


def _is_stop_word(term: str) -> bool:
    # `IT` and `US` are meant when they are written so.
    shouted = term.isupper() and len(term) > 1 and term not in _BOOLEAN
    return term in _BOOLEAN or (term.lower() in _STOP_WORDS and not shouted)
