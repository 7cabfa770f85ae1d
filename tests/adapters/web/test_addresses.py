"""No connection leads into a private network, whatever names, answers and redirects say."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.addresses import is_public, public_addresses, resolve
from adapters.web.backend import Allowance, PinnedBackend, _Stream
from adapters.web.client import HttpClient
from adapters.web.errors import AddressDenied, NoAnswer
from adapters.web.port import Request
from adapters.web.rules import Rules
from state.values.errors import RejectedError
from tests.adapters.web.loopback import Sleeps, answer, client_for, serving
from tests.adapters.web.test_urls_and_rules import DENIED

pytestmark = pytest.mark.anyio

FORBIDDEN = (
    *(
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.0.1",
    ),
    *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1"),
    *("192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
    *("239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1"),
    *("::8.8.8.8", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", "64:ff9b::127.0.0.1"),
    *("64:ff9b::a9fe:a9fe", "64:ff9b:1::127.0.0.1", "64:ff9b:1::8.8.8.8", "64:ff9b:1:7f00:1::"),
    *(
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2002:808:808::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ),
    *("2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1", "100::1"),
    *("2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:10.0.0.1", "fe80::5efe:192.168.0.1"),
    *("fe80::1", "fe80::1%eth0", "fe80::1%1", "2606:4700::1%eth0", "fc00::1", "fd00:ec2::254"),
    *("fec0::1", "ff02::1", "ff0e::1", "5f00::1", "4000::1", "e000::1", "::ffff:0.0.0.0"),
    *("nonsense", "", "127.1", "0x7f.0.0.1", "8.8.8.8.", "[::1]", "1.1.1.1/32"),
)
PUBLIC = (
    *("1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "223.255.255.255"),
    *("::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700:4700::1111", "2a00:1450::1", "2001:4860::1"),
    "2606:4700::5efe:8.8.8.8",
)


def client_of(*answers: str) -> HttpClient:
    async def look_up(host: str) -> Sequence[str]:
        return answers

    return HttpClient(Rules(allow_http=True, deadline_s=5.0), resolve=look_up, sleep=Sleeps())


@pytest.mark.parametrize("address", FORBIDDEN)
async def test_a_name_that_leads_inside_is_not_asked(address: str, connected: list[str]) -> None:
    with pytest.raises(AddressDenied) as caught:
        await client_of(address).send(Request("https://example.org/"))

    assert caught.value.code == "PRIVATE_ADDRESS_DENIED"
    assert "example.org" in caught.value.message
    assert connected == []


@pytest.mark.parametrize("address", FORBIDDEN)
@pytest.mark.parametrize("place", [0, 1, 2])
async def test_one_inner_address_among_public_ones_denies_the_host(
    address: str, place: int, connected: list[str]
) -> None:
    answers = ["8.8.8.8", "2606:4700:4700::1111"]
    answers.insert(place, address)

    with pytest.raises(AddressDenied):
        await client_of(*answers).send(Request("http://example.org/"))
    assert connected == []


@pytest.mark.parametrize("url", DENIED)
async def test_a_denied_url_connects_nowhere(url: str, connected: list[str]) -> None:
    client = HttpClient(Rules(), sleep=Sleeps())

    with pytest.raises(RejectedError):
        await client.send(Request(url))
    assert connected == []


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.ip_addresses(v=4))
def test_python_calls_no_public_address_private(address: IPv4Address) -> None:
    if is_public(address):
        assert address.is_global
        assert not address.is_multicast


@given(st.ip_addresses(v=4))
def test_an_inner_ipv4_address_decides_for_every_form_around_it(inner: IPv4Address) -> None:
    number = int(inner)
    mapped = IPv6Address((0xFFFF << 32) | number)
    nat64 = IPv6Address((0x0064_FF9B << 96) | number)
    isatap = IPv6Address((0x2606_4700 << 96) | (0x5EFE << 32) | number)
    six_to_four = IPv6Address((0x2002 << 112) | (number << 80) | 1)

    assert is_public(mapped) == is_public(nat64) == is_public(isatap) == is_public(inner)
    assert not is_public(six_to_four)


@given(st.ip_addresses(v=6))
def test_python_calls_no_public_ipv6_address_private(address: IPv6Address) -> None:
    if is_public(address) and address.ipv4_mapped is None:
        assert address.is_global
        assert not address.is_multicast


async def test_no_answer_and_too_many_answers_are_refused(connected: list[str]) -> None:
    with pytest.raises(NoAnswer, match="no address"):
        await client_of().send(Request("https://example.org/"))
    many = [f"8.8.{n // 250}.{n % 250}" for n in range(600)]
    with pytest.raises(AddressDenied, match="600 addresses"):
        await client_of(*many).send(Request("https://example.org/"))
    assert connected == []


async def test_hundreds_of_answers_are_all_checked(connected: list[str]) -> None:
    many = [f"8.8.8.{n}" for n in range(200)]

    with pytest.raises(AddressDenied, match=r"10\.0\.0\.1"):
        await client_of(*many, "10.0.0.1").send(Request("https://example.org/"))
    assert connected == []


async def test_a_name_that_is_not_found_is_told_with_its_reason() -> None:
    async def offline(host: str) -> Sequence[str]:
        raise OSError(-3, "Temporary failure in name resolution")

    client = HttpClient(Rules(), resolve=offline, sleep=Sleeps())

    with pytest.raises(NoAnswer, match=r"example\.org.*Temporary failure") as caught:
        await client.send(Request("https://example.org/"))
    assert caught.value.code == "PAGE_UNAVAILABLE"


async def test_the_address_that_was_checked_is_the_one_that_is_connected(
    connected: list[str],
) -> None:
    """A name that is public when it is checked and private a moment later gains nothing."""
    asked: list[str] = []

    async def rebinding(host: str) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    async with serving(answer(b"pinned")) as server:
        client = HttpClient(
            Rules(allow_http=True, services=(f"http://rebinding.test:{server.port}",)),
            resolve=rebinding,
        )
        response = await client.send(Request(f"http://rebinding.test:{server.port}/"))

    assert response.body == b"pinned"
    assert server.header("host") == f"rebinding.test:{server.port}"
    assert asked == ["rebinding.test"]
    assert [place for place in connected if "127.0.0.2" in place] == []


async def test_each_hop_is_looked_up_and_checked_again(connected: list[str]) -> None:
    async def look_up(host: str) -> Sequence[str]:
        return ["127.0.0.1"] if host == "out.test" else ["169.254.169.254"]

    async with serving(
        {"/": answer(b"", status="302 Found", headers=("Location: https://metadata.test/",))}
    ) as server:
        rules = Rules(services=(f"http://out.test:{server.port}",))
        client = HttpClient(rules, resolve=look_up)
        with pytest.raises(AddressDenied, match=r"metadata\.test"):
            await client.send(Request(f"http://out.test:{server.port}/"))

    assert [place for place in connected if "169.254" in place] == []


@pytest.mark.parametrize(
    "location",
    [
        *(
            "http://127.0.0.1:{other}/",
            "https://127.0.0.1/",
            "http://[::1]:{other}/",
            "//10.0.0.1/",
        ),
        *("file:///etc/passwd", "ftp://127.0.0.1/", "data:text/plain,x", "gopher://127.0.0.1/"),
        *(
            "http://2130706433/",
            "https://user:pw@127.0.0.1/",
            "https://127。0。0。1/",
            "///127.0.0.1/",
        ),
    ],
)
async def test_a_redirect_reaches_no_other_server(location: str, connected: list[str]) -> None:
    async with serving(answer(b"secret")) as inner:
        where = location.format(other=inner.port)
        async with serving(
            answer(
                b"", status="302 Found", headers=(f"Location: {where}".encode().decode("latin-1"),)
            )
        ) as server:
            client = client_for(server)
            with pytest.raises(RejectedError) as caught:
                await client.send(Request(server.origin))

    assert caught.value.code == "URL_POLICY_DENIED"
    assert inner.connections == 0
    assert "pw@" not in caught.value.message


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(answer(b"proxy")) as proxy, serving(answer(b"direct")) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.origin)
        client = HttpClient(Rules(services=(server.origin,)))
        response = await client.send(Request(server.origin))

    assert response.body == b"direct"
    assert proxy.connections == 0


async def test_the_systems_own_resolver_is_checked_too() -> None:
    with pytest.raises(AddressDenied, match="localhost leads to"):
        await public_addresses("localhost", resolve=resolve)


async def test_a_mapped_address_is_the_ipv4_address_it_maps() -> None:
    async def mapped(host: str) -> Sequence[str]:
        return ["::ffff:8.8.8.8", "8.8.8.8"]

    assert await public_addresses("example.org", resolve=mapped) == (ip_address("8.8.8.8"),)


class _Elsewhere:
    """A connection that turns out to lead to another machine."""

    closed = False

    def extra(self, _: object) -> tuple[str, int]:
        return ("10.0.0.1", 443)

    async def aclose(self) -> None:
        self.closed = True


async def test_a_connection_that_led_elsewhere_is_dropped() -> None:
    stream = _Elsewhere()
    backend = PinnedBackend("a.org", 443, [ip_address("8.8.8.8")], Allowance(1, NoAnswer("x")))
    backend._stream = _Stream(stream, "a.org", backend)  # type: ignore[arg-type]  # stands in

    with pytest.raises(AddressDenied, match=r"led to 10\.0\.0\.1"):
        await backend._refuse_other_peer(stream, ip_address("8.8.8.8"))  # type: ignore[arg-type]
    assert stream.closed


async def test_a_backend_connects_to_nothing_but_its_pin(connected: list[str]) -> None:
    backend = PinnedBackend("a.org", 443, [ip_address("127.0.0.1")], Allowance(1, NoAnswer("x")))

    for host, port in (("b.org", 443), ("a.org", 80), ("127.0.0.1", 443)):
        with pytest.raises(AddressDenied, match="not checked"):
            await backend.connect_tcp(host, port)
    with pytest.raises(NotImplementedError):
        await backend.connect_unix_socket("/run/x")
    assert connected == []


async def test_the_next_address_is_tried_when_one_refuses() -> None:
    async def two(host: str) -> Sequence[str]:
        return ["::1", "127.0.0.1"]

    async with serving(answer(b"second")) as server:
        origin = f"http://two.test:{server.port}"
        client = HttpClient(Rules(services=(origin,)), resolve=two)
        assert (await client.send(Request(origin))).body == b"second"
