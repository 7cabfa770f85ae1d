"""The archive in an S3-compatible object store, for several machines.

A bucket holds `PREFIX/sha256/ab/cdef…`, the bodies alone. A put is whole or did not happen, so
nothing is ever left by halves, and a body is only ever replaced by the same bytes.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    PermissionDeniedError,
    UnauthenticatedError,
)
from obstore.store import S3Store

from state.artifacts import Stored, body_as_text, checked_body, digest_of, no_such_body
from state.errors import StorageError
from state.values.errors import InvalidRequest
from state.values.ids import content_hash, is_content_hash

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import S3Config

_RENEW_AFTER_S = 3600.0  # well under the time for which `assay gc` spares a body
_TRIES = 4
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_CODE = re.compile(r"<Code>([^<]{1,100})</Code>(?:.*?<Message>([^<]{1,300})</Message>)?", re.DOTALL)
_REFUSALS = (PermissionDeniedError, UnauthenticatedError)
_REFUSED = re.compile(
    r"<Code>(?:AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken)<"
)
_STATUS = re.compile(r"status code: (\d{3} [A-Z][A-Za-z ]+[a-z])")
_UNKNOWN = re.compile(r"\b501\b|NotImplemented")
_PAGE = 1000


class S3Artifacts:
    """Keeps bodies as objects in a bucket. Any number of processes and machines may share it.

    `url` is `s3://BUCKET/PREFIX`; `endpoint` is the server's address where that is not Amazon's.
    Credentials and region come from the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
    AWS_SESSION_TOKEN and AWS_REGION, or from the machine's role. `timeout_s` bounds each request,
    and all tries of one together. A body that is put again when it was put more than
    `renew_after_s` ago is written again, so that its age begins anew.

    Making one connects to nothing. A forked child needs one of its own.
    """

    def __init__(
        self,
        url: str,
        *,
        endpoint: str = "",
        timeout_s: float = 120.0,
        renew_after_s: float = _RENEW_AFTER_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        bucket, self._prefix = _parts(url)
        self.place = f"s3://{bucket}{self._prefix and '/'}{self._prefix}"
        self._renew_after_s = renew_after_s
        self._clock = clock
        self._is_known = False
        self._store = _open(bucket, self._prefix, _checked_endpoint(endpoint), timeout_s)

    def put(self, data: bytes) -> str:
        """Keep `data`; an object of another size under its hash is written anew."""
        body_hash = content_hash(data)
        key = _key(body_hash)
        with self._explained(body_hash):
            found = self._head(key)
            if found is None:
                self._create(key, data, body_hash)
            elif found["size"] != len(data) or self._age(found) >= self._renew_after_s:
                obstore.put(self._store, key, data, use_multipart=False)
        return body_hash

    def get(self, body_hash: str) -> bytes:
        """Return the body, hash-checked as a whole."""
        key = _key(body_hash)
        with self._explained(body_hash):
            try:
                data = bytes(obstore.get(self._store, key).bytes())
            except FileNotFoundError as error:
                self._refuse_missing_bucket(error)
                raise no_such_body(body_hash) from None
        return checked_body(body_hash, data, f"{self.place}/{key} from a backup")

    def read_text(self, body_hash: str) -> str:
        """Return the body as UTF-8 text."""
        return body_as_text(body_hash, self.get(body_hash))

    def has(self, body_hash: str) -> bool:
        """Tell whether there is an object for the body."""
        key = _key(body_hash)
        with self._explained(body_hash):
            return self._head(key) is not None

    def delete(self, body_hash: str, *, unused_for_s: float = 0.0) -> bool:
        """Remove the body.

        The store knows no lock: a body whose age is `unused_for_s` and that is put in the very
        moment between the look at its age and its removal is lost. Whoever puts it finds that out
        when it is read.
        """
        key = _key(body_hash)
        with self._explained(body_hash):
            found = self._head(key)
            if found is None or self._age(found) < unused_for_s:
                return False
            obstore.delete(self._store, key)
        return True

    def entries(self) -> Iterator[Stored]:
        """Yield what is kept, by ascending hash."""
        with self._explained("entries"):
            listing = obstore.list(self._store, "sha256", chunk_size=_PAGE)
        while True:
            with self._explained("entries"):
                page = next(listing, None)
            if page is None:
                return
            for found in page:
                body_hash = _body_hash(found["path"])
                if body_hash is not None:
                    yield Stored(body_hash, found["size"], self._age(found))

    def sweep_temporaries(self, older_than_s: float) -> int:
        """Return 0: nothing is left by halves."""
        return 0

    def _create(self, key: str, data: bytes, body_hash: str) -> None:
        try:
            obstore.put(self._store, key, data, mode="create")
        except AlreadyExistsError:
            return  # somebody was faster, with the same bytes
        except BaseError as error:
            if not _UNKNOWN.search(str(error)):
                raise
            # A server without conditional puts: write, then see that it is what was written.
            obstore.put(self._store, key, data, use_multipart=False)
            self.get(body_hash)

    def _head(self, key: str) -> "ObjectMeta | None":
        try:
            return obstore.head(self._store, key)
        except FileNotFoundError:
            if not self._is_known:  # it says the same of a bucket that is not there
                next(obstore.list(self._store, "sha256", chunk_size=1), None)
                self._is_known = True
            return None

    def _age(self, found: "ObjectMeta") -> float:
        written: datetime = found["last_modified"]
        return max(0.0, self._clock() - written.timestamp())

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            self._refuse_missing_bucket(error)
            raise StorageError(f"{self.place} ({what}): not found; see to it") from None
        except (BaseError, OSError, ValueError) as error:
            self._refuse(error)

    def _refuse(self, error: Exception) -> NoReturn:
        self._refuse_missing_bucket(error)
        text = str(error)
        if isinstance(error, _REFUSALS) or _REFUSED.search(text):
            raise StorageError(
                f"{self.place}: access was refused ({_reason(error)}); check AWS_ACCESS_KEY_ID, "
                "AWS_SECRET_ACCESS_KEY and what they may do"
            ) from None
        if "169.254.169.254" in text or "credential" in text.lower():
            advice = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        else:
            advice = "see that it runs and can be reached, then run it again"
        # What the library says at length may hold the request with its headers.
        raise StorageError(f"{self.place}: {_reason(error)}; {advice}") from None

    def _refuse_missing_bucket(self, error: Exception) -> None:
        if "NoSuchBucket" in str(error):
            raise StorageError(
                f"{self.place}: there is no such bucket; create it, or check its name and the "
                "address of the server"
            ) from None


def _open(bucket: str, prefix: str, endpoint: str, timeout_s: float) -> S3Store:
    config: S3Config = {"endpoint": endpoint} if endpoint else {}
    if not (os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")):
        config["region"] = "us-east-1"
    limit = timedelta(seconds=timeout_s)
    return S3Store(
        bucket,
        prefix=prefix or None,
        config=config,
        client_options={
            "allow_http": endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=min(timeout_s, 10)),
            "timeout": limit,
        },
        retry_config={"max_retries": _TRIES, "retry_timeout": limit},
    )


def _parts(url: str) -> tuple[str, str]:
    """Return bucket and prefix of `s3://BUCKET/PREFIX`; raises `InvalidRequest`."""
    parts = urlsplit(url)
    prefix = unquote(parts.path).strip("/")
    fit = (
        parts.scheme == "s3"
        and _BUCKET.fullmatch(parts.netloc)
        and not (parts.query or parts.fragment)
        and prefix == prefix.encode("ascii", "ignore").decode()
        and all(step not in ("", ".", "..") for step in prefix.split("/")[: len(prefix)])
    )
    if not fit:
        # Shown only where it holds no password.
        shown = "the address of the archive" if "@" in url else repr(url[:200])
        raise InvalidRequest(
            f"{shown} is no place in an object store; write s3://BUCKET or s3://BUCKET/PREFIX, and "
            "set the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    return parts.netloc, prefix


def _checked_endpoint(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    if endpoint and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username):
        raise InvalidRequest(
            "the address of the object store is none; write https://HOST or http://HOST:PORT, "
            "without credentials"
        )
    return endpoint.rstrip("/")


def _key(body_hash: str) -> str:
    digest = digest_of(body_hash)
    return f"sha256/{digest[:2]}/{digest[2:]}"


def _body_hash(key: str) -> str | None:
    """Return the hash of the body at `key`; None for an object that is no body."""
    body_hash = "sha256:" + key.removeprefix("sha256/").replace("/", "", 1)
    return body_hash if is_content_hash(body_hash) and _key(body_hash) == key else None


def _reason(error: Exception) -> str:
    """Return why the store refused, from its own answer where there is one."""
    text = str(error)
    if found := _CODE.search(text):
        return ": ".join(filter(None, found.groups()))
    if found := _STATUS.search(text):
        return found[1]
    first = text.split("\n\nDebug source", maxsplit=1)[0]
    return re.sub(r"\s+", " ", first).strip()[:300]
