"""A Prefect server of the user's own, named by PREFECT_API_URL: is it one, and does it answer?"""

import http.client
import json
import ssl
import urllib.error
import urllib.request
from urllib.parse import SplitResult, urlsplit

from flows.engine import user_api_url
from state.values.errors import InvalidRequest, TransientError

_TIMEOUT_S = 10.0
_MEND = "set PREFECT_API_URL to an address such as http://127.0.0.1:4200/api, or unset it"


def require_users_server() -> str | None:
    """Return the address of the user's server once it has answered, or None when they named none.

    The address is without a password. Raises `InvalidRequest` when it is no address of a Prefect
    API, and `TransientError` when nothing answers there.
    """
    url = user_api_url()
    if url is None:
        return None
    shown = _address(url)
    try:
        # Nobody but the user has chosen the address, and its scheme was looked at.
        with urllib.request.urlopen(f"{shown}/health", timeout=_TIMEOUT_S) as answer:  # noqa: S310
            healthy = _is_true(answer.read(100))
    except urllib.error.HTTPError as error:
        if error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            raise TransientError(
                f"the Prefect server at {shown} (PREFECT_API_URL) is not well: it answers "
                f"{error.code}; try again later"
            ) from error
        healthy = False
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            return shown  # which certificates are trusted, Prefect has settings of its own for
        why = getattr(reason, "strerror", None) or reason
        raise TransientError(
            f"no Prefect server answers at {shown} (PREFECT_API_URL): {why}; start it, or unset "
            "the variable to use Assay's own"
        ) from error
    if not healthy and "/workspaces/" not in shown:  # Prefect Cloud has no such look
        raise InvalidRequest(f"PREFECT_API_URL: {shown} is no Prefect API; {_MEND}")
    return shown


def _address(url: str) -> str:
    """Return `url` without a password and a last slash; raises `InvalidRequest` if it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InvalidRequest(f"PREFECT_API_URL is no address ({error}); {_MEND}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable():
        raise InvalidRequest(f"PREFECT_API_URL is no address: {url!r}; {_MEND}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if port is None else f"{host}:{port}"
    return SplitResult(parts.scheme, place, parts.path.rstrip("/"), "", "").geturl()


def _is_true(said: bytes) -> bool:
    try:
        return json.loads(said) is True
    except ValueError:
        return False
