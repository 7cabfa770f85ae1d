"""Verdicts without a model: what checking says of claims that people have judged."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from adapters.models.extractive.check import check_claims
from adapters.models.port import CheckInput, Selected
from state.values.claims import Claim, Verdict
from tests.evals import attribution
from tests.evals.data import records
from tests.evals.measuring import Row
from tests.evals.scores import macro_f1, share

FILE = "wice/oracle_chunks_claim_dev.jsonl"
FIELDS = {"claim": str, "evidence": list, "label": str}
_AS_LABEL = {Verdict.SUPPORTED: "supported", Verdict.PARTIAL: "partially_supported"}


def measure(folder: Path) -> Iterable[Row]:
    """Yield 3-way macro-F1 on WiCE, and how often a verdict is right on AttributionBench."""
    cases = records(folder, FILE, FIELDS)
    said = [verdict(case["claim"], case["evidence"]) for case in cases]
    labels = [case["label"] for case in cases]
    named = [_AS_LABEL.get(each, "not_supported") for each in said]
    commonest = max(sorted(set(labels)), key=labels.count)
    yield Row(
        "verdicts",
        "WiCE, 3-way macro-F1",
        macro_f1(named, labels),
        len(cases),
        macro_f1([commonest] * len(labels), labels),
        f"always {commonest}",
    )
    claims = records(folder, attribution.FILE, attribution.FIELDS)
    found = [verdict(case["claim"], case["references"]) for case in claims]
    right = [attribution.is_borne_out(case) for case in claims]
    for wanted in (Verdict.SUPPORTED, Verdict.PARTIAL, Verdict.UNVERIFIED, Verdict.CONTRADICTED):
        of = [label for each, label in zip(found, right, strict=True) if each is wanted]
        note = "share attributable among those with the verdict; baseline: among all"
        yield Row("verdicts", f"{wanted}: attributable", share(of), len(of), share(right), note)


def verdict(claim: str, texts: Sequence[str]) -> Verdict:
    """Return the verdict of the researcher's check of `claim` against `texts`."""
    evidence = tuple(
        Selected("q1", f"s{place}", f"/s{place}", None, text, 0, len(text), 1)
        for place, text in enumerate(texts)
    )
    made = Claim("a-1", "a", claim, tuple(item.id for item in evidence))
    return check_claims(CheckInput((made,), evidence))[0].verdict
