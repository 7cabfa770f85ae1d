"""Says in words how well a PDF could be read, or why not at all."""

from collections.abc import Iterator, Sequence

from adapters.documents.pdf.opening import Opened
from adapters.documents.pdf.pages import Found
from adapters.documents.reading import Unreadable
from state.values.blocks import Outcome

_MAX_RUNS = 12


def nothing_read(found: Found, opened: Opened) -> Unreadable:
    """Return why there is no text at all."""
    if found.too_large or (found.stopped and not found.textless):
        why = found.stopped or f"{page_numbers(found.too_large)} would take too much work or memory"
        return Unreadable(Outcome.LIMIT, f"No text could be read within the limits ({why}).")
    if found.wordless:
        return Unreadable(
            Outcome.NEEDS_OCR,
            "The pages show text, but the file does not say which characters it is. Run text "
            "recognition (OCR) on it.",
        )
    if found.textless:
        return Unreadable(
            Outcome.NEEDS_OCR,
            "The pages are pictures without text. Run text recognition (OCR) on the file.",
        )
    if found.failed or opened.first is None:
        return Unreadable(Outcome.MALFORMED, "The file is a damaged PDF; no page could be read.")
    return Unreadable(Outcome.EMPTY, "The file shows no text.")


def losses(found: Found, opened: Opened) -> Iterator[str]:
    """Yield what of the document could not be read."""
    if found.stopped:
        yield (
            f"only the first {len(found.pages):,} of {opened.pages:,} pages were read, for the "
            f"limit is reached: {found.stopped}"
        )
    for numbers, what in (
        (found.textless, "no text but pictures; text recognition (OCR) is needed"),
        (found.wordless, "text without known characters; text recognition (OCR) is needed"),
        (found.failed, "damage, and could not be read in whole"),
        (found.too_large, "more drawing than is read"),
    ):
        if numbers:
            yield f"{page_numbers(numbers)} {'has' if len(numbers) == 1 else 'have'} {what}"


def warnings_of(found: Found, hidden: Sequence[str]) -> Iterator[str]:
    """Yield what is doubtful about the text that was read."""
    for numbers, what in (
        (found.replaced, "the first reader saw no sound text there; the second's is given"),
        (found.doubtful, "two readers disagree on the text"),
        (found.mended, "columns were drawn line by line, and are put in order"),
        (found.crowded, "so full that not all of it was looked at for text that it hides"),
        (found.scanned, "the text is a layer of text recognition (OCR) over a scan"),
    ):
        if numbers:
            yield f"{page_numbers(numbers)}: {what}"
    if hidden:
        yield (
            "the file holds text that it does not show, which is kept but is not main text: "
            f"{len(hidden)} passage{'s' * (len(hidden) > 1)}"
        )


def page_numbers(numbers: Sequence[int]) -> str:
    """Return pages in words: `page 3`, `pages 1-4, 7`."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:_MAX_RUNS]]
    more = ", …" if len(runs) > _MAX_RUNS else ""
    return f"{'page' if len(set(numbers)) == 1 else 'pages'} {', '.join(shown)}{more}"
