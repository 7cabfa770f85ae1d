"""The forms of Prefect's pages: what was wrong with one is said in the words of its fields."""

import pytest
from pydantic import BaseModel

from flows.code_form import PaperForm
from flows.composing import compose_request
from flows.forms import ResearchForm, ReviewForm, in_words_of, review_text
from state.values.errors import InvalidRequest
from tests.flows.world import Clock


@pytest.mark.parametrize(
    ("form", "said", "shown"),
    [
        (
            ResearchForm,
            "name a folder or file with --sources, or an address with --reference",
            "name a folder or file with “Folders and files”, or an address with “Read first”",
        ),
        (
            ResearchForm,
            "max_rounds is 9; scope quick allows 1 to 1",
            "“Rounds in all” is 9; scope quick allows 1 to 1",
        ),
        (ResearchForm, "set --budget-tokens", "set “Tokens that models may read and write”"),
        (PaperForm, "a paper's file, or --requirement TEXT", "a paper's file, or “Requirement”"),
        (PaperForm, "budgets.max_files: too many", "“Files in all”: too many"),
        (ReviewForm, "only then (--plan FILE)", "only then (“New plan”)"),
        (ReviewForm, "switch it on with --enable", "switch it on with --enable"),
        (ResearchForm, "/data/max_rounds--old is no file", "/data/max_rounds--old is no file"),
    ],
)
def test_options_are_named_as_the_fields_of_the_form(
    form: type[BaseModel], said: str, shown: str
) -> None:
    assert in_words_of(form, said) == shown


def test_no_option_is_left_in_what_is_said_of_an_empty_form() -> None:
    with pytest.raises(InvalidRequest) as refused:
        compose_request("Why?", now=Clock().now)

    said = in_words_of(ResearchForm, refused.value.message)

    assert "--" in refused.value.message
    assert "--" not in said


def test_a_problem_stands_above_the_plan_and_is_no_markup() -> None:
    text = review_text("## Plan 1", "{}", "<b>no</b> *plan*")

    assert text.index("The last answer could not be taken") < text.index("## Plan 1")
    assert "<b>" not in text.replace("\\<", "")
