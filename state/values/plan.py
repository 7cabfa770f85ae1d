"""What a run sets out to answer."""

from dataclasses import asdict, dataclass

from state.values.ids import canonical_json, sha256_hex

MAX_SUBQUESTIONS = 3


@dataclass(frozen=True, slots=True)
class Subquestion:
    """One part of the question (≤400 characters) and the first query for it (≤100 characters)."""

    id: str
    question: str
    query: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The goal and one to three subquestions; with a `clarification` there is nothing to research.

    `clarification` is the question to put back to the person, or ''.
    """

    goal: str
    subquestions: tuple[Subquestion, ...]
    clarification: str = ""

    @property
    def hash(self) -> str:
        """Return the hash an approval is bound to."""
        return sha256_hex(canonical_json(asdict(self)))
