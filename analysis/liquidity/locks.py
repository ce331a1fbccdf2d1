"""Locks: until when a known locker keeps what it holds of a pool's liquidity.

A locker is a contract that the chain's facts name. What its records say is believed up to what it
holds.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from analysis.liquidity.holdings import AskRound
from core.evm.primitives import Address

NEVER_S: Final = 2**40
"""Latest time that is told: later ones are taken for it."""


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """One lock."""

    owner: Address | None
    """Who can withdraw it then. None: nobody, ever."""
    weight: float
    """LP tokens in smallest units, or what the position is worth, as LiquidityHolding.weight."""
    until_s: int
    """Unix seconds from which any part of it can be withdrawn."""


class LockReads(Protocol):
    """Reads of the locks of what one locker holds of one pool."""

    def rounds(self) -> Sequence[AskRound]:
        """Return the rounds."""
        ...

    def read(self) -> tuple[Lock, ...]:
        """Decode the locks, in any order; none where the locker answers nothing that is one. Raises
        UpstreamError."""
        ...
