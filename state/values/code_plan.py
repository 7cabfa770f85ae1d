"""What is to be built from a paper: files, components, quantities, and how they are checked."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from state.values.ids import canonical_json, sha256_hex
from state.values.redaction import redact_value


class FileRole(StrEnum):
    """What a file of the workspace is for."""

    SOURCE = "source"
    TEST = "test"
    DOCUMENT = "document"
    CONFIGURATION = "configuration"
    DATA = "data"


class QuantityKind(StrEnum):
    """What a value of the paper is."""

    HYPERPARAMETER = "hyperparameter"
    CONSTANT = "constant"
    DATASET = "dataset"
    METRIC = "metric"
    RESULT = "result"


class Status(StrEnum):
    """Whether the source states a value, lets it be inferred, or leaves it open."""

    SPECIFIED = "specified"
    INFERRED = "inferred"
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True)
class PaperCitation:
    """An exact quote of the source.

    `start` and `end` are where it stands in the source's text (code points), None until it was
    found there or when it does not stand there. `place` names section, equation or table.
    """

    quote: str
    place: str = ""
    page: int | None = None
    start: int | None = None
    end: int | None = None

    @property
    def is_located(self) -> bool:
        """Tell whether the quote was found in the source's text."""
        return self.start is not None and self.end is not None


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file: where, what for, what others may use of it, and which files it uses.

    `path` is relative to the workspace, with `/`. `interface` holds signatures, one a line.
    `component` is the id of the component that it belongs to, or ''.
    """

    path: str
    purpose: str
    role: FileRole = FileRole.SOURCE
    interface: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    component: str = ""


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the method; `criterion` is what must hold for it to be accepted."""

    id: str
    name: str
    description: str
    criterion: str
    citations: tuple[PaperCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value that the code needs or must reproduce; `unit` is '' where there is none."""

    name: str
    kind: QuantityKind
    value: str
    unit: str = ""
    status: Status = Status.SPECIFIED
    citation: PaperCitation | None = None
    component: str = ""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that the code needs, with a version specifier of its ecosystem ('' is any)."""

    name: str
    specifier: str = ""
    ecosystem: str = "pypi"


@dataclass(frozen=True, slots=True)
class EnvironmentSetup:
    """What the code runs on; `requirements` are installed before it is verified."""

    language: str
    version: str = ""
    requirements: tuple[Requirement, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Validation:
    """How the code is checked: in words, and by which test files."""

    approach: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Strategy:
    """How the work goes: in words, and the files in the order in which they are written."""

    approach: str
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Something the source leaves open, and what is done about it."""

    question: str
    resolution: str


@dataclass(frozen=True, slots=True)
class CodePlan:
    """The five required parts of a plan, and what the source says or leaves open."""

    title: str
    file_structure: tuple[PlannedFile, ...]
    implementation_components: tuple[Component, ...]
    validation_approach: Validation
    environment_setup: EnvironmentSetup
    implementation_strategy: Strategy
    quantities: tuple[Quantity, ...] = ()
    ambiguities: tuple[Ambiguity, ...] = ()

    @property
    def hash(self) -> str:
        """Return the hash an approval is bound to: that of the plan as a person is shown it.

        Where a quote was found is no part of it: a plan that a person brings stays the plan they
        approved when its quotes are looked up.
        """
        plan = self.with_citations(lambda citation: replace(citation, start=None, end=None))
        return sha256_hex(canonical_json(redact_value(asdict(plan))))

    def as_json(self) -> dict[str, Any]:
        """Return the plan in the form that is recorded, shown and given back to replace it."""
        return asdict(self)

    @property
    def citations(self) -> tuple[PaperCitation, ...]:
        """Return every citation, those of components first."""
        of_components = (
            citation for part in self.implementation_components for citation in part.citations
        )
        of_quantities = (quantity.citation for quantity in self.quantities)
        return (*of_components, *(citation for citation in of_quantities if citation))

    def with_citations(self, change: Callable[[PaperCitation], PaperCitation]) -> "CodePlan":
        """Return the plan with `change` made to each of its citations."""
        return replace(
            self,
            implementation_components=tuple(
                replace(part, citations=tuple(map(change, part.citations)))
                for part in self.implementation_components
            ),
            quantities=tuple(
                replace(quantity, citation=change(quantity.citation) if quantity.citation else None)
                for quantity in self.quantities
            ),
        )

    def file(self, path: str) -> PlannedFile | None:
        """Return the planned file at `path`, if there is one."""
        return next((file for file in self.file_structure if file.path == path), None)
