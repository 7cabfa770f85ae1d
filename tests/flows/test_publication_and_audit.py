"""After the seal: published once, published again, and walked again from report to bytes."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.audit import Audit, audit_run
from flows.keeping import manifests
from flows.runs import execute, principal, retry, submit
from state.errors import IntegrityError, NotFound
from state.events import draft
from state.policy import PolicyFile
from state.request import make_request
from state.research_events import ArtifactRole
from state.run_events import BytesWithheld
from state.values.errors import InvalidRequest, ObstructedError, RejectedError
from tests.flows.world import World, annex, answered, published, queued, resumed, types

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module")
def finished(prefect_server: None, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a world whose run r1 is completed, for tests that leave it as it is."""
    world = annex(tmp_path_factory.mktemp("finished") / "home")
    answered(world)
    return world


@pytest.fixture
def world(finished: World, tmp_path: Path) -> World:
    """Return a copy of the finished world, to be damaged."""
    import shutil

    shutil.copytree(finished.home, tmp_path / "copy")
    return annex(tmp_path / "copy")


@pytest.fixture
def fresh(assay_home: Path) -> World:
    return annex(assay_home)


def audit(world: World, run_id: str = "r1") -> Audit:
    return asyncio.run(audit_run(world.desk(), run_id))


def body(world: World, address: str) -> Path:
    digest = address.removeprefix("sha256:")
    return world.home / "artifacts/sha256" / digest[:2] / digest[2:]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def hash_of(kind: str) -> Callable[[World], tuple[str, str]]:
    """Return what finds (address, what a finding about it names) in a finished world."""

    def find(world: World) -> tuple[str, str]:
        run = world.desk().ledger.project("r1")
        assert run.research is not None
        source = run.research.sources[0]
        assert source.rendition is not None
        if kind == "outcome":
            effect = next(iter(run.effects.values()))
            return effect.outcome_hash, effect.call_id
        if kind in ("bytes", "text", "blocks"):
            address = {
                "bytes": source.content_hash,
                "text": source.rendition.text_hash,
                "blocks": source.rendition.blocks_hash,
            }[kind]
            return address, source.locator
        artifact = run.research.of_role(ArtifactRole(kind))[0]
        return artifact.content_hash, artifact.name

    return find


def test_a_sound_run_is_found_sound_and_everything_is_counted(finished: World) -> None:
    found = audit(finished)

    assert found.ok, found.findings
    assert (found.citations, found.citations_verified) == (3, 3)
    assert (found.sources, found.sources_rederived) == (3, 3)
    assert found.withheld == 0
    assert found.remarks == []
    assert json.loads(json.dumps(found.as_json()))["ok"] is True


KINDS = [
    "bytes", "text", "blocks", "evidence_note", "outline", "report_section", "report", "handoff",
    "outcome",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_one_flipped_bit_is_found_and_named(world: World, kind: str) -> None:
    address, name = hash_of(kind)(world)
    flip(body(world, address))

    found = audit(world)

    assert not found.ok
    assert any(name in finding.about for finding in found.findings)
    assert any("is damaged" in finding.problem for finding in found.findings)


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_that_is_gone_is_found_and_named(world: World, kind: str) -> None:
    address, name = hash_of(kind)(world)
    body(world, address).unlink()

    found = audit(world)

    assert any(name in finding.about for finding in found.findings)


def test_citations_of_a_damaged_source_do_not_count_as_verified(world: World) -> None:
    flip(body(world, hash_of("bytes")(world)[0]))

    found = audit(world)

    assert (found.citations, found.citations_verified) == (3, 2)
    assert any(finding.about.startswith("citation [") for finding in found.findings)


def test_bytes_that_were_withheld_are_no_failure(world: World) -> None:
    run = world.desk().ledger.project("r1")
    assert run.research is not None
    source = run.research.sources[0]
    gone = BytesWithheld(hashes=(source.content_hash,), reason="their wish", by="ada")
    world.desk().ledger.append("r1", [draft(gone)])
    body(world, source.content_hash).unlink()

    found = audit(world)

    assert found.ok, found.findings
    assert found.withheld == 1
    assert (found.citations, found.citations_verified) == (3, 2)
    assert found.withheld_because == ["their wish"]


def test_a_published_report_that_was_changed_is_found(world: World) -> None:
    path = world.home / "reports/r1/report.md"
    path.write_text(path.read_text().replace("25 members", "26 members"))

    (finding,) = audit(world).findings

    assert finding.about == str(path)
    assert "differs" in finding.problem


def test_a_published_report_that_is_gone_is_said_and_comes_back(world: World) -> None:
    before = published(world)
    path = world.home / "reports/r1/report.md"
    path.unlink()

    found = audit(world)
    assert found.ok
    assert any(f"{path} is not there" in remark for remark in found.remarks)
    result = resumed(world)

    assert result.status == "completed"
    assert published(world) == before
    assert world.touched == 0
    assert types(world.desk())[-1] == "run_completed"


def test_something_unreadable_in_place_of_the_report_is_a_finding(world: World) -> None:
    path = world.home / "reports/r1/report.md"
    path.unlink()
    path.mkdir()

    assert [finding.about for finding in audit(world).findings] == [str(path)]


def test_a_secret_in_a_source_stays_in_the_archive(fresh: World) -> None:
    secret = "sk-abcdefghijklmnop123"
    page = f"A team holds at most 25 members; ask with {secret} for more.\n".encode()
    fresh.pages["/world/pavo.md"] = page

    answered(fresh)

    files = b"".join(published(fresh).values())
    journal = "".join(line.json for line in fresh.desk().ledger.read("r1"))
    assert secret.encode() not in files
    assert secret not in journal
    assert b"[REDACTED]" in files
    found = audit(fresh)
    assert (found.citations, found.citations_verified) == (3, 3)
    run = fresh.desk().ledger.project("r1")
    assert run.research is not None
    assert fresh.desk().artifacts.get(run.research.sources[0].content_hash) == page
    assert resumed(fresh).status == "completed"


def test_an_audit_of_a_run_there_is_not_says_so(finished: World) -> None:
    with pytest.raises(NotFound):
        audit(finished, "r9")


def test_a_run_that_has_only_begun_can_be_audited(fresh: World) -> None:
    desk = fresh.desk(stop_after="round")
    execute(desk, queued(desk))

    found = audit(fresh)

    assert found.ok
    assert (found.sources, found.citations) == (1, 0)


def test_a_completed_run_replays_without_the_world(world: World) -> None:
    before = published(world)
    for file in (world.home / "reports/r1").iterdir():
        file.unlink()

    result = resumed(world)

    assert published(world) == before
    assert world.touched == 0
    assert (world.home / "reports/r1/manifest.json").exists()
    assert len(result.citations) == 3


def test_a_completed_run_whose_archive_was_tampered_with_is_not_published_again(
    world: World,
) -> None:
    """Cases: B1 1."""
    flip(body(world, hash_of("text")(world)[0]))

    with pytest.raises(IntegrityError):
        resumed(world)


def test_a_file_in_the_way_interrupts_and_once_it_is_moved_the_report_is_published(
    fresh: World,
) -> None:
    folder = fresh.home / "reports/r1"
    folder.mkdir(parents=True)
    (folder / "report.md").write_text("mine")

    blocked = answered(fresh)
    assert (blocked.status, blocked.code) == ("interrupted", "WORKFLOW_INTERRUPTED")
    assert str(folder / "report.md") in blocked.reason
    assert (folder / "report.md").read_text() == "mine"
    calls = len(fresh.scholar.calls)
    (folder / "report.md").rename(folder / "mine.md")
    result = resumed(fresh)

    assert result.status == "completed"
    assert b"25 members" in published(fresh)["report.md"]
    assert len(fresh.scholar.calls) == calls


def test_a_revoked_permission_stops_a_run_at_its_next_step_until_it_is_given_again(
    fresh: World,
) -> None:
    async def revoke(operation: str) -> None:
        if operation == "assess":
            fresh.desk().policy.write(PolicyFile(enabled=False))

    fresh.scholar.before = revoke

    stopped = answered(fresh)
    assert stopped.status == "interrupted"
    assert "switched off by policy" in stopped.reason
    assert "meridian retention" not in fresh.asked
    fresh.scholar.before = None
    fresh.desk().policy.write(PolicyFile())

    assert resumed(fresh).status == "completed"


def test_without_permission_nothing_is_started_replayed_or_retried(world: World) -> None:
    for file in (world.home / "reports/r1").iterdir():
        file.unlink()
    world.desk().policy.write(PolicyFile(principals=("somebody-else",)))

    with pytest.raises(ObstructedError) as raised:
        resumed(world)
    assert raised.value.code == "PERMISSION_DENIED"
    assert list((world.home / "reports/r1").iterdir()) == []
    with pytest.raises(ObstructedError):
        answered(world, "r2")
    assert world.desk().ledger.runs() == ["r1"]


def test_the_same_request_is_the_same_run_and_another_needs_its_own_id(finished: World) -> None:
    desk = finished.desk()
    events = len(types(desk))

    queued(desk)
    with pytest.raises(InvalidRequest, match="another request"):
        queued(desk, question="Something else?")

    assert len(types(desk)) == events


def test_only_what_failed_or_was_cancelled_is_retried(finished: World) -> None:
    with pytest.raises(InvalidRequest, match="only a failed or cancelled run"):
        retry(finished.desk(), "r1")


def test_a_failed_run_is_not_executed_again(fresh: World) -> None:
    def fail(given: Any, honest: Any) -> Any:
        raise RejectedError("no plan", code="NO_PLAN")

    fresh.scholar.lies = {"plan": fail}

    failed = answered(fresh)

    assert (failed.status, failed.code, failed.reason) == ("failed", "NO_PLAN", "no plan")
    with pytest.raises(RejectedError, match="assay retry r1"):
        resumed(fresh)


def test_the_manifest_says_when_what_it_cost_and_where_the_record_ends(finished: World) -> None:
    manifest = json.loads((finished.home / "reports/r1/manifest.json").read_text())

    run = finished.desk().ledger.project("r1")
    assert manifest["usage"]["searches"] == 3
    assert (manifest["last_position"], manifest["last_hash"]) == (run.position, run.head_hash)
    assert manifest["started_at"] <= manifest["ended_at"]


def test_a_request_names_its_principal_in_a_form_policies_know(finished: World) -> None:
    request = make_request(id="p1", principal=principal(), question="Who?", sources=("/world",))

    assert request.principal == principal()
    with pytest.raises(InvalidRequest):
        submit(finished.desk(), make_request(id="p 1", principal="x", question="Who?"))


@pytest.mark.parametrize(
    "spoilt",
    ['{"run_id":"r1","last_position":1e999,"last_hash":"a"}', "[" * 100_000, "null", "\x00"],
    ids=["infinite", "deep", "null", "binary"],
)
def test_a_manifest_that_makes_no_sense_says_nothing_of_the_ledger(
    spoilt: str, finished: World
) -> None:
    path = finished.home / "reports/r1/manifest.json"
    honest = path.read_text()
    path.write_text(spoilt)

    assert manifests(finished.desk().reports) == {}
    path.write_text(honest)
    assert manifests(finished.desk().reports).keys() == {"r1"}
