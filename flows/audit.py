"""Audit: walk a run's chain again, from report to archived bytes, with no network and no model.

report → citation → quote → text → bytes → source → event. The text is made again from the bytes by
the same extractor, so that "the archive contains this quote" rests on the bytes alone.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import anyio

from adapters.documents.port import Converter
from flows.wiring import Desk
from state.artifacts import Artifacts
from state.errors import IntegrityError
from state.projection import Run
from state.research_events import ArtifactRole, Rendition, ResearchArtifactRecorded
from state.research_projection import Research
from state.values.blocks import Outcome
from state.values.errors import AssayError
from state.values.ids import content_hash
from state.values.redaction import redact
from tasks.read import file_name

Standing = Literal["verified", "failed", "withheld"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not check out: what it is about, what is wrong, and what it means."""

    about: str
    problem: str


@dataclass(slots=True)
class Audit:
    """The outcome of walking one run's chain. `ok` when nothing failed; withheld is no failure.

    `withheld` counts the bodies of the archive that were forgotten for the run, as `forget` does,
    and `deleted` those of them that are gone, since no other run needs them.
    """

    run_id: str
    citations: int = 0
    citations_verified: int = 0
    sources: int = 0
    sources_rederived: int = 0
    withheld: int = 0
    deleted: int = 0
    withheld_because: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Tell whether everything that can be checked checks out."""
        return not self.findings

    @property
    def outcome(self) -> str:
        """Return the outcome in words; it is `verified` only when something was."""
        if not self.ok:
            return "NOT verified"
        if self.deleted and not self.citations_verified:
            return "withheld"
        checked = self.citations_verified or self.sources_rederived
        return "verified" if checked else "nothing to verify"

    def as_json(self) -> dict[str, Any]:
        """Return the audit for programs."""
        return {**asdict(self), "ok": self.ok, "outcome": self.outcome}


class ArchivedSource(Protocol):
    """A source as an event records it."""

    @property
    def locator(self) -> str:
        """Return where it comes from."""
        ...

    @property
    def content_hash(self) -> str:
        """Return the hash of its bytes."""
        ...

    @property
    def rendition(self) -> Rendition | None:
        """Return its text, if there is one."""
        ...


@dataclass(frozen=True, slots=True)
class Chain:
    """A run's archive as it is walked, and the audit that is told what does not check out."""

    audit: Audit
    artifacts: Artifacts
    run: Run

    def body(self, address: str, about: str) -> bytes | None:
        """Return the bytes at `address`; what keeps them back is a finding, unless withheld."""
        try:
            return self.artifacts.get(address)
        except AssayError as error:
            if address not in self.run.withheld:
                self.audit.findings.append(Finding(about, error.message))
            return None


async def audit_run(desk: Desk, run_id: str) -> Audit:
    """Return what walking the chain of `run_id` finds; never raises for what it finds.

    Raises `NotFound` for a run there is not, `CorruptLedger` when its journal does not check out.
    """
    run = await anyio.to_thread.run_sync(desk.ledger.project, run_id)
    audit = Audit(
        run_id,
        withheld=len(run.withheld),
        deleted=sum(not desk.artifacts.has(each) for each in run.withheld),
        withheld_because=list(dict.fromkeys(run.withheld.values())),
    )
    if run.paper2code is not None:
        from flows.code_audit import audit_code

        await audit_code(Chain(audit, desk.artifacts, run), desk, run.paper2code)
    if run.research is None:
        return audit
    texts = await _check_sources(audit, desk, run, run.research)
    _check_evidence(audit, run.research, texts)
    _check_derived(Chain(audit, desk.artifacts, run), run.research)
    if run.research.completed:
        _check_report(audit, desk, run, run.research, texts)
    return audit


def check_citations(artifacts: Artifacts, run: Run) -> None:
    """Raise `IntegrityError` unless the archive holds every quote of the sealed report.

    Far less than an audit: no text is made again. A source that was withheld is passed over.
    """
    for artifact in run.research.of_role(ArtifactRole.REPORT) if run.research else ():
        if artifact.name != "report.json":
            continue
        for citation in json.loads(artifacts.get(artifact.content_hash))["content"]["citations"]:
            if citation["text_hash"] in run.withheld:
                continue
            text = artifacts.read_text(citation["text_hash"])
            if redact(text[citation["start"] : citation["end"]]) != citation["quote"]:
                raise IntegrityError(
                    f"citation [{citation['number']}] of run {run.run_id!r} is not in the archive; "
                    f"'assay verify {run.run_id}' says more"
                )


async def _check_sources(audit: Audit, desk: Desk, run: Run, research: Research) -> dict[str, str]:
    """Return the archived text of each source that checks out, by its id."""
    texts: dict[str, str] = {}
    converter = desk.converter()
    limit = anyio.Semaphore(desk.settings.conversions_at_once)

    async def one(source: ResearchArtifactRecorded) -> None:
        async with limit:
            name = file_name(source.locator)
            text = await rederive(Chain(audit, desk.artifacts, run), source, name, converter)
            if text is not None:
                texts[source.artifact_id] = text

    try:
        async with anyio.create_task_group() as group:
            for source in research.sources:
                group.start_soon(one, source)
    finally:
        await converter.aclose()
    audit.sources = sum(source.rendition is not None for source in research.sources)
    return texts


async def rederive(
    chain: Chain, source: ArchivedSource, name: str, converter: Converter
) -> str | None:
    """Return the archived text of `source`, made again from its bytes; None if it cannot be had.

    `name` is what the file was called when it was read.
    """
    audit, about = chain.audit, f"source {source.locator}"
    raw = chain.body(source.content_hash, about)
    if source.rendition is None:
        return None
    chain.body(source.rendition.blocks_hash, f"blocks of {about}")
    archived = chain.body(source.rendition.text_hash, f"text of {about}")
    if raw is None or archived is None:
        return None
    rendition = source.rendition
    made = await converter.convert(raw, name=name, media_type=rendition.declared_type)
    document = made.document
    if document is None:
        audit.findings.append(Finding(about, f"cannot be read again: {made.reason}"))
    elif (document.extractor, document.extractor_version) != (
        rendition.extractor,
        rendition.extractor_version,
    ):
        audit.remarks.append(
            f"{about}: its text was made by {rendition.extractor} {rendition.extractor_version}, "
            f"which is not here; the text's hash checks out, but it was not made again"
        )
    elif _was_cut_elsewhere(document.text, archived.decode(), rendition):
        audit.remarks.append(
            f"{about}: it was read in part, and another part was read now; the text's hash checks "
            "out, but it was not made again"
        )
    elif content_hash(document.text) != rendition.text_hash:
        audit.findings.append(Finding(about, "the archived text is not what its bytes say"))
        return None
    else:
        audit.sources_rederived += 1
    return archived.decode()


def _was_cut_elsewhere(text: str, archived: str, rendition: Rendition) -> bool:
    """Tell whether one text is the other's beginning: a limit of time is reached here or there."""
    shorter, longer = sorted((text.rstrip(), archived.rstrip()), key=len)
    return rendition.outcome == Outcome.PARTIAL and shorter != longer and longer.startswith(shorter)


def _check_evidence(audit: Audit, research: Research, texts: dict[str, str]) -> None:
    for id_ in research.evidence_order:
        event = research.evidence[id_]
        text = texts.get(event.quote.source_id)
        if text is not None:
            quote = text[event.quote.start : event.quote.end]
            if content_hash(quote) != event.quote_hash:
                problem = "the archived text does not hold this quote at its place"
                audit.findings.append(Finding(f"evidence {id_}", problem))


def _check_derived(chain: Chain, research: Research) -> None:
    for id_ in research.artifact_order:
        artifact = research.artifacts[id_]
        sealed = artifact.role is ArtifactRole.REPORT and research.completed
        if artifact.role is not ArtifactRole.SOURCE and not sealed:
            about = f"{artifact.role} {artifact.name!r}"
            chain.body(artifact.content_hash, about)
    check_outcomes(chain)


def check_outcomes(chain: Chain) -> None:
    """Read the outcome of every step that settled."""
    for call_id, effect in sorted(chain.run.effects.items()):
        if effect.outcome_hash:
            chain.body(effect.outcome_hash, f"outcome of step {call_id}")


# ---- the report


def _check_report(
    audit: Audit, desk: Desk, run: Run, research: Research, texts: dict[str, str]
) -> None:
    chain = Chain(audit, desk.artifacts, run)
    bodies = {
        artifact.name: chain.body(artifact.content_hash, artifact.name)
        for artifact in research.of_role(ArtifactRole.REPORT)
    }
    check_published(chain, desk.reports / run.run_id, bodies)
    structured = bodies.get("report.json")
    if structured is None:
        return
    content = json.loads(structured)["content"]
    for citation in content["citations"]:
        audit.citations += 1
        standing, problem = _citation_standing(citation, research, run, texts)
        audit.citations_verified += standing == "verified"
        if standing == "failed":
            audit.findings.append(Finding(f"citation [{citation['number']}]", problem))
    _check_claims(audit, content, research)


def check_published(chain: Chain, folder: Path, bodies: dict[str, bytes | None]) -> None:
    """Compare what lies in `folder` with the sealed `bodies` by name."""
    audit, run = chain.audit, chain.run
    if run.status != "completed":
        return
    for name, body in bodies.items():
        path = folder / name
        if body is None:
            continue
        try:
            differs = path.read_bytes() != body
        except FileNotFoundError:
            audit.remarks.append(f"{path} is not there; 'assay resume {run.run_id}' publishes it")
        except OSError as error:
            audit.findings.append(Finding(str(path), f"cannot be read: {error.strerror}"))
        else:
            if differs:
                problem = "differs from the report that was sealed"
                audit.findings.append(Finding(str(path), problem))


def _citation_standing(
    citation: dict[str, Any], research: Research, run: Run, texts: dict[str, str]
) -> tuple[Standing, str]:
    event = research.evidence.get(citation["evidence_id"])
    source = research.artifacts.get(citation["source_id"])
    if event is None or source is None or source.rendition is None:
        return "failed", "the ledger knows no such evidence or source"
    if event.quote.source_id != citation["source_id"]:
        return "failed", "it names another source than its evidence"
    place = (event.quote.start, event.quote.end, source.content_hash, source.rendition.text_hash)
    said = (citation["start"], citation["end"], citation["content_hash"], citation["text_hash"])
    if place != said:
        return "failed", "its place differs from the one that was recorded"
    text = texts.get(citation["source_id"])
    if text is None:
        gone = {source.content_hash, source.rendition.text_hash} & set(run.withheld)
        return ("withheld", "") if gone else ("failed", "its source does not check out")
    if redact(text[citation["start"] : citation["end"]]) != citation["quote"]:
        return "failed", "the archived text does not hold this quote at its place"
    return "verified", ""


def _check_claims(audit: Audit, content: dict[str, Any], research: Research) -> None:
    numbers = [citation["number"] for citation in content["citations"]]
    used: set[int] = set()
    for claim in content["claims"]:
        about = f"claim {claim['id']}"
        used.update(claim["citations"])
        recorded = research.claims.get(claim["id"])
        if recorded is None or recorded.text_hash != content_hash(claim["text"]):
            audit.findings.append(Finding(about, "its words are not those that were recorded"))
        if not claim["citations"]:
            audit.findings.append(Finding(about, "it cites nothing"))
    for number in sorted(used - set(numbers)):
        audit.findings.append(Finding(f"citation [{number}]", "it is cited and does not exist"))
    for number in sorted(set(numbers) - used):
        audit.findings.append(Finding(f"citation [{number}]", "no claim cites it"))
