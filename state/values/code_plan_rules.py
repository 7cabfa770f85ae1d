"""What a code plan must be before anything of it is carried out."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator

from state.values.code_plan import (
    CodePlan,
    Component,
    FileRole,
    PaperCitation,
    PlannedFile,
    Quantity,
    Requirement,
    Status,
)
from state.values.code_plan_form import parse_code_plan
from state.values.code_plan_order import find_cycle, has_manifest, is_closing, is_readme
from state.values.errors import InvalidRequest, RejectedError
from state.values.ids import is_stable_id
from state.values.plan import has_words
from state.values.quotes import MAX_QUOTE, MIN_QUOTE
from state.values.redaction import has_secret
from state.values.visible import is_hidden
from state.values.workspace_paths import path_problems

MAX_FILES = 200
MAX_ENTRIES = 200  # components, quantities, requirements, ambiguities
MAX_LINE = 1_000
MAX_TEXT = 8_000
MAX_INTERFACE = 200
MAX_CITATIONS = 20
MAX_SIZE = 400_000

# A package's name and version, and nothing that an installer could take for an option or a place.
_PACKAGE = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._/-]{0,199}(?:\[[A-Za-z0-9._, -]{1,100}\])?\Z")
_SPECIFIER = re.compile(r"[A-Za-z0-9 .,*+!<>=~^|_-]{0,100}\Z")
_SAYS_SOMETHING = 12  # characters; a shorter text may well stand twice


def check_code_plan(plan: CodePlan) -> None:
    """Raise `RejectedError` (PLAN_INVALID) naming everything that keeps `plan` from being done."""
    problems = [
        *_text_problems(plan),
        *_file_problems(plan),
        *_order_problems(plan),
        *_component_problems(plan),
        *_validation_problems(plan),
        *_environment_problems(plan),
        *_quantity_problems(plan),
        *_ambiguity_problems(plan),
        *_repetition_problems(plan),
    ]
    if problems:
        raise RejectedError("the plan is not valid: " + "; ".join(problems), code="PLAN_INVALID")


def read_code_plan(text: str) -> CodePlan:
    """Return the plan that JSON `text` spells, which can be carried out as it stands.

    Raises `InvalidRequest` saying what is wrong with it.
    """
    plan = parse_code_plan(text)
    try:
        check_code_plan(plan)
    except RejectedError as error:
        raise InvalidRequest(error.message) from error
    return plan


# ---- texts


def _text_problems(plan: CodePlan) -> Iterator[str]:
    yield from _said("the title", plan.title, MAX_LINE)
    size = 0
    for where, text in _texts(plan):
        size += len(text)
        if any(is_hidden(sign) for sign in text):
            yield f"{where} holds characters that cannot be seen"
    if size > MAX_SIZE:
        yield f"it has {size:,} characters of text; {MAX_SIZE:,} are the most"


def _texts(plan: CodePlan) -> Iterator[tuple[str, str]]:
    """Yield every text a person reads, with where it stands; quotes are the source's own words."""
    yield "the title", plan.title
    for file in plan.file_structure:
        yield f"file {file.path!r}", "\n".join((file.purpose, *file.interface))
    for part in plan.implementation_components:
        said = (part.name, part.description, part.criterion)
        yield f"component {part.id!r}", "\n".join(said)
    setup = plan.environment_setup
    yield "environment_setup", f"{setup.language}\n{setup.version}\n{setup.notes}"
    yield "validation_approach", plan.validation_approach.approach
    yield "implementation_strategy", plan.implementation_strategy.approach
    for quantity in plan.quantities:
        said = (quantity.name, quantity.value, quantity.unit)
        yield f"quantity {quantity.name!r}", "\n".join(said)
    for number, ambiguity in enumerate(plan.ambiguities, start=1):
        yield f"ambiguity {number}", f"{ambiguity.question}\n{ambiguity.resolution}"
    for citation in plan.citations:
        yield f"the place of {citation.quote[:40]!r}", citation.place


def _said(what: str, text: str, most: int) -> Iterator[str]:
    if not has_words(text):
        yield f"{what} says nothing"
    if len(text) > most:
        yield f"{what} is longer than {most:,} characters"


def _few(what: str, entries: Iterable[object], most: int = MAX_ENTRIES) -> Iterator[str]:
    if (count := len(list(entries))) > most:
        yield f"it has {count} {what}; {most} are the most"


def _twice(what: str, names: Iterable[str]) -> Iterator[str]:
    yield from (f"{what} {name!r} stands twice" for name, n in Counter(names).items() if n > 1)


# ---- files and their order


def _file_problems(plan: CodePlan) -> Iterator[str]:
    files = plan.file_structure
    if not any(file.role is FileRole.SOURCE and not is_closing(file.path) for file in files):
        yield "file_structure has no source file"
    yield from _few("files", files, MAX_FILES)
    yield from path_problems(file.path for file in files)
    if not any(is_readme(file.path) for file in files):
        yield "file_structure has no README.md"
    if not has_manifest(plan):
        yield (
            "file_structure has no file that says which packages are needed "
            "(requirements.txt, package.json, Cargo.toml …)"
        )
    paths = {file.path for file in files}
    ids = {part.id for part in plan.implementation_components}
    for file in files:
        yield from _one_file(file, paths, ids)
    if cycle := find_cycle(plan):
        yield f"files depend on each other in a circle: {' → '.join(cycle)}"


def _one_file(file: PlannedFile, paths: set[str], ids: set[str]) -> Iterator[str]:
    name = f"file {file.path[:100]!r}"
    yield from _said(f"{name}: its purpose", file.purpose, MAX_LINE)
    yield from _few(f"lines of interface in {name}", file.interface, MAX_INTERFACE)
    if any(len(line) > MAX_LINE for line in file.interface):
        yield f"{name}: a line of its interface is longer than {MAX_LINE} characters"
    for other in file.depends_on:
        if other not in paths:
            yield f"{name} depends on {other[:100]!r}, which is not planned"
        elif is_closing(other) and not is_closing(file.path):
            yield f"{name} depends on {other!r}, which is written last"
    yield from _twice(f"{name}: the dependency", file.depends_on)
    if file.component and file.component not in ids:
        yield f"{name} belongs to {file.component[:100]!r}, which is no component"


def _order_problems(plan: CodePlan) -> Iterator[str]:
    yield from _said("implementation_strategy", plan.implementation_strategy.approach, MAX_TEXT)
    order = plan.implementation_strategy.order
    planned = [file.path for file in plan.file_structure]
    left = [path for path in planned if path not in set(order)]
    more = [path for path in order if path not in set(planned)]
    if left:
        yield f"the order leaves out {_named(left)}"
    if more:
        yield f"the order has {_named(more)}, which is not planned"
    yield from _twice("in the order,", order)
    place = {path: number for number, path in enumerate(order)}
    for file in plan.file_structure:
        late = [p for p in file.depends_on if place.get(p, -1) > place.get(file.path, len(order))]
        if late:
            yield f"the order has {file.path!r} before {_named(late)}, which it depends on"
    first = next((number for number, path in enumerate(order) if is_closing(path)), len(order))
    if after := [path for path in order[first:] if not is_closing(path)]:
        yield f"README and requirements come last in the order, and {_named(after)} after them"


def _named(paths: list[str]) -> str:
    said = ", ".join(repr(path[:100]) for path in paths[:5])
    return said if len(paths) <= 5 else f"{said} and {len(paths) - 5} more"


# ---- the other parts


def _component_problems(plan: CodePlan) -> Iterator[str]:
    parts = plan.implementation_components
    if not parts:
        yield "implementation_components is empty"
    yield from _few("components", parts)
    yield from _twice("component", (part.id for part in parts))
    for part in parts:
        yield from _one_component(part)


def _one_component(part: Component) -> Iterator[str]:
    name = f"component {part.id[:40]!r}"
    if not is_stable_id(part.id) or has_secret(part.id):
        yield f"{name}: the id has a wrong form (letters, digits, . _ : -)"
    yield from _said(f"{name}: its name", part.name, MAX_LINE)
    yield from _said(f"{name}: its description", part.description, MAX_TEXT)
    yield from _said(f"{name}: its criterion", part.criterion, MAX_TEXT)
    yield from _few(f"citations in {name}", part.citations, MAX_CITATIONS)
    for citation in part.citations:
        yield from _citation_problems(name, citation)


def _citation_problems(name: str, citation: PaperCitation) -> Iterator[str]:
    quote = f"{name}: the quote {citation.quote[:40]!r}"
    if not has_words(citation.quote) or not MIN_QUOTE <= len(citation.quote) <= MAX_QUOTE:
        yield f"{quote} has to be {MIN_QUOTE} to {MAX_QUOTE} characters of the source"
    if len(citation.place) > MAX_LINE:
        yield f"{quote}: its place is longer than {MAX_LINE} characters"
    if citation.page is not None and citation.page < 1:
        yield f"{quote}: pages count from 1"
    start, end = citation.start, citation.end
    if (start is None) != (end is None) or (start is not None and not 0 <= start < (end or 0)):
        yield f"{quote}: start and end are no range"


def _validation_problems(plan: CodePlan) -> Iterator[str]:
    yield from _said("validation_approach", plan.validation_approach.approach, MAX_TEXT)
    tests = plan.validation_approach.tests
    if not tests:
        yield "validation_approach names no test file"
    yield from _twice("the test file", tests)
    for path in dict.fromkeys(tests):
        file = plan.file(path)
        if file is None:
            yield f"the test file {path[:100]!r} is not planned"
        elif file.role is not FileRole.TEST:
            yield f"the test file {path[:100]!r} has the role {file.role}"


def _environment_problems(plan: CodePlan) -> Iterator[str]:
    setup = plan.environment_setup
    yield from _said("environment_setup: the language", setup.language, MAX_LINE)
    if len(setup.version) > MAX_LINE or len(setup.notes) > MAX_TEXT:
        yield "environment_setup: its version or notes are too long"
    yield from _few("requirements", setup.requirements)
    yield from _twice("requirement", (f"{r.ecosystem}:{r.name}" for r in setup.requirements))
    for requirement in setup.requirements:
        if not _is_package(requirement):
            said = f"{requirement.name[:60]} {requirement.specifier[:60]}".strip()
            yield f"requirement {said!r} is no package's name with a version"


def _is_package(requirement: Requirement) -> bool:
    return bool(
        _PACKAGE.match(requirement.name)
        and ".." not in requirement.name
        and _SPECIFIER.match(requirement.specifier)
        and is_stable_id(requirement.ecosystem)
    )


def _quantity_problems(plan: CodePlan) -> Iterator[str]:
    yield from _few("quantities", plan.quantities)
    ids = {part.id for part in plan.implementation_components}
    for quantity in plan.quantities:
        name = f"quantity {quantity.name[:60]!r}"
        yield from _said(f"{name}: its name", quantity.name, MAX_LINE)
        if max(len(quantity.value), len(quantity.unit)) > MAX_LINE:
            yield f"{name}: its value or unit is longer than {MAX_LINE} characters"
        if quantity.component and quantity.component not in ids:
            yield f"{name} belongs to {quantity.component[:100]!r}, which is no component"
        yield from _status_problems(name, quantity, plan)
        if quantity.citation:
            yield from _citation_problems(name, quantity.citation)


def _status_problems(name: str, quantity: Quantity, plan: CodePlan) -> Iterator[str]:
    has_value = bool(quantity.value.strip())
    if quantity.status is Status.SPECIFIED and quantity.citation is None:
        yield f"{name} is called specified, and no quote of the source says so"
    if quantity.status is not Status.UNSPECIFIED and not has_value:
        yield f"{name} is {quantity.status} and has no value"
    if quantity.status is Status.UNSPECIFIED and has_value and not _is_resolved(quantity, plan):
        yield (
            f"{name} is unspecified and has the value {quantity.value[:40]!r}, which no ambiguity "
            "gives a reason for"
        )


def _is_resolved(quantity: Quantity, plan: CodePlan) -> bool:
    """Tell whether an ambiguity names the quantity and says what is done about it."""
    words = quantity.name.casefold().replace("_", " ").split()
    return any(
        all(word in f"{each.question} {each.resolution}".casefold() for word in words)
        for each in plan.ambiguities
        if has_words(each.resolution)
    )


def _ambiguity_problems(plan: CodePlan) -> Iterator[str]:
    yield from _few("ambiguities", plan.ambiguities)
    for number, ambiguity in enumerate(plan.ambiguities, start=1):
        yield from _said(f"ambiguity {number}: its question", ambiguity.question, MAX_TEXT)
        yield from _said(f"ambiguity {number}: its resolution", ambiguity.resolution, MAX_TEXT)


# ---- a text that fills places instead of saying something


def _repetition_problems(plan: CodePlan) -> Iterator[str]:
    """Yield what shows that one text was put wherever one was asked for, as a refusal is."""
    parts = {
        "file_structure": [file.purpose for file in plan.file_structure],
        "implementation_components": [part.description for part in plan.implementation_components],
        "the criteria": [part.criterion for part in plan.implementation_components],
        "validation_approach": [plan.validation_approach.approach],
        "environment_setup": [plan.environment_setup.language, plan.environment_setup.notes],
        "implementation_strategy": [plan.implementation_strategy.approach],
    }
    seen: dict[str, str] = {}
    for part, texts in parts.items():
        for text in dict.fromkeys(map(_plain, texts)):
            if len(text) >= _SAYS_SOMETHING and seen.setdefault(text, part) != part:
                yield f"{part} says the same as {seen[text]}: {text[:60]!r}"


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))
