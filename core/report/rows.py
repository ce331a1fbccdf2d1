"""Rows of the store that the analysis needs: pools, launches, trades and refusals.

Addresses and hashes are 0x text in structs and blobs in the tables.
"""

import msgspec

from core.errors import RefusalCode
from core.evm.primitives import Address, Hash32, HexBytes


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all rows."""


class PoolRow(Row, frozen=True, kw_only=True, gc=False):
    """One pool, from its creation event."""

    chain_id: int
    pool_key: HexBytes
    """`pool` address, or the 32-byte id where one contract holds all: unique within a chain."""
    pool: Address
    """The pool's contract, or the one that holds all pools."""
    pool_id: Hash32 | None
    """None: the pool is a separate contract."""
    dex: str
    kind: str
    """Kind of pools, one of `config.facts.pool_family.KINDS`."""
    variant: str | None
    factory: Address
    token0: Address
    """May be the zero address, the native coin, where one contract holds all pools."""
    token1: Address
    fee: int | None
    """V3 kinds and V4: hundredths of a basis point. V2 kinds: as created, basis points.

    None: not in the event.
    """
    tick_spacing: int | None
    stable: bool | None
    """None: the event does not have it, or pools have one curve."""
    hooks: Address | None
    """None: the zero address, or pools have no hooks."""
    block_number: int
    log_index: int


class LaunchRow(Row, frozen=True, kw_only=True):
    """One token issued by a launch platform, from its creation event. A token announced by two
    platforms (one wraps the other) has a row for each."""

    chain_id: int
    token: Address
    slug: str
    """The platform."""
    emitter: Address
    """The contract that emitted the event; the log was matched by it."""
    creator: Address | None
    """The wallet named by the event; None if it names none."""
    tx_hash: Hash32 | None
    """None: the node did not return it."""
    block_number: int
    log_index: int


class RefusalRow(Row, frozen=True, kw_only=True):
    """The latest admission refusal of one tracked token. A later report replaces it."""

    code: RefusalCode
    reason: str
    refused_at_s: int


class Trade(msgspec.Struct, frozen=True, kw_only=True):
    """One swap, seen from one of its two tokens."""

    chain_id: int
    block_number: int
    log_index: int
    time_s: int
    """Timestamp of its block, Unix seconds."""
    pool_key: HexBytes
    base: float
    """Unsigned amount of the requested token, in smallest units."""
    other: float
    """Unsigned amount of the other token, in smallest units."""
