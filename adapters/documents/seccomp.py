"""Seccomp: has the kernel refuse this process the calls that reading a document never makes.

A filter in classic BPF, see seccomp(2); nothing here needs a privilege. What is refused fails with
an error, so that a library which tries goes on without.
"""

import ctypes
import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.kernel import seccomp as kernel
from adapters.kernel.seccomp import ANY_BIT, EQUAL, Line, allow, fail

_CLONE_THREAD = 0x00010000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

REFUSED: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        # the network
        "socket": 41, "connect": 42, "accept": 43, "sendto": 44, "sendmsg": 46, "bind": 49,
        "listen": 50, "socketpair": 53, "accept4": 288, "sendmmsg": 307,
        # other programs and processes
        "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "ptrace": 101,
        "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "tkill": 200,
        "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "setns": 308, "unshare": 272,
        # changes to files
        "creat": 85, "truncate": 76, "rename": 82, "renameat": 264, "renameat2": 316, "mkdir": 83,
        "mkdirat": 258, "rmdir": 84, "link": 86, "linkat": 265, "unlink": 87, "unlinkat": 263,
        "symlink": 88, "symlinkat": 266, "mknod": 133, "mknodat": 259, "chmod": 90, "fchmod": 91,
        "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260, "utime": 132,
        "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188, "lsetxattr": 189,
        "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
        # the system, and wide doors of the kernel
        "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "init_module": 175,
        "finit_module": 313, "delete_module": 176, "kexec_load": 246, "add_key": 248,
        "request_key": 249, "keyctl": 250, "perf_event_open": 298, "fanotify_init": 300,
        "name_to_handle_at": 303, "open_by_handle_at": 304, "bpf": 321, "userfaultfd": 323,
        "mq_open": 240, "shmget": 29, "msgget": 68, "semget": 64,
    },
    "aarch64": {
        "socket": 198, "connect": 203, "accept": 202, "sendto": 206, "sendmsg": 211, "bind": 200,
        "listen": 201, "socketpair": 199, "accept4": 242, "sendmmsg": 269,
        "execve": 221, "execveat": 281, "ptrace": 117,
        "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "tkill": 130,
        "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "setns": 268, "unshare": 97,
        "truncate": 45, "renameat": 38, "renameat2": 276,
        "mkdirat": 34, "linkat": 37, "unlinkat": 35,
        "symlinkat": 36, "mknodat": 33, "fchmod": 52,
        "fchmodat": 53, "fchown": 55, "fchownat": 54,
        "utimensat": 88, "setxattr": 5, "lsetxattr": 6,
        "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
        "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "init_module": 105,
        "finit_module": 273, "delete_module": 106, "kexec_load": 104, "add_key": 217,
        "request_key": 218, "keyctl": 219, "perf_event_open": 241, "fanotify_init": 262,
        "name_to_handle_at": 264, "open_by_handle_at": 265, "bpf": 280, "userfaultfd": 282,
        "mq_open": 180, "shmget": 194, "msgget": 186, "semget": 190,
    },
}  # fmt: skip
"""Calls that fail, by architecture and name."""

NEWER: Mapping[str, int] = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
    "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435, "openat2": 437,
    "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "fchmodat2": 452,
}  # fmt: skip
"""Calls numbered alike everywhere; they seem not to exist, and C libraries take older ones."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """Calls that depend on their arguments, by number."""

    open: int | None
    openat: int
    clone: int
    kill: int
    tgkill: int


_CHECKED = {
    "x86_64": _Checked(open=2, openat=257, clone=56, kill=62, tgkill=234),
    "aarch64": _Checked(open=None, openat=56, clone=220, kill=129, tgkill=131),
}


def refuse_calls(libc: ctypes.CDLL) -> bool:
    """Refuse this process the network, other processes and changes to files, for good.

    Threads, reading, memory and signals to itself stay. Returns False, with nothing changed, on
    architectures that are not known here and where the kernel does not offer it.
    """
    machine = kernel.machine()
    return bool(machine) and kernel.install(libc, _filter(machine, os.getpid()))


def _filter(machine: str, pid: int) -> bytes:
    checked = _CHECKED[machine]
    lines = [
        *kernel.refuse(REFUSED[machine].values(), errno.EACCES),
        *kernel.refuse(NEWER.values(), errno.ENOSYS),
    ]
    refused, writing = fail(errno.EACCES), (ANY_BIT, 0, 1, _WRITING)
    if checked.open is not None:
        lines += kernel.when(checked.open, 1, [writing], refused, allow)
    lines += kernel.when(checked.openat, 2, [writing], refused, allow)
    lines += kernel.when(checked.clone, 0, [(ANY_BIT, 0, 1, _CLONE_THREAD)], allow, refused)
    own: Line = (EQUAL, 0, 1, pid)
    lines += kernel.when(checked.kill, 0, [own], allow, refused)
    lines += kernel.when(checked.tgkill, 0, [own], allow, refused)
    return kernel.assemble(machine, lines)
