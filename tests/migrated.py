"""A Prefect database that is migrated already, for homes whose tests are not about a first start.

Making one takes two seconds of work, and some thirty homes of the tests need one: one file in the
folder for temporary files serves them all, and every later session with the same Prefect.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path


def with_database(home: Path) -> Path:
    """Make the data folder `home`, its Prefect database in it, and return it."""
    engine = home / "prefect"
    engine.mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    shutil.copyfile(_database(), engine / "prefect.db")
    return home


@cache
def _database() -> Path:
    name = f"assay-tests-{os.getuid()}-prefect-{version('prefect')}.db"
    kept = Path(tempfile.gettempdir()) / name
    if not kept.exists():
        _make(kept)
    if kept.stat().st_uid != os.getuid():
        raise PermissionError(f"{kept} is another user's; delete it")
    return kept


def _make(kept: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="assay-tests-"))
    try:
        database = folder / "prefect.db"
        own = {name: text for name, text in os.environ.items() if not name.startswith("PREFECT_")}
        own["PREFECT_HOME"] = str(folder)
        own["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = f"sqlite+aiosqlite:///{database}"
        subprocess.run(
            [sys.executable, "-m", "prefect", "server", "database", "upgrade", "--yes"],
            env=own, check=True, capture_output=True, timeout=110,
        )  # fmt: skip
        database.replace(kept)
    finally:
        shutil.rmtree(folder)
