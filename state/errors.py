"""The errors of the memory.

ObstructedError (a TransientError)
└── StorageError        the disk refused (full, read-only, short write); the ledger is unchanged
RejectedError
├── NotFound            no such run, artifact or interaction
├── Refused             an event that the rules of its run do not allow
│   ├── Conflict        same call id with other input, or the run has moved past what was expected
│   ├── Fenced          a driver that no longer holds the lease tried to write
│   └── BudgetExceeded  the reservation does not fit what is left
├── LeaseHeld           another process executes this run
├── CorruptLedger       recorded history does not check out; nothing of the run is exposed
├── IntegrityError      bytes of an artifact are not those that were recorded
└── Withheld            the bytes were deleted on purpose (`assay forget`)
"""

from state.values.errors import ObstructedError, RejectedError


class StorageError(ObstructedError):
    """The disk refused; what was acknowledged before is intact and nothing was half written."""

    code = "STORAGE"


class NotFound(RejectedError):
    """There is no such thing."""

    code = "NOT_FOUND"


class Refused(RejectedError):
    """An event that the rules of its run do not allow. `code` names the rule."""

    code = "REFUSED"


class Conflict(Refused):
    """The same call id came with another input, or the run has moved on."""

    code = "CONFLICT"


class Fenced(Refused):
    """The writer's lease is no longer the live one."""

    code = "FENCED"


class BudgetExceeded(Refused):
    """The reservation does not fit what is left; `budget` names which."""

    code = "BUDGET_EXCEEDED"

    def __init__(self, message: str, *, budget: str) -> None:
        super().__init__(message)
        self.budget = budget


class LeaseHeld(RejectedError):
    """Another process executes this run; the message names it."""

    code = "LEASE_HELD"


class CorruptLedger(RejectedError):
    """Recorded history does not check out. Nothing partial is exposed."""

    code = "CORRUPT_LEDGER"


class IntegrityError(RejectedError):
    """Bytes differ from what was recorded."""

    code = "INTEGRITY"


class Withheld(RejectedError):
    """The bytes were deleted on purpose; the tombstone says why."""

    code = "WITHHELD"
