"""Which addresses are public, and the look-up whose every answer has to be."""

import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import anyio
from anyio import to_thread

from adapters.web.errors import AddressDenied, NoAnswer
from adapters.web.urls import IpAddress, shown

Resolve = Callable[[str], Awaitable[Sequence[str]]]
Permits = Callable[[IpAddress], bool]

_LOOKUP_S = 10.0
_MOST_ANSWERS = 256

# IANA's special-purpose registries (RFC 6890), and one address that a cloud keeps for itself.
_PRIVATE_4 = tuple(
    IPv4Network(net)
    for net in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
        *("192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "168.63.129.16/32"),
    )
)
_GLOBAL_6 = IPv6Network("2000::/3")  # all that IANA has given out
# Protocol assignments with Teredo and benchmarking in them, documentation, 6to4 (which nobody
# publishes since RFC 7526, and which tunnels to an IPv4 address of the sender's choice).
_SPECIAL_6 = tuple(
    IPv6Network(net)
    for net in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def is_public(address: IpAddress) -> bool:
    """Tell whether `address` is one of the public internet, and so is any IPv4 address inside it.

    Of the transitional forms only those pass that networks really hand out for public hosts:
    IPv4-mapped, NAT64 (64:ff9b::/96, RFC 6052) and ISATAP, each around a public IPv4 address.
    """
    if isinstance(address, IPv4Address):
        return not any(address in net for net in _PRIVATE_4)
    if address.scope_id:
        return False
    inner = _inner_address(address)
    if inner is not None and not is_public(inner):
        return False
    if address.ipv4_mapped is not None or address in _NAT64:
        return True
    return address in _GLOBAL_6 and not any(address in net for net in _SPECIAL_6)


async def resolve(host: str) -> Sequence[str]:
    """Return what the system's resolver says; raises `OSError` when it says nothing."""
    # A name of the internet is looked up as one: without the dot, search domains come first.
    name = host + "." if "." in host else host
    found = await to_thread.run_sync(
        lambda: socket.getaddrinfo(name, None, type=socket.SOCK_STREAM), abandon_on_cancel=True
    )
    return [str(info[4][0]) for info in found]


async def public_addresses(
    host: str, *, resolve: Resolve = resolve, permits: Permits = is_public
) -> tuple[IpAddress, ...]:
    """Return the addresses of `host`, in the resolver's order, once every one is permitted.

    Raises `AddressDenied` when any is not: a name that leads inside is not to be trusted with the
    addresses that lead outside. Raises `NoAnswer` when there are none.
    """
    try:
        with anyio.fail_after(_LOOKUP_S):
            answers = await resolve(host)
    except TimeoutError as error:
        raise NoAnswer(f"{host}: its name was not found within {_LOOKUP_S:g} s.") from error
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NoAnswer(
            f"{host}: its name was not found ({reason}); check the name and the network."
        ) from error
    if not answers:
        raise NoAnswer(f"{host}: its name has no address.")
    if len(answers) > _MOST_ANSWERS:
        raise AddressDenied(f"{host} has {len(answers)} addresses; that many are not checked.")
    addresses = dict.fromkeys(_read_address(host, answer) for answer in answers)
    for address in addresses:
        if not permits(address):
            raise AddressDenied(
                f"{host} leads to {address}, which is not a public address; nothing was asked. "
                "If it is a service of yours, name its origin among the allowed services."
            )
    return tuple(addresses)


def _read_address(host: str, answer: str) -> IpAddress:
    try:
        address = ip_address(answer)
    except ValueError as error:
        raise AddressDenied(f"{host} leads to {shown(answer)!r}, which is no address.") from error
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped  # the same host, and the socket says so too
    return address


def _inner_address(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    number = int(address)
    if address in _NAT64 or (number >> 32) & 0xFFFF_FFFF in _ISATAP:
        return IPv4Address(number & 0xFFFF_FFFF)
    return None
