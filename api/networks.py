"""Which network a call comes from: one trial key each."""

import ipaddress
from collections.abc import Iterable, Sequence

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_IPV6_BLOCK_BITS = 64

LOCAL = "local"
"""A caller without an IP address, over a Unix-domain socket."""


def parse_networks(texts: Iterable[str]) -> tuple[IpNetwork, ...]:
    """Trusted proxies as networks; a single address is a network of one."""
    return tuple(ipaddress.ip_network(text) for text in texts)


def client_network(
    peer: str | None, forwarded_for: Sequence[str], *, trusted: tuple[IpNetwork, ...]
) -> str:
    """The IPv4 address, or the /64 of an IPv6 address, of the client.

    `forwarded_for` is the X-Forwarded-For chain, nearest hop last. It is walked from its end only
    as long as the hop that wrote an entry is a trusted proxy: what lies beyond anyone could write.
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


def _parse(text: str | None) -> IpAddress | None:
    """An address as an IPv4 one where it only wraps one. None: not an address."""
    try:
        address = ipaddress.ip_address((text or "").strip())
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped or address
    return address
