"""A small paper, the code it describes, and a coder that is told what to plan and write.

Everything else about a run is real: ledger, archive, converter, Prefect, and where the machine has
one, the sandbox.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adapters.acquisition.simple import LocalFile, RequirementText
from adapters.documents.direct import DirectConverter
from adapters.models.coder import Analysis, Finding
from adapters.models.scripted_coder import ScriptedCoder
from adapters.sandbox.choose import open_sandbox
from adapters.sandbox.port import Sandbox
from flows.code_runs import CodeResult, submit_code
from flows.code_tools import CodeTools
from flows.runs import execute
from flows.settings import Settings
from flows.wiring import Desk
from state.append import Hooks
from state.artifacts import LocalArtifacts
from state.code_request import CodeRequest
from state.local_ledger import LocalLedger
from state.policy import Policy
from state.projection import Run, RunFold
from state.values.code_plan import (
    Ambiguity,
    CodePlan,
    Component,
    EnvironmentSetup,
    FileRole,
    PaperCitation,
    PlannedFile,
    Quantity,
    QuantityKind,
    Strategy,
    Validation,
)
from tests.flows.world import Clock

PAPER = """# A smoother with a correction

## Method

The smoothed value is s = b * s + (1 - b) * x, beginning with s = 0. Dividing by 1 - b to the power
of t corrects the bias of the beginning, where t counts the values seen.

## Settings

The weight b is 0.9 in all experiments.

## Result

For the values 1 and 2 the corrected values are 1.0 and 1.526.
"""
SMOOTHER = '''"""A smoother whose beginning is corrected."""


class Smoother:
    """Smooths values with weight `b`."""

    def __init__(self, b: float = 0.9) -> None:
        self.b, self.s, self.t = b, 0.0, 0

    def add(self, x: float) -> float:
        """Take in `x`; return the corrected value."""
        self.t += 1
        self.s = self.b * self.s + (1 - self.b) * x
        return self.s / (1 - self.b**self.t)
'''
WRONG = SMOOTHER.replace(" / (1 - self.b**self.t)", "")
TEST = '''"""The values of the paper."""

from smoother import Smoother


def test_the_corrected_values_are_those_of_the_paper() -> None:
    smoother = Smoother(0.9)
    assert round(smoother.add(1.0), 3) == 1.0
    assert round(smoother.add(2.0), 3) == 1.526
'''
README = "# Smoother\n\nRun `python -m pytest -q`.\n"
FILES = {
    "smoother.py": SMOOTHER,
    "tests/test_smoother.py": TEST,
    "README.md": README,
    "requirements.txt": "# nothing\n",
}
PLAN = CodePlan(
    title="A smoother with a correction",
    file_structure=(
        PlannedFile(
            "smoother.py", "The smoother", FileRole.SOURCE,
            ("class Smoother", "def add(self, x: float) -> float"), (), "smoothing",
        ),
        PlannedFile(
            "tests/test_smoother.py", "The values of the paper", FileRole.TEST, (),
            ("smoother.py",), "smoothing",
        ),
        PlannedFile("README.md", "How to use it", FileRole.DOCUMENT),
        PlannedFile("requirements.txt", "What it needs", FileRole.CONFIGURATION),
    ),
    implementation_components=(
        Component(
            "smoothing", "Smoothing", "Exponential smoothing with a corrected beginning.",
            "For 1 and 2 with b = 0.9 the corrected values are 1.0 and 1.526.",
            (PaperCitation("The smoothed value is s = b * s + (1 - b) * x", "Method"),),
        ),
    ),
    validation_approach=Validation(
        "Reproduce the two values of the result.", ("tests/test_smoother.py",)
    ),
    environment_setup=EnvironmentSetup("python", "3.11"),
    implementation_strategy=Strategy(
        "The smoother first, then its test.",
        ("smoother.py", "tests/test_smoother.py", "README.md", "requirements.txt"),
    ),
    quantities=(
        Quantity(
            "b", QuantityKind.HYPERPARAMETER, "0.9",
            citation=PaperCitation("The weight b is 0.9 in all experiments.", "Settings"),
            component="smoothing",
        ),
    ),
    ambiguities=(Ambiguity("Is the first value weighted alike?", "Yes, s begins with 0."),),
)  # fmt: skip
ANALYSIS = Analysis(
    "A smoother.",
    (Finding("b is 0.9", PaperCitation("The weight b is 0.9 in all experiments."), name="b"),),
)


def scripted(**changed: Any) -> ScriptedCoder:
    """Return a coder that plans and writes the smoother, but for what is `changed`."""
    return ScriptedCoder(**{"plan_": PLAN, "files": FILES, "analysis": ANALYSIS, **changed})


@dataclass(slots=True)
class CodeWorld:
    """A paper, a coder and a sandbox; `desk` is what a new process would have."""

    home: Path
    coder: ScriptedCoder = field(default_factory=scripted)
    sandbox: Sandbox | None = None
    clock: Clock = field(default_factory=Clock)
    paper: str = PAPER
    opened: int = 0

    @property
    def workspace(self) -> Path:
        return self.home.parent / f"{self.home.name}-code"

    @property
    def source(self) -> Path:
        path = self.home.parent / f"{self.home.name}-paper.md"
        path.write_text(self.paper, encoding="utf-8")
        return path

    def tools(self, request: CodeRequest) -> CodeTools:
        return CodeTools(
            acquirers={"local": LocalFile(), "requirement": RequirementText()},
            converter=DirectConverter(),
            coder=self.coder,
            open_sandbox=self.open_sandbox,
        )

    def open_sandbox(self) -> Sandbox:
        self.opened += 1
        return self.sandbox or open_sandbox()

    def desk(self, **settings: Any) -> Desk:
        self.home.mkdir(exist_ok=True)
        ledger: LocalLedger[Run] = LocalLedger(
            self.home, RunFold(), hooks=Hooks(clock=self.clock, sync=lambda _: None)
        )
        return Desk(
            settings=Settings(home=self.home),
            ledger=ledger,
            artifacts=LocalArtifacts(self.home / "artifacts"),
            policy=Policy(self.home / "policy.json"),
            tools=lambda _: (_ for _ in ()).throw(AssertionError("no research here")),
            converter=DirectConverter,
            now=self.clock,
            open_code_tools=self.tools,
            **settings,
        )

    def request(self, run_id: str = "c1", **options: Any) -> CodeRequest:
        fields = {
            "id": run_id,
            "principal": "tester",
            "source_type": "local",
            "source": str(self.source),
            "workspace": str(self.workspace),
            "model": "scripted",
            "options": {"plan_review": False},
        }
        return CodeRequest.model_validate({**fields, **options})

    def made(self, run_id: str = "c1", **options: Any) -> CodeResult:
        """Queue a run in a new process and carry it as far as it goes."""
        desk = self.desk()
        submit_code(desk, self.request(run_id, **options))
        return self._result(execute(desk, run_id))

    def resumed(self, run_id: str = "c1", **settings: Any) -> CodeResult:
        """Carry a run on in a new process."""
        return self._result(execute(self.desk(**settings), run_id))

    def _result(self, result: object) -> CodeResult:
        assert isinstance(result, CodeResult)
        return result

    def without(self, path: str) -> CodePlan:
        """Return the plan without one of its files."""
        return replace(PLAN, file_structure=tuple(f for f in PLAN.file_structure if f.path != path))
