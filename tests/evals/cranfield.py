"""Retrieval on Cranfield, through the search over local folders as a run uses it."""

import asyncio
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from adapters.documents.direct import DirectConverter
from adapters.search.fusing import WORDS, Ranking, best_ranking, open_ranking
from adapters.search.local import LocalFolder
from tests.evals.bm25 import Bm25
from tests.evals.data import BadData, text_of
from tests.evals.measuring import Row
from tests.evals.scores import average_precision, ndcg, recall

_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents (id: title, text), queries in order, and for each the gains of its documents."""

    documents: Mapping[str, tuple[str, str]]
    queries: Sequence[str]
    gains: Sequence[Mapping[str, float]]


def measure(folder: Path) -> Iterable[Row]:
    """Yield nDCG@10, MAP and recall@100 beside BM25; with a model of meaning beside without it."""
    collection = load(folder / "cranfield")
    ours = asyncio.run(_searched(collection))
    index = Bm25([f"{title} {text}" for title, text in collection.documents.values()])
    keys = list(collection.documents)
    theirs = [[keys[at] for at in index.rank(query)[:_DEPTH]] for query in collection.queries]
    for name, score in _MEASURES.items():
        yield Row(
            "cranfield",
            name,
            fmean(score(r, g) for r, g in zip(ours, collection.gains, strict=True)),
            len(collection.queries),
            fmean(score(r, g) for r, g in zip(theirs, collection.gains, strict=True)),
            "BM25 over title and text",
        )
    if (best := best_ranking()) == WORDS:
        return
    fused = asyncio.run(_searched(collection, open_ranking(best)))
    for name, score in _MEASURES.items():
        yield Row(
            "cranfield",
            f"{name}, by meaning too",
            fmean(score(r, g) for r, g in zip(fused, collection.gains, strict=True)),
            len(collection.queries),
            fmean(score(r, g) for r, g in zip(ours, collection.gains, strict=True)),
            "the same search by words alone",
        )


_MEASURES: dict[str, Callable[[Sequence[str], Mapping[str, float]], float]] = {
    "nDCG@10": lambda ranked, gains: ndcg(ranked, gains, 10),
    "MAP": lambda ranked, gains: average_precision(ranked, gains.keys()),
    "recall@100": lambda ranked, gains: recall(ranked, gains.keys(), _DEPTH),
}


async def _searched(collection: Collection, ranking: Ranking | None = None) -> list[list[str]]:
    with tempfile.TemporaryDirectory(prefix="assay-eval-") as place:
        root = Path(place) / "documents"
        root.mkdir()
        for key, (title, text) in collection.documents.items():
            (root / f"{key}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
        search = LocalFolder(
            [root],
            cache=Path(place) / "cache",
            converter=DirectConverter(),
            rescan_s=3600,
            ranking=ranking,
        )
        found = []
        for query in collection.queries:
            page = await search.search(query, limit=_DEPTH)
            found.append([Path(hit.locator).stem for hit in page.hits])
        return found


def load(folder: Path) -> Collection:
    """Return the collection in `folder`: cran.all.1400, cran.qry and cranqrel.

    Grades run from 1 (best) to 4; a document's gain is 5 less its grade, and grades below 1 count
    as not relevant.
    """
    documents: dict[str, tuple[str, str]] = {}
    for key, fields in _entries(text_of(folder, "cran.all.1400"), folder / "cran.all.1400"):
        title, text = (" ".join(fields.get(name, "").split()) for name in "TW")
        documents[key] = title, text.removeprefix(title).strip()
    queries = [
        " ".join(fields.get("W", "").split())
        for _, fields in _entries(text_of(folder, "cran.qry"), folder / "cran.qry")
    ]
    gains: list[dict[str, float]] = [{} for _ in queries]
    for number, line in enumerate(text_of(folder, "cranqrel").splitlines(), 1):
        parts = line.split()
        try:
            query, document, grade = int(parts[0]), parts[1], int(parts[2])
            gains[query - 1].update({document: 5.0 - grade} if grade > 0 else {})
        except (IndexError, ValueError) as error:
            raise BadData(
                f"{folder / 'cranqrel'}, line {number} is not `query document grade`: {line!r}"
            ) from error
    return Collection(documents, queries, gains)


def _entries(text: str, path: Path) -> Iterable[tuple[str, dict[str, str]]]:
    entries = re.split(r"^\.I +(\d+) *$", text, flags=re.MULTILINE)
    if len(entries) < 3:
        raise BadData(f"{path} has no entry that begins with `.I NUMBER`")
    for key, body in zip(entries[1::2], entries[2::2], strict=True):
        fields = re.split(r"^\.([A-Z]) *$", body, flags=re.MULTILINE)
        yield key, dict(zip(fields[1::2], fields[2::2], strict=True))
