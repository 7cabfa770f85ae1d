"""Questions over an invented world: conflicts, gaps, copies, old versions, several languages."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from adapters.models.port import Researcher
from tests.evals.asked import Asked, Judged, judge_all, rows
from tests.evals.measuring import Row
from tests.evals.overlooking import Overlooking

WORLD = Path(__file__).resolve().parent / "world"

QUESTIONS = (
    Asked("How long does the crossing of the Petrel take?", (r"40 minutes",)),
    Asked("When was the ferry Petrel built?", (r"1998", r"1996"), conflict=True),
    Asked("Who runs the Petrel, and how many passengers does she carry?",
          (r"Orrin Ferry Trust", r"220 passengers")),
    Asked("Why does the Petrel not sail on the day of the harbour fair?", (r"because the quay",)),
    Asked("What does a single ticket for the Petrel cost?", (r"6 euro",)),
    Asked("Are dogs allowed on the north beach?",
          (r"Dogs are allowed", r"Dogs are not allowed"), conflict=True),
    Asked("How tall is the Skelder mast?", (r"90 m", r"72 m"), conflict=True,
          remark=r"90 m \(2 independent sources\)"),
    Asked("Who built the Skelder mast and when?", (r"1931 by Ott",)),
    Asked("What will painting the Skelder mast cost?", (r"18,000 euro",)),
    Asked("How many days of annual leave do employees of the Orrin Dairy have?",
          (r"28 days",), remark=r"2024.*newer|newer.*2024"),
    Asked("How long are visitor records of the museum kept?", (r"90 days",),
          remark=r"newer"),
    Asked("Which Python version does Kestrel require?", (r"Requires: Python >=3\.10",)),
    Asked("Who is the author of Kestrel?", (r"Author: Ada Quill",)),
    Asked("What is Kestrel built on?", (r"built on the Orrin framework",)),
    Asked("How do I install Kestrel?", (r"pip install kestrel-station",)),
    Asked("What does Kestrel measure?", (r"rainfall|air pressure|wind",)),
    Asked("What is the default of retry-limit?", (r"Default: 5", r"Default: 3"), conflict=True),
    Asked("What is the default of poll-interval?", (r"30 seconds",)),
    Asked("Where are the logs of Kestrel written?", (r"\.kestrel/logs",)),
    Asked("How many members does the crew of the lifeboat of Halden have?",
          (r"twelve", r"14"), conflict=True),
    Asked("How much does the lifeboat of Halden cost?", gap=True),
    Asked("How many inhabitants does Skelder have?", (r"412 inhabitants",)),
    Asked("How long is the river Skelder?", (r"37 km",)),
    Asked("How tall is the Brinmoor tower?", (r"42 m|138 feet",)),
    Asked("Wann wurde die Stadtbibliothek Halden gegründet?", (r"1887",)),
    Asked("Warum bleibt der Lesesaal im Winter geschlossen?", (r"weil die Heizung",)),
    Asked("Wie viele Bände besitzt die Stadtbibliothek Halden?", (r"48\.000 Bände",)),
    Asked("奥林赛灯塔有多高？", (r"42米",)),
    Asked("灯塔为什么在冬季不开放？", (r"因为道路结冰",)),
    Asked("ハルデン港の水深はいくつですか？", (r"12メートル",)),
    Asked("When is the museum of tides open?", (r"Tuesday to Sunday",)),
    Asked("Who founded the museum of tides?", (r"Ida Fenn",)),
    Asked("Who is the harbour master of Marnby?", gap=True),
    Asked("What is the salary of the archivist?", gap=True),
    Asked("Compare the Skelder mast and the Brinmoor tower in height.",
          (r"90 m|72 m", r"42 m|138 feet"), conflict=True),
    Asked("Which instruments does the observatory of Tarn use?", gap=True),
)  # fmt: skip


def measure(_: Path) -> Iterable[Row]:
    """Yield how many of the questions are answered, and whether conflicts and gaps are told."""
    yield from rows("invented world", judged())
    told = {"conflicts told", "no conflict where none is"}
    found = rows("invented world, one quote each named", judged(Overlooking()))
    yield from (row for row in found if row.measure in told)


def judged(researcher: Researcher | None = None) -> list[Judged]:
    """Return how each of the questions was answered."""
    with tempfile.TemporaryDirectory(prefix="assay-eval-") as cache:
        return judge_all(WORLD, Path(cache), QUESTIONS, researcher)
