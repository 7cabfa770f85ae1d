"""Assess: offer a round's passages, and accept only selections that the archive really contains."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from prefect import task

from adapters.models.port import Answer, AssessInput, Assessment, Researcher, Selected
from adapters.search.ranking import rank_passages
from state.values.evidence import Conflict, Coverage, CoverageRow, Passage
from state.values.plan import MAX_QUERY, has_words
from state.values.redaction import redact
from tasks.policy import POLICY

POOL_CHARACTERS = 48_000
BLOCKS_PER_PAGE = 4
BEGINNING = 3
_LONGEST_BEGINNING = 1_500
_LINKS = re.compile(r"!?\[[^\]]*\]\([^)]*\)|\S+://\S+|^\s*(?:\.\. |:\w+:|\w+: ).*$", re.MULTILINE)
MIN_QUOTE, MAX_QUOTE = 4, 1800
MAX_MISSING = MAX_CONFLICTS = 5


def choose_passages(
    queries: Sequence[str],
    passages: Sequence[Passage],
    *,
    per_source: int = BLOCKS_PER_PAGE,
    max_characters: int = POOL_CHARACTERS,
) -> tuple[Passage, ...]:
    """Return the passages most worth assessing, in their given order.

    For each query the best `per_source` of every source, best first, while they fit into
    `max_characters`; queries take turns, so that none starves. Then, as far as there is room, what
    those lead into with a colon, and the beginning of every source that has one among them.
    """
    chosen: dict[int, None] = {}
    turns = _in_turns(queries, passages, per_source)
    _take(turns, passages, max_characters, chosen)
    _take(_led_into(turns, passages), passages, max_characters, chosen)
    _take(_beginnings(turns, passages), passages, max_characters, chosen)
    return tuple(passages[index] for index in sorted(chosen))


def _in_turns(queries: Sequence[str], passages: Sequence[Passage], per_source: int) -> list[int]:
    rankings = [_best_of_each_source(query, passages, per_source) for query in queries]
    return [index for turn in zip_longest(*rankings) for index in turn if index is not None]


def _take(
    indexes: Sequence[int], passages: Sequence[Passage], limit: int, chosen: dict[int, None]
) -> None:
    """Add to `chosen` those of `indexes` that fit, while all together stay within `limit`."""
    left = limit - sum(len(passages[index].text) for index in chosen)
    for index in indexes:
        size = len(passages[index].text)
        if index not in chosen and size <= left:
            chosen[index] = None
            left -= size


def _led_into(chosen: Sequence[int], passages: Sequence[Passage]) -> list[int]:
    """Return what the chosen passages announce with a colon, such as the code of an instruction."""
    places = {(p.source_id, p.paragraph): index for index, p in enumerate(passages)}
    found = []
    for index in chosen:
        passage = passages[index]
        after = places.get((passage.source_id, passage.paragraph + 1))
        if after is not None and passage.text.rstrip().endswith((":", "\uff1a")):
            found.append(after)
    return found


def _beginnings(chosen: Sequence[int], passages: Sequence[Passage]) -> list[int]:
    """Return the first paragraphs of the sources of `chosen`, where a source says what it is."""
    sources = dict.fromkeys(passages[index].source_id for index in chosen)
    first: dict[str, list[int]] = {source: [] for source in sources}
    for index in sorted(range(len(passages)), key=lambda index: passages[index].start):
        passage = passages[index]
        known = first.get(passage.source_id)
        if known is not None and len(known) < BEGINNING and _is_prose(passage.text):
            known.append(index)
    return [index for found in first.values() for index in found]


def _is_prose(text: str) -> bool:
    if len(text) > _LONGEST_BEGINNING:
        return False
    plain = _LINKS.sub("", text)
    return len(plain.split()) >= 4 and sum(map(str.isalpha, plain)) > 0.5 * len(text)


def _best_of_each_source(query: str, passages: Sequence[Passage], per_source: int) -> list[int]:
    scores = rank_passages(query, passages)
    headings = {(passage.source_id, passage.heading) for passage in passages}
    order = sorted(range(len(passages)), key=lambda index: (-scores[index], index))
    taken: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    best = []
    for index in order:
        source = passages[index].source_id
        said = source, passages[index].text.strip("# ")
        if said in headings or said in seen:
            continue  # a heading is given with each passage that stands under it
        seen.add(said)
        if scores[index] > 0 and taken.get(source, 0) < per_source:
            taken[source] = taken.get(source, 0) + 1
            best.append(index)
    return best


async def assess_round(
    given: AssessInput, researcher: Researcher, texts: Mapping[str, str]
) -> Answer[Assessment]:
    """Return the assessment as far as it holds; `texts` maps source ids to archived texts."""
    answer = await researcher.assess(given)
    return replace(answer, value=accept(answer.value, given, texts))


def accept(assessment: Assessment, given: AssessInput, texts: Mapping[str, str]) -> Assessment:
    """Return what is left of `assessment` when everything it cannot prove is taken out.

    A selection must be held already or lie in an offered passage, and be the exact slice of its
    archived text; where it stands is taken from there. A row may only rest on selections of its own
    subquestion; a covered row needs evidence (with cross_check: of two origins), a conflict two
    sources. Free text is redacted, and a selection that cuts a secret in two, which nobody could
    recognise afterwards, is dropped. Whoever assessed, these hold afterwards.
    """
    known = {subquestion.id for subquestion in given.plan.subquestions}
    placed = [
        _placed(choice, given)
        for choice in assessment.selected
        if choice.subquestion_id in known and _holds(choice, texts)
    ]
    by_id = {choice.id: choice for choice in placed if choice}
    by_id = {choice.id: choice for choice in _within_limit(tuple(by_id.values()), given)}
    conflicts = _real_conflicts(assessment.conflicts, by_id)
    rows = {row.subquestion_id: row for row in assessment.rows}
    return Assessment(
        selected=tuple(by_id.values()),
        rows=tuple(
            _row(subquestion.id, rows.get(subquestion.id), by_id, conflicts, given)
            for subquestion in given.plan.subquestions
        ),
        missing=tuple(redact(text)[:1000] for text in assessment.missing if text.strip())[
            :MAX_MISSING
        ],
        conflicts=conflicts,
    )


def _holds(choice: Selected, texts: Mapping[str, str]) -> bool:
    text = texts.get(choice.source_id, "")
    return (
        MIN_QUOTE <= len(choice.text) <= MAX_QUOTE
        and 0 <= choice.start < choice.end
        and text[choice.start : choice.end] == choice.text
    )


def _placed(choice: Selected, given: AssessInput) -> Selected | None:
    """Return `choice` with the place that its source gives it; None when it was never offered."""
    for held in given.held:
        if held.id == choice.id:
            return held
    for passage in given.passages:
        if (
            passage.source_id == choice.source_id
            and passage.start <= choice.start
            and choice.end <= passage.end
            and redact(choice.text) in redact(passage.text)
        ):
            return replace(
                choice,
                locator=passage.locator,
                title=passage.title,
                paragraph=passage.paragraph,
                page=passage.page,
                heading=passage.heading,
                modified_at=passage.modified_at,
            )
    return None


def _within_limit(selected: tuple[Selected, ...], given: AssessInput) -> tuple[Selected, ...]:
    if not given.per_subquestion:
        return selected[: given.max_evidence]
    taken: dict[str, int] = {}
    kept = []
    for choice in selected:
        taken[choice.subquestion_id] = taken.get(choice.subquestion_id, 0) + 1
        if taken[choice.subquestion_id] <= given.max_evidence:
            kept.append(choice)
    return tuple(kept)


def _real_conflicts(
    conflicts: Sequence[Conflict], by_id: Mapping[str, Selected]
) -> tuple[Conflict, ...]:
    real = []
    for conflict in conflicts:
        ids = tuple(dict.fromkeys(id_ for id_ in conflict.evidence_ids if id_ in by_id))
        sources = {by_id[id_].source_id for id_ in ids}
        same = all(by_id[id_].subquestion_id == conflict.subquestion_id for id_ in ids)
        if len(sources) > 1 and same and conflict.difference.strip():
            real.append(
                replace(conflict, evidence_ids=ids, difference=redact(conflict.difference)[:2000])
            )
    return tuple(real[:MAX_CONFLICTS])


def _row(
    subquestion_id: str,
    row: CoverageRow | None,
    by_id: Mapping[str, Selected],
    conflicts: Sequence[Conflict],
    given: AssessInput,
) -> CoverageRow:
    disputed = [
        id_
        for conflict in conflicts
        if conflict.subquestion_id == subquestion_id
        for id_ in conflict.evidence_ids
    ]
    ids = tuple(
        id_
        for id_ in dict.fromkeys([*(row.evidence_ids if row else ()), *disputed])
        if id_ in by_id and by_id[id_].subquestion_id == subquestion_id
    )
    said = row.coverage if row else Coverage.GAP
    gap = redact(row.gap.strip()) if row else "this subquestion was not assessed"
    if disputed:
        said, gap = Coverage.CONFLICT, ""
    elif said is Coverage.CONFLICT:
        said, gap = Coverage.GAP, gap or "a conflict was named but not shown by two sources"
    elif said is Coverage.COVERED and not ids:
        said, gap = Coverage.GAP, "no quote was found"
    elif (
        said is Coverage.COVERED and given.cross_check and len({by_id[i].locator for i in ids}) < 2
    ):
        said, gap = Coverage.GAP, "only one source states this, and two were asked for"
    query = " ".join((row.next_query if row else "").split())[:MAX_QUERY].rstrip()
    if query in given.used_queries or said is Coverage.COVERED or not has_words(query):
        query = ""
    reason = (gap or "nothing was found")[:2000] if said is Coverage.GAP else ""
    return CoverageRow(subquestion_id, said, ids, reason, query)


@task(name="assess", task_run_name="assess round {given.round}", **POLICY)
async def assess(
    given: AssessInput, *, researcher: Researcher, texts: Mapping[str, str]
) -> Answer[Assessment]:
    """Choose evidence and say how far the subquestions are answered."""
    return await assess_round(given, researcher, texts)
