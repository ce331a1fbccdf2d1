"""StableSwap pools of Curve's factories: two to eight coins of about one price, or with oracles."""

from analysis.market.venues.families.coin_pools import coin_pool_venue
from core.evm.primitives import RawAmount

_GAS = RawAmount(500_000)
"""Gas for eight coins with oracles of their rates."""

VENUE = coin_pool_venue(kind="CurveStable", index="int128", gas=_GAS)
