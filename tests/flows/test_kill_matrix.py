"""SIGKILL after each event in turn, and at random: the same report, nothing lost or repeated."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.flows.killing import Bench, break_and_resume, journal, kill_bench

AT_ONCE = 2
RANDOM_KILLS = 30


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with kill_bench(tmp_path_factory.mktemp("matrix"), at_once=AT_ONCE) as made:
        yield made


@pytest.mark.timeout(600)
def test_killed_after_any_event_a_run_ends_in_the_same_report(bench: Bench) -> None:
    positions = range(1, len(journal(bench.unbroken)) + 1)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = pool.map(
            lambda position: break_and_resume(bench, f"after-{position}", kill_after=position),
            positions,
        )
        assert len(list(done)) == len(positions) > 80


@pytest.mark.timeout(600)
def test_killed_at_random_moments_a_run_ends_in_the_same_report(bench: Bench) -> None:
    moments = [random.Random(seed).uniform(0.02, 1.2) for seed in range(RANDOM_KILLS)]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = pool.map(
            lambda item: break_and_resume(bench, f"random-{item[0]}", kill_after_s=item[1]),
            enumerate(moments),
        )
        assert len(list(done)) == RANDOM_KILLS
