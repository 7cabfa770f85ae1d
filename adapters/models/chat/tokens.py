"""How many tokens a text is, told without a tokenizer: an estimate, and what it is at the least.

A byte-pair tokenizer first splits text into words, numbers and runs of punctuation, and no token
spans two of them (the pre-tokenization of GPT-2 and of most that came after it). So counting those
gives a bound from below for every such tokenizer, and the length of each gives an estimate.

Measured with the tokenizer of Qwen2.5, in windows of 2,000 characters: the estimate is 1.0 to 1.5
times the truth in English, German, code, JSON and tables, 1.4 to 1.6 times in Chinese and Russian,
whose tokens differ most between models. The bound is 0.75 to 0.98 of the truth in English and
code, 0.35 to 0.65 in the others, and never above it.
"""

import json
import re
from math import ceil

from adapters.models.chat.port import ChatRequest

_CJK = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_PIECES = re.compile(
    rf"(?P<ascii>[A-Za-z]+)|(?P<cjk>[{_CJK}]+)|(?P<digits>\s?\d+)"
    rf"|(?P<letters>(?:(?![A-Za-z{_CJK}])[^\W\d_])+)"
    r"|(?P<space>\s+)|(?P<prefix>[!-/:-@\[-`{-~](?=[A-Za-z]))"
    r"|(?P<symbols>[!-/:-@\[-`{-~]+)|(?P<other>.)",
    re.DOTALL,
)
_CHARACTERS_PER_TOKEN = {"ascii": 5, "cjk": 1, "digits": 1, "letters": 2, "prefix": 2, "symbols": 2}
# What a chat template puts around each message, and around all of them.
_PER_MESSAGE = 6
_PER_REQUEST = 24
_MARGIN = 1.06


def estimate(text: str) -> int:
    """Return about how many tokens `text` is, rather more than fewer; '' is none."""
    return ceil(_MARGIN * sum(map(_estimate_piece, _PIECES.finditer(text))))


def at_least(text: str) -> int:
    """Return a number of tokens that `text` cannot be fewer than."""
    return int(sum(map(_least_piece, _PIECES.finditer(text))))


def estimate_request(request: ChatRequest) -> int:
    """Return about how many tokens the prompt of `request` is, its schema included."""
    texts = [message.text for message in request.messages]
    schema = json.dumps(request.schema, ensure_ascii=False) if request.schema else ""
    return sum(map(estimate, [*texts, schema])) + _PER_MESSAGE * len(texts) + _PER_REQUEST


def _estimate_piece(piece: re.Match[str]) -> int:
    kind, length = piece.lastgroup or "", piece.end() - piece.start()
    if kind == "space":
        return 0 if length == 1 and piece[0] == " " else 1 + length // 16
    if kind == "other":
        return 2
    return -(-length // _CHARACTERS_PER_TOKEN[kind])


def _least_piece(piece: re.Match[str]) -> float:
    match piece.lastgroup:
        case "ascii" | "letters" | "symbols":
            return 1
        case "digits":
            return -(-len(piece[0].strip()) // 3)
        case "cjk":
            return len(piece[0]) / 4
        case _:
            return 0
