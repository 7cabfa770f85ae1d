"""What Assay's own server tells browsers about Prefect's pages: to keep to this server.

The pages would ask a service that measures audiences, and what they show (a report, a plan) may
hold text of strangers: with these headers nothing of it can make a browser ask anybody else, and
no other page can show them in a frame.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

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


def confine(app: App, origin: str) -> App:
    """Return `app` with the headers on each of its answers."""
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

        await app(scope, receive, send_on)

    return confined
