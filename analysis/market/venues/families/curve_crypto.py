"""Cryptoswap pools of Curve's factories (Twocrypto, Tricrypto): two or three coins of any price."""

from analysis.market.venues.families.coin_pools import coin_pool_venue
from core.evm.primitives import RawAmount

_GAS = RawAmount(800_000)
"""A swap solves the invariant twice and may move the price that liquidity is centred on."""

VENUE = coin_pool_venue(kind="CurveCrypto", index="uint256", gas=_GAS)
