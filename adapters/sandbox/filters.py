"""The system calls that no generated program needs, as filters for the kernel.

Those of `namespaces` are doors that namespaces leave open: keys, handles, more namespaces, sockets
to the machine below (vsock). Without namespaces there is more to refuse: every socket, memory and
queues shared with other processes, and, where the user is the same, power over others' processes
and the modes of their files.
"""

import errno
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.kernel import seccomp
from adapters.kernel.seccomp import ANY_BIT, EQUAL, Line, allow, fail

DOORS: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321, "perf_event_open": 298,
        "userfaultfd": 323, "fanotify_init": 300, "name_to_handle_at": 303,
        "open_by_handle_at": 304, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
        "unshare": 272, "setns": 308, "init_module": 175, "finit_module": 313,
        "delete_module": 176, "kexec_load": 246, "kexec_file_load": 320,
    },
    "aarch64": {
        "add_key": 217, "request_key": 218, "keyctl": 219, "bpf": 280, "perf_event_open": 241,
        "userfaultfd": 282, "fanotify_init": 262, "name_to_handle_at": 264,
        "open_by_handle_at": 265, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51,
        "unshare": 97, "setns": 268, "init_module": 105, "finit_module": 273,
        "delete_module": 106, "kexec_load": 104, "kexec_file_load": 294,
    },
}  # fmt: skip
"""Calls that fail at every level, by architecture and name."""

SHARED: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "shmget": 29, "shmat": 30, "semget": 64, "msgget": 68, "mq_open": 240,
        "setpriority": 141, "ioprio_set": 251, "migrate_pages": 256, "move_pages": 279,
        "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
    },
    "aarch64": {
        "shmget": 194, "shmat": 196, "semget": 190, "msgget": 186, "mq_open": 180,
        "setpriority": 140, "ioprio_set": 30, "migrate_pages": 238, "move_pages": 239,
        "fchown": 55, "fchownat": 54,
    },
}  # fmt: skip
"""Calls that fail where processes, memory and users are shared with the machine."""

ATTRIBUTES: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
    },
    "aarch64": {
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7,
        "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
    },
}  # fmt: skip
"""Calls that fail as on file systems without such attributes, which programs that copy expect."""

MODES: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "chmod": 90, "fchmod": 91, "fchmodat": 268,
        "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280,
    },
    "aarch64": {"fchmod": 52, "fchmodat": 53, "utimensat": 88},
}  # fmt: skip
"""Calls that seem to succeed where all files have one owner: programs that copy insist on them."""

NEWER: Mapping[str, int] = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "clone3": 435, "mount_setattr": 442,
}  # fmt: skip
NEWER_MODES: Mapping[str, int] = {
    "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
}  # fmt: skip
"""Calls numbered alike everywhere; they seem not to exist, and libraries take older ones."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Calls that depend on their arguments, by number."""

    clone: int
    socket: int
    socketpair: int
    prlimit64: int


CHECKED: Mapping[str, Checked] = {
    "x86_64": Checked(clone=56, socket=41, socketpair=53, prlimit64=302),
    "aarch64": Checked(clone=220, socket=198, socketpair=199, prlimit64=261),
}

_NEW_NAMESPACES = 0x7E020000
_UNIX, _OUTSIDE = 1, (2, 10, 16)  # AF_UNIX; AF_INET, AF_INET6, and AF_NETLINK to look up routes
_DATAGRAMS = 2  # a bit of SOCK_DGRAM and SOCK_RAW, which connected kinds lack


def of_namespaces(machine: str, *, network: bool) -> bytes:
    """Return the filter for a command in namespaces of its own; with `network`, in ours.

    In ours, Unix sockets could reach services of this machine: then only pairs can be had.
    """
    lines = _doors(machine)
    if network:
        lines += [*_sockets(machine, _OUTSIDE), *_pairs(machine)]
    else:
        lines += _sockets(machine, (_UNIX, *_OUTSIDE))
    return seccomp.assemble(machine, lines)


def of_shared_system(machine: str, *, network: bool, same_user: bool) -> bytes:
    """Return the filter for a command that runs beside everything else on this machine.

    `same_user` says that the user whose processes and files these are is the command's as well.
    """
    lines = [
        *_doors(machine),
        *_sockets(machine, _OUTSIDE if network else ()),
        *_pairs(machine),
        *seccomp.refuse(SHARED[machine].values(), errno.EPERM),
        *seccomp.refuse(ATTRIBUTES[machine].values(), errno.EOPNOTSUPP),
        *seccomp.when(CHECKED[machine].prlimit64, 0, [(EQUAL, 0, 1, 0)], allow, fail(errno.EPERM)),
    ]
    if same_user:
        lines += seccomp.refuse(MODES[machine].values(), 0)
        lines += seccomp.refuse(NEWER_MODES.values(), errno.ENOSYS)
    return seccomp.assemble(machine, lines)


def _doors(machine: str) -> list[Line]:
    namespaces: Line = (ANY_BIT, 0, 1, _NEW_NAMESPACES)
    return [
        *seccomp.refuse(DOORS[machine].values(), errno.EPERM),
        *seccomp.refuse(NEWER.values(), errno.ENOSYS),
        *seccomp.when(CHECKED[machine].clone, 0, [namespaces], fail(errno.EPERM), allow),
    ]


def _sockets(machine: str, families: tuple[int, ...]) -> list[Line]:
    known: list[Line] = [(EQUAL, 0, 1, family) for family in families]
    return seccomp.when(CHECKED[machine].socket, 0, known, allow, fail(errno.EACCES))


def _pairs(machine: str) -> list[Line]:
    """Refuse pairs of datagram sockets: each can be made to send to any address of its family."""
    datagrams: Line = (ANY_BIT, 0, 1, _DATAGRAMS)
    return seccomp.when(CHECKED[machine].socketpair, 1, [datagrams], fail(errno.EACCES), allow)
