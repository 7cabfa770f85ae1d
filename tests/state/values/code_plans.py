"""A small code plan that holds, for tests that change one thing of it."""

from dataclasses import replace

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
    Requirement,
    Status,
    Strategy,
    Validation,
)

PAPER = "We train with a learning rate of 0.01. The estimator keeps a running mean of the loss."
PATHS = (
    "meanfit/__init__.py",
    "meanfit/estimator.py",
    "meanfit/training.py",
    "tests/test_training.py",
    "README.md",
    "requirements.txt",
)


def code_plan() -> CodePlan:
    return CodePlan(
        title="Running mean estimator",
        file_structure=(
            PlannedFile(PATHS[0], "Names what the package offers."),
            PlannedFile(
                PATHS[1],
                "Keeps the running mean.",
                interface=("class Estimator:", "    def update(self, loss: float) -> float: ..."),
                depends_on=(PATHS[0],),
                component="estimator",
            ),
            PlannedFile(
                PATHS[2],
                "Runs the training loop.",
                interface=("def train(steps: int, rate: float = 0.01) -> float: ...",),
                depends_on=(PATHS[1],),
                component="training",
            ),
            PlannedFile(
                PATHS[3],
                "Checks that training lowers the loss.",
                FileRole.TEST,
                depends_on=(PATHS[2],),
                component="training",
            ),
            PlannedFile(PATHS[4], "Says how to run it.", FileRole.DOCUMENT, depends_on=(PATHS[2],)),
            PlannedFile(PATHS[5], "Lists the packages needed.", FileRole.CONFIGURATION),
        ),
        implementation_components=(
            Component(
                "estimator",
                "Estimator",
                "A running mean over all losses seen.",
                "After losses 1 and 3 the mean is 2.",
                (PaperCitation("The estimator keeps a running mean of the loss.", "Section 2"),),
            ),
            Component(
                "training",
                "Training",
                "Gradient descent with the given rate.",
                "Ten steps lower the loss.",
            ),
        ),
        validation_approach=Validation("Unit tests of both components.", (PATHS[3],)),
        environment_setup=EnvironmentSetup(
            "python", "3.11", (Requirement("numpy", ">=1.26"),), "No accelerator is needed."
        ),
        implementation_strategy=Strategy("From the estimator outwards.", PATHS),
        quantities=(
            Quantity(
                "learning rate",
                QuantityKind.HYPERPARAMETER,
                "0.01",
                citation=PaperCitation("a learning rate of 0.01", "Section 3", 2),
                component="training",
            ),
            Quantity("batch size", QuantityKind.HYPERPARAMETER, "32", status=Status.UNSPECIFIED),
            Quantity("seed", QuantityKind.CONSTANT, "", status=Status.UNSPECIFIED),
            Quantity("loss", QuantityKind.METRIC, "squared error", status=Status.INFERRED),
        ),
        ambiguities=(Ambiguity("Which batch size is used?", "32, as a parameter."),),
    )


def with_file(plan: CodePlan, path: str, /, **changes: object) -> CodePlan:
    """Return `plan` with the file at `path` changed."""
    files = tuple(
        replace(file, **changes) if file.path == path else file  # type: ignore[arg-type]  # named by each test
        for file in plan.file_structure
    )
    return replace(plan, file_structure=files)
