"""The article of a page is its main blocks: measured on pages whose main text people marked."""

import gzip
import json
from pathlib import Path

import pytest

from adapters.documents.html import read_html
from tests.adapters.documents.shingles import Score, mean, score


@pytest.fixture(scope="module")
def scores(shared_data: Path) -> list[Score]:
    """Return the scores of all pages, each read once."""
    folder = shared_data / "data" / "article_extraction"
    truth = folder / "ground-truth.json"
    if not truth.is_file():
        pytest.skip(f"the pages with marked articles are not there ({truth})")
    found = []
    for name, marked in json.loads(truth.read_text(encoding="utf-8")).items():
        page = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        found.append(score(marked["articleBody"], read_html(page).document.main_text))
    return found


def test_main_blocks_are_the_article(scores: list[Score]) -> None:
    average = mean(scores)

    assert len(scores) == 102
    assert average.f1 >= 0.96
    assert average.precision >= 0.94
    assert average.recall >= 0.98


def test_no_article_is_missed_as_a_whole(scores: list[Score]) -> None:
    assert min(each.recall for each in scores) > 0.7
    assert sum(each.f1 > 0.9 for each in scores) >= 80
