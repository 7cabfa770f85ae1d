"""The measures themselves, and what the evaluations say to data that they cannot use."""

import json
from pathlib import Path

import pytest

from tests.adapters.models.chat.openai_server import serving
from tests.evals import attribution, cranfield, modelled, ramdocs, wice
from tests.evals.bm25 import Bm25
from tests.evals.citations import faults_of
from tests.evals.data import Absent, BadData, records
from tests.evals.fit import fit
from tests.evals.measuring import Row, table
from tests.evals.scores import (
    average_precision,
    best_threshold,
    f1,
    macro_f1,
    ndcg,
    precision_recall,
    recall,
)
from tests.flows.answerer import Answerer


def test_measures_follow_their_definitions() -> None:
    assert precision_recall([True, True, False], [True, False, True]) == (0.5, 0.5)
    assert f1(["a", "b", "b"], ["a", "a", "b"], "b") == pytest.approx(2 / 3)
    assert macro_f1(["a", "b"], ["a", "b"]) == 1.0
    assert average_precision(["x", "a", "b"], {"a", "b"}) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert recall(["a", "x"], {"a", "b"}) == 0.5
    assert ndcg(["a", "b"], {"a": 2.0, "b": 1.0}) == 1.0
    assert ndcg(["b", "a"], {"a": 2.0, "b": 1.0}) < 1.0
    assert ndcg([], {}) == 0.0
    assert best_threshold([0.1, 0.4, 0.6, 0.9], [False, False, True, True]) == 0.6


def test_bm25_puts_the_rare_word_first() -> None:
    index = Bm25(["the mast is tall", "the heron is grey", "the mast is grey"])

    assert index.rank("grey herons") == [1, 2]
    assert index.rank("absent") == []


def test_the_formula_separates_what_can_be_separated() -> None:
    formula = fit([(0.1, 1.0), (0.2, 1.0), (0.8, 1.0), (0.9, 1.0)], [False, False, True, True])

    assert formula.probability((0.1, 1.0)) < 0.5 < formula.probability((0.9, 1.0))


def test_faults_of_citations_are_counted() -> None:
    report = "So [1] and [4].\n\n## Sources\n\n[1] A: https://a.org\n[2] A: https://a.org/\n"

    faults = faults_of(report)

    assert (faults.dangling, faults.duplicate, faults.unused) == (1, 1, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no json", "line 1 is not JSON"),
        ("[1]", "line 1 is not an object"),
        ('{"claim": 1}', "'claim' is missing or not of type str"),
        ("\n\n", "holds no record"),
    ],
)
def test_data_that_cannot_be_read_is_told_where(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text(text)

    with pytest.raises(BadData, match=said):
        records(tmp_path, "data.jsonl", {"claim": str})


def test_data_that_is_absent_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="is not there"):
        list(wice.measure(tmp_path))


def claims(folder: Path) -> None:
    (folder / "attributionbench").mkdir()
    texts = "The Skelder mast was built in 1931.", "Herons nest on the roof of the mast all winter."
    labels = "attributable", "not attributable"
    cases = [
        {"claim": text, "question": "?", "references": [f"{texts[0]} It is grey."],
         "attribution_label": label, "src_dataset": "made"}
        for text, label in zip(texts, labels, strict=True)
    ]  # fmt: skip
    (folder / attribution.FILE).write_text("\n".join(map(json.dumps, cases)) + "\n")


def test_a_model_is_measured_beside_the_check_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims(tmp_path)
    with serving(answer=Answerer()) as server:
        monkeypatch.setenv("ASSAY_MODEL_URL", server.base_url)
        rows = list(modelled.measure(tmp_path, "served", limit=5))

    assert [(row.measure, row.n) for row in rows[:2]] == [
        ("attribution, macro-F1", 2), ("supported: attributable", 2),
    ]  # fmt: skip
    assert len(server.bodies) == 2
    assert rows[0].baseline == 1.0


def test_without_a_model_to_ask_it_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSAY_MODEL_URL", raising=False)
    claims(tmp_path)

    with pytest.raises(Absent, match="ASSAY_MODEL_URL"):
        list(modelled.measure(tmp_path, "no-such-provider:x"))


def test_a_set_laid_out_alike_is_measured(tmp_path: Path) -> None:
    (tmp_path / "wice").mkdir()
    case = {
        "claim": "The Skelder mast was built in 1931.",
        "evidence": ["Herons fly.", "The Skelder mast was built in 1931 by Ott."],
        "supporting_sentences": [[1]],
    }
    (tmp_path / wice.FILE).write_text(json.dumps(case) + "\n")

    rows = list(wice.measure(tmp_path))

    assert [(row.value, row.n) for row in rows] == [(1.0, 1), (1.0, 1)]
    assert "wice" in table(rows)


def test_a_document_without_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "ramdocs").mkdir()
    case = {"question": "Where?", "documents": [{"answer": "Here"}], "gold_answers": ["Here"]}
    (tmp_path / ramdocs.FILE).write_text(json.dumps(case))

    with pytest.raises(BadData, match="lacks 'text'"):
        list(ramdocs.measure(tmp_path))


def test_a_collection_is_searched_as_a_run_searches(tmp_path: Path) -> None:
    folder = tmp_path / "cranfield"
    folder.mkdir()
    (folder / "cran.all.1400").write_text(
        ".I 1\n.T\nwings\n.A\nx\n.B\ny\n.W\nwings\nlift of slender wings .\n"
        ".I 2\n.T\nheat\n.A\nx\n.B\ny\n.W\nheat\nheat in slabs .\n"
    )
    (folder / "cran.qry").write_text(".I 001\n.W\nhow is heat conducted in slabs\n")
    (folder / "cranqrel").write_text("1 2 1\n1 1 -1\n")

    rows = list(cranfield.measure(tmp_path))

    assert [row.value for row in rows] == [1.0, 1.0, 1.0]


def test_a_table_without_rows_is_a_heading() -> None:
    assert table([]).startswith("evaluation")
    assert table([Row("a", "b", 0.5, 3)]).endswith("0.500  3")
