"""Prologue of a theft simulation: a victim that buys the token for real before it is attacked."""

import msgspec

from analysis.scenarios.trade.transfer import Wallet
from analysis.simulation.simulate_v1 import SimCall, Simulation
from core.evm.primitives import Address


class VictimPurchase(msgspec.Struct, frozen=True, kw_only=True):
    """Transactions of a victim before it is attacked: it buys, then approves the venue's router."""

    wallet: Wallet
    buying: tuple[SimCall, ...]
    """Calls of the first block."""
    approving: SimCall
    """First call of the second block."""
    overrides: Simulation
    """Coins, slots and code that the buy needs; it has no blocks."""
    spender: Address
    """The approved router."""
