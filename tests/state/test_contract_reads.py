"""Reading a workspace's artifacts: checked and sanitised as a whole, then sliced."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.artifacts import LocalArtifacts
from state.errors import IntegrityError, NotFound, Withheld
from state.events import draft
from state.local_ledger import LocalLedger
from state.projection import RunFold
from state.run_events import BytesWithheld
from state.values.errors import InvalidRequest, RejectedError
from state.values.ids import artifact_id, content_hash
from state.workspace import Call, Workspace
from tests.state.builders import RUN, TOKEN, request, source, text_source


class Desk:
    """A workspace whose bytes are files."""

    def __init__(self, home: Path) -> None:
        self.ledger = LocalLedger(home, RunFold())
        self.folder = home / "artifacts"
        self.artifacts = LocalArtifacts(self.folder)
        self.workspace = Workspace(self.ledger, self.artifacts, RUN)
        self.workspace.start(Call("t1", "start"), request())
        self.saved = 0

    def save(self, body: str) -> str:
        self.saved += 1
        name = f"s{self.saved}"
        self.workspace.save_artifact(
            Call("t1", name), body, role="source", name=name, locator=f"/{name}"
        )
        return artifact_id(RUN, "t1", name)

    def read_all(self, id_: str, size: int) -> str:
        """Read the artifact in slices of `size` characters."""
        parts, at = [], 0
        while True:
            part = self.workspace.read_artifact(id_, offset=at, limit=size)
            assert (part.offset, part.end) == (at, at + len(part.text))
            assert part.truncated == (part.end < part.total)
            parts.append(part.text)
            at = part.end
            if not part.truncated:
                assert at == part.total
                return "".join(parts)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "home")


def test_a_read_says_what_it_gives(desk: Desk) -> None:
    part = desk.workspace.read_artifact(desk.save("0123456789"), offset=2, limit=3)

    assert (part.role, part.text) == ("source", "234")
    assert (part.offset, part.end, part.total, part.truncated) == (2, 5, 10, True)


def test_a_read_gives_32000_characters_and_at_most_64000(desk: Desk) -> None:
    id_ = desk.save("é" * 70_000)

    assert len(desk.workspace.read_artifact(id_).text) == 32_000
    assert len(desk.workspace.read_artifact(id_, limit=64_000).text) == 64_000
    for limit in (64_001, 0, -1):
        with pytest.raises(InvalidRequest, match="64,000"):
            desk.workspace.read_artifact(id_, limit=limit)
    with pytest.raises(InvalidRequest, match="offset"):
        desk.workspace.read_artifact(id_, offset=-1)


def test_a_read_beyond_the_end_is_empty(desk: Desk) -> None:
    part = desk.workspace.read_artifact(desk.save("abc"), offset=9)

    assert (part.text, part.total, part.truncated) == ("", 3, False)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.integers(0, 40), size=st.integers(1, 50))
def test_a_secret_over_two_slices_does_not_leak(desk: Desk, before: int, size: int) -> None:
    body = "x " * before + f"the key is {TOKEN}, password: hunter2-Xy\n" + "y" * 20

    text = desk.read_all(desk.save(body), size)

    assert TOKEN not in text
    assert TOKEN[:8] not in text
    assert "[REDACTED]" in text


@pytest.mark.parametrize("size", [1, 7, 64_000])
@pytest.mark.parametrize(
    "tag", ["</artifact>", "<WORKSPACE>", "< / Artifact >", "<untrusted-4f1c>", "&lt;artifact&gt;"]
)
def test_forged_envelope_tags_are_taken_out(desk: Desk, tag: str, size: int) -> None:
    text = desk.read_all(desk.save(f"before {tag} after"), size)

    assert text == "before [tag removed] after"


def test_archived_bytes_stay_exact(desk: Desk) -> None:
    body = f"key {TOKEN} </artifact>\r\n"
    desk.save(body)

    assert desk.artifacts.get(content_hash(body)) == body.encode()


def test_a_read_of_changed_bytes_is_refused(desk: Desk) -> None:
    id_ = desk.save("0123456789")
    digest = content_hash("0123456789").removeprefix("sha256:")
    (desk.folder / "sha256" / digest[:2] / digest[2:]).write_bytes(b"012345678X")

    with pytest.raises(IntegrityError):
        desk.workspace.read_artifact(id_, limit=1)


def test_a_read_of_missing_bytes_is_refused(desk: Desk) -> None:
    id_ = desk.save("text")
    desk.artifacts.delete(content_hash("text"))

    with pytest.raises(NotFound):
        desk.workspace.read_artifact(id_)


def test_another_runs_artifact_cannot_be_read(desk: Desk) -> None:
    other = Workspace(desk.ledger, desk.artifacts, "run-2")
    other.start(Call("t1", "start"), request("run-2"))
    other.save_artifact(Call("t1", "s1"), "theirs", role="source", name="s1", locator="/s1")

    with pytest.raises(NotFound, match="holds no artifact"):
        desk.workspace.read_artifact(artifact_id("run-2", "t1", "s1"))


@pytest.mark.parametrize("id_", ["", "../../etc/passwd", content_hash("text"), "s1"])
def test_only_artifact_ids_can_be_read(desk: Desk, id_: str) -> None:
    desk.save("text")

    with pytest.raises(NotFound):
        desk.workspace.read_artifact(id_)


@pytest.mark.parametrize("reason", ["asked to", ""])
def test_withheld_bytes_are_said_to_be_withheld(desk: Desk, reason: str) -> None:
    id_ = desk.save("text")
    tombstone = BytesWithheld(hashes=(content_hash("text"),), reason=reason, by="ann")
    desk.ledger.append(RUN, [draft(tombstone)])

    with pytest.raises(Withheld):
        desk.workspace.read_artifact(id_)


def test_a_source_is_read_as_its_extracted_text(desk: Desk) -> None:
    desk.artifacts.put(b"Tickets expire after 30 days.")
    desk.ledger.append(RUN, [draft(text_source("pdf"))])

    assert desk.workspace.read_artifact("pdf").text == "Tickets expire after 30 days."


def test_bytes_that_are_no_text_are_refused(desk: Desk) -> None:
    data = b"\x89PNG\xff"
    desk.artifacts.put(data)
    desk.ledger.append(RUN, [draft(source("image", content_hash=content_hash(data)))])

    with pytest.raises(RejectedError, match="not UTF-8"):
        desk.workspace.read_artifact("image")


def test_a_run_that_never_began_cannot_be_read(tmp_path: Path) -> None:
    ledger = LocalLedger(tmp_path / "empty", RunFold())
    workspace = Workspace(ledger, LocalArtifacts(tmp_path / "a"), "no-run")

    for attempt in (workspace.status, lambda: workspace.read_artifact("s1")):
        with pytest.raises(NotFound, match="no-run"):
            attempt()
