"""The scholarly providers: what they ask, and what they make of what the services say of a work."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.search.answers import Malformed, Refused
from adapters.search.identity import merge_hits
from adapters.search.pace import Pace
from adapters.search.port import Hit, SearchPage
from adapters.search.scholarly.arxiv import Arxiv
from adapters.search.scholarly.crossref import Crossref
from adapters.search.scholarly.openalex import OpenAlex
from adapters.search.scholarly.pubmed import PubMed
from adapters.search.scholarly.records import xml_root
from adapters.search.scholarly.semantic_scholar import SemanticScholar
from adapters.search.scholarly.wording import quoted, terms
from adapters.search.web import Provider, TwoStep, WebSearch
from tests.adapters.search.loopback import (
    Asked,
    Canned,
    Diverted,
    as_json,
    client_for,
    no_sleep,
    serving,
)
from tests.adapters.search.provider_cases import ProviderCase
from tests.adapters.search.scholarly_cases import (
    CASES,
    CC_BY,
    OPENALEX,
    PUBMED,
    alex,
    alexes,
    article,
    entry,
    feed,
    ids,
    in_two,
    item,
    link,
    location,
    paper,
    papers,
    records,
    work_list,
)

pytestmark = pytest.mark.anyio


async def found(
    provider: Provider, *answers: Canned, query: str = "seed vault", key: str = "", **more: object
) -> tuple[SearchPage, list[Asked]]:
    """Return the page that `provider` makes of what a server on loopback answers."""
    cursor, limit = more.get("cursor"), more.get("limit", 6)
    assert cursor is None or isinstance(cursor, str)
    assert isinstance(limit, int)
    with serving(*answers) as loopback:
        http = Diverted(client_for(loopback.origin), loopback.origin)
        search = WebSearch(provider, http, key=key, pace=Pace(sleep=no_sleep))
        try:
            return await search.search(query, cursor=cursor, limit=limit), loopback.asked
        finally:
            await http.aclose()


async def one(provider: Provider, answer: Canned) -> Hit:
    """Return the only hit in `answer`."""
    page, _ = await found(provider, answer)
    assert page.warnings == ()
    (hit,) = page.hits
    return hit


# What is asked


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("seed vault", ["seed", "vault"]),
        ("What is the seed vault?", ["seed", "vault"]),
        ("the IT of the US", ["IT", "US"]),
        ("seed AND vault OR NOT bank", ["seed", "vault", "bank"]),
        ("seed seed", ["seed"]),
        ('"seed vault" on Svalbard', ["seed vault", "Svalbard"]),
        ('"a seed" b"', ["a seed", "b"]),
        ("retrieval-augmented GPT-4 C++ AT&T", ["retrieval-augmented", "GPT-4", "C++", "AT&T"]),
        (
            "ti:(seed) [tiab] * ? ~2 ^3 \\ /x/ {a TO b}",
            ["ti", "seed", "tiab", "2", "3", "x", "TO", "b"],
        ),
        ("what is it", ["what", "is", "it"]),
        ("スヴァールバル", ["スヴァールバル"]),
    ],
)
def test_a_query_is_taken_for_its_words_and_never_for_syntax(
    query: str, expected: list[str]
) -> None:
    assert terms(query) == expected


@given(st.text(min_size=1).filter(lambda text: any(c.isalnum() for c in text)))
def test_no_part_of_a_query_can_leave_its_quotation_marks(query: str) -> None:
    for term in terms(query):
        spelled = quoted(term)
        assert spelled == term or (spelled[0] == spelled[-1] == '"' and '"' not in spelled[1:-1])
        assert not set(spelled) & set("\\*?~^()[]{}:!|<>/")


async def test_arxiv_is_asked_for_all_words_of_a_short_query_by_relevance() -> None:
    _, asked = await found(Arxiv(), feed(), query="What is retrieval-augmented generation?")

    assert asked[0].path == "/api/query"
    assert asked[0].params == {
        "search_query": 'all:"retrieval-augmented" AND all:generation',
        "start": "0",
        "max_results": "6",
        "sortBy": "relevance",
        "sortOrder": "descending",
    }


async def test_arxiv_is_asked_for_any_word_of_a_long_query() -> None:
    _, asked = await found(Arxiv(), feed(), query="one two three four five six")

    assert asked[0].params["search_query"].count(" OR ") == 5


async def test_openalex_is_asked_without_what_it_refuses() -> None:
    _, asked = await found(OpenAlex(), alexes(), query="Are seeds* stored | kept? !no", key="k3y")

    assert asked[0].path == "/works"
    assert asked[0].params["search"] == "seeds stored kept"
    assert asked[0].params["per_page"] == "6"
    assert asked[0].params["page"] == "1"
    assert asked[0].params["api_key"] == "k3y"


async def test_openalex_is_asked_without_a_key_when_there_is_none() -> None:
    _, asked = await found(OpenAlex(), alexes())

    assert "api_key" not in asked[0].params


async def test_crossref_is_asked_politely_when_there_is_somebody_to_write_to() -> None:
    provider = Crossref(mailto="me@example.org")
    _, asked = await found(provider, work_list(), query="Seeds: a study?", limit=2, cursor="4")

    assert asked[0].path == "/works"
    assert asked[0].params["query.bibliographic"] == "Seeds: a study?"
    assert asked[0].params["rows"] == "2"
    assert asked[0].params["offset"] == "4"
    assert asked[0].params["mailto"] == "me@example.org"


async def test_semantic_scholar_is_asked_without_hyphens_and_its_key_is_a_header() -> None:
    _, asked = await found(SemanticScholar(), papers(), query="re-use of seed-banks", key="k3y")

    assert asked[0].path == "/graph/v1/paper/search"
    assert asked[0].params["query"] == "re use of seed banks"
    assert asked[0].headers["x-api-key"] == "k3y"
    assert "k3y" not in str(asked[0].params)


async def test_pubmed_is_asked_for_ids_and_then_for_their_records() -> None:
    answer = in_two(ids("11", "12"), records(article("11"), article("12")))
    page, asked = await found(
        PubMed(email="us@example.org"), answer, query='Does "heart attack" [tiab] kill?', key="k3y"
    )

    assert [each.path for each in asked] == [
        "/entrez/eutils/esearch.fcgi",
        "/entrez/eutils/efetch.fcgi",
    ]
    assert asked[0].params["term"] == '"heart attack" tiab kill'
    assert asked[0].params["sort"] == "relevance"
    assert asked[1].params["id"] == "11,12"
    for each in asked:
        assert each.params["db"] == "pubmed"
        assert each.params["tool"] == "assay"
        assert each.params["email"] == "us@example.org"
        assert each.params["api_key"] == "k3y"
    assert len(page.hits) == 2


async def test_pubmed_is_asked_once_when_nothing_was_found() -> None:
    page, asked = await found(PubMed(), PUBMED.empty)

    assert page.hits == ()
    assert len(asked) == 1


async def test_both_requests_to_pubmed_keep_its_pace() -> None:
    waited: list[str] = []

    class Noting(Pace):
        async def wait(self, name: str, interval_s: float) -> None:
            waited.append(f"{name} {interval_s}")

    with serving(PUBMED.first) as loopback:
        http = Diverted(client_for(loopback.origin), loopback.origin)
        await WebSearch(PubMed(), http, pace=Noting()).search("seed vault")
        await http.aclose()

    assert waited == ["pubmed 0.35"] * 2


def test_only_pubmed_answers_in_two_steps() -> None:
    assert [isinstance(case.provider, TwoStep) for case in CASES] == [False] * 4 + [True]


@pytest.mark.parametrize("kind", [Arxiv, OpenAlex, Crossref, SemanticScholar, PubMed])
def test_a_provider_asks_where_it_is_told_to(kind: Callable[..., Provider]) -> None:
    provider = kind(url="http://127.0.0.1:9/mirror/")

    request = provider.request("seed", cursor=None, limit=1, key="")

    assert request.url.startswith("http://127.0.0.1:9/mirror/")
    assert "//" not in request.url[7:]
    assert provider.terms.url == "http://127.0.0.1:9/mirror/"


# Paging


def offset_of(name: str, params: dict[str, str]) -> tuple[int, int]:
    """Return from which result on, and how many, a request asks for."""
    match name:
        case "arxiv":
            return int(params["start"]), int(params["max_results"])
        case "openalex":
            size = int(params["per_page"])
            return (int(params["page"]) - 1) * size, size
        case "crossref":
            return int(params["offset"]), int(params["rows"])
        case "semanticscholar":
            return int(params["offset"]), int(params["limit"])
        case _:
            return int(params["retstart"]), int(params["retmax"])


def answer_of(name: str, numbers: list[int], start: int, size: int, total: int) -> bytes:
    match name:
        case "arxiv":
            entries = [entry(f"2401.{number:05}v1") for number in numbers]
            return feed(*entries, total=total, start=start).body
        case "openalex":
            works = [alex(number) for number in numbers]
            return alexes(*works, count=total, page=start // size + 1, size=size).body
        case "crossref":
            return work_list(*map(item, numbers), total=total, start=start).body
        case "semanticscholar":
            return papers(*map(paper, numbers), total=total, offset=start).body
        case _:
            return ids(*map(str, numbers), count=total, start=start).body


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@given(st.data())
def test_the_cursors_lead_through_all_results_once_whatever_the_limits(
    case: ProviderCase, data: st.DataObject
) -> None:
    provider, name = case.provider, case.name
    total = data.draw(st.integers(0, 30))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        limit = data.draw(st.integers(1, 9))
        request = provider.request("seed", cursor=cursor, limit=limit, key="")
        start, size = offset_of(name, dict(request.params))
        numbers = list(range(total + 1))[1:][start : start + size]
        body = answer_of(name, numbers, start, size, total)
        page = provider.parse(body, {}, limit=limit)
        seen += (
            json.loads(body)["esearchresult"]["idlist"]
            if name == "pubmed"
            else [hit.locator for hit in page.hits]
        )
        cursor = page.next_cursor
        if cursor is None:
            break

    assert len(seen) == len(set(seen)) == total


@pytest.mark.parametrize(
    ("provider", "answer"),
    [
        (OpenAlex(), alexes(alex(1), count=10**6, page=10_000, size=1)),
        (Crossref(), work_list(item(1), total=10**6, start=9_999)),
        (SemanticScholar(), papers(paper(1), total=10**6, offset=999)),
        (PubMed(), in_two(ids("11", count=10**6, start=9_998), records(article("11")))),
        (Arxiv(), feed(entry("2401.00001v1"), total=10**6, start=29_999)),
    ],
    ids=["openalex", "crossref", "semanticscholar", "pubmed", "arxiv"],
)
async def test_there_is_no_cursor_beyond_what_the_service_gives(
    provider: Provider, answer: Canned
) -> None:
    page, _ = await found(provider, answer)

    assert len(page.hits) == 1
    assert page.next_cursor is None


# What is made of it


async def test_an_arxiv_hit_opens_the_version_found_and_is_named_without_it() -> None:
    doi = "<arxiv:doi>10.1000/ABC</arxiv:doi><arxiv:comment>15 pages</arxiv:comment>"
    hit = await one(Arxiv(), feed(entry("1706.03762v7", "A\n  title", "An\n  abstract.", doi)))

    assert hit.locator == "https://arxiv.org/pdf/1706.03762v7"
    assert {"arxiv:1706.03762", "doi:10.1000/abc"} <= set(hit.ids)
    assert (hit.title, hit.snippet, hit.notice) == ("A title", "An abstract.", "")


@pytest.mark.parametrize(
    ("comment", "summary", "notice"),
    [
        (
            "This paper has been withdrawn by the author due to an error in Lemma 2",
            "x",
            "retracted",
        ),
        ("Withdrawn because of a mistake", "x", "retracted"),
        ("5 pages", "This submission has been withdrawn by arXiv administrators.", "retracted"),
        ("Replaces a withdrawn version", "We study withdrawn samples.", ""),
        ("The previous paper was longer", "Withdrawal is studied.", ""),
    ],
)
async def test_a_withdrawn_preprint_is_no_evidence(comment: str, summary: str, notice: str) -> None:
    more = f"<arxiv:comment>{comment}</arxiv:comment>"
    hit = await one(Arxiv(), feed(entry("1706.03762v8", summary=summary, more=more)))

    assert hit.notice == notice


async def test_an_arxiv_error_is_told_in_its_words() -> None:
    with pytest.raises(Refused, match="incorrect id format"):
        Arxiv().parse(CASES[0].failures["an error entry with 200"].body, {}, limit=6)


async def test_openalex_prefers_an_open_archive_and_names_all_places() -> None:
    places = [
        location("https://publisher.example.org/1", "https://publisher.example.org/1.pdf"),
        location("http://arxiv.org/abs/1706.03762", "https://arxiv.org/pdf/1706.03762", is_oa=True),
        location("https://repo.example.edu/1", None, is_oa=True),
    ]
    work = alex(1, best_oa_location=places[2], locations=places, primary_location=places[0])
    hit = await one(OpenAlex(), alexes(work))

    assert hit.locator == "https://arxiv.org/pdf/1706.03762"
    assert {
        "arxiv:1706.03762",
        "doi:10.1000/seed.1",
        "url:https://publisher.example.org/1",
        "url:https://repo.example.edu/1",
    } <= set(hit.ids)


async def test_openalex_never_opens_a_pdf_that_is_not_open() -> None:
    closed = location("https://publisher.example.org/1", "https://publisher.example.org/1.pdf")
    hit = await one(OpenAlex(), alexes(alex(1, primary_location=closed, locations=[closed])))

    assert hit.locator == "https://publisher.example.org/1"


async def test_openalex_knows_pubmed_ids_and_opens_pubmed_central() -> None:
    known = {
        "pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894",
        "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/5815332",
    }
    hit = await one(OpenAlex(), alexes(alex(1, ids=known)))

    assert {"pmid:29456894", "pmcid:PMC5815332"} <= set(hit.ids)
    assert hit.locator == "https://pmc.ncbi.nlm.nih.gov/articles/PMC5815332/"


@pytest.mark.parametrize(
    ("more", "notice"),
    [
        ({"is_retracted": True}, "retracted"),
        ({"is_retracted": True, "title": "Retraction: Seeds"}, "retraction-notice"),
        ({"type": "retraction"}, "retraction-notice"),
        ({"title": "RETRACTED: Seeds"}, "retracted"),
        ({"is_retracted": None}, ""),
    ],
)
async def test_openalex_tells_retractions(more: dict[str, object], notice: str) -> None:
    assert (await one(OpenAlex(), alexes(alex(1, **more)))).notice == notice


async def test_a_work_without_title_abstract_or_doi_is_still_found() -> None:
    bare = alex(1, title=None, doi=None, abstract_inverted_index=None, ids=None)
    hit = await one(OpenAlex(), alexes(bare))

    assert (hit.title, hit.snippet) == (None, "")


async def test_an_inverted_abstract_is_read_in_its_order_and_not_to_its_end() -> None:
    index = {f"w{place}": [place] for place in reversed(range(5_000))}
    hit = await one(OpenAlex(), alexes(alex(1, abstract_inverted_index=index)))

    assert hit.snippet.startswith("w0 w1 w2 ")
    assert len(hit.snippet) <= 300


async def test_crossref_markup_is_gone_however_often_it_was_escaped() -> None:
    title = ["&lt;i&gt;In vitro&lt;/i&gt; study of H<sub>2</sub>O at p &amp;lt; 0.05"]
    hit = await one(Crossref(), work_list(item(1, title=title)))

    assert hit.title == "In vitro study of H2O at p < 0.05"
    assert hit.snippet == "Seeds are stored & kept."


@pytest.mark.parametrize(
    ("more", "notice"),
    [
        ({"updated-by": [{"DOI": "10.1000/n", "type": "retraction"}]}, "retracted"),
        ({"updated-by": [{"DOI": "10.1000/n", "type": "correction"}]}, ""),
        ({"update-to": [{"DOI": "10.1000/o", "type": "retraction"}]}, "retraction-notice"),
        (
            {"update-to": [{"DOI": "10.1000/o", "type": "expression_of_concern"}]},
            "retraction-notice",
        ),
        ({"update-to": [{"DOI": "10.1000/o", "type": "erratum"}]}, ""),
        ({"update-to": [{"DOI": "10.1000/SEED.1", "type": "retraction"}]}, "retracted"),
        ({"title": ["Retracted: Seeds"]}, "retracted"),
        (
            {
                "title": ["Retracted: Seeds"],
                "update-to": [{"DOI": "10.1000/o", "type": "retraction"}],
            },
            "retraction-notice",
        ),
    ],
)
async def test_crossref_tells_retractions(more: dict[str, object], notice: str) -> None:
    assert (await one(Crossref(), work_list(item(1, **more)))).notice == notice


async def test_crossref_links_are_opened_only_where_they_are_open() -> None:
    gated = link("https://api.elsevier.com/content/article/1")
    closed = item(1, link=[link("https://p.example.org/1.pdf")])
    open_ = item(2, license=CC_BY, link=[gated, link("https://p.example.org/2", "text/html")])
    page, _ = await found(Crossref(), work_list(closed, open_))

    assert [hit.locator for hit in page.hits] == [
        "https://doi.org/10.1000/seed.1",
        "https://p.example.org/2",
    ]


async def test_crossref_joins_a_preprint_with_what_became_of_it() -> None:
    relation = {
        "is-preprint-of": [{"id-type": "doi", "id": "10.1000/final", "asserted-by": "subject"}],
        "is-supplement-to": [{"id-type": "doi", "id": "10.1000/other", "asserted-by": "subject"}],
    }
    hit = await one(Crossref(), work_list(item(1, relation=relation)))

    assert {"doi:10.1000/seed.1", "doi:10.1000/final"} <= set(hit.ids)
    assert "doi:10.1000/other" not in hit.ids


@pytest.mark.parametrize(
    ("more", "locator"),
    [
        ({}, "https://doi.org/10.1000/seed.1"),
        ({"openAccessPdf": {"url": "https://r.example.edu/1.pdf"}}, "https://r.example.edu/1.pdf"),
        ({"externalIds": {"ArXiv": "1706.03762"}}, "https://arxiv.org/pdf/1706.03762"),
        (
            {"externalIds": {"PubMedCentral": "77"}},
            "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/",
        ),
        (
            {
                "externalIds": {"ArXiv": "1706.03762", "DOI": "10.1000/seed.1"},
                "openAccessPdf": {"url": "http://doi.org/10.1000/seed.1"},
            },
            "https://arxiv.org/pdf/1706.03762",
        ),
        ({"externalIds": {}}, f"https://www.semanticscholar.org/paper/{1:040x}"),
    ],
)
async def test_semantic_scholar_hits_open_where_anybody_can_read(
    more: dict[str, object], locator: str
) -> None:
    assert (await one(SemanticScholar(), papers(paper(1, **more)))).locator == locator


async def test_a_summary_stands_in_for_an_abstract_that_is_withheld() -> None:
    hit = await one(SemanticScholar(), papers(paper(1, abstract=None)))

    assert hit.snippet == "Seeds keep."


async def test_a_pubmed_hit_has_the_names_of_its_record_and_not_of_its_references() -> None:
    names = '<ArticleId IdType="doi">10.1000/S.1</ArticleId>'
    hit = await one(PubMed(), in_two(ids("11"), records(article("11", "<i>A</i> title.", names))))

    assert hit.title == "A title."
    assert hit.snippet == "Seeds keep well. H2O spoils them."
    assert {name for name in hit.ids if not name.startswith("url:")} == {
        "doi:10.1000/s.1",
        "pmid:11",
    }


@pytest.mark.parametrize(
    ("types", "more", "notice"),
    [
        ("<PublicationType>Retracted Publication</PublicationType>", "", "retracted"),
        ("<PublicationType>Retraction of Publication</PublicationType>", "", "retraction-notice"),
        ("<PublicationType>Expression of Concern</PublicationType>", "", "retraction-notice"),
        ("", "RetractionIn", "retracted"),
        ("", "RetractionOf", "retraction-notice"),
        ("", "ErratumIn", ""),
        ("", "ExpressionOfConcernIn", ""),
    ],
)
async def test_pubmed_tells_retractions(types: str, more: str, notice: str) -> None:
    corrections = (
        f'<CommentsCorrectionsList><CommentsCorrections RefType="{more}"><RefSource>x</RefSource>'
        "</CommentsCorrections></CommentsCorrectionsList>"
        if more
        else ""
    )
    record = article("11", types=types, more=corrections)

    assert (await one(PubMed(), in_two(ids("11"), records(record)))).notice == notice


async def test_a_book_in_pubmed_is_found_too() -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID>20301295</PMID>"
        '<ArticleIdList><ArticleId IdType="bookaccession">NBK1116</ArticleId></ArticleIdList>'
        "<ArticleTitle>Seeds</ArticleTitle><Abstract><AbstractText>Kept.</AbstractText></Abstract>"
        "<PublicationType>Review</PublicationType></BookDocument></PubmedBookArticle>"
    )
    hit = await one(PubMed(), in_two(ids("20301295"), records(book)))

    assert hit.locator == "https://pubmed.ncbi.nlm.nih.gov/20301295/"
    assert (hit.title, hit.snippet) == ("Seeds", "Kept.")


async def test_one_paper_that_five_services_find_is_one_hit() -> None:
    doi = {"externalIds": {"DOI": "10.1000/Seed.1", "ArXiv": "1706.03762", "PubMed": "11"}}
    names = '<ArticleId IdType="doi">10.1000/seed.1</ArticleId>'
    asked: list[tuple[Provider, Canned]] = [
        (Arxiv(), feed(entry("1706.03762v7"))),
        (OpenAlex(), alexes(alex(1, is_retracted=True))),
        (Crossref(), work_list(item(1))),
        (SemanticScholar(), papers(paper(1, **doi))),
        (PubMed(), in_two(ids("11"), records(article("11", names=names)))),
    ]
    pages = [(await found(provider, answer))[0] for provider, answer in asked]

    (hit,) = merge_hits(pages)
    assert hit.locator == "https://arxiv.org/pdf/1706.03762v7"
    assert {"arxiv:1706.03762", "doi:10.1000/seed.1", "pmid:11"} <= set(hit.ids)
    assert hit.notice == "retracted"


# What is not trusted


def test_nothing_that_xml_refers_to_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    for subset in (
        f'[<!ENTITY x SYSTEM "{secret.as_uri()}">]',
        f'[<!ENTITY % x SYSTEM "{secret.as_uri()}"> %x;]',
        '[<!ENTITY x "y">]',
    ):
        with pytest.raises(Malformed, match="entities"):
            xml_root(f"<!DOCTYPE a {subset}><a/>".encode())

    root = xml_root(f'<!DOCTYPE a SYSTEM "{secret.as_uri()}"><a>b</a>'.encode())
    assert root.text == "b"


def test_entities_that_grow_are_refused_at_once() -> None:
    layers = "".join(f'<!ENTITY l{layer} "{f"&l{layer - 1};" * 10}">' for layer in range(1, 12))
    bomb = f'<!DOCTYPE a [<!ENTITY l0 "lol">{layers}]><a b="&l11;">&l11;</a>'
    before = time.monotonic()

    with pytest.raises(Malformed):
        xml_root(bomb.encode())

    assert time.monotonic() - before < 8


@pytest.mark.parametrize(
    "body",
    [b"", b"<", b"\xff\xfe\xfa", b"<a>" * 300_000, b"<a>" + b"x" * 8_000_000, b'<a b="\x00"/>'],
    ids=["empty", "a bracket", "no text", "deep", "large", "a zero"],
)
def test_spoilt_xml_is_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        xml_root(body)


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("10.1000/x"),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)

SPOILT: dict[str, tuple[Provider, Callable[..., dict[str, object]], Callable[..., Canned]]] = {
    "openalex": (OpenAlex(), alex, alexes),
    "crossref": (Crossref(), item, work_list),
    "semanticscholar": (SemanticScholar(), paper, papers),
}


@pytest.mark.parametrize("name", SPOILT)
@given(st.data())
def test_a_spoilt_result_is_left_out_with_a_warning_and_the_others_stay(
    name: str, data: st.DataObject
) -> None:
    provider, result, answer = SPOILT[name]
    fields = [*result(1), "link", "license", "relation", "update-to", "updated-by"]
    spoilt = data.draw(st.dictionaries(st.sampled_from(fields), odd, min_size=1))
    first = data.draw(st.just({**result(1), **spoilt}) | odd)

    page = provider.parse(
        answer(first, result(2), total=2).body
        if name != "openalex"
        else answer(first, result(2)).body,
        {},
        limit=6,
    )

    assert "doi:10.1000/seed.2" in page.hits[-1].ids
    assert len(page.hits) + len(page.warnings) == 2


@given(st.data())
def test_any_json_is_a_page_or_malformed_or_refused(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES[1:]))
    answer = json.loads(case.first.body)
    holder = data.draw(
        st.sampled_from([answer, *[v for v in answer.values() if isinstance(v, dict)]])
    )
    holder[data.draw(st.sampled_from([*holder, "error", "message"]))] = data.draw(odd)

    try:
        page = case.provider.parse(json.dumps(answer).encode(), {}, limit=6)
    except (Malformed, Refused):
        return
    assert len(page.hits) <= 6


@given(st.binary(max_size=200) | st.text(alphabet="<>/ab&;!x\"'=", max_size=60).map(str.encode))
def test_any_bytes_are_a_page_or_malformed_or_refused(body: bytes) -> None:
    for case in CASES:
        try:
            assert case.provider.parse(body, {}, limit=6).hits == ()
        except (Malformed, Refused):
            continue


async def test_a_hostile_title_does_not_come_back_as_markup() -> None:
    hit = await one(
        OpenAlex(), alexes(alex(1, title="<script>alert(1)</script>A \u202e\ud800title\x00"))
    )

    assert hit.title == "A title"


async def test_addresses_that_cannot_be_opened_are_not_hits() -> None:
    page, _ = await found(
        SemanticScholar(),
        papers(
            paper(
                1, externalIds=None, openAccessPdf={"url": "javascript:alert(1)"}, url="ftp://x/y"
            ),
            paper(2),
        ),
    )

    assert [hit.locator for hit in page.hits] == ["https://doi.org/10.1000/seed.2"]
    assert "no address" in page.warnings[0]


async def test_the_cost_and_the_key_of_openalex_are_known_before_it_is_asked() -> None:
    terms_of = OPENALEX.provider.terms

    assert terms_of.cost_micro_usd == 1_000
    assert (terms_of.key, terms_of.needs_key) == ("OPENALEX_API_KEY", False)
    page, _ = await found(OpenAlex(), as_json(json.loads(OPENALEX.first.body)))
    assert page.cost_micro_usd == 1_000
