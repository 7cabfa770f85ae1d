"""The event catalogue: every type is known, documented, kept readable, and free of secrets."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from state import method_events, research_events, schedule_events
from state.envelope import NO_HASH, Envelope, Refs, normalise, parse_line, seal, utc_text
from state.errors import CorruptLedger, Refused
from state.events import REGISTER, Value, decode, draft
from state.run_events import RunFailed
from state.values.redaction import REDACTED
from tests.state.builders import (
    BEGAN,
    TOKEN,
    artifact,
    checkpoint,
    item,
    queued,
    research_started,
    running,
    source,
    step,
)

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("schema_v*/*.json"))


def load(path: Path) -> tuple[str, int, dict[str, Any]]:
    """Return the type, schema version and body that a fixture holds."""
    version = int(path.parent.name.removeprefix("schema_v"))
    return path.stem, version, json.loads(path.read_text(encoding="utf-8"))


def _id(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


# ---- every type is known


def test_every_event_type_has_a_fixture_of_the_present_schema() -> None:
    fixed = {path.stem for path in FIXTURES if path.parent.name == "schema_v1"}

    assert fixed == set(REGISTER)
    assert research_events.ResearchStarted.type in fixed
    assert schedule_events.ScheduleAdded.type in fixed


def test_every_event_type_is_in_the_catalogue_of_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    catalogue = text[text.index("## The event catalogue") :]

    families = "run|stage|effect|review|bytes|notification|research|code|schedule|slots?|changes"
    named = set(re.findall(rf"`((?:{families})_[a-z_]+)`", catalogue))
    assert named == set(REGISTER)


@pytest.mark.parametrize("path", FIXTURES, ids=_id)
def test_events_of_every_schema_version_are_still_read(path: Path) -> None:
    type_, version, body = load(path)

    event = decode(type_, version, body)

    assert type(event) is REGISTER[type_]
    assert decode(type_, 1, event.model_dump(mode="json")) == event


@pytest.mark.parametrize("path", FIXTURES, ids=_id)
def test_an_event_comes_back_from_the_disk_as_it_was(path: Path) -> None:
    type_, version, body = load(path)
    event = decode(type_, version, body)
    made = normalise(draft(event, Refs("t/1", "c1")))
    envelope = Envelope("e1", type_, 1, "r", 1, utc_text(BEGAN), NO_HASH, made.refs, made.body)

    line = parse_line(seal(envelope).encode().removesuffix(b"\n"))

    assert line == seal(envelope)
    assert decode(line.envelope.type, line.envelope.schema_version, line.envelope.body) == event


# ---- what is not known


def test_unknown_types_and_versions_are_corruption() -> None:
    for type_, version in (("run_exploded", 1), ("", 1), ("run_started", 2), ("run_started", 0)):
        with pytest.raises(CorruptLedger, match="unknown event"):
            decode(type_, version, {})


def _objects(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        yield way
        for key, inner in value.items():
            yield from _objects(inner, (*way, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _objects(inner, (*way, index))


def _strings(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield way
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from _strings(inner, (*way, key))
    for index, inner in enumerate(value) if isinstance(value, list) else ():
        yield from _strings(inner, (*way, index))


def _at(body: Any, way: tuple[Any, ...]) -> Any:
    for part in way:
        body = body[part]
    return body


@pytest.mark.parametrize("path", FIXTURES, ids=_id)
def test_unknown_keys_are_refused_at_every_level(path: Path) -> None:
    type_, version, body = load(path)

    for way in _objects(body):
        if type_ == "review_answered" and way[:1] == ("plan",):
            continue  # its form is the kind's: see the reviews
        changed = deepcopy(body)
        _at(changed, way)["surprise"] = 1
        with pytest.raises(CorruptLedger, match="surprise"):
            decode(type_, version, changed)


@pytest.mark.parametrize("path", FIXTURES, ids=_id)
def test_a_body_of_the_wrong_shape_is_corruption(path: Path) -> None:
    type_, version, body = load(path)

    wrong: Any
    for wrong in ([], "text", None, {**body, "x": 1}, dict.fromkeys(body, object()) or []):
        with pytest.raises(CorruptLedger):
            decode(type_, version, wrong)


# ---- secrets


@pytest.mark.parametrize("path", FIXTURES, ids=_id)
def test_no_text_of_an_event_keeps_a_secret(path: Path) -> None:
    type_, version, body = load(path)

    for way in _strings(body):
        changed = deepcopy(body)
        _at(changed, way[:-1])[way[-1]] = TOKEN
        try:
            made = draft(decode(type_, version, changed), Refs("t/1", "c1"))
        except (CorruptLedger, Refused):
            continue  # an id, a hash, or a word of a closed set
        assert TOKEN not in json.dumps(made.body), way


@pytest.mark.parametrize(
    "secret",
    [
        TOKEN,
        "sk-ant-" + "a1B2c3D4e5F6",
        "AIza" + "a1B2c3D4e5F6g7H8i9J0",
        "ghp_" + "a1B2c3D4e5F6g7H8i9J0",
        "xoxb-" + "a1B2c3D4e5F6",
        "AKIA" + "ABCDEFGHIJKLMNOP",
    ],
)
def test_free_text_is_redacted_when_it_is_written(secret: str) -> None:
    events = [
        source(summary=f"see {secret}", locator=f"https://a.b/?api_key={secret}"),
        item("x", "blocked", blocked_reason=f"needs {secret}"),
        step(status="stopped", evidence_artifact_ids=[], keywords=[secret], roots=[f"/{secret}"]),
        checkpoint(open_questions=[f"what is {secret}?"]),
        RunFailed(code="X", message=f"401 for {secret}"),
        research_started(question=f"What is {secret}?"),
    ]
    for event in events:
        body = json.dumps(draft(event).body)
        assert secret not in body
        assert REDACTED in body


def test_ids_and_hashes_are_unchanged_by_redaction() -> None:
    history = running().record(source(), artifact("note", "evidence_note"), step())

    for line in history.lines:
        read = decode(line.envelope.type, 1, line.envelope.body)
        assert draft(read, line.envelope.refs).body == line.envelope.body


@pytest.mark.parametrize("id_", [TOKEN, "ghp_" + "a1B2c3D4e5F6g7H8i9J0", "authorization:x"])
def test_ids_that_look_like_secrets_are_refused(id_: str) -> None:
    with pytest.raises(ValidationError, match="look like a secret"):
        queued(task_id=id_)
    for refs in (Refs(id_, "c1"), Refs("t/1", id_), Refs("t/1", "a b"), Refs("t/1", "x" * 300)):
        with pytest.raises(Refused) as caught:
            draft(checkpoint(), refs)
        assert caught.value.code == "REFS"


def test_a_text_that_redaction_made_longer_is_cut_to_its_limit() -> None:
    name = "x" * 227 + " password=abc"

    body = draft(source(name=name)).body

    assert len(body["name"]) == 240
    assert "abc" not in body["name"]


def test_the_paths_to_research_are_kept_to_the_letter() -> None:
    path = "/home/ann/sk-learn-tutorials"
    started = research_started(sources=(path, "https://a.b/?token=abcdef"))
    frozen = method_events.ResearchReadingFrozen(round=1, locators=(f"{path}/a.md",))

    assert draft(started).body["request"]["sources"] == [path, f"https://a.b/?token={REDACTED}"]
    assert draft(frozen).body["locators"] == [f"{path}/a.md"]


# ---- values


def _models(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield kind
    for sub in kind.__subclasses__():
        yield from _models(sub)


def test_every_part_of_an_event_is_frozen_and_refuses_unknown_keys() -> None:
    for model in _models(Value):
        assert model.model_config.get("frozen"), model
        assert model.model_config.get("extra") == "forbid", model
