"""Searches local folders and files: the whole text of every document, and its passages."""

import re
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from adapters.documents.cached import CachedConverter
from adapters.documents.folder import FolderReader, Skipped, Unused
from adapters.documents.port import Converter
from adapters.search.fusing import LOOKED_AT, WORDS, ByWords, Ranking
from adapters.search.index import Found, understand
from adapters.search.port import Hit, SearchPage
from adapters.search.shelf import Entry, OpenIndex, Progress, Shelf
from state.values.blocks import Block, BlockKind, Document
from state.values.errors import InvalidRequest
from state.values.ids import canonical_json, content_hash

_MAX_SNIPPET = 300
_CURSOR = re.compile(r"\d{1,4}\Z")


class LocalFolder:
    """A `Search` over `roots`: hits are documents, and their locators absolute real paths.

    The index is kept below `cache` and brought up to date by a search when `rescan_s` seconds have
    passed since the last look at the roots; `progress` is told how that goes. `converter` reads
    the files; `self.converter` is the same with a memory on disk, to find by and not to quote
    from. `reader` opens what was found, and `own` is as for it. `ranking` orders the first hits of
    a search, by words alone unless it is given. Raises `InvalidRequest` for a root
    that is missing or unreadable, and at the first search for one that holds no document.
    """

    def __init__(
        self,
        roots: Sequence[str | Path],
        *,
        cache: Path,
        converter: Converter,
        progress: Progress | None = None,
        rescan_s: float = 2.0,
        own: Path | None = None,
        ranking: Ranking | None = None,
    ) -> None:
        self.reader = FolderReader(roots, own=own)
        self.converter = CachedConverter(converter, cache / "documents")
        self._shelf = Shelf(self.reader, cache / "indexes", self.converter)
        self._progress = progress
        self._rescan_s = rescan_s
        self._ranking = ranking or ByWords()
        self._turn = anyio.Lock()
        self._open: OpenIndex | None = None
        self._looked_at = 0.0

    @property
    def name(self) -> str:
        """Return `local`."""
        return "local"

    @property
    def cost_micro_usd(self) -> int:
        """Return 0: it costs nothing."""
        return 0

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Return the files that the last refresh could not use, and why."""
        return self._open.unused.skipped if self._open else ()

    async def unused(self) -> Unused:
        """Return what the index that was last searched leaves out; make it if there is none."""
        async with self._turn:
            opened = self._open or await self._refresh()
        return opened.unused

    async def refresh(self) -> None:
        """Bring the index up to date. Raises `InvalidRequest` for a root without a document."""
        async with self._turn:
            await self._refresh()

    async def search(self, query: str, *, cursor: str | None = None, limit: int = 6) -> SearchPage:
        """Return a page of the documents that match `query`, at most 200 in all.

        Any text is a query; text in quotation marks counts extra where it stands together.
        """
        start = _position(cursor)
        if limit < 1:
            raise InvalidRequest(f"limit is {limit}; ask for at least one hit.")
        async with self._turn:
            opened = self._open
            if opened is None or time.monotonic() - self._looked_at >= self._rescan_s:
                opened = await self._refresh()
        return await to_thread.run_sync(self._page, opened, query, start, limit)

    async def _refresh(self) -> OpenIndex:
        opened = await self._shelf.refresh(self._open, progress=self._progress)
        self._require_documents(opened)
        self._open = opened
        self._looked_at = time.monotonic()
        return opened

    def _page(self, opened: OpenIndex, query: str, start: int, limit: int) -> SearchPage:
        wanted = understand(query)
        documents = opened.manifest.documents
        found = self._ranked(query, opened.index.find(wanted), documents)
        shown = found[start : start + limit]
        answer = [[documents[hit.document].locator, hit.score] for hit in found]
        return SearchPage(
            hits=tuple(self._hit(documents[hit.document], hit) for hit in shown),
            next_cursor=str(start + limit) if start + limit < len(found) else None,
            warnings=() if wanted.terms else ("The query holds no word to search for.",),
            raw_hash=content_hash(canonical_json(answer)),
        )

    def _ranked(
        self, query: str, found: Sequence[Found], documents: Sequence[Entry]
    ) -> Sequence[Found]:
        """Return `found`, the first of it in the order of the ranking."""
        if self._ranking.name == WORDS:
            return found
        first = found[:LOOKED_AT]
        texts = [self._told(documents[hit.document], hit) for hit in first]
        return [
            *(first[place] for place in self._ranking.order(query, texts)),
            *found[LOOKED_AT:],
        ]

    def _told(self, entry: Entry, found: Found) -> str:
        """Return what a hit is ranked by: its title and its best passage, whole."""
        document = self._shelf.recall(entry)
        block = _best_block(document, found.block) if document else None
        text = document.text[block.start : block.end] if document and block else ""
        return f"{entry.title or ''}\n{text}"

    def _hit(self, entry: Entry, found: Found) -> Hit:
        document = self._shelf.recall(entry)
        return Hit(
            locator=entry.locator,
            title=entry.title,
            snippet=_snippet(document, found.block) if document else "",
            score=found.score,
        )

    def _require_documents(self, opened: OpenIndex) -> None:
        used = {self.reader.root_of(entry.locator) for entry in opened.manifest.documents}
        for root in self.reader.roots:
            if root not in used and not any(_is_below(root, other) for other in used if other):
                raise InvalidRequest(
                    f"{root} holds no document that can be read{self._what_instead(root, opened)}. "
                    "Name a folder with documents (PDF, Word, HTML, Markdown, text, source code)."
                )

    def _what_instead(self, root: Path, opened: OpenIndex) -> str:
        place = self.reader.display_path(str(root))
        unused = [
            s for s in opened.unused.skipped if s.path == place or s.path.startswith(place + "/")
        ]
        if not unused:
            return ""
        first = unused[0]
        return f" ({len(unused)} skipped, such as {first.path}: {first.reason.rstrip('.')})"


def _is_below(root: Path, other: Path) -> bool:
    return root.is_relative_to(other)


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not _CURSOR.match(cursor):
        raise InvalidRequest(f"{cursor!r} is no cursor of this search; pass back the one it gave.")
    return int(cursor)


def _best_block(document: Document, number: int | None) -> Block | None:
    if number is not None:
        return document.blocks[number]
    offered = (b for b in document.blocks if b.main and b.kind is not BlockKind.HEADING)
    return next(offered, None)


def _snippet(document: Document, number: int | None) -> str:
    block = _best_block(document, number)
    if block is None:
        return ""
    text = " ".join(document.text[block.start : block.end].split())
    if len(text) <= _MAX_SNIPPET:
        return text
    return text[: _MAX_SNIPPET - 1].rsplit(" ", 1)[0] + "\N{HORIZONTAL ELLIPSIS}"
