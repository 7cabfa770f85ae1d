"""The one place where a socket is connected, and only to an address that was checked."""

import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import anyio
import httpcore
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSStream

from adapters.web.errors import AddressDenied, NoAnswer
from adapters.web.urls import IpAddress
from state.values.errors import RejectedError

_CONNECT_S = 6.0
_MOST_TRIED = 3


@dataclass(slots=True)
class Allowance:
    """How many bytes may still be read; the one after them raises `excess`."""

    left: int
    excess: RejectedError

    def take(self, size: int) -> None:
        """Count `size` bytes that were read."""
        self.left -= size
        if self.left < 0:
            raise self.excess


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Connects to `addresses` when asked for `host` and `port`; there is no second look-up.

    Names stay what they were for TLS and the Host header. It is for one exchange: `aclose` drops
    the connection at once, and `allowance` bounds what may still be read from it.
    """

    def __init__(
        self, host: str, port: int, addresses: Sequence[IpAddress], allowance: Allowance
    ) -> None:
        self.allowance = allowance
        self._host = host
        self._port = port
        self._addresses = addresses
        self._stream: _Stream | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to the first of the addresses that takes one."""
        if (host, port) != (self._host, self._port):
            raise AddressDenied(f"{host}:{port} was not checked; nothing was asked.")
        reasons: list[str] = []
        timed_out = False
        for address in self._addresses[:_MOST_TRIED]:
            try:
                with anyio.fail_after(_CONNECT_S):
                    stream = await anyio.connect_tcp(str(address), port)
            except TimeoutError:
                timed_out = True
                reasons.append(f"{address} did not answer within {_CONNECT_S:g} s")
            except OSError as error:
                reasons.append(f"{address}: {_reason(error)}")
            else:
                self._stream = _Stream(stream, host, self)
                await self._refuse_other_peer(stream, address)
                return self._stream
        raise NoAnswer(
            f"{host}:{port} cannot be reached ({'; '.join(reasons)}); check the network.",
            again=not timed_out,
        )

    async def aclose(self) -> None:
        """Drop the connection, whatever it is in the midst of."""
        if self._stream is not None:
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    async def _refuse_other_peer(self, stream: ByteStream, address: IpAddress) -> None:
        peer = stream.extra(SocketAttribute.remote_address)  # noqa: S610 - of anyio, not Django
        host = str(peer[0])
        if ip_address(host.partition("%")[0]) != address:
            await self.aclose()
            raise AddressDenied(f"{self._host}: the connection led to {host}, not to {address}.")


class _Stream(httpcore.AsyncNetworkStream):
    """A connection that counts what is read from it."""

    def __init__(self, stream: ByteStream, host: str, backend: PinnedBackend) -> None:
        self._stream = stream
        self._transport = stream
        self._host = host
        self._backend = backend

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> bytes:
        """Return what has come, b"" at the end of the stream."""
        try:
            data = await self._stream.receive(max_bytes)
        except anyio.EndOfStream:
            return b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, ssl.SSLError) as error:
            raise NoAnswer(f"{self._host} broke the connection off.", again=True) from error
        self._backend.allowance.take(len(data))
        return data

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> None:
        """Send `buffer`."""
        if not buffer:
            return
        try:
            await self._stream.send(buffer)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, ssl.SSLError) as error:
            raise httpcore.WriteError(str(error)) from error  # an early answer may still be there

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        """Go on over TLS, with `server_hostname` as the name that the certificate must have."""
        try:
            # Standard compatible: a body that ends with the connection must be ended by TLS too.
            self._stream = await TLSStream.wrap(
                self._stream,
                hostname=server_hostname,
                ssl_context=ssl_context,
                standard_compatible=True,
            )
        except ssl.SSLCertVerificationError as error:
            raise NoAnswer(
                f"{self._host} has no valid certificate ({error.verify_message}); it was not asked."
            ) from error
        except (ssl.SSLError, anyio.BrokenResourceError, anyio.EndOfStream, OSError) as error:
            raise NoAnswer(f"{self._host} does not speak TLS as it should.", again=True) from error
        return self

    async def aclose(self) -> None:
        # Not through TLS, whose farewell waits for the other side's.
        await self._transport.aclose()


def _reason(error: OSError) -> str:
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return error.strerror or str(error)
