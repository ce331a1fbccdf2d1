"""Holders of a token's liquidity over all its pools, with their power to withdraw it. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from analysis.liquidity.liquidity_shares import LiquidityHolderKind, LiquidityShares
from core.evm.primitives import Address
from core.report.powers import HolderKind, Power

MOST_HOLDERS: Final = 5

_HALF_PCT: Final = 50.0
"""Percent of all pools whose withdrawal leaves other holders without a market."""

_LEAST_PCT: Final = 0.01
"""Percent. Smaller parts are left out."""


class TokenLiquidityHolder(msgspec.Struct, frozen=True, kw_only=True):
    """An account with a part of a token's liquidity that is not burnt."""

    address: Address | None
    """None: anybody, for LP tokens in the pair itself."""
    kind: LiquidityHolderKind | None
    """None: not known, as with most owners of a lock."""
    share_pct: float
    """Percent of the value of all pools, 0 to 100."""
    can_withdraw: bool | None
    """False: locked. None: a contract that may allow withdrawals or not."""
    unlocks_at_s: int | None = None
    """Unix seconds at which the lock ends. None: there is no lock."""
    locker: Address | None = None
    """Contract of the lock."""


def largest_holders(
    pools: Sequence[tuple[float, LiquidityShares]],
    *,
    total_usd: float,
    creator: Address | None,
    owner: Address | None,
) -> tuple[TokenLiquidityHolder, ...]:
    """Return the largest holders, those with free liquidity first, then contracts, then locks.

    `pools`: value in US dollars and shares of each pool that was read. `total_usd`: value of all
    pools. A permanent lock is left out, as burnt liquidity is.
    """
    parts: dict[TokenLiquidityHolder, float] = {}
    for value_usd, owned in pools:
        for one, share in _parts_of(owned, creator=creator, owner=owner):
            parts[one] = parts.get(one, 0.0) + value_usd * share
    found = [
        msgspec.structs.replace(one, share_pct=100 * part_usd / total_usd)
        for one, part_usd in parts.items()
        if total_usd > 0 and 100 * part_usd / total_usd >= _LEAST_PCT
    ]
    order = {True: 0, None: 1, False: 2}
    found.sort(key=lambda one: (order[one.can_withdraw], -one.share_pct))
    return tuple(found[:MOST_HOLDERS])


def _parts_of(
    owned: LiquidityShares, *, creator: Address | None, owner: Address | None
) -> Iterator[tuple[TokenLiquidityHolder, float]]:
    """Return holders without a figure, each with its share of the pool, 0 to 1."""
    known: dict[Address | None, LiquidityHolderKind] = {
        **{one.holder: one.kind for one in owned.holders},
        owner: "owner",
        creator: "creator",
        None: "pool",
    }
    for one in owned.withdrawers:
        kind = known.get(one.account)
        free = TokenLiquidityHolder(
            address=one.account, kind=kind, share_pct=0.0, can_withdraw=True
        )
        yield free, one.share
    for holder in owned.holders:
        if holder.withdrawable_share is None:
            unknown = TokenLiquidityHolder(
                address=holder.holder,
                kind=known.get(holder.holder),
                share_pct=0.0,
                can_withdraw=None,
            )
            yield unknown, holder.share - holder.locked_share
    for lock in owned.locks:
        if lock.owner is not None:
            locked = TokenLiquidityHolder(
                address=lock.owner,
                kind=known.get(lock.owner),
                share_pct=0.0,
                can_withdraw=False,
                unlocks_at_s=lock.until_s,
                locker=lock.locker,
            )
            yield locked, lock.share


def liquidity_powers(holders: Iterable[TokenLiquidityHolder]) -> Iterator[Power]:
    """Yield the power to withdraw liquidity, of the accounts that can use it now."""
    for holder in holders:
        if holder.can_withdraw:
            yield Power(
                check="liquidity_can_leave",
                what="withdraw",
                holder_kind=_kind_of(holder),
                holder=holder.address,
                bound="none" if holder.share_pct >= _HALF_PCT else "low",
                detail=f"{holder.share_pct:.3g} % of the liquidity",
            )


def _kind_of(holder: TokenLiquidityHolder) -> HolderKind:
    if holder.address is None:
        return "anybody"
    return "contract" if holder.kind == "contract" else "wallet"
