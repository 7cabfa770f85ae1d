"""Check a report as a whole: which of its sections have to be written again."""

from dataclasses import replace

from prefect import task

from adapters.models.port import Answer, Reopened, ReportCheckInput, Researcher
from tasks.policy import POLICY

MAX_REASON = 1000


async def find_reopened(
    given: ReportCheckInput, researcher: Researcher
) -> Answer[tuple[Reopened, ...]]:
    """Return the sections to write again, each once, in the order of the report.

    A section without a single claim or remark is reopened whatever the researcher says.
    """
    answer = await researcher.check_report(given)
    said = {entry.section: entry.reason for entry in reversed(answer.value)}
    found = []
    for draft in given.drafts:
        reason = said.get(draft.section, "")
        if not draft.paragraphs:
            reason = reason or "the section is empty"
        if reason.strip():
            found.append(Reopened(draft.section, " ".join(reason.split())[:MAX_REASON]))
    return replace(answer, value=tuple(found))


@task(name="check-report", task_run_name="check report", **POLICY)
async def check_report(
    given: ReportCheckInput, *, researcher: Researcher
) -> Answer[tuple[Reopened, ...]]:
    """Look for sections that have to be written again."""
    return await find_reopened(given, researcher)
