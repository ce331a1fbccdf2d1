"""Client networks: finds the IPv4 address or IPv6 /64 of a caller, behind trusted proxies."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from litestar.connection import ASGIConnection

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_IPV6_BLOCK_BITS = 64

ForwardedHeader = Literal["x-forwarded-for", "forwarded"]

_PAIR = re.compile(r'\s*([^=;\s]+)=("(?:[^"\\]|\\.)*"|[^;"]*)\s*(?:;|$)')
_ELEMENT = re.compile(r'((?:[^,"]|"(?:[^"\\]|\\.)*")*)(?:,|$)')
_WITH_PORT = re.compile(r"\[(?P<v6>[^\]]+)\](?::\d+)?|(?P<v4>[\d.]+):\d+")

LOCAL = "local"
"""Network of a caller without an IP address, over a Unix-domain socket."""


def parse_networks(texts: Iterable[str]) -> tuple[IpNetwork, ...]:
    """Parse trusted proxies as networks; a single address is a network of one."""
    return tuple(ipaddress.ip_network(text) for text in texts)


def client_network(
    peer: str | None, forwarded_for: Sequence[str], *, trusted: tuple[IpNetwork, ...]
) -> str:
    """Return the IPv4 address, or the /64 of an IPv6 address, of the client.

    `forwarded_for` is the chain of hops, the nearest last. It is read from its end only as long as
    the hop that wrote an entry is a trusted proxy: anyone could have written the entries beyond.
    """
    client = _parse(peer)
    if client is None:
        return LOCAL
    for hop in reversed(forwarded_for):
        if not any(client in network for network in trusted):
            break
        named = _parse(hop)
        if named is None:
            break
        client = named
    if isinstance(client, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((client, _IPV6_BLOCK_BITS), strict=False))
    return str(client)


def network_of(
    connection: ASGIConnection[Any, Any, Any, Any],
    *,
    header: ForwardedHeader,
    trusted: tuple[IpNetwork, ...],
) -> str:
    """Return the network of the client of a connection; `header` is the one that proxies write."""
    return client_network(
        connection.client.host if connection.client else None,
        forwarded_hops(connection.headers.getall(header, []), header),
        trusted=trusted,
    )


def forwarded_hops(lines: Sequence[str], header: ForwardedHeader) -> list[str]:
    """Return the hops named by a header, from all its lines, the nearest last.

    Source: RFC 7239 for Forwarded. A hop that is hidden or invalid keeps its place.
    """
    text = ",".join(lines)
    if header == "x-forwarded-for":
        return text.split(",") if text else []
    elements = [element for element in _ELEMENT.findall(text) if element.strip()]
    return [_for(element) for element in elements]


def _for(element: str) -> str:
    pairs = {name.lower(): value for name, value in _PAIR.findall(element)}
    return str(pairs.get("for", "unknown")).strip().strip('"')


def _parse(text: str | None) -> IpAddress | None:
    """Parse an address without its port, an IPv4-mapped one as IPv4. None: no address."""
    bare = (text or "").strip()
    with_port = _WITH_PORT.fullmatch(bare)
    if with_port is not None:
        bare = with_port["v6"] or with_port["v4"]
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped or address
    return address
