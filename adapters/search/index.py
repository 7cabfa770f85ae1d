"""The full-text index of a folder: built once from its documents, then only read."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tantivy
from tantivy import Occur, Query

from adapters.search.ranking import tokens
from state.values.blocks import BlockKind, Document

INDEX_VERSION = "2"

_CANDIDATES = 200
_PASSAGES = 2_000
_HEAP_BYTES = 64 * 1024 * 1024
_MAX_TERMS = 64
_CONTEXT_BOOST = 0.5
_PHRASE_BOOST = 2.0
_PASSAGE_WEIGHT = 0.5
# Relevance feedback: the best passages lend the query words that several of them turn on.
_FEEDBACK_FROM = 3  # terms a query has at least: of fewer, every word is meant as it stands
_FEEDBACK_PASSAGES = 10
_FEEDBACK_TERMS = 25
_FEEDBACK_SHARE = 0.4
_FEEDBACK_K1 = 1.2
_QUOTED = re.compile(
    r'"([^"]{2,200})"|\u201c([^\u201d]{2,200})\u201d|\u00ab([^\u00bb]{2,200})\u00bb'
)


@dataclass(frozen=True, slots=True)
class Found:
    """A document by its number in the index; `block` is its best passage, if one stands out."""

    document: int
    block: int | None
    score: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """The terms of a query with how often each was asked for, and its quoted phrases."""

    terms: dict[str, int]
    phrases: tuple[tuple[str, ...], ...]


def understand(query: str) -> Wanted:
    """Return what natural-language text asks for. No character of it has a special meaning.

    Text in quotation marks is searched as usual too; finding it as a phrase counts extra.
    """
    terms = Counter(tokens(query))
    quoted = (next(filter(None, groups)) for groups in _QUOTED.findall(query))
    phrases = (tuple(tokens(text)) for text in quoted)
    return Wanted(
        terms=dict(terms.most_common(_MAX_TERMS)),
        phrases=tuple(phrase for phrase in phrases if len(phrase) > 1),
    )


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="whitespace")
    builder.add_text_field("context", tokenizer_name="whitespace")
    builder.add_integer_field("document", fast=True)
    builder.add_integer_field("block", fast=True)
    builder.add_bytes_field("told", stored=True)
    return builder.build()


def build_index(folder: Path, documents: Iterable[tuple[str, Document]]) -> None:
    """Write into `folder` (empty) the index of `documents`, each with the name people know it by.

    Documents are numbered from 0 in the order given. The same documents give the same scores.
    """
    whole = _Part(folder / "documents")
    parts = _Part(folder / "passages")
    for number, (name, document) in enumerate(documents):
        title = tokens(document.title or "")
        context = [*title, *tokens(name)]
        bodies: list[str] = []
        for position, block in enumerate(document.blocks):
            if not block.main:
                continue
            terms = tokens(document.text[block.start : block.end])
            bodies += terms
            if block.kind is not BlockKind.HEADING:
                heading = tokens(block.heading)
                parts.add(terms, [*context, *heading], number, position, terms)
        whole.add(bodies, context, number, 0)
    whole.finish()
    parts.finish()


class _Part:
    """One of the two indexes while it is written, by one thread in one commit: repeatable."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        index = tantivy.Index(_schema(), path=str(folder))
        index.register_tokenizer("whitespace", _by_spaces())
        self._writer = index.writer(heap_size=_HEAP_BYTES, num_threads=1)

    def add(
        self,
        body: list[str],
        context: list[str],
        document: int,
        block: int,
        told: Sequence[str] = (),
    ) -> None:
        self._writer.add_document(
            tantivy.Document(
                body=" ".join(body),
                context=" ".join(context),
                document=document,
                block=block,
                told=" ".join(told).encode(),
            )
        )

    def finish(self) -> None:
        self._writer.commit()
        self._writer.wait_merging_threads()


def _by_spaces() -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


class FolderIndex:
    """An index that `build_index` wrote, open for reading; `ValueError` when it is damaged."""

    def __init__(self, folder: Path) -> None:
        self._schema = _schema()
        self._documents = tantivy.Index.open(str(folder / "documents")).searcher()
        self._passages = tantivy.Index.open(str(folder / "passages")).searcher()

    def find(self, wanted: Wanted) -> list[Found]:
        """Return up to 200 documents that match, best first, ties by number.

        A document scores by all of its text, and by its best passage; words that the best
        passages have in common count a little too, in documents that match the query itself.
        """
        asked = self._query(wanted)
        if asked is None:
            return []
        query = self._with_feedback(asked, wanted)
        passages = self._best_passages(query)
        scores = {
            number: score for score, number, _ in self._hits(self._documents, query, _CANDIDATES)
        }
        found = [
            Found(
                document=number,
                block=passages[number][1] if number in passages else None,
                score=round(
                    score + _PASSAGE_WEIGHT * (passages[number][0] if number in passages else 0), 4
                ),
            )
            for number, score in scores.items()
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.document))

    def _best_passages(self, query: Query) -> dict[int, tuple[float, int]]:
        best: dict[int, tuple[float, int]] = {}
        for score, number, block in self._hits(self._passages, query, _PASSAGES):
            best.setdefault(number, (score, block))
        return best

    @staticmethod
    def _hits(searcher: tantivy.Searcher, query: Query, limit: int) -> list[tuple[float, int, int]]:
        """Return (score, document, block) of the best hits, best first, ties by place."""
        found = searcher.search(query, limit, count=False).hits
        addresses = [address for _, address in found]
        documents = searcher.fast_field_values("document", addresses)
        blocks = searcher.fast_field_values("block", addresses)
        hits = [
            (float(score), int(document or 0), int(block or 0))
            for (score, _), document, block in zip(found, documents, blocks, strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit[0], hit[1], hit[2]))

    def _with_feedback(self, asked: Query, wanted: Wanted) -> Query:
        """Return `asked` with the words that its best passages turn on, each counting little.

        What those words alone would find is not found: a document must match the query itself.
        """
        weights = self._feedback(asked) if len(wanted.terms) >= _FEEDBACK_FROM else {}
        if not weights:
            return asked
        scale = _FEEDBACK_SHARE / (1 - _FEEDBACK_SHARE) * sum(wanted.terms.values())
        clauses = [(Occur.Must, asked)]
        for term, weight in weights.items():
            query = Query.term_query(self._schema, "body", term, "freq")
            clauses.append((Occur.Should, Query.boost_query(query, scale * weight)))
        return Query.boolean_query(clauses)

    def _feedback(self, asked: Query) -> dict[str, float]:
        """Return the words that at least two of the best passages have, with their shares of 1.

        A passage counts by the cube of its score, so that one far ahead speaks for itself.
        """
        found = self._passages.search(asked, _FEEDBACK_PASSAGES, count=False).hits
        bodies = [(float(score), self._told(address)) for score, address in found]
        lengths = [body.total() for _, body in bodies]
        mean = max(1.0, sum(lengths) / max(1, len(lengths)))
        having = Counter(term for _, body in bodies for term in body)
        weights = dict.fromkeys((term for term, count in having.items() if count > 1), 0.0)
        for score, body in bodies:
            norm = _FEEDBACK_K1 * (0.25 + 0.75 * body.total() / mean)
            for term in weights.keys() & body.keys():
                weights[term] += score**3 * body[term] / (body[term] + norm)
        weights = {term: weight * self._rarity(term) for term, weight in weights.items()}
        kept = sorted(weights, key=lambda term: (-weights[term], term))[:_FEEDBACK_TERMS]
        total = sum(weights[term] for term in kept)
        return {term: weights[term] / total for term in kept} if total > 0 else {}

    def _told(self, address: tantivy.DocAddress) -> Counter[str]:
        kept = self._passages.doc(address).get_first("told")
        return Counter(bytes(kept or b"").decode().split())

    def _rarity(self, term: str) -> float:
        count, having = self._passages.num_docs, self._passages.doc_freq("body", term)
        return math.log(1 + (count - having + 0.5) / (having + 0.5))

    def _query(self, wanted: Wanted) -> Query | None:
        clauses: list[Query] = []
        for term, count in wanted.terms.items():
            body = Query.term_query(self._schema, "body", term, "freq")
            context = Query.term_query(self._schema, "context", term, "freq")
            clauses.append(Query.boost_query(body, float(count)))
            clauses.append(Query.boost_query(context, count * _CONTEXT_BOOST))
        for phrase in wanted.phrases:
            together = Query.phrase_query(self._schema, "body", list(phrase))
            clauses.append(Query.boost_query(together, _PHRASE_BOOST))
        if not clauses:
            return None
        return Query.boolean_query([(Occur.Should, clause) for clause in clauses])
