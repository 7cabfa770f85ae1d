"""What every test gets: a fixed clock zone and locale, a home of its own, and the shared data."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

# Set on import, so that modules read them as they are collected and child processes inherit them.
os.environ.update(
    {
        "DO_NOT_TRACK": "1",
        "LC_ALL": "C.UTF-8",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        # As Assay sets its own server; otherwise a run waits seconds for that of the harness.
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "100",
        # What a server does on its own, and no test here looks for; every loop of it costs.
        **{
            f"PREFECT_SERVER_SERVICES_{service}_ENABLED": "false"
            for service in (
                "CANCELLATION_CLEANUP",
                "CLEANUP_RECONCILER",
                "EVENT_LOGGER",
                "FOREMAN",
                "LATE_RUNS",
                "PAUSE_EXPIRATIONS",
                "REPOSSESSOR",
                "SCHEDULER",
                "TRIGGERS",
            )
        },
        "PYTHONUTF8": "1",
        "TZ": "UTC",
    }
)
time.tzset()

settings.register_profile("dev", deadline=None)
settings.register_profile(
    "ci",
    deadline=None,  # a busy machine is not a bug
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_xdist_auto_num_workers() -> int:
    """Take half as many workers more than there are cores: whole runs wait half of their time."""
    return (os.cpu_count() or 2) * 3 // 2


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with whole runs, some files of which take minutes, so that no worker ends with one."""
    items.sort(key=lambda item: "flows" not in item.path.parts)


@pytest.fixture(autouse=True)
def assay_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Point ASSAY_HOME at a folder of this test, so that no test can reach a person's ledger."""
    home = tmp_path / "assay-home"
    monkeypatch.setenv("ASSAY_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests (`pytestmark = pytest.mark.anyio`) on asyncio, as Prefect does."""
    return "asyncio"


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """Run flows on a Prefect server of the test session's own; its start takes 12 to 35 s."""
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=120):
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of public data sets and files that stands beside the checkout."""
    folder = Path(os.environ.get("ASSAY_SHARED") or ROOT.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set ASSAY_SHARED to where it is")
    return folder
