"""Schemas are shown to models without what only validators and people need."""

import json

from pydantic import BaseModel, Field

from adapters.models.chat.wording import in_words


class Part(BaseModel):
    title: str
    default: int = 3


class Whole(BaseModel):
    """A whole."""

    parts: list[Part] = Field(min_length=1, description="what it is made of")
    properties: str = ""


def test_titles_and_defaults_go_and_names_stay() -> None:
    shown = json.loads(in_words(Whole.model_json_schema()))

    assert set(shown["properties"]) == {"parts", "properties"}
    assert set(shown["$defs"]["Part"]["properties"]) == {"title", "default"}
    assert shown["$defs"]["Part"]["properties"]["default"] == {"type": "integer"}
    assert shown["properties"]["parts"]["minItems"] == 1
    assert shown["properties"]["parts"]["description"] == "what it is made of"
    assert "title" not in shown


def test_long_lists_of_options_are_left_to_the_binding() -> None:
    schema = {"type": "string", "enum": [f"ev-{n}" for n in range(40)]}

    assert "ev-39" in in_words(schema)
    assert in_words(schema, is_bound=True) == '{"type":"string"}'
    assert "ev-3" in in_words({"enum": ["ev-1", "ev-2", "ev-3"]}, is_bound=True)
