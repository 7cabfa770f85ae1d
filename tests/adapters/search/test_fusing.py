"""What every ranking promises, and what a model of meaning adds where it is installed."""

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.direct import DirectConverter
from adapters.search import meaning
from adapters.search.fusing import (
    LOOKED_AT,
    WORDS,
    ByWords,
    Fused,
    Ranking,
    best_ranking,
    open_ranking,
)
from adapters.search.local import LocalFolder
from state.values.errors import InvalidRequest

TEXTS = ("The vault is cold.", "Bananas are yellow.", "", "Ein Gewölbe, \x00 私たち", "x" * 9000)
_NO_NETWORK = """
import sys
def refuse(event, given):
    if event.startswith("socket."):
        raise SystemExit(f"{event} {given}")
sys.addaudithook(refuse)
from adapters.search.meaning import open_model
print(open_model().similarities("a cold place", ["The vault is freezing.", "Bananas."]))
"""


class SharedLetters:
    """Takes texts for alike that have many letters in common."""

    name = "shared-letters"

    def similarities(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the share of the query's letters that each text has."""
        wanted = Counter(query)
        return [(wanted & Counter(text)).total() / max(1, wanted.total()) for text in texts]


def real() -> Fused:
    if not meaning.is_installed():
        pytest.skip(f"the extra `embeddings` is not installed ({meaning.INSTALL})")
    return Fused(meaning.open_model())


class Length:
    """Takes long texts for near to everything."""

    name = "length"

    def similarities(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how long each text is."""
        return [float(len(text)) for text in texts]


def fake() -> Fused:
    return Fused(SharedLetters())


@pytest.fixture(params=[ByWords, fake, real])
def ranking(request: pytest.FixtureRequest) -> Ranking:
    made: Ranking = request.param()
    return made


def test_each_text_has_one_place_the_same_every_time(ranking: Ranking) -> None:
    order = ranking.order("Is the vault cold?", TEXTS)

    assert sorted(order) == list(range(len(TEXTS)))
    assert ranking.order("Is the vault cold?", TEXTS) == order


def test_nothing_found_has_no_order(ranking: Ranking) -> None:
    assert ranking.order("Is the vault cold?", []) == []


def test_texts_that_are_the_same_stay_as_the_words_have_them(ranking: Ranking) -> None:
    assert ranking.order("anything", ["the same"] * 5) == [0, 1, 2, 3, 4]


def test_a_ranking_is_opened_by_the_name_it_has(ranking: Ranking) -> None:
    if ranking.name != SharedLetters.name:
        assert open_ranking(ranking.name).name == ranking.name


@given(st.lists(st.text("abcdef", min_size=1, max_size=6), min_size=1, max_size=40))
def test_what_both_have_first_is_first(texts: list[str]) -> None:
    query = "abcdef" * 6

    assert Fused(SharedLetters()).order(query, [query, *texts])[0] == 0


def test_what_is_near_in_meaning_goes_up() -> None:
    texts = ["zzz", "zza", "zzb", "abc"]

    assert Fused(SharedLetters()).order("abc", texts) == [1, 0, 3, 2]


def test_without_the_extra_words_alone_rank_and_no_run_changes_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(meaning, "_PACKAGE", "a_package_that_is_not_there")
    meaning.open_model.cache_clear()

    assert best_ranking() == WORDS
    with pytest.raises(InvalidRequest, match=r"goes on with nothing else.*embeddings"):
        open_ranking(meaning.MODEL)
    with pytest.raises(InvalidRequest, match="no ranking 'another'"):
        open_ranking("another")


def test_a_model_that_is_another_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a_runtime", "a_model"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('imported')")
    (tmp_path / "a_model" / "model.onnx").write_bytes(b"not the one that was measured")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(meaning, "_RUNTIME", ("a_runtime",))
    monkeypatch.setattr(meaning, "_PACKAGE", "a_model")
    meaning.open_model.cache_clear()

    assert meaning.is_installed()
    with pytest.raises(InvalidRequest, match="is not the model that Assay knows"):
        meaning.open_model()


@pytest.mark.anyio
async def test_a_folder_is_searched_by_words_and_meaning_page_by_page(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    for number in range(LOOKED_AT + 10):
        text = f"# {number}\n\nThe vault {'is far away ' * number}.\n"
        (root / f"{number:02}.md").write_text(text)
    words, both = (
        LocalFolder([root], cache=tmp_path / "cache", converter=DirectConverter(), ranking=ranking)
        for ranking in (ByWords(), Fused(Length()))
    )

    plain = await words.search("vault", limit=100)
    whole = await both.search("vault", limit=100)
    first = await both.search("vault", limit=8)
    second = await both.search("vault", limit=100, cursor=first.next_cursor)

    assert (*first.hits, *second.hits) == whole.hits
    assert {hit.locator for hit in whole.hits} == {hit.locator for hit in plain.hits}
    assert whole.hits != plain.hits
    assert whole.hits[LOOKED_AT:] == plain.hits[LOOKED_AT:]


def test_the_model_knows_what_words_do_not_tell() -> None:
    real()
    model = meaning.open_model()
    texts = ["Bananas are yellow.", "How to repair an automobile.", "The vault is cold."]

    near = model.similarities("mending cars", texts)

    assert near.index(max(near)) == 1
    # Each figure is of its text alone, whatever is asked with it.
    assert [model.similarities("mending cars", [text])[0] for text in reversed(texts)] == near[::-1]


def test_the_model_opens_no_connection() -> None:
    real()
    done = subprocess.run(
        [sys.executable, "-c", _NO_NETWORK],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
