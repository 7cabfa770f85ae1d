"""When a schedule is due: a cron expression in a time zone, daylight saving included.

Times are those of Debian's cron: what is due at a fixed hour that the clocks skip is due when they
have moved, and what is due at one that comes twice is due the first time. What is due every so many
minutes or every hour goes by elapsed time.
"""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from state.values.errors import InvalidRequest

_FIELDS = "minute, hour, day of month, month, day of week"
_LIKE = "as in '0 6 * * 1-5', 6:00 from Monday to Friday"


@dataclass(frozen=True, slots=True)
class Timetable:
    """A cron expression of five fields, and the time zone it is read in; see `parse_timetable`."""

    cron: str
    timezone: str

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Yield every slot after `moment`, in UTC, the earliest first; at most 50 years ahead.

        Which slots there are does not depend on `moment`, only where they begin.
        """
        last = moment.astimezone(UTC)
        # Begun a day before: a beginning within an hour that comes twice could not be told apart.
        start = (last - timedelta(days=1)).astimezone(ZoneInfo(self.timezone))
        for found in CronSim(self.cron, start):
            slot = found.astimezone(UTC)
            if slot > last:
                last = slot
                yield slot

    def between(self, after: datetime, until: datetime) -> Iterator[datetime]:
        """Yield every slot after `after` and not after `until`, in UTC, the earliest first."""
        for slot in self.after(after):
            if slot > until:
                return
            yield slot

    def local(self, moment: datetime) -> datetime:
        """Return `moment` in the time zone of the timetable."""
        return moment.astimezone(ZoneInfo(self.timezone))


def parse_timetable(cron: str, timezone: str) -> Timetable:
    """Return the timetable, its expression with single spaces.

    Raises `InvalidRequest` for an expression that is none or that never comes due, and for a time
    zone that is unknown here.
    """
    expression = " ".join(cron.split())
    if len(expression.split()) != 5:
        raise InvalidRequest(
            f"{cron!r} is no cron expression: give five fields ({_FIELDS}), {_LIKE}"
        )
    _require_zone(timezone)
    try:
        next(CronSim(expression, datetime(2026, 1, 1)))  # noqa: DTZ001 - any moment, anywhere
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-", " ")
        raise InvalidRequest(
            f"{cron!r} is no cron expression: its {field} is wrong; the fields are {_FIELDS}, "
            f"{_LIKE}"
        ) from error
    except StopIteration as error:
        raise InvalidRequest(f"{cron!r} never comes due; no such day is ahead") from error
    return Timetable(expression, timezone)


def _require_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise InvalidRequest(
            f"there is no time zone {name!r}; {_nearest(name)}names are like Europe/Berlin, and UTC"
        ) from error


def _nearest(name: str) -> str:
    by_form = {zone.casefold(): zone for zone in available_timezones()}
    form = name.strip().replace(" ", "_").casefold()
    places = {zone.rpartition("/")[2]: whole for zone, whole in by_form.items()}
    known = by_form | places
    near = difflib.get_close_matches(form, known, n=1, cutoff=0.7)
    return f"did you mean {known[near[0]]}? " if near else ""
