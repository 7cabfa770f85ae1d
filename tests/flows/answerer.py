"""What a sensible model would answer: made of the prompts that really arrive, passage by passage.

It knows nothing of the annex but how its questions are put; whatever it says, it reads in the
prompt. Given to the loopback server of an OpenAI-compatible provider, the whole way is real HTTP.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.adapters.models.chat.openai_server import Behaviour, Say

Answer = dict[str, Any]
Lie = Callable[[str, Answer], Behaviour | Answer | str]

# What a question is about, and the word that a sentence has which answers it.
SIGNS = {
    "member": "members", "mitglied": "members", "logs": "logs", "protokoll": "logs",
    "warm": "fired", "loft": "loft for",
}  # fmt: skip
FORMS = {
    "You plan research": "plan",
    "You read passages": "assess",
    "You write a report": "synthesise",
    "You write one section": "write_section",
    "You lay out": "outline",
    "You check claims": "check",
    "You mend claims": "repair",
    "You read a report": "check_report",
}
_NUMBERED = re.compile(
    r"^\[([pheq]\d+)[^\]]*\] (.*?)(?=^\[[pheq]\d+|^</untrusted-)", re.MULTILINE | re.DOTALL
)
_ASKED = re.compile(r"^(q\d+): (.+)$", re.MULTILINE)
_SECTION = re.compile(r'^- "(\w+)" \(', re.MULTILINE)
_CHECKED = re.compile(r"((?:^Quote: .*\n)+)^Claim (c\d+): (.*)$", re.MULTILINE)
_BROKEN = re.compile(r"^Claim (c\d+): (.*)\n^Its quotes: (.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?]+[.!?]")
_POINTER = re.compile(r"\b([A-Z]\w+ (?:Annex|Rule))\b")
_NUMBER = re.compile(r"\d+|\bnine\b")
_NAME = re.compile(r"(?<!\A)\b[A-Z]\w+")


def operation_of(body: Mapping[str, Any]) -> str:
    """Return which operation a request to the server is for; `repair-json` is part of its own."""
    system = str(body["messages"][0]["content"])
    return next(name for start, name in FORMS.items() if system.startswith(start))


def prompt_of(body: Mapping[str, Any]) -> str:
    """Return all that the user says in a request."""
    return "\n\n".join(str(m["content"]) for m in body["messages"] if m["role"] == "user")


def numbered(prompt: str) -> dict[str, str]:
    """Return the texts of a prompt by their numbers."""
    return {name: " ".join(text.split()) for name, text in _NUMBERED.findall(prompt)}


@dataclass(slots=True)
class Answerer:
    """Answers requests; `lies` stand in for what it would answer to an operation.

    A lie gets the prompt and the honest answer; a text it gives is sent as it is. `shape` makes the
    server's behaviour of each text. `asked` are the operations in order.
    """

    lies: Mapping[str, Lie] = field(default_factory=dict)
    shape: Callable[[str], Behaviour] = lambda text: Say(text, truth=True, piece=2000)
    asked: list[str] = field(default_factory=list)

    def __call__(self, body: dict[str, Any]) -> Behaviour:
        operation, prompt = operation_of(body), prompt_of(body)
        self.asked.append(operation)
        honest: Answer = _ANSWERS[operation](prompt)
        lie = self.lies.get(operation)
        made: Behaviour | Answer | str = lie(prompt, honest) if lie else honest
        if isinstance(made, dict):
            made = json.dumps(made, ensure_ascii=False)
        return self.shape(made) if isinstance(made, str) else made


def always(behaviour: Behaviour | Answer | str) -> Lie:
    """Say or do the same, whatever is asked."""
    return lambda prompt, honest: behaviour


def _plan(prompt: str) -> Answer:
    question = prompt.partition("Question: ")[2].partition("\n")[0].strip()
    if not (named := _NAME.search(question)):
        return {"subquestions": [], "clarification": "Which product do you mean?"}
    parts = [part.strip(" ?") for part in re.split(r", (?:and|und) ", question)]
    name = named[0]
    words = [[w for w in re.findall(r"\w{4,}", part) if w != name][-3:] for part in parts]
    return {
        "subquestions": [
            {"question": f"{part[0].upper()}{part[1:]}?", "query": " ".join([name, *said])}
            for part, said in zip(parts, words, strict=True)
        ],
        "clarification": "",
    }


def _assess(prompt: str) -> Answer:
    texts = numbered(prompt)
    answers, conflicts = [], []
    for name, question in _ASKED.findall(prompt):
        quotes = _quotes(question, texts)
        values = {value for quote in quotes for value in _NUMBER.findall(quote["quote"])}
        pointer = next((m[1] for text in texts.values() if (m := _POINTER.search(text))), "")
        covered = "covered" if len(values) == 1 else "conflict" if values else "gap"
        answers.append(
            {
                "subquestion": name,
                "quotes": quotes,
                "coverage": covered,
                "gap": "" if quotes else "The passages do not state it.",
                "next_query": "" if quotes else f"{pointer} {question}".strip(" ?")[:90],
            }
        )
        if covered == "conflict":
            sides = [quote["passage"] for quote in quotes]
            difference = " against ".join(sorted(values))
            conflicts.append({"subquestion": name, "passages": sides, "difference": difference})
    return {"answers": answers, "conflicts": conflicts}


def _quotes(question: str, texts: Mapping[str, str]) -> list[dict[str, str]]:
    sign = next((sign for word, sign in SIGNS.items() if word in question.casefold()), "")
    return [
        {"passage": name, "quote": sentence.strip()}
        for name, text in texts.items()
        for sentence in _SENTENCE.findall(text)
        if sign and sign in sentence and _NUMBER.search(sentence) and "9999" not in sentence
    ][:4]


def _synthesise(prompt: str) -> Answer:
    quotes = numbered(prompt.partition("The sections, in this order:")[0])
    sections = [key for key in _SECTION.findall(prompt) if key != "implications"]
    return {"claims": [claim for key in sections for claim in _claims(key, quotes)]}


def _write_section(prompt: str) -> Answer:
    quotes = numbered(prompt.partition("The section to write:")[0])
    return {"claims": _claims(_SECTION.findall(prompt)[0], quotes)}


def _claims(section: str, quotes: Mapping[str, str]) -> list[Answer]:
    claims = []
    for name, text in quotes.items():
        fresh = text.rstrip(".") + "."
        said = f"It is stated that {fresh[0].lower()}{fresh[1:]}" if section == "findings" else text
        claims.append({"section": section, "text": said, "evidence": [name]})
    return claims


def _outline(prompt: str) -> Answer:
    names = [name for name in numbered(prompt) if name.startswith("e")]
    return {
        "sections": [
            {"section": key, "intent": "Tell what is stated.", "evidence": names}
            for key in _SECTION.findall(prompt)
        ]
    }


def _check(prompt: str) -> Answer:
    checks = []
    for quotes, name, claim in _CHECKED.findall(prompt):
        quote = quotes.splitlines()[0].removeprefix("Quote: ")
        holds = set(_NUMBER.findall(claim)) <= set(_NUMBER.findall(quotes))
        verdict = "supported" if holds else "contradicted"
        checks.append({"claim": name, "quoted": quote, "reason": verdict, "verdict": verdict})
    return {"checks": checks}


def _repair(prompt: str) -> Answer:
    quotes = numbered(prompt)
    repairs = []
    for name, _, cited in _BROKEN.findall(prompt):
        first = cited.split(", ")[0]
        text = f"According to the source, {quotes[first]}" if first in quotes else ""
        repairs.append({"claim": name, "text": text, "evidence": [first] if text else []})
    return {"repairs": repairs}


def _check_report(prompt: str) -> Answer:
    return {"reopen": []}


_ANSWERS: Mapping[str, Callable[[str], Answer]] = {
    "plan": _plan,
    "assess": _assess,
    "synthesise": _synthesise,
    "write_section": _write_section,
    "outline": _outline,
    "check": _check,
    "repair": _repair,
    "check_report": _check_report,
}
