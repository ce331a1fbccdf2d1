"""Rules for webhook URLs: they must not lead into the operator's network.

Source: OWASP, Server-Side Request Forgery Prevention; the special-purpose address registries of
IANA, as in Python's `ipaddress`.
"""

import asyncio
import ipaddress
import socket
import threading
import time
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult

from core.errors import CallerError

MOST_URL_CHARS: Final = 2_048

_MOST_LOOKUPS: Final = 64
_MOST_KEPT: Final = 1_024
_KEPT_S: Final = 60.0

_RESERVED: Final = (
    ipaddress.IPv4Network("192.0.0.0/24"),
    ipaddress.IPv4Network("192.88.99.0/24"),
    ipaddress.IPv6Network("64:ff9b:1::/48"),
)
"""Special-purpose networks that Python's older tables count as public, in whole or in part."""

_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_LOW_32: Final = (1 << 32) - 1

_IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class WebhookRefusedError(CallerError):
    """Messages are not sent to this URL."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class WebhookRules:
    """Addresses that the operator allows."""

    def __init__(self, *, allow_http: bool, allow_private: bool) -> None:
        self.allow_http = allow_http
        self.allow_private = allow_private

    def check_url(self, url: str) -> None:
        """Raise WebhookRefusedError unless messages may be sent to the URL.

        A host name is checked when it is resolved, at every attempt.
        """
        if len(url) > MOST_URL_CHARS:
            raise WebhookRefusedError(reason=f"a URL has at most {MOST_URL_CHARS} characters")
        if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
            raise WebhookRefusedError(
                reason="a URL is of printable ASCII characters, without spaces"
            )
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise WebhookRefusedError(reason="this is no URL") from None
        schemes = ("https", "http") if self.allow_http else ("https",)
        if parts.scheme not in schemes:
            raise WebhookRefusedError(reason=f"a URL begins with {' or '.join(schemes)}://")
        if not host or port == 0:
            raise WebhookRefusedError(reason="the URL names no host")
        if parts.username is not None or parts.password is not None or parts.fragment:
            raise WebhookRefusedError(reason="a URL has neither user and password nor a fragment")
        address = _address_in(host.rstrip("."))
        if address is not None:
            self.check_address(address)

    def check_address(self, address: _IpAddress) -> None:
        """Raise WebhookRefusedError unless messages may be sent to the address."""
        if not self.allow_private and not is_public(address):
            raise WebhookRefusedError(reason="the URL leads into a private or reserved network")


class HostAddress(msgspec.Struct, frozen=True, kw_only=True):
    """One address of a host."""

    family: socket.AddressFamily
    address: str


_Question = tuple[str, socket.AddressFamily]


class _KeptAnswer(msgspec.Struct, frozen=True, kw_only=True):
    found: list[HostAddress]
    until_s: float


class NameLookups:
    """Look-ups of names in separate threads, so that slow names delay nothing else.

    Answers are kept for a minute, failures are not. The system's resolver cannot be interrupted:
    its threads are daemons, which the end of the process does not wait for.
    """

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(_MOST_LOOKUPS)
        self._kept: dict[_Question, _KeptAnswer] = {}
        self._running: dict[_Question, asyncio.Task[list[HostAddress]]] = {}

    async def find(self, host: str, family: socket.AddressFamily) -> list[HostAddress]:
        """Return the addresses of a host. Raises OSError if there are none, ValueError if the name
        is none.

        A cancelled caller returns at once; the thread ends with its look-up.
        """
        question = (host, family)
        kept = self._kept.get(question)
        if kept is not None and time.monotonic() < kept.until_s:
            return kept.found
        running = self._running.get(question)
        if running is None:
            running = asyncio.create_task(self._ask(question))
            self._running[question] = running
            running.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(running)

    async def aclose(self) -> None:
        """Give up running look-ups."""
        running = [*self._running.values()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _ask(self, question: _Question) -> list[HostAddress]:
        try:
            async with self._room:
                found = await _find_in_thread(question)
        finally:
            del self._running[question]
        self._kept.pop(question, None)
        if len(self._kept) >= _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[question] = _KeptAnswer(found=found, until_s=time.monotonic() + _KEPT_S)
        return found


async def _find_in_thread(question: _Question) -> list[HostAddress]:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[HostAddress]] = loop.create_future()

    def settle(found: list[HostAddress] | OSError | ValueError) -> None:
        if answer.done():
            return
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def run() -> None:
        found: list[HostAddress] | OSError | ValueError
        try:
            found = _find(*question)
        except (OSError, ValueError) as error:
            found = error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, found)

    threading.Thread(target=run, name="name-lookup", daemon=True).start()
    return await answer


def _find(host: str, family: socket.AddressFamily) -> list[HostAddress]:
    rows = socket.getaddrinfo(
        host, None, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
    )
    return [HostAddress(family=kind, address=str(address[0])) for kind, _, _, _, address in rows]


class PublicResolver(AbstractResolver):
    """Resolver of names to allowed addresses. Connections are made to exactly these, so a later
    change of the name has no effect."""

    def __init__(self, rules: WebhookRules) -> None:
        self._rules = rules
        self._lookups = NameLookups()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host. Raises WebhookRefusedError if one of them is refused,
        OSError if there are none."""
        found = await self._lookups.find(host, family)
        for one in found:
            self._rules.check_address(ipaddress.ip_address(one.address.partition("%")[0]))
        return [
            ResolveResult(
                hostname=host,
                host=one.address,
                port=port,
                family=one.family,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for one in found
        ]

    async def close(self) -> None:
        """Give up running look-ups."""
        await self._lookups.aclose()


def is_public(address: _IpAddress) -> bool:
    """True if the address, and any IPv4 address within it, is public and unicast."""
    if isinstance(address, ipaddress.IPv6Address):
        within = _ipv4_within(address)
        if within is not None:
            return is_public(within)
    if address.is_multicast or address.is_reserved:
        return False
    return address.is_global and not any(address in network for network in _RESERVED)


def _ipv4_within(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that packets to this one reach. None: there is none."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & _LOW_32)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour


def _address_in(host: str) -> _IpAddress | None:
    """Parse a host that is an address. None: it is a name.

    Accepts the IPv4 forms that only the system's resolver knows, such as 127.1 or 0x7f000001.
    """
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None
