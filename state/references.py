"""Which bodies of the archive a run needs: those its events name, and those its outcomes name."""

import re
from collections.abc import Iterable

from state.artifacts import Artifacts
from state.envelope import Line
from state.errors import IntegrityError, NotFound

_HASH = re.compile(rb"sha256:[0-9a-f]{64}(?![0-9a-f])")
_WITHHELD = "bytes_withheld"


def references(lines: Iterable[Line], artifacts: Artifacts) -> frozenset[str]:
    """Return the content hashes that a run's `lines` rest on, without those that it withholds.

    An outcome may name bytes that no event does: those of a page that was read and proved a copy
    of another, or whose event was not recorded before a crash. So outcomes are looked into as well.
    Hashes of mere texts are among the answer; no body answers to them.
    """
    named: set[str] = set()
    outcomes: set[str] = set()
    withheld: set[str] = set()
    for line in lines:
        envelope = line.envelope
        if envelope.type == _WITHHELD:
            withheld.update(envelope.body["hashes"])
            continue
        named |= hashes_in(line.json.encode())
        if outcome := envelope.body.get("outcome_hash"):
            outcomes.add(outcome)
    for outcome in outcomes - withheld:
        named |= _named_by(outcome, artifacts)
    return frozenset(named - withheld)


def outcomes_naming(
    hashes: frozenset[str], lines: Iterable[Line], artifacts: Artifacts
) -> frozenset[str]:
    """Return the outcomes of a run's steps that name one of `hashes`."""
    outcomes = {line.envelope.body.get("outcome_hash", "") for line in lines} - {""}
    return frozenset(each for each in outcomes if _named_by(each, artifacts) & hashes)


def hashes_in(data: bytes) -> set[str]:
    """Return every content hash that `data` spells."""
    return {found.decode() for found in _HASH.findall(data)}


def _named_by(outcome: str, artifacts: Artifacts) -> set[str]:
    try:
        return hashes_in(artifacts.get(outcome))
    except (NotFound, IntegrityError):
        return set()  # `assay verify` says so; what it named cannot be told
