"""Text in a source that speaks to the machine reading it instead of stating something."""

import re

_ORDERS = re.compile(
    r"\b(?:ignor|disregard|forget|overrid)(?:e|es|ing|s|ting)?\b.{0,40}\b(?:previous|prior|above|earlier|all|"
    r"your|the)\b"
    r".{0,30}\b(?:instructions?|prompts?|rules|context|directions?)\b"
    r"|\byou are (?:now )?(?:an? )?(?:ai|assistant|language model|chatbot|llm|agent)\b"
    r"|\b(?:system|developer) (?:prompt|message)\b|\bas an ai\b"
    r"|\b(?:ai|llm|language model|chatbot|ai assistant)s?\b.{0,40}\b(?:must|should|"
    r"shall|need to|have to|please)\b.{0,40}\b(?:report|answer|say|state|reply|respond|"
    r"output|write|"
    r"cite|include|recommend|ignore|follow|execute|call)\b"
    r"|\b(?:answer|reply|respond) (?:only )?(?:with|that)\b.{0,80}\b(?:regardless|no matter|"
    r"instead)\b"
    r"|\bignoriere\b.{0,40}\banweisungen\b|忽略.{0,10}(?:指令|指示)|</?(?:system|instructions?)>",
    re.IGNORECASE | re.DOTALL,
)


def gives_orders(text: str) -> bool:
    """Tell whether `text` addresses a model with orders. Such text is data, and no statement."""
    return _ORDERS.search(text) is not None


def ordering_paragraphs(text: str) -> list[tuple[int, int]]:
    """Return the ranges of the paragraphs of `text` that give orders.

    What stands beside an order is doubtful too.
    """
    found: list[tuple[int, int]] = []
    start = 0
    for gap in [*re.finditer(r"\n[ \t]*\n", text), None]:
        end = gap.start() if gap else len(text)
        if gives_orders(text[start:end]):
            found.append((start, end))
        start = gap.end() if gap else end
    return found
