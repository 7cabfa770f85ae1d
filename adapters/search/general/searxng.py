"""SearXNG: a metasearch engine that people host themselves, asked for JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.search.answers import Malformed, Refused, items, json_object, string
from adapters.search.port import Hit, SearchPage
from adapters.search.web import MORE, Terms
from adapters.web.port import Request
from state.values.errors import InvalidRequest

_NO_JSON = (
    "the instance gives us no JSON; its owner can add `json` to `search.formats` in settings.yml"
)
_SYNTAX = "!:<"


@dataclass(frozen=True, slots=True)
class Searxng:
    """The instance at `url`, such as http://127.0.0.1:8888; there is no common one."""

    url: str = ""

    @property
    def terms(self) -> Terms:
        """Return modest terms: the engines behind an instance ban it when it asks too often."""
        return Terms(
            name="searxng",
            label="SearXNG",
            url=self.url,
            interval_s=1.0,
            max_query=500,
            pages=10,
            meanings=(("403", _NO_JSON),),
        )

    def request(self, query: str, *, cursor: str | None, limit: int, key: str) -> Request:
        """Return the request; language, categories and engines are the instance's own choice.

        `!engine`, `!!bang`, `:language` and `<timeout` lose their marks: a query says what to look
        for, not where, and a bang would answer with a redirect to another service.
        """
        if not self.url:
            raise InvalidRequest("SearXNG has no common address; name that of your instance.")
        words = (word.lstrip(_SYNTAX) for word in query.split())
        return Request(
            self.url.rstrip("/").removesuffix("/search") + "/search",
            params=(
                ("q", " ".join(word for word in words if word)),
                ("format", "json"),
                ("pageno", cursor or "1"),
            ),
            headers=(("Accept", "application/json"),),
        )

    def parse(self, body: bytes, headers: Mapping[str, str], *, limit: int) -> SearchPage:
        """Return the results; engines that did not answer are named in the warnings.

        When nothing was found and some engine did not answer, it is `Refused`: that is no evidence
        that there is nothing to find.
        """
        answer = json_object(body)
        if error := string(answer, "error"):
            raise Refused(error)
        results = items(answer, "results")
        silent = tuple(_silent(answer.get("unresponsive_engines")))
        if not results and silent:
            raise Refused("nothing was found, but there was no answer from " + ", ".join(silent))
        return SearchPage(
            hits=tuple(
                Hit(
                    string(result, "url"),
                    string(result, "title"),
                    string(result, "content"),
                    0.0,
                )
                for result in results[:limit]
            ),
            next_cursor=MORE if results else None,
            warnings=(f"SearXNG had no answer from {', '.join(silent)}.",) if silent else (),
        )


def _silent(engines: object) -> Iterator[str]:
    """Yield each engine that did not answer, and why."""
    if engines is not None and not isinstance(engines, list):
        raise Malformed("`unresponsive_engines` that is no list")
    for engine in engines or ():
        match engine:
            case [str(name), str(why), *_]:
                yield f"{name} ({why})"
            case [str(name), *_] | str(name):
                yield name
            case _:
                yield "an engine without a name"
