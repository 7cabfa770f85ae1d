"""The state of a Paper2Code run: what its events say, and what follows from that alone."""

from dataclasses import dataclass

from immutables import Map

from state.code_events import (
    CodeDependenciesInstalled,
    CodeFileRecorded,
    CodePlanRecorded,
    CodeReferenceRecorded,
    CodeSealed,
    CodeSourceRecorded,
    CodeStarted,
    CodeTestsFrozen,
    CodeVerified,
)
from state.code_request import CodeRequest

VERIFIED = "verified"  # the `answer_status` of a completed run


@dataclass(frozen=True)  # no slots: see `state.copying`
class Paper2Code:
    """A Paper2Code run as its events describe it. Maps keep no order; the tuples beside them do.

    `plans` holds every version, `files` the latest of each path that the present plan has.
    `is_verified` tells whether the last verification saw the files as they are now.
    """

    started: CodeStarted
    sources: tuple[CodeSourceRecorded, ...] = ()
    plans: tuple[CodePlanRecorded, ...] = ()
    references: tuple[CodeReferenceRecorded, ...] = ()
    files: Map[str, CodeFileRecorded] = Map()
    file_order: tuple[str, ...] = ()
    frozen: CodeTestsFrozen | None = None
    dependencies: CodeDependenciesInstalled | None = None
    verifications: tuple[CodeVerified, ...] = ()
    is_verified: bool = False
    sealed: CodeSealed | None = None

    @property
    def request(self) -> CodeRequest:
        """Return what was asked for."""
        return self.started.request

    @property
    def plan(self) -> CodePlanRecorded | None:
        """Return the present version of the plan."""
        return self.plans[-1] if self.plans else None

    @property
    def verification(self) -> CodeVerified | None:
        """Return the last verification."""
        return self.verifications[-1] if self.verifications else None

    @property
    def attempt(self) -> int:
        """Return the number of the repair that is being made; 0 before the first verification."""
        return len(self.verifications)

    @property
    def frozen_hashes(self) -> dict[str, str]:
        """Return path and content hash of the tests that stay as they are."""
        return {file.path: file.content_hash for file in self.frozen.files} if self.frozen else {}

    @property
    def file_hashes(self) -> dict[str, str]:
        """Return path and content hash of every file, in the order they were first written."""
        return {path: self.files[path].content_hash for path in self.file_order}

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the planned paths that were not written, in the plan's order."""
        planned = self.plan.paths_planned if self.plan else ()
        return tuple(path for path in planned if path not in self.files)

    @property
    def is_complete(self) -> bool:
        """Tell whether every planned file is there and the tests passed with the files as they are.

        A run without a plan is not.
        """
        last = self.verification
        return (
            self.plan is not None
            and not self.missing
            and self.is_verified
            and last is not None
            and last.verdict == "passed"
        )
