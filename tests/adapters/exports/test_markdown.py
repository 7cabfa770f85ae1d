"""A report as Markdown: what came from outside shows to the letter and does nothing."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.exports.jsonfile import report_json
from adapters.exports.markdown import report_markdown, section_markdown
from adapters.exports.plain_marks import code, escape, within
from state.values.claims import AnswerStatus, ClaimStatus, Verdict
from state.values.evidence import Coverage, CoverageRow
from state.values.plan import Plan, Subquestion
from state.values.report import (
    Citation,
    Failure,
    Report,
    ReportClaim,
    ReportParagraph,
    ReportSection,
    RoundEntry,
    SourceEntry,
)

PARSER = MarkdownIt("gfm-like", {"linkify": False}).enable(["table", "strikethrough"])
HASH = "sha256:" + "ab" * 32
CITATION = Citation(
    1, "ev-1", "s1", "/notes/a.md", "a.md", "Notes", "At most 25 members.", 5, 24, 2, None, HASH,
    HASH, "markdown", "1", "2026-03-01T12:00:00.000Z", "",
)  # fmt: skip
CLAIM = ReportClaim(
    "findings-1", "findings", "A team has 25 members.", (1,), Verdict.SUPPORTED,
    ClaimStatus.SINGLE_SOURCE, "exact-quote", "",
)  # fmt: skip
SOURCE = SourceEntry("s1", "/notes/a.md", "a.md", "Notes", HASH, "2026", "", cited=True)


def report(**fields: object) -> Report:
    sections = (ReportSection("findings", "Findings", (ReportParagraph("", ("findings-1",), ""),)),)
    made = {
        "request_id": "r1", "question": "How many?", "research_type": "academic", "audience": "",
        "boundaries": "", "scope": "quick", "profile": "question", "researcher": "extractive",
        "plan": Plan("g", (Subquestion("q1", "How many?", "members"),)), "rounds": (),
        "rows": (CoverageRow("q1", Coverage.COVERED, ("ev-1",)),), "missing": (), "conflicts": (),
        "answer_status": AnswerStatus.ANSWERED, "stop_reason": "coverage-complete",
        "sections": sections, "claims": (CLAIM,), "dropped_claims": (), "citations": (CITATION,),
        "sources": (SOURCE,), "failures": (), "omitted": (), **fields,
    }  # fmt: skip
    return Report(**made)  # type: ignore[arg-type] # tests name real fields


def tokens(markdown: str) -> list[Token]:
    flat = []
    for token in PARSER.parse(markdown):
        flat += [token, *(token.children or [])]
    return flat


def shown(markdown: str) -> str:
    """Return the characters that a reader of `markdown` sees."""
    kinds = ("text", "code_inline", "text_special")
    return "".join(token.content for token in tokens(markdown) if token.type in kinds)


def structure(markdown: str) -> list[str]:
    return [token.type for token in tokens(markdown) if token.type not in ("text", "text_special")]


HOSTILE = [
    "as shown in [3]", "[text](http://evil.example)", "](http://evil.example)", "![x](y.png)",
    "`code` and ``more``", "<script>alert(1)</script>", "<http://evil.example>", "&lt;b&gt;",
    "&#91;3]", "# heading", "a | b | c", "| - | - |", "- item", "+ item", "1. item", "7) item",
    "---", "===",
    "***", "> quoted", "    code", "~~~", "**bold** _em_ ~~gone~~", "\\[3\\]", "back\\", "[^1]",
    "[1]: http://evil.example", "$x$ and $$y$$", "a\n\n# heading\n- [x] done", "http://evil.example",
    "www.evil.example", "“quoted” — dash", "a  b\tc", "*", "_", "[", "]", "\\", "`", "1.", "-",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_outside_shows_to_the_letter_and_makes_no_structure(text: str) -> None:
    """Cases: B1 11."""
    line = escape(text)

    assert shown(line) == " ".join(text.split())
    assert structure(line) == ["paragraph_open", "inline", "paragraph_close"]
    assert structure(f"- {line}") == structure("- plain")
    assert not re.search(r"(?<!\\)\[\d+\]", line)
    assert "p://" not in line
    assert "www." not in line


@given(st.text())
def test_any_text_shows_to_the_letter(text: str) -> None:
    line = escape(text)

    assert "\n" not in line
    line.encode()
    assert structure(f"- {line} end") == structure("- plain end")
    seen = shown(f"x {line} x")
    visible = re.sub(r"[\u2400-\u2421]|⟨U\+[0-9A-F]{4,6}⟩", "", seen)
    assert visible == re.sub(r"[\u2400-\u2421]", "", _printable(f"x {' '.join(text.split())} x"))


def _printable(text: str) -> str:
    hidden = r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
    return re.sub(hidden, "", re.sub(r"⟨U\+[0-9A-F]{4,6}⟩", "", text))


@given(st.text())
def test_any_text_within_a_line_shows_to_the_letter(text: str) -> None:
    line = within(text)

    assert "\n" not in line
    assert structure(f"- so: {line} end") == structure("- so: plain end")
    assert line.count("|") == line.count("\\|")


@pytest.mark.parametrize("text", ["-18 °C", "+3 points", "1. first"])
def test_within_a_line_nothing_is_marked_that_begins_a_list_only(text: str) -> None:
    assert within(text) == text
    assert escape(text) != text


@given(st.text(min_size=1))
def test_any_text_stays_inside_its_code_span(text: str) -> None:
    made = structure(f"- {code(text)}: cited")

    assert made == structure("- `x`: cited")


@pytest.mark.parametrize("name", ["a`b.md", "``", "`", " x ", "a\nb.md", "a\u202eb", "a\x1b[31m"])
def test_a_file_name_cannot_leave_its_code_span(name: str) -> None:
    made = report_markdown(report(sources=(replace(SOURCE, display=name),)))

    spans = [token.content for token in tokens(made) if token.type == "code_inline"]
    plain = name.replace("\n", "␊").replace("\u202e", "⟨U+202E⟩").replace("\x1b", "␛")
    assert plain in spans


def test_control_characters_are_shown_and_not_sent() -> None:
    line = escape("a\x00b\x1b[31mc\x7fd\x85e\u202ef\u2066g")

    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e\u2066]", line)
    assert "␀" in line
    assert "⟨U+202E⟩" in line


def numbers_and_list(markdown: str) -> tuple[set[int], list[int]]:
    body, _, rest = markdown.partition("## Citations")
    used = {int(n) for n in re.findall(r"(?<!\\)\[(\d+)\]", body)}
    return used, [int(n) for n in re.findall(r"(?m)^(\d+)\. “", rest)]


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=20) | st.none())
def test_every_number_resolves_whatever_claim_quote_and_title_hold(
    claim: str, quote: str, title: str | None
) -> None:
    """Cases: B1 1, 13."""
    made = report_markdown(
        report(
            claims=(replace(CLAIM, text=f"{claim} [3] [9]"),),
            citations=(replace(CITATION, quote=f"{quote} [4]", title=title),),
        )
    )

    assert numbers_and_list(made) == ({1}, [1])


def test_a_missing_title_is_shown_as_missing() -> None:
    """Cases: B1 7."""
    made = report_markdown(report(citations=(replace(CITATION, title=None),)))

    assert "(no title stated)" in made
    assert "Notes" not in made.partition("## Citations")[2].partition("## Sources")[0]


def test_a_citation_says_where_its_quote_stands() -> None:
    """Cases: B1 26."""
    made = report_markdown(report(citations=(replace(CITATION, page=4),)))

    for part in ("`a.md`", "page 4", "paragraph 2", "characters 5–24", HASH[:19], "2026-03-01"):
        assert part in made


def test_claims_that_are_not_fully_supported_are_marked() -> None:
    claim = replace(CLAIM, verdict=Verdict.UNVERIFIED, status=ClaimStatus.DISPUTED)

    assert "25 members. [1] *(unverified, disputed)*" in report_markdown(report(claims=(claim,)))


def test_every_source_touched_is_listed_with_what_became_of_it() -> None:
    """Cases: B1 16."""
    made = report_markdown(
        report(
            sources=(SOURCE, replace(SOURCE, display="b.md", cited=False)),
            rounds=(RoundEntry(1, ("members",), (), 0),),
            failures=(
                Failure("read", "/notes/c.pdf", "ENCRYPTED", "it needs a password"),
                Failure("search", "members", "SEARCH_UNAVAILABLE", "no answer"),
                Failure("search", "notes/e.docx", "UNSUPPORTED", "it is a Word file"),
            ),
            omitted=(Failure("search", "/notes/d.md", "RANK", "it ranked below the others"),),
        )
    )

    assert "- `a.md`: cited" in made
    assert "- `b.md`: read, not cited" in made
    assert "- `/notes/c.pdf`: not used, ENCRYPTED (it needs a password)" in made
    assert "- `members`: not searched, SEARCH\\_UNAVAILABLE (no answer)" in made
    assert "- `notes/e.docx`: not used, UNSUPPORTED (it is a Word file)" in made
    assert "- `/notes/d.md`: found, not read, RANK (it ranked below the others)" in made


def test_a_partial_answer_is_called_one() -> None:
    rows = (CoverageRow("q1", Coverage.COVERED), CoverageRow("q2", Coverage.GAP, gap="nothing"))

    assert "**Answered in part.** 1 of 2" in report_markdown(report(rows=rows))


def test_a_heading_is_said_once_for_the_paragraphs_under_it() -> None:
    under = ReportParagraph("Limits [3]", (), "Nothing more.")
    section = ReportSection("findings", "Findings", (under, under))

    assert section_markdown(report(), section).count("### Limits \\[3\\]") == 1


def test_a_report_without_sources_says_so() -> None:
    made = report_markdown(report(sources=(), claims=(), citations=(), sections=()))

    assert "No source matched the searches." in made
    assert "## Citations" not in made


@given(st.text(max_size=30), st.text(max_size=30))
def test_the_json_holds_every_character(question: str, quote: str) -> None:
    text = report_json(
        report(question=question, citations=(replace(CITATION, quote=quote),))
    ).encode()

    document = json.loads(text)
    assert document["schema_version"] == 1
    content = document["content"]
    assert content["question"] == question
    assert content["citations"][0]["quote"] == quote
    assert content["coverage"] == 1.0
    assert content["claims"][0]["verdict"] == "supported"


def test_the_same_report_gives_the_same_bytes() -> None:
    assert report_json(report()) == report_json(report())
    assert report_markdown(report()) == report_markdown(report())


def test_a_claim_that_several_sections_make_counts_once() -> None:
    again = replace(CLAIM, id="summary-1", section="summary", text="A team has 25 members")

    made = report_markdown(report(claims=(again, CLAIM)))

    assert "1 subquestion covered, 1 claim, 1 verified quote" in made
