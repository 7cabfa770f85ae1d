"""Design: ask for the files, then for the parts and what they must meet; the code does the rest."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from adapters.models.chat.packing import Piece, pack
from adapters.models.chat.port import ChatRequest
from adapters.models.chat.prompts import fence
from adapters.models.coder import DesignInput, Finding
from adapters.models.coding.analysing import wanted
from adapters.models.coding.asking import SMALL_CONTEXT
from adapters.models.coding.drafting import Draft, is_code, package_name, title_of
from adapters.models.coding.forms import ComponentsForm, FilesForm, RevisedForm
from adapters.models.coding.selecting import relevance
from adapters.models.coding.showing import findings_of, paper, pieces_of
from adapters.models.language.asking import Asked, Choices, fitted, output_limit, request_of
from adapters.models.language.forms import Form
from state.values.code_plan import FileRole
from state.values.redaction import redact

F = TypeVar("F", bound=Form)

_FILES_TOKENS, _COMPONENTS_TOKENS, _TOKENS_PER_ENTRY = 1100, 600, 120
_SUMMARY_CHARACTERS = 500
_CHARACTERS_PER_FILE = 3000
# A small model keeps to one file what a larger one would split: each file costs it a call, and each
# import between files is a chance to be wrong. Nor does it plan better for seeing all of a paper.
_CHARACTERS_OF_FEW, _SHARE_PLANNING = 6000, 16
_MOST_OPTIONS = 24
_MOST_FUNCTIONS = 8
_FORMULA = re.compile(r"[^=<>!]=[^=]|[≈≤≥∝←]")
_NOTED = 1.0  # findings go in before the paper's text
_ROUGHLY = ("formula algorithm method parameters",)


@dataclass(frozen=True, slots=True)
class _Noted:
    """All that was found in the source, numbered as the prompts have it."""

    summary: str
    findings: tuple[Finding, ...]
    questions: tuple[str, ...]


def ask_files(given: DesignInput, context_tokens: int) -> Asked[FilesForm]:
    """Return the request for the files of a plan, and one with half of what it is made from."""
    noted = _noted(given)
    length = sum(len(each.text) for each in given.segments) + len(given.requirement)
    is_small = context_tokens <= SMALL_CONTEXT
    wished = length // _CHARACTERS_OF_FEW + 1 if is_small else length // _CHARACTERS_PER_FILE + 3
    most = max(1 if is_small else 2, min(given.max_files - 4, wished))
    formulas = _formulas(noted)
    folder = package_name(title_of(given))

    def build(most: int, pieces: Sequence[Piece]) -> ChatRequest:
        return request_of(
            "code-files",
            FilesForm,
            output_tokens=output_limit(context_tokens, _FILES_TOKENS + _TOKENS_PER_ENTRY * most),
            choices=[
                Choices("FilesForm", "files", most=most),
                Choices("FilesForm", "functions", least=len(formulas), most=2 * _MOST_FUNCTIONS),
                Choices("FunctionForm", "note", options=list(formulas)),
            ],
            wanted=wanted(given.requirement),
            findings=_told(noted, pieces),
            text=_paper(pieces),
            revision=_files_before(given),
            functions=_to_plan(formulas),
            folder=folder,
            most=str(most),
        )

    pieces = _pieces(given, noted)
    if is_small:
        pieces = list(pack(pieces, room_tokens=context_tokens // _SHARE_PLANNING).pieces)
    return _asked(FilesForm, build, most, pieces, context_tokens)


def ask_components(given: DesignInput, draft: Draft, context_tokens: int) -> Asked[ComponentsForm]:
    """Return the request for the parts of what `draft` has files for."""
    noted = _noted(given)
    sources = [each for each in draft.files if is_code(each)]
    paths = [each.path for each in sources]
    lines = [
        "\n".join([f"- {each.path}: {each.purpose}", *(f"    {line}" for line in each.interface)])
        for each in sources
    ]
    revised = bool(given.feedback.strip())
    form = RevisedForm if revised else ComponentsForm
    most = max(1, min(8, len(sources) + 2))

    def build(most: int, pieces: Sequence[Piece]) -> ChatRequest:
        names = [piece.key for piece in pieces if piece.key.startswith("f")]
        return request_of(
            "code-components",
            form,
            output_tokens=output_limit(
                context_tokens, _COMPONENTS_TOKENS + _TOKENS_PER_ENTRY * most
            ),
            choices=[
                Choices(form.__name__, "components", most=most),
                Choices("ComponentForm", "files", options=paths[:_MOST_OPTIONS]),
                Choices("ComponentForm", "findings", options=names[:_MOST_OPTIONS]),
            ],
            wanted=wanted(given.requirement),
            findings=_told(noted, pieces),
            files=fence("\n".join(lines), "files"),
            open=_open(noted),
            revision=_components_before(given),
            most=str(most),
            example=paths[0] if paths else "package/module.py",
        )

    pieces = [piece for piece in _pieces(given, noted) if piece.key.startswith("f")]
    return _asked(form, build, most, pieces, context_tokens)


def all_findings(given: DesignInput) -> tuple[Finding, ...]:
    """Return the findings of all analyses, each once, in the order in which they are numbered."""
    return _noted(given).findings


def open_questions(given: DesignInput) -> tuple[str, ...]:
    """Return what the analyses leave open."""
    return _noted(given).questions


def _formulas(noted: _Noted) -> dict[str, str]:
    """Return the numbers of the notes that are formulas, with the place of each."""
    found = {
        f"f{number}": each.citation.place
        for number, each in enumerate(noted.findings, 1)
        if each.kind is None and _FORMULA.search(each.citation.quote)
    }
    return dict(list(found.items())[:_MOST_FUNCTIONS])


def _to_plan(formulas: Mapping[str, str]) -> str:
    if not formulas:
        return ""
    named = ", ".join(f"{key} ({place})" if place else key for key, place in formulas.items())
    return f"Plan a function for each of these formulas: {redact(named)}.\n"


def _asked(
    form: type[F],
    build: Callable[[int, Sequence[Piece]], ChatRequest],
    most: int,
    pieces: Sequence[Piece],
    context_tokens: int,
) -> Asked[F]:
    whole = fitted(pieces, partial(build, most), context_tokens)
    return Asked(whole.request, form, lambda: build(max(1, most // 2), whole.better_half))


def _noted(given: DesignInput) -> _Noted:
    findings: dict[tuple[str, str, str], Finding] = {}
    for analysis in given.analyses:
        for each in analysis.findings:
            key = (each.name.casefold(), each.value.casefold(), each.unit.casefold())
            findings.setdefault(key if each.kind else ("", each.citation.quote, ""), each)
    questions = dict.fromkeys(each for found in given.analyses for each in found.open_questions)
    summary = "\n".join(found.summary[:_SUMMARY_CHARACTERS] for found in given.analyses)
    return _Noted(summary, tuple(findings.values()), tuple(questions))


def _pieces(given: DesignInput, noted: _Noted) -> list[Piece]:
    """Return findings and segments to be packed; what is a formula or a procedure goes in first."""
    lines = findings_of(noted.findings)
    pieces = [
        Piece(
            f"f{number}",
            lines[number - 1],
            _NOTED + (0.5 if each.kind is None else 0.0) + 0.1 / number,
        )
        for number, each in enumerate(noted.findings, 1)
    ]
    said = " ".join([given.requirement, given.title, given.feedback, *_ROUGHLY, noted.summary])
    scores = relevance(given.segments, said) if given.segments else []
    most = max(scores, default=0.0) or 1.0
    return pieces + pieces_of(given.segments, [score / most / 2 for score in scores])


def _told(noted: _Noted, pieces: Sequence[Piece]) -> str:
    lines = [piece.text for piece in pieces if piece.key.startswith("f")]
    return fence(redact("\n".join([noted.summary, *lines]).strip() or "(no notes)"), "notes")


def _paper(pieces: Sequence[Piece]) -> str:
    text = paper(piece for piece in pieces if piece.key.startswith("s"))
    return f"From the paper:\n\n{text}\n" if text else ""


def _open(noted: _Noted) -> str:
    if not noted.questions:
        return ""
    lines = "\n".join(f"- {redact(each)}" for each in noted.questions[:8])
    return f"\nWhat the paper leaves open (choose an answer to each):\n{fence(lines, 'notes')}\n"


def _files_before(given: DesignInput) -> str:
    said = _refused(given)
    if given.previous is not None:
        sources = [each for each in given.previous.file_structure if each.role is FileRole.SOURCE]
        lines = ["Your last plan had these files:"]
        for each in sources:
            lines.append(f"- {each.path}: {each.purpose}")
            lines += [f"    {line}" for line in each.interface]
        said += "\n" + "\n".join(lines) + "\n"
    return said + _feedback(given)


def _components_before(given: DesignInput) -> str:
    said = _refused(given)
    if given.previous is not None:
        lines = ["Your last plan had these parts:"]
        lines += [
            f"- {each.name}: {each.description} Criterion: {each.criterion}"
            for each in given.previous.implementation_components
        ]
        said += "\n" + "\n".join(lines) + "\n"
    hint = (
        '\n"values" holds only the numbers and settings that this change names, with their new '
        "values.\n"
    )
    return said + _feedback(given) + (hint if given.feedback.strip() else "")


def _feedback(given: DesignInput) -> str:
    said = redact(given.feedback.strip())
    return f"\nChange the plan as the person who reviews it says: {said}\n" if said else ""


def _refused(given: DesignInput) -> str:
    said = redact(given.notes.strip())
    return f"\nKeep in mind:\n{said}\n" if said else ""
