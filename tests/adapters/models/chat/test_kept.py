"""Validated answers are kept by model and request; what is damaged is as good as absent."""

from dataclasses import replace
from pathlib import Path

import pytest

from adapters.models.chat.kept import KeptAnswers
from adapters.models.chat.port import ChatAnswer, ChatRequest, Message

REQUEST = ChatRequest((Message("user", "Where?"),), 100, schema={"type": "object"}, prompt="p@1+0")
ANSWER = ChatAnswer('{"city": "Zürich"}', "served", 20, 7, cost_micro_usd=3, is_estimated=True)


def test_what_was_kept_comes_back_whole(tmp_path: Path) -> None:
    KeptAnswers(tmp_path / "answers").put("m", REQUEST, ANSWER)

    assert KeptAnswers(tmp_path / "answers").get("m", REQUEST) == ANSWER


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, messages=(Message("system", "Where?"),)),
        replace(REQUEST, schema=None),
        replace(REQUEST, schema_name="other"),
        replace(REQUEST, max_output_tokens=101),
        replace(REQUEST, temperature=0.5),
        replace(REQUEST, seed=1),
        replace(REQUEST, prompt="p@2+0"),
    ],
)
def test_another_request_has_no_answer(tmp_path: Path, other: ChatRequest) -> None:
    kept = KeptAnswers(tmp_path)
    kept.put("m", REQUEST, ANSWER)

    assert kept.get("m", other) is None
    assert kept.get("another model", REQUEST) is None


@pytest.mark.parametrize("damage", [b"", b"{}", b"half"])
def test_a_damaged_answer_is_absent(tmp_path: Path, damage: bytes) -> None:
    kept = KeptAnswers(tmp_path)
    kept.put("m", REQUEST, ANSWER)
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(file.read_bytes()[:-9] if damage == b"half" else damage)

    assert kept.get("m", REQUEST) is None


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    KeptAnswers(tmp_path / "file").put("m", REQUEST, ANSWER)

    assert KeptAnswers(tmp_path / "file").get("m", REQUEST) is None
