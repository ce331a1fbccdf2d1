"""Client networks: finds the IPv4 address or IPv6 /64 of a caller, behind trusted proxies."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from litestar.connection import ASGIConnection

from api.deps import ApiDeps

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_IPV6_BLOCK_BITS = 64

ForwardedHeader = Literal["x-forwarded-for", "forwarded"]

_QUOTE_OR = {sign: re.compile(f'["{sign}]') for sign in ",;"}
_WITH_PORT = re.compile(r"\[(?P<v6>[^\]]+)\](?::\d+)?|(?P<v4>[\d.]+):\d+")

_MOST_CHARS = 4_096
"""Longest header of proxies, over all its lines, that is read."""

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
        if not _is_in(client, trusted):
            break
        named = _parse(hop)
        if named is None:
            break
        client = named
    if isinstance(client, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((client, _IPV6_BLOCK_BITS), strict=False))
    return str(client)


def is_trusted(peer: str | None, trusted: tuple[IpNetwork, ...]) -> bool:
    """True if the peer of a connection is a trusted proxy."""
    address = _parse(peer)
    return address is not None and _is_in(address, trusted)


def network_of(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    """Return the network of the client of a connection.

    The header of proxies is not even parsed unless a trusted one sent it.
    """
    deps: ApiDeps = connection.app.state.deps
    trusted: tuple[IpNetwork, ...] = connection.app.state.trusted_proxies
    peer = connection.client.host if connection.client else None
    hops: list[str] = []
    if is_trusted(peer, trusted):
        header = deps.settings.forwarded_header
        hops = forwarded_hops(connection.headers.getall(header, []), header)
    return client_network(peer, hops, trusted=trusted)


def forwarded_hops(lines: Sequence[str], header: ForwardedHeader) -> list[str]:
    """Return the hops named by a header, from all its lines, the nearest last.

    Source: RFC 7239 for Forwarded. A hop that is hidden or invalid keeps its place. Of a long
    header only the end is read: the nearest proxies wrote it.
    """
    text = ",".join(lines)[-_MOST_CHARS:]
    if header == "x-forwarded-for":
        return text.split(",") if text else []
    return [_for(element) for element in _split_unquoted(text, ",") if element.strip()]


def _for(element: str) -> str:
    hop = "unknown"
    for pair in _split_unquoted(element, ";"):
        name, _, value = pair.partition("=")
        if name.strip().lower() == "for":
            hop = value.strip().strip('"')
    return hop


def _split_unquoted(text: str, sign: Literal[",", ";"]) -> list[str]:
    """Split at the signs outside quoted strings, in linear time.

    The text is read from its end: a quote that a client left open cannot hide what its proxy wrote
    behind it.
    """
    parts: list[str] = []
    end = len(text)
    is_quoted = False
    for found in reversed(list(_QUOTE_OR[sign].finditer(text))):
        at = found.start()
        if found[0] == '"':
            is_quoted ^= not (is_quoted and _is_escaped(text, at))
        elif not is_quoted:
            parts.append(text[at + 1 : end])
            end = at
    parts.append(text[:end])
    return parts[::-1]


def _is_escaped(text: str, at: int) -> bool:
    """True if an odd number of backslashes stands before a position."""
    first = at
    while first > 0 and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


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


def _is_in(address: IpAddress, networks: tuple[IpNetwork, ...]) -> bool:
    return any(address in network for network in networks)
