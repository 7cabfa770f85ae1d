"""The base of Assay's errors. The first split is the one a caller acts on.

AssayError
├── TransientError      the same call may succeed later
│   └── ObstructedError when a person has mended something: the run is interrupted, resumable
└── RejectedError       the same call gives the same answer
└── InvalidRequest  what the caller asked for is wrong, and the message says how to mend it
"""


class AssayError(Exception):
    """An error that Assay explains: what was wrong, with what, and what to do.

    `code` is stable and meant for programs; the message is meant for people.
    """

    code = "ERROR"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code

    @property
    def message(self) -> str:
        """Return the message without the exception's name."""
        return str(self.args[0])

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling, which would otherwise call `__init__` without `code`."""
        return (_restore, (type(self), self.args, self.__dict__))


def _restore(
    kind: type[AssayError], args: tuple[object, ...], facts: dict[str, object]
) -> AssayError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(facts)
    return error


class TransientError(AssayError):
    """The same call may succeed later."""

    code = "TRANSIENT"


class ObstructedError(TransientError):
    """Something outside is in the way; when a person has mended it, the same run goes on.

    Not retried by itself, and never recorded as the outcome of a step.
    """

    code = "OBSTRUCTED"


class RejectedError(AssayError):
    """The same call gives the same answer: do something else."""

    code = "REJECTED"


class InvalidRequest(RejectedError):
    """What was asked for is wrong; nothing was started or changed."""

    code = "INVALID_REQUEST"
