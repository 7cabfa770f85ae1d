"""Which claims and subquestions of two reports belong together."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property

from state.values.claims import ClaimStatus
from state.values.evidence import Coverage
from state.values.report import Citation, Report, ReportClaim
from state.values.statements import (
    Statement,
    form,
    is_same_changed,
    is_same_reworded,
    likeness,
    take_apart,
)

_SAME_QUESTION = 0.6


class Side:
    """One report, with what is looked up in it. Subquestions go by their place in the plan.

    A claim that several sections make counts once: as the first makes it, with the quotes of all.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.claims = report.distinct_claims
        self.citations = {citation.number: citation for citation in report.citations}
        self.sources = {source.locator: source for source in report.sources}
        self.questions = [part.question for part in report.plan.subquestions]
        self._number = {part.id: n for n, part in enumerate(report.plan.subquestions)}
        self.rows = {self._number[row.subquestion_id]: row for row in report.rows}
        self.conflicts = [(self._number[c.subquestion_id], c) for c in report.conflicts]

    @cached_property
    def statements(self) -> list[Statement]:
        """Return the claims, taken apart."""
        return [take_apart(claim.text) for claim in self.claims]

    @cached_property
    def forms(self) -> dict[int, str]:
        """Return the normal form of each quote, by its number."""
        return {number: form(citation.quote) for number, citation in self.citations.items()}

    def cited(self, claim: ReportClaim) -> list[Citation]:
        """Return the quotes of a claim with where they stand."""
        return [self.citations[number] for number in claim.citations]

    def quotes(self, claim: ReportClaim) -> frozenset[str]:
        """Return the quotes of a claim in normal form, wherever they stand."""
        return frozenset(self.forms[number] for number in claim.citations)

    def answers(self, claim: ReportClaim) -> frozenset[int]:
        """Return the subquestions, by their place in the plan, that the claim's evidence is for."""
        evidence = {citation.evidence_id for citation in self.cited(claim)}
        of_rows = {n for n, row in self.rows.items() if evidence & set(row.evidence_ids)}
        cited = set(claim.citations)
        return frozenset(of_rows | {n for n, each in self.conflicts if cited & set(each.citations)})

    def dispute(self, claim: ReportClaim) -> str | None:
        """Return on what sources differ about the claim ('' when unsaid); None when they do not."""
        asked = self.answers(claim)
        said = [each.difference for n, each in self.conflicts if n in asked]
        in_conflict = any(
            self.rows[n].coverage is Coverage.CONFLICT for n in asked if n in self.rows
        )
        disputed = claim.status is ClaimStatus.DISPUTED or in_conflict
        return "; ".join(dict.fromkeys(said)) if disputed else None


def pair_questions(before: Side, after: Side) -> dict[int, int]:
    """Return which subquestion of `before` is which of `after`, by their places in the plans."""
    pairs = _pair_equal(
        [(n, form(question)) for n, question in enumerate(before.questions)],
        [(n, form(question)) for n, question in enumerate(after.questions)],
    )
    found = dict(pairs)
    known = set(found.values())
    apart = [[take_apart(text) for text in side.questions] for side in (before, after)]
    alike = [
        (likeness(one, two), i, j)
        for i, one in enumerate(apart[0])
        for j, two in enumerate(apart[1])
        if i not in found and j not in known
    ]
    return found | dict(_pair_best(each for each in alike if each[0] >= _SAME_QUESTION))


def pair_claims(
    before: Side, after: Side, questions: Mapping[int, int]
) -> list[tuple[int, int, bool]]:
    """Return the pairs of claims that are one claim, and whether it says the same still."""
    first, second = before.claims, after.claims
    said = [[form(claim.text) for claim in claims] for claims in (first, second)]
    left = set(range(len(first))), set(range(len(second)))
    same: list[tuple[int, int]] = []

    def settle(pairs: Sequence[tuple[int, int]]) -> None:
        same.extend(pairs)
        left[0].difference_update(i for i, _ in pairs)
        left[1].difference_update(j for _, j in pairs)

    settle(_pair_equal(list(enumerate(said[0])), list(enumerate(said[1]))))
    tried = [(i, j) for i in sorted(left[0]) for j in sorted(left[1])]
    alike = {(i, j): likeness(before.statements[i], after.statements[j]) for i, j in tried}
    settle(
        _pair_best(
            (alike[i, j], i, j)
            for i, j in tried
            if before.quotes(first[i]) == after.quotes(second[j])
            and is_same_reworded(before.statements[i], after.statements[j])
        )
    )
    # In the numbers of `after`; a subquestion that is not asked any more meets none.
    asked = [{questions.get(n, -1 - n) for n in before.answers(claim)} for claim in first]
    changed = _pair_best(
        (alike[i, j], i, j)
        for i, j in tried
        if i in left[0]
        and j in left[1]
        and asked[i] & after.answers(second[j])
        and is_same_changed(before.statements[i], after.statements[j])
    )
    return [*((i, j, True) for i, j in same), *((i, j, False) for i, j in changed)]


def _pair_equal(
    before: Iterable[tuple[int, Hashable]], after: Iterable[tuple[int, Hashable]]
) -> list[tuple[int, int]]:
    """Return the pairs of indices with equal keys; of several, the first goes with the first."""
    waiting: dict[Hashable, list[int]] = {}
    for index, key in before:
        waiting.setdefault(key, []).append(index)
    return [(waiting[key].pop(0), index) for index, key in after if waiting.get(key)]


def _pair_best(candidates: Iterable[tuple[float, int, int]]) -> list[tuple[int, int]]:
    """Return pairs out of `candidates` (score, before, after), the best first, none used twice.

    The order among equals is the same with before and after exchanged, and so are the pairs.
    """
    pairs: list[tuple[int, int]] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    for _, i, j in sorted(candidates, key=lambda c: (-c[0], c[1] + c[2], abs(c[1] - c[2]))):
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            pairs.append((i, j))
    return pairs
