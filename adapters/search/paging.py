"""Cursors: the provider's own, and page numbers for services whose answers give none."""

import re
from dataclasses import dataclass

from adapters.search.answers import no_cursor

_MAX_CURSOR = 1_000
_NUMBERED = re.compile(r"([1-9][0-9]{0,3})(?:\+([1-9][0-9]{0,3}))?\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins: `cursor` for the provider, and how many of its hits to pass over."""

    cursor: str | None
    number: int = 1
    skip: int = 0


def read_cursor(cursor: str | None, *, pages: int) -> Place:
    """Return where `cursor` leads, at a service with `pages` numbered pages (0: not numbered).

    A numbered cursor is a page's number, and after a plus how many of its hits came before.
    Raises `InvalidRequest` for a cursor that `next_cursor` cannot have returned.
    """
    if cursor is None:
        return Place(None)
    if not is_cursor(cursor):
        raise no_cursor(cursor)
    if not pages:
        return Place(cursor)
    match = _NUMBERED.match(cursor)
    if match is None or int(match[1]) > pages:
        raise no_cursor(cursor)
    return Place(None if match[1] == "1" else match[1], int(match[1]), int(match[2] or 0))


def next_cursor(
    place: Place, given: str | None, *, pages: int, found: int, limit: int
) -> str | None:
    """Return the cursor of what comes after the `limit` hits at `place`, or None at the end.

    `given` is what the provider's answer says of it, and `found` how many hits that one held.
    """
    if not pages:
        return given if given and is_cursor(given) else None
    if found > place.skip + limit:
        return f"{place.number}+{place.skip + limit}"
    return str(place.number + 1) if given is not None and place.number < pages else None


def is_cursor(text: str) -> bool:
    """Tell whether `text` can be a cursor: neither endless nor with control characters."""
    return len(text) <= _MAX_CURSOR and text.isprintable()
