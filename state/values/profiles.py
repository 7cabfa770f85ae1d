"""Report profiles: which sections a report has, and what must be settled before it is complete."""

from dataclasses import dataclass

from state.values.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a report; `computed` ones are written from the ledger, not by a researcher."""

    key: str
    title: str
    computed: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """The sections of a report in order, and its checklist items; every one is required."""

    name: str
    sections: tuple[Section, ...]
    checklist: tuple[str, ...]

    @property
    def section_keys(self) -> tuple[str, ...]:
        """Return the keys of the sections in order."""
        return tuple(section.key for section in self.sections)


QUESTION = Profile(
    "question",
    (
        Section("summary", "Summary"),
        Section("findings", "Findings"),
        Section("conflicts_and_gaps", "Conflicts and gaps"),
        Section("implications", "Implications"),
        Section("method_and_verification", "Method and verification", computed=True),
    ),
    ("question_decomposed", "sources_archived", "coverage_assessed", "claims_verified"),
)

CODEBASE = Profile(
    "codebase",
    (
        Section("conclusion", "Conclusion"),
        Section("source_evidence", "Source evidence"),
        Section("borrow_diverge_risk_gate", "Borrow, diverge, risk, gate"),
        Section("implementation_recommendations", "Implementation recommendations"),
        Section("verification", "Verification", computed=True),
    ),
    ("project_entrypoints", "core_flow", "boundaries", "verification_evidence"),
)

PROFILES = {profile.name: profile for profile in (QUESTION, CODEBASE)}


def profile_named(name: str) -> Profile:
    """Return the profile called `name`; raises `InvalidRequest` naming the ones there are."""
    try:
        return PROFILES[name]
    except KeyError:
        raise InvalidRequest(
            f"there is no profile {name!r}; choose one of {', '.join(PROFILES)}"
        ) from None
