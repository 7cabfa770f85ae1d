"""Names works: by DOI, arXiv id and PubMed id, read out of whatever address or text holds them."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qs, unquote, urlsplit

from adapters.search.addresses import canonical_url, is_web

WORK_KINDS = ("arxiv", "doi", "pmcid", "pmid")
"""The kinds of names that are given to a work, and not to one of its copies."""

_DOI_URL = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)
# Old DOIs of Wiley hold `<` and `>`, with the page between them.
_DOI = re.compile(r"(?:doi:\s*)?(10\.\d{4,9}(?:\.\d+)*/)([^\s\"]+)", re.IGNORECASE)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)\Z")
_ARXIV = re.compile(
    r"(?:arxiv:\s*)?"
    r"(?:(?P<new>\d\d(?:0[1-9]|1[0-2])\.\d{4,5})"
    r"|(?P<archive>[a-z]+(?:-[a-z]+)?)(?:\.[a-z-]+)?/(?P<number>\d\d(?:0[1-9]|1[0-2])\d{3}))"
    r"(?:v\d+)?\Z",
    re.IGNORECASE,
)
_ARXIV_ARCHIVES = frozenset(
    "acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas "
    "cond-mat cs dg-ga funct-an gr-qc hep-ex hep-lat hep-ph hep-th math math-ph mtrl-th nlin "
    "nucl-ex nucl-th patt-sol physics plasm-ph q-alg q-bio quant-ph solv-int supr-con".split()
)
# Preprint servers that give each version a name of its own, and what that adds to the first one.
_PREPRINT_VERSION = re.compile(
    r"(10\.(?:1101|64898)/\d{4}\.\d\d\.\d\d\.\d+)v\d+\Z"  # bioRxiv, medRxiv
    r"|(10\.26434/chemrxiv[.-].+?)[.-]v\d+\Z"
    r"|(10\.21203/rs\.\d\.rs-\d+)/v\d+\Z"  # Research Square
    r"|(10\.20944/preprints\d+\.\d+)\.v\d+\Z"
)
_BRACKETS = {")": "(", "]": "[", "}": "{", ">": "<"}

_VIEWS = "abs|abstract|full|fulltext|full-xml|pdf|pdfdirect|pdfplus|epdf|epub|html|reader"
_DOI_IN_PATH = re.compile(
    rf"/(?:doi|articles?|chapter|book|content|content/journals)"
    rf"(?:/(?:{_VIEWS}))?/(10\.\d{{4,9}}(?:\.\d+)*/.+)\Z"
)
_VIEW_TAIL = re.compile(r"(?:/(?:full|abstract|fulltext|pdf|epdf|html|summary|meta)|\.pdf)+\Z")
_BIORXIV_TAIL = re.compile(r"v\d+(?:\.(?:full|abstract|full-text))?\Z|\.(?:full|abstract)\Z")
_PLOS_PATH = re.compile(r"/[a-z]+/article(?:/file)?\Z")
_ARXIV_PATH = re.compile(
    r"/(?:abs|pdf|html|format|ps|src|e-print|overview|papers|arxiv)/(.+?)(?:\.pdf|\.html?)?\Z"
)
_ARXIV_HOST = re.compile(
    r"(?:[a-z0-9-]+\.)*arxiv\.org\Z|xxx\.lanl\.gov\Z|alphaxiv\.org\Z|ar5iv\.org\Z"
    r"|arxiv-vanity\.com\Z|scirate\.com\Z|huggingface\.co\Z"
)
_PMID_PATHS = {
    "pubmed.ncbi.nlm.nih.gov": re.compile(r"/(\d{1,9})\Z"),
    "ncbi.nlm.nih.gov": re.compile(r"/pubmed/(\d{1,9})\Z"),
    "europepmc.org": re.compile(r"/(?:article|abstract)/med/(\d{1,9})\Z", re.IGNORECASE),
}
_PMCID_PATHS = {
    "pmc.ncbi.nlm.nih.gov": re.compile(
        r"/articles/pmc(\d{1,9})(?:/pdf(?:/[^/]+)?)?\Z", re.IGNORECASE
    ),
    "ncbi.nlm.nih.gov": re.compile(
        r"/pmc/articles/(?:pmc)?(\d{1,9})(?:/pdf(?:/[^/]+)?)?\Z", re.IGNORECASE
    ),
    "europepmc.org": re.compile(r"/articles?/(?:pmc/)?pmc(\d{1,9})\Z", re.IGNORECASE),
}
_PUBLISHED_AT = {
    "nature.com": (re.compile(r"/articles/([a-z0-9.-]+?)(?:\.pdf)?\Z"), "10.1038/"),
    "elifesciences.org": (re.compile(r"/articles/(\d{5,6})\Z"), "10.7554/elife."),
}
_SEMANTIC_SCHOLAR = re.compile(r"/paper/(?:[^/]+/)?([0-9a-f]{40})\Z")


def identities(locator: str, ids: Iterable[str] = ()) -> frozenset[str]:
    """Return the names by which what is at `locator`, and called `ids`, is known.

    Each is `doi:…` and `arxiv:…` in lower case and without a version, `pmid:…`, `pmcid:…`, or
    `url:…`; a path is its own name. Two works never share one; arXiv's own DOIs are arXiv ids.
    Of `ids`, what has not the form of its kind is left out.
    """
    found = _of_url(locator) if is_web(locator) else {locator}
    for name in ids:
        found |= _of_name(name)
    return frozenset(found)


def doi_name(text: str) -> str:
    """Return the name (`doi:…`, or `arxiv:…`) for a DOI, bare or as a URL, or '' for no DOI."""
    text = text.strip()
    if url := _DOI_URL.match(text):
        text = unquote(text[url.end() :])
    match = _DOI.match(text)
    suffix = _trimmed(match[2]) if match else ""
    if not match or not suffix:
        return ""
    doi = (match[1] + suffix).lower()
    if arxiv := _ARXIV_DOI.match(doi):
        return arxiv_name(arxiv[1])
    if version := _PREPRINT_VERSION.match(doi):
        doi = version[version.lastindex or 0]
    return f"doi:{doi}"


def arxiv_name(text: str) -> str:
    """Return `arxiv:…` for an arXiv id of any form and version, or '' when it is none."""
    match = _ARXIV.match(text.strip())
    if not match:
        return ""
    if match["new"]:
        return f"arxiv:{match['new']}"
    archive = match["archive"].lower()
    return f"arxiv:{archive}/{match['number']}" if archive in _ARXIV_ARCHIVES else ""


def _of_name(name: str) -> set[str]:
    kind, _, rest = name.strip().partition(":")
    match kind.lower():
        case "doi":
            found = doi_name(rest)
        case "arxiv":
            found = arxiv_name(rest)
        case "pmid":
            found = _numbered("pmid:", rest)
        case "pmcid":
            found = _numbered("pmcid:PMC", rest.strip().upper().removeprefix("PMC"))
        case "url":
            return _of_url(rest) if is_web(rest) else set()
        case _:
            found = ""
    return {found} if found else set()


def _numbered(kind: str, digits: str) -> str:
    digits = digits.strip().lstrip("0")
    return kind + digits if digits.isascii() and digits.isdecimal() else ""


def _of_url(url: str) -> set[str]:
    address = canonical_url(url)
    found = {f"url:{address}"}
    parts = urlsplit(address)
    host, path = parts.hostname or "", unquote(parts.path)
    if host in {"doi.org", "dx.doi.org"}:
        found.add(doi_name(path[1:]))
    elif _ARXIV_HOST.match(host):
        match = _ARXIV_PATH.match(path)
        found.add(arxiv_name(match[1]) if match else "")
    elif host in _PMID_PATHS or host in _PMCID_PATHS:
        found |= _of_pubmed(host, path)
    elif host in _PUBLISHED_AT:
        pattern, prefix = _PUBLISHED_AT[host]
        match = pattern.match(path)
        found.add(doi_name(prefix + match[1]) if match else "")
    elif host == "semanticscholar.org":
        match = _SEMANTIC_SCHOLAR.match(path)
        found.add(f"url:https://semanticscholar.org/paper/{match[1]}" if match else "")
    else:
        found.add(_of_publisher(host, path, parts.query))
    return found - {""}


def _of_pubmed(host: str, path: str) -> set[str]:
    abstract = _PMID_PATHS[host].match(path) if host in _PMID_PATHS else None
    article = _PMCID_PATHS[host].match(path) if host in _PMCID_PATHS else None
    return {
        _numbered("pmid:", abstract[1]) if abstract else "",
        _numbered("pmcid:PMC", article[1]) if article else "",
    }


def _of_publisher(host: str, path: str, query: str) -> str:
    if host == "journals.plos.org" and _PLOS_PATH.match(path):
        return doi_name(parse_qs(query).get("id", [""])[0])
    match = _DOI_IN_PATH.search(path)
    if not match:
        return ""
    doi = _VIEW_TAIL.sub("", match[1])
    if host in {"biorxiv.org", "medrxiv.org"}:
        doi = _BIORXIV_TAIL.sub("", doi)
    return doi_name(doi)


def _trimmed(doi: str) -> str:
    """Return `doi` without the punctuation of the sentence it stood in."""
    while doi:
        last = doi[-1]
        opening = _BRACKETS.get(last)
        loose = doi.count(last) > doi.count(opening) if opening else last in ".,;:!?'’”*"
        if not loose:
            break
        doi = doi[:-1]
    return doi
