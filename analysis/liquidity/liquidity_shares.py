"""Shares of a pool's liquidity: burnt, locked, withdrawable, or unknown. Pure.

Burnt applies only to burn addresses, locked only to lockers whose records name the lock. The
holding of any other contract may be withdrawable, so it is unknown.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import msgspec

from analysis.liquidity.holdings import LiquidityHolding, PoolHoldings
from analysis.liquidity.locks import Lock
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address

LiquidityHolderKind = Literal["burn", "locker", "creator", "owner", "pool", "contract", "account"]
"""`pool`: LP tokens in the pair itself, which anybody can redeem."""

MOST_NAMED = 10
"""Holders and locks that are listed, largest or soonest first."""

MOST_WITHDRAWERS = 5


class TokenParties(msgspec.Struct, frozen=True, kw_only=True):
    """Creator and owner of a token. None: not known."""

    creator: Address | None
    owner: Address | None


class Parties(msgspec.Struct, frozen=True, kw_only=True):
    """Known facts about the liquidity holders of one pool."""

    pool: Address
    creator: Address | None
    owner: Address | None
    """Owner of the token."""
    lockers: Mapping[Address, str]
    """Names of the known lockers, by contract."""
    locks: Mapping[Address, Sequence[Lock]]
    """Locks by locker, soonest first. A missing locker has records that are not read."""
    contracts: Collection[Address]
    """Holders with code."""


class LockedShare(msgspec.Struct, frozen=True, kw_only=True):
    """One lock, as a share of the pool."""

    share: float
    until_s: int
    locker: Address
    owner: Address | None
    """Account that can withdraw it then. None: no account, ever."""


class HolderShare(msgspec.Struct, frozen=True, kw_only=True):
    """Share of one address."""

    holder: Address
    kind: LiquidityHolderKind
    name: str
    """Name of a known locker. Empty: none."""
    share: float
    """Part of the pool's liquidity, 0 to 1."""
    locked_share: float
    """Part that is burnt or still locked, 0 to 1 of the pool."""
    withdrawable_share: float | None
    """Part that can be withdrawn now. None: not known, as with contracts."""


class Withdrawer(msgspec.Struct, frozen=True, kw_only=True):
    """An account that can withdraw liquidity now."""

    account: Address | None
    """None: anybody."""
    share: float


class LiquidityShares(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of one pool's liquidity, 0 to 1; the first five add up to 1, or to 0 where there is no
    liquidity."""

    burnt_share: float = 0.0
    locked_share: float = 0.0
    withdrawable_share: float = 0.0
    """Share that a named account, or anybody, can withdraw now."""
    unknown_share: float = 0.0
    """Share of contracts that may allow withdrawals or not."""
    unaccounted_share: float = 0.0
    """Share without known holders."""
    gap: str = ""
    """Reason for an unaccounted share. Empty: there is none."""
    holders: tuple[HolderShare, ...] = ()
    """Largest first."""
    locks: tuple[LockedShare, ...] = ()
    """Active locks, soonest first."""
    withdrawers: tuple[Withdrawer, ...] = ()
    """Largest first, at most five."""


def classify_shares(found: PoolHoldings, parties: Parties, *, now_s: int) -> LiquidityShares:
    """Return the shares at a time, Unix seconds."""
    if found.total <= 0:
        return LiquidityShares(gap=found.gap or "the pool has no liquidity")
    tally = _Tally(parties, found.total, now_s=now_s)
    for holding in found.holdings:
        tally.add(holding)
    return tally.result(gap=found.gap)


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
        locked, free = 0.0, None
        if kind == "burn":
            locked, free = share, 0.0
            self._burnt += share
        elif kind == "locker":
            locked, free = self._add_locker(holding, share)
        elif kind == "pool" or holding.holder not in self._parties.contracts:
            free = share
            self._take(None if kind == "pool" else holding.holder, share)
        self._holders.append(
            HolderShare(
                holder=holding.holder,
                kind=kind,
                name=self._parties.lockers.get(holding.holder, ""),
                share=share,
                locked_share=locked,
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
        """Return the locked and the free part, at most the balance. None: a part is in no
        record."""
        left, locked, free = holding.weight, 0.0, 0.0
        # Locks that end last count last: records beyond the balance lock nothing.
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
