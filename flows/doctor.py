"""Looks whether everything Assay needs is there; changes nothing that stays."""

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

import anyio

from flows.settings import Settings
from flows.wiring import local_converter
from state.durable import refuse_unsuitable
from state.errors import NotFound
from state.policy import Policy
from state.values.blocks import Conversion, Outcome
from state.values.errors import AssayError
from state.values.ids import content_hash
from state.values.wording import counted

_OUT_OF_REACH = "/etc/passwd"  # everybody may read it, but a reader of documents
_LEAST_FREE = 500 * 1024 * 1024
_PACKAGES = (
    *("assay-research", "prefect", "duckdb", "tantivy", "trafilatura", "pydantic", "lxml"),
    *("pypdf", "pypdfium2", "httpcore"),
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: whether it is well, and what was seen or what to do."""

    name: str
    ok: bool
    detail: str


def examine(settings: Settings) -> list[Check]:
    """Return what looking at everything gave."""
    return [_look(name, look, settings) for name, look in _looks().items()]


def examine_only(settings: Settings, name: str) -> Check:
    """Return what looking at one thing gave, which `examine` calls by this name."""
    return _look(name, _looks()[name], settings)


def _looks() -> dict[str, Callable[[Settings], str]]:
    return {
        "python": _python,
        "packages": _packages,
        "data folder": _data_folder,
        "free space": _free_space,
        "prefect server": _server,
        "readers": _readers,
        "limits": _limits,
        "web search": _searches,
        "language model": _model,
        "ranking": _ranking,
        "shared limits": _shared_limits,
        "webhook": _webhook,
        "sandbox": _sandbox,
        "git": _git,
        "ledger": _ledger,
        "archive": _archive,
        "policy": _policy,
    }


class _Unwell(AssayError):
    """A look found something that has to be mended."""


def _look(name: str, look: Callable[[Settings], str], settings: Settings) -> Check:
    try:
        return Check(name, ok=True, detail=look(settings))
    except (AssayError, OSError) as error:
        return Check(name, ok=False, detail=str(error))


def _python(_: Settings) -> str:
    return f"{platform.python_version()} on {platform.system()} {platform.release()}"


def _packages(_: Settings) -> str:
    def found() -> Iterator[str]:
        for name in _PACKAGES:
            try:
                yield f"{name} {version(name)}"
            except PackageNotFoundError:
                if name != "assay-research":  # which need not be installed to run from its sources
                    raise _Unwell(f"{name} is not installed; install Assay anew") from None

    return ", ".join(found())


def _data_folder(settings: Settings) -> str:
    home = settings.home
    refuse_unsuitable(home)
    if not home.exists():
        above = next(folder for folder in home.parents if folder.exists())
        if not os.access(above, os.W_OK):
            raise _Unwell(f"{home} does not exist and {above} is not writable")
        return f"{home} (made by the first run)"
    if not home.is_dir() or not os.access(home, os.W_OK | os.X_OK):
        raise _Unwell(f"{home} is no folder that can be written")
    if home.stat().st_mode & 0o077:
        raise _Unwell(f"{home} can be read by others; mend it with: chmod 700 {home}")
    return str(home)


def _sandbox(_: Settings) -> str:
    """Return how generated code would be confined; research does without."""
    from adapters.sandbox.choose import describe

    return describe()


def _ranking(_: Settings) -> str:
    """Return what orders the hits in folders: words are enough, a model must be the known one."""
    from adapters.search.fusing import WORDS, best_ranking, open_ranking
    from adapters.search.meaning import INSTALL

    if (name := best_ranking()) == WORDS:
        return f"by words; by meaning too with the extra `embeddings` ({INSTALL})"
    open_ranking(name)
    return f"by words and meaning ({name})"


def _git(_: Settings) -> str:
    if path := shutil.which("git"):
        return path
    return "not installed: code is delivered without its history, and repositories are not cloned"


def _free_space(settings: Settings) -> str:
    place = settings.home
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < _LEAST_FREE:
        raise _Unwell(f"only {free / 1e6:,.0f} MB are free at {place}; free some space")
    return f"{free / 1e9:,.1f} GB"


def _server(settings: Settings) -> str:
    from flows.server import server_status
    from flows.users_server import require_users_server

    if url := require_users_server():
        return f"{url} answers (PREFECT_API_URL)"
    if not (settings.home / "prefect").is_dir():
        return "down; the first run starts it"
    status = server_status(settings.home)
    if status.server is None:
        return "down; a run starts it"
    used = ", in use" if status.used else ""
    return (
        f"{status.state}, process {status.server.pid}{used}; open {_page(status.server.url)}; "
        "'assay doctor --ui' shows the login"
    )


def login(settings: Settings) -> dict[str, str]:
    """Return the `address` of Prefect's pages for a browser, and the `login` that they ask for.

    The login is a secret: show it to nobody who did not ask for it. It is empty for a server of
    the user's own. Raises `NotFound` when no server runs.
    """
    from flows.server import server_status
    from flows.users_server import require_users_server

    if url := require_users_server():
        return {"address": _page(url), "login": ""}
    there = (settings.home / "prefect").is_dir()
    server = server_status(settings.home).server if there else None
    if server is None:
        raise NotFound("no Prefect server runs; 'assay research' and 'assay resume' start it")
    return {"address": _page(server.url), "login": server.auth_string}


def _page(url: str) -> str:
    """Return the address of the pages that belong to the API at `url`."""
    return url.removesuffix("/api")


def _readers(settings: Settings) -> str:
    from flows.samples import SENTENCE, samples

    async def read() -> list[str]:
        converter = local_converter(settings)
        try:
            said = []
            for name, data in samples().items():
                made = await converter.convert(data, name=name)
                if made.document is None or SENTENCE not in made.document.text:
                    raise _Unwell(f"{name} could not be read: {made.outcome}: {made.reason}")
                said.append(f"{Path(name).suffix[1:]} by {made.document.extractor}")
            return said
        finally:
            await converter.aclose()

    return ", ".join(anyio.run(read))


def _limits(_: Settings) -> str:
    from adapters.documents.sandboxed import Limits

    limits = Limits()
    made = _probe("exceed_memory")
    if made.outcome is not Outcome.LIMIT:
        raise _Unwell(
            f"a reader that takes too much memory is not stopped here ({made.outcome}: "
            f"{made.reason}); read only files that you trust"
        )
    reached = _probe("reach_out").reason
    return (
        f"each file is read within {limits.memory_bytes // 2**20:,} MiB and {limits.wall_s:g} s, "
        "in a process of its own without network, other processes or other files"
        + (f"; but this system cannot keep it from {reached}" if reached else "")
    )


def _probe(function: str) -> Conversion:
    """Return what a reader's process makes of work that must not succeed there."""
    from adapters.documents.sandboxed import SandboxedConverter

    async def ask() -> Conversion:
        converter = SandboxedConverter(pool=1, function=f"adapters.documents.probe:{function}")
        try:
            return await converter.convert(os.fsencode(_OUT_OF_REACH), name="probe")
        finally:
            await converter.aclose()

    return anyio.run(ask)


def _searches(settings: Settings) -> str:
    from flows.web import provider_states

    return "; ".join(f"{name} {state}" for name, state in provider_states(settings).items())


def _model(settings: Settings) -> str:
    if not settings.model:
        return "none; the built-in researcher quotes and compares (ASSAY_MODEL names one)"
    from flows.models import require_model

    require_model(settings, settings.model, in_dollars=False)
    where = f" at {settings.model_url}" if settings.model_url else ""
    return f"{settings.model}{where} (not asked)"


def _shared_limits(settings: Settings) -> str:
    """Return how many requests at once all workers may make; their form was checked on loading."""
    if not settings.limits:
        return "none (ASSAY_LIMITS bounds requests at once to a model, host or search provider)"
    return ", ".join(f"{name}={most}" for name, most in sorted(settings.limits.items()))


def _webhook(settings: Settings) -> str:
    """Return who is told of what, but no secret; the path of an address may be one."""
    from flows.notifying import open_notifier

    address = settings.webhook_url.get_secret_value()
    is_signed = bool(settings.webhook_secret.get_secret_value().strip())
    if open_notifier(settings) is None:
        if is_signed:
            raise _Unwell("ASSAY_WEBHOOK_SECRET is set, and ASSAY_WEBHOOK_URL is not: set both")
        return "none (ASSAY_WEBHOOK_URL names one)"
    place = urlsplit(address)
    events = ", ".join(settings.webhook_events) or "nothing (ASSAY_WEBHOOK_EVENTS is empty)"
    signed = "signed" if is_signed else "not signed (ASSAY_WEBHOOK_SECRET)"
    return f"{place.scheme}://{place.hostname} is told of {events}; {signed} (not asked)"


def _ledger(settings: Settings) -> str:
    from flows.keeping import manifests
    from flows.memory import is_begun, memory_place, open_ledger

    place = f"{memory_place(settings)}: " if settings.is_shared else ""
    if not is_begun(settings):
        return f"{place}no runs yet"
    ledger = open_ledger(settings, lambda: datetime.now(UTC))
    report = ledger.verify(manifests(settings.home / "reports"))
    if not report.is_sound:
        first = report.findings[0]
        raise _Unwell(
            f"{counted(len(report.findings), 'finding')}, such as {first.place}: {first.what}; "
            "see 'assay ledger verify'"
        )
    return f"{place}{counted(report.runs, 'run')}, {counted(report.events, 'event')}, sound"


def _archive(settings: Settings) -> str:
    from flows.memory import open_archive

    archive = open_archive(settings)
    if settings.artifacts_url:
        archive.has(content_hash(b""))  # which shows that it can be reached
        return f"{settings.artifacts_url} answers"
    alone = (
        "; other machines of this ledger cannot go on with runs whose bytes are here: set "
        "ASSAY_ARTIFACTS_URL"
    )
    return f"{settings.home / 'artifacts'}{alone if settings.is_shared else ''}"


def _policy(settings: Settings) -> str:
    policy = Policy(settings.home / "policy.json").read()
    who = ", ".join(policy.principals) or "everybody who can write the data folder"
    return f"research is {'on' if policy.enabled else 'off'} for {who}"
