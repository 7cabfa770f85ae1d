"""How the web says no.

RejectedError
├── UrlDenied             URL_POLICY_DENIED           the rules do not let us ask this URL
├── AddressDenied         PRIVATE_ADDRESS_DENIED      its name leads into a private network
├── RobotsDenied          ROBOTS_DENIED               its robots.txt asks us to stay away
├── BodyLimit             BODY_LIMIT                  more bytes than are taken
├── RedirectLimit         REDIRECT_LIMIT              more redirects than are followed
├── RetryAfterTooLong     RETRY_AFTER_EXCEEDS_BUDGET  the server wants us to wait longer than we do
├── EncodingDenied        CONTENT_ENCODING_DENIED     compressed in a way that is not undone
├── TypeDenied            CONTENT_TYPE_DENIED         a kind of file that is not read
├── PageBlocked           PAGE_BLOCKED                a wall in place of the page
└── NoAnswer              PAGE_UNAVAILABLE            no whole answer came

A page that answers with a status of its own is a plain `RejectedError` with the code HTTP_<status>.
"""

from state.values.errors import RejectedError


class UrlDenied(RejectedError):
    """The rules do not let us ask this URL."""

    code = "URL_POLICY_DENIED"


class AddressDenied(RejectedError):
    """The host's name leads to an address that is not public."""

    code = "PRIVATE_ADDRESS_DENIED"


class RobotsDenied(RejectedError):
    """The site's robots.txt asks programs to stay away from the page."""

    code = "ROBOTS_DENIED"


class BodyLimit(RejectedError):
    """The answer is larger than is taken."""

    code = "BODY_LIMIT"


class RedirectLimit(RejectedError):
    """There were more redirects than are followed."""

    code = "REDIRECT_LIMIT"


class RetryAfterTooLong(RejectedError):
    """The server asks us to come back later than we can wait."""

    code = "RETRY_AFTER_EXCEEDS_BUDGET"


class EncodingDenied(RejectedError):
    """The body is compressed in a way that is not undone."""

    code = "CONTENT_ENCODING_DENIED"


class TypeDenied(RejectedError):
    """The answer is of a kind that is not read."""

    code = "CONTENT_TYPE_DENIED"


class PageBlocked(RejectedError):
    """A wall was served in place of the page."""

    code = "PAGE_BLOCKED"


class NoAnswer(RejectedError):
    """No whole answer came. `again` tells that another try, right now, may end differently."""

    code = "PAGE_UNAVAILABLE"

    def __init__(self, message: str, *, again: bool = False) -> None:
        super().__init__(message)
        self.again = again
