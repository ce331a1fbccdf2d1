"""Checks of who holds the liquidity, over all pools that were looked at, each weighing what it is
worth. No verdict depends on them: liquidity is looked into when it is asked for.
"""

from collections import defaultdict
from typing import Final, Literal

import msgspec

from analysis.quotes.liquidity_inquiry import LiquidityFindings, PoolLiquidity, SimulatedSale
from analysis.simulation.simulate_v1 import Passed, Refused
from api.formats.summary.flags import ACTIVE, STATUS_ORDER, Flag, Status
from core.evm.primitives import Address

ONE_HOLDER_SHARE: Final = 0.5
CREATOR_SHARE: Final = 0.05
UNLOCKED_SHARE: Final = 0.2
SOON_S: Final = 30 * 86_400
KEPT_SHARE: Final = 0.5
"""Of a sale's proceeds, below which a withdrawal is said to take them."""


class LiquidityTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of the value of all pools that were looked at, 0 to 1, which add up to 1."""

    protected: float
    """Burnt, or locked until a later time."""
    withdrawable: float
    unknown: float
    """Held by contracts of which nothing is known, or not accounted for."""


def total_shares(found: LiquidityFindings) -> LiquidityTotals | None:
    """Return the totals. None: there is no pool with a value."""
    total_usd = sum(pool.liquidity_usd for pool in found.pools)
    if total_usd <= 0:
        return None
    protected = withdrawable = 0.0
    for pool in found.pools:
        weight = pool.liquidity_usd / total_usd
        protected += weight * (pool.ownership.burnt_share + pool.ownership.locked_share)
        withdrawable += weight * pool.ownership.withdrawable_share
    unknown = max(0.0, 1 - protected - withdrawable)
    return LiquidityTotals(protected=protected, withdrawable=withdrawable, unknown=unknown)


def liquidity_flags(
    found: LiquidityFindings, *, creator: Address | None, owner: Address | None
) -> tuple[Flag, ...]:
    """Return the checks in the order of statuses. `creator` of the token None: not known, so that
    whoever can withdraw may be it. `owner` None: not known, or there is none."""
    totals = total_shares(found)
    unknown = 1.0 if totals is None else totals.unknown
    by_holder = _withdrawable_by_holder(found)
    issuers = {one for one in (creator, owner) if one}
    of_issuers = max(_held_by_issuers(found), sum(by_holder[one] for one in issuers))
    of_others = 0.0 if totals is None or creator else totals.withdrawable - of_issuers
    largest = max(by_holder.values(), default=0.0)
    flags = [
        _flag(
            "liquidity_held_by_one",
            "One holder can withdraw half of the liquidity or more",
            _reaches(largest, unknown, ONE_HOLDER_SHARE),
        ),
        _flag(
            "issuer_can_withdraw_liquidity",
            "Its creator or owner can withdraw 5 % of the liquidity or more",
            _reaches(of_issuers, unknown + of_others, CREATOR_SHARE),
        ),
        _flag(
            "liquidity_unlocks_soon",
            "A fifth of the liquidity or more becomes free within 30 days",
            _reaches(_unlocked_soon(found), unknown, UNLOCKED_SHARE),
        ),
        _flag(
            "sale_fails_after_withdrawal",
            "Once the largest holder has withdrawn from the deepest pool, a sale there fails, or "
            "brings less than half",
            _takes_sale(found),
        ),
    ]
    return tuple(sorted(flags, key=lambda flag: STATUS_ORDER.index(flag.status)))


def _flag(key: str, label: str, value: bool | None) -> Flag:
    statuses: dict[bool | None, Status] = {True: "warning", False: "safe", None: "unknown"}
    status = statuses[value]
    return Flag(key=key, label=label, status=status, active=status in ACTIVE, value=value)


def _reaches(share: float, unknown: float, limit: float) -> bool | None:
    """Return whether a share reaches a limit. None: what is not known may make it do so."""
    if share >= limit:
        return True
    return None if share + unknown >= limit else False


def _withdrawable_by_holder(found: LiquidityFindings) -> dict[Address | Literal["anybody"], float]:
    """Return of each who can withdraw what share of all, by address."""
    shares: dict[Address | Literal["anybody"], float] = defaultdict(float)
    for pool in found.pools:
        for one in pool.ownership.withdrawers:
            shares[one.account or "anybody"] += one.share * _weight(found, pool)
    return shares


def _held_by_issuers(found: LiquidityFindings) -> float:
    return sum(
        (one.withdrawable_share or 0) * _weight(found, pool)
        for pool in found.pools
        for one in pool.ownership.holders
        if one.kind in ("creator", "owner")
    )


def _unlocked_soon(found: LiquidityFindings) -> float:
    until_s = found.block.time_s + SOON_S
    return sum(
        one.share * _weight(found, pool)
        for pool in found.pools
        for one in pool.ownership.locks
        if one.until_s <= until_s
    )


def _weight(found: LiquidityFindings, pool: PoolLiquidity) -> float:
    total_usd = sum(one.liquidity_usd for one in found.pools)
    return pool.liquidity_usd / total_usd if total_usd > 0 else 0.0


def _takes_sale(found: LiquidityFindings) -> bool | None:
    """Return whether a withdrawal from the deepest pool takes a sale there. None: not simulated, or
    the sale does not pass as things are."""
    if not found.pools:
        return None
    owned, withdrawal = found.pools[0].ownership, found.pools[0].withdrawal
    if withdrawal is None:
        is_kept = owned.burnt_share + owned.locked_share > KEPT_SHARE
        return False if is_kept and not owned.withdrawers else None
    if isinstance(withdrawal.withdrawn.outcome, Refused):
        return False
    if not isinstance(withdrawal.withdrawn.outcome, Passed):
        return None
    return _is_less(withdrawal.sale_before, withdrawal.sale_after)


def _is_less(before: SimulatedSale, after: SimulatedSale) -> bool | None:
    if before.proceeds_raw is None:
        return None
    if isinstance(after.outcome, Refused):
        return True
    if after.proceeds_raw is None:
        return None
    return after.proceeds_raw < KEPT_SHARE * before.proceeds_raw
