"""What changed between two reports: claims, coverage and sources, each with both sides' quotes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from state.values.claims import AnswerStatus, ClaimStatus, Verdict
from state.values.evidence import Coverage
from state.values.pairing import Side, pair_claims, pair_questions
from state.values.report import Report, ReportClaim, SourceEntry
from state.values.statements import difference, form


@dataclass(frozen=True, slots=True)
class ShownQuote:
    """A quote that a claim cites, and where it stands; `display` is how people know the source."""

    number: int
    quote: str
    display: str
    locator: str
    page: int | None


@dataclass(frozen=True, slots=True)
class Told:
    """A claim as one report makes it."""

    text: str
    section: str
    verdict: Verdict
    status: ClaimStatus
    quotes: tuple[ShownQuote, ...]


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """One claim on both sides; `before` is None for a new one, `after` for one no longer made.

    `detail` says to people what is different, or why, as far as the reports tell; else ''.
    """

    before: Told | None
    after: Told | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CoverageChange:
    """A subquestion whose coverage moved; None on the side that did not ask it."""

    question: str
    before: Coverage | None
    after: Coverage | None
    gap: str


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A source that is new, gone, or has other bytes; `cited` on the side that has it, or either.

    `detail` says why a source is gone, as far as the later report tells; else ''.
    """

    locator: str
    display: str
    before_hash: str
    after_hash: str
    cited: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different in `after`. Empty lists say that nothing of the kind is.

    A claim that several sections make counts once. Every claim of the later report is in one of
    `new`, `changed` and `unchanged`, every claim of the earlier one in one of `withdrawn`,
    `changed` and `unchanged`. `contradicted`, `resolved` and `rejudged` single out, of those on
    both sides, the claims that became or ceased to be disputed, and those whose verdict or standing
    is otherwise another.
    """

    answer_before: AnswerStatus
    answer_after: AnswerStatus
    coverage_before: float
    coverage_after: float
    new: tuple[ClaimChange, ...]
    withdrawn: tuple[ClaimChange, ...]
    changed: tuple[ClaimChange, ...]
    contradicted: tuple[ClaimChange, ...]
    resolved: tuple[ClaimChange, ...]
    rejudged: tuple[ClaimChange, ...]
    unchanged: tuple[ClaimChange, ...]
    newly_covered: tuple[CoverageChange, ...]
    newly_open: tuple[CoverageChange, ...]
    newly_in_conflict: tuple[CoverageChange, ...]
    no_longer_asked: tuple[CoverageChange, ...]
    new_sources: tuple[SourceChange, ...]
    gone_sources: tuple[SourceChange, ...]
    changed_sources: tuple[SourceChange, ...]

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing changed: no claim, no coverage, no source, not the answer."""
        return not (
            self.touches_claims
            or self.answer_before is not self.answer_after
            or any((self.newly_covered, self.newly_open, self.newly_in_conflict))
            or any((self.no_longer_asked, self.new_sources, self.gone_sources))
            or self.changed_sources
        )

    @property
    def touches_claims(self) -> bool:
        """Tell whether any claim is new, gone, different, or judged differently."""
        made = (self.new, self.withdrawn, self.changed)
        return any((*made, self.contradicted, self.resolved, self.rejudged))


def compare(before: Report, after: Report) -> Changes:
    """Return what is different in `after`. Pure, and without a model.

    One claim is in both reports when its text has the same normal form; or it rests on the same
    quotes and says the same in other words; or it is a *changed* one: it answers the same
    subquestion and shares most of its words (`statements.is_same_changed`). The best matches are
    taken first. A quote that moved in its document, or a source that was read anew with the same
    bytes, is no change; where a subquestion was reworded, it is known by its words.
    """
    sides = Side(before), Side(after)
    sources = _compare_sources(*sides)

    pairs = pair_claims(*sides, pair_questions(*sides))
    same: list[ClaimChange] = []
    other: list[ClaimChange] = []
    found = _Standing()
    for i, j, is_same in sorted(pairs, key=lambda pair: pair[1]):
        one, two = sides[0].claims[i], sides[1].claims[j]
        detail = "" if is_same else difference(one.text, two.text)
        (same if is_same else other).append(_pair(sides, one, two, detail))
        found.judge(sides, one, two)
    paired = {i for i, _, _ in pairs}, {j for _, j, _ in pairs}
    rows = _compare_coverage(*sides)
    return Changes(
        answer_before=before.answer_status,
        answer_after=after.answer_status,
        coverage_before=before.coverage,
        coverage_after=after.coverage,
        new=tuple(
            ClaimChange(None, _told(sides[1], claim), _why_new(sides, claim))
            for j, claim in enumerate(sides[1].claims)
            if j not in paired[1]
        ),
        withdrawn=tuple(
            ClaimChange(_told(sides[0], claim), None, _why_withdrawn(sides, claim))
            for i, claim in enumerate(sides[0].claims)
            if i not in paired[0]
        ),
        changed=tuple(other),
        contradicted=tuple(found.contradicted),
        resolved=tuple(found.resolved),
        rejudged=tuple(found.rejudged),
        unchanged=tuple(same),
        newly_covered=_moved(rows, lambda row: row.after is Coverage.COVERED),
        newly_open=_moved(rows, lambda row: row.after is Coverage.GAP),
        newly_in_conflict=_moved(rows, lambda row: row.after is Coverage.CONFLICT),
        no_longer_asked=_moved(rows, lambda row: row.after is None),
        **sources,
    )


_Sides = tuple[Side, Side]


def _pair(sides: _Sides, one: ReportClaim, two: ReportClaim, detail: str) -> ClaimChange:
    return ClaimChange(_told(sides[0], one), _told(sides[1], two), detail)


def _told(side: Side, claim: ReportClaim) -> Told:
    quotes = tuple(
        ShownQuote(each.number, each.quote, each.display, each.locator, each.page)
        for each in side.cited(claim)
    )
    return Told(claim.text, claim.section, claim.verdict, claim.status, quotes)


class _Standing:
    """Sorts out the claims of both reports that stand otherwise in the later one."""

    def __init__(self) -> None:
        self.contradicted: list[ClaimChange] = []
        self.resolved: list[ClaimChange] = []
        self.rejudged: list[ClaimChange] = []

    def judge(self, sides: _Sides, one: ReportClaim, two: ReportClaim) -> None:
        was, is_now = sides[0].dispute(one), sides[1].dispute(two)
        if was is None and is_now is not None:
            self.contradicted.append(_pair(sides, one, two, is_now))
        elif was is not None and is_now is None:
            self.resolved.append(_pair(sides, one, two, was))
        elif (one.verdict, one.status) != (two.verdict, two.status):
            told = [f"{claim.verdict}, {claim.status}" for claim in (one, two)]
            self.rejudged.append(_pair(sides, one, two, " → ".join(told)))


# ---- coverage and sources


def _compare_coverage(before: Side, after: Side) -> list[CoverageChange]:
    pairs = {j: i for i, j in pair_questions(before, after).items()}
    rows = []
    for j, question in enumerate(after.questions):
        now = after.rows.get(j)
        was = before.rows.get(pairs[j]) if j in pairs else None
        if now is not None:
            rows.append(
                CoverageChange(question, was.coverage if was else None, now.coverage, now.gap)
            )
    return rows + [
        CoverageChange(question, before.rows[i].coverage, None, "")
        for i, question in enumerate(before.questions)
        if i not in pairs.values() and i in before.rows
    ]


def _moved(
    rows: Sequence[CoverageChange], where: Callable[[CoverageChange], bool]
) -> tuple[CoverageChange, ...]:
    return tuple(row for row in rows if row.before is not row.after and where(row))


def _compare_sources(before: Side, after: Side) -> dict[str, tuple[SourceChange, ...]]:
    was, now = before.sources, after.sources
    return {
        "new_sources": tuple(
            SourceChange(locator, source.display, "", source.content_hash, source.cited)
            for locator, source in now.items()
            if locator not in was
        ),
        "gone_sources": tuple(
            SourceChange(
                *(locator, source.display, source.content_hash, "", source.cited),
                detail=_why_gone(after.report, source),
            )
            for locator, source in was.items()
            if locator not in now
        ),
        "changed_sources": tuple(
            SourceChange(
                *(locator, source.display, was[locator].content_hash, source.content_hash),
                cited=source.cited or was[locator].cited,
            )
            for locator, source in now.items()
            if locator in was and was[locator].content_hash != source.content_hash
        ),
    }


def _why_gone(report: Report, source: SourceEntry) -> str:
    for failure in report.failures:
        if failure.target in (source.locator, source.display):
            return f"{failure.code}: {failure.reason}"
    for each in report.omitted:
        if each.target == source.locator:
            return f"found, not read: {each.reason}"
    return "not found"


# ---- why a claim came or went


def _why_new(sides: _Sides, claim: ReportClaim) -> str:
    cited = {citation.locator for citation in sides[1].cited(claim)}
    if cited and not cited & sides[0].sources.keys():
        return "its source is new" if len(cited) == 1 else "its sources are new"
    return _with_other_bytes(sides, cited)


def _why_withdrawn(sides: _Sides, claim: ReportClaim) -> str:
    said = form(claim.text)
    for dropped in sides[1].report.dropped_claims:
        if form(dropped.text) == said:
            return f"written again, and dropped: {dropped.verdict}, {dropped.reason}".rstrip(", ")
    cited = {citation.locator for citation in sides[0].cited(claim)}
    if cited and not cited & sides[1].sources.keys():
        return "its source is gone" if len(cited) == 1 else "its sources are gone"
    return _with_other_bytes(sides, cited)


def _with_other_bytes(sides: _Sides, locators: set[str]) -> str:
    both = locators & sides[0].sources.keys() & sides[1].sources.keys()
    hashes = [[side.sources[locator].content_hash for locator in sorted(both)] for side in sides]
    return "its source changed" if hashes[0] != hashes[1] else ""
