"""Audit of a Paper2Code run: from the report back to the paper, and to the tests that ran."""

import json

import anyio

from flows.audit import Chain, Finding, check_outcomes, check_published, rederive
from flows.delivering import published_files
from flows.wiring import Desk
from state.code_state import Paper2Code
from state.values.code_plan import CodePlan, PaperCitation
from state.values.code_plan_form import parse_code_plan
from state.values.errors import AssayError
from state.values.quotes import NormalisedText
from state.values.verification import Verification


async def audit_code(chain: Chain, desk: Desk, code: Paper2Code) -> None:
    """Walk the chain: sources, their text made again, the plan's quotes, files, tests, report."""
    text = await _check_sources(chain, desk, code)
    plan = await anyio.to_thread.run_sync(_plan, chain, code)
    if plan is not None and text is not None:
        await anyio.to_thread.run_sync(_check_citations, chain, plan, text)
    for path, address in code.file_hashes.items():
        chain.body(address, f"file {path}")
    _check_verifications(chain, code)
    check_outcomes(chain)
    if code.sealed:
        bodies = {name: chain.body(address, name) for name, address in published_files(code)}
        check_published(chain, desk.reports / chain.run.run_id, bodies)


async def _check_sources(chain: Chain, desk: Desk, code: Paper2Code) -> str | None:
    """Return the text that the plan cites, or None where it cannot be had.

    Of a repository it is put together again from the files.
    """
    if code.request.source_type == "repository":
        parts = []
        for source in code.sources:
            body = chain.body(source.content_hash, f"source {source.name}")
            parts.append(f"=== {source.name} ===\n{(body or b'').decode()}\n")
            chain.audit.sources += 1
            chain.audit.sources_rederived += body is not None
        return "".join(parts)
    converter = desk.converter()
    try:
        texts = [await rederive(chain, source, source.name, converter) for source in code.sources]
    finally:
        await converter.aclose()
    chain.audit.sources = len(code.sources)
    return texts[0] if texts else None


def _plan(chain: Chain, code: Paper2Code) -> CodePlan | None:
    if code.plan is None:
        return None
    about = f"plan {code.plan.version}"
    body = chain.body(code.plan.body_hash, about)
    if body is None:
        return None
    try:
        plan = parse_code_plan(body.decode())
    except AssayError as error:
        chain.audit.findings.append(Finding(about, error.message))
        return None
    if plan.hash != code.plan.plan_hash:
        chain.audit.findings.append(Finding(about, "it is not the plan that was decided on"))
    return plan


def _check_citations(chain: Chain, plan: CodePlan, text: str) -> None:
    normalised = NormalisedText(text)
    cited = [c for part in plan.implementation_components for c in part.citations]
    cited += [each.citation for each in plan.quantities if each.citation is not None]
    for number, citation in enumerate(cited, start=1):
        chain.audit.citations += 1
        if _stands(citation, normalised):
            chain.audit.citations_verified += 1
        elif citation.is_located:
            problem = "the archived text does not hold this quote at its place"
            chain.audit.findings.append(Finding(f"citation {number} of the plan", problem))
        else:
            quote = " ".join(citation.quote.split())[:80]
            chain.audit.remarks.append(f"“{quote}” is not in the source, and the report says so")


def _stands(citation: PaperCitation, text: NormalisedText) -> bool:
    found = text.find(citation.quote, start_hint=citation.start)
    return found is not None and (found.start, found.end) == (citation.start, citation.end)


def _check_verifications(chain: Chain, code: Paper2Code) -> None:
    for event in code.verifications:
        about = f"verification {event.attempt}"
        body = chain.body(event.result_hash, about)
        if body is None:
            continue
        record = Verification.from_json(json.loads(body))
        if (record.verdict.value, record.counts.executed) != (event.verdict, event.executed):
            chain.audit.findings.append(Finding(about, "its record says something else"))
