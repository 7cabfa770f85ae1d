"""Another user: has a process of the superuser become one that owns nothing."""

import ctypes
import os
import struct

NOBODY = 65534

_PR_SET_SECUREBITS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 28, 47, 2
_NO_SETUID_FIXUP = 1 << 2
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_DAC_READ_SEARCH = 2


def become_nobody(libc: ctypes.CDLL, *, may_search: bool = False) -> None:
    """Become the user and group `NOBODY`, without a capability, for good.

    With `may_search` one is kept, through execve as well: to read files and pass through folders
    whatever their modes say. Only for a process that Landlock holds to some files. Raises `OSError`
    when the kernel refuses, as in containers without the capabilities for it.
    """
    if may_search:
        # Becoming another user shall not take it; without this access(2) would ignore it, too.
        _check(libc.prctl(_PR_SET_SECUREBITS, _NO_SETUID_FIXUP, 0, 0, 0))
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    kept = 1 << _CAP_DAC_READ_SEARCH if may_search else 0
    _set_capabilities(libc, kept)
    if kept:
        done = libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_READ_SEARCH, 0, 0)
        _check(done)


def _set_capabilities(libc: ctypes.CDLL, kept: int) -> None:
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    data = struct.pack("=6I", kept, kept, kept, 0, 0, 0)  # effective, permitted, inheritable
    _check(libc.capset(header, data))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
