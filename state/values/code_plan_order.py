"""The order in which the files of a code plan are written, and what depends on what."""

import heapq
from collections.abc import Iterable

from state.values.code_plan import CodePlan
from state.values.errors import RejectedError

# What says which packages are needed, by language; the first is made where a plan has none.
_MANIFESTS: dict[str, tuple[str, ...]] = {
    "python": ("requirements.txt", "pyproject.toml"),
    **dict.fromkeys(("javascript", "typescript", "node", "node.js"), ("package.json",)),
    "rust": ("Cargo.toml",),
    **dict.fromkeys(("go", "golang"), ("go.mod",)),
    **dict.fromkeys(("java", "kotlin"), ("pom.xml", "build.gradle", "build.gradle.kts")),
    **dict.fromkeys(("c", "c++", "cpp"), ("CMakeLists.txt", "Makefile", "meson.build")),
    "julia": ("Project.toml",),
    "ruby": ("Gemfile",),
}
_ANY_MANIFEST = frozenset(name for names in _MANIFESTS.values() for name in names)
_PROJECT_FILES = (".csproj", ".fsproj", ".sln", ".cabal", ".gemspec")


def write_order(plan: CodePlan) -> tuple[str, ...]:
    """Return the paths of `plan` so that each comes after those it depends on.

    The strategy's order is kept as far as that allows, then the order of the files; README and
    manifests come last. Dependencies on files that the plan does not have are left out. Raises
    `RejectedError` (PLAN_INVALID) when files depend on each other in a circle.
    """
    if cycle := find_cycle(plan):
        raise RejectedError(
            f"files depend on each other in a circle: {' → '.join(cycle)}", code="PLAN_INVALID"
        )
    wanted = {path: number for number, path in enumerate(plan.implementation_strategy.order)}
    paths = [file.path for file in plan.file_structure]
    rank = {
        path: (is_closing(path), wanted.get(path, len(wanted)), number)
        for number, path in enumerate(paths)
    }
    missing = {path: set(needed) for path, needed in _needed(plan).items()}
    users = _users(plan)
    ready = [(rank[path], path) for path in missing if not missing[path]]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        _, path = heapq.heappop(ready)
        order.append(path)
        for user in users[path]:
            missing[user].discard(path)
            if not missing[user]:
                heapq.heappush(ready, (rank[user], user))
    return tuple(order)


def dependents_of(plan: CodePlan, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the files that depend on one of `paths`, directly or not, in the order of `plan`.

    They are what has to be written anew when `paths` change; `paths` themselves are not among them.
    """
    users = _users(plan)
    changed = set(paths)
    found: set[str] = set()
    waiting = list(changed)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return tuple(path for path in write_order(plan) if path in found - changed)


def find_cycle(plan: CodePlan) -> tuple[str, ...]:
    """Return files that depend on each other in a circle, the first again at the end; () for none.

    A file that depends on itself is a circle of one.
    """
    needed = _needed(plan)
    done: set[str] = set()
    for root in needed:
        way: dict[str, list[str]] = {}  # the way here, with what is still to be looked at
        if root not in done:
            way[root] = list(needed[root])
        while way:
            path, left = next(reversed(way.items()))
            if not left:
                done.add(path)
                del way[path]
            elif (step := left.pop()) in way:
                circle = list(way)
                return (*circle[circle.index(step) :], step)
            elif step not in done:
                way[step] = list(needed[step])
    return ()


def is_readme(path: str) -> bool:
    """Tell whether `path` is the README of the whole workspace."""
    return "/" not in path and path.casefold().partition(".")[0] == "readme"


def is_manifest(path: str) -> bool:
    """Tell whether `path` says, for the whole workspace, which packages are needed."""
    return "/" not in path and (path in _ANY_MANIFEST or path.endswith(_PROJECT_FILES))


def is_closing(path: str) -> bool:
    """Tell whether `path` is written when all else is: it is about the rest."""
    return is_readme(path) or is_manifest(path)


def manifests_for(language: str) -> tuple[str, ...]:
    """Return the manifests that do for `language`, the usual one first; () for one not known."""
    for word in language.casefold().replace("/", " ").replace(",", " ").split():
        if word in _MANIFESTS:
            return _MANIFESTS[word]
    return ()


def has_manifest(plan: CodePlan) -> bool:
    """Tell whether `plan` has a manifest of its language, or any where that is not known."""
    known = manifests_for(plan.environment_setup.language)
    paths = [file.path for file in plan.file_structure]
    return any(path in known if known else is_manifest(path) for path in paths)


def _needed(plan: CodePlan) -> dict[str, tuple[str, ...]]:
    files = {file.path: file.depends_on for file in plan.file_structure}
    return {path: tuple(p for p in needed if p in files) for path, needed in files.items()}


def _users(plan: CodePlan) -> dict[str, list[str]]:
    users: dict[str, list[str]] = {file.path: [] for file in plan.file_structure}
    for path, needed in _needed(plan).items():
        for other in dict.fromkeys(needed):
            users[other].append(path)
    return users
