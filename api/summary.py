"""Report -> the compact view: counted flags and one verdict."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from api.flags import (
    CATALOGUE,
    HIGHLIGHTS,
    STATUS_ORDER,
    Flag,
    Judged,
    Status,
    resolve,
    transfer_restrictions,
)
from api.shapes import NativeFeatures, Pending, Pool, Shape, figure, settled
from sql.rows import Report

Verdict = Literal["danger", "warning", "safe", "not_tested"]

VERDICTS: dict[str, Verdict] = {
    "sell_failed": "danger",
    "buy_failed": "danger",
    "danger_flags": "danger",
    "no_liquidity": "warning",
    "warning_flags": "warning",
    "no_trade_simulated": "not_tested",
}
"""Reason -> verdict, most severe reason first. The first reason that holds decides."""


class DominantPool(Shape, frozen=True, kw_only=True):
    """The deepest pool."""

    type: str
    """As `liquidity_type`."""
    address: str
    liquidity: float
    """USD."""
    can_buy: bool | None
    can_sell: bool | None
    buy_tax: float | None
    """Percent."""
    sell_tax: float | None
    """Percent."""


class Summary(Shape, frozen=True, kw_only=True):
    """The summary response. A refusal has a null verdict and every check unknown."""

    chain: str
    contract_address: str
    error: str
    """Prose; empty on success."""
    error_code: str | None
    verdict: Verdict | None
    """None: no analysis was produced."""
    verdict_reasons: tuple[str, ...]
    """Most severe first."""
    active_flag_count: int
    evaluated_flag_count: int
    total_flag_count: int
    passed_flag_count: int
    notice_flag_count: int
    unknown_flag_count: int
    danger_flag_count: int
    warning_flag_count: int
    info_flag_count: int
    flags: tuple[Flag, ...]
    highlights: tuple[Flag, ...]
    access_restrictions: bool | None
    transfer_restrictions: bool | None
    funds_can_be_drained: bool | None
    has_enough_liquidity: bool | None
    """None: pools were not resolved."""
    total_liquidity_usd: float | None
    """None: no pool was found."""
    can_buy: bool | None
    can_sell: bool | None
    detected_pool_count: int
    dominant_pool: DominantPool | None


def render_summary(
    report: Report, native: NativeFeatures, *, chain: str, address: str, liquid_above_usd: float
) -> Summary:
    """The summary of one report. `address` is the token's, checksummed."""
    judged = Judged(
        report=report,
        native=native,
        has_enough_liquidity=_has_enough_liquidity(report, liquid_above_usd),
    )
    flags = _in_order(resolve(check, judged) for check in CATALOGUE)
    counts = Counter[Status](flag.status for flag in flags)
    can_buy = can_trade(pool.buy_success for pool in native.dex)
    can_sell = can_trade(pool.sell_success for pool in native.dex)
    reasons = _reasons(counts, can_buy, can_sell, judged.has_enough_liquidity)
    return Summary(
        chain=chain,
        contract_address=address,
        error="",
        error_code=None,
        verdict=VERDICTS[reasons[0]] if reasons else "safe",
        verdict_reasons=reasons,
        **_counts(counts),
        flags=flags,
        highlights=tuple(resolve(check, judged) for check in HIGHLIGHTS),
        access_restrictions=native.has_blacklist_or_whitelist,
        transfer_restrictions=transfer_restrictions(native),
        funds_can_be_drained=native.funds_can_be_drained,
        has_enough_liquidity=judged.has_enough_liquidity,
        total_liquidity_usd=sum(pool.liquidity for pool in native.dex) if native.dex else None,
        can_buy=can_buy,
        can_sell=can_sell,
        detected_pool_count=len(native.dex),
        dominant_pool=_dominant(native.dex[0]) if native.dex else None,
    )


def refuse_summary(*, chain: str, address: str, error: str, error_code: str) -> Summary:
    """The summary where no analysis was produced: the same keys, nothing known."""
    flags = tuple(_unanswered(check.key, check.label) for check in CATALOGUE)
    return Summary(
        chain=chain,
        contract_address=address,
        error=error,
        error_code=error_code,
        verdict=None,
        verdict_reasons=(),
        **_counts(Counter[Status](flag.status for flag in flags)),
        flags=flags,
        highlights=tuple(_unanswered(check.key, check.label) for check in HIGHLIGHTS),
        access_restrictions=None,
        transfer_restrictions=None,
        funds_can_be_drained=None,
        has_enough_liquidity=None,
        total_liquidity_usd=None,
        can_buy=None,
        can_sell=None,
        detected_pool_count=0,
        dominant_pool=None,
    )


def _unanswered(key: str, label: str) -> Flag:
    return Flag(key=key, label=label, status="unknown", active=False, value=None)


def _in_order(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """By status, the catalogue's order kept within one."""
    return tuple(sorted(flags, key=lambda flag: STATUS_ORDER.index(flag.status)))


def _counts(by_status: Counter[Status]) -> dict[str, int]:
    active = by_status["danger"] + by_status["warning"] + by_status["info"]
    evaluated = active + by_status["safe"] + by_status["notice"]
    return {
        "active_flag_count": active,
        "evaluated_flag_count": evaluated,
        "total_flag_count": evaluated + by_status["unknown"],
        "passed_flag_count": by_status["safe"],
        "notice_flag_count": by_status["notice"],
        "unknown_flag_count": by_status["unknown"],
        "danger_flag_count": by_status["danger"],
        "warning_flag_count": by_status["warning"],
        "info_flag_count": by_status["info"],
    }


def _has_enough_liquidity(report: Report, liquid_above_usd: float) -> bool | None:
    """Whether the deepest pool is above the minimum. None: pools were not resolved."""
    if report.pools is None:
        return None
    return any(pool.liquidity_usd > liquid_above_usd for pool in report.pools)


def can_trade(results: Iterable[bool | Pending | None]) -> bool | None:
    """True: it passed in one pool. False: it failed in every settled one. None: none settled."""
    answers = [answer for answer in map(settled, results) if answer is not None]
    return any(answers) if answers else None


def _reasons(
    counts: Counter[Status],
    can_buy: bool | None,
    can_sell: bool | None,
    has_enough_liquidity: bool | None,
) -> tuple[str, ...]:
    holds = {
        "sell_failed": can_sell is False,
        "buy_failed": can_buy is False,
        "danger_flags": counts["danger"] > 0,
        "no_liquidity": has_enough_liquidity is False,
        "warning_flags": counts["warning"] > 0,
        "no_trade_simulated": can_buy is None and can_sell is None,
    }
    return tuple(reason for reason in VERDICTS if holds[reason])


def _dominant(pool: Pool) -> DominantPool:
    return DominantPool(
        type=pool.liquidity_type,
        address=pool.pair,
        liquidity=pool.liquidity,
        can_buy=settled(pool.buy_success),
        can_sell=settled(pool.sell_success),
        buy_tax=figure(pool.buy_tax),
        sell_tax=figure(pool.sell_tax),
    )
