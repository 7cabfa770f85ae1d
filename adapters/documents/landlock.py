"""Landlock for readers: all files are refused but some to read."""

import ctypes
from collections.abc import Iterable

from adapters.kernel.landlock import READ, restrict, version

__all__ = ["allow_only", "version"]


def allow_only(libc: ctypes.CDLL, readable: Iterable[str]) -> bool:
    """Refuse this process every file but those at or below `readable`, which it may only read.

    Where the kernel offers it, TCP and signals to other processes are refused too. Returns False,
    with nothing changed, where it does not offer Landlock at all.
    """
    return restrict(libc, ((path, READ) for path in readable))
