"""The durable workspace's artifacts: roles, citations, sections, names and limits."""

import itertools

import pytest
from pydantic import ValidationError

from state.research_events import ArtifactRole, ResearchArtifactRecorded
from state.research_projection import MAX_ARTIFACTS
from state.values.ids import artifact_id, content_hash
from tests.state.builders import artifact, completed, ready, running, section, source

DERIVED = ["evidence_note", "outline", "report_section", "report", "handoff"]


def test_the_roles_are_a_closed_set() -> None:
    assert [str(role) for role in ArtifactRole] == ["source", *DERIVED]
    with pytest.raises(ValidationError, match="role"):
        artifact("a", "attachment")


@pytest.mark.parametrize("locator", ["", "   ", "\n"])
def test_a_source_needs_a_locator(locator: str) -> None:
    with pytest.raises(ValidationError, match="a source needs a locator"):
        source(locator=locator)


def test_a_source_cites_nothing() -> None:
    with pytest.raises(ValidationError, match="a source cites no other artifact"):
        source("s2", source_artifact_ids=["s1"])


@pytest.mark.parametrize("role", DERIVED)
def test_what_is_derived_cites_at_least_one_recorded_source(role: str) -> None:
    with pytest.raises(ValidationError, match="must cite at least one recorded source"):
        artifact("a", role, source_artifact_ids=[])

    assert running().refusal(artifact("a", role)) == "UNKNOWN_ARTIFACT"
    assert running().record(source(), artifact("a", role)).research.artifacts["a"].role == role


def test_only_a_source_can_be_cited() -> None:
    history = running().record(source(), artifact("note", "evidence_note"))

    cites_a_note = artifact("report", "report", source_artifact_ids=["s1", "note"])
    assert history.refusal(cites_a_note) == "NOT_A_SOURCE"


@pytest.mark.parametrize("role", ["source", "evidence_note", "outline", "report", "handoff"])
def test_section_fields_are_for_sections_only(role: str) -> None:
    with pytest.raises(ValidationError, match="only a report section"):
        artifact("a", role, section_key="summary", section_status="drafted")


@pytest.mark.parametrize(
    "fields", [{"section_key": None}, {"section_status": None}, {"section_status": "pending"}]
)
def test_a_section_has_a_key_and_is_drafted_or_completed(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        artifact("a", "report_section", **fields)


def test_a_section_is_one_of_the_profiles() -> None:
    history = running(profile="codebase").record(source())

    assert history.refusal(section("summary")) == "UNKNOWN_SECTION"
    history.record(section("conclusion"))
    assert history.research.sections["conclusion"] == "section-conclusion"


def test_the_latest_artifact_of_a_section_wins() -> None:
    history = running().record(
        source(),
        section("summary", "drafted", "first"),
        section("summary", "completed", "second"),
        section("summary", "completed", "third"),
    )

    assert history.research.sections["summary"] == "third"


def test_a_completed_section_does_not_go_back_to_drafted() -> None:
    history = running().record(source(), section("summary", "completed", "first"))

    assert history.refusal(section("summary", "drafted", "second")) == "SECTION_REGRESSION"


def test_an_artifact_is_recorded_once() -> None:
    history = running().record(source())

    assert history.refusal(source(name="other")) == "DUPLICATE_ARTIFACT"


def test_only_a_source_has_a_rendition() -> None:
    rendition = {
        "text_hash": content_hash("t"),
        "blocks_hash": content_hash("b"),
        "extractor": "plain",
        "extractor_version": "1",
        "outcome": "ok",
        "characters": 1,
    }
    with pytest.raises(ValidationError, match="only a source has a rendition"):
        artifact("a", "report", rendition=rendition)


@pytest.mark.parametrize(("field", "limit"), [("name", 240), ("summary", 4000), ("locator", 4096)])
def test_texts_are_limited_in_code_points(field: str, limit: int) -> None:
    for character in ("x", "é", "\U0001f600"):
        assert getattr(source(**{field: character * limit}), field) == character * limit
        with pytest.raises(ValidationError, match=f"at most {limit} characters"):
            source(**{field: character * (limit + 1)})


@pytest.mark.parametrize("name", ["", " "])
def test_a_name_is_not_blank(name: str) -> None:
    with pytest.raises(ValidationError, match="must not be blank"):
        source(name=name)


@pytest.mark.parametrize(
    "hash_", ["", "ab" * 32, "sha256:" + "AB" * 32, "sha256:" + "ab" * 31, "md5:" + "ab" * 32]
)
def test_a_content_hash_is_sha256_and_64_hex_digits(hash_: str) -> None:
    with pytest.raises(ValidationError, match="sha256"):
        source(content_hash=hash_)


@pytest.mark.parametrize(
    "id_", ["", ".a", "-a", "_a", "a b", "a/b", "ä", "a" * 129, "a\n", "sk-a1B2c3D4e5F6"]
)
def test_an_id_is_stable_and_looks_like_no_secret(id_: str) -> None:
    with pytest.raises(ValidationError, match=r"stable id|like a secret"):
        source(id_)


def test_an_id_has_up_to_128_characters() -> None:
    assert source("A" + "0._:-z" * 21 + "b").artifact_id.endswith("b")
    assert len(source("a" * 128).artifact_id) == 128


def test_cited_ids_are_unique_at_most_100_and_keep_their_order() -> None:
    ids = [f"s{n}" for n in range(100)]
    shuffled = ids[50:] + ids[:50]

    event = artifact("a", "report", source_artifact_ids=shuffled)
    assert list(event.source_artifact_ids) == shuffled
    with pytest.raises(ValidationError, match="at most 100"):
        artifact("a", "report", source_artifact_ids=[*ids, "s100"])
    with pytest.raises(ValidationError, match="unique"):
        artifact("a", "report", source_artifact_ids=["s1", "s1"])


def test_a_run_holds_at_most_2000_artifacts() -> None:
    assert MAX_ARTIFACTS == 2000
    history = running().record(*(source(f"s{n}") for n in range(2000)))

    assert history.refusal(source("s2000")) == "LIMIT"


def test_artifacts_of_a_role_come_oldest_first() -> None:
    ids = [f"s{n}" for n in (3, 1, 2)]
    history = running().record(
        *(source(id_) for id_ in ids), artifact("n", "outline", source_artifact_ids=["s3"])
    )

    assert [each.artifact_id for each in history.research.sources] == ids


def test_the_artifact_id_is_made_of_run_turn_and_call() -> None:
    made = artifact_id("run-1", "turn-1", "call-1")

    head, *parts = made.split("-")
    assert head == "dr"
    assert [len(part) for part in parts] == [8, 4, 4, 4, 12]
    others = itertools.product(["run-1", "run-2"], ["turn-1", "turn-2"], ["call-1", "call-2"])
    assert len({artifact_id(*names) for names in others}) == 8
    # where one ends and the next begins counts
    assert artifact_id("a", "bc", "d") != artifact_id("ab", "c", "d")


def test_unknown_keys_are_refused() -> None:
    with pytest.raises(ValidationError, match="extra"):
        ResearchArtifactRecorded.model_validate({**source().model_dump(), "path": "/etc"})


def test_a_sealed_run_takes_no_more_artifacts() -> None:
    history = ready().record(completed())

    assert history.refusal(source("s9")) == "TERMINAL"
