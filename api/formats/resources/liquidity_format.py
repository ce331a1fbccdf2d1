"""Holders of a token's liquidity, as an answer."""

from collections import defaultdict
from typing import Final, Literal

import msgspec

from analysis.liquidity.liquidity_shares import HolderShare, LiquidityHolderKind, LockedShare
from analysis.quotes.liquidity_inquiry import (
    SALE_USD,
    LiquidityFindings,
    PoolLiquidity,
    SimulatedSale,
    WithdrawalFindings,
)
from analysis.simulation.simulate_v1 import Passed, Refused
from api.formats.amounts import decimal_text
from api.formats.resources.simulated_outcome import OutcomeWord, outcome_reason, outcome_word
from api.formats.shape_building import Shape
from api.formats.summary.flags import ACTIVE, STATUS_ORDER, Flag, Status
from config.facts.chain import Chain
from core.evm.primitives import Address, checksum
from core.report.report import ReportRow

ONE_HOLDER_SHARE: Final = 0.5
CREATOR_SHARE: Final = 0.05
UNLOCKED_SHARE: Final = 0.2
SOON_S: Final = 30 * 86_400
KEPT_SHARE: Final = 0.5
"""Share of a sale's proceeds below which a withdrawal counts as taking them."""


class LiquidityTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of the value of all examined pools, 0 to 1, which add up to 1."""

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
    """Evaluate the checks of liquidity, in the order of statuses.

    `creator` None: not known, so any withdrawer may be the creator. `owner` None: not known, or
    there is none.
    """
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
            "The creator or the owner can withdraw 5 % of the liquidity or more",
            _reaches(of_issuers, unknown + of_others, CREATOR_SHARE),
        ),
        _flag(
            "liquidity_unlocks_soon",
            "A fifth of the liquidity or more unlocks within 30 days",
            _reaches(_unlocked_soon(found), unknown, UNLOCKED_SHARE),
        ),
        _flag(
            "sale_fails_after_withdrawal",
            "After the largest withdrawal, a sale in the largest pool fails or pays under half",
            _takes_sale(found),
        ),
    ]
    return tuple(sorted(flags, key=lambda flag: STATUS_ORDER.index(flag.status)))


def _flag(key: str, label: str, value: bool | None) -> Flag:
    statuses: dict[bool | None, Status] = {True: "warning", False: "safe", None: "unknown"}
    status = statuses[value]
    return Flag(key=key, label=label, status=status, active=status in ACTIVE, value=value)


def _reaches(share: float, unknown: float, limit: float) -> bool | None:
    """Compare a share with a limit. None: the unknown part may make it reach the limit."""
    if share >= limit:
        return True
    return None if share + unknown >= limit else False


def _withdrawable_by_holder(found: LiquidityFindings) -> dict[Address | Literal["anybody"], float]:
    """Return the withdrawable share of all pools by address."""
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
    """True if a withdrawal from the deepest pool takes the proceeds of a sale there. None: not
    simulated, or the sale fails without it."""
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


class LiquidityHolder(Shape, frozen=True, kw_only=True):
    """One address's part of a pool's liquidity."""

    address: str
    """Address of the holder, with the checksum of EIP-55."""
    kind: LiquidityHolderKind
    """pool: LP tokens in the pair itself, which the first caller can redeem. contract: code that is
    no known locker."""
    locker: str | None
    """Name of a known locker. None: it is none."""
    share: float
    """Part of the pool's liquidity, 0 to 1; of positions by their value at the pool's price."""
    locked_share: float
    """Part of the pool that is burnt, or locked until a later time, 0 to 1."""
    withdrawable_share: float | None
    """Part of the pool that can be withdrawn now. None: not known."""


class LiquidityLock(Shape, frozen=True, kw_only=True):
    """One lock, by the locker's own records."""

    share: float
    """Part of the pool's liquidity, 0 to 1."""
    until: int
    """Unix seconds from which any part of it can be withdrawn."""
    locker: str
    """Address of the locker."""
    owner: str | None
    """Account that can withdraw it then. None: nobody, ever."""


class LiquidityWithdrawer(Shape, frozen=True, kw_only=True):
    """An account that can withdraw liquidity now."""

    address: str | None
    """Address of the account. None: any account."""
    share: float
    """Part of the pool's liquidity, 0 to 1."""


class LiquiditySale(Shape, frozen=True, kw_only=True):
    """One simulated sale of 100 USD at the spot price."""

    outcome: OutcomeWord
    """refused: the token or the pool reverts it. unknown: it was not simulated."""
    reason: str
    """Why it did not pass. Empty: it did."""
    proceeds_raw: str | None
    """Smallest units of the other token that arrive. None: it did not pass."""
    proceeds_usd: float | None
    """The same in USD. None: it did not pass."""


class LiquidityWithdrawal(Shape, frozen=True, kw_only=True):
    """The withdrawal by the largest holder who can, and a sale before and after it."""

    address: str | None
    """Address of the account that withdraws. None: any account."""
    share: float
    """Part of the pool that it can withdraw, 0 to 1; a part in an expired locker is not
    simulated."""
    outcome: OutcomeWord
    """refused: the pool, or the token, reverts it."""
    reason: str
    """Why it did not pass. Empty: it did."""
    token: str | None
    """Whole tokens that it receives, as an exact decimal number. None: not known."""
    quote_raw: str | None
    """Smallest units of the other token that it receives. None: not known."""
    is_part: bool
    """true: it has more positions than were withdrawn."""
    sale_before: LiquiditySale
    """A sale before the withdrawal."""
    sale_after: LiquiditySale
    """The same sale after it."""


class LiquidityPool(Shape, frozen=True, kw_only=True):
    """One pool. The first five shares add up to 1, or are 0 where no liquidity is known."""

    pool: str
    """Address of the pool, or its id in its manager."""
    dex: str
    """Name of the exchange."""
    liquidity_type: str
    """Pool family, as in `dex` of a report."""
    quote: str
    """Address of the other token; the zero address is the native coin."""
    liquidity_usd: float
    """USD of its reserves, both sides."""
    burnt_share: float
    """Held by burn addresses: gone for good, 0 to 1."""
    locked_share: float
    """In a known locker until a later time, by its records."""
    withdrawable_share: float
    """Withdrawable now by a named account, or by any account."""
    unknown_share: float
    """Held by contracts that may or may not allow a withdrawal. Never locked."""
    unaccounted_share: float
    """Its holders were not found. Never locked."""
    gap: str
    """Reason why some is unaccounted. Empty: none is."""
    holders: tuple[LiquidityHolder, ...]
    """Largest first, at most ten."""
    locks: tuple[LiquidityLock, ...]
    """Soonest first, at most ten: the first is what becomes free next."""
    withdrawers: tuple[LiquidityWithdrawer, ...]
    """Largest first, at most five."""
    withdrawal: LiquidityWithdrawal | None
    """None: none was simulated."""
    withdrawal_reason: str
    """Reason why none was simulated. Empty: one was."""


class LiquidityAnswer(Shape, frozen=True, kw_only=True):
    """Holders of the liquidity of a token's deepest pools."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55."""
    block_number: int
    """Block that everything was read and simulated on."""
    block_hash: str
    """Hash of that block."""
    block_time: int
    """Unix seconds of that block, which locks are compared with."""
    sale_usd: float
    """Size of the sales before and after a withdrawal, at the spot price."""
    protected_share: float | None
    """Part of these pools' value that is burnt, or locked until a later time, 0 to 1. None: no pool
    has a value."""
    withdrawable_share: float | None
    """Part of that value that can be withdrawn now."""
    unknown_share: float | None
    """Part of that value that is held by unknown contracts, or not accounted for. Never locked."""
    flags: tuple[Flag, ...]
    """Checks over all these pools, worst first. No verdict depends on them."""
    pools: tuple[LiquidityPool, ...]
    """The deepest, at most three."""
    pools_left_out: int
    """Further pools that were not examined."""


def liquidity_answer(found: LiquidityFindings, chain: Chain, token: ReportRow) -> LiquidityAnswer:
    """Return the answer for one token."""
    totals = total_shares(found)
    return LiquidityAnswer(
        chain=chain.slug,
        contract_address=checksum(token.address),
        block_number=found.block.number,
        block_hash=found.block.hash,
        block_time=found.block.time_s,
        sale_usd=SALE_USD,
        protected_share=None if totals is None else totals.protected,
        withdrawable_share=None if totals is None else totals.withdrawable,
        unknown_share=None if totals is None else totals.unknown,
        flags=liquidity_flags(found, creator=token.creator_address, owner=token.owner_address),
        pools=tuple(_pool(pool, token.decimals) for pool in found.pools),
        pools_left_out=found.pools_left_out,
    )


def _pool(pool: PoolLiquidity, decimals: int) -> LiquidityPool:
    owned = pool.ownership
    return LiquidityPool(
        pool=pool.pool,
        dex=pool.dex,
        liquidity_type=pool.kind,
        quote=pool.quote,
        liquidity_usd=pool.liquidity_usd,
        burnt_share=owned.burnt_share,
        locked_share=owned.locked_share,
        withdrawable_share=owned.withdrawable_share,
        unknown_share=owned.unknown_share,
        unaccounted_share=owned.unaccounted_share,
        gap=owned.gap,
        holders=tuple(map(_holder, owned.holders)),
        locks=tuple(map(_lock, owned.locks)),
        withdrawers=tuple(
            LiquidityWithdrawer(
                address=None if one.account is None else checksum(one.account), share=one.share
            )
            for one in owned.withdrawers
        ),
        withdrawal=None if pool.withdrawal is None else _withdrawal(pool.withdrawal, decimals),
        withdrawal_reason=pool.reason,
    )


def _holder(one: HolderShare) -> LiquidityHolder:
    return LiquidityHolder(
        address=checksum(one.holder),
        kind=one.kind,
        locker=one.name or None,
        share=one.share,
        locked_share=one.locked_share,
        withdrawable_share=one.withdrawable_share,
    )


def _lock(one: LockedShare) -> LiquidityLock:
    return LiquidityLock(
        share=one.share,
        until=one.until_s,
        locker=checksum(one.locker),
        owner=None if one.owner is None else checksum(one.owner),
    )


def _withdrawal(one: WithdrawalFindings, decimals: int) -> LiquidityWithdrawal:
    token, quote = one.withdrawn.token_raw, one.withdrawn.quote_raw
    return LiquidityWithdrawal(
        address=None if one.by.account is None else checksum(one.by.account),
        share=one.by.share,
        outcome=outcome_word(one.withdrawn.outcome),
        reason=outcome_reason(one.withdrawn.outcome),
        token=None if token is None else decimal_text(token, decimals=decimals),
        quote_raw=None if quote is None else str(quote),
        is_part=one.is_part,
        sale_before=_sale(one.sale_before),
        sale_after=_sale(one.sale_after),
    )


def _sale(one: SimulatedSale) -> LiquiditySale:
    return LiquiditySale(
        outcome=outcome_word(one.outcome),
        reason=outcome_reason(one.outcome),
        proceeds_raw=None if one.proceeds_raw is None else str(one.proceeds_raw),
        proceeds_usd=one.proceeds_usd,
    )
