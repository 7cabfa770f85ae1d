"""Run pytest on the current folder and write down which tests really ran, and how they ended.

    python -I run_pytest.py < ORDER

The order is a line of JSON: `record` (the file to write), `nonce` (in each line of it), `root` (the
workspace), `options` (pytest's), and `patience_s`, after which it is shown where the tests are. It
is no argument, since those can be read at any time by whatever the tests import.

What pytest reports, and its exit code, are what plugins and conftest files let it say. So each test
is also watched from below: was its own code entered, and what did it raise? What is tested may
neither excuse a test nor put something else in the place of what tests assert with. Nothing of the
workspace is imported before this script has all it needs, and options of the workspace that choose
tests or plugins have no effect. The last line of the record is written after the session: whoever
ends the process earlier leaves none.
"""

import builtins
import faulthandler
import functools
import inspect
import json
import os
import shutil
import sys
import threading
import unittest
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import CodeType, FrameType
from typing import Any, TextIO

import pytest

NAMES = 20_000
OFTEN = 10_000
SHOWN = 50
OPTIONS = (
    "-q",
    "--override-ini=addopts=",
    "--override-ini=faulthandler_timeout=0",
    "--assert=rewrite",
    "-pno:cacheprovider",
    "-Werror::pytest.PytestReturnNotNoneWarning",
)
UNSAID = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
TEST_FOLDERS = frozenset({"test", "tests"})
COMPARED = (
    "AssertionError BaseException Exception abs all any bool dict enumerate float frozenset getattr"
    " hasattr hash int isinstance issubclass iter len list map max min next range repr reversed"
    " round set sorted str sum tuple type zip"
)
# Taken before anything of the workspace can put something else in their place.
HONEST = (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest)
set_profile, get_profile = sys.setprofile, sys.getprofile


def tools() -> Iterator[tuple[str, object]]:
    """Yield what tests assert with, by name."""
    for name in ("raises", "approx", "warns", "fail"):
        yield f"pytest.{name}", getattr(pytest, name)
    for name in COMPARED.split():
        yield f"builtins.{name}", getattr(builtins, name)
    for name, each in vars(unittest.TestCase).items():
        if name.lstrip("_").startswith(("assert", "base", "fail", "getAssert")):
            yield f"unittest.TestCase.{name}", each


TOOLS = dict(tools())


@dataclass
class Truth:
    """What was seen of one test, and what was reported of each of its phases."""

    root: Path
    code: CodeType | None
    may_fail: bool
    entered: bool = False
    raised: dict[str, str] = field(default_factory=dict)
    reported: dict[str, str] = field(default_factory=dict)

    def verdict(self) -> str:
        """Return passed, failed, error, skipped or unrun: never better than what was seen."""
        if self.reported.get("call") == "failed":
            return "failed"
        if "failed" in self.reported.values():
            return "error"
        if "dodge" in self.raised.values():
            return "unrun"
        skipped = "skipped" in self.reported.values()
        if "fault" in self.raised.values() and not (skipped and self.may_fail):
            return "failed" if self.raised.get("call") == "fault" else "error"
        if skipped:
            return "skipped"
        done = self.reported.get("call") == "passed" and "teardown" in self.reported
        return "passed" if done and self.entered else "unrun"

    @property
    def is_rewritten(self) -> bool:
        """Tell whether a fault was reported as something else."""
        return self.verdict() in ("failed", "error") and "failed" not in self.reported.values()


class Watch:
    """A pytest plugin that watches every test from the moment it is collected."""

    def __init__(self, record: TextIO, nonce: str, root: Path) -> None:
        self.record, self.nonce, self.root = record, nonce, root
        self.process = os.getpid()
        self.truths: dict[str, Truth] = {}
        self.names: dict[str, tuple[str, str]] = {}
        self.broken: list[str] = []
        self.skipped_files: list[str] = []
        self.foreign: set[tuple[str, str]] = set()
        self.replaced: set[str] = set()
        self.collected = False
        self.so_far: Counter[str] = Counter()
        self.ended = 0
        self.written = monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """Put the workspace on the path, as `python -m pytest` does; pytest is imported by now."""
        folder = Path.cwd()
        source = folder / "src"
        if source.is_dir() and not (source / "__init__.py").exists():
            sys.path.insert(0, str(source))
            os.environ["PYTHONPATH"] = str(source)  # child processes are to find it installed, too
        sys.path.insert(0, str(folder))

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Watch `item`, whether or not it is left in the selection later."""
        may_fail = item.get_closest_marker("xfail") is not None
        truth = Truth(self.root, code_of(item), may_fail)
        self.truths[item.nodeid] = truth
        self.names[item.nodeid] = (self.relative(item.path), name_of(item))
        if truth.code is not None and not is_same(truth.code.co_filename, str(item.path)):
            self.foreign.add(self.names[item.nodeid])
        for phase, name in (("setup", "setup"), ("call", "runtest")):
            setattr(item, name, watched(truth, phase, item, getattr(item, name)))

    def pytest_collection_finish(self) -> None:
        """Note that collection came to its end."""
        self.collected = True

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Note what could not be collected, and files that say they are to be skipped."""
        report = yield
        if report.outcome == "failed":
            self.broken.append(collector.nodeid)
        elif report.outcome == "skipped":
            said_by = report.longrepr[0] if isinstance(report.longrepr, tuple) else ""
            if is_of_tests(said_by, self.root):
                self.skipped_files.append(self.relative(collector.path))
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Note what was put in the place of what tests assert with; no fixture is at work now."""
        self.replaced |= {name for name, each in tools() if each is not TOOLS.get(name, each)}

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        """Note what a fixture raised when it was put away."""
        try:
            yield
        except Exception as error:
            self.truths[item.nodeid].raised["teardown"] = kind_of(error, self.root)
            raise

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what is reported of a phase; a subtest that failed is not forgotten."""
        truth = self.truths.get(report.nodeid)
        if truth is not None and truth.reported.get(report.when) != "failed":
            truth.reported[report.when] = report.outcome
        if truth is not None and report.when == "teardown":
            self.so_far[truth.verdict()] += 1
            self.ended += 1
            if self.ended < OFTEN or monotonic() - self.written > 1.0:
                self.written = monotonic()
                self.write(sums=self.sums(self.so_far))

    def relative(self, path: Path) -> str:
        """Return a path as it is called from the workspace."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else ""

    def sums(self, ended: Counter[str]) -> dict[str, int]:
        """Return how many tests ended in each way, with what could not be collected."""
        sums = {each: ended[each] for each in ("passed", "failed", "skipped", "unrun")}
        return {**sums, "errors": ended["error"] + len(self.broken)}

    def finish(self, code: int) -> None:
        """Write the last line."""
        self.pytest_runtest_logstart()
        ended = {nodeid: truth.verdict() for nodeid, truth in self.truths.items()}
        faults = [each for each, verdict in ended.items() if verdict in ("failed", "error")]
        unrun = [nodeid for nodeid, verdict in ended.items() if verdict == "unrun"]
        self.write(
            end=True,
            exit=code,
            collected=self.collected,
            sums=self.sums(Counter(ended.values())),
            seen=sorted(set(self.names.values()))[:NAMES],
            skipped_files=sorted(set(self.skipped_files))[:NAMES],
            faults=[*self.broken, *faults][:SHOWN],
            unrun=unrun[:SHOWN],
            foreign=sorted(self.foreign)[:NAMES],
            replaced=sorted(self.replaced)[:SHOWN],
            rewritten=[each for each in faults if self.truths[each].is_rewritten][:SHOWN],
        )

    def write(self, **said: object) -> None:
        """Write a line of the record, and see to it that it is in the file.

        A test may fork, and its child come to this as well: what that saw is nobody's.
        """
        if os.getpid() != self.process:
            return
        self.record.write(json.dumps({"nonce": self.nonce, **said}) + "\n")
        self.record.flush()


def watched(
    truth: Truth, phase: str, item: pytest.Item, run: Callable[[], None]
) -> Callable[[], None]:
    """Return `run`, which notes what it raises, and whether the test's own code was entered."""

    def running() -> None:
        truth.raised.pop(phase, None)
        truth.reported.pop(phase, None)
        before = get_profile()
        if phase == "call":
            truth.entered = truth.code is None  # also when it is run once more
            look_out(truth, before)
        try:
            run()
        except BaseException as error:
            truth.raised[phase] = kind_of(error, truth.root)
            raise
        finally:
            set_profile(before)
            threading.setprofile(before)
        # Of unittest's cases what was raised is kept until it is reported.
        for found in getattr(item, "_excinfo", None) or ():
            if (kind := kind_of(found.value, truth.root)) != "excuse":
                truth.raised[phase] = kind

    return running


def look_out(truth: Truth, before: Any) -> None:
    """Note when the test's code is entered, in this thread or one that it starts."""

    def seen(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code is truth.code:
            truth.entered = True
            set_profile(before)

    threading.setprofile(seen)
    set_profile(seen)


def kind_of(error: BaseException, root: Path) -> str:
    """Tell a fault from a test's saying that it does not run, or was expected to fail.

    When it is not the tests that say so, but what they test, it is a dodge.
    """
    if not isinstance(error, HONEST):
        return "fault"
    said: BaseException | None = error
    while said is not None:  # of unittest's cases, what they raised is the context of pytest's
        if isinstance(said, HONEST) and not is_of_tests(raised_in(said, root), root):
            return "dodge"
        said = said.__context__
    return "excuse"


def raised_in(error: BaseException, root: Path) -> str:
    """Return the last file of the workspace that the error came through, '' when there is none."""
    found, place = "", error.__traceback__
    while place is not None:
        name = place.tb_frame.f_code.co_filename
        found = name if Path(name).is_relative_to(root) else found
        place = place.tb_next
    return found


def is_of_tests(file: str, root: Path) -> bool:
    """Tell whether a file is a test, or helps tests, rather than what they test."""
    path = Path(file)
    if not path.is_relative_to(root):
        return True
    return (
        not TEST_FOLDERS.isdisjoint(path.relative_to(root).parts[:-1])
        or path.stem == "conftest"
        or path.stem.startswith("test")
        or path.stem.endswith("_test")
    )


@functools.cache
def is_same(one: str, other: str) -> bool:
    """Tell whether two paths lead to the same file."""
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def code_of(item: pytest.Item) -> CodeType | None:
    """Return the code of a test function below its decorators, None for another kind of test."""
    holder = getattr(item, "cls", None) or getattr(item, "module", None)
    function = getattr(holder, getattr(item, "originalname", None) or item.name, None)
    try:
        function = inspect.unwrap(function) if callable(function) else None
    except ValueError:
        return None
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def name_of(item: pytest.Item) -> str:
    """Return what a test is called in its file: `test_x`, `TestThing.test_y`."""
    name = getattr(item, "originalname", None) or item.name
    holder = getattr(item, "cls", None)
    return name if holder is None else f"{holder.__name__}.{name}"


def forget_compiled(root: Path) -> None:
    """Remove byte code that lies about, since it need not be what the sources say."""
    for folder, inner, _ in os.walk(root):
        if "__pycache__" in inner:
            inner.remove("__pycache__")
            shutil.rmtree(Path(folder, "__pycache__"), ignore_errors=True)


def main() -> int:
    """Run the session that is asked for; return pytest's exit code."""
    asked = json.loads(sys.stdin.readline())
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    # pytest puts something else in the place of standard error.
    faulthandler.dump_traceback_later(asked["patience_s"], file=os.dup(sys.stderr.fileno()))
    for name in UNSAID:
        os.environ.pop(name, None)
    root = Path(asked["root"]).resolve()
    forget_compiled(root)
    path = Path(asked["record"]).resolve()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as record:
        watch = Watch(record, asked["nonce"], root)
        code = int(pytest.main([*OPTIONS, *asked["options"]], plugins=[watch]))
        watch.finish(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
