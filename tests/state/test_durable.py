"""What the durable file operations promise, on real files."""

import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from state import durable
from state.errors import Conflict, StorageError
from state.values.errors import InvalidRequest, RejectedError

MOUNTINFO = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
61 27 0:50 / /mnt/team rw,relatime shared:5 master:1 - nfs4 server:/team rw,vers=4.2
62 27 0:51 / /mnt/phone rw,relatime - fuse.sshfs me@host: rw
"""
MAC_MOUNTS = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//me@server/share (1) on /Volumes/share (1) (smbfs, nodev, nosuid, mounted by me)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_private_folder_and_those_above_it_are_for_the_owner_only(tmp_path: Path) -> None:
    durable.create_private_folder(tmp_path / "a" / "b")
    durable.create_private_folder(tmp_path / "a" / "b")

    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700


def test_a_folder_that_was_there_keeps_its_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    durable.create_private_folder(tmp_path)

    assert mode(tmp_path) == 0o755


def test_a_file_in_the_way_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")

    with pytest.raises(StorageError, match=r"a/b: .*in the way"):
        durable.create_private_folder(tmp_path / "a" / "b")


def test_a_new_file_is_private_and_the_same_bytes_pass_again(tmp_path: Path) -> None:
    durable.write_new(tmp_path / "report.md", b"one")
    durable.write_new(tmp_path / "report.md", b"one")

    assert (tmp_path / "report.md").read_bytes() == b"one"
    assert mode(tmp_path / "report.md") == 0o600
    assert names(tmp_path) == ["report.md"]


@pytest.mark.parametrize("other", [b"two", b"", b"onetwo"])
def test_a_new_file_is_never_written_over_another(tmp_path: Path, other: bytes) -> None:
    durable.write_new(tmp_path / "report.md", b"one")

    with pytest.raises(Conflict, match=r"report\.md is there already"):
        durable.write_new(tmp_path / "report.md", other)

    assert (tmp_path / "report.md").read_bytes() == b"one"
    assert names(tmp_path) == ["report.md"]


def test_a_link_or_a_pipe_is_not_taken_for_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"one")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")

    for name in ("link", "pipe"):
        with pytest.raises(Conflict):
            durable.write_new(tmp_path / name, b"one")


def test_of_many_processes_that_create_one_file_exactly_one_wins(tmp_path: Path) -> None:
    program = (
        "import sys; from state.durable import write_new; from state.errors import Conflict\n"
        "try: write_new(sys.argv[1], sys.argv[2].encode() * 50_000)\n"
        "except Conflict: sys.exit(3)\n"
    )
    path = tmp_path / "report.md"
    children = [
        subprocess.Popen([sys.executable, "-c", program, str(path), letter]) for letter in "abcdef"
    ]

    codes = [child.wait(60) for child in children]

    assert sorted(codes) == [0, 3, 3, 3, 3, 3]
    assert path.read_bytes() == "abcdef"[codes.index(0)].encode() * 50_000
    assert names(tmp_path) == ["report.md"]


def test_replacing_a_file_leaves_the_new_bytes_and_nothing_else(tmp_path: Path) -> None:
    durable.replace_file(tmp_path / "state", b"old")
    durable.replace_file(tmp_path / "state", b"new")

    assert (tmp_path / "state").read_bytes() == b"new"
    assert names(tmp_path) == ["state"]


def test_a_write_that_hits_the_size_limit_says_so_and_leaves_the_old_file(tmp_path: Path) -> None:
    durable.replace_file(tmp_path / "state", b"old")
    program = (
        "import sys\nfrom state.durable import replace_file\n"
        "from state.errors import StorageError\n"
        "try: replace_file(sys.argv[1], bytes(100_000))\n"
        "except StorageError as error: print(error)\n"
    )

    child = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "state")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )

    assert "state: File too large; raise the file size limit" in child.stdout
    assert (tmp_path / "state").read_bytes() == b"old"
    assert names(tmp_path) == ["state"]


def test_short_writes_are_carried_on_until_all_is_written() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    data = bytes(range(256)) * 100  # fits the pipe

    durable.write_all(writing, data)

    assert os.read(reading, len(data)) == data
    os.close(reading)
    os.close(writing)


def test_a_local_folder_suits_even_before_it_exists(tmp_path: Path) -> None:
    durable.refuse_unsuitable(tmp_path / "not" / "yet" / "there")


def test_other_platforms_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "win32")

    with pytest.raises(RejectedError, match=r"win32.*WSL 2"):
        durable.refuse_unsuitable(tmp_path)


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs", "fuse.rclone"])
def test_network_file_systems_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    monkeypatch.setattr(durable, "_file_system", lambda path: kind)

    with pytest.raises(RejectedError, match=rf"{tmp_path} is on a {kind} .* local disk"):
        durable.refuse_unsuitable(tmp_path)


@pytest.mark.parametrize("kind", ["ext4", "btrfs", "tmpfs", "overlay", "fuse.mergerfs", ""])
def test_local_file_systems_pass(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    monkeypatch.setattr(durable, "_file_system", lambda path: kind)

    durable.refuse_unsuitable(tmp_path)


@pytest.mark.parametrize(
    ("mount_id", "kind"), [("27", "ext4"), ("61", "nfs4"), ("62", "fuse.sshfs"), ("6", "")]
)
def test_linux_tells_the_file_system_by_mount_id(mount_id: str, kind: str) -> None:
    assert durable.file_system_by_id(f"pos:\t0\nmnt_id:\t{mount_id}\nino:\t5\n", MOUNTINFO) == kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/Users/me", "apfs"), ("/Volumes/share (1)/x", "smbfs"), ("/Volumes/s", "apfs")],
)
def test_macos_tells_the_file_system_by_the_longest_mount_point(path: str, kind: str) -> None:
    assert durable.file_system_of(Path(path), MAC_MOUNTS) == kind


@pytest.mark.parametrize("name", ["what?", "50%20", "a#b", "x" * 256, "y/" * 2000, "\udcff"])
def test_a_place_where_a_database_would_go_astray_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="choose a folder"):
        durable.refuse_unsuitable(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a /proc")
def test_a_folder_that_cannot_be_made_is_a_clear_error() -> None:
    with pytest.raises(StorageError, match="/proc/nothing"):
        durable.create_private_folder("/proc/nothing/here")
