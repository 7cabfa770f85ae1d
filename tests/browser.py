"""Drives Debian's Chromium over the DevTools protocol: opens pages, looks, clicks and types.

Whatever is done waits until the page is ready for it, and says what was on the page if it never is.
"""

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

SOON_S = 120.0  # only guards against hanging
_POLL_S = 0.1
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--remote-debugging-port=0",
)  # fmt: skip
# What is drawn of that which a selector finds and says the text, within it or as its label; only
# what says nothing else, if there is such.
_FIND = """
(selector, text) => {
    const said = each => [...(each.labels ?? []), each].map(one => (one.innerText ?? "").trim());
    const found = [...document.querySelectorAll(selector)].filter(each =>
        each.checkVisibility({visibilityProperty: true}) && said(each).some(s => s.includes(text)));
    const exact = found.filter(each => said(each).includes(text));
    return exact.length ? exact : found;
}
"""


class PageError(Exception):
    """The browser said no, or a script of ours raised."""


@dataclass(frozen=True, slots=True)
class Screen:
    """How large the window is, in CSS pixels."""

    width: int
    height: int
    is_small: bool = False


WIDE, SMALL = Screen(1440, 900), Screen(390, 844, is_small=True)


def find_chromium() -> str | None:
    """Return the program, or None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@dataclass
class Page:
    """One tab, driven over `socket`.

    `said` is what went wrong in it. After `send("Network.enable")`, `asks` is what it asked of
    servers, as method and address, and `statuses` how they answered, by the same keys.
    """

    socket: ClientConnection
    asked: int = 0
    said: list[str] = field(default_factory=list)
    asks: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a command of the protocol; raises `PageError`."""
        self.asked += 1
        self.socket.send(json.dumps({"id": self.asked, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.recv(timeout=SOON_S))
            if answer.get("id") == self.asked:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.said.append(str(details.get("exception", details).get("description")))
            case "Network.responseReceivedExtraInfo":
                self.statuses[params["requestId"]] = params["statusCode"]
            case "Network.requestWillBeSent":
                asks = params["request"]
                self.asks[params["requestId"]] = f"{asks['method']} {asks['url']}"
            case "Log.entryAdded":
                self.said.append(f"{params['entry']['text']} ({params['entry'].get('url', '')})")

    def ask(self, function: str, *given: Any) -> Any:
        """Return what a function in JavaScript returns, or what its promise comes to, as JSON."""
        call = f"({function})(...{json.dumps(given)})"
        answer = self.send(
            "Runtime.evaluate",
            expression=call,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", details).get("description", str(details)))
        return answer["result"].get("value")

    def until(self, function: str, *given: Any, within_s: float = SOON_S) -> Any:
        """Return what the function returns as soon as that is true; it is asked again and again."""
        give_up_at = time.monotonic() + within_s
        while time.monotonic() < give_up_at:
            try:
                if seen := self.ask(function, *given):
                    return seen
            except PageError as error:  # a page that is just being left has no context
                self.said.append(str(error))
            time.sleep(_POLL_S)
        raise AssertionError(f"never: {function} of {given}\n{self.text}\n{self.said[-5:]}")

    def answers(self, address: str) -> list[tuple[str, int]]:
        """Return what the page asked there so far, and with which status it was answered."""
        self.ask("() => null")  # events come with answers
        return [
            (asked, self.statuses[key])
            for key, asked in self.asks.items()
            if address in asked and key in self.statuses
        ]

    @property
    def text(self) -> str:
        """The text of the page as a person reads it."""
        return str(self.ask("() => document.body.innerText"))

    @property
    def address(self) -> str:
        """Where the page is."""
        return str(self.ask("() => location.href"))

    def open(self, address: str) -> None:
        """Go to the address."""
        self.send("Page.navigate", url=address)
        self.until("address => location.href.startsWith(address)", address)

    def shows(self, text: str, selector: str = "body", *, within_s: float = SOON_S) -> None:
        """Wait until an element that the selector finds holds the text and is drawn."""
        find = f"(selector, text) => ({_FIND})(selector, text).length"
        self.until(find, selector, text, within_s=within_s)

    def click(self, selector: str, text: str = "") -> None:
        """Click with the mouse on the innermost such element, once it is still and on top."""
        place = self.until(
            f"""async (selector, text) => {{
                const found = ({_FIND})(selector, text).filter(each => !each.disabled).at(-1);
                if (!found) return null;
                found.scrollIntoView({{block: "center", inline: "center"}});
                const frame = () => new Promise(requestAnimationFrame);
                const before = found.getBoundingClientRect();
                await frame(); await frame();
                const now = found.getBoundingClientRect();
                if (before.x !== now.x || before.y !== now.y) return null;
                const at = [now.x + now.width / 2, now.y + now.height / 2];
                const top = document.elementFromPoint(...at);
                return found.contains(top) || top?.contains(found) ? at : null;
            }}""",
            selector,
            text,
        )
        for kind, buttons in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)):
            self.send(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1],
                button="none" if kind == "mouseMoved" else "left", buttons=buttons, clickCount=1,
            )  # fmt: skip

    def fill(self, selector: str, texts: Mapping[str, str]) -> None:
        """Type texts into the fields with these labels, until all hold theirs ('' is any label)."""
        self.until(
            f"""(selector, texts) => Object.entries(texts).map(([label, text]) => {{
                const field = ({_FIND})(selector, label).at(-1);
                if (!field || field.value === text) return Boolean(field);
                field.focus();
                field.select();
                document.execCommand("insertText", false, text);
            }}).every(Boolean)""",
            selector,
            dict(texts),
        )

    def resize(self, screen: Screen) -> None:
        """Give the page another screen."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=screen.width, height=screen.height,
            deviceScaleFactor=1, mobile=screen.is_small,
        )  # fmt: skip

    def shoot(self, path: Path) -> None:
        """Write what is on the screen as a PNG, once it is drawn."""
        self.ask("() => new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)))")
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))


@dataclass
class Browser:
    """A running Chromium, and the tabs that were opened in it."""

    port: int
    path: str
    pages: list[Page] = field(default_factory=list)

    def page(self, screen: Screen = WIDE) -> Page:
        """Open a tab; all share one profile, as those of one person do."""
        target = self._to(self.path).send("Target.createTarget", url="about:blank")["targetId"]
        page = self._to(f"/devtools/page/{target}")
        for domain in ("Page", "Runtime", "Log"):
            page.send(f"{domain}.enable")
        page.resize(screen)
        return page

    def _to(self, path: str) -> Page:
        page = Page(
            connect(
                f"ws://127.0.0.1:{self.port}{path}",
                max_size=None,
                max_queue=None,
                ping_interval=None,  # nobody listens while a test waits for something else
            )
        )
        self.pages.append(page)
        return page


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Run Chromium with a new profile in `folder`; end it afterwards."""
    program = find_chromium()
    assert program is not None
    folder.mkdir()
    told = folder / "DevToolsActivePort"
    with (folder / "chromium.log").open("wb") as log:
        process = subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        give_up_at = time.monotonic() + SOON_S
        while len(lines := told.read_text().split() if told.exists() else []) < 2:
            assert process.poll() is None, (folder / "chromium.log").read_text()
            assert time.monotonic() < give_up_at, (folder / "chromium.log").read_text()
            time.sleep(_POLL_S)
        running = Browser(int(lines[0]), lines[1])
        try:
            yield running
        finally:
            for page in running.pages:
                page.socket.close()
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
