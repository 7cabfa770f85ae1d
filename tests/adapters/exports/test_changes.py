"""What changed, as Markdown for people and as values for programs."""

import json
from dataclasses import replace

from adapters.exports.changes import ComparedRun, Comparison, changes_content, changes_markdown
from state.values.changes import compare
from state.values.claims import ClaimStatus
from state.values.report import Report
from tests.state.values.reports import Said, report_of

CARRIES = Said("The ferry carries 120 passengers.")
RUNS = (
    ComparedRun("r1", "What of the ferry?", "quick", "2026-03-01T12:00:00.000Z"),
    ComparedRun("r2", "What of the ferry?", "quick", "2026-03-02T12:00:00.000Z"),
)


def compared(before: Report, after: Report, *remarks: str) -> Comparison:
    return Comparison(*RUNS, compare(before, after), remarks)


def test_it_is_said_when_nothing_changed() -> None:
    made = changes_markdown(compared(report_of(CARRIES), report_of(CARRIES)))

    assert made == (
        "# What changed: What of the ferry?\n\n"
        "**Nothing changed.** Run `r2` (completed 2026-03-02 12:00:00 UTC) against run `r1` "
        "(completed 2026-03-01 12:00:00 UTC).\n\n"
        "1 claim stands as before.\n"
    )


def test_a_changed_claim_is_shown_with_both_quotes() -> None:
    after = report_of(replace(CARRIES, text="The ferry carries 150 passengers."))

    made = changes_markdown(compared(report_of(CARRIES), after, "Mind the *gap*."))

    assert "**1 changed claim.**" in made
    assert "Mind the \\*gap\\*." in made
    assert (
        "## Changed claims\n\n"
        "- The ferry carries 150 passengers. — 120 → 150\n"
        "  - before: The ferry carries 120 passengers.\n"
        "  - quoted: “The ferry carries 150 passengers.” — `a.md`\n"
        "  - quoted before: “The ferry carries 120 passengers.” — `a.md`\n"
    ) in made


def test_what_to_look_at_first_comes_first() -> None:
    after = report_of(
        replace(CARRIES, status=ClaimStatus.DISPUTED),
        Said("Dogs are welcome.", source="b.md", about=1),
        conflicts={0: "120 against 150"},
        sources={"a.md": "other"},
    )

    made = changes_markdown(compared(report_of(CARRIES), after))

    assert "**1 newly contradicted claim, 1 new claim.**" in made
    assert (
        "The answer was *answered* (50% covered) and is *conflicting evidence* (50% covered)"
        in made
    )
    assert [line for line in made.splitlines() if line.startswith("## ")] == [
        "## Newly contradicted claims", "## New claims", "## Subquestions", "## Sources",
    ]  # fmt: skip
    assert "- The ferry carries 120 passengers. *(disputed)* — 120 against 150" in made
    assert "- How long does the crossing take? — gap → covered" in made
    assert "- `a.md`: its bytes changed, cited\n- `b.md`: new, cited" in made


def test_a_source_alone_is_a_change_that_touches_no_claim() -> None:
    comparison = compared(report_of(CARRIES), report_of(CARRIES, sources={"b.md": "new"}))

    assert "**No claim changed.**" in changes_markdown(comparison)
    content = json.loads(json.dumps(changes_content(comparison)))
    assert (content["changed"], content["claims_changed"]) == (True, False)
    assert content["changes"]["new_sources"][0]["display"] == "b.md"
    assert content["before"]["run_id"] == "r1"


def test_both_sides_of_a_difference_are_shown_the_same_way() -> None:
    cold = Said("The hold is kept at -18 °C.")
    after = report_of(replace(cold, text="The hold is kept at -19 °C."))

    made = changes_markdown(compared(report_of(cold), after))

    assert "- The hold is kept at -19 °C. — -18 °C → -19 °C\n" in made
