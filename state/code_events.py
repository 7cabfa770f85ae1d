"""The events of a Paper2Code run: its source, its plans, its files, and how they were verified."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from state.code_request import CodeRequest, SourceType
from state.events import (
    Code,
    ContentHash,
    Count,
    Digest,
    Event,
    Name,
    Round,
    StableId,
    Text2000,
    Text4000,
    Value,
)
from state.research_events import Rendition
from state.values.workspace_paths import MAX_PATH, path_problem


def _in_workspace(path: str) -> str:
    if problem := path_problem(path):
        raise ValueError(f"{path[:100]!r} is no path in a workspace: {problem}")
    return path


FilePath = Annotated[str, Field(max_length=MAX_PATH), AfterValidator(_in_workspace)]
Files = Annotated[tuple["FileHash", ...], Field(max_length=1000)]


class FileHash(Value):
    """A file of the workspace, by path and content."""

    path: FilePath
    content_hash: ContentHash


class CodeStarted(Event):
    """Everything that was asked for."""

    type = "code_started"
    paths = frozenset({"source", "workspace", "reference_repositories", "excluded_repositories"})
    request: CodeRequest

    def paths_kept(self) -> frozenset[str]:
        """Return where absolute paths stay: a requirement is no path, whatever it begins with."""
        is_path = self.request.source_type in ("local", "repository")
        return self.paths if is_path else self.paths - {"source"}


class CodeSourceRecorded(Event):
    """The bytes that the code is made from joined the archive.

    A requirement is its own text. `locator` is where they come from: a path, a URL, or
    `requirement`. Of a repository each file that is read is recorded. `pages_in_doubt` and
    `dropped` say how well the document could be read.
    """

    type = "code_source_recorded"
    identity = ("artifact_id",)
    artifact_id: StableId
    source_type: SourceType
    name: Annotated[str, Field(max_length=240)]
    locator: Annotated[str, Field(max_length=4096)]
    content_hash: ContentHash
    media_type: Annotated[str, Field(max_length=120)]
    size: Count
    rendition: Rendition | None = None
    pages: Count | None = None
    pages_without_text: Count = 0
    pages_in_doubt: Count = 0
    dropped: Annotated[tuple[Annotated[str, Field(max_length=400)], ...], Field(max_length=50)] = ()
    hidden_text: bool = False
    fetched_at: Annotated[str, Field(max_length=40)] = ""
    licence: Name = ""


class CodePlanRecorded(Event):
    """A version of the plan, whose canonical JSON is the artifact `body_hash`.

    Of its `citations` so many were `located` in the source's text.
    """

    type = "code_plan_recorded"
    identity = ("version",)
    version: Round
    origin: Literal["planned", "revised", "replaced"]
    title: Annotated[str, Field(max_length=400)]
    plan_hash: Digest
    body_hash: ContentHash
    paths_planned: Annotated[tuple[FilePath, ...], Field(min_length=1, max_length=200)]
    citations: Count
    located: Count
    ambiguities: Count


class CodeReferenceRecorded(Event):
    """A reference was indexed, or could not be: the work goes on without it."""

    type = "code_reference_recorded"
    identity = ("locator",)
    locator: Annotated[str, Field(max_length=2048)]
    outcome: Literal["indexed", "failed"]
    reason: Text2000 = ""
    licence: Name = ""
    files: Count = 0
    index_hash: ContentHash | None = None


class CodeFileRecorded(Event):
    """A file was written: non-empty, and of a form that parses.

    `attempt` is 0 when it was first written, and the number of the repair that changed it.
    `unresolved` are names that the file uses and no planned file defines.
    """

    type = "code_file_recorded"
    identity = ("path", "attempt")
    path: FilePath
    role: Literal["source", "test", "document", "configuration", "data"]
    attempt: Count
    content_hash: ContentHash
    size: Annotated[int, Field(ge=1, strict=True)]
    summary: Text2000 = ""


class CodeTestsFrozen(Event):
    """From here on these files stay as they are: a repair that changes one does not count."""

    type = "code_tests_frozen"
    files: Files


class CodeDependenciesInstalled(Event):
    """What the plan requires was installed, in a step of its own, or could not be."""

    type = "code_dependencies_installed"
    outcome: Literal["installed", "nothing", "failed"]
    requirements: Annotated[tuple[Name, ...], Field(max_length=200)] = ()
    log_hash: ContentHash | None = None
    reason: Text2000 = ""


class CodeVerified(Event):
    """The workspace's tests were run in the sandbox; the whole record is `result_hash` (JSON).

    `verdict` is passed only when tests were executed and all of them passed.
    """

    type = "code_verified"
    identity = ("attempt",)
    attempt: Count
    verdict: Literal["passed", "failed", "no_tests", "not_executed", "timeout", "tampered"]
    level: Annotated[str, Field(max_length=40)]
    commands: Count
    executed: Count
    passed: Count
    failed: Count
    skipped: Count
    tampered: Annotated[tuple[FilePath, ...], Field(max_length=200)] = ()
    result_hash: ContentHash
    reason: Text4000 = ""


class CodeSealed(Event):
    """The result: the files by hash, the report, and the commit of the code's own repository.

    `outcome` is complete only when every planned file is there and the last verification passed;
    else `missing` and the report say what is not there.
    """

    type = "code_sealed"
    outcome: Literal["complete", "incomplete"]
    plan_hash: Digest
    files: Files
    missing: Annotated[tuple[FilePath, ...], Field(max_length=200)] = ()
    report_hash: ContentHash
    report_json_hash: ContentHash
    commit: Annotated[str, Field(max_length=64)] = ""
    reason_code: Code = ""
