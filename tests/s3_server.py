"""An S3-compatible server of the tests' own on loopback, which asks for credentials as S3 does."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_START_S = 60.0
_SETUP_CALLS = 3


class Absent(Exception):
    """There is no server to start here; the text says what to install."""


@dataclass(frozen=True, slots=True)
class S3Server:
    """A running server and the credentials that it takes."""

    port: int
    key_id: str
    secret: str

    @property
    def endpoint(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables by which clients know the credentials."""
        return {
            "AWS_ACCESS_KEY_ID": self.key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def create(self, bucket: str) -> str:
        """Make an empty bucket and return its address."""
        self.client().create_bucket(Bucket=bucket)
        return f"s3://{bucket}"

    def client(self) -> Any:
        """Return a client of another make, to do what an archive never does."""
        return import_module("boto3").client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=self.key_id,
            aws_secret_access_key=self.secret,
        )


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Run a server for the block; raises `Absent` where there is none to run."""
    if find_spec("moto") is None or find_spec("flask") is None:
        raise Absent("no S3 server is installed; install moto[s3], flask and flask-cors")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    # The first calls make a user with keys; after them every call has to be signed.
    settings = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(_SETUP_CALLS)}
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=settings,
    )  # fmt: skip
    try:
        _wait_for(port, process)
        _iam(port, Action="CreateUser", UserName="ann")
        made = _iam(port, Action="CreateAccessKey", UserName="ann")
        everything = (
            '{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}'
        )
        _iam(port, Action="PutUserPolicy", UserName="ann", PolicyName="all",
             PolicyDocument=everything)  # fmt: skip
        yield S3Server(port, _tag(made, "AccessKeyId"), _tag(made, "SecretAccessKey"))
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the S3 server did not start")


def _iam(port: int, **fields: str) -> str:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/",
        data=urllib.parse.urlencode({**fields, "Version": "2010-05-08"}).encode(),
        headers={
            "Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, "
            "SignedHeaders=host, Signature=x"
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        text: str = answer.read().decode()
    return text


def _tag(text: str, name: str) -> str:
    found = re.search(f"<{name}>([^<]+)</{name}>", text)
    assert found is not None, text
    return found[1]
