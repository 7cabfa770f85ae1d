"""How long a run was worked on and how long it waited for a person, from its events alone."""

from datetime import datetime

from state.values.swift import swift


@swift(frozen=True, slots=True)
class WorkingTime:
    """Seconds worked and waited up to the last change of a run's status.

    `since` is when it came to its present status, `active_at` when its process was last heard of
    while it worked (UTC, ISO 8601). Neither an interruption counts nor the time from an answer
    until work goes on, nor what follows the last sign of a process that is gone.
    """

    worked_s: float = 0.0
    waited_s: float = 0.0
    since: str = ""
    active_at: str = ""

    def follow(
        self, was: str, now: str, at: str, *, by_its_process: bool, answered_at: str
    ) -> "WorkingTime":
        """Return the time after an event at `at` that took the run from status `was` to `now`.

        `answered_at` is when the last review request was answered, or ''. The empty `at` of an
        event that is only tried out changes nothing.
        """
        if not at:
            return self
        active_at = at if by_its_process else self.active_at
        if was == now:
            return WorkingTime(self.worked_s, self.waited_s, self.since, active_at)
        worked_s, waited_s = self.worked_s, self.waited_s
        if was == "running":
            worked_s += seconds_between(self.since, active_at)
        elif was == "waiting":
            waited_s += seconds_between(self.since, answered_at or at)
        return WorkingTime(worked_s, waited_s, at, at)

    def worked(self, status: str) -> float:
        """Return the seconds worked by a run that stands at `status`, as far as was heard of it."""
        more = seconds_between(self.since, self.active_at) if status == "running" else 0.0
        return round(self.worked_s + more, 3)

    def waited(self, status: str, *, until: str) -> float:
        """Return the seconds waited for a person by a run at `status`, if it does so `until`."""
        more = seconds_between(self.since, until) if status == "waiting" else 0.0
        return round(self.waited_s + more, 3)


def seconds_between(start: str, end: str) -> float:
    """Return the seconds from `start` to `end`, 0 where a clock was set back."""
    took = datetime.fromisoformat(end) - datetime.fromisoformat(start)
    return max(took.total_seconds(), 0.0)
