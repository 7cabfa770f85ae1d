"""The tools that verify a project run in a sandbox, without a network."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import anyio
import pytest

from adapters.sandbox import toolchains
from adapters.sandbox.port import Command, Level, Limits
from adapters.sandbox.toolchains import Toolchain
from tests.adapters.sandbox.conftest import Bench, said

pytestmark = pytest.mark.anyio


def prepared(make: Callable[[], Toolchain | None], *arguments: str) -> Command:
    found = make()
    if found is None:
        pytest.skip(f"this machine has no {make.__name__}")
    return Command(
        (*found.argv_prefix, *arguments),
        read_only=found.read_only,
        environment=found.environment,
        limits=Limits(wall_s=100.0),
    )


async def test_pytest_runs_and_reports(bench: Bench) -> None:
    (bench.workspace / "test_sums.py").write_text(
        "def test_sums(tmp_path):\n    (tmp_path / 'x').write_text('x')\n    assert 1 + 1 == 2\n"
    )
    command = prepared(toolchains.pytest, "-q", "-p", "no:cacheprovider", "--junit-xml=junit.xml")

    bare = {**command.environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = replace(command, collect=("junit.xml",), environment=bare)

    finished = await bench.sandbox.run(bench.workspace, command)

    assert (finished.exit_code, finished.limit) == (0, ""), said(finished)
    assert b'tests="1"' in finished.collected["junit.xml"]


async def test_npm_runs_the_tests_of_a_package(bench: Bench) -> None:
    (bench.workspace / "package.json").write_text(
        '{"name": "sums", "version": "1.0.0", "scripts": {"test": "node --test"}}'
    )
    (bench.workspace / "sums.test.js").write_text(
        "require('node:test')('sums', () => require('node:assert').equal(1 + 1, 2))\n"
    )

    finished = await bench.sandbox.run(bench.workspace, prepared(toolchains.npm, "test"))

    assert (finished.exit_code, finished.limit) == (0, ""), said(finished)
    assert "pass 1" in said(finished)


async def test_cargo_builds_and_runs_tests(bench: Bench) -> None:
    (bench.workspace / "Cargo.toml").write_text(
        '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n'
    )
    (bench.workspace / "src").mkdir()
    (bench.workspace / "src" / "lib.rs").write_text("#[test]\nfn sums() { assert_eq!(1 + 1, 2) }\n")

    finished = await bench.sandbox.run(bench.workspace, prepared(toolchains.cargo, "test"))

    assert (finished.exit_code, finished.limit) == (0, ""), said(finished)
    assert "1 passed" in said(finished)


async def test_a_server_can_be_tested_on_the_loopback(isolated: Bench) -> None:
    """Cases: H 71."""
    finished = await isolated.python(SERVER)

    assert said(finished) == "served over ('127.0.0.1', 'localhost')"


SERVER = """
import http.server, threading, urllib.request
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"served")
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
threading.Thread(target=server.serve_forever, daemon=True).start()
hosts = ("127.0.0.1", "localhost")
for host in hosts:
    said = urllib.request.urlopen(f"http://{host}:{server.server_port}/", timeout=20).read()
print(said.decode(), "over", hosts)
"""


async def test_at_the_level_landlock_a_server_is_refused_at_once(landlocked: Bench) -> None:
    """Cases: H 71. It is refused, and nothing waits for it."""
    finished = await landlocked.python(SERVER)

    assert finished.exit_code == 1
    assert "PermissionError" in said(finished)


async def test_an_application_can_be_asked_by_its_test_client(bench: Bench) -> None:
    """Cases: H 71."""
    pytest.importorskip("fastapi")
    client = """
    from fastapi import FastAPI
    from fastapi.testclient import TestClient
    app = FastAPI()
    @app.get("/{number}")
    async def double(number: int) -> int:
        return 2 * number
    with TestClient(app) as client:
        print(client.get("/21").json())
    """

    with anyio.fail_after(110):
        finished = await bench.sandbox.run(
            bench.workspace, prepared(toolchains.python, "-c", dedent(client))
        )

    assert (finished.exit_code, finished.limit, said(finished)) == (0, "", "42"), said(finished)


async def test_event_loops_threads_and_child_processes_work(bench: Bench) -> None:
    finished = await bench.python(
        """
        import asyncio, subprocess, sys, tempfile, threading
        async def main():
            child = await asyncio.create_subprocess_exec(sys.executable, "-I", "-S", "-c", "pass")
            return await child.wait() + await asyncio.to_thread(lambda: 0)
        print(asyncio.run(main()), tempfile.mkdtemp() != "")
        """
    )

    assert said(finished) == "0 True"


async def test_processes_can_share_memory_in_namespaces(isolated: Bench) -> None:
    finished = await isolated.python(
        """
        import multiprocessing
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(abs, [-1, -2]))
        """
    )

    assert said(finished) == "[1, 2]"


async def test_what_is_missing_is_no_fault_of_the_sandbox(bench: Bench) -> None:
    finished = await bench.run("no-such-program", "--version")

    assert (finished.exit_code, finished.signal) == (127, None)
    assert "no-such-program" in said(finished)


def test_tools_that_are_not_there_are_not_made_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert (toolchains.npm(), toolchains.node(), toolchains.cargo()) == (None, None, None)


def test_a_tool_of_a_version_manager_is_found_where_it_really_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = tmp_path / "toolchains" / "stable"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "cargo").touch(mode=0o755)
    shim = tmp_path / "shims" / "rustc"
    shim.parent.mkdir()
    shim.write_text(f"#!/bin/sh\necho {root}\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent))

    found = toolchains.cargo()

    assert found is not None
    assert found.argv_prefix == (str(root / "bin" / "cargo"),)
    assert found.read_only == (root,)


async def test_the_interpreter_of_this_environment_finds_its_packages(bench: Bench) -> None:
    finished = await bench.sandbox.run(
        bench.workspace, prepared(toolchains.python, "-c", "import anyio; print(anyio.__name__)")
    )

    assert said(finished) == "anyio"
    assert bench.sandbox.level in {Level.NAMESPACES, Level.LANDLOCK}
