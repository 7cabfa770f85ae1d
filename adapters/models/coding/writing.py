"""Write a file: a small one by rule, any other by a model that is shown what it may use."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from adapters.models.chat.packing import Piece, pack
from adapters.models.chat.port import ChatRequest
from adapters.models.chat.prompts import fence
from adapters.models.coder import FileDraft, WriteFileInput
from adapters.models.coding.asking import SMALL_CONTEXT, AskedText, Flawed, file_limit
from adapters.models.coding.cases import keep_exemplified
from adapters.models.coding.drafting import PYTEST, README
from adapters.models.coding.exemplified import Example, examples_in, numbers_of
from adapters.models.coding.fenced import Unusable, read_file
from adapters.models.coding.grounded import Grounded, keep_grounded, numbers_in
from adapters.models.coding.imports import check_imports, with_imports
from adapters.models.coding.names import undefined_names
from adapters.models.coding.paths import is_manifest, language_of
from adapters.models.coding.readme import readme_by_rule
from adapters.models.coding.selecting import relevance
from adapters.models.coding.showing import (
    import_of,
    known_files,
    paper,
    pieces_of,
    quantities_of,
    text_request,
)
from adapters.models.coding.stubs import find_stubs
from adapters.models.extractive.terms import stems
from adapters.models.language.asking import fitted
from state.values.code_plan import Component, FileRole, PaperCitation, Quantity, QuantityKind
from state.values.redaction import redact
from state.values.segments import Segment, SegmentKind

_PROMPTS = {FileRole.TEST: "code-tests", FileRole.DOCUMENT: "code-document"}
_MOST_NAMED = 6
# What a small model is shown of the paper for a file, as a share of its context: with more of it,
# it writes down another formula than the one that is asked for.
_SHARE_SHOWN = 12


def written_by_rule(given: WriteFileInput, context_tokens: int) -> str | None:
    """Return a file that follows from the plan alone, or None where it takes judgement.

    A small model, told by its context, is not asked for the README of a program in Python.
    """
    file = given.file
    name = PurePosixPath(file.path).name
    if is_manifest(file.path):
        lines = [f"{each.name}{each.specifier}" for each in given.requirements]
        return "\n".join(["# What the program and its tests need.", *sorted(lines)]) + "\n"
    if file.path == PYTEST:
        return "[pytest]\npythonpath = . src\n"
    if name == "__init__.py" and not file.interface:
        purpose = file.purpose.replace("\\", "/").replace('"', "'")
        return f'"""{purpose}"""\n'
    is_python = given.language.casefold().startswith("python")
    if file.path == README and is_python and context_tokens <= SMALL_CONTEXT:
        return readme_by_rule(given)
    return None


def ask_file(given: WriteFileInput, context_tokens: int) -> AskedText[FileDraft]:
    """Return the request for a file, with as much of the paper as fits, and how it is read."""
    is_small = context_tokens <= SMALL_CONTEXT
    told = replace(given, quantities=_its_own(given)) if is_small else given
    segments = (is_small and _around_formulas(given)) or given.segments
    scores = relevance(segments, _about(told)) if segments else []
    most = max(scores, default=0.0) or 1.0
    pieces = pieces_of(segments, [score / most for score in scores])
    if is_small:
        pieces = list(pack(pieces, room_tokens=context_tokens // _SHARE_SHOWN).pieces)
    examples = _example_quotes(given) if is_small and given.file.role is FileRole.TEST else ()
    limit = file_limit(context_tokens)
    whole = fitted(pieces, partial(_request, told, examples, limit), context_tokens)
    return AskedText(whole.request, partial(read_draft, given, is_small=is_small))


def _around_formulas(given: WriteFileInput) -> tuple[Segment, ...]:
    """Return the segments of the sections whose formulas the file's part cites; () without any."""
    cited = {each.quote.strip() for each in given.component.citations} if given.component else set()
    sections = {
        each.section
        for each in given.segments
        if each.kind is SegmentKind.EQUATION and each.text.strip() in cited
    }
    return tuple(each for each in given.segments if each.section in sections)


def _its_own(given: WriteFileInput) -> tuple[Quantity, ...]:
    """Return the quantities that share a word with the file or its part; all if none does.

    A small model uses whatever number it is shown.
    """
    part = given.component
    said = [given.file.path, *given.file.interface, *(each.interface for each in given.known)]
    said += [part.name, part.criterion] if part else []
    words = stems(" ".join(said).replace("_", " ").replace("/", " "))
    own = tuple(each for each in given.quantities if words & stems(each.name.replace("_", " ")))
    return own or given.quantities


def read_draft(given: WriteFileInput, answer: str, *, is_small: bool = False) -> FileDraft:
    """Return the file that `answer` gives; raises `Flawed` for one that is not finished.

    Of a test in Python, what expects numbers that nobody stated is left out, and said so; of one by
    a small model, also what no worked example states for the inputs of the test.
    """
    path = given.file.path
    summary = given.file.purpose
    try:
        text = read_file(path, answer)
    except Unusable as unusable:
        if not unusable.text:
            raise
        raise Flawed(str(unusable), FileDraft(path, unusable.text, summary)) from None
    if path.endswith(".py"):
        text = with_imports(text, given.known, given.requirements)
    if given.file.role is FileRole.TEST and path.endswith(".py"):
        examples = _examples(given) if is_small else ()
        cases = keep_exemplified(text, examples) if examples else Grounded(text, ())
        kept = keep_grounded(cases.text, numbers_in(_stated(given)))
        if left_out := (*cases.left_out, *kept.left_out):
            summary += f" Left out, since nobody stated its numbers: {', '.join(left_out)}."
        text = kept.text
    draft = FileDraft(path, text, summary)
    if stubs := find_stubs(path, text):
        named = "; ".join(stubs[:_MOST_NAMED])
        raise Flawed(f"it is not finished: {named}; write all of it", draft)
    missing = [name for name in _promised(given) if not _defines(name, text)]
    if missing:
        named = ", ".join(missing[:_MOST_NAMED])
        raise Flawed(f"it lacks {named}, which the interface lists", draft)
    if wrong := _astray(given, text):
        raise Flawed(f"{'; '.join(wrong[:_MOST_NAMED])}; mend that", draft)
    return draft


def _astray(given: WriteFileInput, text: str) -> list[str]:
    """Return which imports and names of a Python file lead nowhere."""
    if not given.file.path.endswith(".py"):
        return []
    imports = check_imports(given.file.path, text, given.known, given.requirements)
    return [*imports, *(f"{name} is used and defined nowhere" for name in undefined_names(text))]


def _promised(given: WriteFileInput) -> list[str]:
    """Return the names that the interface promises at the top level of a Python file."""
    if not given.file.path.endswith(".py") or given.file.role is not FileRole.SOURCE:
        return []
    found = [re.match(r"(?:async\s+)?(?:def|class)\s+(\w+)", line) for line in given.file.interface]
    return [match[1] for match in found if match]


def _defines(name: str, text: str) -> bool:
    return re.search(rf"(?m)^\s*(?:(?:async\s+)?def|class)\s+{name}\b|^{name}\b", text) is not None


def _stated(given: WriteFileInput) -> str:
    """Return all text from which a number in a test can be."""
    parts = [each.text for each in given.segments]
    for quantity in given.quantities:
        parts += [quantity.value, quantity.citation.quote if quantity.citation else ""]
    if given.component:
        parts.append(given.component.criterion)
        parts += [each.quote for each in given.component.citations]
    return "\n".join(parts)


def _examples(given: WriteFileInput) -> tuple[Example, ...]:
    """Return the worked examples among what the file's part cites."""
    settings = numbers_of("\n".join(each.value for each in given.quantities))
    return examples_in(_cited_examples(given), frozenset(settings))


def _example_quotes(given: WriteFileInput) -> tuple[str, ...]:
    return tuple(each.quote.strip() for each in _cited_examples(given))


def _cited_examples(given: WriteFileInput) -> list[PaperCitation]:
    """Return what the file's part cites that is no formula and states numbers together."""
    formulas = {each.text.strip() for each in given.segments if each.kind is SegmentKind.EQUATION}
    cited = given.component.citations if given.component else ()
    return [
        each
        for each in cited
        if each.quote.strip() not in formulas and len(numbers_of(each.quote)) > 1
    ]


def _about(given: WriteFileInput) -> str:
    parts = [given.file.path, given.file.purpose, *given.file.interface]
    if given.component:
        parts += [given.component.name, given.component.description, given.component.criterion]
        parts += [each.quote for each in given.component.citations]
    parts += [each.name for each in given.quantities]
    return " ".join(parts)


def _request(
    given: WriteFileInput, examples: Sequence[str], output_tokens: int, pieces: Sequence[Piece]
) -> ChatRequest:
    """Return the request; with `examples` one for just as many tests.

    A small model that is free to think of tests does not come to an end.
    """
    text = paper(pieces)
    fields = {
        "title": redact(given.title),
        "text": f"From the paper:\n\n{text}" if text else "",
        "known": _known(given),
        "facts": _facts(given, text, examples),
        "path": given.file.path,
        "task": _task(given, len(examples)),
        "problem": f"\nBe sure to mend this: {redact(given.problem)}" if given.problem else "",
    }
    prompt = _PROMPTS.get(given.file.role, "code-write")
    if examples:
        prompt = "code-examples"
        del fields["title"], fields["text"]
    if prompt != "code-document":
        fields["language"] = language_of(given.file.path) or given.language
    return text_request(prompt, output_tokens=output_tokens, **fields)


def _known(given: WriteFileInput) -> str:
    shown = known_files(given.known, given.language.casefold())
    return f"Files that exist:\n\n{shown}\n\n" if shown else ""


def _facts(given: WriteFileInput, text: str, examples: Sequence[str]) -> str:
    """Return what the plan says; what a citation says is left out where it is shown already.

    Where there are `examples`, it is those and the settings that hold for them.
    """
    lines = []
    if examples:
        lines += [f"Example {number}: “{quote}”" for number, quote in enumerate(examples, 1)]
        if said := _settings(given.quantities):
            lines.append(f"Unless an example says otherwise: {said}.")
        return f"{fence(redact(chr(10).join(lines)), 'paper')}\n\n"
    if given.component:
        part = given.component
        lines.append(f"The part: {part.name}. {part.description}")
        lines.append(f"It is right when: {_without_quotes(part)}")
        shown = " ".join(text.split())
        quotes = [each.quote.strip() for each in part.citations]
        told = [quote for quote in quotes if " ".join(quote.split()) not in shown]
        lines += [f"The paper says: “{quote}”" for quote in told]
    if said := quantities_of(given.quantities):
        lines.append(f"Values of the paper:\n{said}")
    lines += [f"Decided: {each.question} {each.resolution}" for each in given.ambiguities]
    parts = [fence(redact("\n".join(lines)), "plan") + "\n\n"] if lines else []
    names = [each.name for each in given.requirements if _may_use(given.file.role, each.name)]
    listed = ", ".join(names) or "none, the language's own library only"
    return "".join([*parts, f"Packages: {listed}.\n\n"])


def _settings(quantities: Sequence[Quantity]) -> str:
    """Return the settings that are one number, on a line; '' without any."""
    kinds = (QuantityKind.HYPERPARAMETER, QuantityKind.CONSTANT)
    numbers = [each for each in quantities if each.kind in kinds and _is_number(each.value)]
    return ", ".join(f"{each.name} is {each.value} {each.unit}".strip() for each in numbers)


def _is_number(value: str) -> bool:
    return re.fullmatch(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", value.strip()) is not None


def _may_use(role: FileRole, package: str) -> bool:
    """Tell whether to name the package to who writes the file: what tests it is for tests alone."""
    return role is not FileRole.SOURCE or package.casefold() != "pytest"


def _without_quotes(part: Component) -> str:
    """Return the criterion without what is cited: that is shown as it is laid out in the paper."""
    criterion = part.criterion
    for each in part.citations:
        criterion = criterion.replace(" ".join(each.quote.split()), "")
    return " ".join(criterion.split()).strip(" ;“”") or part.criterion


def _task(given: WriteFileInput, examples: int) -> str:
    if examples:
        begin = [import_of(each.path, each.interface) for each in given.known]
        last = f" It ends with test_example_{examples}." if examples > 1 else ""
        shown = "\n".join([*filter(None, begin), "", "", "def test_example_1():"])
        return f"{last.strip()} It begins with:\n\n{shown}".strip()
    lines = [f"Its purpose: {given.file.purpose}"]
    if given.file.interface:
        lines.append("It has to give:")
        lines += [f"    {line}" for line in given.file.interface]
    return redact("\n".join(lines))
