"""What the scholarly services answer, in their own formats, for the contract and for own tests."""

from dataclasses import replace
from xml.sax.saxutils import escape

from adapters.search.scholarly.arxiv import Arxiv
from adapters.search.scholarly.crossref import Crossref
from adapters.search.scholarly.openalex import OpenAlex
from adapters.search.scholarly.pubmed import PubMed
from adapters.search.scholarly.semantic_scholar import SemanticScholar
from tests.adapters.search.loopback import ERROR_PAGE, Canned, as_json
from tests.adapters.search.provider_cases import ProviderCase

ATOM = "application/atom+xml; charset=utf-8"
XML = "text/xml; charset=UTF-8"
EFETCH = "/entrez/eutils/efetch.fcgi"

# arXiv


def entry(
    arxiv: str, title: str = "Result 1", summary: str = "Seeds are stored.", more: str = ""
) -> str:
    return f"""
  <entry>
    <id>http://arxiv.org/abs/{arxiv}</id>
    <title>{escape(title)}</title>
    <updated>2023-08-02T00:41:18Z</updated>
    <link href="https://arxiv.org/abs/{arxiv}" rel="alternate" type="text/html"/>
    <link href="https://arxiv.org/pdf/{arxiv}" rel="related" type="application/pdf" title="pdf"/>
    <summary>{escape(summary)}
    </summary>
    <category term="cs.CL" scheme="http://arxiv.org/schemas/atom"/>
    <published>2017-06-12T17:57:34Z</published>
    <author><name>A. Seed</name></author>
    {more}
  </entry>"""


def feed(*entries: str, total: int | str | None = None, start: int = 0) -> Canned:
    count = len(entries) if total is None else total
    text = f"""<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
      xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <title>arXiv Query: search_query=all:seed&amp;id_list=&amp;start={start}&amp;max_results=6</title>
  <updated>2026-11-28T05:12:00Z</updated>
  <link href="https://arxiv.org/api/query?search_query=all:seed" type="application/atom+xml"/>
  <opensearch:itemsPerPage>6</opensearch:itemsPerPage>
  <opensearch:totalResults>{count}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>{"".join(entries)}
</feed>"""
    return Canned(text.encode(), media_type=ATOM)


ARXIV_ERROR = feed(
    """
  <entry>
    <id>https://arxiv.org/api/errors#incorrect_id_format_for_1234.12345</id>
    <title>Error</title>
    <updated>2026-11-28T00:00:00-04:00</updated>
    <link href="https://arxiv.org/api/errors#incorrect_id_format" rel="alternate"/>
    <summary>incorrect id format for 1234.12345</summary>
    <author><name>arXiv api core</name></author>
  </entry>"""
)

ARXIV = ProviderCase(
    "arxiv",
    Arxiv(),
    first=feed(entry("1706.03762v7"), entry("hep-th/9901001v3", title="Two <b>"), total=3),
    locators=("https://arxiv.org/pdf/1706.03762v7", "https://arxiv.org/pdf/hep-th/9901001v3"),
    second=feed(entry("2401.00001v1"), total=3, start=2),
    more_locators=("https://arxiv.org/pdf/2401.00001v1",),
    empty=feed(),
    failures={
        "an error entry with 200": ARXIV_ERROR,
        "no entries where there are some": feed(total=17),
        "no total": feed(entry("1706.03762v7"), total="many"),
        "other XML": Canned(b"<rss version='2.0'><channel/></rss>", media_type=XML),
        "a feed that breaks off": Canned(feed(entry("1706.03762v7")).body[:900], media_type=ATOM),
        "an entity": Canned(
            b'<!DOCTYPE feed [<!ENTITY x "y">]><feed xmlns="http://www.w3.org/2005/Atom">&x;</feed>'
        ),
        "too many requests, in words": Canned(b"Rate exceeded.", media_type="text/plain"),
    },
    remarks={
        "Result 2 is left out: no arXiv id": feed(
            entry("1706.03762v7"), entry("not-an-id"), entry("")
        )
    },
)

# OpenAlex


def location(
    landing: str | None, pdf: str | None = None, *, is_oa: bool = False
) -> dict[str, object]:
    return {
        "is_oa": is_oa,
        "landing_page_url": landing,
        "pdf_url": pdf,
        "source": None,
        "license": None,
        "version": "publishedVersion",
    }


def alex(number: int, **more: object) -> dict[str, object]:
    doi = f"https://doi.org/10.1000/Seed.{number}"
    place = location(doi)
    return {
        "id": f"https://openalex.org/W{number}",
        "doi": doi,
        "title": f"Result {number}",
        "type": "article",
        "ids": {"openalex": f"https://openalex.org/W{number}", "doi": doi},
        "is_retracted": False,
        "open_access": {"is_oa": False, "oa_status": "closed", "oa_url": None},
        "best_oa_location": None,
        "primary_location": place,
        "locations": [place],
        "abstract_inverted_index": {"are": [1], "Seeds": [0], "stored.": [2]},
        **more,
    }


def alexes(*works: object, count: object = None, page: int = 1, size: int = 6) -> Canned:
    total = len(works) if count is None else count
    meta = {"count": total, "page": page, "per_page": size, "groups_count": None, "cost_usd": 0.001}
    return as_json({"meta": meta, "results": list(works), "group_by": []})


OPEN_PDF = location("https://repo.example.edu/2", "https://repo.example.edu/2.pdf", is_oa=True)

OPENALEX = ProviderCase(
    "openalex",
    OpenAlex(),
    first=alexes(alex(1), alex(2, best_oa_location=OPEN_PDF), count=8),
    locators=("https://doi.org/10.1000/seed.1", "https://repo.example.edu/2.pdf"),
    second=alexes(alex(7), count=7, page=2),
    more_locators=("https://doi.org/10.1000/seed.7",),
    empty=alexes(),
    failures={
        "an allowance that is used up": as_json(
            {"error": "Rate limit exceeded", "message": "Insufficient budget."}, status=429
        ),
        "an invalid query": as_json(
            {"error": "Invalid query parameters error.", "message": "No | operator."}, status=400
        ),
        "an error with 200": as_json({"error": "Invalid filter", "message": "Unknown field."}),
        "no meta": as_json({"results": [], "group_by": []}),
        "no count": alexes(count="many"),
        "results of another type": as_json({"meta": {}, "results": {"id": 1}}),
    },
    remarks={
        "Result 2 is left out: a `title` that is no text": alexes(alex(1), alex(2, title=7)),
        "Result 1 is left out: a work that is no JSON object": alexes("W1", alex(2)),
    },
)

# Crossref


def item(number: int, **more: object) -> dict[str, object]:
    return {
        "DOI": f"10.1000/Seed.{number}",
        "URL": f"https://doi.org/10.1000/seed.{number}",
        "title": [f"Result {number}"],
        "type": "journal-article",
        "abstract": "<jats:title>Abstract</jats:title><jats:p>Seeds are <jats:italic>stored"
        "</jats:italic> &amp; kept.</jats:p>",
        **more,
    }


def work_list(*items: object, total: object = None, start: int = 0) -> Canned:
    message = {
        "facets": {},
        "total-results": len(items) if total is None else total,
        "items": list(items),
        "items-per-page": 6,
        "query": {"start-index": start, "search-terms": None},
    }
    return as_json(
        {
            "status": "ok",
            "message-type": "work-list",
            "message-version": "1.0.0",
            "message": message,
        }
    )


CC_BY = [{"URL": "https://creativecommons.org/licenses/by/4.0/", "content-version": "vor"}]


def link(url: str, kind: str = "application/pdf") -> dict[str, object]:
    return {"URL": url, "content-type": kind, "intended-application": "text-mining"}


CROSSREF = ProviderCase(
    "crossref",
    Crossref(),
    first=work_list(
        item(1),
        item(2, license=CC_BY, link=[link("http://publisher.example.org/2.pdf")]),
        total=3,
    ),
    locators=("https://doi.org/10.1000/seed.1", "https://publisher.example.org/2.pdf"),
    second=work_list(item(3), total=3, start=2),
    more_locators=("https://doi.org/10.1000/seed.3",),
    empty=work_list(),
    failures={
        "a refused parameter": as_json(
            {
                "status": "failed",
                "message-type": "validation-failure",
                "message": [
                    {"type": "integer-not-valid", "value": "x", "message": "rows is no integer."}
                ],
            },
            status=400,
        ),
        "a failure with 200": as_json({"status": "failed", "message": "Elasticsearch is away."}),
        "no status": as_json({"message": {"items": []}}),
        "another message": as_json({"status": "ok", "message-type": "work", "message": {}}),
        "items of another type": as_json(
            {"status": "ok", "message-type": "work-list", "message": {"items": "none"}}
        ),
        "no total": work_list(item(1), total=-4),
    },
    remarks={
        "Result 1 is left out: no DOI": work_list(item(1, DOI=None), item(2)),
        "Result 2 is left out: a `title` that is no list of texts": work_list(
            item(1), item(2, title="Seeds")
        ),
    },
)

# Semantic Scholar


def paper(number: int, **more: object) -> dict[str, object]:
    return {
        "paperId": f"{number:040x}",
        "externalIds": {"DOI": f"10.1000/Seed.{number}", "CorpusId": number},
        "url": f"https://www.semanticscholar.org/paper/{number:040x}",
        "title": f"Result {number}",
        "abstract": "Seeds are stored.",
        "tldr": {"model": "tldr@v2.0.0", "text": "Seeds keep."},
        "openAccessPdf": {"url": "", "status": None, "license": None},
        **more,
    }


def papers(*found: object, total: object = None, offset: int = 0) -> Canned:
    answer: dict[str, object] = {"total": len(found) if total is None else total, "offset": offset}
    if isinstance(total, int) and offset + len(found) < total:
        answer["next"] = offset + len(found)
    return as_json({**answer, "data": list(found)})


SEMANTIC_SCHOLAR = ProviderCase(
    "semanticscholar",
    SemanticScholar(),
    first=papers(
        paper(1, openAccessPdf={"url": "https://arxiv.org/pdf/1706.03762", "status": "GREEN"}),
        paper(2),
        total=3,
    ),
    locators=("https://arxiv.org/pdf/1706.03762", "https://doi.org/10.1000/seed.2"),
    second=papers(paper(3), total=3, offset=2),
    more_locators=("https://doi.org/10.1000/seed.3",),
    empty=as_json({"total": 0, "offset": 0}),
    failures={
        "too many requests": as_json({"message": "Too Many Requests.", "code": "429"}, status=429),
        "a key that is refused": as_json({"message": "Forbidden"}, status=403),
        "an error with 200": as_json({"error": "Unrecognized or unsupported fields: [x]"}),
        "a time-out in the format of its gateway": as_json(
            {"message": "Endpoint request timed out"}, status=504
        ),
        "no data where there are some": as_json({"total": 17, "offset": 0}),
        "data of another type": as_json({"total": 1, "offset": 0, "data": {"paperId": "x"}}),
        "no total": papers(paper(1), total="many"),
    },
    remarks={
        "Result 1 is left out: a `externalIds` that is no object": papers(
            paper(1, externalIds=["DOI"]), paper(2)
        ),
        "Result 2 is left out: no address to open it at": papers(
            paper(1), paper(2, externalIds=None, url=None)
        ),
    },
)

# PubMed


def ids(*found: str, count: object = None, start: int = 0, **more: object) -> Canned:
    return as_json(
        {
            "header": {"type": "esearch", "version": "0.3"},
            "esearchresult": {
                "count": str(len(found) if count is None else count),
                "retmax": str(len(found)),
                "retstart": str(start),
                "idlist": list(found),
                "translationset": [],
                "querytranslation": '"seeds"[MeSH Terms]',
                **more,
            },
        }
    )


def article(
    pmid: str, title: str = "Result 1", names: str = "", more: str = "", types: str = ""
) -> str:
    return f"""
<PubmedArticle>
  <MedlineCitation Status="MEDLINE" Owner="NLM">
    <PMID Version="1">{pmid}</PMID>
    <Article PubModel="Print">
      <Journal><Title>Seeds</Title></Journal>
      <ArticleTitle>{title}</ArticleTitle>
      <Abstract>
        <AbstractText Label="BACKGROUND">Seeds keep <i>well</i>.</AbstractText>
        <AbstractText Label="RESULTS">H<sub>2</sub>O spoils them.</AbstractText>
      </Abstract>
      <PublicationTypeList>
        <PublicationType UI="D016428">Journal Article</PublicationType>{types}
      </PublicationTypeList>
    </Article>
    {more}
  </MedlineCitation>
  <PubmedData>
    <PublicationStatus>ppublish</PublicationStatus>
    <ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId>{names}</ArticleIdList>
    <ReferenceList><Reference><Citation>Other</Citation><ArticleIdList>
      <ArticleId IdType="doi">10.1000/cited</ArticleId><ArticleId IdType="pmc">PMC999</ArticleId>
    </ArticleIdList></Reference></ReferenceList>
  </PubmedData>
</PubmedArticle>"""


def records(*articles: str) -> Canned:
    doctype = (
        '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
        '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">'
    )
    text = (
        f'<?xml version="1.0" ?>{doctype}<PubmedArticleSet>{"".join(articles)}</PubmedArticleSet>'
    )
    return Canned(text.encode(), media_type=XML)


def in_two(named: Canned, described: Canned) -> Canned:
    return replace(named, then={EFETCH: described})


IN_PMC = '<ArticleId IdType="pmc">PMC77</ArticleId><ArticleId IdType="doi">10.1000/s.2</ArticleId>'
FOUND = ids("11", "12", count=3)

PUBMED = ProviderCase(
    "pubmed",
    PubMed(),
    first=in_two(FOUND, records(article("11"), article("12", names=IN_PMC))),
    locators=(
        "https://pubmed.ncbi.nlm.nih.gov/11/",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/",
    ),
    second=in_two(ids("13", count=3, start=2), records(article("13"))),
    more_locators=("https://pubmed.ncbi.nlm.nih.gov/13/",),
    empty=ids(warninglist={"outputmessages": ["No items found."]}),
    failures={
        "a key that is refused": as_json({"error": "API key invalid", "api-key": "x"}, status=400),
        "too many requests": as_json(
            {"error": "API rate limit exceeded", "count": "4"}, status=429
        ),
        "an error with 200": as_json({"esearchresult": {"ERROR": "Search Backend failed"}}),
        "an error of the gateway with 200": as_json({"error": "error forwarding request"}),
        "no list of ids": as_json({"esearchresult": {"count": "1", "retstart": "0"}}),
        "ids that are none": ids("11&db=gene"),
        "no count": ids("11", count="many"),
        "no records": in_two(FOUND, records()),
        "a web page for records": in_two(FOUND, ERROR_PAGE),
        "no records in time": in_two(FOUND, Canned(after_s=0.8)),
        "records that fail": in_two(FOUND, as_json({"error": "no"}, status=502)),
        "JSON for records": in_two(FOUND, as_json({"result": {}})),
        "an error for records": in_two(
            FOUND, Canned(b"<eFetchResult><ERROR>Empty id list</ERROR></eFetchResult>")
        ),
        "other XML for records": in_two(FOUND, Canned(b"<TaxaSet/>", media_type=XML)),
        "records that break off": in_two(FOUND, Canned(records(article("11")).body[:900])),
        "an entity": in_two(
            FOUND,
            Canned(b'<!DOCTYPE a [<!ENTITY x "y">]><PubmedArticleSet>&x;</PubmedArticleSet>'),
        ),
    },
    remarks={
        "PubMed does not know “sead”, “valt”": in_two(
            ids("11", errorlist={"phrasesnotfound": ["sead", "valt"], "fieldsnotfound": []}),
            records(article("11")),
        ),
        "Result 1 is left out: no PubMed id": in_two(FOUND, records(article(""), article("12"))),
        "Result 2 is left out: a citation without its article": in_two(
            FOUND,
            records(
                article("11"),
                "<PubmedArticle><MedlineCitation><PMID>12</PMID></MedlineCitation></PubmedArticle>",
            ),
        ),
    },
)

CASES = (ARXIV, OPENALEX, CROSSREF, SEMANTIC_SCHOLAR, PUBMED)
