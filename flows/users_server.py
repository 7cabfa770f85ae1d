"""A Prefect server of the user's own, named by PREFECT_API_URL: is it one, and does it answer?"""

import http.client
import json
import os
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from flows.engine import user_api_url
from flows.engine_trouble import LOGIN
from state.values.errors import InvalidRequest, TransientError

_TIMEOUT_S = 10.0
_MEND = "set PREFECT_API_URL to an address such as http://127.0.0.1:4200/api, or unset it"


def require_users_server() -> str | None:
    """Return the address of the user's server once it has answered, or None when they named none.

    The address is without a password. Raises `InvalidRequest` when it is no address of a Prefect
    API or wants a login that is not given, and `TransientError` when nothing answers there.
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
    if "/workspaces/" in shown:  # Prefect Cloud has no such look
        return shown
    if not healthy:
        raise InvalidRequest(f"PREFECT_API_URL: {shown} is no Prefect API; {_MEND}")
    _require_login(shown)
    return shown


def _require_login(shown: str) -> None:
    """Raise `InvalidRequest` where the server wants a login that nothing here gives.

    Its health is told to everybody; nothing else is.
    """
    if _is_let_in(shown, os.environ.get("PREFECT_API_AUTH_STRING", "")):
        return
    if "PREFECT_API_AUTH_STRING" not in os.environ and _may_be_in_a_file():
        return  # Prefect's client reads it there, and says so if it is not let in
    raise InvalidRequest(f"the Prefect server at {shown} (PREFECT_API_URL) {LOGIN}")


def _is_let_in(shown: str, login: str) -> bool:
    headers = {"Authorization": f"Basic {b64encode(login.encode()).decode()}"} if login else {}
    request = urllib.request.Request(f"{shown}/version", headers=headers)  # noqa: S310 - see above
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310
            return True
    except urllib.error.HTTPError as error:
        return error.code not in (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN)
    except (OSError, http.client.HTTPException):
        return True  # which says nothing of a login


def _may_be_in_a_file() -> bool:
    """Tell whether one of the files that Prefect reads its settings from names a login."""
    home = Path(os.environ.get("PREFECT_HOME") or "~/.prefect").expanduser()
    profiles = Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml")
    for path in (profiles, *map(Path, (".env", "prefect.toml", "pyproject.toml"))):
        try:
            said = path.read_text(encoding="utf-8", errors="replace").lower()
        except OSError:
            continue
        if "auth_string" in said or "prefect_api_key" in said:
            return True
    return bool(os.environ.get("PREFECT_API_KEY"))


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
