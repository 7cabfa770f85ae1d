"""A server that PREFECT_API_URL names: told apart from nonsense and silence before a run begins."""

import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from prefect.exceptions import PrefectHTTPStatusError

from flows.doctor import examine_only, login
from flows.engine_trouble import engine_trouble
from flows.settings import load_settings
from flows.users_server import require_users_server
from state.values.errors import InvalidRequest, TransientError
from tests.flows.command_line import NOTES, QUESTION, CommandLine

LOGIN = f"Basic {b64encode(b'ann:geheim').decode()}"
SILENT = "http://127.0.0.1:1/api"  # nobody listens on port 1


class Answering(BaseHTTPRequestHandler):
    """Is well under /api, ill under /ill, something else under /web; /shut wants a login."""

    def do_GET(self) -> None:
        code, said = {
            "/api/health": (200, b"true"),
            "/shut/health": (200, b"true"),
            "/shut/version": (200 if self.headers.get("Authorization") == LOGIN else 401, b""),
            "/web/health": (200, b"<html>"),
            "/ill/health": (503, b""),
        }.get(self.path, (404, b""))
        self.send_response(code)
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""


@pytest.fixture
def place() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def bare(tmp_path: Path) -> CommandLine:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    return CommandLine(tmp_path / "home", notes)


def test_a_server_that_is_well_is_taken(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", f"{place.replace('//', '//me:hidden@')}/api/")

    assert require_users_server() == f"{place}/api"
    assert login(load_settings()) == {"address": place, "login": ""}


@pytest.mark.parametrize(
    "nonsense",
    ["nonsense", "ftp://x/api", "http://", "http://x:port/api", "http://x:99999/api", "http://[/"],
)
def test_what_is_no_address_is_refused_by_the_variable_s_name(
    nonsense: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", nonsense)

    with pytest.raises(InvalidRequest, match="PREFECT_API_URL"):
        require_users_server()


@pytest.mark.parametrize(
    ("path", "error"),
    [("/web", InvalidRequest), ("", InvalidRequest), ("/ill", TransientError)],
)
def test_what_is_no_prefect_or_is_not_well_is_told_apart(
    place: str, path: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", place + path)

    with pytest.raises(error, match="PREFECT_API_URL"):
        require_users_server()


@pytest.mark.parametrize(("url", "code"), [("nonsense", 2), (SILENT, 1)])
def test_without_the_users_server_nothing_is_begun(bare: CommandLine, url: str, code: int) -> None:
    ran = bare.run("research", QUESTION, "-s", str(bare.notes), "-q", env={"PREFECT_API_URL": url})

    assert ran.code == code
    assert "PREFECT_API_URL" in ran.err
    assert "unexpected" not in ran.err
    assert not bare.home.exists()


def test_the_doctor_tries_the_users_server(
    assay_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", SILENT)

    check = examine_only(load_settings(), "prefect server")

    assert not check.ok
    assert SILENT in check.detail


@pytest.mark.parametrize("given", [None, "ann:wrong"])
def test_a_server_that_wants_a_login_is_refused_by_the_variable_s_name(
    place: str, given: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", f"{place}/shut")
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    if given:
        monkeypatch.setenv("PREFECT_API_AUTH_STRING", given)

    with pytest.raises(InvalidRequest, match="PREFECT_API_AUTH_STRING"):
        require_users_server()


def test_a_server_that_is_given_its_login_is_taken(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", f"{place}/shut")
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))

    monkeypatch.setenv("PREFECT_API_AUTH_STRING", "ann:geheim")
    assert require_users_server() == f"{place}/shut"

    monkeypatch.delenv("PREFECT_API_AUTH_STRING")
    (tmp_path / "profiles.toml").write_text('PREFECT_API_AUTH_STRING = "ann:geheim"')
    assert require_users_server() == f"{place}/shut"


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (401, InvalidRequest, "PREFECT_API_AUTH_STRING"),
        (500, TransientError, "its database"),
        (None, TransientError, "cannot be reached"),
    ],
)
def test_what_the_engine_raises_is_said_in_words(
    status: int | None, error: type[Exception], said: str
) -> None:
    request = httpx.Request("POST", "http://127.0.0.1:4200/api/flow_runs/")
    raised: Exception = httpx.ConnectError("All connection attempts failed", request=request)
    if status is not None:
        answer = httpx.Response(status, request=request)
        raised = PrefectHTTPStatusError("it failed", request=request, response=answer)

    found = engine_trouble(raised)

    assert isinstance(found, error)
    assert said in found.message


def test_what_is_none_of_the_engine_is_left_as_it_is() -> None:
    assert engine_trouble(ValueError("no")) is None
