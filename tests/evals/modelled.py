"""Attribution with a language model, beside the check that works without one, on the same claims.

The model is asked as in a run: through the settings, one claim a call, and its verdict is held to
the rules. A claim counts as attributable where the verdict is supported.
"""

import asyncio
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adapters.models.port import CheckInput, Selected
from flows.models import open_judges, require_model
from flows.settings import load_settings
from state.values.claims import Claim, Verdict
from state.values.errors import AssayError
from tests.evals import attribution, verdicts
from tests.evals.data import Absent, records
from tests.evals.measuring import Row
from tests.evals.scores import macro_f1, share

SEED = 20
LIMIT = 20


def measure(folder: Path, model: str, *, limit: int = LIMIT) -> Iterable[Row]:
    """Yield how well the verdicts of `model` fit those of people, on `limit` claims drawn once.

    Raises `Absent` where there is no such model to ask.
    """
    settings = load_settings()
    try:
        require_model(settings, model, in_dollars=False)
    except AssayError as error:
        raise Absent(f"{error.message}; ASSAY_MODEL_URL names a server of one's own") from error
    cases = records(folder, attribution.FILE, attribution.FIELDS)
    drawn = random.Random(SEED).sample(cases, min(limit, len(cases)))
    said = asyncio.run(_verdicts(model, drawn))
    plain = [verdicts.verdict(case["claim"], case["references"]) for case in drawn]
    right = [attribution.is_borne_out(case) for case in drawn]
    note = f"seed {SEED}; baseline: the check without a model, on the same claims"
    yield Row(model, "attribution, macro-F1", _score(said, right), len(drawn), _score(plain, right),
              note)  # fmt: skip
    for wanted in (Verdict.SUPPORTED, Verdict.PARTIAL, Verdict.CONTRADICTED, Verdict.UNVERIFIED):
        found = [label for each, label in zip(said, right, strict=True) if each is wanted]
        others = [label for each, label in zip(plain, right, strict=True) if each is wanted]
        yield Row(
            model, f"{wanted}: attributable", share(found), len(found), share(others),
            f"n is of the model; without one {len(others)}",
        )  # fmt: skip


def _score(said: Sequence[Verdict], right: Sequence[bool]) -> float:
    named = [str(each is Verdict.SUPPORTED) for each in said]
    return macro_f1(named, [str(label) for label in right])


async def _verdicts(model: str, cases: Sequence[dict[str, Any]]) -> list[Verdict]:
    judges = open_judges(load_settings(), model)
    found: list[Verdict] = []
    try:
        await judges.prepare()
        for number, case in enumerate(cases, start=1):
            found.append(await _verdict(judges.researcher.check_claims, case))
            sys.stderr.write(f"\r{model}: {number} of {len(cases)} claims")
    finally:
        await judges.aclose()
        sys.stderr.write("\n")
    return found


async def _verdict(check: Any, case: dict[str, Any]) -> Verdict:  # Any: a method of the port
    """Return the verdict on one claim; a check that fails is one that was not made, as in a run."""
    evidence = tuple(
        Selected("q1", f"s{place}", f"/s{place}", None, text, 0, len(text), 1)
        for place, text in enumerate(case["references"])
    )
    claim = Claim("a-1", "a", case["claim"], tuple(item.id for item in evidence))
    try:
        (made,) = (await check(CheckInput((claim,), evidence))).value
    except AssayError as error:
        sys.stderr.write(f"\n{error.message}\n")
        return Verdict.UNVERIFIED
    verdict: Verdict = made.verdict
    return verdict
