"""A real paper, from its PDF to a plan whose citations stand in the archived text."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.acquisition.simple import LocalFile
from adapters.documents.sandboxed import SandboxedConverter
from adapters.models.coder import AnalyseInput, DesignInput, WriteFileInput
from adapters.sandbox.fake import FakeSandbox
from flows.audit import audit_run
from flows.code_kind import PAPER2CODE
from flows.code_tools import CodeTools
from state.code_request import CodeRequest
from state.values.code_plan import PaperCitation
from state.values.segments import SegmentKind
from tests.flows.code_world import PLAN, CodeWorld, scripted

SHARED = Path(os.environ.get("ASSAY_SHARED") or Path(__file__).resolve().parents[2] / "../shared")
PAPER = SHARED / "files/papers/Transformer.pdf"

pytestmark = [
    pytest.mark.usefixtures("prefect_server"),
    pytest.mark.skipif(not PAPER.exists(), reason=f"{PAPER} is not here"),
]

QUOTES = (
    "divide each by √dk, and apply a softmax function to obtain the weights on the values.",
    "We used the Adam optimizer",
    "We trained our models on one machine with 8 NVIDIA P100 GPUs.",
    "the residual dropout is 0.55",
)


class PaperWorld(CodeWorld):
    @property
    def source(self) -> Path:
        return PAPER

    def tools(self, request: CodeRequest) -> CodeTools:
        return replace(
            super().tools(request),
            acquirers={"local": LocalFile()},
            converter=SandboxedConverter(pool=1),
        )


def test_a_paper_becomes_a_plan_whose_quotes_are_looked_up(assay_home: Path) -> None:
    import anyio

    part = replace(
        PLAN.implementation_components[0],
        citations=tuple(PaperCitation(quote) for quote in QUOTES),
    )
    world = PaperWorld(assay_home, sandbox=FakeSandbox(()))
    world.coder = scripted(plan_=replace(PLAN, implementation_components=(part,), quantities=()))

    result = world.made(options={"plan_review": True})

    assert result.status == "waiting"
    desk = world.desk()
    run = desk.ledger.project("c1")
    assert run.paper2code is not None
    source = run.paper2code.sources[0]
    assert source.media_type == "application/pdf"
    assert source.pages == 15
    assert source.rendition is not None
    assert source.rendition.characters > 30_000
    plan = run.paper2code.plan
    assert plan is not None
    assert (plan.citations, plan.located) == (4, 3)
    shown = PAPER2CODE.plan_text(desk, run)
    assert shown.count("[NOT FOUND in the source]") == 1
    assert "15 pages" in shown

    audit = anyio.run(audit_run, desk, "c1")
    assert audit.ok, audit.findings
    assert (audit.citations, audit.citations_verified, audit.sources_rederived) == (4, 3, 1)


def test_a_paper_is_read_in_whole_parts_and_each_task_gets_its_own(assay_home: Path) -> None:
    world = PaperWorld(assay_home, sandbox=FakeSandbox(()))
    purpose = "scaled dot-product attention: softmax of queries and keys, divided by sqrt(dk)"
    first, *others = PLAN.file_structure
    plan = replace(PLAN, file_structure=(replace(first, purpose=purpose), *others), quantities=())
    world.coder = scripted(plan_=plan)
    world.coder.context_tokens = 16_384

    world.made()

    analysed = [g for g in world.coder.given if isinstance(g, AnalyseInput)]
    read = "".join(s.text for given in analysed for s in given.segments)
    assert "Multi-Head Attention" in read
    assert "label smoothing" in read.casefold()
    assert not any(s.kind is SegmentKind.REFERENCES for given in analysed for s in given.segments)
    assert len(analysed) > 1
    written = next(
        g for g in world.coder.given
        if isinstance(g, WriteFileInput) and g.file.path == "smoother.py"
    )  # fmt: skip
    assert "softmax" in "".join(s.text for s in written.segments).casefold()
    assert sum(len(s.text) for s in written.segments) < len(read)
    assert sum(isinstance(g, DesignInput) for g in world.coder.given) == 1
