"""The `Coder` port: who reads a paper, plans code, writes and repairs it."""

from dataclasses import dataclass
from typing import Protocol

from adapters.models.port import Answer
from state.values.code_plan import (
    Ambiguity,
    CodePlan,
    Component,
    PaperCitation,
    PlannedFile,
    Quantity,
    QuantityKind,
    Requirement,
    Status,
)
from state.values.money import Usage
from state.values.segments import Segment


@dataclass(frozen=True, slots=True)
class AnalyseInput:
    """Some segments of the source, and what is wanted of it in all ('' for a paper alone)."""

    requirement: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the source says that an implementation needs; `kind` is None for what is no value.

    The citation's quote is not yet located.
    """

    statement: str
    citation: PaperCitation
    kind: QuantityKind | None = None
    name: str = ""
    value: str = ""
    unit: str = ""
    status: Status = Status.SPECIFIED


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a part of the source is about, what it says, and what it leaves open."""

    summary: str
    findings: tuple[Finding, ...] = ()
    open_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DesignInput:
    """What a plan is made from; with `feedback` a new version of `previous` is wanted.

    `notes` says what the last version was refused for, and how references can help.
    """

    requirement: str
    title: str
    analyses: tuple[Analysis, ...]
    segments: tuple[Segment, ...]
    feedback: str = ""
    previous: CodePlan | None = None
    notes: str = ""
    max_files: int = 60


@dataclass(frozen=True, slots=True)
class KnownFile:
    """What another file may use of a file that was written: its interface, and a summary."""

    path: str
    interface: str
    summary: str


@dataclass(frozen=True, slots=True)
class WriteFileInput:
    """Everything one file is written from, and nothing else: when it changes, the file is redone.

    `known` are the files that it depends on. For a test or a document these are those it is about.
    `problem` is what was wrong with the answer before, or ''.
    """

    title: str
    language: str
    file: PlannedFile
    component: Component | None
    quantities: tuple[Quantity, ...]
    ambiguities: tuple[Ambiguity, ...]
    requirements: tuple[Requirement, ...]
    segments: tuple[Segment, ...]
    known: tuple[KnownFile, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FileDraft:
    """A whole file; `summary` says in a sentence or two what it does."""

    path: str
    text: str
    summary: str = ""


@dataclass(frozen=True, slots=True)
class RepairFilesInput:
    """The output of a failed verification, and the files that may be at fault.

    `frozen` are shown and may not be changed. `attempt` counts from 1. `tried` are what the repairs
    before said of themselves.
    """

    title: str
    language: str
    attempt: int
    output: str
    files: tuple[FileDraft, ...]
    frozen: tuple[FileDraft, ...]
    components: tuple[Component, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Repair:
    """What was thought wrong, and the changed files as a whole."""

    diagnosis: str
    files: tuple[FileDraft, ...]


CoderInput = AnalyseInput | DesignInput | WriteFileInput | RepairFilesInput


class Coder(Protocol):
    """Makes code of a source; what it says of the source is checked by others.

    Errors are those of `adapters.models.chat.errors`.
    """

    @property
    def name(self) -> str:
        """Return who this is, as a report names it: `model:<name>`."""
        ...

    @property
    def context_tokens(self) -> int:
        """Return how many tokens prompt and answer may have together."""
        ...

    def price(self, given: CoderInput) -> Usage:
        """Return the most that the operation on `given` takes: it is reserved before the call."""
        ...

    async def analyse(self, given: AnalyseInput) -> Answer[Analysis]:
        """Say what the segments hold that an implementation needs, each with a quote."""
        ...

    async def design(self, given: DesignInput) -> Answer[CodePlan]:
        """Plan the code, or revise a plan; citations are not yet located."""
        ...

    async def write_file(self, given: WriteFileInput) -> Answer[FileDraft]:
        """Write one whole file."""
        ...

    async def repair(self, given: RepairFilesInput) -> Answer[Repair]:
        """Change what a failed verification shows to be wrong."""
        ...
