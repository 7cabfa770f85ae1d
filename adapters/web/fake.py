"""An `Http` for tests: answers from a mapping and remembers what it was asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.web.errors import NoAnswer
from adapters.web.port import Request, Response
from adapters.web.urls import parse_url, request_url
from state.values.errors import AssayError


@dataclass(slots=True)
class FakeHttp:
    """Answers each URL, `params` in its query, with its response; an error there is raised.

    Any other URL raises `NoAnswer`, as a server that is not there does.
    """

    answers: Mapping[str, Response | AssayError]
    asked: list[Request] = field(default_factory=list[Request])

    async def send(self, request: Request) -> Response:
        """Return the answer for the URL of `request`."""
        self.asked.append(request)
        url = str(parse_url(request_url(request)))
        known = {str(parse_url(key)): answer for key, answer in self.answers.items()}
        answer = known.get(url)
        if answer is None:
            raise NoAnswer(f"{url} is not among the answers of this fake.")
        if isinstance(answer, AssayError):
            raise answer
        return Response(
            answer.url or url,
            answer.status,
            {name.lower(): text for name, text in answer.headers.items()},
            answer.body,
        )

    async def aclose(self) -> None:
        """Do nothing."""
