"""Commands on the sources themselves, without a run: read, fetch, search."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.boundary import FAILED
from flows.commands.shared import Json, settings
from state.values.wording import counted

if TYPE_CHECKING:
    from flows.reading import Read
    from state.values.blocks import Document

_NAMED = 20


def read(
    inputs: Annotated[
        list[str], typer.Argument(metavar="PATH|URL…", help="Files, folders or addresses.")
    ],
    *,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write the main text as Markdown.")
    ] = False,
    blocks: Annotated[
        bool, typer.Option("--blocks", help="Write one block a line, with its place.")
    ] = False,
    json: Json = False,
) -> None:
    """Read documents and say how well that went.

    Says for each how it ended (ok, partial, needs_ocr, encrypted, unsupported, malformed, empty,
    limit, crashed) and what is doubtful or missing. With --json, one object a line. Texts are
    written as they are, nothing redacted. Ends with exit code 1 when something could not be read.

    Example: assay read paper.pdf --markdown
    """
    import anyio

    from state.values.errors import InvalidRequest

    if markdown + blocks + json > 1:
        raise InvalidRequest("choose one of --markdown, --blocks and --json")
    form = "json" if json else "markdown" if markdown else "blocks" if blocks else "summary"
    troubled = anyio.run(_read_all, inputs, form)
    if troubled:
        raise typer.Exit(FAILED)


async def _read_all(inputs: list[str], form: str) -> int:
    from flows.reading import read_inputs
    from flows.terminal import out_json, out_plain, talk

    troubled = 0

    def show(each: "Read") -> None:
        nonlocal troubled
        troubled += not each.is_readable
        if form == "json":
            out_json(each.as_json(), indent=None, redacted=False)
            return
        if form == "summary":
            out_plain("\n".join(_summary(each)))
            return
        if not each.is_readable or each.reason:
            talk(f"assay: {each.name}: {each.outcome}: {each.reason}")
        if each.document is not None:
            out_plain(_text(each.document, form))

    await read_inputs(settings(), inputs, show)
    return troubled


def _text(document: "Document", form: str) -> str:
    if form == "markdown":
        from adapters.documents.render import to_markdown

        return to_markdown(document).rstrip("\n")
    lines = []
    for block in document.blocks:
        page = f"page {block.page}, " if block.page else ""
        words = " ".join(document.text[block.start : block.end].split())
        aside = "" if block.main else " (aside)"
        place = f"{page}paragraph {block.paragraph}, characters {block.start}–{block.end}"
        lines.append(f"{block.kind}{aside}\t{place}\t{words}")
    return "\n".join(lines)


def _summary(read: "Read") -> list[str]:
    """Return what a person should know of how a document was read."""
    document = read.document
    if document is None:
        return [f"{read.name}: {read.outcome}: {read.reason}"]
    quality = document.quality
    pages = f"{counted(quality.pages, 'page')}, " if quality.pages is not None else ""
    main = sum(block.main for block in document.blocks)
    size = counted(len(document.main_text), "character")
    extent = f"{pages}{counted(main, 'main block')} of {len(document.blocks):,}, {size}"
    lines = [f"{read.name}: {read.outcome}, {extent}"]
    told = {
        "title": document.title or "",
        "read by": f"{document.extractor} {document.extractor_version}",
        "lost": read.reason,
        "pages without text": _numbers(quality.pages_without_text),
        "pages in doubt": _numbers(quality.pages_in_doubt),
        "left out": ", ".join(quality.dropped),
        "hidden text": "; ".join(f"“{text}”" for text in quality.hidden_text[:3]),
        "warnings": "; ".join(document.warnings),
    }
    return lines + [f"  {name}: {' '.join(value.split())}" for name, value in told.items() if value]


def _numbers(pages: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, pages[:_NAMED]))
    more = len(pages) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def fetch(
    url: Annotated[str, typer.Argument(metavar="URL", help="An https address.")],
    *,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Also write the bytes there.")
    ] = None,
    json: Json = False,
) -> None:
    """Fetch one address the guarded way and archive its bytes.

    Private addresses, other schemes and ports, and pages that robots.txt excludes are refused.
    The bytes go into the archive by their hash, where later fetches ask only for what changed.

    Example: assay fetch https://arxiv.org/abs/1706.03762
    """
    import anyio

    from flows.fetching import fetch_url
    from flows.terminal import out_facts, out_json

    found = anyio.run(fetch_url, settings(), url, to)
    if json:
        out_json(found)
    else:
        out_facts(found)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    *,
    provider: Annotated[
        list[str] | None,
        typer.Option("--provider", "-p", metavar="NAME", help="Whom to ask; repeatable."),
    ] = None,
    sources: Annotated[
        list[Path] | None,
        typer.Option("--sources", "-s", metavar="PATH", help="Search these folders or files."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="At most so many hits of each.")] = 10,
    json: Json = False,
) -> None:
    """Search local sources or the web, and show the hits.

    Each provider is asked; hits that lead to the same work are shown once. What one of them could
    not answer is said on stderr, and ends the command with exit code 1 when none answered.

    Example: assay search "graph transformers" -p arxiv -p openalex
    """
    import anyio

    from flows.fetching import search_providers
    from flows.terminal import out, out_json, talk

    found = anyio.run(search_providers, settings(), query, provider or [], sources or [], limit)
    for remark in found.remarks:
        talk(f"assay: {remark}")
    if json:
        out_json(found.as_json())
    elif found.hits:
        out("\n".join(_hit(number, hit) for number, hit in enumerate(found.hits, 1)))
    elif found.answered:
        talk("assay: nothing was found")
    if not found.answered:
        raise typer.Exit(FAILED)


def _hit(number: int, hit: Any) -> str:
    notice = f" [{hit.notice}]" if hit.notice else ""
    lines = [f"{number}. {hit.title or '(no title)'}{notice}", f"   {hit.locator}"]
    return "\n".join(lines + ([f"   {hit.snippet}"] if hit.snippet else []))
