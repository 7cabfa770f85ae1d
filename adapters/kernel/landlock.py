"""Landlock: has the kernel refuse this process all files but some, for good (Linux ≥5.13).

See landlock(7). Nothing here needs a privilege.
"""

import ctypes
import os
import stat
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on every architecture
_GET_VERSION = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHARACTER_DEVICE, MAKE_BLOCK_DEVICE = 1 << 6, 1 << 11
TRUNCATE, IOCTL_ON_DEVICE = 1 << 14, 1 << 15

READ = READ_FILE | READ_DIR
"""Reading files and listing folders."""
RUN = READ | EXECUTE
"""Reading, and running programs."""
CHANGE = ((1 << 15) - 1) & ~(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE)
"""Everything but the making of devices."""

_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_ON_DEVICE

# What each version of the interface can refuse: kinds of access to files, to TCP, and of reach.
_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP = {4: 0b11}  # bind, connect
_REACH = {6: 0b11}  # abstract Unix sockets, signals


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("tcp", ctypes.c_uint64),
        ("reach", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version(libc: ctypes.CDLL) -> int:
    """Return which version of Landlock the kernel offers; 0 when none."""
    found = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_GET_VERSION))
    return max(0, int(found))


def restrict(
    libc: ctypes.CDLL, allowed: Iterable[tuple[str, int]], *, allow_tcp: bool = False
) -> bool:
    """Refuse this process every access to files but those `allowed`: a path, and what at or below.

    From version 4 on TCP is refused too, unless `allow_tcp`, and from 6 on signals to processes
    outside and their abstract Unix sockets. Not refused are: to see that a file is there, its size
    and times, and to change its mode, owner and times. What is open already stays so. Returns
    False, with nothing changed, where the kernel does not offer it.
    """
    offered = version(libc)
    if not offered:
        return False
    files = _best(_FILES, offered)
    tcp = 0 if allow_tcp else _best(_TCP, offered)
    rules = _Ruleset(files, tcp, _best(_REACH, offered))
    size = 8 if offered < 4 else 16 if offered < 6 else 24
    ruleset = libc.syscall(
        _CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    if ruleset < 0:
        return False
    try:
        for path, access in allowed:
            _allow(libc, ruleset, path, access & files)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return int(libc.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0))) == 0
    finally:
        os.close(ruleset)


def _best(known: dict[int, int], offered: int) -> int:
    return max((value for since, value in known.items() if since <= offered), default=0)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there need not be allowed
    try:
        is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
        rule = _Beneath(access if is_folder else access & _OF_FILES, place)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(place)
