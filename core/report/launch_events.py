"""Events of a token's first minutes, as a backtest reads them from a store."""

import msgspec

from core.evm.primitives import Address, HexBytes


class FirstTrade(msgspec.Struct, frozen=True, kw_only=True):
    """A pool whose first trade is in the range asked for."""

    pool: HexBytes
    """Its address, or its id where one contract holds many."""
    holder: Address
    """Who holds the pool's tokens: the pool, or that contract."""
    token: Address
    """The side that is no anchor."""
    first_block: int
    first_s: int
    """Time of that block, Unix seconds."""


class LaunchTrade(msgspec.Struct, frozen=True, kw_only=True):
    """One trade in the pool, as the pool's event tells it."""

    block_number: int
    log_index: int
    time_s: int
    """Of the block, Unix seconds."""
    token_in_raw: float
    """What came into the pool, in smallest units; negative: what went out."""
    quote_in_raw: float
    """The same of the quote token."""


class LaunchTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """One Transfer event of the token, in a block with a trade."""

    block_number: int
    log_index: int
    sender: Address
    recipient: Address
    amount_raw: float


class LaunchEvents(msgspec.Struct, frozen=True, kw_only=True):
    """What the store has of a launch, both in order of the chain."""

    trades: list[LaunchTrade]
    transfers: list[LaunchTransfer]
