"""Locks of a pool's liquidity in known lockers.

A locker is a contract that the chain's facts name. Its records count up to its balance.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from analysis.liquidity.holdings import ReadRound
from core.evm.primitives import Address

NEVER_S: Final = 2**40
"""Latest time that is reported, in Unix seconds: later ones are cut to it."""


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """One lock."""

    owner: Address | None
    """Account that can withdraw it then. None: no account, ever."""
    weight: float
    """LP tokens in smallest units, or the value of a position, as LiquidityHolding.weight."""
    until_s: int
    """Unix seconds from which any part of it can be withdrawn."""


class LockReads(Protocol):
    """Reads of the locks of one pool in one locker."""

    def rounds(self) -> Sequence[ReadRound]:
        """Return the rounds."""
        ...

    def read(self) -> tuple[Lock, ...]:
        """Decode the locks, in any order. Answers that are no lock are left out.

        Raises UpstreamError.
        """
        ...
