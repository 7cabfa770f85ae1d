"""What Assay's own server tells browsers about Prefect's pages: to keep to this server.

The pages would ask a service that measures audiences, and what they show (a report, a plan) may
hold text of strangers: with these headers nothing of it can make a browser ask anybody else, and
no other page can show them in a frame. An address whose path leads upwards is not there.
"""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

Message = MutableMapping[str, Any]
App = Callable[..., Awaitable[None]]


def policy(origin: str) -> str:
    """Return the Content-Security-Policy (CSP Level 3) of pages that live at `origin` only.

    The pages need scripts and styles of their own within them; what matters is where they lead.
    """
    socket = origin.replace("http://", "ws://")
    return "; ".join(
        (
            "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:",
            f"connect-src 'self' {origin} {socket}",
            "form-action 'self'",
            "base-uri 'self'",
            "object-src 'none'",
            "frame-ancestors 'none'",
        )
    )


def leads_out(path: str) -> bool:
    """Tell whether `path`, as the server decoded it, has a part that leads upwards, or a NUL.

    What is encoded twice is decoded again: whatever decodes it later finds nothing.
    """
    return any("\0" in each or ".." in re.split(r"[/\\]", each) for each in (path, unquote(path)))


def confine(app: App, origin: str) -> App:
    """Return `app` with the headers on each of its answers, and without paths that lead out."""
    headers = [
        (b"content-security-policy", policy(origin).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]

    async def confined(scope: Message, receive: Any, send: Any) -> None:
        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *headers]
            await send(message)

        if scope["type"] == "http" and leads_out(scope["path"]):
            await send_on({"type": "http.response.start", "status": 404, "headers": []})
            await send_on({"type": "http.response.body", "body": b"Not found"})
            return
        await app(scope, receive, send_on)

    return confined
