"""Whether half of a token's liquidity can leave at the will of one holder, or is young and neither
burnt nor locked.

Pure: no I/O. Whoever launches a token can spread its liquidity over accounts, so of a young pool
all that can be withdrawn counts together; of an older one only what a single holder has, as others
came in meanwhile.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from analysis.liquidity.liquidity_shares import LiquidityShares
from core.evm.primitives import Address

YOUNG_S: Final = 30 * 86_400
"""Age of a pool up to which all that can be withdrawn counts, and how long a lock has to last."""

PoolAge = Literal["young", "old", "unknown"]
"""Younger than YOUNG_S or not; `unknown` counts as young."""

RISK_SHARE: Final = 0.5

LiquidityRisk = Literal["withdrawable", "held", "unknown"]


class WeighedPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool and who holds its liquidity."""

    liquidity_usd: float
    age: PoolAge
    ownership: LiquidityShares | None
    """None: not looked into."""
    is_exempt: bool = False
    """The deployment does not ask who can withdraw from a pool like this one."""


def combine_risk(pools: Iterable[WeighedPool], *, now_s: int) -> LiquidityRisk | None:
    """Return `withdrawable` where half of the value of all pools, or more, can leave that way;
    `held` where it cannot, whatever is not known; `unknown` where what is not known decides. None:
    what is exempt decides. `now_s`: of the block."""
    of_young = unknown = exempt = total_usd = 0.0
    of_holder: dict[Address | None, float] = defaultdict(float)
    for pool in pools:
        total_usd += pool.liquidity_usd
        owned = pool.ownership
        if pool.is_exempt:
            exempt += pool.liquidity_usd
            continue
        if owned is None:
            unknown += pool.liquidity_usd
            continue
        unknown += pool.liquidity_usd * (owned.unknown_share + owned.unaccounted_share)
        if pool.age != "old":
            lasting = sum(lock.share for lock in owned.locks if lock.until_s >= now_s + YOUNG_S)
            ending = max(0.0, owned.locked_share - lasting)
            of_young += pool.liquidity_usd * (owned.withdrawable_share + ending)
            continue
        for one in owned.withdrawers:
            of_holder[one.account] += pool.liquidity_usd * one.share
    at_risk = of_young + max(of_holder.values(), default=0.0)
    if total_usd <= 0:
        return "unknown"
    if at_risk >= RISK_SHARE * total_usd:
        return "withdrawable"
    if at_risk + unknown >= RISK_SHARE * total_usd:
        return "unknown"
    return None if at_risk + unknown + exempt >= RISK_SHARE * total_usd else "held"
