"""Citations of published reports: after finalisation none dangles, is listed twice or is unused.

What is counted is counted by other means than the finaliser's: lines of the list, and markers.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from state.values.citations import finalise, listed_sources
from tests.evals.data import records
from tests.evals.measuring import Row
from tests.evals.scores import share

FILE = "published_reports/gpt-4.1.jsonl"
FIELDS = {"article": str}
_LINE = re.compile(r"^(?:\[(\d+)\]:?|(\d+)\.)\s+(\S.*)$", re.MULTILINE)
_MARKER = re.compile(r"(?:\[\[?|【)(\d+)(?:\]|】)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"https?://[^\s)\]>]+")


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with the citations of one report, as numbers of citations."""

    dangling: int
    duplicate: int
    unused: int


def measure(folder: Path) -> Iterable[Row]:
    """Yield the share of reports with each fault, after and before, and what else changed."""
    reports = [record["article"] for record in records(folder, FILE, FIELDS)]
    final = [finalise(report, listed_sources(report))[0] for report in reports]
    before, after = [faults_of(each) for each in reports], [faults_of(each) for each in final]
    for name in ("dangling", "duplicate", "unused"):
        yield Row(
            "citations",
            f"reports with {name} ones",
            share([getattr(each, name) > 0 for each in after]),
            len(reports),
            share([getattr(each, name) > 0 for each in before]),
            "as published",
        )
    same = [_words(one) == _words(other) for one, other in zip(reports, final, strict=True)]
    yield Row("citations", "reports whose prose is unchanged", share(same), len(reports))


def faults_of(report: str) -> Faults:
    """Return the faults of a report that ends in its list of sources."""
    body, listed = _parted(report)
    numbers = [int(line[1] or line[2]) for line in listed]
    addresses = [a[-1].rstrip("/.") for line in listed if (a := _ADDRESS.findall(line[3]))]
    cited = {int(number) for number in _MARKER.findall(_CODE.sub("", body))}
    cited -= {year for year in cited if year >= 1000}
    repeated = len(addresses) - len(set(addresses)) + len(numbers) - len(set(numbers))
    return Faults(len(cited - set(numbers)), repeated, len(set(numbers) - cited))


def _parted(report: str) -> tuple[str, list[re.Match[str]]]:
    """Return what stands before the last heading that has nothing but numbered lines under it."""
    for heading in reversed(list(re.finditer(r"^#+ .*$", report, re.MULTILINE))):
        listed = list(_LINE.finditer(report, heading.end()))
        if listed:
            return report[: heading.start()], listed
    return report, []


def _words(report: str) -> str:
    body = _parted(report)[0]
    return re.sub(r"\s+", "", re.sub(r"(?:\[\[?|【)[\d\s,;–-]+(?:\]|】)[,\s]*", "", body))
