"""Settings name who reads papers and who writes code."""

import asyncio
from pathlib import Path

import pytest

from adapters.models.coder import AnalyseInput, RepairFilesInput
from flows.coders import open_coder
from flows.settings import Settings
from state.values.errors import InvalidRequest, ObstructedError
from state.values.segments import Segment, SegmentKind

SEGMENT = Segment("s1", SegmentKind.PROSE, (), "A method.", 0, 9)


def settings(home: Path, **more: object) -> Settings:
    return Settings(
        home=home,
        model_url="http://127.0.0.1:9/v1",
        model_context=8192,
        **more,  # type: ignore[arg-type]
    )


def test_one_model_does_everything_unless_others_are_named(tmp_path: Path) -> None:
    coders = open_coder(settings(tmp_path), "small")

    assert coders.coder.name == "model:small"
    assert [model.name for model in coders.models] == ["small"]


def test_planning_and_coding_can_have_their_own_models(tmp_path: Path) -> None:
    named = settings(tmp_path, model_design="thinker", model_code="writer")

    coders = open_coder(named, "small")

    assert [model.name for model in coders.models] == ["small", "thinker", "writer"]
    assert coders.coder.price(AnalyseInput("", (SEGMENT,))).model_calls == 1
    assert coders.coder.price(RepairFilesInput("T", "python", 1, "", (), ())).model_calls == 1
    assert coders.coder.context_tokens == 8192


def test_without_a_model_it_is_said_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="ASSAY_MODEL") as error:
        open_coder(settings(tmp_path), " ")

    assert error.value.code == "MODEL_MISSING"


def test_a_model_without_its_key_obstructs_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    coders = open_coder(Settings(home=tmp_path, model_context=8192), "openai:gpt-4o")

    with pytest.raises(ObstructedError):
        asyncio.run(coders.prepare())
