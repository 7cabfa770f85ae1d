"""What of this machine every command may see, whoever confines it."""

import os
from collections.abc import Iterable
from pathlib import Path

SYSTEM = Path("/usr")
"""Programs and libraries of the system, which every command may read and run."""

ROOT_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64")
"""Folders of `/` that hold, or lead to, parts of the system."""

SETTINGS = (
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/mime.types"),
    *("/etc/nsswitch.conf", "/etc/os-release", "/etc/protocols", "/etc/services"),
    *("/etc/debian_version", "/etc/redhat-release", "/etc/lsb-release"),
    *("/etc/ssl", "/etc/ca-certificates", "/etc/pki"),
)
"""Settings of the system that tell nothing about it and that programs look for."""

NETWORK_SETTINGS = ("/etc/resolv.conf",)
"""Settings that are needed to find other machines."""


def is_superuser() -> bool:
    """Return whether this process may become another user."""
    return os.geteuid() == 0


def outside_system(folders: Iterable[Path]) -> list[Path]:
    """Return those of `folders` that are not part of the system anyway, each once."""
    return [folder for folder in dict.fromkeys(folders) if not folder.is_relative_to(SYSTEM)]


def is_open_to(user: int, path: Path) -> bool:
    """Return whether `user`, of no group of this machine, can get to `path` and read it."""
    return _grants(path, user, 0o4) and all(_grants(parent, user, 0o1) for parent in path.parents)


def _grants(path: Path, user: int, wanted: int) -> bool:
    status = path.stat()
    return status.st_mode >> (6 if status.st_uid == user else 0) & wanted == wanted
