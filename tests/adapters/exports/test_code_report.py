"""The report of code, in the words that fit what the code was made from."""

from adapters.exports.code_report import code_report_markdown
from state.values.code_plan import Ambiguity, PaperCitation, Quantity, QuantityKind
from state.values.code_report import CodeReport, ReportedComponent

CITED = PaperCitation("at most 3 tries")
PART = ReportedComponent(
    "tries", "Tries", "It gives up after 3.", "not shown", "No test is about it.",
    ("a.py",), (), (CITED,),
)  # fmt: skip


def report(made_from: str, **fields: object) -> CodeReport:
    made = {
        "run_id": "r1", "title": "Tries", "outcome": "incomplete", "reasons": (),
        "source": "requirement:1", "source_hash": "sha256:ab", "source_remarks": (), "licence": "",
        "requirement": "Give up after 3 tries.", "coder": "model:x", "plan_version": 1,
        "plan_hash": "ab", "review": "approved by ann", "files": (), "components": (PART,),
        "quantities": (Quantity("tries", QuantityKind.HYPERPARAMETER, "3", citation=CITED),),
        "ambiguities": (Ambiguity("How long between?", "No time."),), "language": "python",
        "requirements": (), "installation": "", "verifications": (), "repairs": (),
        "made_from": made_from, **fields,
    }  # fmt: skip
    return CodeReport(**made)  # type: ignore[arg-type] # tests name real fields


def test_code_made_from_a_requirement_is_told_of_in_its_words() -> None:
    text = code_report_markdown(report("requirement"))

    assert "paper" not in text
    assert "source" not in text.lower()
    assert "- A requirement (`sha256:ab`)\n- Wanted: Give up after 3 tries." in text
    assert "## What the requirement leaves open" in text
    assert "| tries | 3 |  | parameter | specified |" in text
    assert "### Tries: not shown to hold" in text


def test_code_made_from_a_paper_names_its_source() -> None:
    text = code_report_markdown(report("source", source="paper.pdf"))

    assert "- Source: paper.pdf (`sha256:ab`)" in text
    assert "| hyperparameter | specified |" in text
    assert "(the source) — NOT FOUND in the source" in text


def test_a_bar_in_a_value_stays_in_its_cell() -> None:
    odd = Quantity("norm", QuantityKind.CONSTANT, "|x|", unit="-1")

    text = code_report_markdown(report("source", quantities=(odd,)))

    assert r"| norm | \|x\| | -1 | constant |" in text
