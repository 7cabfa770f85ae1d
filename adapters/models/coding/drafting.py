"""The files of a plan: normalised, with tests and papers, each after what it depends on."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from adapters.models.coder import DesignInput
from adapters.models.coding.forms import FilesForm
from adapters.models.coding.paths import (
    is_manifest,
    is_runnable_test,
    module_of,
    normal_path,
    packages,
    role_of,
)
from adapters.models.extractive.terms import stems
from state.values.code_plan import FileRole, PlannedFile, Requirement

_EXAMPLES = frozenset({"package_name", "package", "your_package", "my_package", "folder"})
README, MANIFEST, PYTEST = "README.md", "requirements.txt", "pytest.ini"
_LINE = 400
_LONGEST_PACKAGE = 30
_TEXT = 1200
_SLUG = re.compile(r"[^a-z0-9]+")
_LATE = (
    FileRole.SOURCE,
    FileRole.DATA,
    FileRole.TEST,
    FileRole.CONFIGURATION,
    FileRole.DOCUMENT,
)
_DEFINED = re.compile(
    r"(?:(?:export|public|static|async|pub|default)\s+)*(?:def|fn|func|function|class)\s+(\w+)"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """The files of a plan in the order in which they are written, and what they run on."""

    language: str
    approach: str
    files: tuple[PlannedFile, ...]
    requirements: tuple[Requirement, ...]


def draft_of(form: FilesForm, given: DesignInput) -> Draft | None:
    """Return the files that `form` plans, with tests, README and requirements; None without any.

    Paths are normalised, and those that no file can have left out, as are repeated ones. A
    dependency is a planned file. Cycles are broken where they close. Sources come before tests,
    and README and requirements last.
    """
    language = _language(form)
    planned = _planned(form, given)
    if not any(is_code(each) for each in planned):
        return None
    planned = _with_functions(planned, form, given)
    if language == "python":
        planned = _with_packages(planned)
    planned = _with_tests(planned, language, given.max_files - 3)
    own = [part for each in planned for part in module_of(each.path).split(".")]
    found = packages(form.packages, own) if language == "python" else []
    requirements = tuple(Requirement(name, specifier) for name, specifier in found)
    if language == "python" and all(each.name.casefold() != "pytest" for each in requirements):
        requirements = (*requirements, Requirement("pytest"))
    planned = _with_papers(planned, language)
    ordered = tuple(_ordered(_acyclic(_with_dependencies(planned))))
    return Draft(language, shortened(form.approach, _TEXT), ordered, requirements)


def _language(form: FilesForm) -> str:
    said = re.sub(r"[^a-z+#]", "", form.language.strip().casefold().split(" ")[0])
    return said or "python"


def _planned(form: FilesForm, given: DesignInput) -> list[PlannedFile]:
    files: dict[str, PlannedFile] = {}
    for each in form.files:
        path = _named(normal_path(each.path), given)
        name = PurePosixPath(path).name
        if not path or is_manifest(path) or path == README or path.casefold() in files:
            continue
        if role_of(path) is FileRole.TEST and not is_runnable_test(path):
            continue
        if any(known.startswith(f"{path.casefold()}/") for known in files):
            continue
        interface = () if name == "__init__.py" else tuple(_interface(each.interface))
        interface = tuple(line for line in interface if not line.isidentifier())
        purpose = (
            shortened(each.purpose, _LINE) or f"Part of the program: {PurePosixPath(path).stem}."
        )
        depends = tuple(_named(normal_path(other), given) for other in each.depends_on)
        files[path.casefold()] = PlannedFile(path, purpose, role_of(path), interface, depends)
    return list(files.values())[: max(1, given.max_files - 4)]


def _named(path: str, given: DesignInput) -> str:
    """Return `path` with a name for the package where a model left that of the example."""
    folder, _, rest = path.partition("/")
    return f"{package_name(title_of(given))}/{rest}" if rest and folder in _EXAMPLES else path


def package_name(title: str) -> str:
    """Return what the package of a program with this title is called in Python."""
    words = _SLUG.sub(" ", title.casefold()).split()
    short = ""
    for word in [word for word in words if len(word) > 3] or words:
        if len(short) + len(word) < _LONGEST_PACKAGE:
            short = f"{short}_{word}".strip("_")
    return short if short.isidentifier() else "program"


def _interface(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        text = " ".join(line.strip().strip("`").split())
        if text and len(text) <= _LINE:
            yield text.removesuffix(": ...").removesuffix(": pass")


def is_code(file: PlannedFile) -> bool:
    """Tell whether the file holds code of its own, which `__init__.py` does not."""
    return file.role is FileRole.SOURCE and PurePosixPath(file.path).name != "__init__.py"


def _with_functions(
    planned: Sequence[PlannedFile], form: FilesForm, given: DesignInput
) -> list[PlannedFile]:
    """Give each function to its file, or if there is none to that whose purpose is most like it."""
    added: dict[str, list[str]] = {}
    listed = {name for each in planned for line in each.interface if (name := defined_name(line))}
    sources = [each for each in planned if is_code(each)]
    for function in form.functions:
        signature = next(_interface([function.signature]), "")
        name = defined_name(signature)
        if not name or name in listed:
            continue
        listed.add(name)
        path = _named(normal_path(function.file), given)
        if all(each.path != path for each in sources):
            words = stems(name.replace("_", " "))
            alike = [len(words & stems(f"{each.path} {each.purpose}")) for each in sources]
            path = sources[alike.index(max(alike))].path
        added.setdefault(path, []).append(signature)
    return [
        replace(each, interface=(*each.interface, *added.get(each.path, ()))) for each in planned
    ]


def defined_name(line: str) -> str:
    """Return the name that a line of an interface defines, without its class; '' if none."""
    found = _DEFINED.match(line)
    return found[1].casefold() if found else ""


def _with_packages(planned: list[PlannedFile]) -> list[PlannedFile]:
    """Add `__init__.py` where modules lie in a folder without one."""
    paths = {each.path for each in planned}
    added: dict[str, PlannedFile] = {}
    for each in planned:
        folder = PurePosixPath(each.path).parent
        while each.role is FileRole.SOURCE and str(folder) not in (".", "src"):
            path = f"{folder}/__init__.py"
            if path not in paths:
                added.setdefault(path, PlannedFile(path, f"The package {folder.name}."))
            folder = folder.parent
    return [*added.values(), *planned]


def _with_tests(planned: list[PlannedFile], language: str, most: int) -> list[PlannedFile]:
    """Add a test for each source with an interface, if none is planned at all."""
    if any(each.role is FileRole.TEST for each in planned):
        return planned
    sources = [each for each in planned if is_code(each)]
    tested = [each for each in sources if each.interface] or sources
    tests = [
        PlannedFile(
            path,
            f"Tests that {each.path} does what the source says.",
            FileRole.TEST,
            depends_on=(each.path,),
        )
        for each in tested
        if (path := _test_path(each.path, language))
    ]
    unique = {each.path: each for each in tests}
    return [*planned, *list(unique.values())[: max(1, most - len(planned))]]


def _test_path(path: str, language: str) -> str:
    place = PurePosixPath(path)
    match language:
        case "javascript" | "typescript":
            return f"tests/{place.stem}.test{place.suffix}"
        case "go":
            return str(place.with_name(f"{place.stem}_test.go"))
        case _:
            return f"tests/test_{place.stem}{place.suffix}"


def _with_papers(planned: list[PlannedFile], language: str) -> list[PlannedFile]:
    """Add what every program needs beside its code: settings of tests, packages, a README."""
    paths = {each.path for each in planned}
    added = []
    if language == "python":
        if any(path.startswith("src/") for path in paths) and PYTEST not in paths:
            said = "Lets the tests import what lies in src."
            added.append(PlannedFile(PYTEST, said, FileRole.CONFIGURATION))
        said = "The packages that the program and its tests need."
        added.append(PlannedFile(MANIFEST, said, FileRole.CONFIGURATION))
    said = "What the program does, how to use and test it, and what it implements of the source."
    return [*planned, *added, PlannedFile(README, said, FileRole.DOCUMENT)]


def _with_dependencies(planned: Sequence[PlannedFile]) -> list[PlannedFile]:
    """Let files depend on planned ones; a test on what it tests, a document on all sources."""
    roles = {each.path: each.role for each in planned}
    named = {PurePosixPath(path).name: path for path in reversed(roles)}
    sources = tuple(each.path for each in planned if is_code(each))
    fixed = []
    for each in planned:
        allowed = [
            other
            for said in dict.fromkeys(each.depends_on)
            for other in [said if said in roles else named.get(said, said)]
            if other in roles and other != each.path and _may_use(each.role, roles[other])
        ]
        if each.role is FileRole.TEST and not any(other in sources for other in allowed):
            allowed += _tested(each.path, sources)
        if each.role is FileRole.DOCUMENT:
            allowed = list(sources)
        if PurePosixPath(each.path).name == "__init__.py":
            allowed = []
        fixed.append(replace(each, depends_on=tuple(allowed)))
    return fixed


def _may_use(role: FileRole, other: FileRole) -> bool:
    if role is FileRole.SOURCE:
        return other in (FileRole.SOURCE, FileRole.DATA)
    return other not in (FileRole.TEST, FileRole.DOCUMENT)


def _tested(path: str, sources: Sequence[str]) -> list[str]:
    stem = re.sub(r"^test_|_test$|\.(?:test|spec)$", "", PurePosixPath(path).stem)
    own = [source for source in sources if PurePosixPath(source).stem == stem]
    return own or list(sources)


def _acyclic(planned: Sequence[PlannedFile]) -> list[PlannedFile]:
    """Leave out each dependency that closes a cycle, in the order of the plan."""
    kept: dict[str, list[str]] = {each.path: [] for each in planned}

    def reaches(start: str, goal: str) -> bool:
        pending, seen = [start], {start}
        while pending:
            at = pending.pop()
            if at == goal:
                return True
            fresh = [other for other in kept[at] if other not in seen]
            seen.update(fresh)
            pending += fresh
        return False

    for each in planned:
        for other in each.depends_on:
            if not reaches(other, each.path):
                kept[each.path].append(other)
    return [replace(each, depends_on=tuple(kept[each.path])) for each in planned]


def _ordered(planned: Sequence[PlannedFile]) -> Iterator[PlannedFile]:
    """Yield files after those that they depend on, by role; the README is the last one."""
    rank = {each.path: (_LATE.index(each.role), at) for at, each in enumerate(planned)}
    by_path = {each.path: each for each in planned}
    done: set[str] = set()
    waiting = sorted(by_path, key=rank.__getitem__)
    if README in by_path:
        waiting = [path for path in waiting if path != README] + [README]
    while waiting:
        ready = next(path for path in waiting if set(by_path[path].depends_on) <= done)
        waiting.remove(ready)
        done.add(ready)
        yield by_path[ready]


def title_of(given: DesignInput) -> str:
    """Return how the plan is called."""
    said = given.title.strip() or (given.previous.title if given.previous else "")
    return shortened(said or given.requirement, 200) or "Program"


def shortened(text: str, limit: int) -> str:
    """Return `text` on one line, with a mark where it is cut to `limit` characters."""
    said = " ".join(text.split())
    return said if len(said) <= limit else said[: limit - 1].rsplit(" ", 1)[0] + "…"
