"""The numbers of system calls in filters, held against the kernel's own headers."""

import re
from pathlib import Path

import pytest

from adapters.kernel import seccomp
from adapters.sandbox import filters

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", HEADERS)
def test_numbers_are_those_of_the_headers(machine: str) -> None:
    if not HEADERS[machine].is_file():
        pytest.skip(f"no kernel headers at {HEADERS[machine]}")
    text = HEADERS[machine].read_text()
    known = {m[1]: int(m[2]) for m in re.finditer(r"define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    checked = filters.CHECKED[machine]
    ours = {
        **filters.DOORS[machine],
        **filters.SHARED[machine],
        **filters.ATTRIBUTES[machine],
        **filters.MODES[machine],
        **filters.NEWER,
        **filters.NEWER_MODES,
        **{name: getattr(checked, name) for name in checked.__slots__},
    }

    # What a header does not know yet is newer than it.
    assert {name: n for name, n in ours.items() if known.get(name, n) != n} == {}
    assert len(ours.keys() & known.keys()) > 50


@pytest.mark.parametrize("machine", HEADERS)
@pytest.mark.parametrize("network", [False, True])
def test_filters_are_short_enough_for_the_kernel(machine: str, network: bool) -> None:
    longest = filters.of_shared_system(machine, network=network, same_user=True)
    shorter = filters.of_namespaces(machine, network=network)

    assert len(longest) // 8 < 4096  # BPF_MAXINSNS
    assert len(shorter) < len(longest)


def test_a_jump_skips_all_tests_of_another_call() -> None:
    tests = [(seccomp.EQUAL, 0, 1, family) for family in (1, 2)]

    lines = seccomp.when(41, 0, tests, seccomp.allow, seccomp.fail(13))

    assert lines[0] == (seccomp.EQUAL, 0, len(lines) - 1, 41)
    assert lines[-1] == seccomp.fail(13)
