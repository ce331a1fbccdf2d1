"""Bonding curve types: a curve is a pool without a pair, whose reserves its platform keeps."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from analysis.launchpads.registries import RegistryRecord
from analysis.reads.chain_reads import CallRead
from analysis.reads.eth_reads import Reply, decode_uint
from config.facts.launchpad import CurveKind
from core.evm.primitives import Address, RawAmount


class CurveState(msgspec.Struct, frozen=True, kw_only=True):
    """A curve on which the token can be bought and sold now."""

    pool: Address
    """Holder of the reserves: the token's own curve, or the contract that keeps all of them."""
    quote: Address
    """The zero address is the native coin."""
    token_reserve_raw: RawAmount
    """Tokens still for sale."""
    quote_reserve_raw: RawAmount
    """Quote paid in, without the virtual reserves, which only set the price."""
    progress: float | None = None
    """Share of the way to the pool that the platform then makes, 0 to 1. None: it has no target
    that is read."""
    quote_target_raw: RawAmount | None = None
    """Quote paid in at which that is. None: it has no such target, or counts tokens."""


Standing = CurveState | Literal["closed", "unread"]
"""closed: graduated, or between the last sale and the pool, when there is no venue at all. unread:
the contracts did not answer as expected, so the state is unknown."""


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of curve: its reads besides the registry's record, and their decoding."""

    key: CurveKind
    words: int
    """Least length of the record, in words; a shorter one is not of this kind."""
    calls: Callable[[RegistryRecord], tuple[CallRead, ...]]
    """Empty: the record contains everything."""
    decode: Callable[[RegistryRecord, Sequence[Reply]], Standing]
    """Decodes the replies to `calls`."""


def no_calls(_record: RegistryRecord) -> tuple[CallRead, ...]:
    """Return no calls, for curves whose record contains everything."""
    return ()


def share_of(part: int, whole: int) -> float | None:
    """Return a part of a target, 0 to 1. None: the target is 0, so there is none."""
    return min(1.0, part / whole) if whole > 0 else None


def word_of(reply: Reply, at: int) -> int | None:
    """Return one 256-bit word of an answer. None: it has no such word."""
    return None if not isinstance(reply, bytes) else decode_uint(reply[32 * at :])
