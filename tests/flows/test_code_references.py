"""References: a help that is asked for, and that degrades where it cannot be had."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.acquisition.fake import FakeAcquirer
from adapters.acquisition.port import Source, SourceFile
from adapters.documents.convert import convert_bytes
from adapters.sandbox.fake import FakeSandbox
from flows.code_references import linked, references_of
from flows.code_tools import CodeTools
from state.code_request import CodeRequest
from state.values.errors import RejectedError
from tests.adapters.documents.pdf_maker import column, prose, show, simple
from tests.flows.code_world import CodeWorld

OURS = "https://github.com/someone/smoothing"
OTHERS = "https://github.com/someone/deep-learning"
LIMITED = "https://github.com/someone/limited"
SOURCE = Source(
    (
        SourceFile("ema.py", b'def ema(x: float) -> float:\n    """Smooth x."""\n    return x\n'),
        SourceFile("pkg/bias.py", b"class Corrected:\n    def add(self, x: float) -> None: ...\n"),
    ),
    OURS,
    "MIT License",
)


class IndexingWorld(CodeWorld):
    acquirer: FakeAcquirer

    def tools(self, request: CodeRequest) -> CodeTools:
        tools = super().tools(request)
        return CodeTools(
            acquirers={**tools.acquirers, "repository": self.acquirer},
            converter=tools.converter,
            coder=tools.coder,
            open_sandbox=tools.open_sandbox,
        )


@pytest.fixture
def world(assay_home: Path) -> IndexingWorld:
    world = IndexingWorld(assay_home, sandbox=FakeSandbox(()))
    limited = RejectedError("too many requests", code="HTTP_429")
    world.acquirer = FakeAcquirer({OURS: SOURCE, LIMITED: limited})
    return world


def options(**more: Any) -> dict[str, Any]:
    return {"options": {"plan_review": False, "enable_indexing": True}, **more}


@pytest.mark.usefixtures("prefect_server")
def test_what_cannot_be_had_is_said_and_the_work_goes_on(world: IndexingWorld) -> None:
    """Cases: A 11, F 47."""
    world.made(**options(reference_repositories=(OURS, LIMITED)))

    run = world.desk().ledger.project("c1")
    assert run.paper2code is not None
    found = {each.locator: each for each in run.paper2code.references}
    assert (found[OURS].outcome, found[OURS].licence, found[OURS].files) == (
        "indexed", "MIT License", 2,
    )  # fmt: skip
    assert (found[LIMITED].outcome, found[LIMITED].reason) == ("failed", "too many requests")
    written = [given for given in world.coder.given if "def ema" in repr(given)]
    assert {type(given).__name__ for given in written} == {"WriteFileInput"}
    assert any("class Corrected" in repr(given) for given in written)
    stages = [record.stage for record in run.stages]
    assert stages.index("collecting_references") < stages.index("indexing")
    assert stages.index("indexing") < stages.index("implementing")


@pytest.mark.usefixtures("prefect_server")
def test_without_indexing_nothing_is_looked_at(world: IndexingWorld) -> None:
    world.paper += f"\n\nCode: {OURS}\n"

    world.made()

    assert world.acquirer.asked == []


def test_links_of_the_paper_are_found_by_their_exact_names() -> None:
    """Cases: F 46, 50."""
    text = f"See {OURS}?tab=readme, https://github.com/foo/deep-learning.git. And https://x.org/a."

    assert linked(text) == [OURS, "https://github.com/foo/deep-learning.git"]


@pytest.mark.parametrize(
    ("note", "link"),
    [
        (["1 The code is at https://github.com/someone/smoothing."], OURS),
        (["1 The code is at https://github.com/someone/", "smoothing, and may be used."], OURS),
        (["1 See https://github.com/someone/", "deep-learning"], OTHERS),
        (["1 See https://github.com/someone/deep-", "learning for it."], OTHERS),
        (["1 See https://github.com/someone/smoothing/", "Others wrote it."], OURS),
    ],
)
def test_a_link_in_a_footnote_is_found_also_where_a_line_breaks_it(
    note: list[str], link: str
) -> None:
    """Cases: F 46, G 61."""
    lines = "".join(show(line, 72, 80 - 8 * at, size=7) for at, line in enumerate(note))
    pages = simple(column(prose(30)) + lines, column(prose(30, start=40)))

    made = convert_bytes(pages, "paper.pdf", "").document

    assert made is not None
    assert all(line in made.main_text for line in note)
    assert linked(made.text) == [link]


def test_the_papers_own_code_can_be_excluded() -> None:
    request = SimpleNamespace(excluded_repositories=(f"{OURS}.git",), reference_repositories=())
    driver = SimpleNamespace(paper2code=SimpleNamespace(request=request))
    agreed = SimpleNamespace(material=SimpleNamespace(text=f"{OURS} and {LIMITED}"))

    assert references_of(driver, agreed) == [LIMITED]  # type: ignore[arg-type]
