"""What the measurements rest on. How long anything takes is measured and never tested."""

import pytest

from state.projection import Run, rehearse
from tests.bench.commands import question
from tests.bench.histories import research_drafts
from tests.bench.measuring import Row, Samples, repeat, table


@pytest.mark.parametrize(
    ("row", "met"),
    [
        (Row("a", 1.2, 1.0, most_ratio=1.3), True),
        (Row("a", 1.4, 1.0, most_ratio=1.3), False),
        (Row("a", 0.9, 0.1, most_s=1.0), True),
        (Row("a", 1.1, 9.9, most_s=1.0), False),
        (Row("a", 1.0, 1.0), None),
    ],
)
def test_a_target_is_a_ratio_to_the_baseline_or_a_time(row: Row, met: bool | None) -> None:
    assert row.is_met is met


def test_percentiles_are_samples_by_nearest_rank() -> None:
    samples = Samples([float(number) for number in range(100, 0, -1)])

    assert (samples.at(0.5), samples.at(0.99), samples.at(1.0)) == (50.0, 99.0, 100.0)
    assert (Samples([7.0]).at(0.01), samples.least, samples.median) == (7.0, 1.0, 50.5)


def test_works_are_repeated_in_turn() -> None:
    order: list[str] = []

    found = repeat(2, lambda: order.append("a"), lambda: order.append("b"))

    assert order == ["a", "b", "a", "b"]
    assert [len(samples.seconds) for samples in found] == [2, 2]


def test_the_table_says_which_target_is_missed() -> None:
    rows = [Row("slow", 2e-4, 1e-4, "JSONL", most_ratio=1.3), Row("quick", 0.5, most_s=1.0)]

    head, slow, quick = table(rows).splitlines()

    assert head.split()[:2] == ["what", "Assay"]
    assert slow.split() == ["slow", "200", "µs", "100", "µs", "JSONL", "2.00×", "≤", "1.3×", "NO"]
    assert quick.split() == ["quick", "500", "ms", "<", "1", "s", "yes"]


def test_the_history_reaches_the_limits_and_no_rule_refuses_it() -> None:
    run = rehearse(Run(), research_drafts("limits"), run_id="limits")

    research = run.research
    assert research is not None
    assert (len(research.artifacts), research.steps_recorded) == (2000, 500)
    assert len(research.checkpoints) == 500


def test_the_question_of_the_examples_is_found() -> None:
    assert question().startswith("At what temperature")
