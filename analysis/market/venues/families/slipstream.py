"""Slipstream and its forks: concentrated pools keyed by two tokens and tick spacing.

Source: aerodrome-finance/slipstream ICLFactory.
"""

from analysis.market.venues.families.concentrated_venue import PoolVariant, concentrated_venue

VENUE = concentrated_venue(
    kind="SolidV3",
    usual=PoolVariant(key="tick_spacing", router_key="tick_spacing"),
    tier_list="tickSpacings()",
)
