"""When a schedule is due, in whatever zone, when the clocks change too."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.timetable import Timetable, parse_timetable
from state.values.errors import InvalidRequest

ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "America/Havana", "Africa/Cairo", "Asia/Beirut",
    "Australia/Lord_Howe", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia",
    "Africa/Casablanca",
)  # fmt: skip
CRONS = (
    "0 6 * * 1-5", "30 2 * * *", "0 0 * * *", "15 1 * * *", "*/30 * * * *", "0 * * * *",
    "59 23 * * SUN", "10,40 0-3 * * *", "0 9 1 * *", "0 9 L * *",
)  # fmt: skip


def slots(cron: str, zone: str, after: datetime, n: int) -> list[str]:
    table = parse_timetable(cron, zone)
    return [f"{table.local(slot):%m-%d %H:%M %z}" for slot in islice(table.after(after), n)]


def test_working_days_at_six_are_six_in_summer_and_in_winter() -> None:
    found = slots("0 6 * * 1-5", "Europe/Berlin", datetime(2026, 10, 23, 12, tzinfo=UTC), 2)

    assert found == ["10-26 06:00 +0100", "10-27 06:00 +0100"]
    assert slots("0 6 * * 1-5", "Europe/Berlin", datetime(2026, 10, 22, 12, tzinfo=UTC), 1) == [
        "10-23 06:00 +0200"
    ]


def test_an_hour_that_comes_twice_has_one_slot_and_one_that_is_skipped_has_it_afterwards() -> None:
    autumn = slots("30 2 * * *", "Europe/Berlin", datetime(2026, 10, 24, 12, tzinfo=UTC), 2)
    spring = slots("30 2 * * *", "Europe/Berlin", datetime(2026, 3, 28, 12, tzinfo=UTC), 2)

    assert autumn == ["10-25 02:30 +0200", "10-26 02:30 +0100"]
    assert spring == ["03-29 03:00 +0200", "03-30 02:30 +0200"]


def test_every_half_hour_goes_by_elapsed_time() -> None:
    table = parse_timetable("*/30 * * * *", "Europe/Berlin")
    found = list(islice(table.after(datetime(2026, 10, 24, 23, 50, tzinfo=UTC)), 8))

    assert {late - early for early, late in pairwise(found)} == {timedelta(minutes=30)}


@settings(max_examples=100)
@given(
    cron=st.sampled_from(CRONS),
    zone=st.sampled_from(ZONES),
    start=st.integers(1262304000, 1893456000),
    hours=st.lists(st.integers(0, 90), min_size=1, max_size=6),
)
def test_which_slots_there_are_does_not_depend_on_when_one_looks(
    cron: str, zone: str, start: int, hours: list[int]
) -> None:
    table = parse_timetable(cron, zone)
    looks = [datetime.fromtimestamp(start, UTC)]
    for each in hours:
        looks.append(looks[-1] + timedelta(hours=each, minutes=7))

    whole = list(table.between(looks[0], looks[-1]))
    in_parts = [s for a, b in pairwise(looks) for s in table.between(a, b)]

    assert in_parts == whole
    assert whole == sorted(set(whole))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    "day", ["2011-12-29", "2026-03-07", "2026-03-28", "2026-04-24", "2026-10-24", "2026-10-31"]
)
def test_slots_are_the_same_around_every_change_of_clocks(day: str, zone: str) -> None:
    first = datetime.fromisoformat(day).replace(tzinfo=UTC)
    looks = [first + timedelta(minutes=47 * n) for n in range(60)]
    for cron in ("30 2 * * *", "0 0 * * *", "*/30 * * * *", "10,40 0-3 * * *"):
        table = parse_timetable(cron, zone)
        pairs = pairwise(looks)

        in_parts = [slot for a, b in pairs for slot in table.between(a, b)]

        assert in_parts == list(table.between(looks[0], looks[-1])), cron


@pytest.mark.parametrize(
    ("cron", "zone", "said"),
    [
        ("0 6 * *", "UTC", "five fields"),
        ("", "UTC", "five fields"),
        ("@daily", "UTC", "five fields"),
        ("* * * * * *", "UTC", "five fields"),
        ("0 25 * * *", "UTC", "its hour is wrong"),
        ("61 * * * *", "UTC", "its minute is wrong"),
        ("0 0 * * MON-", "UTC", "its day of week is wrong"),
        ("0 0 30 2 *", "UTC", "its day of month is wrong"),
        ("0 6 * * *", "Europe/Berln", "did you mean Europe/Berlin"),
        ("0 6 * * *", "berlin", "did you mean Europe/Berlin"),
        ("0 6 * * *", "Europe", "no time zone"),
        ("0 6 * * *", "../etc/passwd", "no time zone"),
        ("0 6 * * *", "", "no time zone"),
        ("0 6 * * *", "\x00", "no time zone"),
    ],
)
def test_what_is_no_timetable_is_refused_with_what_to_write(
    cron: str, zone: str, said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        parse_timetable(cron, zone)


def test_an_expression_is_kept_with_single_spaces() -> None:
    assert parse_timetable(" 0  6 * *\t1-5 ", "UTC") == Timetable("0 6 * * 1-5", "UTC")
