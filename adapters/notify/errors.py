"""How a receiver does not take a notification.

TransientError
└── NotificationDelayed   it may take the same notification later
RejectedError
└── NotificationRefused   it will not

Neither holds the receiver's address, which often has a secret in it, nor anything it answered.
"""

from state.values.errors import RejectedError, TransientError


class NotificationDelayed(TransientError):
    """The receiver is busy, broken or away; it may want to be left alone for `retry_after_s`."""

    code = "NOTIFICATION_DELAYED"

    def __init__(
        self, message: str, *, code: str, http_status: int | None = None, retry_after_s: int = 0
    ) -> None:
        super().__init__(message, code=code)
        self.http_status = http_status
        self.retry_after_s = retry_after_s


class NotificationRefused(RejectedError):
    """The receiver does not want it, has moved, or may not be asked."""

    code = "NOTIFICATION_REFUSED"

    def __init__(self, message: str, *, code: str, http_status: int | None = None) -> None:
        super().__init__(message, code=code)
        self.http_status = http_status
