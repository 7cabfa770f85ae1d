"""An invented paper is the same paper on Markdown and on paper."""

from adapters.documents.convert import convert_bytes
from adapters.documents.segmenting import segment
from state.values.quotes import find_quote
from state.values.segments import SegmentKind
from tests.flows.printing import PAPERS, print_pdf


def test_the_printed_paper_is_read_with_its_parts() -> None:
    markdown = (PAPERS / "debiased-smoothing.md").read_text(encoding="utf-8")

    document = convert_bytes(print_pdf(markdown), "paper.pdf", "").document

    assert document is not None
    assert document.quality.pages == 2
    for quote in (
        "The mean absolute error of the forecast is 1.4095 with the correction",
        "With the default decay this is 19 values",
        "s_t = (m_t) / (1 - beta^t)",
        "default decay beta",
    ):
        assert find_quote(document.text, quote) is not None, quote
    segments = segment(document)
    assert {each.section[-1] for each in segments} >= {"2.2 Bias Correction", "3.2 A Ramp"}
    assert any(each.kind is SegmentKind.REFERENCES for each in segments)
