"""Seccomp: builds filters of system calls (classic BPF) and puts this process under one.

See seccomp(2); nothing here needs a privilege. Which calls are refused is for the user to say.
"""

import ctypes
import errno
import platform
import struct
from collections.abc import Iterable

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""Instructions; of a test, the two numbers after it say how many lines to skip if met, if not."""

Line = tuple[int, int, int, int]

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X32 = 0x40000000
_MODE_FILTER, _SPEC_ALLOW = 1, 1 << 2
_PR_SET_NO_NEW_PRIVS = 38

# By architecture, as `platform.machine()` calls it: what seccomp calls it, and its own number.
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SECCOMP = {"x86_64": 317, "aarch64": 277}

allow: Line = (RETURN, 0, 0, _ALLOW)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def machine() -> str:
    """Return the architecture of this process as the tables of calls name it, '' if not known."""
    name = platform.machine()
    return name if name in _AUDIT and struct.calcsize("P") == 8 else ""


def fail(number: int) -> Line:
    """Return the line that has a call fail with the error `number`; with 0 it seems to succeed."""
    return (RETURN, 0, 0, _ERRNO | number)


def refuse(calls: Iterable[int], number: int) -> list[Line]:
    """Return lines that have each of `calls` fail with the error `number`."""
    return [line for call in calls for line in ((EQUAL, 0, 1, call), fail(number))]


def when(call: int, argument: int, tests: Iterable[Line], met: Line, unmet: Line) -> list[Line]:
    """Return lines that end `call` by `met` if a test of its argument holds, else by `unmet`.

    Tests see the argument's low half, and come as (instruction, 0, 1, value).
    """
    body = [line for test in tests for line in (test, met)]
    return [
        (EQUAL, 0, len(body) + 2, call),
        (LOAD, 0, 0, _ARGUMENTS + 8 * argument),  # little-endian: the low half comes first
        *body,
        unmet,
    ]


def assemble(machine: str, lines: Iterable[Line]) -> bytes:
    """Return the filter for `machine` that allows what no line ends; other machines' are killed.

    Every line sees the call's number, until one loads something else and then ends the call.
    """
    head: list[Line] = [
        (LOAD, 0, 0, _ARCHITECTURE),
        (EQUAL, 1, 0, _AUDIT[machine]),
        (RETURN, 0, 0, _KILL),  # calls of another architecture have other numbers
        (LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        head += [(AT_LEAST, 0, 1, _X32), fail(errno.ENOSYS)]
    return b"".join(struct.pack("=HBBI", *line) for line in (*head, *lines, allow))


def install(libc: ctypes.CDLL, code: bytes) -> bool:
    """Put this process under the filter `code`, for good; False where the kernel offers none."""
    program = _Program(len(code) // 8, code)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # Else old kernels slow down all of the process, to keep it from guessing its own memory.
    for flags in (_SPEC_ALLOW, 0):
        call = _SECCOMP[machine()]
        if libc.syscall(call, _MODE_FILTER, ctypes.c_uint32(flags), ctypes.byref(program)) == 0:
            return True
    return False
