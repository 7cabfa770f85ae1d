"""Repair: whole files for what a failed verification shows, and never those that are frozen."""

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from adapters.models.chat.packing import Piece
from adapters.models.chat.port import ChatRequest
from adapters.models.chat.prompts import fence
from adapters.models.chat.tokens import estimate
from adapters.models.coder import FileDraft, Repair, RepairFilesInput
from adapters.models.coding.asking import SMALL_CONTEXT, AskedText, file_limit
from adapters.models.coding.fenced import Unusable, read_files
from adapters.models.coding.showing import files_of, quantities_of, text_request
from adapters.models.coding.stubs import find_stubs
from adapters.models.language.asking import fitted
from state.values.redaction import redact

_OUTPUT_SHARE, _SMALL_OUTPUT_SHARE = 5, 12  # of the context, what the output of tests may take
_LATER_TEMPERATURE = 0.5
_MOST_OUTPUT_TOKENS = 2500
_CAUSE = re.compile(r"(?im)^\W*(?:cause|diagnosis|ursache)\W*:\s*(?P<said>.+)$")
_LONGEST_CAUSE = 500
_TELLING = re.compile(r"^(?:E\s|>\s|FAILED|ERROR|.*Error\b|.*assert|\S+:\d+:|=+ )")
_MOST_NAMED = 6


def ask_repair(given: RepairFilesInput, context_tokens: int) -> AskedText[Repair]:
    """Return the request for a repair, with the files that the output names before the others."""
    is_small = context_tokens <= SMALL_CONTEXT
    share = _SMALL_OUTPUT_SHARE if is_small else _OUTPUT_SHARE
    output = told_output(given.output, min(_MOST_OUTPUT_TOKENS, context_tokens // share))
    if is_small:
        given = replace(given, frozen=tuple(_failing(each, given.output) for each in given.frozen))
    changing = [_piece(each, given.output, 2.0) for each in given.files]
    frozen = [_piece(each, given.output, 0.0) for each in given.frozen]

    def build(pieces: Sequence[Piece]) -> ChatRequest:
        return _request(given, output, pieces, file_limit(context_tokens))

    whole = fitted([*changing, *frozen], build, context_tokens)
    shown = [each.path for each in given.files if any(p.key == each.path for p in whole.pieces)]
    request = whole.request
    if given.attempt > 1:  # what was said without any warmth did not help
        request = replace(request, temperature=_LATER_TEMPERATURE, seed=given.attempt)
    return AskedText(request, partial(read_repair, given, shown))


def read_repair(given: RepairFilesInput, paths: Sequence[str], answer: str) -> Repair:
    """Return the files of `paths` that `answer` changes; raises `Unusable` if it changes none."""
    before = {each.path: each for each in given.files}
    found = read_files(answer, paths)
    drafts = []
    for path, text in found.items():
        if text.strip() == before[path].text.strip():
            continue
        if stubs := set(find_stubs(path, text)) - set(find_stubs(path, before[path].text)):
            named = "; ".join(sorted(stubs)[:_MOST_NAMED])
            raise Unusable(f"{path} is not finished: {named}; write all of it")
        drafts.append(FileDraft(path, text, before[path].summary))
    if not drafts:
        raise Unusable("it changes nothing: the files in it are what they were")
    cause = _CAUSE.search(answer)
    said = cause["said"] if cause else answer.strip().split("```", maxsplit=1)[0]
    diagnosis = " ".join(said.replace("*", "").split())[:_LONGEST_CAUSE]
    return Repair(diagnosis or "No cause was told.", tuple(drafts))


def told_output(output: str, room_tokens: int) -> str:
    """Return of the output of tests what fits: all, or else the telling lines and the end."""
    if estimate(output) <= room_tokens:
        return output.strip()
    lines = output.splitlines()
    chosen: set[int] = set()
    used = 0
    ends = range(len(lines) - 1, max(-1, len(lines) - 15), -1)
    telling = [at for at, line in enumerate(lines) if _TELLING.match(line)]
    for at in dict.fromkeys([*ends, *telling, *range(len(lines) - 1, -1, -1)]):
        size = estimate(lines[at]) + 1
        if used + size > room_tokens:
            break
        chosen.add(at)
        used += size
    return "\n".join(lines[at] for at in sorted(chosen)).strip()


def _failing(file: FileDraft, output: str) -> FileDraft:
    """Return the Python test file without those tests that the output does not name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(file.text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return file
    named = set(re.findall(r"\btest\w*\b(?!\.)", output))
    tests = [each for each in body if isinstance(each, ast.FunctionDef) and "test" in each.name]
    if not any(each.name in named for each in tests):
        return file
    lines = file.text.splitlines(keepends=True)
    for each in reversed(tests):
        if each.name not in named:
            first = min([each.lineno, *(mark.lineno for mark in each.decorator_list)])
            del lines[first - 1 : each.end_lineno]
    return replace(file, text=re.sub(r"\n{4,}", "\n\n\n", "".join(lines)))


def _piece(file: FileDraft, output: str, priority: float) -> Piece:
    named = file.path in output or PurePosixPath(file.path).name in output
    return Piece(file.path, file.text, priority + (1.0 if named else 0.0))


def _request(
    given: RepairFilesInput, output: str, pieces: Sequence[Piece], output_tokens: int
) -> ChatRequest:
    texts = {piece.key: piece.text for piece in pieces}
    files = [FileDraft(each.path, texts[each.path]) for each in given.files if each.path in texts]
    frozen = [FileDraft(each.path, texts[each.path]) for each in given.frozen if each.path in texts]
    facts = [f"Right when: {each.criterion}" for each in given.components]
    told = " ".join(facts)
    facts += [
        f"The paper says: “{quote}”"
        for quote in dict.fromkeys(
            " ".join(cited.quote.split()) for each in given.components for cited in each.citations
        )
        if quote not in told
    ]
    if said := quantities_of(given.quantities):
        facts.append(f"Values of the paper:\n{said}")
    tried = "\n".join(f"- {each}" for each in given.tried)
    return text_request(
        "code-repair",
        output_tokens=output_tokens,
        title=redact(given.title),
        language=given.language,
        files=f"The files:\n\n{files_of(files)}" if files else "",
        frozen=f"Frozen files:\n\n{files_of(frozen)}\n\n" if frozen else "",
        facts=fence(redact("\n".join(facts)), "plan") + "\n\n" if facts else "",
        output=fence(redact(output) or "(no output)", "output"),
        tried=f"\nTried before, in vain:\n{redact(tried)}\n" if tried else "",
        paths=", ".join(each.path for each in files),
    )
