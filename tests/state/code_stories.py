"""Paper2Code runs told step by step, as `stories` tells those of research."""

from collections.abc import Iterable
from typing import Any, Self

from state.code_events import CodeSealed, FileHash
from state.code_stages import CodeStage
from state.code_state import Paper2Code
from state.events import Ancestor, Limits, Spend
from state.run_events import RunFailed
from state.values.code_plan import CodePlan
from state.values.ids import content_hash
from tests.state.builders import queued
from tests.state.code_builders import (
    PLAN,
    TEST,
    code_completed,
    code_planned,
    code_request,
    code_source,
    code_started,
    dependencies,
    frozen,
    plan_answered,
    plan_requested,
    verified,
    written,
)
from tests.state.stories import Story


class CodeStory(Story):
    """One Paper2Code run of a ledger; each verb records what the method records there."""

    @property
    def code(self) -> Paper2Code:
        assert self.run.paper2code is not None
        return self.run.paper2code

    def queued(
        self, *, limits: Limits | None = None, retry_of: Ancestor | None = None, **asked: Any
    ) -> Self:
        family: dict[str, Any] = {"retry_of": retry_of, "attempt": 2, "task_id": "family"}
        queue = queued(
            self.run_id,
            kind="paper2code",
            limits=limits or Limits(),
            fingerprint=code_request(self.run_id, **asked).fingerprint,
            **(family if retry_of else {}),
        )
        return self.record(queue, code_started(self.run_id, **asked))

    def sourced(self, **fields: Any) -> Self:
        """Record what the code is made from."""
        self.turn = f"{CodeStage.ACQUIRING_INPUT}/1"
        request = self.code.request
        given = {"source_type": request.source_type, "locator": request.source}
        return self.record(code_source(**{**given, **fields}))

    def planned(self, version: int = 1, made: CodePlan = PLAN, **fields: Any) -> Self:
        self.turn = f"{CodeStage.PLANNING}/{version}"
        return self.record(code_planned(version, made, **fields))

    def asked(self, number: int = 1, version: int = 1) -> Self:
        """Record that a person is asked about the plan, and that the run waits."""
        self.turn = f"review/{number}"
        return self.record(*plan_requested(number, version=version))

    def decided(self, action: str, number: int = 1, *, after_s: float = 60.0) -> Self:
        """Record a person's answer, and that the run goes on."""
        return self.record(plan_answered(action, number), after_s=after_s).resumed()

    def wrote(self, paths: Iterable[str], attempt: int = 0, **how: Any) -> Self:
        """Write files, each in a step of its own; `how` as in `step`."""
        stage = CodeStage.VERIFYING if attempt else CodeStage.IMPLEMENTING
        self.turn = f"{stage}/{attempt + 1}"
        for path in paths:
            call = {"reserve": Spend(model_calls=1), **how}
            self.step("repair" if attempt else "write", path, **call)
            self.record(written(path, attempt))
        return self

    def froze(self, **installed: Any) -> Self:
        """Freeze the tests as they were written, and install what the plan requires."""
        self.turn = f"{CodeStage.VERIFYING}/1"
        return self.record(frozen(TEST), dependencies(**installed))

    def verified(self, verdict: str = "passed", *, seconds: float = 5.0, **fields: Any) -> Self:
        """Run the tests once more."""
        attempt = self.code.attempt
        self.turn = f"{CodeStage.VERIFYING}/{attempt + 1}"
        self.step("verify", f"attempt {attempt}", seconds=seconds)
        return self.record(verified(attempt, verdict, **fields))

    def sealed(self) -> Self:
        """Seal the code as what it is, and end the run accordingly."""
        code = self.code
        assert code.plan is not None
        self.turn = f"{CodeStage.FINALIZING}/1"
        self.record(
            CodeSealed(
                outcome="complete" if code.is_complete else "incomplete",
                plan_hash=code.plan.plan_hash,
                files=tuple(FileHash(path=p, content_hash=h) for p, h in code.file_hashes.items()),
                missing=code.missing,
                report_hash=content_hash("report"),
                report_json_hash=content_hash("report.json"),
            )
        )
        return self

    def ended(self) -> Self:
        """End the run as its seal says."""
        if self.code.is_complete:
            return self.record(code_completed())
        return self.record(RunFailed(code="WORKFLOW_INCOMPLETE", message="see the report"))
