"""What goes wrong between Prefect's client and its server, as errors that say what to do."""

from http import HTTPStatus

from state.values.errors import AssayError, InvalidRequest, TransientError

LOGIN = (
    "asks for a login: set PREFECT_API_AUTH_STRING to what the server has as "
    "PREFECT_SERVER_API_AUTH_STRING (name:password), or PREFECT_API_KEY for Prefect Cloud"
)
_UNAUTHORISED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_OF_THE_CLIENT = ("httpx", "httpcore")


def engine_trouble(error: BaseException) -> AssayError | None:
    """Return what `error` means when it is of the Prefect server or of the way to it, else None."""
    status = _status(error)
    if status in _UNAUTHORISED:
        return InvalidRequest(f"the Prefect server (PREFECT_API_URL) {LOGIN}")
    if status is not None:
        return TransientError(
            f"the Prefect server answers {status} and cannot keep what runs here: see its log and "
            "whether its database is there, then go on",
            code="ENGINE",
        )
    module = type(error).__module__.partition(".")[0]
    if module in _OF_THE_CLIENT or isinstance(error, ConnectionError):
        return TransientError(
            f"the Prefect server cannot be reached ({type(error).__name__}: {error}); start it, "
            "then go on",
            code="ENGINE",
        )
    return None


def _status(error: BaseException) -> int | None:
    """Return the status of the HTTP answer that `error` is about, if it is about one."""
    if type(error).__module__.partition(".")[0] not in ("prefect", "httpx"):
        return None
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None
