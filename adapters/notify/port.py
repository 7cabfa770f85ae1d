"""The `Notifier` port: hands one message to whoever wants to know."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """What is told. `id` is the same however often it is tried, so that a receiver knows it again.

    `body` is JSON, and is sent to the letter.
    """

    id: str
    body: bytes


class Notifier(Protocol):
    """Hands over messages, one try each."""

    async def send(self, message: Message) -> int:
        """Return the status of 200 to 299 with which the receiver took `message`.

        Raises `NotificationDelayed` when it may take it later, `NotificationRefused` when not.
        """
        ...
