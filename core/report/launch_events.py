"""Events of a token's first minutes, for backtests."""

import msgspec

from core.evm.primitives import Address, HexBytes


class FirstTrade(msgspec.Struct, frozen=True, kw_only=True):
    """A pool whose first trade is in the requested range."""

    pool: HexBytes
    """Its address, or its id where one contract holds many."""
    holder: Address
    """Holder of the pool's tokens: the pool, or the contract that holds many."""
    token: Address
    """The side that is no anchor."""
    first_block: int
    first_s: int
    """Time of that block, Unix seconds."""


class LaunchTrade(msgspec.Struct, frozen=True, kw_only=True):
    """One trade in the pool, from the pool's event."""

    block_number: int
    log_index: int
    time_s: int
    """Time of the block, Unix seconds."""
    token_in_raw: float
    """Amount into the pool in smallest units; negative: out of it."""
    quote_in_raw: float
    """The same for the quote token."""


class LaunchTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """One Transfer event of the token, in a block with a trade."""

    block_number: int
    log_index: int
    sender: Address
    recipient: Address
    amount_raw: float


class LaunchEvents(msgspec.Struct, frozen=True, kw_only=True):
    """Stored events of a launch, both in chain order."""

    trades: list[LaunchTrade]
    transfers: list[LaunchTransfer]
