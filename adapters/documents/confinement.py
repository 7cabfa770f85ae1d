"""Takes from this process what reading a document never needs, as far as the system can."""

import ctypes
import resource
import sys
from collections.abc import Iterable

from adapters.documents import landlock, seccomp

# Where programs and their libraries live: what is imported late is read from there.
_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"),
    *("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/nix/store"),
    *("/dev/null", "/dev/zero", "/dev/urandom"),
)


def confine(readable: Iterable[str] = ()) -> None:
    """Give up, for good, the network, other processes and all files but some to read.

    These are Python's own and what is at or below `readable`. Each part holds where the kernel
    offers it (Linux: Landlock and seccomp), else it is left out; `probe.reach_out` tells what
    holds. What is open stays open. To be called while there is only one thread.
    """
    is_kept_alone = False
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        own = filter(None, (*sys.path, sys.prefix, sys.base_prefix))
        landlock.allow_only(libc, [*own, *_SYSTEM, *readable])
        is_kept_alone = seccomp.refuse_calls(libc)
    if not is_kept_alone:
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))  # no help against root
