"""What a Paper2Code run uses of the world, and how that is opened."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from adapters.acquisition.port import Acquirer
from adapters.documents.port import Converter
from adapters.models.coder import Coder
from adapters.sandbox.port import Sandbox
from adapters.verification.installing import Index
from flows.settings import Settings
from flows.step import Driver
from state.code_request import CodeRequest
from state.values.errors import ObstructedError, RejectedError


async def _nothing() -> None:
    """Prepare nothing."""


@dataclass(frozen=True, slots=True)
class CodeTools:
    """Where sources come from, by their type; how they are read; who codes; where code runs.

    `open_sandbox` is called when code is to be run; it raises `SandboxUnavailable`. `prepare` is
    awaited before the first use. `index` is where dependencies are installed from.
    """

    acquirers: Mapping[str, Acquirer]
    converter: Converter
    coder: Coder
    open_sandbox: Callable[[], Sandbox]
    index: Index = Index()
    prepare: Callable[[], Awaitable[None]] = _nothing
    closers: tuple[Callable[[], Awaitable[None]], ...] = ()

    async def aclose(self) -> None:
        """End child processes and close connections."""
        for close in (self.converter.aclose, *self.closers):
            await close()


def open_code_tools(driver: Driver) -> CodeTools:
    """Open the world for the run; what is missing there can be mended, and is no failure.

    Raises `ObstructedError` with the code of what is missing.
    """
    request = driver.paper2code.request
    try:
        if driver.desk.open_code_tools is not None:
            return driver.desk.open_code_tools(request)
        return code_tools(driver.desk.settings, request)
    except RejectedError as error:  # here, that is: elsewhere, or set up, it may be had
        raise ObstructedError(error.message, code=error.code) from error


def code_tools(settings: Settings, request: CodeRequest) -> CodeTools:
    """Return the tools that the settings name for `request`."""
    from adapters.sandbox.choose import open_sandbox
    from flows.coders import open_coder
    from flows.wiring import local_converter

    coders = open_coder(settings, request.model)
    wanted = {request.source_type, *(("repository",) if request.options.enable_indexing else ())}
    return CodeTools(
        acquirers={kind: open_acquirer(settings, kind) for kind in wanted},
        converter=local_converter(settings),
        coder=coders.coder,
        open_sandbox=lambda: open_sandbox(allow_none=settings.sandbox_none),
        prepare=coders.prepare,
        closers=(coders.aclose,),
    )


def open_acquirer(settings: Settings, source_type: str) -> Acquirer:
    """Return how sources of `source_type` are acquired."""
    from adapters.acquisition import simple

    match source_type:
        case "local":
            return simple.LocalFile()
        case "url":
            from flows.web import open_acquisition

            return simple.WebDocument(lambda: open_acquisition(settings))
        case "repository":
            from adapters.acquisition.repository import Repository

            return Repository(services=settings.services)
        case _:
            return simple.RequirementText()
