"""The survey names what no search finds, and counts what is too much to name."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from adapters.documents.folder import Skipped, Unused
from adapters.models.port import Answer
from state.values.money import Usage
from state.values.report import Failure
from tasks.survey import MAX_NAMED, SurveyInput, survey, unused_files


def test_each_file_is_named_with_a_code_and_a_reason() -> None:
    scan = Skipped("notes/scan.pdf", "unsupported", "PDF files cannot be read yet")

    made = unused_files(Unused((scan,)))

    reason = "PDF files cannot be read yet"
    assert made == (Failure("search", "notes/scan.pdf", "UNSUPPORTED", reason),)


def test_files_of_other_kinds_are_counted_and_not_named() -> None:
    (one,) = unused_files(Unused((), 1))
    (many,) = unused_files(Unused((), 1234))

    assert (one.target, one.code) == ("1 file of other kinds", "NOT_A_DOCUMENT")
    assert many.target == "1,234 files of other kinds"


def test_files_beyond_two_hundred_are_counted_in_one_entry() -> None:
    files = tuple(Skipped(f"notes/{n:04}.md", "empty", "The file is empty.") for n in range(1434))

    made = unused_files(Unused(files))

    assert [entry.target for entry in made[:-1]] == [file.path for file in files[:MAX_NAMED]]
    assert (made[-1].target, made[-1].code) == ("and 1,234 files more", "NOT_NAMED")


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(["empty", "limit"])))
       .flatmap(st.permutations), st.integers(0, 3), st.integers(1, 4))  # fmt: skip
def test_no_target_is_named_twice_and_none_is_lost(
    files: list[tuple[str, str]], ignored: int, named: int
) -> None:
    unused = Unused(tuple(Skipped(path, outcome, "why") for path, outcome in files), ignored)

    targets = [entry.target for entry in unused_files(unused, named=named)]

    different = sorted({path for path, _ in files})
    assert len(set(targets)) == len(targets)
    assert targets[: len(different[:named])] == different[:named]
    assert len(targets) == min(len(different), named) + (len(different) > named) + bool(ignored)


def test_a_survey_spends_nothing() -> None:
    async def look() -> Unused:
        return Unused((), 2)

    made: Answer[tuple[Failure, ...]] = asyncio.run(survey.fn(SurveyInput("local"), unused=look))

    assert made.usage == Usage()
    assert len(made.value) == 1
