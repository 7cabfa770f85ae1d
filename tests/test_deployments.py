"""The files of `deployments/` name things that exist: settings, commands, services, programs."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from flows.cli import app
from flows.settings import Settings
from state.postgres.ledger import PostgresLedger
from tests.postgres_server import Absent, find_programs, postgres_server
from tests.state.counter import CounterFold, added

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "deployments"
VARIABLE = re.compile(r"\$\{(\w+)(:[?-])?")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """Give what compose.yaml says, its anchors and merges resolved."""
    made: dict[str, Any] = import_module("yaml").safe_load((FOLDER / "compose.yaml").read_text())
    return made


def environments(compose: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each service's name and its variables."""
    for name, service in compose["services"].items():
        yield name, service.get("environment", {})


def test_every_service_can_be_made_and_waits_for_services_that_there_are(
    compose: dict[str, Any],
) -> None:
    services = compose["services"]

    assert {"worker", "prefect", "postgres", "store"} <= set(services)
    for name, service in services.items():
        assert {"image", "build"} & set(service), name
        assert set(service.get("depends_on", {})) <= set(services), name
        for needed, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[needed], needed
        for volume in service.get("volumes", []):
            where = volume.partition(":")[0]
            assert where in compose["volumes"] or where.startswith(("/", ".", "$")), volume


def test_images_are_of_a_version_that_is_named(compose: dict[str, Any]) -> None:
    images = {service["image"] for service in compose["services"].values()}

    assert [image for image in images if not re.search(r":(\d|local$)", image)] == []


def test_two_workers_serve_and_each_has_a_data_folder_of_its_own(compose: dict[str, Any]) -> None:
    worker = compose["services"]["worker"]
    commands = {
        command.callback.__name__ for command in app.registered_commands if command.callback
    }

    assert worker["deploy"]["replicas"] == 2
    assert worker["command"] == ["serve"]
    assert "serve" in commands
    assert worker["environment"]["ASSAY_HOME"] in worker["volumes"]


def test_every_setting_of_assay_exists(compose: dict[str, Any]) -> None:
    named = {name for _, environment in environments(compose) for name in environment}
    settings = {name for name in named if name.startswith("ASSAY_")} - {"ASSAY_DATABASE_PASSWORD"}

    assert {"ASSAY_LEDGER_URL", "ASSAY_ARTIFACTS_URL", "ASSAY_ARTIFACTS_ENDPOINT"} <= settings
    assert {name for name in settings if name[6:].lower() not in Settings.model_fields} == set()


def test_prefect_takes_every_setting_and_vacuums_only_its_own_records(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    given = {k: str(v) for k, v in compose["services"]["prefect"]["environment"].items()}
    given = {name: re.sub(r"\$\{[^}]*\}", "x", value) for name, value in given.items()}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    code = (
        "import json, os; from prefect.settings import Settings; s = Settings()\n"
        "from prefect.settings.legacy import _get_valid_setting_names as names\n"
        "known = names(type(s))\n"
        "v = s.server.services.db_vacuum\n"
        "print(json.dumps([[n for n in os.environ if n.startswith('PREFECT_') and n not in known],"
        " sorted(v.enabled_vacuum_types), v.retention_period.days]))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, **given, "PREFECT_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[], ["events", "flow_runs", "orphans"], 30]


def test_every_secret_comes_from_outside_and_is_explained(compose: dict[str, Any]) -> None:
    text = (FOLDER / "compose.yaml").read_text()
    example = (FOLDER / "compose.env.example").read_text()
    explained = re.findall(r"^(\w+)=", example, re.MULTILINE)
    secret = re.compile(r"PASSWORD|SECRET|KEY_ID|AUTH_STRING")

    used = {name for name, _ in VARIABLE.findall(text)}
    written = {
        f"{service}: {name}"
        for service, environment in environments(compose)
        for name, value in environment.items()
        if secret.search(name) and not str(value).startswith("${")
    }

    assert used == set(explained)
    assert written == set()
    assert re.findall(r"^\w*(?:PASSWORD|SECRET|KEY_ID|LOGIN)=.+", example, re.MULTILINE) == []


def test_the_image_copies_what_is_there_and_installs_the_extras() -> None:
    dockerfile = (FOLDER / "Dockerfile").read_text()
    copied = [
        name
        for line in re.findall(r"^COPY (.+)$", dockerfile, re.MULTILINE)
        for name in line.split()[:-1]
    ]

    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {"flows", "tasks", "adapters", "state"} <= set(copied)
    assert "[postgres,s3]" in dockerfile


def test_the_databases_are_made_and_the_ledger_s_role_can_use_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    try:
        find_programs()
    except Absent as error:
        pytest.skip(str(error))
    with postgres_server() as server:
        passwords = {"ASSAY_DATABASE_PASSWORD": "one", "PREFECT_DATABASE_PASSWORD": "two"}
        server.admin("DROP DATABASE assay")
        place = {"PGHOST": str(server.socket_folder), "PGPORT": str(server.port)}
        subprocess.run(
            ["sh", str(FOLDER / "compose-databases.sh")],
            env={**os.environ, **place, **passwords},
            check=True,
            capture_output=True,
        )
        monkeypatch.setenv("PGPASSWORD", "one")

        ledger = PostgresLedger(f"postgresql://assay@127.0.0.1:{server.port}/assay", CounterFold())
        ledger.append("r1", [added(1)])

        assert ledger.runs() == ["r1"]
        ledger.close()
        names = {name for (name,) in server.admin("SELECT datname FROM pg_database")}
        assert {"assay", "prefect"} <= names
