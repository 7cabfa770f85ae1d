"""Where the text of a source is, when its own address shows only a summary."""

import re
from dataclasses import replace

from adapters.web.urls import Url

_ARXIV = re.compile(r"/abs/(?P<id>\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[A-Z]{2})?/\d{7}(?:v\d+)?)/?")


def reading_place(url: Url) -> Url:
    """Return where to read the source at `url`: for an arXiv abstract its paper."""
    host = url.host.removeprefix("www.").removeprefix("export.")
    found = _ARXIV.fullmatch(url.path)
    if host != "arxiv.org" or found is None:
        return url
    return replace(url, target=f"/pdf/{found['id']}")
