"""The spelling of an event's time."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from state.envelope import utc_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_moments = st.integers(-(10**15), 10**16).map(lambda us: _EPOCH + timedelta(microseconds=us))
_zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(_moments, _zones)
def test_a_time_is_spelled_in_utc_whatever_its_zone(moment: datetime, zone: timezone) -> None:
    text = utc_text(moment.astimezone(zone))

    assert text == utc_text(moment)
    assert text.endswith("Z")
    whole_ms = moment.microsecond // 1000 * 1000
    assert datetime.fromisoformat(text) == moment.replace(microsecond=whole_ms)
