"""Prompts: files with a name and a version, and the fence that keeps others' text apart.

A file begins with the line `version: <number>` and a blank line. `{{name}}` is a field.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from adapters.models.chat.characters import mended
from state.values.ids import sha256_hex
from state.values.redaction import strip_envelopes

_FOLDER = Path(__file__).resolve().parents[1] / "prompts"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
_HEAD = re.compile(r"version: *([1-9]\d*)\r?\n\s*\n")
_FIELD = re.compile(r"\{\{ *([a-z_][a-z0-9_]*) *\}\}")


@dataclass(frozen=True, slots=True)
class Untrusted:
    """Text of others, such as a page's: it is fenced wherever it is put into a prompt."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as its file has it; `hash` is of its text, so no change goes without a new id."""

    name: str
    version: int
    hash: str
    text: str

    @property
    def id(self) -> str:
        """Return `name@version+hash`, as events and kept answers name it."""
        return f"{self.name}@{self.version}+{self.hash}"

    @property
    def fields(self) -> frozenset[str]:
        """Return the names of its fields."""
        return frozenset(_FIELD.findall(self.text))

    def render(self, **fields: "str | Untrusted") -> str:
        """Return the text with its fields filled in; what is filled in is not looked at again.

        Raises `ValueError` unless exactly its fields are given.
        """
        if fields.keys() != self.fields:
            wrong = ", ".join(sorted(fields.keys() ^ self.fields))
            raise ValueError(f"prompt {self.id}: missing or unknown fields: {wrong}")
        return _FIELD.sub(lambda field: _spell(fields[field[1]]), self.text)


def load(name: str, folder: Path = _FOLDER) -> Prompt:
    """Return the prompt `name`; raises `ValueError` when there is none or it has no version."""
    path = folder / f"{name}.md"
    if _NAME.match(name) is None or not path.is_file():
        raise ValueError(f"there is no prompt {name!r}")
    whole = path.read_text(encoding="utf-8")
    head = _HEAD.match(whole)
    if head is None:
        raise ValueError(f"prompt {name!r} does not begin with a line 'version: <number>'")
    text = whole[head.end() :].strip()
    return Prompt(name, int(head[1]), sha256_hex(text)[:12], text)


def fence(text: str, label: str = "") -> str:
    """Return `text` between two tags that it cannot close, since their name is a hash of it.

    The same text has the same fence, so a prompt that is made again is the same. Whatever in the
    text could pass for one of our tags is replaced.
    """
    body = strip_envelopes(mended(text))
    number = 0
    while (tag := "untrusted-" + sha256_hex(f"{number}\0{body}")[:16]) in body.casefold():
        number += 1
    title = f' source="{_one_line(strip_envelopes(label))}"' if label else ""
    return f"<{tag}{title}>\n{body}\n</{tag}>"


def _spell(value: str | Untrusted) -> str:
    return fence(value.text, value.label) if isinstance(value, Untrusted) else value


def _one_line(text: str) -> str:
    return re.sub(r"[\s\"<>]+", " ", text).strip()[:200]
