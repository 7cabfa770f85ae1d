"""Files read out of what a model says: whole, of their language, and never more than was meant."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.models.chat.lenient import without_thoughts
from adapters.models.coding.paths import language_of, normal_path
from adapters.models.coding.syntax import check_syntax, is_page

_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)\Z")
_TOOL = re.compile(
    r"<\|?(?:tool_call|function_call|tool_use)|\A\s*\{\s*\"(?:name|tool|function|action)\"\s*:"
)
_REFUSAL = re.compile(
    r"(?i)\A\W*(?:i(?:'|’)?m (?:really )?(?:sorry|unable|afraid)|sorry\b|i (?:cannot|can(?:'|’)t|am"
    r" (?:unable|sorry)|won(?:'|’)t|must decline)|as an ai\b|unfortunately\b|es tut mir leid"
    r"|leider\b|ich kann (?:das|dir|ihnen|leider)\b)"
)
_INTRODUCTION = re.compile(r"\A(?!#)[^\n]{1,200}:\s*\n")
_NAMES = {
    "py": "python", "python3": "python", "js": "javascript", "node": "javascript",
    "ts": "typescript", "rs": "rust", "golang": "go", "c++": "cpp", "cs": "csharp",
    "c#": "csharp", "md": "markdown", "yml": "yaml", "sh": "bash", "shell": "bash",
    "jsx": "javascript", "tsx": "typescript", "rb": "ruby", "jl": "julia",
}  # fmt: skip
_NEUTRAL = frozenset({"", "text", "txt", "plaintext", "plain", "code", "file"})
_PROSE = frozenset({"markdown", ""})
_MOST_CLOSINGS = 40
_LABEL = re.compile(
    r"(?im)^\W*(?:file(?:name)?|path|datei)?\W{0,4}(?P<path>[\w./\\@-]+\.\w{1,8})\W*$"
)


class Unusable(ValueError):
    """The answer holds no usable file; the message says why, for the model.

    `text` is the whole file where there is one and it only is wrong, else ''.
    """

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


@dataclass(frozen=True, slots=True)
class Fenced:
    """A fenced block: its language, the lines in it, and what stands before it.

    `whole` are the lines up to each later fence that could close it instead, the nearest first.
    `is_closed` is False where the answer ends first.
    """

    language: str
    before: str
    whole: tuple[str, ...]
    is_closed: bool


def read_file(path: str, answer: str) -> str:
    """Return the file `path` that `answer` gives, with a newline at its end; raises `Unusable`.

    It is the longest block of its language that is what the path says, or the whole answer, if
    that is. An answer that is a refusal, a page, a call of a tool, or in another language is none.
    """
    text = without_thoughts(answer)
    if not text:
        raise Unusable("there is nothing in it but thoughts")
    if _TOOL.search(text) and "```" not in text:
        raise Unusable("it is a call of a tool; there are no tools, write the file itself")
    if language_of(path) in _PROSE:
        return _document(path, text)
    blocks = list(_blocks(text))
    if not blocks:
        return _unfenced(path, text)
    fitting = [block for block in blocks if _fits(block.language, path)]
    if not fitting:
        named = ", ".join(sorted({block.language for block in blocks}))
        raise Unusable(f"it is in {named}, and {path} is {language_of(path) or 'plain text'}")
    exact = [block for block in fitting if block.language not in _NEUTRAL] or fitting
    return _closed(path, max(exact, key=lambda block: len(block.whole[0])))


def read_files(answer: str, paths: Sequence[str]) -> dict[str, str]:
    """Return the files of `paths` that `answer` gives, by path; raises `Unusable` if it gives none.

    A block belongs to the path in the line before it or in its first line. With one path the one
    block needs no name. What is for another path is left out.
    """
    text = without_thoughts(answer)
    blocks = list(_blocks(text))
    if not blocks:
        raise Unusable("it holds no fenced code block")
    found: dict[str, str] = {}
    problems: list[str] = []
    for block in blocks:
        path = _named(block, paths) or (paths[0] if len(paths) == len(blocks) == 1 else "")
        if not path or not _fits(block.language, path):
            continue
        try:
            found[path] = _closed(path, block)
        except Unusable as problem:
            problems.append(str(problem))
    if problems:
        raise Unusable("; ".join(problems))
    if not found and len(paths) == 1:
        return {paths[0]: read_file(paths[0], answer)}
    if not found:
        raise Unusable(f"no block is named as one of {', '.join(paths)}")
    return found


def _named(block: Fenced, paths: Sequence[str]) -> str:
    last = "\n".join(block.before.strip().splitlines()[-2:])
    first = "\n".join(block.whole[0].strip().splitlines()[:1])
    for said in (*reversed(_LABEL.findall(last)), *_LABEL.findall(first)):
        path = normal_path(said)
        for known in paths:
            if path and (known == path or known.endswith("/" + path) or path.endswith("/" + known)):
                return known
    return ""


def _closed(path: str, block: Fenced) -> str:
    """Return the block up to the nearest fence that makes it what the path says."""
    problem = ""
    for body in block.whole:
        text = _ended(body)
        found = check_syntax(path, text)
        if found is None:
            if not block.is_closed and not language_of(path):
                break
            return text
        problem = problem or found
    if not block.is_closed:
        raise Unusable(f"it is cut off: {problem or path}")
    raise Unusable(problem, "" if is_page(block.whole[0]) else _ended(block.whole[0]))


def _unfenced(path: str, text: str) -> str:
    if _REFUSAL.match(text):
        raise Unusable("it is no file but a refusal; the file is needed for a test of the paper")
    for candidate in (text, _INTRODUCTION.sub("", text)):
        if language_of(path) and check_syntax(path, _ended(candidate)) is None:
            return _ended(candidate)
    problem = check_syntax(path, _ended(text))
    if (
        not language_of(path)
        and problem is None
        and not re.search(r"(?i)\bhere(?: is|'s|’s)\b", text)
    ):
        return _ended(text)
    raise Unusable(f"it holds no fenced code block{f' ({problem})' if problem else ''}")


def _document(path: str, text: str) -> str:
    """Return a file of prose, which may hold fences of its own."""
    lines = text.splitlines()
    opened = next((at for at, line in enumerate(lines) if _FENCE.match(line.strip())), None)
    if opened is not None:
        match = _FENCE.match(lines[opened].strip())
        language = _language(match["info"]) if match else ""
        only_introduced = opened <= 2 and not any(line.startswith("#") for line in lines[:opened])
        if language == "markdown" or (only_introduced and language in _NEUTRAL):
            closed = [at for at in range(opened + 1, len(lines)) if _is_bare(lines[at])]
            end = closed[-1] if closed else len(lines)
            body = "\n".join(lines[opened + 1 : end])
            if not closed:
                raise Unusable(f"it is cut off: {path}")
            return _checked(path, body)
    if _REFUSAL.match(text):
        raise Unusable("it is no file but a refusal; the file is needed for a test of the paper")
    if _TOOL.search(text) or text[0] in "{[":
        raise Unusable("it is no document; write the file itself")
    return _checked(path, _INTRODUCTION.sub("", text) or text)


def _checked(path: str, body: str) -> str:
    text = _ended(body)
    if is_page(text):
        raise Unusable("it is a page of HTML")
    if problem := check_syntax(path, text):
        raise Unusable(problem)
    return text


def _blocks(text: str) -> Iterator[Fenced]:
    lines = text.splitlines()
    at, ended = 0, 0
    while at < len(lines):
        opened = _FENCE.match(lines[at].strip())
        if opened is None:
            at += 1
            continue
        closings = list(_closings(lines, at + 1, opened["mark"]))
        ends = closings or [len(lines)]
        yield Fenced(
            _language(opened["info"]),
            "\n".join(lines[ended:at]),
            tuple("\n".join(lines[at + 1 : end]) for end in ends[:_MOST_CLOSINGS]),
            bool(closings),
        )
        at = ended = ends[0] + 1


def _closings(lines: Sequence[str], start: int, mark: str) -> Iterator[int]:
    """Yield where a fence can end: first where those opened in it are closed, then further on."""
    depth = 1
    later = []
    for at in range(start, len(lines)):
        line = lines[at].strip()
        found = _FENCE.match(line)
        if found is None or found["mark"][0] != mark[0] or len(found["mark"]) < len(mark):
            continue
        if found["info"].strip():
            depth += 1
        else:
            depth -= 1
            if depth <= 0:
                later.append(at)
    yield from later
    if not later:
        yield from (at for at in range(start, len(lines)) if _is_bare(lines[at]))


def _is_bare(line: str) -> bool:
    found = _FENCE.match(line.strip())
    return found is not None and not found["info"].strip()


def _language(info: str) -> str:
    word = re.split(r"[\s:{,]", info.strip(), maxsplit=1)[0].casefold()
    if "." in word and normal_path(word):
        return language_of(word)
    return _NAMES.get(word, word)


def _fits(language: str, path: str) -> bool:
    own = language_of(path)
    return language in _NEUTRAL or language == own or not own or {language, own} <= _RELATED


_RELATED = frozenset({"c", "cpp"})


def _ended(text: str) -> str:
    return text.strip("\n").rstrip() + "\n"
