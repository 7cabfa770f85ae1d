"""What the scholarly providers share: reading single results, and making hits of works."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lxml import etree
from lxml.etree import _Element

from adapters.search.addresses import is_web
from adapters.search.answers import Malformed
from adapters.search.identity import identities, openness
from adapters.search.notices import Notice
from adapters.search.port import Hit

Result = TypeVar("Result")

_MOST_XML = 8_000_000
_MOST_NAMES = 20
_ARXIV_ABSTRACT = re.compile(r"https?://(?:www\.|export\.)?arxiv\.org/abs/([^?#]+)\Z")


@dataclass(frozen=True, slots=True)
class Work:
    """What a service knows of a work.

    `texts` are addresses where it can be read, best first, and `records` pages about it, which are
    opened when there is nothing better. `names` are as in `Hit.ids`, in any spelling.
    """

    title: str
    abstract: str = ""
    texts: Sequence[str] = ()
    records: Sequence[str] = ()
    names: Sequence[str] = ()
    notice: Notice = ""

    def hit(self) -> Hit:
        """Return the hit, whose locator is the most open text of this work.

        Raises `Malformed` when there is no address at all.
        """
        known = [f"url:{each}" for each in (*self.texts, *self.records)]
        names = sorted(identities("", (*self.names, *known)) - {""})
        places = [_text_at(each) for each in self.texts if is_web(each)]
        places += [place for name in names if (place := _place_of(name))]
        places += [each for each in self.records if is_web(each)]
        if not places:
            raise Malformed("no address to open it at")
        return Hit(
            min(places, key=openness),
            self.title or None,
            self.abstract,
            0.0,
            tuple(names[:_MOST_NAMES]),
            self.notice,
        )


def hits_of(
    results: Iterable[Result], read: Callable[[Result], Work]
) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """Return the hits of what `read` makes of `results`, and a warning for each it cannot read."""
    hits: list[Hit] = []
    warnings: list[str] = []
    for number, result in enumerate(results, 1):
        try:
            hits.append(read(result).hit())
        except Malformed as error:
            warnings.append(f"Result {number} is left out: {error}.")
    return tuple(hits), tuple(warnings)


def text(holder: Mapping[str, object], name: str) -> str:
    """Return the text `name` of `holder`, or '' for none. Raises `Malformed` for another type."""
    value = holder.get(name)
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    raise Malformed(f"a `{name}` that is no text")


def inner(holder: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return the object `name` of `holder`, or {} for none. Raises `Malformed` for another type."""
    value = holder.get(name)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise Malformed(f"a `{name}` that is no object")


def listed(holder: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """Return the objects of the list `name` of `holder`, or none.

    Raises `Malformed` for what is no list of objects.
    """
    value = holder.get(name)
    if value is None:
        return []
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    raise Malformed(f"a `{name}` that is no list of objects")


def number(holder: Mapping[str, object], name: str) -> int:
    """Return the whole number `name` of `holder`, from 0. Raises `Malformed` for anything else."""
    value = holder.get(name)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise Malformed(f"no number `{name}`")


def xml_root(body: bytes) -> _Element:
    """Return the root of the XML in `body`; nothing it refers to is loaded.

    Raises `Malformed` for what is no XML, is too large, or declares entities.
    """
    if len(body) > _MOST_XML:
        raise Malformed(f"more than {_MOST_XML:,} bytes of XML")
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Malformed("bytes that are no XML, or XML that is spoilt or breaks off") from error
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and next(dtd.iterentities(), None) is not None:
        raise Malformed("XML that declares entities")
    return root


def content(element: _Element | None) -> str:
    """Return the whole text in `element` on one line, or '' for None."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _text_at(address: str) -> str:
    """Return the address of the text itself, over https, where `address` is that of its record."""
    if abstract := _ARXIV_ABSTRACT.match(address):
        return f"https://arxiv.org/pdf/{abstract[1]}"
    for name in identities(address):
        if name.startswith("pmcid:"):
            return _place_of(name)
    return "https:" + address[5:] if address[:5].lower() == "http:" else address


def _place_of(name: str) -> str:
    kind, _, rest = name.partition(":")
    match kind:
        case "arxiv":
            return f"https://arxiv.org/pdf/{rest}"
        case "pmcid":
            return f"https://pmc.ncbi.nlm.nih.gov/articles/{rest}/"
        case "doi":
            return f"https://doi.org/{rest}"
        case _:
            return ""
