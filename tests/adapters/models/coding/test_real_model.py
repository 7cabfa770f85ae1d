"""A small real model on loopback plans and writes code: what is asserted holds of any answer.

What it writes is parsed and never run here.
"""

from collections.abc import AsyncIterator, Iterator

import pytest

from adapters.documents.convert import convert_bytes
from adapters.documents.segmenting import segment
from adapters.models.chat.provider import Patience, ProviderModel
from adapters.models.coder import AnalyseInput, DesignInput, KnownFile, WriteFileInput
from adapters.models.coding.coder import LanguageCoder
from adapters.models.coding.interfaces import interface_of
from adapters.models.coding.selecting import select
from adapters.models.coding.syntax import check_syntax
from state.values.code_plan import FileRole
from tests import model_server
from tests.flows.printing import PAPERS, print_pdf

pytestmark = [pytest.mark.anyio, pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    try:
        with model_server.serve() as url:
            yield url
    except model_server.Absent as absent:
        pytest.skip(absent.reason)


@pytest.fixture
async def coder(base_url: str) -> AsyncIterator[LanguageCoder]:
    model = ProviderModel(
        model_server.NAME,
        base_url=base_url,
        context_tokens=8192,
        patience=Patience(deadline_s=900),
    )
    yield LanguageCoder(model)
    await model.aclose()


async def test_a_paper_becomes_a_plan_and_a_file(coder: LanguageCoder) -> None:
    markdown = (PAPERS / "debiased-smoothing.md").read_text(encoding="utf-8")
    document = convert_bytes(print_pdf(markdown), "paper.pdf", "").document
    assert document is not None
    segments = segment(document)
    method = select(segments, "method formula settings", room_tokens=1500)

    analysis = await coder.analyse(AnalyseInput("", method))
    given = DesignInput("", "Debiased smoothing", (analysis.value,), method)
    plan = (await coder.design(given)).value

    assert all(found.citation.quote in document.text for found in analysis.value.findings)
    assert "0.9" in {each.value for each in plan.quantities}
    assert plan.implementation_strategy.order[-1] == "README.md"
    assert plan.validation_approach.tests
    sources = [
        file for path in plan.implementation_strategy.order
        if (file := plan.file(path)) and file.role is FileRole.SOURCE and file.interface
    ]  # fmt: skip
    assert sources
    file = sources[0]
    written = await coder.write_file(
        WriteFileInput(
            title=plan.title,
            language="python",
            file=file,
            component=None,
            quantities=plan.quantities,
            ambiguities=(),
            requirements=plan.environment_setup.requirements,
            segments=method,
            known=tuple(
                KnownFile(path, interface_of(path, ""), plan.title) for path in file.depends_on
            ),
        )
    )
    assert check_syntax(file.path, written.value.text) is None
    assert written.usage.tokens > 0
