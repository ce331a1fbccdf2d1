"""StableSwap pools of Curve's factories: two to eight coins of about one price, or of one that an
oracle of the coin tells."""

from analysis.market.venues.families.coin_pools import coin_pool_venue
from core.evm.primitives import RawAmount

_GAS = RawAmount(500_000)
"""With eight coins, and the oracles of their rates."""

VENUE = coin_pool_venue(kind="CurveStable", index="int128", gas=_GAS)
