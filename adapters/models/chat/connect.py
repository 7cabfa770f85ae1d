"""Models of pydantic-ai, made from a name or for a server; it is slow to import, as `wire` is."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from openai import DefaultAsyncHttpxClient
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from adapters.models.chat.errors import AUTH, NOT_FOUND, ModelRejected

_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN)\b")
_OPENAI_PREFIXES = ("openai:", "openai-chat:")


@dataclass(frozen=True, slots=True)
class Connected:
    """A model, and the HTTP client that was made for it and has to be closed with it."""

    model: Model
    client: DefaultAsyncHttpxClient | None = None


def connect(model: str, *, base_url: str, api_key: str) -> Connected:
    """Return the model that `model` names, at `base_url` unless that is ''.

    Raises `ModelRejected` that says what to set or install; no connection is made yet.
    """
    if base_url:
        return _at_server(model, base_url, api_key)
    try:
        return Connected(infer_model(model))
    except UserError as error:
        if variable := _VARIABLE.search(str(error)):
            raise ModelRejected(
                f"model {model!r} needs a key; set {variable[0]} to yours", code=AUTH
            ) from None
    except ImportError as error:
        raise ModelRejected(f"model {model!r}: {error}", code=NOT_FOUND) from error
    raise ModelRejected(
        f"there is no model {model!r}; name it as provider:model, such as openai:gpt-5, or set "
        "ASSAY_MODEL_URL to the base URL of an OpenAI-compatible server and name it as it is there",
        code=NOT_FOUND,
    )


def is_private(url: str) -> bool:
    """Tell whether `url` is of this machine or a private network, by its spelling alone."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        return not ip_address(host).is_global
    except ValueError:
        return bool(host) and ("." not in host or host.endswith((".local", ".internal", ".lan")))


def _at_server(model: str, base_url: str, api_key: str) -> Connected:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelRejected(
            f"model {model!r}: its base URL must look like http://127.0.0.1:8080/v1", code=NOT_FOUND
        )
    # A proxy that the environment names is not for servers of one's own.
    client = DefaultAsyncHttpxClient(trust_env=False) if is_private(base_url) else None
    key = api_key or None
    for prefix in _OPENAI_PREFIXES:
        if model.startswith(prefix):
            openai = OpenAIProvider(base_url=base_url, api_key=key, http_client=client)
            return Connected(OpenAIChatModel(model.removeprefix(prefix), provider=openai), client)
    server = OpenAICompatibleProvider(
        parts.hostname,
        base_url=base_url,
        api_key=key,
        http_client=client,
        # The older field is the one that every such server knows.
        profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
    )
    return Connected(OpenAIChatModel(model, provider=server), client)
