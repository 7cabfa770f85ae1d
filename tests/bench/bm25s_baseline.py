"""The baseline of `searching`, for a Python that has bm25s: arguments PASSAGES QUERIES TIMES.

The first two are files of JSON, lists of texts. Writes seconds as JSON: the index, at best of
TIMES, and every query.
"""

import json
import sys
import time
from pathlib import Path

import bm25s  # type: ignore[import-not-found]  # no dependency: another Python runs this
import Stemmer  # type: ignore[import-not-found]  # likewise

HITS = 10


def main() -> None:
    """Index the passages, then ask the queries one after another."""
    passages, queries = (json.loads(Path(path).read_text()) for path in sys.argv[1:3])
    stemmer = Stemmer.Stemmer("english")
    built, seconds = [], []
    for _ in range(int(sys.argv[3])):
        began = time.perf_counter()
        index = bm25s.BM25()
        index.index(tokens(passages, stemmer), show_progress=False)
        built.append(time.perf_counter() - began)
    for query in queries:
        began = time.perf_counter()
        index.retrieve(tokens([query], stemmer), k=HITS, show_progress=False)
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"version": bm25s.__version__, "index": min(built), "queries": seconds}))


def tokens(texts: list[str], stemmer: object) -> object:
    """Return the terms of `texts` as Assay has them: without stop words, stemmed."""
    return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)


if __name__ == "__main__":
    main()
