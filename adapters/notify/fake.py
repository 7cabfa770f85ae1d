"""A `Notifier` for tests: answers as it is told, and keeps what it took."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from adapters.notify.errors import NotificationDelayed, NotificationRefused
from adapters.notify.port import Message

_DELAYED = (408, 425, 429)


@dataclass(slots=True)
class FakeNotifier:
    """Answers with `statuses`, one after the other and the last again and again; 0: no answer."""

    statuses: Sequence[int] = (204,)
    retry_after_s: int = 0
    tried: list[Message] = field(default_factory=list[Message])
    taken: list[Message] = field(default_factory=list[Message])

    async def send(self, message: Message) -> int:
        """See `Notifier.send`."""
        status = self.statuses[min(len(self.tried), len(self.statuses) - 1)]
        self.tried.append(message)
        if 200 <= status < 300:
            self.taken.append(message)
            return status
        if status == 0:
            raise NotificationDelayed("no answer", code="NO_ANSWER")
        if status in _DELAYED or status >= 500:
            raise NotificationDelayed(
                f"the fake answered {status}",
                code=f"HTTP_{status}",
                http_status=status,
                retry_after_s=self.retry_after_s,
            )
        if 300 <= status < 400:
            raise NotificationRefused("the fake redirects", code="REDIRECTED")
        raise NotificationRefused(
            f"the fake answered {status}", code=f"HTTP_{status}", http_status=status
        )
