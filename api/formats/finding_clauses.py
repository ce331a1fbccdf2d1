"""What is wrong with one token, in clauses that name who, what, how much and when.

A clause begins in lower case. Where a report does not hold the particulars, the words of the check
stand for them. Texts of tokens and nodes are untrusted: cut, escaped and quoted.
"""

from collections.abc import Callable
from typing import Final

from api.formats.check_words import CHECK_WORDS
from api.formats.power_clauses import (
    cap_clause,
    owner_clause,
    pause_clause,
    proxy_clause,
    supply_clause,
    tax_change_clause,
    theft_clause,
)
from api.formats.prose import percent, usd
from api.formats.rendered_report import RenderedReport
from api.formats.time_clauses import (
    cooldown_clause,
    deadline_clause,
    later_refusal_clause,
    later_tax_clause,
    size_clause,
)
from api.formats.trade_clauses import elevated_tax_clause, loss_clause, trade_refusal
from core.report import LIQUIDITY_UNKNOWN


def wrong_clause(key: str, rendered: RenderedReport) -> str:
    """Return the bad answer of one check in words, with its particulars where they are known."""
    clause = _PARTICULARS[key](rendered) if key in _PARTICULARS else None
    return clause or CHECK_WORDS[key].wrong


def liquidity_clause(rendered: RenderedReport) -> str | None:
    pools = rendered.report.pools
    if pools is None:
        return None
    if not pools:
        return "it has no pool"
    if all(pool.error_code == LIQUIDITY_UNKNOWN for pool in pools):
        return None
    deepest = max(pools, key=lambda pool: pool.liquidity_usd)
    place = "the curve of its launch platform" if deepest.is_launchpad else "its deepest pool"
    return f"{place} holds only {usd(deepest.liquidity_usd)}"


def creator_clause(rendered: RenderedReport) -> str | None:
    share = rendered.native.creator_percent
    return None if share is None else f"the creator holds {percent(share)} of the supply"


_PARTICULARS: Final[dict[str, Callable[[RenderedReport], str | None]]] = {
    "dominant_pool_unsellable": trade_refusal,
    "allowance_bypass": theft_clause,
    "funds_can_be_drained": theft_clause,
    "high_tax": loss_clause,
    "elevated_tax": elevated_tax_clause,
    "tax_can_be_modified": tax_change_clause,
    "sell_blocked_later": later_refusal_clause,
    "sell_tax_rises": later_tax_clause,
    "sell_depends_on_size": size_clause,
    "trading_cooldown": cooldown_clause,
    "timebomb": deadline_clause,
    "pause_status_can_be_modified": pause_clause,
    "mint_or_burn_function": supply_clause,
    "transfer_restrictions": cap_clause,
    "is_proxy": proxy_clause,
    "ownership_not_renounced": owner_clause,
    "has_enough_liquidity": liquidity_clause,
    "creator_holds_supply": creator_clause,
}
"""What a check found, with particulars; None where the report does not hold them."""
