"""Sources that code is made from: files, requirements, folders and repositories."""

import contextlib
import http.server
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.acquisition.port import SourceFile
from adapters.acquisition.repository import Repository, repository_url
from adapters.acquisition.simple import LocalFile, RequirementText
from state.values.errors import AssayError, RejectedError
from tests.adapters.web.authority import Authority

pytestmark = pytest.mark.anyio


def git(folder: Path, *arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(
        ["git", *identity, "-C", str(folder), *arguments], check=True, env=environment,
        capture_output=True,
    )  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a repository with everything that repositories surprise with."""
    root = tmp_path / "work"
    root.mkdir()
    (root / "pkg").mkdir()
    (root / "README.md").write_text("# Deep learning\n")
    (root / "LICENSE").write_text("\nMIT License\n\nPermission is granted.\n")
    (root / "pkg/model.py").write_text("RATE = 0.1\n")
    (root / "pkg/weights.bin").write_bytes(b"\0\1\2" * 10)
    (root / "big.txt").write_text("x" * 500_000)
    (root / "lfs.txt").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (root / "link").symlink_to("/etc/passwd")
    (root / "latin.txt").write_bytes("café".encode("latin-1"))
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    (root / ".git/hooks/post-checkout").write_text("#!/bin/sh\ntouch /tmp/hooked\n")
    return root


def names(files: tuple[SourceFile, ...]) -> list[str]:
    return [file.name for file in files]


async def test_a_folder_gives_its_text_files_and_says_what_was_left_out(work: Path) -> None:
    """Cases: F 46."""
    source = await Repository().acquire(str(work))

    assert names(source.files) == ["README.md", "LICENSE", "pkg/model.py"]
    assert source.licence == "MIT License"
    said = " ".join(source.dropped)
    for reason in ("links", "larger than", "no text", "Git LFS"):
        assert reason in said


async def test_a_clone_gives_the_same_and_leaves_nothing_behind(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases: F 46, 50."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with served(work, tmp_path) as (origin, ca_file):
        repository = Repository((origin,), on_loopback, ca_file)
        source = await repository.acquire(f"{origin}/deep-learning.git?tab=readme#x")

    assert names(source.files) == ["README.md", "LICENSE", "pkg/model.py"]
    assert source.locator == f"{origin}/deep-learning.git"
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/a/b.git",
        "git://example.org/a/b",
        "ssh://git@example.org/a/b",
        "file:///etc",
        "https://user:secret@example.org/a/b",
        "https://127.0.0.1/a/b",
        "https://[::1]/a/b",
        "ext::sh -c touch% /tmp/x://",
    ],
)
async def test_an_address_that_is_not_public_https_is_refused(url: str) -> None:
    with pytest.raises(AssayError) as refused:
        await Repository().acquire(url)

    assert "secret" not in str(refused.value)


async def test_a_name_that_leads_inside_is_refused_before_git_starts() -> None:
    async def inside(_host: str) -> list[str]:
        return ["93.184.216.34", "10.0.0.1"]

    with pytest.raises(RejectedError, match=r"10\.0\.0\.1|not public|private"):
        await Repository(resolve=inside).acquire("https://example.org/a/b.git")


async def test_a_redirect_is_not_followed(work: Path, tmp_path: Path) -> None:
    with (
        served(work, tmp_path, redirect=True) as (origin, ca_file),
        pytest.raises(RejectedError, match="cannot be cloned"),
    ):
        await Repository((origin,), on_loopback, ca_file).acquire(f"{origin}/x.git")


async def test_a_folder_without_text_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\0")

    with pytest.raises(RejectedError, match="no text file"):
        await Repository().acquire(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://github.com/facebook/react", "https://github.com/facebook/react"),
        ("https://github.com/foo/deep-learning/", "https://github.com/foo/deep-learning"),
        ("https://h/r.git?tab=readme#x", "https://h/r.git"),
    ],
)
def test_a_name_is_kept_to_the_letter(text: str, address: str) -> None:
    """Cases: F 46, 50."""
    assert repository_url(text) == address


async def test_a_requirement_is_its_own_document() -> None:
    source = await RequirementText().acquire("Write a smoother.")

    assert [(f.name, f.data) for f in source.files] == [("requirement.md", b"Write a smoother.")]


async def test_a_fifo_a_folder_and_what_is_missing_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")

    for name in ("fifo", ".", "missing"):
        with pytest.raises(RejectedError):
            await LocalFile().acquire(str(tmp_path / name))


async def on_loopback(_host: str) -> list[str]:
    return ["127.0.0.1"]


@contextlib.contextmanager
def served(work: Path, tmp_path: Path, *, redirect: bool = False) -> Iterator[tuple[str, Path]]:
    """Serve a bare copy of `work` by git's own protocol, over TLS on loopback."""
    root = tmp_path / "served"
    subprocess.run(
        ["git", "clone", "-q", "--bare", str(work), str(root / "deep-learning.git")],
        check=True, capture_output=True,
    )  # fmt: skip

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if redirect:
                self.send_response(302)
                self.send_header("Location", f"https://{self.headers['Host']}/deep-learning.git/")
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                self._ask_git()

        def do_POST(self) -> None:
            self._ask_git()

        def _ask_git(self) -> None:
            path, _, query = self.path.partition("?")
            length = int(self.headers.get("Content-Length", 0))
            done = subprocess.run(
                ["git", "http-backend"], input=self.rfile.read(length), capture_output=True,
                check=False,
                env={
                    "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(root),
                    "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(length),
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
                    "GIT_CONFIG_VALUE_0": "*",
                },
            )  # fmt: skip
            head, _, body = done.stdout.partition(b"\r\n\r\n")
            self.send_response(200)
            for line in head.decode().split("\r\n"):
                name, _, value = line.partition(": ")
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    authority = Authority(tmp_path)
    ca_file = tmp_path / "ca.pem"
    ca_file.write_bytes(authority.pem)
    context = authority.server("code.test")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"https://code.test:{server.server_port}", ca_file
        finally:
            server.shutdown()
            thread.join()
