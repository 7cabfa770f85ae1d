"""Files are read out of answers whole, or not at all."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.chat.lenient import read_json
from adapters.models.coding.fenced import Unusable, read_file, read_files

CODE = "def f(x: int) -> int:\n    return x + 1\n"


@pytest.mark.parametrize(
    "answer",
    [
        f"```python\n{CODE}```",
        f"Here is the file:\n\n```py\n{CODE}```\n\nI hope this helps!",
        f"<think>Should I use ```python\nx\n```?</think>\n```\n{CODE}```",
        f"~~~python title=a.py\n{CODE}~~~",
        f"Usage:\n```bash\npip install it\n```\n```python\n{CODE}```\nThen\n```python\nf(1)\n```",
        f"```python\n{CODE}",
        CODE,
        f"Here is the file:\n{CODE}",
    ],
)
def test_code_is_read_out_of_what_is_said_around_it(answer: str) -> None:
    assert read_file("pkg/a.py", answer) == CODE


def test_fences_in_a_docstring_do_not_end_the_file() -> None:
    code = 'def f() -> int:\n    """Give one.\n\n    ```\n    f()\n    ```\n    """\n    return 1\n'

    assert read_file("a.py", f"```python\n{code}```") == code


@pytest.mark.parametrize(
    "opening", ["```markdown\n", "Here it is:\n```md\n", "Here is the file:\n\n"]
)
def test_a_document_keeps_its_own_fences(opening: str) -> None:
    text = "# Smoother\n\n```python\nf(1)\n```\n\nTests:\n\n```bash\npytest\n```\n\nThe end.\n"
    closing = "```\n" if "```" in opening else ""

    assert read_file("README.md", opening + text + closing) == text


@pytest.mark.parametrize(
    ("path", "answer", "said"),
    [
        ("a.py", "I'm sorry, but I cannot help with that.", "refusal"),
        ("README.md", "As an AI I cannot write this.", "refusal"),
        ("a.py", "<!DOCTYPE html>\n<html><body>Bad gateway</body></html>", "HTML"),
        ("README.md", "<!DOCTYPE html>\n<html><body>Bad gateway</body></html>", "HTML"),
        ("a.py", "```html\n<!DOCTYPE html>\n```", "html"),
        ("a.py", "```javascript\nfunction f() {}\n```", "javascript"),
        ("a.js", f"```python\n{CODE}```", "python"),
        ("a.py", '<tool_call>{"name": "write_file", "arguments": {}}</tool_call>', "tool"),
        ("a.py", '{"name": "write_file", "arguments": {"path": "a.py"}}', "tool"),
        ("a.py", "```python\ndef f(x:\n    return (x\n```", "line"),
        ("a.py", "```python\ndef f(x):\n    return (x +", "cut off"),
        ("README.md", "```markdown\n# A\n\nText that", "cut off"),
        ("a.py", "The file computes the average of all values.", "no fenced code block"),
        ("a.py", "<think>endless", "nothing in it"),
    ],
)
def test_what_is_no_file_is_told_so(path: str, answer: str, said: str) -> None:
    """Cases: A 5."""
    with pytest.raises(Unusable) as error:
        read_file(path, answer)

    assert said in str(error.value)


def test_several_files_are_told_apart_by_their_names() -> None:
    """Cases: C 23."""
    answer = (
        f"Cause: one off.\n\nFile: pkg/a.py\n```python\n{CODE}```\n\n"
        "**`pkg/b.py`**\n```python\nx = 2\n```\n#### File: other.py\n```python\ny = 1\n```\n"
    )

    assert read_files(answer, ["pkg/a.py", "pkg/b.py"]) == {"pkg/a.py": CODE, "pkg/b.py": "x = 2\n"}


def test_a_name_in_the_first_line_of_a_block_counts() -> None:
    answer = "```python\n# pkg/b.py\nx = 2\n```"

    assert list(read_files(answer, ["pkg/a.py", "pkg/b.py"])) == ["pkg/b.py"]


def test_the_one_file_needs_no_name() -> None:
    assert read_files(f"```python\n{CODE}```", ["pkg/a.py"]) == {"pkg/a.py": CODE}


@pytest.mark.parametrize("answer", ["Change line 3.", f"```python\n{CODE}```"])
def test_a_block_of_no_known_file_is_none(answer: str) -> None:
    with pytest.raises(Unusable):
        read_files(answer, ["pkg/a.py", "pkg/b.py"])


def test_a_plan_in_a_fence_with_an_inner_block_is_read_whole() -> None:
    body = '{"approach": "Write it:\n```python\nx = 1\n```\nthen test.", "files": [1, 2]}'

    plan = next(iter(read_json(f"```json\n{body}\n```")))

    assert isinstance(plan, dict)
    assert plan["files"] == [1, 2]


@given(st.text(max_size=300), st.sampled_from(["a.py", "a.js", "README.md", "a.json", "notes"]))
def test_whatever_is_said_is_a_file_or_unusable(answer: str, path: str) -> None:
    with suppress(Unusable):
        text = read_file(path, answer)
        assert text.strip()
        assert text.endswith("\n")
