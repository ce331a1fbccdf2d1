"""Prologue of a theft simulation: a victim that buys the token for real before it is attacked."""

import msgspec

from analysis.scenarios.transfer import Wallet
from analysis.simulation.simulate_v1 import SimCall, Simulation
from core.primitives import Address


class Prologue(msgspec.Struct, frozen=True, kw_only=True):
    """Transactions of a victim before it is attacked: it buys, then approves the venue's router."""

    wallet: Wallet
    buying: tuple[SimCall, ...]
    """Calls of the first block."""
    approving: tuple[SimCall, ...]
    """Calls of the second block."""
    play: Simulation
    """State overrides that the buy needs; its blocks are not used."""
    spender: Address
    """The approved router."""
