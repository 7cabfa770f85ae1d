"""The way to a model through pydantic-ai: one attempt at a time, streamed, without its retries.

It takes seconds to import, so `provider` does that on use.
"""

import math
import warnings
from collections.abc import Mapping
from urllib.parse import urlsplit

import anyio
from genai_prices import Usage, calc_price
from pydantic_ai import UsageExtractionFailedWarning
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from adapters.models.chat.characters import mended
from adapters.models.chat.connect import connect, is_private
from adapters.models.chat.failures import explain
from adapters.models.chat.heard import Counts, Failure, Heard
from adapters.models.chat.port import ChatRequest, Finish

# Usage that makes no sense is replaced and marked by `accounts`; nobody else has to hear of it.
warnings.filterwarnings("ignore", category=UsageExtractionFailedWarning)

_LOOK_S = 5.0
_FINISHES: dict[str | None, Finish] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filter",
}


class Wire:
    """One model of pydantic-ai. `base_url` is '' for what the model string alone says."""

    def __init__(self, model: str, *, base_url: str, api_key: str, wait_s: float) -> None:
        self._secret = api_key
        self._wait_s = wait_s
        self._is_entered = False
        connected = connect(model, base_url=base_url, api_key=api_key)
        self._model, self._own_client = connected.model, connected.client

    @property
    def provider(self) -> str:
        """Return the name under which its limits are shared."""
        host = urlsplit(self._model.base_url or "").netloc.rpartition("@")[2]
        return host or self._model.system

    @property
    def context_tokens(self) -> int | None:
        """Return how long its context is, where that is known of its name."""
        return self._model.context_window if self.is_hosted else None

    @property
    def is_hosted(self) -> bool:
        """Tell whether it is somebody's service, rather than a server of one's own."""
        return not is_private(self._model.base_url or "")

    @property
    def takes_schema(self) -> bool:
        """Tell whether answers can be bound to a JSON Schema."""
        return bool(self._model.profile.get("supports_json_schema_output", False))

    async def hear(self, request: ChatRequest, heard: Heard, *, streamed: bool) -> Failure | None:
        """Ask once, put what comes into `heard`, and return why it failed, if it did."""
        messages, settings = _messages(request), self._settings(request)
        try:
            await self._enter()
            if streamed:
                await self._hear_stream(messages, settings, _parameters(request), heard)
            else:
                answer = await model_request(
                    self._model,
                    messages,
                    model_settings=settings,
                    model_request_parameters=_parameters(request),
                )
                _take_whole(answer, heard)
        except Exception as error:  # noqa: BLE001 - SDKs raise what they like, and it may hold the key
            return explain(error, name=self._model.model_name, secret=self._secret)
        return None

    async def find_context(self) -> int | None:
        """Return the context that a server of one's own tells in its list of models, if it does."""
        if self.is_hosted or not isinstance(self._model, OpenAIChatModel):
            return None
        try:
            with anyio.fail_after(_LOOK_S):
                client = self._model.client.with_options(max_retries=0)
                listed = [model async for model in client.models.list()]
        except Exception:  # noqa: BLE001 - a courtesy of some servers, and no call fails for it
            return None
        named = [each for each in listed if each.id == self._model.model_name] or listed[:1]
        return _told_context(named[0].model_extra or {}) if named else None

    def cost_micro_usd(self, counts: Counts) -> int | None:
        """Return the price of `counts` in millionths of a dollar, or None when it is not known."""
        if not self.is_hosted:
            return 0
        usage = Usage(
            input_tokens=counts.input_tokens,
            cache_read_tokens=counts.cached_tokens,
            output_tokens=counts.output_tokens,
        )
        for where in (
            {"provider_api_url": self._model.base_url},
            {"provider_id": self._model.system},
        ):
            try:
                price = calc_price(usage, self._model.model_name, **where)
            except LookupError:
                continue
            return math.ceil(price.total_price * 1_000_000)
        return None

    async def aclose(self) -> None:
        """Close the connections."""
        if self._is_entered:
            self._is_entered = False
            await self._model.__aexit__(None, None, None)
        if self._own_client is not None:
            await self._own_client.aclose()

    async def _enter(self) -> None:
        if not self._is_entered:
            self._is_entered = True
            await self._model.__aenter__()

    async def _hear_stream(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings,
        parameters: ModelRequestParameters,
        heard: Heard,
    ) -> None:
        async with model_request_stream(
            self._model,
            messages,
            model_settings=settings,
            model_request_parameters=parameters,
        ) as stream:
            async for event in stream:
                match event:
                    case PartStartEvent(part=TextPart(content=text)):
                        heard.add(text)
                    case PartStartEvent(part=ThinkingPart(content=text)):
                        heard.add(text, is_thought=True)
                    case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                        heard.add(text)
                    case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))):
                        heard.add(text, is_thought=True)
                    case _:
                        pass
                if heard.is_enough:
                    await stream.cancel()
                    return
            _take_end(stream.get(), heard)

    def _settings(self, request: ChatRequest) -> ModelSettings:
        settings = ModelSettings(
            max_tokens=request.max_output_tokens,
            temperature=request.temperature,
            timeout=self._wait_s,
            max_retries=0,
        )
        if request.seed is not None:
            settings["seed"] = request.seed
        return settings


def _told_context(model: Mapping[str, object]) -> int | None:
    """Read it as llama.cpp, vLLM and others spell it."""
    meta = model.get("meta")
    told = [
        meta.get("n_ctx") if isinstance(meta, Mapping) else None,
        *(model.get(name) for name in ("max_model_len", "context_length", "context_window")),
    ]
    return next((each for each in told if isinstance(each, int) and each > 0), None)


def _messages(request: ChatRequest) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for message in request.messages:
        if message.role == "assistant":
            messages.append(ModelResponse(parts=[TextPart(mended(message.text))]))
            continue
        kind = SystemPromptPart if message.role == "system" else UserPromptPart
        part = kind(mended(message.text))
        last = messages[-1] if messages else None
        if isinstance(last, ModelRequest):
            last.parts = [*last.parts, part]
        else:
            messages.append(ModelRequest(parts=[part]))
    return messages


def _parameters(request: ChatRequest) -> ModelRequestParameters:
    if request.schema is None:
        return ModelRequestParameters()
    return ModelRequestParameters(
        output_mode="native",
        output_object=OutputObjectDefinition(dict(request.schema), name=request.schema_name),
        allow_text_output=False,
    )


def _take_whole(response: ModelResponse, heard: Heard) -> None:
    for part in response.parts:
        if isinstance(part, TextPart | ThinkingPart):
            heard.add(part.content, is_thought=isinstance(part, ThinkingPart))
    _take_end(response, heard)


def _take_end(response: ModelResponse, heard: Heard) -> None:
    details = response.provider_details or {}
    heard.look()
    heard.model = response.model_name or ""
    heard.finish = _FINISHES.get(response.finish_reason, "other")
    if heard.finish == "stop" and not details.get("finish_reason"):
        # pydantic-ai says `stop` also of a stream that just ended, in the midst of a word perhaps.
        heard.finish = "other"
    heard.refusal = str(details.get("refusal") or "")
    usage = response.usage
    if not usage.unmeasured_requests:
        heard.counts = Counts(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)
