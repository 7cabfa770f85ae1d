"""What a report may rest on, as a model is shown it: quotes e1, e2, …, conflicts and gaps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from adapters.models.chat.packing import Piece
from adapters.models.language.showing import (
    Shown,
    asked,
    numbered,
    packed,
    pieces_of,
    render,
    shown_evidence,
)
from adapters.models.port import Assessment, Selected
from state.values.evidence import Coverage
from state.values.plan import Plan

_PREFERRED, _DISPUTED = 3.0, 2.0


@dataclass(frozen=True, slots=True)
class Archive:
    """The plan and the quotes that were accepted, each with a short name."""

    plan: Plan
    assessment: Assessment

    @property
    def items(self) -> tuple[Selected, ...]:
        """Return the quotes in order; the first one is e1."""
        return self.assessment.selected

    @property
    def names(self) -> dict[str, str]:
        """Return the name of each quote by its id."""
        ids = [item.id for item in self.items]
        return dict(zip(ids, numbered("e", len(ids)), strict=True))

    @property
    def by_name(self) -> dict[str, Selected]:
        """Return the quotes by their names."""
        return dict(zip(numbered("e", len(self.items)), self.items, strict=True))

    def pieces(self, preferred: Iterable[str] = ()) -> list[Piece]:
        """Return the quotes to be packed: those with `preferred` ids, then conflicts' sides first.

        Of the others, subquestions take turns.
        """
        wanted = set(preferred)
        disputed = {id_ for conflict in self.assessment.conflicts for id_ in conflict.evidence_ids}
        place = {id_: place for place, id_ in enumerate(self._in_turns())}
        return pieces_of(
            self._shown(),
            [
                1 / (1 + place[item.id])
                + _PREFERRED * (item.id in wanted)
                + _DISPUTED * (item.id in disputed)
                for item in self.items
            ],
        )

    def render(self, pieces: Sequence[Piece]) -> str:
        """Return the quotes that went in, as they stand in a prompt."""
        return render(packed(self._shown(), pieces)) or "(none)"

    def known(self, pieces: Sequence[Piece]) -> str:
        """Return the question, its subquestions, and what is disputed or missing."""
        shown = {piece.key for piece in pieces}
        names = self.names
        lines = [asked(self.plan)]
        for conflict in self.assessment.conflicts:
            sides = [names[id_] for id_ in conflict.evidence_ids if names.get(id_) in shown]
            if len(sides) > 1:
                lines.append(f"Disagreement between {' and '.join(sides)}; state both sides.")
        for number, sub in enumerate(self.plan.subquestions, start=1):
            if any(
                row.subquestion_id == sub.id and row.coverage is Coverage.GAP
                for row in self.assessment.rows
            ):
                lines.append(f"q{number} is not answered by the quotes, or only in part.")
        return "\n".join(lines)

    def _shown(self) -> list[Shown]:
        ids = {sub.id: f"q{number}" for number, sub in enumerate(self.plan.subquestions, start=1)}
        return [
            shown_evidence(
                name, item, f"on {ids[item.subquestion_id]}" if item.subquestion_id in ids else ""
            )
            for name, item in self.by_name.items()
        ]

    def _in_turns(self) -> list[str]:
        groups: dict[str, list[str]] = {}
        for item in self.items:
            groups.setdefault(item.subquestion_id, []).append(item.id)
        return [id_ for turn in zip_longest(*groups.values()) for id_ in turn if id_]
