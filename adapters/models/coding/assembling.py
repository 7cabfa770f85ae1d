"""A code plan put together: what a model may choose, and what the code itself answers for."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from adapters.models.coder import DesignInput, Finding
from adapters.models.coding.drafting import Draft, is_code, shortened, title_of
from adapters.models.coding.forms import ComponentsForm, RevisedForm
from adapters.models.coding.paths import normal_path
from state.values.code_plan import (
    Ambiguity,
    CodePlan,
    Component,
    EnvironmentSetup,
    FileRole,
    PaperCitation,
    PlannedFile,
    Quantity,
    QuantityKind,
    Status,
    Strategy,
    Validation,
)

_LINE = 400
_TEXT = 1200
_MOST_COMPONENTS = 20
_SLUG = re.compile(r"[^a-z0-9]+")
_KINDS = frozenset(kind.value for kind in QuantityKind)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_BREAKS_OFF = re.compile(r"(?:\b(?:is|are|be|by|of|the|an?|to|with|for|and|or|as|equals?)|[:,;=])$")
_COMMANDS = {
    "python": "python -m pytest -q",
    "javascript": "npm test",
    "typescript": "npm test",
    "rust": "cargo test",
}


def plan_of(
    draft: Draft,
    form: ComponentsForm,
    given: DesignInput,
    findings: Sequence[Finding],
    questions: Sequence[str],
) -> CodePlan:
    """Return the plan: the parts of `form` over the files of `draft`, values from `findings`.

    Every source belongs to a part, and every part has a criterion.
    """
    components = _components(draft, form, findings)
    owner = {path: component.id for path, paths, component in _owned(components)}
    files = tuple(
        replace(
            each,
            component=owner.get(each.path, _near(each, owner, components)),
            purpose=_with_parts(each, components),
        )
        for each in draft.files
    )
    ids = {component.id for component, _ in components}
    command = _COMMANDS.get(draft.language, "the tests of the language")
    tests = tuple(each.path for each in files if each.role is FileRole.TEST)
    validation = shortened(form.validation, _TEXT)
    return CodePlan(
        title=title_of(given),
        file_structure=files,
        implementation_components=tuple(component for component, _ in components),
        validation_approach=Validation(f"Run `{command}`. {validation}".strip(), tests),
        environment_setup=EnvironmentSetup(draft.language, requirements=draft.requirements),
        implementation_strategy=Strategy(
            draft.approach or "Write the sources in the order of their dependencies, then tests.",
            tuple(each.path for each in files),
        ),
        quantities=tuple(
            replace(each, component=each.component if each.component in ids else "")
            for each in _quantities(findings, form, given)
        ),
        ambiguities=tuple(_ambiguities(form, questions)),
    )


def _with_parts(file: PlannedFile, components: Sequence[tuple[Component, tuple[str, ...]]]) -> str:
    """Return the file's purpose; with several parts in it, it says which, since one is named."""
    names = [component.name for component, paths in components if file.path in paths]
    if len(names) < 2:
        return file.purpose
    return shortened(f"{file.purpose} Parts: {'; '.join(names)}.", _TEXT)


def _components(
    draft: Draft, form: ComponentsForm, findings: Sequence[Finding]
) -> list[tuple[Component, tuple[str, ...]]]:
    sources = {each.path: each for each in draft.files if is_code(each)}
    numbered = {f"f{number}": each for number, each in enumerate(findings, 1)}
    made: list[tuple[Component, tuple[str, ...]]] = []
    used: set[str] = set()
    said = Counter(" ".join(each.criterion.split()) for each in form.components)
    for each in form.components[:_MOST_COMPONENTS]:
        name = shortened(each.name, 120)
        if not name or name.casefold() in _KINDS:  # which says what it is, and not which
            name = shortened(each.description, 60)
        if not name or name.casefold() in {part.name.casefold() for part, _ in made}:
            continue
        paths = tuple(path for said in each.files if (path := normal_path(said)) in sources)
        cited = [numbered[key.casefold()] for key in each.findings if key.casefold() in numbered]
        citations = dict.fromkeys(found.citation for found in cited)
        made.append(
            (
                Component(
                    _id(name, used),
                    name,
                    shortened(each.description, _TEXT) or name,
                    _concrete(_own(each.criterion, said), tuple(citations))
                    or _criterion(paths, draft),
                    tuple(citations),
                ),
                paths,
            )
        )
    covered = {path for _, paths in made for path in paths}
    for path, file in sources.items():
        if path in covered:
            continue
        name = PurePosixPath(path).stem.replace("_", " ")
        criterion = _criterion((path,), draft)
        made.append((Component(_id(name, used), name, file.purpose, criterion), (path,)))
    return made


def _own(criterion: str, said: Counter[str]) -> str:
    """Return the criterion; '' for one that is said of several parts, and so of none of them."""
    criterion = " ".join(criterion.split())
    return shortened(criterion, _TEXT) if said[criterion] == 1 else ""


def _concrete(criterion: str, citations: Sequence[PaperCitation]) -> str:
    """Return a criterion that a test can check; one without a figure says what the source says."""
    criterion = _whole(criterion)
    if not citations or any(character.isdigit() for character in criterion):
        return criterion
    quotes = [_whole(" ".join(each.quote.split())) for each in citations[:3]]
    said = "; ".join(f"“{quote}”" for quote in quotes if quote and quote not in criterion)
    if not said:
        return criterion
    mark = "" if not criterion or criterion[-1] in ".!?" else "."
    return shortened(f"{criterion}{mark} The source says: {said}".strip(), _TEXT)


def _whole(text: str) -> str:
    """Return `text` without a last sentence that breaks off, if it has more than that."""
    *whole, last = _SENTENCE_END.split(text)
    return " ".join(whole) if whole and _BREAKS_OFF.search(last) else text


def _criterion(paths: Sequence[str], draft: Draft) -> str:
    tests = [
        each.path
        for each in draft.files
        if each.role is FileRole.TEST and (not paths or set(each.depends_on) & set(paths))
    ]
    return f"The tests in {', '.join(tests) or 'the test files'} pass."


def _id(name: str, used: set[str]) -> str:
    slug = _SLUG.sub("-", name.casefold()).strip("-")[:40].strip("-") or "part"
    id_, number = slug, 2
    while id_ in used:
        id_, number = f"{slug}-{number}", number + 1
    used.add(id_)
    return id_


def _owned(
    components: Sequence[tuple[Component, tuple[str, ...]]],
) -> Iterator[tuple[str, tuple[str, ...], Component]]:
    """Yield each path with the first component that has it; the last one given wins in a dict."""
    for component, paths in reversed(components):
        for path in paths:
            yield path, paths, component


def _near(
    file: PlannedFile,
    owner: Mapping[str, str],
    components: Sequence[tuple[Component, tuple[str, ...]]],
) -> str:
    """Return the component of what a test tests; '' for what belongs to none."""
    if file.role is not FileRole.TEST:
        return ""
    owners = [owner[path] for path in file.depends_on if path in owner]
    return next(iter([*owners, *(component.id for component, _ in components)]), "")


def _quantities(
    findings: Sequence[Finding], form: ComponentsForm, given: DesignInput
) -> Iterator[Quantity]:
    """Yield the values: as a person changed them, as they were before, or as in the source."""
    quantities: dict[tuple[str, str], Quantity] = {}
    for each in given.previous.quantities if given.previous else ():
        quantities.setdefault((each.name.casefold(), each.value), each)
    for found in findings:
        if found.kind is not None and not given.previous:
            quantities.setdefault(
                (found.name.casefold(), found.value),
                Quantity(
                    found.name, found.kind, found.value, found.unit, found.status, found.citation
                ),
            )
    for setting in form.values if isinstance(form, RevisedForm) else ():
        name, value = shortened(setting.name, 120), shortened(setting.value, 120)
        if not name or not value or not _is_named(value, given.feedback):
            continue
        kind = (
            QuantityKind(setting.kind) if setting.kind != "method" else QuantityKind.HYPERPARAMETER
        )
        before = [key for key in quantities if key[0] == name.casefold()]
        old = quantities[before[0]] if before else Quantity(name, kind, value)
        for key in before:
            del quantities[key]
        quantities[name.casefold(), value] = replace(
            old, value=value, unit=setting.unit or old.unit, status=Status.INFERRED, citation=None
        )
    yield from quantities.values()


def _is_named(value: str, feedback: str) -> bool:
    """Tell whether the person said the value; a model may not change what nobody asked for."""
    return value.casefold() in " ".join(feedback.casefold().split())


def _ambiguities(form: ComponentsForm, questions: Sequence[str]) -> Iterator[Ambiguity]:
    seen: set[str] = set()
    for each in form.ambiguities:
        question, resolution = shortened(each.question, _LINE), shortened(each.resolution, _LINE)
        if question and resolution and question.casefold() not in seen:
            seen.add(question.casefold())
            yield Ambiguity(question, resolution)
    for said in questions:
        question = shortened(said, _LINE)
        if question and question.casefold() not in seen:
            seen.add(question.casefold())
            yield Ambiguity(question, "Not decided in this plan: say it in the review.")
