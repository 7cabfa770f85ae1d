"""The child process that reads documents: it confines itself, then answers request after request.

A request is a header `>IIQ` (bytes of name, of media type, of data) and these three; the answer is
a header `>BQ` (1 when this worker ends now, bytes of body) and the body. It ends with its parent.
"""

import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable
from importlib import import_module
from typing import BinaryIO, cast

from adapters.documents.confinement import confine
from adapters.documents.wire import encode_conversion, memory_to_decode
from state.values.blocks import Conversion, Outcome

REQUEST = struct.Struct(">IIQ")
ANSWER = struct.Struct(">BQ")

_PR_SET_PDEATHSIG = 1
_TIRED_KIB = 400 * 1024
_MAX_OPEN_FILES = 64
_MAX_PARENT_BYTES = 128 * 1024 * 1024

Function = Callable[[bytes, str, str], Conversion]


def main() -> None:
    """Serve until the input ends.

    Arguments: parent's pid, memory bytes, CPU seconds, function, and any paths it may read too.
    """
    parent, memory, cpu_s, function, *readable = sys.argv[1:]
    _die_with(int(parent))
    _limit(int(memory))
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)  # a library that reads or prints must not disturb the protocol
    os.dup2(null, 1)
    os.close(null)
    peak_kib = _peak_memory()
    confine(readable)
    serve(requests, answers, _load(function), cpu_s=int(cpu_s), peak_kib=peak_kib)


def serve(
    requests: BinaryIO,
    answers: BinaryIO,
    function: Function,
    *,
    cpu_s: int,
    peak_kib: Callable[[], int],
) -> None:
    """Answer requests until they end, or until this process has grown or run out of memory."""
    while header := requests.read(REQUEST.size):
        name_size, media_size, data_size = REQUEST.unpack(header)
        name = requests.read(name_size).decode("utf-8", "surrogateescape")
        media_type = requests.read(media_size).decode("utf-8", "surrogateescape")
        data = requests.read(data_size)
        _allow_cpu(cpu_s)
        conversion = _convert(function, data, name, media_type)
        del data
        body = _encode(conversion)
        is_last = peak_kib() > _TIRED_KIB or conversion.outcome is Outcome.LIMIT
        answers.write(ANSWER.pack(is_last, len(body)) + body)
        answers.flush()
        if is_last:
            return


def _encode(conversion: Conversion) -> bytes:
    """Return `conversion` as bytes, or that its text is too long for the parent's memory."""
    body, document = encode_conversion(conversion), conversion.document
    if document is None or memory_to_decode(document, body) <= _MAX_PARENT_BYTES:
        return body
    return encode_conversion(Conversion(Outcome.LIMIT, "The text of the file is too long."))


def _peak_memory() -> Callable[[], int]:
    """Return what tells the most memory this process ever held, in KiB, when it is confined too.

    Linux hands `ru_maxrss` on through fork and exec, so that it can be the parent's.
    """
    if sys.platform != "linux":
        return lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # bytes, on macOS
    status = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
    return lambda: int(os.pread(status, 8192, 0).partition(b"VmHWM:")[2].split()[0])


def _convert(function: Function, data: bytes, name: str, media_type: str) -> Conversion:
    try:
        return function(data, name, media_type)
    except MemoryError:
        return Conversion(Outcome.LIMIT, "Reading the file needs more memory than is allowed.")


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, however the parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(0)


def _limit(memory: int) -> None:
    for limit, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES),
    ):
        resource.setrlimit(limit, (value, value))


def _allow_cpu(seconds: int) -> None:
    """Set the soft limit, which counts from the start of the process, for one more request."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(used.ru_utime + used.ru_stime) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, hard))


def _load(name: str) -> Function:
    module, _, function = name.partition(":")
    return cast(Function, getattr(import_module(module), function))


if __name__ == "__main__":
    main()
