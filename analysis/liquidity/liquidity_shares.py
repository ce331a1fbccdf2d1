"""Liquidity shares: what part of a pool is burnt, locked, free to be withdrawn, or unknown.

Pure: no I/O.

Burnt and locked are said only of burn addresses and of lockers whose records name the lock. What
any other contract holds may be withdrawn by somebody, so it is unknown.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import msgspec

from analysis.liquidity.holdings import LiquidityHolding, PoolHoldings
from analysis.liquidity.locks import Lock
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address

LiquidityHolderKind = Literal["burn", "locker", "creator", "owner", "pool", "contract", "account"]
"""`pool`: LP tokens that lie in the pair itself, which whoever comes first can redeem."""

MOST_NAMED = 10
"""Holders and locks that are listed, largest or soonest first."""

MOST_WITHDRAWERS = 5


class Parties(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the holders of one pool's liquidity."""

    pool: Address
    creator: Address | None
    owner: Address | None
    """Of the token."""
    lockers: Mapping[Address, str]
    """Names of the known lockers, by contract."""
    locks: Mapping[Address, Sequence[Lock]]
    """By locker, soonest first. A locker that is missing has records that are not read."""
    contracts: Collection[Address]
    """Holders with code."""


class LockedShare(msgspec.Struct, frozen=True, kw_only=True):
    """One lock, as a share of the pool."""

    share: float
    until_s: int
    locker: Address
    owner: Address | None
    """Who can withdraw it then. None: nobody, ever."""


class HolderShare(msgspec.Struct, frozen=True, kw_only=True):
    """What one address holds."""

    holder: Address
    kind: LiquidityHolderKind
    name: str
    """Of a known locker. Empty: none."""
    share: float
    """Part of the pool's liquidity, 0 to 1."""
    locked_share: float
    """Of it, what is burnt, or locked until a later time, 0 to 1 of the pool."""
    withdrawable_share: float | None
    """What can be withdrawn now. None: not known, as with contracts."""


class Withdrawer(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who can withdraw liquidity now."""

    account: Address | None
    """None: anybody."""
    share: float


class LiquidityShares(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of one pool's liquidity, 0 to 1; the first five add up to 1, or to 0 where there is no
    liquidity."""

    burnt_share: float = 0.0
    locked_share: float = 0.0
    withdrawable_share: float = 0.0
    """Can be withdrawn now by somebody who is named, or by anybody."""
    unknown_share: float = 0.0
    """Held by contracts of which it is not known whether somebody can withdraw."""
    unaccounted_share: float = 0.0
    """Its holders were not found."""
    gap: str = ""
    """Why some is unaccounted. Empty: none is."""
    holders: tuple[HolderShare, ...] = ()
    """Largest first."""
    locks: tuple[LockedShare, ...] = ()
    """Not free yet, soonest first."""
    withdrawers: tuple[Withdrawer, ...] = ()
    """Largest first, at most five."""


def classify_shares(held: PoolHoldings, parties: Parties, *, now_s: int) -> LiquidityShares:
    """Return the shares at a time."""
    if held.total <= 0:
        return LiquidityShares(gap=held.gap or "the pool has no liquidity")
    tally = _Tally(parties, held.total, now_s=now_s)
    for holding in held.holdings:
        tally.add(holding)
    return tally.result(gap=held.gap)


class _Tally:
    """Adds up the holdings of one pool."""

    def __init__(self, parties: Parties, total: float, *, now_s: int) -> None:
        self._parties = parties
        self._total = total
        self._now_s = now_s
        self._holders: list[HolderShare] = []
        self._locks: list[LockedShare] = []
        self._free: dict[Address | None, float] = {}
        self._burnt = self._locked = 0.0

    def add(self, holding: LiquidityHolding) -> None:
        kind, share = self._kind(holding.holder), holding.weight / self._total
        held, free = 0.0, None
        if kind == "burn":
            held, free = share, 0.0
            self._burnt += share
        elif kind == "locker":
            held, free = self._add_locker(holding, share)
        elif kind == "pool" or holding.holder not in self._parties.contracts:
            free = share
            self._take(None if kind == "pool" else holding.holder, share)
        self._holders.append(
            HolderShare(
                holder=holding.holder,
                kind=kind,
                name=self._parties.lockers.get(holding.holder, ""),
                share=share,
                locked_share=held,
                withdrawable_share=free,
            )
        )

    def result(self, *, gap: str) -> LiquidityShares:
        free = sum(self._free.values(), 0.0)
        known = sum(holder.share for holder in self._holders)
        missing = max(0.0, 1 - known)
        if missing < _ROUNDING:
            missing = 0.0
        ranked = sorted(self._free.items(), key=lambda item: -item[1])
        return LiquidityShares(
            burnt_share=self._burnt,
            locked_share=self._locked,
            withdrawable_share=free,
            unknown_share=max(0.0, known - self._burnt - self._locked - free),
            unaccounted_share=missing,
            gap=gap if missing else "",
            holders=tuple(self._holders[:MOST_NAMED]),
            locks=tuple(sorted(self._locks, key=lambda lock: lock.until_s)[:MOST_NAMED]),
            withdrawers=tuple(
                Withdrawer(account=account, share=share)
                for account, share in ranked[:MOST_WITHDRAWERS]
            ),
        )

    def _kind(self, holder: Address) -> LiquidityHolderKind:
        parties = self._parties
        kinds: tuple[tuple[LiquidityHolderKind, bool], ...] = (
            ("burn", holder in BURN_ADDRESSES),
            ("pool", holder == parties.pool),
            ("locker", holder in parties.lockers),
            ("creator", holder == parties.creator),
            ("owner", holder == parties.owner),
            ("contract", holder in parties.contracts),
        )
        return next((kind for kind, fits in kinds if fits), "account")

    def _add_locker(self, holding: LiquidityHolding, share: float) -> tuple[float, float | None]:
        """Return what is locked, and what is free: of the records no more than the balance. None:
        part of it is in no record."""
        left, locked, free = holding.weight, 0.0, 0.0
        # Locks that end last are believed last: records beyond the balance lock nothing.
        for lock in self._parties.locks.get(holding.holder, ()):
            weight = min(lock.weight, left)
            left -= weight
            if weight <= 0:
                continue
            part = weight / self._total
            if lock.until_s <= self._now_s:
                free += part
                self._take(lock.owner, part)
                continue
            locked += part
            self._locks.append(
                LockedShare(
                    share=part, until_s=lock.until_s, locker=holding.holder, owner=lock.owner
                )
            )
        self._locked += locked
        return locked, free if left <= holding.weight * _ROUNDING else None

    def _take(self, account: Address | None, share: float) -> None:
        self._free[account] = self._free.get(account, 0.0) + share


_ROUNDING = 1e-9
"""Shares below it are rounding."""
