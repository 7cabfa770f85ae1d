"""A workspace on a real ledger, for tests of what a model-driven face may do."""

from pathlib import Path
from typing import Any, Self

from state.artifacts import MemoryArtifacts
from state.local_ledger import LocalLedger
from state.projection import Run, RunFold
from state.values.ids import artifact_id
from state.values.profiles import QUESTION
from state.workspace import Call, Workspace
from tests.state.builders import RUN, request


class Desk:
    """A workspace on a real ledger, and what it wrote."""

    def __init__(self, home: Path) -> None:
        self.ledger = LocalLedger(home, RunFold())
        self.artifacts = MemoryArtifacts()
        self.workspace = Workspace(self.ledger, self.artifacts, RUN)

    @property
    def position(self) -> int:
        return self.ledger.project(RUN).position

    def start(self) -> Self:
        self.workspace.start(call("start"), request())
        return self

    def save(self, name: str, role: str = "source", body: str = "", **fields: Any) -> str:
        """Save an artifact and return its id."""
        given = {"locator": f"/{name}"} if role == "source" else {}
        self.workspace.save_artifact(
            call(name), body or f"# {name}", role=role, name=name, **given, **fields
        )
        return artifact_id(RUN, "t1", name)

    def complete(self) -> None:
        s1 = self.save("s1")
        for role in ("outline", "report", "handoff"):
            self.save(role, role, source_artifact_ids=[s1])
        for key in QUESTION.section_keys:
            self.save(
                key, "report_section", source_artifact_ids=[s1],
                section_key=key, section_status="completed",
            )  # fmt: skip
        for item in QUESTION.checklist:
            self.workspace.update_checklist(
                call(f"i-{item}"), item_id=item, status="completed", evidence_artifact_ids=[s1]
            )
        self.workspace.checkpoint(call("c"), round=1, stage="report_writing", summary="Written.")
        seal(self.workspace, call("seal"))


def call(name: str) -> Call:
    return Call("t1", name)


def seal(workspace: Workspace, with_call: Call, **handoff: Any) -> Run:
    lists: dict[str, Any] = {
        "artifact_id": artifact_id(RUN, "t1", "handoff"),
        "implementation_tasks": ["one", "two"],
        "recommended_issues": ["three"],
        "verification_commands": ["pytest"],
    }
    return workspace.complete(with_call, artifact_id(RUN, "t1", "report"), {**lists, **handoff})


def step(workspace: Workspace, with_call: Call, **fields: Any) -> Run:
    given: dict[str, Any] = {
        "kind": "web_research",
        "status": "stopped",
        "objective": "Find it.",
        "stopping_condition": "Found.",
        "expected_evidence": "A page.",
        "keywords": ["one", "two"],
    }
    return workspace.record_step(with_call, **{**given, **fields})
