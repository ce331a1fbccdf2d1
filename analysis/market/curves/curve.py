"""What a bonding curve is to us: a pool without a pair, whose platform keeps its reserves."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from analysis.launchpads.registries import Record
from analysis.reads.eth_reads import Reply, decode_uint
from config.jsonrpc import RpcRequest
from config.launchpads import CurveKind
from config.primitives import Address, Hash32, RawAmount


class CurveState(msgspec.Struct, frozen=True, kw_only=True):
    """A curve on which the token can be bought and sold now."""

    pool: Address
    """Who holds the reserves: the token's own curve, or the contract that keeps all of them."""
    quote: Address
    """The zero address is the native coin."""
    token_reserve_raw: RawAmount
    """What is still for sale."""
    quote_reserve_raw: RawAmount
    """What was really paid in; virtual reserves, which only make the price, are not in it."""


Standing = CurveState | Literal["closed", "unread"]
"""closed: graduated, or between the last sale and the pool, when there is no venue at all.
unread: the contracts did not answer as they should, so nobody knows."""


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of curve: what to ask besides the registry's record, and what it all means."""

    key: CurveKind
    words: int
    """The record's length at least; a shorter one is not of this kind."""
    requests: Callable[[Record, Hash32], tuple[RpcRequest, ...]]
    """Reads at one block. Empty: the record tells everything."""
    read: Callable[[Record, Sequence[Reply]], Standing]


def no_requests(_record: Record, _block: Hash32) -> tuple[RpcRequest, ...]:
    """For curves whose record tells everything."""
    return ()


def word_of(reply: Reply, at: int) -> int | None:
    """One word of an answer. None: it has no such word."""
    return None if not isinstance(reply, bytes) else decode_uint(reply[32 * at :])
