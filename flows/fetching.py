"""Fetching and searching outside of a run: what `assay fetch` and `assay search` do."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio

from adapters.search.identity import merge_hits
from adapters.search.port import Hit, Search, SearchPage
from flows.groups import first_leaf
from flows.settings import Settings
from flows.wiring import local_converter
from state.durable import replace_file
from state.values.errors import AssayError, InvalidRequest


async def fetch_url(settings: Settings, url: str, to: Path | None = None) -> dict[str, Any]:
    """Fetch `url` into the archive (and to the file `to`); return what it is and how it reads.

    Raises `RejectedError` with the fetcher's code, and `InvalidRequest` when `to` is there with
    other bytes.
    """
    from flows.reading import read_opened
    from flows.web import open_reader
    from flows.wiring import make_desk

    _refuse_odd(to)
    archive = make_desk(settings).artifacts
    reader = open_reader(settings, archive=archive)
    opened = await reader.open(url)
    address = await anyio.to_thread.run_sync(archive.put, opened.data)
    if to is not None:
        await anyio.to_thread.run_sync(_write_once, to, opened.data)
    converter = local_converter(settings)
    try:
        read = await read_opened(url, opened, converter)
    finally:
        await converter.aclose()
    return {
        "url": url,
        "address": opened.display,
        "content_hash": address,
        "size": len(opened.data),
        "media_type": opened.media_type,
        "modified_at": opened.modified_at,
        "outcome": read.outcome,
        "reason": read.reason,
        "title": read.document.title if read.document else None,
        "file": str(to) if to else "",
    }


def _refuse_odd(to: Path | None) -> None:
    if to is not None and (to.is_symlink() or (to.exists() and not to.is_file())):
        raise InvalidRequest(f"{to} is no regular file; name another one")


def _write_once(to: Path, data: bytes) -> None:
    try:
        if to.exists() and (to.stat().st_size != len(data) or to.read_bytes() != data):
            raise InvalidRequest(f"{to} is there and holds something else; name another file")
    except OSError as error:
        raise InvalidRequest(f"{to}: {error.strerror}; name another file") from error
    replace_file(to, data)


@dataclass(frozen=True, slots=True)
class Searched:
    """What searching gave: each work once, best first; `remarks` say what went wrong or was cut.

    `answered` names the providers that answered.
    """

    query: str
    hits: tuple[Hit, ...]
    answered: tuple[str, ...]
    remarks: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the result for programs."""
        return asdict(self)


async def search_providers(
    settings: Settings,
    query: str,
    providers: Sequence[str],
    sources: Sequence[Path],
    limit: int,
) -> Searched:
    """Search everywhere at once; one that fails stops none of the others.

    Raises `InvalidRequest` when nothing to search is named, or a provider is unknown.
    """
    if not (providers or sources):
        raise InvalidRequest("say where to search: name a --provider, or folders with --sources")
    searches: list[Search] = []
    converter = local_converter(settings)
    try:
        if sources:
            from adapters.search.fusing import best_ranking, open_ranking
            from adapters.search.local import LocalFolder

            searches.append(
                LocalFolder(
                    list(sources),
                    cache=settings.cache,
                    converter=converter,
                    own=settings.home,
                    ranking=open_ranking(best_ranking()),
                )
            )
        if providers:
            from flows.web import web_searches

            searches += web_searches(settings, list(dict.fromkeys(providers)))
        pages: dict[int, SearchPage] = {}
        remarks: dict[int, str] = {}

        async def one(number: int, search: Search) -> None:
            try:
                pages[number] = await search.search(query, limit=limit)
            except AssayError as error:
                if isinstance(error, InvalidRequest):
                    raise
                remarks[number] = f"{search.name}: {error.message}"

        async with anyio.create_task_group() as group:
            for number, search in enumerate(searches):
                group.start_soon(one, number, search)
    except BaseExceptionGroup as raised:
        raise first_leaf(raised) from None
    finally:
        await converter.aclose()
    found = [pages[number] for number in sorted(pages)]
    said = [remarks[number] for number in sorted(remarks)]
    said += [
        f"{searches[number].name}: {warning}"
        for number in sorted(pages)
        for warning in pages[number].warnings
    ]
    answered = tuple(searches[number].name for number in sorted(pages))
    return Searched(query, merge_hits(found), answered, tuple(said))
