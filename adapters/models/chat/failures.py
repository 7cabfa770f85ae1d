"""What the exceptions of pydantic-ai and of the SDKs below it mean, told without secrets."""

import os
import re
from collections.abc import Mapping

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from adapters.models.chat.errors import (
    AUTH,
    CONTEXT,
    FILTERED,
    NOT_FOUND,
    OUTPUT,
    QUOTA,
    REQUEST,
    UNAVAILABLE,
)
from adapters.models.chat.heard import Failure
from state.values.redaction import REDACTED, redact, redact_value

_SHOWN_CHARACTERS = 300
_SHORTEST_SECRET = 8
_TRANSPORT = ("httpx", "httpcore", "anyio", "ssl", "h2", "h11")
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
_TRY_AGAIN = frozenset({408, 409, 425, 429})
# As servers word it whose errors have no code of their own for this.
_TOO_LONG = re.compile(
    r"(?i)context[ _](?:length|size|window)|maximum context|prompt is too long"
    r"|too many (?:input |prompt )?tokens|exceeds? the (?:available|model'?s) "
)


def explain(error: Exception, *, name: str, secret: str = "") -> Failure:
    """Return what `error` means for a call to the model `name`.

    `secret` is the key that was sent; it and the values of secret environment variables are taken
    out of what is shown of the provider's words.
    """
    match error:
        case ModelAuthenticationError():
            return Failure(AUTH, f"{name}: the provider refused the key; set a valid one")
        case ModelQuotaExceededError():
            return Failure(
                QUOTA, f"{name}: the account has no quota or credit left; top it up, or set another"
            )
        case ModelNotFoundError():
            return Failure(
                NOT_FOUND, f"{name}: there is no such model there; check its name and the base URL"
            )
        case ModelContextWindowExceededError():
            return _too_long(name)
        case ModelRequestRejectedError():
            if error.provider_error_code in _FILTER_CODES:
                return _filtered(name)
            if _TOO_LONG.search(_words(error)):
                return _too_long(name)
            return Failure(
                REQUEST,
                f"{name}: the provider refused the request{_said(error, secret)}",
                is_form=True,
                is_stream="stream" in _words(error),
            )
        case ModelConnectionError():
            return Failure(UNAVAILABLE, f"{name}: cannot be reached, or hung up", is_transient=True)
        case ModelRateLimitError() | ModelUnavailableError() | ModelServerError():
            return _busy(error, name)
        case ModelHTTPError() if error.status_code in _TRY_AGAIN:
            return _busy(error, name)
        case ModelHTTPError():
            return Failure(
                REQUEST, f"{name}: status {error.status_code}{_said(error, secret)}", is_form=True
            )
        case ModelAPIError():
            return _no_json(name, is_stream=False)
        case ContentFilterError():
            return _filtered(name)
        case UnexpectedModelBehavior():
            return _no_json(name, is_stream="Streamed response ended" in error.message)
        case IndexError():
            # `choices` is empty: pydantic-ai takes the first of them without looking.
            return Failure(OUTPUT, f"{name}: the provider answered without an answer in it")
        case UserError():
            return Failure(REQUEST, f"{name}: {_shown(str(error), secret)}")
        case _ if isinstance(error, OSError) or type(error).__module__.startswith(_TRANSPORT):
            # From reading a body that broke off, which SDKs pass on as it is.
            kind = type(error).__name__
            return Failure(UNAVAILABLE, f"{name}: broke off ({kind})", is_transient=True)
        case _:
            problem = f"{type(error).__name__}: {_shown(str(error), secret)}"
            return Failure(REQUEST, f"{name}: could not be asked ({problem})")


def _busy(error: ModelAPIError, name: str) -> Failure:
    status = f" (status {error.status_code})" if isinstance(error, ModelHTTPError) else ""
    limited = isinstance(error, ModelRateLimitError)
    reason = "too many requests for the provider" if limited else "busy or broken"
    hint = error.provider_retry_hint if isinstance(error, ModelHTTPError) else None
    return Failure(
        UNAVAILABLE,
        f"{name}: {reason}{status}",
        is_transient=True,
        wait_s=error.retry_after,
        is_busy=limited,
        gives_up=hint is False,
    )


def _filtered(name: str) -> Failure:
    return Failure(FILTERED, f"{name}: the provider's filter stopped the request")


def _too_long(name: str) -> Failure:
    return Failure(
        CONTEXT,
        f"{name}: the prompt is longer than the model's context; set the context it really has, "
        "so that prompts are packed to it",
    )


def _no_json(name: str, *, is_stream: bool) -> Failure:
    message = f"{name}: answered with something else than a chat completion; check the base URL"
    return Failure(UNAVAILABLE, message, is_transient=True, is_stream=is_stream)


def _words(error: ModelAPIError) -> str:
    body = error.body
    said = body.get("message") if isinstance(body, Mapping) else body
    if isinstance(body, Mapping) and isinstance(inner := body.get("error"), Mapping):
        said = inner.get("message", said)
    return f"{said or ''} {error.provider_error_type or ''} {error.provider_error_code or ''}"


def _said(error: ModelAPIError, secret: str) -> str:
    words = _shown(_words(error), secret)
    return f": {words}" if words else ""


def _shown(text: str, secret: str) -> str:
    for value in sorted(_secrets(secret), key=len, reverse=True):
        text = text.replace(value, REDACTED)
    return " ".join(redact(text).split())[:_SHOWN_CHARACTERS]


def _secrets(secret: str) -> set[str]:
    named = {
        value
        for name, value in os.environ.items()
        if value and redact_value({name: value}) == {name: REDACTED}
    }
    return {each for each in (*named, secret) if len(each) >= _SHORTEST_SECRET}
