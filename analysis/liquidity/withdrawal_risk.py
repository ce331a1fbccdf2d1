"""Risk that half of a token's liquidity is withdrawn. Pure.

The launcher of a token can spread its liquidity over accounts, so all withdrawable liquidity of a
young pool counts together. Older pools have other holders, so only the largest one counts.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, Literal, get_args

import msgspec

from analysis.liquidity.liquidity_shares import LiquidityShares, TokenParties
from core.evm.primitives import Address

YOUNG_S: Final = 30 * 86_400
"""Age in seconds up to which a pool is young, and least remaining time of a lock that counts."""

PoolAge = Literal["young", "old", "unknown"]
"""Age compared with YOUNG_S. `unknown` counts as young."""

RISK_SHARE: Final = 0.5

LiquidityRisk = Literal["withdrawable", "unknown", "unknown_old", "held"]

WORST_FIRST: Final[tuple[LiquidityRisk, ...]] = get_args(LiquidityRisk)


class WeighedPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool with the holders of its liquidity."""

    liquidity_usd: float
    age: PoolAge
    ownership: LiquidityShares | None
    """None: not read."""


def combine_risk(pools: Iterable[WeighedPool], *, now_s: int) -> LiquidityRisk:
    """Return the risk over all pools.

    `withdrawable`: half of their value, or more, can be withdrawn. `held`: less, even if all
    unknown holders could withdraw. `unknown_old`: it depends on unknown holders of old pools.
    `unknown`: it depends on those of other pools. `now_s`: time of the block.
    """
    of_young = unknown = unknown_old = total_usd = 0.0
    of_holder: dict[Address | None, float] = defaultdict(float)
    for pool in pools:
        total_usd += pool.liquidity_usd
        owned = pool.ownership
        share = 1.0 if owned is None else owned.unknown_share + owned.unaccounted_share
        if pool.age == "old":
            unknown_old += pool.liquidity_usd * share
        else:
            unknown += pool.liquidity_usd * share
        if owned is None:
            continue
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
    is_old = at_risk + unknown + unknown_old >= RISK_SHARE * total_usd
    return "unknown_old" if is_old else "held"


def usd_of_others(
    pools: Iterable[WeighedPool], parties: TokenParties, *, now_s: int
) -> float | None:
    """Return the USD of liquidity that others than the token's own people keep in.

    It is burnt, locked for a month at least, or withdrawable by accounts other than creator, owner
    and the largest of these accounts, which may be theirs as well. None: no pool's holders are
    known. `now_s`: time of the block.
    """
    of_holder: dict[Address, float] = defaultdict(float)
    total_usd = None
    for pool in pools:
        owned = pool.ownership
        if owned is None:
            continue
        lasting = sum(lock.share for lock in owned.locks if lock.until_s >= now_s + YOUNG_S)
        kept_usd = pool.liquidity_usd * (owned.burnt_share + lasting)
        total_usd = (total_usd or 0.0) + kept_usd
        for one in owned.withdrawers:
            if one.account is not None and one.account not in (parties.creator, parties.owner):
                of_holder[one.account] += pool.liquidity_usd * one.share
    if total_usd is None:
        return None
    return total_usd + sum(of_holder.values()) - max(of_holder.values(), default=0.0)
