"""How a paper and the files of a program stand in a prompt: fenced, and numbered where cited."""

from collections.abc import Callable, Iterable, Sequence

from adapters.models.chat.packing import Piece
from adapters.models.chat.port import ChatRequest, Message
from adapters.models.chat.prompts import Prompt, fence, load
from adapters.models.coder import FileDraft, Finding, KnownFile
from adapters.models.coding.paths import module_of
from state.values.code_plan import Quantity, QuantityKind, Status
from state.values.orders import ordering_paragraphs
from state.values.redaction import redact
from state.values.segments import Segment

_BREAK = "\n---\n"
_QUOTE = 220
_NAMES_SHOWN = 24


def pieces_of(segments: Sequence[Segment], scores: Sequence[float] | None = None) -> list[Piece]:
    """Return the segments as they can be packed, without what gives orders to its reader."""
    return [
        Piece(each.id, _marked(each), scores[at] if scores else 0.0)
        for at, each in enumerate(segments)
    ]


def paper(pieces: Iterable[Piece]) -> str:
    """Return the pieces that went in, in one fence; '' if none did."""
    text = "\n\n".join(piece.text for piece in pieces)
    return fence(text, "paper") if text.strip() else ""


def _marked(segment: Segment) -> str:
    text = segment.text
    for start, end in reversed(ordering_paragraphs(text)):
        text = text[:start].rstrip() + "\n" + text[end:].lstrip()
    place = " > ".join(segment.section[-2:])
    page = f", page {segment.page}" if segment.page is not None else ""
    return f"[{segment.id}{page}] {place}\n{redact(text.strip())}"


def findings_of(findings: Sequence[Finding]) -> list[str]:
    """Return a line for each finding, numbered f1, f2, …"""
    lines = []
    for number, each in enumerate(findings, 1):
        kind = each.kind.value if each.kind else "method"
        value = f" {each.name} = {each.value} {each.unit}".rstrip() if each.value else ""
        said = " ".join(each.statement.split())
        quote = " ".join(each.citation.quote.split())[:_QUOTE]
        lines.append(f"f{number} ({kind}){value}: {said} “{quote}”")
    return lines


def quantities_of(quantities: Iterable[Quantity]) -> str:
    """Return a line for each quantity: what it is, its value, and the words it comes from."""
    lines = []
    for each in quantities:
        value = f"{each.value} {each.unit}".strip() or "not stated"
        said = f": “{_one_line(each.citation.quote)}”" if each.citation else ""
        doubt = "" if each.status is Status.SPECIFIED else f", {each.status.value}"
        task = ", to be reproduced" if each.kind is QuantityKind.RESULT else ""
        lines.append(f"- {each.name} = {value} ({each.kind.value}{doubt}{task}){said}")
    return "\n".join(lines)


def known_files(files: Sequence[KnownFile], language: str) -> str:
    """Return what may be used of other files: how to import it, and its signatures."""
    parts = []
    for each in files:
        how = import_of(each.path, each.interface) if language.startswith("python") else ""
        said = each.interface.strip() or each.summary.strip()
        parts.append((f"{how}\n" if how else "") + fence(redact(said), each.path))
    return "\n\n".join(parts)


def import_of(path: str, interface: str) -> str:
    """Return the line that imports what a Python file defines; '' if that is nothing."""
    names = []
    for line in interface.splitlines():
        words = line.replace("async def ", "def ").replace("(", " ").replace(":", " ").split()
        if line[:1].isspace() or len(words) < 2 or line[:1] in "@\"'":
            continue
        name = words[1] if words[0] in ("def", "class") else words[0]
        if name.isidentifier():
            names.append(name)
    module = module_of(path)
    if not module or not names:
        return ""
    return f"from {module} import {', '.join(dict.fromkeys(names[:_NAMES_SHOWN]))}"


def files_of(files: Iterable[FileDraft]) -> str:
    """Return whole files, each in a fence of its own."""
    return "\n\n".join(fence(redact(each.text), each.path) for each in files)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_QUOTE]


def text_request(name: str, *, output_tokens: int, **fields: str) -> ChatRequest:
    """Return the request for a text that the prompt `name` makes with `fields`.

    The part above the line `---` is the system's, the rest the user's.
    """
    prompt = load(name)
    system, user = prompt.text.split(_BREAK, 1)
    return ChatRequest(
        messages=(
            Message("system", system.strip()),
            Message("user", _filled(prompt, user, fields)),
        ),
        max_output_tokens=output_tokens,
        prompt=prompt.id,
    )


def _filled(prompt: Prompt, user: str, fields: dict[str, str]) -> str:
    half = Prompt(prompt.name, prompt.version, prompt.hash, user)
    return half.render(**fields).strip()


Build = Callable[[Sequence[Piece]], ChatRequest]
