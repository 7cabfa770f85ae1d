"""Where control groups are looked for, by what the kernel tells, and what is read from them."""

import os
import subprocess
from pathlib import Path

import pytest

from adapters.sandbox import cgroups
from adapters.sandbox.cgroups import Group, Hierarchies
from adapters.sandbox.port import Limits

V2 = "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate"
V1 = """\
31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
32 30 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
"""


def test_in_version_2_it_is_below_or_beside_the_own_group() -> None:
    found = cgroups.find(V2, "0::/user.slice/user-1000.slice/session.scope\n")

    above = Path("/sys/fs/cgroup/user.slice/user-1000.slice")
    assert found == [
        Hierarchies(above / "session.scope", above / "session.scope", is_v2=True),
        Hierarchies(above, above, is_v2=True),
    ]


def test_never_above_where_it_is_mounted() -> None:
    assert cgroups.find(V2, "0::/\n") == [
        Hierarchies(Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup"), is_v2=True)
    ]


def test_in_version_1_each_controller_has_its_place() -> None:
    found = cgroups.find(V1, "4:memory:/work\n8:pids:/\n0::/\n")

    assert found[-1] == Hierarchies(
        Path("/sys/fs/cgroup/memory/work"), Path("/sys/fs/cgroup/pids"), is_v2=False
    )


def test_in_a_container_the_path_is_taken_from_the_mounts_root() -> None:
    mount = "30 25 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup ro"

    assert cgroups.find(mount, "0::/docker/abc\n")[0].memory == Path("/sys/fs/cgroup")
    assert cgroups.find(mount, "0::/elsewhere\n")[0].memory == Path("/sys/fs/cgroup")


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert cgroups.find("", "") == []


def test_a_folder_that_is_no_group_is_not_taken_for_one(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        cgroups._make(Hierarchies(tmp_path, tmp_path, is_v2=True), Limits())

    assert list(tmp_path.iterdir()) == []


def test_empty_groups_of_processes_that_were_killed_are_removed(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    for name in (f"assay-{gone.pid}-empty", f"assay-{gone.pid}-busy/x", f"assay-{os.getpid()}-x"):
        (tmp_path / name).mkdir(parents=True)

    cgroups._remove_abandoned(tmp_path)

    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted([f"assay-{gone.pid}-busy", f"assay-{os.getpid()}-x"])


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_what_stopped_a_command_is_read_from_its_group(tmp_path: Path, version: str) -> None:
    memory = tmp_path / ("memory.oom_control" if version == "v1" else "memory.events")
    memory.write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    (tmp_path / "pids.events").write_text("max 3\n")
    peak = "memory.max_usage_in_bytes" if version == "v1" else "memory.peak"
    (tmp_path / peak).write_text("4096\n")

    group = Group(tmp_path, tmp_path)

    assert group.limits_met() == {"memory", "processes"}
    assert group.peak_memory_bytes() == 4096
    assert group.entrances == [str(tmp_path / "cgroup.procs")]


def test_where_no_group_can_be_made_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    places = Hierarchies(tmp_path / "gone", tmp_path / "gone", is_v2=True)
    monkeypatch.setattr(cgroups, "available", lambda: places)

    with cgroups.group(Limits()) as group:
        assert group == Group()

    assert (group.is_limiting, group.limits_met(), group.entrances) == (False, set(), [])
    assert group.peak_memory_bytes() is None
