"""Speaks to a Prefect server over plain HTTP as its pages do: with the login and a CSRF token."""

import base64
import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

SOON_S = 180.0  # only guards against hanging
_POLL_S = 0.3
_TRIES = 20


class HttpError(Exception):
    """The server said no; `code` and `body` say how."""

    def __init__(self, code: int, body: str) -> None:
        super().__init__(f"{code}: {body[:400]}")
        self.code = code
        self.body = body


@dataclass
class PagesClient:
    """A browser's requests to the API at `url`; `login` is `user:password` or ''."""

    url: str
    login: str = ""
    origin: str = ""
    client_id: str = field(default_factory=lambda: str(uuid4()))
    token: str = ""

    @classmethod
    def of(cls, home: Path) -> "PagesClient":
        """Return a client of the server that Assay keeps for `home`."""
        record = json.loads((home / "prefect" / "server.json").read_text())
        return cls(f"http://127.0.0.1:{record['port']}/api", f"assay:{record['secret']}")

    def ask(self, method: str, path: str, body: Any = None, *, csrf: bool = True) -> Any:
        """Return what the server answers; asks again while its database is locked."""
        for _ in range(_TRIES):
            try:
                return self._ask(method, path, body, csrf=csrf)
            except HttpError as error:
                if error.code != http.HTTPStatus.SERVICE_UNAVAILABLE:
                    raise
                time.sleep(_POLL_S)
        return self._ask(method, path, body, csrf=csrf)

    def headers(
        self, method: str, path: str, extra: dict[str, str] | None = None
    ) -> dict[str, str]:
        """Return the headers of the answer, their names in small letters."""
        answer, _ = self._send(method, path, None, extra or {})
        return {name.lower(): value for name, value in answer.getheaders()}

    def _ask(self, method: str, path: str, body: Any, *, csrf: bool) -> Any:
        is_ours = bool(self.login or self.origin)  # other servers need neither login nor token
        if method != "GET" and csrf and is_ours and not self.token:
            self.token = self.ask("GET", f"/csrf-token?client={self.client_id}")["token"]
        extra = {}
        if self.token and csrf:
            extra = {"Prefect-Csrf-Token": self.token, "Prefect-Csrf-Client": self.client_id}
        answer, said = self._send(method, path, body, extra)
        if answer.status >= 400:
            raise HttpError(answer.status, said)
        return json.loads(said) if said else None

    def _send(
        self, method: str, path: str, body: Any, extra: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, str]:
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
        headers = {"Content-Type": "application/json", **extra}
        if self.login:
            headers["Authorization"] = "Basic " + base64.b64encode(self.login.encode()).decode()
        if self.origin:
            headers["Origin"] = self.origin
        try:
            data = None if body is None else json.dumps(body)
            place = path.removeprefix("/..") if path.startswith("/..") else parts.path + path
            connection.request(method, place, data, headers)
            answer = connection.getresponse()
            return answer, answer.read().decode()
        finally:
            connection.close()

    def start(self, deployment: str, parameters: dict[str, Any]) -> str:
        """Start a flow run of a deployment, as its "Quick run" does; return the flow run's id."""
        found = self.ask("GET", f"/deployments/name/{deployment}")
        made = self.ask(
            "POST", f"/deployments/{found['id']}/create_flow_run", {"parameters": parameters}
        )
        return str(made["id"])

    def flow_run(self, flow_run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"/flow_runs/{flow_run_id}")
        return found

    def flow_runs(self, *tags: str) -> list[dict[str, Any]]:
        wanted = {"flow_runs": {"tags": {"all_": list(tags)}}, "sort": "START_TIME_ASC"}
        found: list[dict[str, Any]] = self.ask("POST", "/flow_runs/filter", wanted)
        return found

    def resume(self, flow_run_id: str, **given: Any) -> dict[str, Any]:
        """Send the form of a suspended flow run, as soon as there is one."""
        body = {"run_input": given} if given else {}
        answer: dict[str, Any] = until(
            lambda: self.ask("POST", f"/flow_runs/{flow_run_id}/resume", body),
            lambda said: "schema not found" not in str(said["details"]),
        )
        return answer

    def form(self, flow_run: dict[str, Any], what: str) -> Any:
        """Return the `schema` or `description` that the pages draw the form from."""
        key = flow_run["state"]["state_details"]["run_input_keyset"][what]
        return self.ask("GET", f"/flow_runs/{flow_run['id']}/input/{key}")

    def artifacts(self, flow_run_id: str) -> list[dict[str, Any]]:
        wanted = {"artifacts": {"flow_run_id": {"any_": [flow_run_id]}}}
        found: list[dict[str, Any]] = self.ask("POST", "/artifacts/filter", wanted)
        return found

    def wait(self, flow_run_id: str, *names: str, within_s: float = SOON_S) -> dict[str, Any]:
        """Return the flow run once its state has one of `names`."""
        found: dict[str, Any] = until(
            lambda: self.flow_run(flow_run_id),
            lambda run: run["state"]["name"] in names,
            within_s=within_s,
        )
        return found


def until(look: Callable[[], Any], holds: Callable[[Any], Any], within_s: float = SOON_S) -> Any:
    """Return what `look` gives as soon as it holds; it is asked again while nothing answers."""
    give_up_at = time.monotonic() + within_s
    seen: Any = None
    while time.monotonic() < give_up_at:
        try:
            if holds(seen := look()):
                return seen
        except (OSError, http.client.HTTPException, HttpError) as error:
            seen = error
        time.sleep(_POLL_S)
    raise AssertionError(f"it did not come to that; last seen: {seen}")
