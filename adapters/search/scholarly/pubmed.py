"""PubMed: the biomedical literature, by NCBI's E-utilities ESearch and EFetch."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lxml.etree import _Element

from adapters.search.answers import Malformed, Refused, json_object, mapping, position, said
from adapters.search.notices import RETRACTED, RETRACTION_NOTICE, Notice, notice_of_title
from adapters.search.port import SearchPage
from adapters.search.scholarly.records import Work, content, hits_of, inner, number, xml_root
from adapters.search.scholarly.wording import FEW, terms
from adapters.search.web import Terms
from adapters.web.port import Request

_MOST_PER_PAGE = 100
_MOST_RESULTS = 9_999
_PMID = re.compile(r"[0-9]{1,9}\Z")
_NOTICE_TYPES = frozenset({"Retraction of Publication", "Expression of Concern"})
_NOTICE_LINKS = frozenset({"RetractionOf", "PartialRetractionOf", "ExpressionOfConcernFor"})
_RETRACTED_LINKS = frozenset({"RetractionIn", "RetractedandRepublishedIn"})


@dataclass(frozen=True, slots=True)
class PubMed:
    """The E-utilities, at `url` when they are reached through another address.

    `email` is that of the people who run this program, whom NCBI writes to before it blocks them.
    """

    url: str = "https://eutils.ncbi.nlm.nih.gov"
    email: str = ""

    @property
    def terms(self) -> Terms:
        """Return the terms without a key: three requests a second, of which a search makes two."""
        return Terms(
            name="pubmed",
            label="PubMed",
            url=self.url,
            interval_s=0.35,
            max_query=300,
            key="NCBI_API_KEY",
            meanings=(("API key invalid", "the key in NCBI_API_KEY is refused"),),
        )

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request for ids, of what has all words of a short query or most of a long."""
        start = position(cursor, most=_MOST_RESULTS - 1)
        wanted = [f'"{term}"' if " " in term else term for term in terms(query)]
        return self._request(
            "esearch",
            key,
            ("term", (" " if len(wanted) <= FEW else " OR ").join(wanted)),
            ("retstart", str(start)),
            ("retmax", str(min(limit, _MOST_PER_PAGE, _MOST_RESULTS - start))),
            ("sort", "relevance"),
            ("retmode", "json"),
        )

    def follow_up(self, body: bytes, *, key: str) -> Request | None:
        """Return the request for the records of the ids in `body`, or None when it has none."""
        ids = _ids(_found(body))
        if not ids:
            return None
        return self._request("efetch", key, ("id", ",".join(ids)), ("retmode", "xml"))

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the cursor of a list of ids, or the hits of a set of records."""
        if body.lstrip()[:1] == b"<":
            records = _records(body)
            if not records:
                raise Malformed("no records of the ids it found")
            hits, warnings = hits_of(records[:limit], _work)
            return SearchPage(hits, warnings=warnings)
        found = _found(body)
        ids, total = _ids(found), min(number(found, "count"), _MOST_RESULTS)
        end = number(found, "retstart") + len(ids)
        more = ids and end < total
        return SearchPage((), str(end) if more else None, _remarks(found))

    def _request(self, utility: str, key: str, *params: tuple[str, str]) -> Request:
        return Request(
            f"{self.url.rstrip('/')}/entrez/eutils/{utility}.fcgi",
            params=(
                ("db", "pubmed"),
                *params,
                ("tool", "assay"),
                *((("email", self.email),) if self.email else ()),
                *((("api_key", key),) if key else ()),
            ),
        )


def _found(body: bytes) -> Mapping[str, object]:
    answer = json_object(body)
    if "esearchresult" not in answer and "error" in answer:
        raise Refused(said(body) or "an error without words")
    found = mapping(answer.get("esearchresult"), "an `esearchresult`")
    if error := found.get("ERROR"):
        raise Refused(str(error))
    return found


def _ids(found: Mapping[str, object]) -> list[str]:
    ids = found.get("idlist")
    if not isinstance(ids, list):
        raise Malformed("no list of `idlist`")
    if not all(isinstance(each, str) and _PMID.match(each) for each in ids):
        raise Malformed("an `idlist` with what is no PubMed id")
    return ids


def _remarks(found: Mapping[str, object]) -> tuple[str, ...]:
    missing = inner(found, "errorlist").get("phrasesnotfound")
    unknown = [each for each in missing if each] if isinstance(missing, list) else []
    shown = ", ".join(f"“{each}”" for each in unknown)
    return (f"PubMed does not know {shown}, and searched without.",) if unknown else ()


def _records(body: bytes) -> list[_Element]:
    root = xml_root(body)
    if root.tag == "eFetchResult":
        raise Refused(content(root.find("ERROR")) or "an error without words")
    if root.tag != "PubmedArticleSet":
        raise Malformed("XML that is no `PubmedArticleSet`")
    return [each for each in root if each.tag in {"PubmedArticle", "PubmedBookArticle"}]


def _work(record: _Element) -> Work:
    book = record.tag == "PubmedBookArticle"
    main = record.find("BookDocument" if book else "MedlineCitation")
    if main is None:
        raise Malformed("a record without its citation")
    pmid = content(main.find("PMID"))
    if not _PMID.match(pmid):
        raise Malformed("no PubMed id")
    article = main if book else main.find("Article")
    if article is None:
        raise Malformed("a citation without its article")
    title = content(article.find("ArticleTitle")) or content(article.find("VernacularTitle"))
    return Work(
        title,
        " ".join(content(part) for part in article.findall("Abstract/AbstractText")),
        records=(f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",),
        names=(f"pmid:{pmid}", *_names(record, article)),
        notice=_notice(title, main, article),
    )


def _names(record: _Element, article: _Element) -> list[str]:
    """Return DOI and PMC id of the record itself: those of its references are deeper down."""
    ids = record.findall("*/ArticleIdList/ArticleId")
    names = [f"pmcid:{content(each)}" for each in ids if each.get("IdType") == "pmc"]
    dois = [each for each in ids if each.get("IdType") == "doi"]
    dois += [each for each in article.findall("ELocationID") if each.get("EIdType") == "doi"]
    return names + [f"doi:{content(each)}" for each in dois]


def _notice(title: str, main: _Element, article: _Element) -> Notice:
    types = {content(each) for each in article.findall("PublicationTypeList/PublicationType")}
    types |= {content(each) for each in article.findall("PublicationType")}
    links = {
        each.get("RefType") for each in main.findall("CommentsCorrectionsList/CommentsCorrections")
    }
    if types & _NOTICE_TYPES or links & _NOTICE_LINKS:
        return RETRACTION_NOTICE
    if "Retracted Publication" in types or links & _RETRACTED_LINKS:
        return RETRACTED
    return notice_of_title(title)
