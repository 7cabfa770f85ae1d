"""A `Coder` for tests: it plans and writes what it is told to, and can lie or fail by operation."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.models.coder import (
    AnalyseInput,
    Analysis,
    CoderInput,
    DesignInput,
    FileDraft,
    Repair,
    RepairFilesInput,
    WriteFileInput,
)
from adapters.models.port import Answer
from state.values.code_plan import CodePlan
from state.values.errors import AssayError
from state.values.money import Usage


@dataclass(slots=True)
class ScriptedCoder:
    """Gives `plan_`, then `files` by path, then for each attempt at a repair the next of `repairs`.

    A file that is not in `files` is made of its path and purpose. `lies` stand in for the value of
    an operation (`analyse`, `design`, `write_file`, `repair`): they get what was given and the
    honest value. What stands in `failures` under an operation, or for a file under
    `write_file <path>`, is raised once each, in order, before anything else of that name is
    answered. `before` is awaited before each operation. `calls` are the operations in order, files
    with their paths; `given` their inputs.
    """

    plan_: CodePlan
    files: Mapping[str, str] = field(default_factory=dict)
    repairs: tuple[Mapping[str, str], ...] = ()
    analysis: Analysis = field(default_factory=lambda: Analysis("It is about what it says."))
    lies: dict[str, Callable[[Any, Any], Any]] = field(default_factory=dict)
    failures: dict[str, list[AssayError]] = field(default_factory=dict)
    before: Callable[[str], Awaitable[None]] | None = None
    usage: Usage = field(default_factory=lambda: Usage(model_calls=1))
    name: str = "scripted"
    context_tokens: int = 32_768
    calls: list[str] = field(default_factory=list)
    given: list[CoderInput] = field(default_factory=list)

    def price(self, given: CoderInput) -> Usage:
        """Return what each operation takes."""
        return self.usage

    async def analyse(self, given: AnalyseInput) -> Answer[Analysis]:
        """Return the analysis that was set."""
        return await self._answer("analyse", "analyse", given, self.analysis)

    async def design(self, given: DesignInput) -> Answer[CodePlan]:
        """Return the plan that was set."""
        return await self._answer("design", "design", given, self.plan_)

    async def write_file(self, given: WriteFileInput) -> Answer[FileDraft]:
        """Return the file that was set for the path."""
        path = given.file.path
        text = self.files[path] if path in self.files else _filled(path, given.file.purpose)
        draft = FileDraft(path, text, given.file.purpose)
        return await self._answer("write_file", f"write_file {path}", given, draft)

    async def repair(self, given: RepairFilesInput) -> Answer[Repair]:
        """Return the repair of this attempt; beyond them, the last one."""
        at = min(given.attempt, len(self.repairs)) - 1
        changed = self.repairs[at] if self.repairs else {}
        files = tuple(FileDraft(path, text) for path, text in changed.items())
        return await self._answer("repair", "repair", given, Repair("As scripted.", files))

    async def _answer(
        self, operation: str, call: str, given: CoderInput, honest: Any
    ) -> Answer[Any]:
        self.calls.append(call)
        self.given.append(given)
        if self.before:
            await self.before(call)
        for name in dict.fromkeys((call, operation)):
            if waiting := self.failures.get(name):
                raise waiting.pop(0)
        value = self.lies[operation](given, honest) if operation in self.lies else honest
        return Answer(value, self.usage, self.name, f"{operation}@1")


def _filled(path: str, purpose: str) -> str:
    if path.endswith(".py"):
        return f'"""{purpose}"""\n\nNAME = {path!r}\n'
    if path.endswith(".json"):
        return "{}\n"
    return f"# {path}\n\n# {purpose}\n"
