"""What a sensible model would answer to a coder's requests: it plans and writes the smoother."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.adapters.models.chat.openai_server import Behaviour, Say
from tests.flows.answerer import prompt_of
from tests.flows.code_world import README, SMOOTHER, TEST

Lie = Callable[[str, str], Behaviour | str]
FORMS = {
    "You read a part of a paper": "analyse",
    "You plan the files": "files",
    "You say of which parts": "components",
    "You write one file": "write",
    "You write tests": "tests",
    "You turn the worked examples": "tests",
    "You write a document": "document",
    "You repair a program": "repair",
}
ANALYSIS = {
    "summary": "A smoother of values with a corrected beginning.",
    "findings": [
        {
            "quote": "The weight b is 0.9 in all experiments.", "kind": "hyperparameter",
            "name": "b", "value": "0.9", "unit": "", "statement": "The weight is 0.9.",
        },
        {
            "quote": "The smoothed value is s = b * s + (1 - b) * x, beginning with s = 0.",
            "kind": "method", "name": "smoothing", "value": "", "unit": "",
            "statement": "Smooth each value.",
        },
    ],
    "open_questions": [],
}  # fmt: skip
PLANNED = {
    "language": "python",
    "approach": "One class, and a test of the two values of the paper.",
    "functions": [],
    "files": [
        {
            "path": "smoother.py", "purpose": "The smoother",
            "interface": ["class Smoother", "def add(self, x: float) -> float"], "depends_on": [],
        }
    ],
    "packages": [],
}  # fmt: skip
COMPONENTS = {
    "components": [
        {
            "name": "Smoothing", "description": "Exponential smoothing, corrected.",
            "criterion": "For 1 and 2 with b = 0.9 the corrected values are 1.0 and 1.526.",
            "files": ["smoother.py"], "findings": ["f1", "f2"],
        }
    ],
    "ambiguities": [],
    "validation": "Reproduce the two values of the result.",
}  # fmt: skip
_PATH = re.compile(r"Write the file (\S+?)(?: in \w+)?\.(?:\s|$)")


def operation_of(body: Mapping[str, Any]) -> str:
    """Return which operation a request is for."""
    system = str(body["messages"][0]["content"])
    return next(name for start, name in FORMS.items() if system.startswith(start))


def is_for_coder(body: Mapping[str, Any]) -> bool:
    """Tell whether a request is a coder's, and not a researcher's."""
    return str(body["messages"][0]["content"]).startswith(tuple(FORMS))


def fenced(text: str, language: str = "python") -> str:
    """Return a file as a model gives it."""
    return f"```{language}\n{text}```\n"


@dataclass(slots=True)
class CodeAnswerer:
    """Answers requests; `lies` stand in for what it would answer to an operation.

    A lie gets the prompt and the honest answer. `asked` are the operations in order.
    """

    lies: dict[str, Lie] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __call__(self, body: dict[str, Any]) -> Behaviour:
        operation, prompt = operation_of(body), prompt_of(body)
        self.asked.append(operation)
        honest = answer_to(operation, prompt)
        lie = self.lies.get(operation)
        made = lie(prompt, honest) if lie else honest
        return Say(made, truth=True, piece=2000) if isinstance(made, str) else made


def answer_to(operation: str, prompt: str) -> str:
    """Return the honest answer."""
    match operation:
        case "analyse":
            return json.dumps(ANALYSIS)
        case "files":
            return json.dumps(PLANNED)
        case "components":
            return json.dumps(COMPONENTS)
        case "tests":
            return fenced(TEST)
        case "document":
            return fenced(README, "markdown")
        case "repair":
            return f"Cause: it lacked the correction.\n\nFile: smoother.py\n{fenced(SMOOTHER)}"
        case _:
            named = _PATH.search(prompt)
            path = named[1] if named else ""
            return fenced(SMOOTHER if path == "smoother.py" else f'"""{path}."""\n\nNAME = 1\n')
