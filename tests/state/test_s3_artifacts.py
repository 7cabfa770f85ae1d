"""The archive in an object store: what a server on a network adds to the contract of archives."""

import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from state.artifacts import Artifacts
from state.errors import IntegrityError, NotFound, StorageError
from state.s3_artifacts import S3Artifacts
from state.values.errors import InvalidRequest
from state.values.ids import content_hash
from tests.s3_server import S3Server
from tests.tcp_proxy import Moment, Proxy, tcp_proxy

ROOT = Path(__file__).resolve().parents[2]
ABSENT = content_hash(b"never put")


@pytest.fixture
def bucket(s3: S3Server) -> str:
    return s3.create(f"bucket-{secrets.token_hex(4)}").removeprefix("s3://")


@pytest.fixture
def archive(s3: S3Server, bucket: str) -> S3Artifacts:
    return S3Artifacts(f"s3://{bucket}/of/us", endpoint=s3.endpoint)


@pytest.fixture
def proxy(s3: S3Server) -> Iterator[Proxy]:
    with tcp_proxy(s3.port) as running:
        yield running


def _archive_is_an_archive(archive: S3Artifacts) -> Artifacts:
    return archive


def _key(body_hash: str) -> str:
    digest = body_hash.removeprefix("sha256:")
    return f"of/us/sha256/{digest[:2]}/{digest[2:]}"


def _uses(archive: S3Artifacts) -> list[Any]:
    return [
        lambda: archive.put(b"one"),
        lambda: archive.get(ABSENT),
        lambda: archive.has(ABSENT),
        lambda: archive.delete(ABSENT),
        lambda: list(archive.entries()),
    ]


def test_a_body_is_one_object_named_after_its_hash(
    archive: S3Artifacts, s3: S3Server, bucket: str
) -> None:
    body_hash = archive.put(b"one")

    listed = s3.client().list_objects_v2(Bucket=bucket)["Contents"]
    assert [item["Key"] for item in listed] == [_key(body_hash)]


def test_a_changed_object_is_found_on_every_read(
    archive: S3Artifacts, s3: S3Server, bucket: str
) -> None:
    body_hash = archive.put(b"retention is 30 days")
    s3.client().put_object(Bucket=bucket, Key=_key(body_hash), Body=b"retention is 90 days")

    with pytest.raises(
        IntegrityError, match=rf"{body_hash} is damaged.*restore s3://{bucket}/of/us"
    ):
        archive.get(body_hash)


def test_a_cut_off_object_is_mended_when_it_is_put_again(
    archive: S3Artifacts, s3: S3Server, bucket: str
) -> None:
    body_hash = archive.put(b"retention is 30 days")
    s3.client().put_object(Bucket=bucket, Key=_key(body_hash), Body=b"retention")

    archive.put(b"retention is 30 days")

    assert archive.get(body_hash) == b"retention is 30 days"


def test_objects_that_are_no_bodies_are_passed_over(
    archive: S3Artifacts, s3: S3Server, bucket: str
) -> None:
    body_hash = archive.put(b"one")
    for key in ("of/us/sha256/notes.txt", "of/us/sha256/ab/c", "of/them/x", _key(ABSENT) + "/x"):
        s3.client().put_object(Bucket=bucket, Key=key, Body=b"x")

    assert [entry.hash for entry in archive.entries()] == [body_hash]


def test_entries_come_by_ascending_hash_over_many_pages(
    archive: S3Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("state.s3_artifacts._PAGE", 3)
    hashes = sorted(archive.put(b"%d" % number) for number in range(10))

    entries = list(archive.entries())

    assert [entry.hash for entry in entries] == hashes
    assert {entry.size for entry in entries} == {1}
    assert all(0 <= entry.age_s < 60 for entry in entries)


def test_putting_a_body_again_keeps_it_from_being_collected(s3: S3Server, bucket: str) -> None:
    archive = S3Artifacts(f"s3://{bucket}", endpoint=s3.endpoint, renew_after_s=1.0)
    body_hash = archive.put(b"one")
    time.sleep(2.1)  # the server's times are whole seconds

    archive.put(b"one")

    assert not archive.delete(body_hash, unused_for_s=1.9)
    time.sleep(2.1)
    assert archive.delete(body_hash, unused_for_s=1.9)
    with pytest.raises(NotFound):
        archive.get(body_hash)


def test_a_body_that_was_just_put_is_not_sent_again(
    s3: S3Server, bucket: str, proxy: Proxy
) -> None:
    archive = S3Artifacts(f"s3://{bucket}", endpoint=f"http://127.0.0.1:{proxy.port}")
    body = os.urandom(3_000_000)
    archive.put(body)
    sent = proxy.passed

    archive.put(body)

    assert proxy.passed - sent < 5_000


@pytest.mark.parametrize("moment", ["before", "after", "half-open"])
@pytest.mark.parametrize("message", range(3))
def test_a_put_whose_connection_is_cut_is_tried_again(
    s3: S3Server, bucket: str, proxy: Proxy, message: int, moment: Moment
) -> None:
    archive = S3Artifacts(
        f"s3://{bucket}/of/us", endpoint=f"http://127.0.0.1:{proxy.port}", timeout_s=20
    )
    proxy.cut_at(message, moment)

    body_hash = archive.put(b"one")
    body = archive.get(body_hash)

    assert (proxy.cuts, body) == (1, b"one")
    assert [entry.hash for entry in archive.entries()] == [body_hash]


_PUT_FOR_EVER = """
import os
from state.s3_artifacts import S3Artifacts
archive = S3Artifacts({url!r}, endpoint={endpoint!r})
while True:
    print(archive.put(os.urandom(2_000_000)), flush=True)
"""


def test_every_body_that_was_acknowledged_survives_kill_9_and_none_is_half(
    archive: S3Artifacts, s3: S3Server, bucket: str
) -> None:
    program = _PUT_FOR_EVER.format(url=f"s3://{bucket}/of/us", endpoint=s3.endpoint)
    acknowledged: list[str] = []
    for attempt in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT
        ) as writer:
            assert writer.stdout is not None
            acknowledged.append(writer.stdout.readline().strip())
            time.sleep(0.03 * attempt)
            writer.kill()
            acknowledged += writer.stdout.read().split()

    kept = [entry.hash for entry in archive.entries()]
    assert set(acknowledged) <= set(kept)
    assert len(kept) <= len(acknowledged) + 3
    for body_hash in kept:
        archive.get(body_hash)


def test_many_threads_put_the_same_bodies_at_once(archive: S3Artifacts) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(10):
                archive.put(b"%d" % number * 9999)
        except BaseException as error:  # noqa: BLE001 - shown below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert len(list(archive.entries())) == 10


# A store that refuses


def test_a_bucket_that_is_not_there_is_said_on_every_use(s3: S3Server) -> None:
    for number in range(5):
        archive = S3Artifacts("s3://nobody-made-this", endpoint=s3.endpoint)
        with pytest.raises(StorageError, match="there is no such bucket; create it"):
            _uses(archive)[number]()


@pytest.mark.parametrize("wrong", ["AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"])
def test_wrong_credentials_are_said_and_not_shown(
    s3: S3Server, bucket: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(wrong, "hunter2hunter2")
    archive = S3Artifacts(f"s3://{bucket}", endpoint=s3.endpoint)

    for use in _uses(archive):
        with pytest.raises(StorageError, match="access was refused") as told:
            use()
        error: BaseException | None = told.value
        while error is not None:
            assert "hunter2" not in str(error)
            assert s3.secret not in str(error)
            error = error.__cause__


def test_what_is_shown_of_an_archive_holds_no_secret(archive: S3Artifacts, s3: S3Server) -> None:
    for shown in (repr(archive), repr(vars(archive)), archive.place):
        assert s3.secret not in shown


def test_a_server_that_is_not_there_is_said_in_time(s3: S3Server) -> None:
    archive = S3Artifacts("s3://bucket", endpoint="http://127.0.0.1:1", timeout_s=2)
    for use in _uses(archive):
        began = time.monotonic()
        with pytest.raises(StorageError, match="see that it runs"):
            use()
        assert time.monotonic() - began < 10


def test_a_server_that_does_not_answer_in_time_is_said(
    s3: S3Server, bucket: str, proxy: Proxy
) -> None:
    archive = S3Artifacts(
        f"s3://{bucket}", endpoint=f"http://127.0.0.1:{proxy.port}", timeout_s=0.5
    )
    proxy.delay_s = 5.0
    began = time.monotonic()

    with pytest.raises(StorageError, match="see that it runs"):
        archive.put(b"one")
    assert time.monotonic() - began < 5


def test_a_slow_server_is_waited_for(s3: S3Server, bucket: str, proxy: Proxy) -> None:
    archive = S3Artifacts(f"s3://{bucket}", endpoint=f"http://127.0.0.1:{proxy.port}")
    proxy.delay_s = 0.2

    assert archive.get(archive.put(b"one")) == b"one"


class _WithoutConditions(BaseHTTPRequestHandler):
    """An object store that does not know conditional puts, and may spoil what it is given."""

    objects: ClassVar[dict[str, bytes]] = {}
    spoils: ClassVar[bool] = False

    def do_HEAD(self) -> None:
        self._answer(200 if self.path in self.objects else 404, self.objects.get(self.path, b""))

    def do_GET(self) -> None:
        if "?" in self.path:
            self._answer(
                200, b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
            )
        else:
            self.do_HEAD()

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "If-None-Match" in self.headers:
            self._answer(501, b"<Error><Code>NotImplemented</Code></Error>")
            return
        self.objects[self.path] = b"spoilt" if self.spoils else body
        self._answer(200, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"x"')
        self.send_header("Last-Modified", "Mon, 05 Jan 2026 08:00:00 GMT")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_server_without_conditional_puts_is_written_to_and_looked_at(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _WithoutConditions) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        archive = S3Artifacts(
            "s3://bucket", endpoint=f"http://127.0.0.1:{server.server_port}", timeout_s=5
        )
        try:
            assert archive.get(archive.put(b"one")) == b"one"
            monkeypatch.setattr(_WithoutConditions, "spoils", True)
            with pytest.raises(IntegrityError, match="is damaged"):
                archive.put(b"two")
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    "url", ["", "bucket", "http://bucket", "s3://", "s3://B_", "s3://bucket/../x", "s3://bucket/a//b",
            "s3://bucket?a=b", "s3://key:hunter2@bucket/x", "s3://bucket/é"],
)  # fmt: skip
def test_what_is_no_place_in_a_store_is_refused_without_showing_credentials(url: str) -> None:
    with pytest.raises(InvalidRequest, match="write s3://BUCKET or") as told:
        S3Artifacts(url)

    assert "hunter2" not in told.value.message


@pytest.mark.parametrize("endpoint", ["x", "ftp://host", "http://", "https://ann:hunter2@host"])
def test_an_address_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidRequest, match="write https://HOST or") as told:
        S3Artifacts("s3://bucket", endpoint=endpoint)

    assert "hunter2" not in told.value.message
