"""Which addresses and names are one work, and which only look alike."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.search.identity import (
    canonical_url,
    identities,
    merge_hits,
    notice_of_title,
    openness,
)
from adapters.search.port import Hit, SearchPage

# Addresses

SAME_PAGE = [
    ("HTTPS://Example.ORG/A", "https://example.org/A"),
    ("http://example.org/a", "https://example.org/a"),
    ("https://example.org:443/a", "https://example.org/a"),
    ("http://example.org:80/a", "https://example.org/a"),
    ("https://example.org./a", "https://example.org/a"),
    ("https://www.example.org/a/", "https://example.org/a"),
    ("https://example.org", "https://example.org/"),
    ("https://example.org/a#part", "https://example.org/a"),
    ("https://example.org/a/./b/../c", "https://example.org/a/c"),
    ("https://example.org/%7Euser/%e4%bd%a0", "https://example.org/~user/你"),
    ("https://example.org/a b", "https://example.org/a%20b"),
    ("https://example.org/?b=2&a=1", "https://example.org/?a=1&b=2"),
    ("https://example.org/a?", "https://example.org/a"),
    ("https://example.org/a?utm_source=x&utm_medium=y&id=7", "https://example.org/a?id=7"),
    ("https://example.org/a?gclid=1&fbclid=2&mc_cid=3&ref=home", "https://example.org/a"),
    ("https://example.org/a;jsessionid=0A1B?id=7", "https://example.org/a?id=7"),
    ("https://m.example.org/a", "https://example.org/a"),
    ("https://amp.example.org/a", "https://example.org/a"),
    ("https://en.m.wikipedia.org/wiki/Seed", "https://en.wikipedia.org/wiki/Seed"),
    ("https://example.org/2026/seed-vault-opens/amp/", "https://example.org/2026/seed-vault-opens"),
    ("https://example.org/a?amp=1", "https://example.org/a"),
    ("https://www.google.com/amp/s/www.example.org/a", "https://example.org/a"),
    ("https://example-org.cdn.ampproject.org/c/s/example.org/a", "https://example.org/a"),
    ("https://bücher.example.org/a", "https://xn--bcher-kva.example.org/a"),
    ("https://me:pw@example.org/a", "https://example.org/a"),
]

OTHER_PAGE = [
    ("https://example.org/a?id=1", "https://example.org/a?id=2"),
    ("https://example.org/a?page=1", "https://example.org/a"),
    ("https://example.org/a?q=x&lang=de", "https://example.org/a?q=x&lang=en"),
    ("https://example.org/a?a=1&a=2", "https://example.org/a?a=2&a=1"),
    ("https://example.org/A", "https://example.org/a"),
    ("https://example.org/a%2Fb", "https://example.org/a/b"),
    ("https://example.org/a+b", "https://example.org/a%20b"),
    ("https://example.org:8080/a", "https://example.org/a"),
    ("http://127.0.0.1:8001/a", "http://127.0.0.1:8002/a"),
    ("https://en.wikipedia.org/wiki/Seed", "https://de.wikipedia.org/wiki/Seed"),
    ("https://example.org/guide/amp", "https://example.org/guide"),
    ("https://amp.dev/", "https://dev/"),
    ("https://github.com/o/r/contents/f?ref=v1", "https://github.com/o/r/contents/f?ref=v2"),
    ("https://docs.example.org/a", "https://example.org/a"),
    ("https://example.org/index.php?title=A", "https://example.org/index.php?title=B"),
    ("https://www.example.org/", "https://www.example.com/"),
]


@pytest.mark.parametrize(("one", "other"), SAME_PAGE)
def test_spellings_of_one_address_are_one(one: str, other: str) -> None:
    assert canonical_url(one) == canonical_url(other)


@pytest.mark.parametrize(("one", "other"), OTHER_PAGE)
def test_addresses_that_differ_in_what_they_ask_for_stay_apart(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no address",
        "mailto:a@example.org",
        "https://",
        "https://exa mple.org/",
        "https://[::1",
        "https://example.org:99999/",
        "/srv/papers/seed.pdf",
        "https://example.org/" + "a" * 5000,
    ],
)
def test_what_is_no_web_address_is_left_as_it_is(text: str) -> None:
    assert canonical_url(f" {text}\n") == text


addresses = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(
        "example.org www.m.www.Example.org amp.www.a.b 127.0.0.1:80 [::1]:443 bücher.de a.b:8080 "
        "google.com/amp/s/google.com/amp/example.org x.cdn.ampproject.org/c/s/a.org %61.org "
        "en.m.wikipedia.org www.-a.org www..a.org".split()
    ),
    st.text(alphabet="/.aB-%2e;=&?#äamp\ud800 +~:@", max_size=40),
    st.sampled_from(["", "?utm_x=1&b&a=%7e", "?a=1&&a=0", "/amp", "/a-b-c/amp/amp", "/..//./"]),
)


@given(addresses | st.text(max_size=60))
def test_a_canonical_url_is_its_own_canonical_url(url: str) -> None:
    once = canonical_url(url)

    assert canonical_url(once) == once


# Names

ATTENTION = [
    "https://arxiv.org/abs/1706.03762",
    "https://arxiv.org/abs/1706.03762v1",
    "http://arxiv.org/abs/1706.03762v7",
    "https://arxiv.org/pdf/1706.03762",
    "https://arxiv.org/pdf/1706.03762v5.pdf",
    "https://www.arxiv.org/pdf/1706.03762v7",
    "https://export.arxiv.org/abs/1706.03762",
    "https://arxiv.org/html/1706.03762v7",
    "https://ar5iv.labs.arxiv.org/html/1706.03762",
    "https://ar5iv.org/abs/1706.03762",
    "https://www.alphaxiv.org/abs/1706.03762v2",
    "https://www.alphaxiv.org/overview/1706.03762",
    "https://huggingface.co/papers/1706.03762",
    "https://scirate.com/arxiv/1706.03762",
    "https://doi.org/10.48550/arXiv.1706.03762",
    "https://dx.doi.org/10.48550/ARXIV.1706.03762",
    "https://arxiv.org/abs/1706.03762?utm_source=mail#comments",
]

SAME_WORK = [
    ("https://arxiv.org/abs/math.GT/0309136v2", "https://arxiv.org/pdf/math/0309136"),
    ("https://arxiv.org/abs/hep-th/9901001", "https://doi.org/10.48550/arXiv.hep-th/9901001"),
    ("https://doi.org/10.1038/NATURE12373", "http://dx.doi.org/10.1038/nature12373."),
    ("https://www.nature.com/articles/nature12373", "https://doi.org/10.1038/nature12373"),
    ("https://www.nature.com/articles/nature12373.pdf", "https://doi.org/10.1038/nature12373"),
    ("https://onlinelibrary.wiley.com/doi/full/10.1002/a.1", "https://doi.org/10.1002/a.1"),
    ("https://onlinelibrary.wiley.com/doi/epdf/10.1002/a.1", "https://doi.org/10.1002/a.1"),
    ("https://www.science.org/doi/10.1126/science.aaa1", "https://doi.org/10.1126/science.aaa1"),
    ("https://dl.acm.org/doi/pdf/10.1145/3292500.1", "https://doi.org/10.1145/3292500.1"),
    ("https://link.springer.com/article/10.1007/s00-1", "https://doi.org/10.1007/s00-1"),
    (
        "https://link.springer.com/content/pdf/10.1007%2Fs00-1.pdf",
        "https://link.springer.com/article/10.1007/s00-1",
    ),
    (
        "https://www.frontiersin.org/articles/10.3389/fpsyg.2020.1/full",
        "https://doi.org/10.3389/fpsyg.2020.1",
    ),
    (
        "https://iopscience.iop.org/article/10.1088/1742-6596/1/2/3/pdf",
        "https://doi.org/10.1088/1742-6596/1/2/3",
    ),
    (
        "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000001",
        "https://journals.plos.org/plosone/article/file?id=10.1371/journal.pone.0000001&type=printable",
    ),
    (
        "https://www.biorxiv.org/content/10.1101/2020.01.02.123456v2.full.pdf",
        "https://doi.org/10.1101/2020.01.02.123456",
    ),
    ("https://elifesciences.org/articles/12345", "https://doi.org/10.7554/eLife.12345"),
    ("https://pubmed.ncbi.nlm.nih.gov/012345/", "https://www.ncbi.nlm.nih.gov/pubmed/12345"),
    ("https://europepmc.org/article/MED/12345", "https://pubmed.ncbi.nlm.nih.gov/12345"),
    (
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC77/pdf/main.pdf",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/",
    ),
    ("https://europepmc.org/articles/PMC77", "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/"),
    (
        "https://www.semanticscholar.org/paper/Some-Title-Doe/" + "ab" * 20,
        "https://www.semanticscholar.org/paper/" + "ab" * 20,
    ),
]

NEAR_MISSES = [
    *OTHER_PAGE,
    ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/1706.03763"),
    ("https://arxiv.org/abs/1706.0376", "https://arxiv.org/abs/1706.03760"),
    ("https://arxiv.org/abs/hep-th/9901001", "https://arxiv.org/abs/hep-ph/9901001"),
    ("https://arxiv.org/abs/math/0309136", "https://arxiv.org/abs/math-ph/0309136"),
    ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/list/1706.03762"),
    ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/html/1706.03762v7/fig1.png"),
    ("https://arxiv.org/list/cs.CL/recent", "https://arxiv.org/list/cs.LG/recent"),
    ("https://doi.org/10.1000/182", "https://doi.org/10.1001/182"),
    ("https://doi.org/10.1000/182", "https://doi.org/10.1000/1820"),
    ("https://doi.org/10.1000.1/182", "https://doi.org/10.1000/182"),
    ("https://doi.org/10.1000/a/b", "https://doi.org/10.1000/a"),
    (
        "https://doi.org/10.1371/journal.pone.0000001",
        "https://doi.org/10.1371/journal.pone.0000001.s001",
    ),
    (
        "https://doi.org/10.1371/journal.pone.0000001",
        "https://doi.org/10.1371/journal.pone.0000001.g002",
    ),
    ("https://doi.org/10.7717/peerj.4375", "https://doi.org/10.7717/peerj.4375/supp-1"),
    ("https://doi.org/10.5281/zenodo.1234", "https://doi.org/10.5281/zenodo.12345"),
    (
        "https://doi.org/10.1016/S0140-6736(20)30183-5",
        "https://doi.org/10.1016/S0140-6736(20)30184",
    ),
    (
        "https://doi.org/10.1002/(SICI)1096-8644(199601)99:1%3C1::AID-AJPA1%3E3.0.CO;2-1",
        "https://doi.org/10.1002/(SICI)1096-8644(199601)99:1%3C15::AID-AJPA2%3E3.0.CO;2-1",
    ),
    (
        "https://onlinelibrary.wiley.com/doi/suppl/10.1002/a.1",
        "https://onlinelibrary.wiley.com/doi/10.1002/a.1",
    ),
    (
        "https://link.springer.com/article/10.1007/s00-1/figures/1",
        "https://link.springer.com/article/10.1007/s00-1",
    ),
    (
        "https://link.springer.com/chapter/10.1007/978-3-030-1_5",
        "https://link.springer.com/book/10.1007/978-3-030-1",
    ),
    (
        "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000001",
        "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000002",
    ),
    (
        "https://journals.plos.org/plosone/article/comments?id=10.1371/journal.pone.0000001",
        "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000001",
    ),
    (
        "https://www.biorxiv.org/content/10.1101/2020.01.02.123456v1.supplementary-material",
        "https://www.biorxiv.org/content/10.1101/2020.01.02.123456v1",
    ),
    (
        "https://www.biorxiv.org/content/10.1101/2020.01.02.123456v1",
        "https://www.biorxiv.org/content/10.1101/2020.01.02.123457v1",
    ),
    ("https://www.nature.com/articles/nature12373", "https://www.nature.com/articles/nature12374"),
    ("https://elifesciences.org/articles/12345", "https://elifesciences.org/articles/12346"),
    ("https://pubmed.ncbi.nlm.nih.gov/12345", "https://pubmed.ncbi.nlm.nih.gov/123456"),
    ("https://pubmed.ncbi.nlm.nih.gov/77", "https://pmc.ncbi.nlm.nih.gov/articles/PMC77/"),
    (
        "https://pubmed.ncbi.nlm.nih.gov/?term=seed+vault",
        "https://pubmed.ncbi.nlm.nih.gov/?term=seed+bank",
    ),
    ("https://openreview.net/forum?id=aa", "https://openreview.net/forum?id=ab"),
    (
        "https://www.sciencedirect.com/science/article/pii/S0140673620301835",
        "https://www.sciencedirect.com/science/article/pii/S0140673620301836",
    ),
    ("/srv/papers/a.pdf", "/srv/papers/b.pdf"),
    ("/srv/papers/a.pdf", "/srv/papers/A.pdf"),
    ("/srv/10.1000/182", "https://doi.org/10.1000/182"),
    ("/srv/1706.03762.pdf", "https://arxiv.org/pdf/1706.03762.pdf"),
]


def hit(
    locator: str, *ids: str, title: str | None = "T", snippet: str = "s", notice: str = ""
) -> Hit:
    return Hit(locator, title, snippet, 1.0, tuple(ids), notice)


def page(*hits: Hit) -> SearchPage:
    return SearchPage(hits)


@pytest.mark.parametrize("locator", ATTENTION)
def test_every_address_of_an_arxiv_paper_and_every_version_has_its_id(locator: str) -> None:
    assert "arxiv:1706.03762" in identities(locator)


@pytest.mark.parametrize(("one", "other"), SAME_WORK)
def test_two_addresses_of_one_work_share_a_name(one: str, other: str) -> None:
    assert identities(one) & identities(other)
    assert len(merge_hits([page(hit(one), hit(other))])) == 1


@pytest.mark.parametrize(("one", "other"), NEAR_MISSES)
def test_two_works_never_become_one(one: str, other: str) -> None:
    assert not identities(one) & identities(other)
    assert len(merge_hits([page(hit(one)), page(hit(other))])) == 2


def test_there_are_many_near_misses() -> None:
    assert len(NEAR_MISSES) >= 40


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("doi:10.1000/ABC", {"doi:10.1000/abc"}),
        ("DOI:https://doi.org/10.1000/abc", {"doi:10.1000/abc"}),
        ("doi:10.1000/abc).", {"doi:10.1000/abc"}),
        ("doi:10.1016/S0140-6736(20)30183-5", {"doi:10.1016/s0140-6736(20)30183-5"}),
        ("doi:10.48550/arXiv.1706.03762v3", {"arxiv:1706.03762"}),
        ("doi:10.26434/chemrxiv-2021-x1-v2", {"doi:10.26434/chemrxiv-2021-x1"}),
        ("doi:10.21203/rs.3.rs-123/v1", {"doi:10.21203/rs.3.rs-123"}),
        ("doi:10.20944/preprints202001.0001.v1", {"doi:10.20944/preprints202001.0001"}),
        ("doi:10.64898/2026.03.05.709906v2", {"doi:10.64898/2026.03.05.709906"}),
        ("arxiv:1706.03762v1", {"arxiv:1706.03762"}),
        ("arXiv:arXiv:1706.03762", {"arxiv:1706.03762"}),
        ("arxiv:Math.GT/0309136v1", {"arxiv:math/0309136"}),
        ("pmid:0012345", {"pmid:12345"}),
        ("pmcid:PMC0077", {"pmcid:PMC77"}),
        ("url:http://www.example.org/a/", {"url:https://example.org/a"}),
    ],
)
def test_a_name_has_one_spelling(name: str, expected: set[str]) -> None:
    assert identities("/a", [name]) - {"/a"} == expected


@pytest.mark.parametrize(
    "name",
    "doi: doi:10.1/x doi:10.1000/ doi:10.1000/. doi:abc arxiv:1713.03762 arxiv:foo/0309136 "
    "arxiv:../1706.03762 pmid:12a pmid:٣ pmid:0 pmcid: x url:/etc/passwd url:".split(),
)
def test_a_name_that_has_not_its_form_names_nothing(name: str) -> None:
    assert identities("/a", [name]) == {"/a"}


def test_a_path_is_its_own_name() -> None:
    assert identities("/srv/a b#c?.pdf") == {"/srv/a b#c?.pdf"}


@given(
    st.integers(7, 30),
    st.integers(1, 12),
    st.integers(1, 99_999),
    st.lists(st.sampled_from(["", "v1", "v2", "v17"]), min_size=2, max_size=2),
    st.lists(
        st.sampled_from(
            "https://arxiv.org/abs/{} http://export.arxiv.org/pdf/{}.pdf arxiv:{} "
            "https://doi.org/10.48550/arXiv.{} doi:10.48550/ARXIV.{}".split()
        ),
        min_size=2,
        max_size=2,
    ),
)
def test_versions_of_an_arxiv_paper_are_one_whatever_the_address(
    year: int, month: int, number: int, versions: list[str], forms: list[str]
) -> None:
    arxiv = f"{year:02}{month:02}.{number:05}"
    one, other = (
        identities("/x", [form.format(arxiv + version)])
        if not form.startswith("http")
        else identities(form.format(arxiv + version))
        for form, version in zip(forms, versions, strict=True)
    )

    assert f"arxiv:{arxiv}" in one & other


@given(st.text(max_size=80), st.lists(st.text(max_size=40) | st.from_regex(r"(doi|arxiv|url):.*")))
def test_any_text_can_be_asked_for_its_names_and_they_name_themselves(
    locator: str, ids: list[str]
) -> None:
    names = identities(locator, ids)

    assert identities(locator, sorted(names)) == names


# Merging


def test_a_paper_found_through_arxiv_semantic_scholar_a_mirror_and_its_pdf_is_one() -> None:
    arxiv = hit("https://arxiv.org/pdf/1706.03762v7", "arxiv:1706.03762", title=None, snippet="")
    scholar = hit(
        "https://doi.org/10.5555/3295222.3295349",
        "doi:10.5555/3295222.3295349",
        "arxiv:1706.03762",
        title="Attention Is All You Need",
        snippet="The dominant sequence transduction models",
    )
    mirror = hit(
        "https://papers.example.edu/attention.pdf", "doi:10.5555/3295222.3295349", title=None
    )
    pdf = hit("http://papers.example.edu/attention.pdf?utm_source=x", title=None, snippet="")
    other = hit("https://example.org/other")

    merged = merge_hits([page(arxiv, other), page(scholar), page(mirror), page(pdf)])

    assert [one.locator for one in merged] == [
        "https://arxiv.org/pdf/1706.03762v7",
        "https://example.org/other",
    ]
    assert merged[0].title == "Attention Is All You Need"
    assert {"arxiv:1706.03762", "doi:10.5555/3295222.3295349"} <= set(merged[0].ids)


def test_the_best_hit_keeps_its_place_and_the_most_open_one_gives_the_address() -> None:
    record = hit("https://doi.org/10.1000/a", "doi:10.1000/a", title="Best", snippet="first")
    whole = hit("https://repo.example.edu/a.pdf", "doi:10.1000/a", title="Worse", snippet="later")
    second, third = hit("https://example.org/2"), hit("https://example.org/3")

    merged = merge_hits([page(record, second, third), page(third, second, whole)])

    assert [one.locator for one in merged] == [
        "https://repo.example.edu/a.pdf",
        "https://example.org/3",
        "https://example.org/2",
    ]
    assert (merged[0].title, merged[0].snippet) == ("Best", "first")


def test_an_address_that_may_be_opened_comes_before_a_better_one() -> None:
    page_of = page(
        hit("https://arxiv.org/pdf/1706.03762", "doi:10.1000/a"),
        hit("https://journal.example.org/a", "doi:10.1000/a"),
    )

    merged = merge_hits([page_of], prefer=lambda locator: "example.org" in locator)

    assert [one.locator for one in merged] == ["https://journal.example.org/a"]


@pytest.mark.parametrize(
    ("notices", "expected"),
    [
        (("", ""), ""),
        (("", "retracted"), "retracted"),
        (("retraction-notice", ""), "retraction-notice"),
        (("retraction-notice", "retracted"), "retracted"),
    ],
)
def test_a_work_that_anybody_calls_retracted_is(notices: tuple[str, str], expected: str) -> None:
    one, other = (hit("https://example.org/a", notice=notice) for notice in notices)

    assert [found.notice for found in merge_hits([page(one), page(other)])] == [expected]


def test_the_papers_of_one_volume_do_not_become_one_work() -> None:
    volume = "https://example.org/proceedings.pdf"
    first = hit(volume, "doi:10.1000/1")
    second = hit("https://example.org/2", "doi:10.1000/2", f"url:{volume}")
    bare = hit(volume)

    merged = merge_hits([page(first), page(second), page(bare)])

    assert [one.locator for one in merged] == [volume, "https://example.org/2"]
    assert all(not {"doi:10.1000/1", "doi:10.1000/2"} <= set(one.ids) for one in merged)


def test_nothing_merges_to_nothing() -> None:
    assert merge_hits([]) == merge_hits([page(), page()]) == ()


WORKS = ["arxiv:1706.03762", "arxiv:1706.03763", "doi:10.1000/a", "doi:10.1000/b", "pmid:7"]
LOCATORS = [
    "https://arxiv.org/abs/1706.03762v1",
    "https://arxiv.org/pdf/1706.03763",
    "https://doi.org/10.1000/a",
    "https://example.org/a.pdf",
    "https://example.org/b",
    "http://www.example.org/b/",
    "/srv/a.pdf",
]
hits = st.builds(
    Hit,
    locator=st.sampled_from(LOCATORS),
    title=st.sampled_from([None, "A", "B"]),
    snippet=st.sampled_from(["", "x", "y"]),
    score=st.just(1.0),
    ids=st.lists(st.sampled_from([*WORKS, "url:https://example.org/b"]), max_size=2).map(tuple),
    notice=st.sampled_from(["", "", "retracted", "retraction-notice"]),
)
some_pages = st.lists(st.lists(hits, max_size=5).map(lambda found: page(*found)), max_size=4)


@given(some_pages, st.randoms(use_true_random=False))
def test_the_order_of_pages_changes_no_merged_hit(pages: list[SearchPage], random: Random) -> None:
    shuffled = list(pages)
    random.shuffle(shuffled)

    assert set(merge_hits(shuffled)) == set(merge_hits(pages))


@given(some_pages)
def test_no_locator_and_no_name_of_a_work_comes_twice(pages: list[SearchPage]) -> None:
    merged = merge_hits(pages)

    assert len({one.locator for one in merged}) == len(merged)
    for one, other in combinations(merged, 2):
        assert not work_names(one) & work_names(other)


@given(some_pages)
def test_whatever_was_found_is_at_or_among_the_names_of_a_merged_hit(
    pages: list[SearchPage],
) -> None:
    known = [identities(one.locator, one.ids) for one in merge_hits(pages)]

    for one in (found for each in pages for found in each.hits):
        assert any(identities(one.locator) & names for names in known)


@given(some_pages)
def test_a_retraction_is_never_lost(pages: list[SearchPage]) -> None:
    said = [work_names(one) for each in pages for one in each.hits if one.notice == "retracted"]

    for one in merge_hits(pages):
        if any(work_names(one) & names for names in said):
            assert one.notice == "retracted"


def work_names(one: Hit) -> frozenset[str]:
    kinds = ("doi:", "arxiv:", "pmid:", "pmcid:")
    return frozenset(n for n in identities(one.locator, one.ids) if n.startswith(kinds))


@pytest.mark.parametrize(
    "order",
    [
        "/srv/a.pdf https://arxiv.org/pdf/1706.03762 https://a.org/1.pdf https://a.org/1",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/ https://pubmed.ncbi.nlm.nih.gov/1",
        "https://arxiv.org/pdf/1706.03762 https://de.arxiv.org/pdf/1706.03762 https://a.org/1",
        "https://a.org/content/pdf/1 https://a.org/1 https://arxiv.org/abs/1706.03762",
        "https://a.org/x.PDF?download=1 https://a.org/pdf-tools https://doi.org/10.1000/a",
        "https://a.org/epdf https://a.org/x?file=a.pdf https://www.semanticscholar.org/paper/x",
    ],
)
def test_the_whole_text_comes_before_a_page_and_a_page_before_a_record(order: str) -> None:
    ranks = [openness(locator) for locator in order.split()]

    assert ranks == sorted(set(ranks))


# Notices

NOTICES = {
    "retracted": [
        "RETRACTED: Ileal-lymphoid-nodular hyperplasia",
        "Retracted: A study of seeds",
        "RETRACTED ARTICLE: Pluripotency of mesenchymal stem cells",
        "[Retracted] Effects of X on Y",
        "[RETRACTED ARTICLE] Effects of X on Y",
        "(Retracted) Effects of X on Y",
        "Retracted - Effects of X on Y",
        "Retracted Chapter: Deep Seeds",
        "WITHDRAWN: Interventions for seeds",
        "Withdrawn: Interventions for seeds",
        "REMOVED: Interventions for seeds",
        "Effects of X on Y (Retracted article. See vol. 5, pg. 3, 2012)",
        "Effects of X on Y [Retracted]",
        "“Retracted: Effects of X on Y”",
    ],
    "retraction-notice": [
        "Retraction notice to “Effects of X on Y” [J. Seeds 5 (2012) 3]",
        "Retraction Notice: Effects of X on Y",
        "Retraction Note: Effects of X on Y",
        "Retraction Note to: Effects of X on Y",
        "Retraction: Effects of X on Y",
        "Retraction",
        "Retraction of: Effects of X on Y",
        "Retraction of “Effects of X on Y”",
        "Retraction for Doe et al., Effects of X on Y",
        "Retraction and Replacement of: Effects of X on Y",
        "Statement of Retraction: Effects of X on Y",
        "Notice of Retraction: Effects of X on Y",
        "Notice of retraction and replacement: Effects of X on Y",
        "Expression of Concern: Effects of X on Y",
        "Editorial Expression of Concern: Effects of X on Y",
        "Expression of concern for “Effects of X on Y”",
        "Partial Retraction: Effects of X on Y",
        "Authors' Retraction: Effects of X on Y",
        "Withdrawal Notice: Effects of X on Y",
        "Removal notice to “Effects of X on Y”",
    ],
    "": [
        "Why has the number of scientific retractions increased?",
        "Retraction notices in biomedical journals: a study",
        "Retraction of maxillary canines with mini-implants",
        "Retraction policies of top scientific journals",
        "Retractions: what the data say",
        "Concern",
        "Expressions of concern and their uptake in the literature",
        "Expression of a concerned gene in mice",
        "Withdrawal of antidepressants: a review",
        "Withdrawn behaviour in adolescents",
        "Removed carbon: an assessment",
        "Tissue retraction forces in surgery",
        "Predictors of retracted articles",
        "A retracted paper is still cited (and how to stop it)",
        "The retracted femur: a case",
        "",
    ],
}


@pytest.mark.parametrize(
    ("title", "notice"),
    [(title, notice) for notice, titles in NOTICES.items() for title in titles],
)
def test_a_title_tells_a_retraction_from_a_work_about_retractions(title: str, notice: str) -> None:
    assert notice_of_title(title) == notice


def test_no_title_tells_nothing() -> None:
    assert notice_of_title(None) == ""
