"""One contract for every archive, and what a folder on a real disk adds to it."""

import os
import resource
import secrets
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.artifacts import Artifacts, LocalArtifacts, MemoryArtifacts
from state.errors import IntegrityError, NotFound, StorageError
from state.values.errors import InvalidRequest, RejectedError
from state.values.ids import content_hash

ABSENT = content_hash(b"never put")


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["folder", "memory", "s3"])
def archive(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Artifacts:
    if request.param == "memory":
        return MemoryArtifacts(clock=clock)
    if request.param == "s3":
        server = request.getfixturevalue("s3")
        from state.s3_artifacts import S3Artifacts

        return S3Artifacts(
            server.create(f"bucket-{secrets.token_hex(4)}"), endpoint=server.endpoint
        )
    return LocalArtifacts(tmp_path / "archive", clock=clock)


def needs_our_clock(archive: Artifacts) -> None:
    if not isinstance(archive, (LocalArtifacts, MemoryArtifacts)):
        pytest.skip("its ages go by the clock of its server")


def body_path(folder: Path, body_hash: str) -> Path:
    digest = body_hash.removeprefix("sha256:")
    return folder / "sha256" / digest[:2] / digest[2:]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]


# Every archive


@pytest.mark.parametrize("data", [b"", b"text", bytes(range(256)) * 5000])
def test_what_was_put_is_got_back_under_its_content_hash(archive: Artifacts, data: bytes) -> None:
    body_hash = archive.put(data)

    assert body_hash == content_hash(data)
    assert archive.get(body_hash) == data
    assert archive.has(body_hash)


def test_the_same_bytes_are_kept_once(archive: Artifacts) -> None:
    assert archive.put(b"one") == archive.put(b"one")

    assert [entry.hash for entry in archive.entries()] == [content_hash(b"one")]


def test_a_body_that_was_never_put_is_not_found(archive: Artifacts) -> None:
    with pytest.raises(NotFound, match=ABSENT):
        archive.get(ABSENT)
    assert not archive.has(ABSENT)
    assert not archive.delete(ABSENT)


def test_text_comes_back_with_every_line_end_as_it_was(archive: Artifacts) -> None:
    text = "één\r\ntwee\rdrie\n\ufeff"

    assert archive.read_text(archive.put(text.encode())) == text


def test_bytes_that_are_not_text_are_refused_as_text(archive: Artifacts) -> None:
    body_hash = archive.put(b"\xff\xfe\x00")

    with pytest.raises(RejectedError, match=f"{body_hash} is not UTF-8 text"):
        archive.read_text(body_hash)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sha256:",
        "sha256:../../../../etc/passwd",
        "../" + "0" * 61,
        ABSENT.removeprefix("sha256:"),
        ABSENT.upper(),
        ABSENT + "\n",
        ABSENT[:-1] + "/",
        "md5:" + "0" * 32,
    ],
)
def test_a_text_that_is_no_content_hash_is_refused(archive: Artifacts, text: str) -> None:
    for operation in (archive.get, archive.read_text, archive.has, archive.delete):
        with pytest.raises(InvalidRequest, match="no content hash"):
            operation(text)


def test_a_deleted_body_is_gone(archive: Artifacts) -> None:
    body_hash = archive.put(b"one")

    assert archive.delete(body_hash)

    assert not archive.has(body_hash)
    assert list(archive.entries()) == []


def test_entries_tell_size_and_age_by_ascending_hash(archive: Artifacts, clock: Clock) -> None:
    needs_our_clock(archive)
    archive.put(b"one")
    clock.now += 50
    archive.put(b"three")
    clock.now += 10

    entries = list(archive.entries())

    assert [entry.hash for entry in entries] == sorted(entry.hash for entry in entries)
    assert {(entry.size, entry.age_s) for entry in entries} == {(3, 60.0), (5, 10.0)}


def test_putting_a_body_again_keeps_it_from_being_collected(
    archive: Artifacts, clock: Clock
) -> None:
    needs_our_clock(archive)
    body_hash = archive.put(b"one")
    clock.now += 3600
    archive.put(b"one")

    assert not archive.delete(body_hash, unused_for_s=600)
    clock.now += 600
    assert archive.delete(body_hash, unused_for_s=600)


def test_there_is_nothing_to_sweep_after_ordinary_writes(archive: Artifacts) -> None:
    archive.put(b"one")

    assert archive.sweep_temporaries(older_than_s=0) == 0


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_an_archive_holds_exactly_what_was_put(bodies: list[bytes]) -> None:
    archive = MemoryArtifacts()

    hashes = [archive.put(body) for body in bodies]

    assert [archive.get(body_hash) for body_hash in hashes] == bodies
    assert {entry.hash for entry in archive.entries()} == set(hashes)


# A folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def local(folder: Path, clock: Clock) -> LocalArtifacts:
    return LocalArtifacts(folder, clock=clock)


def test_looking_into_an_archive_makes_no_folder(local: LocalArtifacts, folder: Path) -> None:
    assert list(local.entries()) == []
    assert local.sweep_temporaries(older_than_s=0) == 0
    assert not local.has(ABSENT)
    assert not local.delete(ABSENT)

    assert not folder.exists()


def test_files_and_folders_are_for_their_owner_only(local: LocalArtifacts, folder: Path) -> None:
    local.put(b"one")

    for path in [folder, *folder.rglob("*")]:
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_a_changed_byte_is_found_on_every_read(local: LocalArtifacts, folder: Path) -> None:
    body_hash = local.put(b"retention is 30 days")
    body_path(folder, body_hash).write_bytes(b"retention is 90 days")

    with pytest.raises(IntegrityError, match=rf"{body_hash} is damaged.*restore .* backup"):
        local.get(body_hash)


def test_a_cut_off_body_is_mended_when_it_is_put_again(local: LocalArtifacts, folder: Path) -> None:
    body_hash = local.put(b"retention is 30 days")
    body_path(folder, body_hash).write_bytes(b"retention")

    local.put(b"retention is 30 days")

    assert local.get(body_hash) == b"retention is 30 days"


def test_a_link_in_place_of_a_body_is_not_followed(
    local: LocalArtifacts, folder: Path, tmp_path: Path
) -> None:
    body_hash = local.put(b"one")
    (tmp_path / "elsewhere").write_bytes(b"one")
    body_path(folder, body_hash).unlink()
    body_path(folder, body_hash).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(IntegrityError, match="not a plain file"):
        local.get(body_hash)
    assert not local.has(body_hash)
    assert list(local.entries()) == []

    local.put(b"one")
    assert not body_path(folder, body_hash).is_symlink()
    assert local.get(body_hash) == b"one"


def test_a_link_in_place_of_a_folder_is_not_followed(
    local: LocalArtifacts, folder: Path, tmp_path: Path
) -> None:
    body_hash = local.put(b"one")
    shard = body_path(folder, body_hash).parent
    shard.rename(tmp_path / "elsewhere")
    shard.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(IntegrityError, match="not a plain file in plain folders"):
        local.get(body_hash)
    with pytest.raises(StorageError, match="in the way"):
        local.put(b"one")


def test_a_pipe_in_place_of_a_body_does_not_hang_a_reader(
    local: LocalArtifacts, folder: Path
) -> None:
    body_hash = local.put(b"one")
    body_path(folder, body_hash).unlink()
    os.mkfifo(body_path(folder, body_hash))

    with pytest.raises(IntegrityError, match="not a plain file"):
        local.get(body_hash)


def test_files_that_are_not_bodies_are_passed_over(local: LocalArtifacts, folder: Path) -> None:
    body_hash = local.put(b"one")
    (folder / "sha256" / ".DS_Store").write_bytes(b"x")
    (body_path(folder, body_hash).parent / "notes.txt").write_bytes(b"x")

    assert [entry.hash for entry in local.entries()] == [body_hash]


def test_sweeping_takes_old_temporaries_only(
    local: LocalArtifacts, folder: Path, clock: Clock
) -> None:
    local.put(b"one")
    for name, age in ((".tmp-old", 7200), (".tmp-new", 5), ("kept", 7200)):
        (folder / "tmp" / name).write_bytes(b"half")
        os.utime(folder / "tmp" / name, (clock.now - age, clock.now - age))

    assert local.sweep_temporaries(older_than_s=3600) == 1

    assert sorted(path.name for path in (folder / "tmp").iterdir()) == [".tmp-new", "kept"]


def child(program: str, *arguments: str) -> list[str]:
    header = "import os, sys\nfrom state.artifacts import LocalArtifacts\n"
    return [sys.executable, "-c", header + program, *arguments]


def test_many_processes_put_the_same_bodies_at_once(local: LocalArtifacts, folder: Path) -> None:
    program = (
        "archive = LocalArtifacts(sys.argv[1])\nfor n in range(20): archive.put(b'%d' % n * 9999)"
    )
    writers = [subprocess.Popen(child(program, str(folder))) for _ in range(4)]

    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]

    assert len(list(local.entries())) == len(files(folder)) == 20
    for n in range(20):
        body = b"%d" % n * 9999
        assert local.get(content_hash(body)) == body


def test_a_writer_killed_before_the_rename_leaves_only_a_temporary(
    local: LocalArtifacts, folder: Path
) -> None:
    program = (
        "import signal, state.artifacts\n"
        "def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)\n"
        "state.artifacts.os.rename = die\n"
        "LocalArtifacts(sys.argv[1]).put(b'one')\n"
    )

    killed = subprocess.run(child(program, str(folder)), timeout=60, check=False)

    assert killed.returncode == -signal.SIGKILL
    assert not local.has(content_hash(b"one"))
    assert len(files(folder)) == 1
    assert LocalArtifacts(folder).sweep_temporaries(older_than_s=0) == 1
    assert local.put(b"one") == content_hash(b"one")


def test_open_files_do_not_reach_a_child_process(local: LocalArtifacts) -> None:
    body_hash = local.put(b"one")

    with local._lock(1):  # shared
        listing = subprocess.run(
            ["ls", "-l", "/proc/self/fd"],
            capture_output=True,
            text=True,
            check=False,
            close_fds=False,
        )

    assert listing.returncode == 0 or not Path("/proc").exists()
    assert "archive" not in listing.stdout
    assert local.has(body_hash)


# A disk that refuses


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    mount, umount = shutil.which("mount"), shutil.which("umount")
    point = tmp_path / "disk"
    point.mkdir()
    if mount is None or umount is None or sys.platform != "linux":
        pytest.skip("needs Linux's mount")
    command = [mount, "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(point)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"may not mount a tmpfs here: {made.stderr.strip()}")
    yield point
    subprocess.run([umount, "-l", str(point)], check=True)


def test_a_full_disk_is_said_and_leaves_nothing(tiny_disk: Path) -> None:
    archive = LocalArtifacts(tiny_disk / "archive")
    kept = archive.put(b"small")

    with pytest.raises(StorageError, match="No space left on device; free some space"):
        archive.put(bytes(200_000))

    assert archive.get(kept) == b"small"
    assert len(files(tiny_disk)) == 1
    assert archive.put(b"still works") == content_hash(b"still works")


def test_a_read_only_disk_is_said_and_can_be_read(tiny_disk: Path) -> None:
    kept = LocalArtifacts(tiny_disk / "archive").put(b"small")
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    archive = LocalArtifacts(tiny_disk / "archive")

    assert archive.get(kept) == b"small"
    assert [entry.hash for entry in archive.entries()] == [kept]
    for operation in (lambda: archive.put(b"other"), lambda: archive.delete(kept)):
        with pytest.raises(StorageError, match="Read-only file system; make it writable"):
            operation()


def test_a_size_limit_in_the_middle_of_a_write_is_said_and_leaves_nothing(folder: Path) -> None:
    program = (
        "from state.errors import StorageError\n"
        "archive = LocalArtifacts(sys.argv[1])\narchive.put(b'small')\n"
        "try: archive.put(bytes(100_000))\n"
        "except StorageError as error: print(error)\n"
    )

    run = subprocess.run(
        child(program, str(folder)),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
    )

    assert "File too large; raise the file size limit" in run.stdout
    assert [path.read_bytes() for path in files(folder)] == [b"small"]
