"""Starting: the wall time of whole commands, Prefect and its server included."""

from collections.abc import Iterator
from pathlib import Path

from flows.server import stop_server
from tests.bench.commands import HELLO, assay, example, prefect_of, python
from tests.bench.measuring import Row, Samples, repeat

COLD, WARM = 2, 3


def measure(folder: Path) -> Iterator[Row]:
    """Yield the least time of each command: a busy machine adds to it, and nothing takes away."""
    yield from _small_commands(folder / "small")
    colds, plain, home = Samples(), Samples(), folder
    try:
        for number in range(COLD):
            stop_server(home)
            home = folder / f"cold-{number}"
            with colds.one():
                assay(home, *example("--quiet"))
            with plain.one():  # without a server, Prefect starts one for the process
                python(HELLO, env={"PREFECT_HOME": str(folder / f"plain-{number}")})
        named = "a hello flow, bare Prefect"
        yield Row("example research, cold", colds.least, plain.least, named, most_s=20.0)
        warm, hello = repeat(
            WARM,
            lambda: assay(home, *example("--quiet")),
            lambda: python(HELLO, env=prefect_of(home)),
        )
        yield Row("example research, warm", warm.least, hello.least, named, most_s=6.0)
    finally:
        stop_server(home)


def _small_commands(home: Path) -> Iterator[Row]:
    helped, listed, prefect = repeat(
        5,
        lambda: assay(home, "--help"),
        lambda: assay(home, "runs"),
        lambda: python("import prefect"),
    )
    yield Row("assay --help", helped.least, prefect.least, "import prefect", most_s=0.5)
    yield Row("assay runs", listed.least, prefect.least, "import prefect")
