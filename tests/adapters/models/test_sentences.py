"""Where quotes may begin and end."""

from adapters.models.extractive.sentences import split


def quotes(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split(text)]


def test_abbreviations_decimals_and_initials_do_not_end_a_sentence() -> None:
    text = "Dr. J. Holm measured 3.5 m, e.g. near St. Olaf. The rest (cf. Fig. 2) was dry."

    assert quotes(text) == [
        "Dr. J. Holm measured 3.5 m, e.g. near St. Olaf.",
        "The rest (cf. Fig. 2) was dry.",
    ]


def test_a_german_date_does_not_end_a_sentence() -> None:
    assert quotes("Am 3. Mai fuhr er ab. Danach schwieg der Hafen.") == [
        "Am 3. Mai fuhr er ab.",
        "Danach schwieg der Hafen.",
    ]


def test_chinese_sentences_end_without_a_space() -> None:
    found = quotes("水库建于1958年。坝高42米！")

    assert "水库建于1958年。" in found
    assert "坝高42米！" in found


def test_hard_wrapped_lines_are_one_sentence() -> None:
    assert quotes("The gate opens\nat six. Bring\na lamp.") == [
        "The gate opens\nat six.",
        "Bring\na lamp.",
    ]


def test_list_items_are_quotes_and_so_is_the_list_with_its_lead() -> None:
    text = "The kit holds:\n- a lamp\n- two wicks"

    assert quotes(text) == ["The kit holds:", text, "- a lamp", "- two wicks"]


def test_a_row_is_offered_with_its_header() -> None:
    text = "| Pier | Depth |\n|---|---|\n| North | 4 m |"

    assert quotes(text) == [text]


def test_code_is_not_cut_at_its_dots() -> None:
    text = "```\nx = 1. \nFoo. Bar\n```"

    assert quotes(text) == [text]


def test_a_sentence_that_leans_on_the_one_before_is_offered_with_it() -> None:
    text = "The tower is old. It is 42 m tall."

    assert text in quotes(text)
    assert "It is 42 m tall." in quotes(text)


def test_blank_text_has_no_quotes() -> None:
    assert quotes("\n" * 500) == quotes("   ") == quotes("") == []


def test_nothing_is_longer_than_a_quote_may_be() -> None:
    assert all(4 <= len(quote) <= 1800 for quote in quotes("stone, " * 2000 + "x" * 4000))
