"""Finalised Markdown: every citation leads to a source, every source listed is cited, once."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.values.citations import finalise, identity, listed_sources, number_by_first_use

SOURCES = {1: "https://a.org/one", 2: "/docs/two.md", 3: "doi:10.1000/three", 9: "Nine"}


@pytest.mark.parametrize(
    ("written", "final"),
    [
        ("One [1]. Two [2].", "One [1]. Two [2]."),
        ("Two [2]. One [1]. Two [2].", "Two [1]. One [2]. Two [1]."),
        ("Gone [7]. Here [9].", "Gone. Here [1]."),
        ("Gone [7], here", "Gone, here"),
        ("All [1-3].", "All [1][2][3]."),
        ("All [1–3] of [2, 9].", "All [1][2][3] of [2][4]."),
        ("Some [7, 2; 8].", "Some [1]."),
        ("Twice [2][2].", "Twice [1]."),
        ("Apart [7], [2].", "Apart [1]."),
        ("中文【2】。又【1】。", "中文【1】。又【2】。"),
        ("Linked [2](https://a.org/one/).", "Linked [1](https://a.org/one/)."),
        ("Linked [[1]](http://www.a.org/one#x) [9].", "Linked [[1]](http://www.a.org/one#x) [2]."),
        ("A [text][9].", "A [text][1]."),
        ("In [1998] it was [9].", "In [1998] it was [1]."),
        ("Spent $2 on it [9], then $3.", "Spent $2 on it [1], then $3."),
    ],
)
def test_numbers_are_given_by_first_use(written: str, final: str) -> None:
    assert finalise(written, SOURCES)[0] == final


@pytest.mark.parametrize(
    "text",
    [
        "`arr[2]` is code",
        "``a ` [2]`` is code",
        "```python\narr[2] = rows[7]\n```",
        "~~~~\n[2]\n```\n[7]\n~~~~",
        "A note[^2].",
        "![figure [2]](x.png)",
        "[see [2]](https://else.org/)",
        "[2](https://else.org/)",
        "$x[2] + y_{[7]}$",
        "$$\nx[2]\n$$",
        r"\(x[2]\) and \[y[7]\]",
        r"\[2\]",
        "- [ ] to do, - [x] done",
        "[0, 1] is an interval, as is [20-10]",
        "[2]: https://else.org/page",
        "<a title='[2]'>x</a> <!-- [2] -->",
    ],
)
def test_what_only_looks_like_a_citation_stays(text: str) -> None:
    assert finalise(text, SOURCES) == (text, {})


def test_numbers_of_one_source_become_one() -> None:
    sources = {
        1: "https://arxiv.org/abs/2401.00001v2", 2: "Paper: https://arxiv.org/pdf/2401.00001",
        3: "https://www.b.org/p/?utm_source=x#top", 4: "http://b.org/p",
    }  # fmt: skip

    final, mapping = finalise("It is so [2][1], they say [4] and again [3].", sources)

    assert final == "It is so [1], they say [2] and again [2]."
    assert mapping == {1: 1, 2: 1, 3: 2, 4: 2}


def test_the_list_of_sources_follows_its_citations() -> None:
    report = (
        "# Report\n\nB [3] and A [1], not [8]. Again [2].\n\n## Sources\n\n"
        "[1] A: https://a.org/  \n[2] B again: https://b.org\n[3] B: https://b.org/  \n"
        "[4] Unused: https://c.org\n\n---\nThe end."
    )

    final, mapping = finalise(report, listed_sources(report))

    assert final == (
        "# Report\n\nB [1] and A [2], not. Again [1].\n\n## Sources\n\n"
        "[1] B again: https://b.org\n[2] A: https://a.org/  \n\n---\nThe end."
    )
    assert mapping == {1: 2, 2: 1, 3: 1}


def test_a_list_that_nothing_cites_goes_with_its_heading() -> None:
    report = "Nothing cited.\n\n## References\n\n1. [A](https://a.org)\n2. [B](https://b.org)\n"

    assert finalise(report, listed_sources(report)) == ("Nothing cited.\n\n", {})


def test_numbered_lines_of_another_section_are_no_sources() -> None:
    report = "## Sources of income\n\n1. Rent\n2. Sales\n"

    assert listed_sources(report) == {}
    assert finalise(report, {})[0] == report


def test_two_files_with_one_name_are_two_sources() -> None:
    assert identity("/a/notes.md") != identity("/b/notes.md")


def test_keys_are_numbered_in_their_order() -> None:
    assert number_by_first_use("banana") == {"b": 1, "a": 2, "n": 3}


PIECES = st.sampled_from(
    ["word ", "Sentence. ", "[1]", "[2]", "[3]", "[9]", "[7]", "[1-3]", "[2, 7]", "[1] ", ", ",
     "`a[1]`", "\n\n", "\n```\n[1]\n```\n", "[^1]", "![1](x)", "[3](https://else.org)", "$a[1]$",
     "【2】", "[", "]"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join)
LISTS = st.lists(st.sampled_from([1, 2, 3, 7, 9]), unique=True)


@given(TEXTS, st.dictionaries(st.sampled_from([1, 2, 3, 7, 9]), st.sampled_from("abc")), LISTS)
def test_what_was_finalised_stays_as_it_is(
    text: str, sources: dict[int, str], listed: list[int]
) -> None:
    lines = [f"[{number}] {sources.get(number, 'none')}\n" for number in listed]
    text += "\n\n## Sources\n\n" + "".join(lines)

    final, mapping = finalise(text, sources)

    assert sorted(set(mapping.values())) == list(range(1, len(set(mapping.values())) + 1))
    assert set(mapping) <= set(sources)
    for one, other in pairwise(mapping):
        assert (sources[one] == sources[other]) == (mapping[one] == mapping[other])
    known = {number: sources[old] for old, number in mapping.items()}
    assert finalise(final, known)[0] == final
    assert set(listed_sources(final)) <= set(mapping.values())


@pytest.mark.parametrize("piece", ["$a[1]$", "`a[1]`", "word"])
def test_what_is_taken_out_joins_nothing(piece: str) -> None:
    final, mapping = finalise(f"{piece}[1]{piece}", {})

    assert (final, mapping) == (f"{piece} {piece}", {})


@given(st.lists(st.sampled_from(["[1]", "[2]", "[3]", "[9]", "[7]", "text. ", "more ", ", "])))
def test_markers_come_in_order_and_lead_somewhere(pieces: list[str]) -> None:
    final, mapping = finalise("".join(pieces), SOURCES)

    numbers = [int(number) for number in re.findall(r"\[(\d+)\]", final)]
    assert list(dict.fromkeys(numbers)) == list(range(1, len(set(numbers)) + 1))
    assert set(numbers) == set(mapping.values())


@given(st.text())
def test_any_text_can_be_finalised(text: str) -> None:
    final, mapping = finalise(text, SOURCES)

    if not mapping and "[" not in text and "【" not in text:
        assert final == text or listed_sources(text)
