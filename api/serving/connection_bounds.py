"""Bounds of open connections, in all and for each network, and the choice of those to close."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from core.errors import ConfigError
from core.process.open_files import list_open_files, raise_file_limit

Peer = tuple[str, int]
"""Address and port of the other end, as in an ASGI scope."""

Reason = Literal["network", "crowded", "stuck"]
"""network: its network has too many. crowded: the server has. stuck: its answer is not read."""

_KEPT_FILES: Final = 512
"""Files that store, nodes, webhooks and jobs may open while the connections are at their bound."""

_LEAST_CONNECTIONS: Final = 64

_STUCK_S: Final = 120.0
"""Seconds without a call after which a connection is stuck. The server ends idle ones sooner."""

_ANSWERED_S: Final = 1.0
"""Seconds after a call during which its answer may still be on its way."""


class ConnectionBounds(msgspec.Struct, frozen=True, kw_only=True):
    """Most open connections of a server."""

    most: int = 8_192
    """In all; further ones wait to be accepted."""
    of_network: int = 256
    """Those of one network: an IPv4 address, or an IPv6 /64. Trusted proxies have no bound."""


USUAL_BOUNDS: Final = ConnectionBounds()


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """One open connection to the server."""

    file: int
    """Number of the open file."""
    inode: int
    """Number of the socket; a later connection with the same `file` has another."""
    peer: Peer
    network: str | None
    """None: the peer is a trusted proxy, which stands for many networks."""
    since_s: float
    """Monotonic time at which it was first seen."""


class ConnectionCalls(msgspec.Struct, kw_only=True):
    """Calls of one connection."""

    running: int = 0
    """Calls that have been received whole and are not answered yet."""
    ended_s: float = 0.0
    """Monotonic end of the last call; 0: none has ended."""

    def is_busy(self, now_s: float) -> bool:
        """True while a call runs, and for a moment afterwards."""
        return self.running > 0 or now_s - self.ended_s < _ANSWERED_S


_NO_CALLS: Final = ConnectionCalls()


def fit_files(bounds: ConnectionBounds) -> ConnectionBounds:
    """Raise the limit of open files, and return bounds that leave enough of it to the service.

    Raises ConfigError when the limit is too low to serve.
    """
    limit = raise_file_limit()
    room = limit - len(list_open_files()) - _KEPT_FILES
    if room < _LEAST_CONNECTIONS:
        least = limit - room + _LEAST_CONNECTIONS
        raise ConfigError(
            source="open files",
            key="ulimit -n",
            reason=f"the hard limit is {limit}, and serving needs at least {least}",
        )
    most = min(bounds.most, room)
    # A burst of one network fits as well, until the next look closes it.
    return ConnectionBounds(most=most, of_network=min(bounds.of_network, most // 4))


def choose_surplus(
    connections: Iterable[Connection],
    calls: dict[Peer, ConnectionCalls],
    bounds: ConnectionBounds,
    *,
    now_s: float,
) -> list[tuple[Connection, Reason]]:
    """Return the connections to close, with the reason.

    Each network keeps its bound. When the server is three quarters full, networks keep an equal
    smaller share; if even one each is too much, the oldest idle ones go. Connections without a call
    go first, the oldest of them before others; then the newest.
    """

    def order(one: Connection) -> tuple[bool, float]:
        is_busy = calls.get(one.peer, _NO_CALLS).is_busy(now_s)
        return is_busy, -one.since_s if is_busy else one.since_s

    surplus: list[tuple[Connection, Reason]] = []
    groups: defaultdict[str, list[Connection]] = defaultdict(list)
    room = bounds.most * 3 // 4
    for one in connections:
        called = calls.get(one.peer, _NO_CALLS)
        is_idle = not called.is_busy(now_s)
        if is_idle and now_s - max(one.since_s, called.ended_s) > _STUCK_S:
            surplus.append((one, "stuck"))
        elif one.network is None:
            room -= 1
        else:
            groups[one.network].append(one)
    share = bounds.of_network
    while share > 1 and sum(min(len(group), share) for group in groups.values()) > room:
        share //= 2
    reason: Reason = "network" if share == bounds.of_network else "crowded"
    kept: list[Connection] = []
    for group in groups.values():
        over = max(0, len(group) - share)
        ordered = sorted(group, key=order) if over else group
        surplus += [(one, reason) for one in ordered[:over]]
        kept += ordered[over:]
    over = max(0, len(kept) - max(0, room))
    if over:
        surplus += [(one, "crowded") for one in sorted(kept, key=order)[:over]]
    return surplus
