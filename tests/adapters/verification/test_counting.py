"""Records of what ran: only those of our own script count, and only as far as they go."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.verification.counting import read_record
from adapters.verification.npm_scripts import Tool, read_results, recognise, report_options
from state.values.verification import Counts

NONCE = "n1"
SUMS = {"passed": 2, "failed": 1, "errors": 0, "skipped": 3, "unrun": 4}


def _lines(*records: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def test_the_last_line_counts() -> None:
    early = {"nonce": NONCE, "sums": {"passed": 1}}
    end = {"nonce": NONCE, "end": True, "exit": 1, "sums": SUMS, "seen": [["a.py", "test_a"]]}

    record = read_record(_lines(early, end), NONCE)

    assert record is not None
    assert record.counts == Counts(executed=3, passed=2, failed=1, errors=0, skipped=3)
    assert (record.is_complete, record.exit_code, record.unrun_count) == (True, 1, 4)
    assert record.seen == {("a.py", "test_a")}


def test_without_an_end_the_counts_are_those_so_far() -> None:
    record = read_record(_lines({"nonce": NONCE, "sums": SUMS}) + b'{"nonce": "n1", "su', NONCE)

    assert record is not None
    assert (record.counts.passed, record.is_complete) == (2, False)


def test_what_is_written_after_the_end_is_not_ours() -> None:
    end = {"nonce": NONCE, "end": True, "sums": SUMS}
    better = {"nonce": NONCE, "end": True, "sums": {"passed": 9}}

    record = read_record(_lines(end, better), NONCE)

    assert record is not None
    assert record.counts.failed == 1


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"[" * 100_000,
        b"\xff\x00",
        _lines({"nonce": "other", "end": True, "sums": SUMS}),
        _lines({"end": True, "sums": SUMS}, 7, [NONCE]),
        _lines({"nonce": NONCE, "end": True, "sums": 7}),
    ],
)
def test_what_is_not_from_our_script_is_no_record(data: bytes | None) -> None:
    assert read_record(data, NONCE) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
FIELDS = ("sums", "seen", "faults", "unrun", "idle", "exit", "skipped_files")


@given(st.dictionaries(st.sampled_from(FIELDS), json_values), json_values)
def test_a_record_of_any_form_is_read_or_refused(said: dict[str, object], passed: object) -> None:
    record = read_record(_lines({"nonce": NONCE, "sums": {"passed": passed}, **said}), NONCE)

    assert record is None or record.counts.passed >= 0


@pytest.mark.parametrize(
    ("script", "tool"),
    [
        ("jest", Tool.JEST),
        ("npx --no vitest run", Tool.VITEST),
        ("tsc -p . && cross-env NODE_ENV=test ./node_modules/.bin/mocha --exit", Tool.MOCHA),
        ("NODE_OPTIONS=--experimental-vm-modules jest", Tool.JEST),
        ("node --test", Tool.NODE),
        ("jest || true", None),
        ("jest; true", None),
        ("jest | tee log", None),
        ("$(which jest)", None),
        ("jest && echo done", None),
        ("sh run.sh", None),
        ("'unclosed", None),
        ("", None),
    ],
)
def test_a_tool_is_recognised_where_its_result_is_the_scripts(
    script: str, tool: Tool | None
) -> None:
    assert recognise(script) is tool


@pytest.mark.parametrize("tool", [Tool.JEST, Tool.VITEST, Tool.MOCHA])
def test_each_tool_is_told_where_to_write(tool: Tool) -> None:
    assert any("../record.json" in option for option in report_options(tool, "../record.json"))


def test_results_of_jest_are_counted_with_suites_that_broke() -> None:
    suite = {"status": "failed", "assertionResults": [{"status": "failed", "fullName": "a b"}]}
    said = {
        "numPassedTests": 2,
        "numFailedTests": 1,
        "numPendingTests": 1,
        "numTodoTests": 1,
        "testResults": [suite, {"status": "failed", "assertionResults": []}],
    }

    record = read_results(Tool.JEST, _lines(said))

    assert record is not None
    assert record.counts == Counts(executed=3, passed=2, failed=1, errors=1, skipped=2)
    assert record.faults == ("a b",)


def test_results_of_mocha_are_counted_with_hooks_and_tests_that_did_not_run() -> None:
    failures = [
        {"fullTitle": "it works", "err": {"stack": "Error: no"}},
        {"fullTitle": 'all "before all" hook'},
    ]
    stats = {"tests": 6, "passes": 2, "pending": 1, "failures": 2}

    record = read_results(Tool.MOCHA, _lines({"stats": stats, "failures": failures}))

    assert record is not None
    assert record.counts == Counts(executed=3, passed=2, failed=1, errors=1, skipped=1)
    assert record.unrun_count == 1
    assert "Error: no" in record.details


@pytest.mark.parametrize("data", [None, b"", b"[]", b"{}", b'{"stats": 1}', b"[" * 100_000])
@pytest.mark.parametrize("tool", [Tool.JEST, Tool.VITEST, Tool.MOCHA])
def test_what_is_no_result_counts_nothing(tool: Tool, data: bytes | None) -> None:
    assert read_results(tool, data) is None


def test_counts_add_up() -> None:
    one = Counts(1, 1, 0, 2, 3)

    assert one + replace(one, failed=4) == Counts(2, 2, 4, 4, 6)
