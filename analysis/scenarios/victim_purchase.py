"""A victim that buys before it is robbed."""

import msgspec

from analysis.scenarios.transfer import Wallet
from analysis.simulation.simulate_v1 import SimCall, Simulation
from config.primitives import Address


class Prologue(msgspec.Struct, frozen=True, kw_only=True):
    """What a victim does before it is robbed: it buys, then allows the venue's router."""

    wallet: Wallet
    buying: tuple[SimCall, ...]
    """In the first block."""
    approving: tuple[SimCall, ...]
    """In the next."""
    play: Simulation
    """What the buy needs in hand; its blocks do not count."""
    spender: Address
    """The router."""
