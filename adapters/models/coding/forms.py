"""The forms in which a model tells of a paper and plans code: flat, bounded, read with patience."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from adapters.models.language.forms import Form, Names
from adapters.models.language.forms import Text as PlainText

# What JSON makes of TeX whose backslashes a model did not double: `\beta` begins with a backspace.
_TEX = (
    (re.compile("\x08(?=[a-z])"), r"\\b"),
    (re.compile("\x0c(?=[a-z])"), r"\\f"),
    (re.compile(r"\t(?=(?:heta|au|ext|imes|o|ilde|op|anh?)\b)"), r"\\t"),
    (re.compile(r"\r(?=(?:ho|ight|ightarrow|m)\b)"), r"\\r"),
    (re.compile(r"\n(?=(?:abla|eq|u|orm)\b)"), r"\\n"),
)
_KINDS = ("method", "hyperparameter", "constant", "dataset", "metric", "result")
_SYNONYMS = {
    "parameter": "hyperparameter", "setting": "hyperparameter", "hyper-parameter": "hyperparameter",
    "formula": "method", "equation": "method", "algorithm": "method", "data": "dataset",
    "measure": "metric", "number": "constant", "value": "constant", "outcome": "result",
}  # fmt: skip


def _tex(value: object) -> object:
    if isinstance(value, str):
        for pattern, mark in _TEX:
            value = pattern.sub(mark, value)
    return value


def _kind(value: object) -> str:
    said = str(value).strip().casefold()
    said = _SYNONYMS.get(said, said)
    return said if said in _KINDS else "method"


def _records(number: int) -> BeforeValidator:
    """Keep the objects of a list, at most `number`."""

    def first(value: object) -> object:
        if not isinstance(value, list):
            return [] if value is None else value
        return [each for each in value if isinstance(each, Mapping | BaseModel)][:number]

    return BeforeValidator(first)


def _lines(value: object) -> object:
    """Return the lines of a list or a text, without what is no text."""
    if isinstance(value, str):
        value = value.splitlines()
    if not isinstance(value, list):
        return []
    return [each for each in value if isinstance(each, str) and each.strip()][:24]


Text = Annotated[PlainText, BeforeValidator(_tex)]
Kind = Literal["method", "hyperparameter", "constant", "dataset", "metric", "result"]
Lines = Annotated[list[str], Field(max_length=24), BeforeValidator(_lines)]


class FoundForm(Form):
    """Something that the code needs, and the words that say it."""

    quote: Text = ""
    kind: Annotated[Kind, BeforeValidator(_kind)] = "method"
    name: Text = ""
    value: Text = ""
    unit: Text = ""
    statement: Text = ""


class AnalysisForm(Form):
    """What a part of a paper says."""

    summary: Text = ""
    findings: Annotated[list[FoundForm], Field(max_length=40), _records(40)] = Field(
        default_factory=list
    )
    open_questions: Annotated[Lines, Field(json_schema_extra={"maxItems": 3})] = Field(
        default_factory=list
    )

    @model_validator(mode="after")
    def _says_something(self) -> "AnalysisForm":
        if not self.summary.strip():
            raise ValueError("summary: it is empty; say what this part of the paper describes")
        return self


class FileForm(Form):
    """A file that is planned."""

    path: Text = ""
    purpose: Text = ""
    interface: Annotated[Lines, Field(json_schema_extra={"maxItems": 12})] = Field(
        default_factory=list
    )
    depends_on: Annotated[Lines, Field(json_schema_extra={"maxItems": 12})] = Field(
        default_factory=list
    )


class FunctionForm(Form):
    """The function that computes what a note says, and where it is."""

    note: Text = ""
    signature: Text = ""
    file: Text = ""


class FilesForm(Form):
    """The files of a program, and before them its functions, so that none is forgotten."""

    language: Text = "python"
    approach: Text = ""
    functions: Annotated[list[FunctionForm], Field(max_length=60), _records(60)] = Field(
        default_factory=list
    )
    files: Annotated[list[FileForm], Field(min_length=1, max_length=120), _records(120)]
    packages: Annotated[Lines, Field(json_schema_extra={"maxItems": 8})] = Field(
        default_factory=list
    )


class ComponentForm(Form):
    """A part of the method, where it is, and when it is right."""

    name: Text = ""
    description: Text = ""
    criterion: Text = ""
    files: Annotated[Lines, Field(json_schema_extra={"maxItems": 8})] = Field(default_factory=list)
    findings: Names = Field(default_factory=list)


class AmbiguityForm(Form):
    """What is left open, and the choice."""

    question: Text = ""
    resolution: Text = ""


class ComponentsForm(Form):
    """The parts of a program."""

    components: Annotated[list[ComponentForm], Field(min_length=1, max_length=40), _records(40)]
    ambiguities: Annotated[
        list[AmbiguityForm], Field(json_schema_extra={"maxItems": 5}), _records(20)
    ] = Field(default_factory=list)
    validation: Text = ""


class SettingForm(Form):
    """A value that a person wants otherwise."""

    name: Text = ""
    kind: Annotated[Kind, BeforeValidator(_kind)] = "hyperparameter"
    value: Text = ""
    unit: Text = ""


class RevisedForm(ComponentsForm):
    """The parts of a program after a change, and the values that the change names."""

    values: Annotated[list[SettingForm], Field(json_schema_extra={"maxItems": 8}), _records(20)] = (
        Field(default_factory=list)
    )
