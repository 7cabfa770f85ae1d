"""The settings of the Prefect client, as a child process sees them after its import."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CONFIGURE = """
import json, os, sys
from pathlib import Path
from flows import engine
from flows.server import Server
home = Path(sys.argv[1])
server = Server("http://127.0.0.1:9/api", "assay:s3cret", 2, 9, "3.9.1", False)
engine.configure(server if sys.argv[2] == "own" else None, home)
from prefect.settings import get_current_settings
import prefect.main
import logging
now = get_current_settings()
logging.getLogger("prefect.client").warning("kept in the file")
auth = now.api.auth_string
print(json.dumps({
    "url": now.api.url,
    "auth": auth and auth.get_secret_value(),
    "key": now.api.key and now.api.key.get_secret_value(),
    "home": str(now.home),
    "level": now.logging.level,
    "ephemeral": now.server.ephemeral.enabled,
    "users": engine.user_api_url(),
    "leaked": [name for name, value in os.environ.items() if "s3cret" in value],
}))
"""


def configured(home: Path, whose: str, cwd: Path = ROOT, **variables: str) -> dict[str, object]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    ran = subprocess.run(
        [sys.executable, "-c", CONFIGURE, str(home), whose],
        cwd=cwd,
        env=plain | {"PYTHONPATH": str(ROOT)} | variables,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.stderr == "", ran.stderr
    answer: dict[str, object] = json.loads(ran.stdout)
    return answer


def test_for_assays_own_server_nothing_of_the_users_prefect_is_read(tmp_path: Path) -> None:
    cwd, profiles = tmp_path / "cwd", tmp_path / "theirs.toml"
    cwd.mkdir()
    profiles.write_text('active = "x"\n[profiles.x]\nPREFECT_API_URL = "http://theirs/api"\n')
    (cwd / ".env").write_text("PREFECT_API_URL=http://from-dotenv/api\n")
    (cwd / "prefect.toml").write_text('[api]\nurl = "http://from-toml/api"\n')

    found = configured(
        tmp_path / "home",
        "own",
        cwd,
        PREFECT_PROFILES_PATH=str(profiles),
        PREFECT_PROFILE="x",
        PREFECT_API_KEY="theirs",
        PREFECT_API_AUTH_STRING="their:own",
    )

    assert found["url"] == "http://127.0.0.1:9/api"
    assert found["auth"] == "assay:s3cret"
    assert found["key"] is None
    assert found["home"] == str(tmp_path / "home/prefect")
    assert found["ephemeral"] is False


def test_the_secret_is_in_a_private_file_and_not_in_the_environment(tmp_path: Path) -> None:
    found = configured(tmp_path, "own")

    assert found["leaked"] == []
    assert stat.S_IMODE((tmp_path / "prefect/profiles.toml").stat().st_mode) == 0o600


def test_assays_own_address_is_not_taken_for_the_users(tmp_path: Path) -> None:
    assert configured(tmp_path, "own")["users"] is None


def test_what_the_user_set_for_their_server_stands(tmp_path: Path) -> None:
    found = configured(
        tmp_path / "home",
        "theirs",
        PREFECT_API_URL="http://theirs/api",
        PREFECT_API_AUTH_STRING="their:own",
        PREFECT_HOME=str(tmp_path / "theirs"),
        PREFECT_LOGGING_LEVEL="ERROR",
    )

    assert found["users"] == found["url"] == "http://theirs/api"
    assert found["auth"] == "their:own"
    assert found["home"] == str(tmp_path / "theirs")
    assert found["level"] == "ERROR"


def test_warnings_of_prefect_go_to_a_file_under_a_home_with_odd_characters(tmp_path: Path) -> None:
    home = tmp_path / 'of $HOME: {a} "b" ü'

    configured(home, "own")

    assert "kept in the file" in (home / "prefect/client.log").read_text()


def test_without_any_server_the_message_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    code = (
        "from pathlib import Path; from flows.engine import configure; configure(None, Path('h'))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "set PREFECT_API_URL" in ran.stderr


def test_configuring_after_prefect_was_imported_is_refused(tmp_path: Path) -> None:
    code = (
        "import sys, types; sys.modules['prefect'] = types.ModuleType('prefect')\n"
        "from pathlib import Path; from flows.engine import configure; configure(None, Path('h'))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "before Prefect is imported" in ran.stderr
