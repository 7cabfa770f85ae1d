"""A real model behind an OpenAI-compatible server on loopback, for the tests marked `model`.

As a program it serves until it is ended, in any Python that has the wheel `xllamacpp`:

    python tests/model_server.py WEIGHTS [--context TOKENS]

and says its base URL in one line on standard output. As a module it starts that program; without
weights or wheel it says why it cannot.
"""

import argparse
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

NAME = "qwen2.5-coder-1.5b-instruct"
WEIGHTS = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
START_S = 120.0


@dataclass(frozen=True, slots=True)
class Absent(Exception):
    """There is no model to serve here; the reason says what to set."""

    reason: str


def find_weights() -> Path:
    """Return where the weights are; raises `Absent`."""
    folder = Path(os.environ.get("ASSAY_MODEL_DIR") or Path.home() / ".cache" / "assay-models")
    if not (folder / WEIGHTS).is_file():
        raise Absent(f"no {WEIGHTS} in {folder}; set ASSAY_MODEL_DIR to the folder that has it")
    return folder / WEIGHTS


def find_python() -> Path:
    """Return a Python that has `xllamacpp`: ASSAY_MODEL_PYTHON, or this one; raises `Absent`."""
    if named := os.environ.get("ASSAY_MODEL_PYTHON"):
        if (found := shutil.which(named)) is None:
            raise Absent(f"ASSAY_MODEL_PYTHON names {named}, which is no program")
        return Path(found)
    if find_spec("xllamacpp") is None:
        raise Absent(
            "xllamacpp is not installed; install it, or set ASSAY_MODEL_PYTHON to a Python with it"
        )
    return Path(sys.executable)


@contextmanager
def serve(*, context: int = 8192, threads: int = 2) -> Iterator[str]:
    """Start the server and lend its base URL; raises `Absent` when there is nothing to serve.

    Threads wait for each other after each step: where others use the processors, one is quicker.
    """
    command = [str(find_python()), __file__, str(find_weights())]
    command += ["--context", str(context), "--threads", str(threads)]
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        too_late = threading.Timer(START_S, process.kill)
        too_late.start()
        try:
            line = process.stdout.readline().strip()
            too_late.cancel()
            if not line:
                raise RuntimeError("the model's server did not start; run this file to see why")
            yield line
        finally:
            too_late.cancel()
            process.kill()


def main() -> None:
    """Serve until standard input ends, as it does when whoever started this is gone."""
    xllamacpp = import_module("xllamacpp")
    parser = argparse.ArgumentParser()
    parser.add_argument("weights", type=Path)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = str(chosen.weights)
    params.model_alias = {NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = chosen.context
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = chosen.threads
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
