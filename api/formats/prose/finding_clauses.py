"""What is wrong with one token, in clauses that name who, what, how much and when.

A clause begins in lower case. Where a report does not hold the particulars, the words of the check
stand for them. Texts of tokens and nodes are untrusted: cut, escaped and quoted.
"""

from collections.abc import Callable
from typing import Final

from api.formats.prose.check_words import CHECK_WORDS
from api.formats.prose.power_clauses import (
    cap_clause,
    owner_clause,
    pause_clause,
    proxy_clause,
    supply_clause,
    tax_change_clause,
    theft_clause,
)
from api.formats.prose.prose import percent, short, usd
from api.formats.prose.rendered_report import RenderedReport
from api.formats.prose.time_clauses import (
    cooldown_clause,
    deadline_clause,
    later_refusal_clause,
    later_tax_clause,
    size_clause,
)
from api.formats.prose.trade_clauses import elevated_tax_clause, loss_clause, trade_refusal
from api.formats.summary.flags import large_holders
from core.evm.primitives import Address
from core.report.report import LIQUIDITY_UNKNOWN, ReportRow


def wrong_clause(key: str, rendered: RenderedReport) -> str:
    """Return the bad answer of one check in words, with its particulars where they are known."""
    clause = _PARTICULARS[key](rendered) if key in _PARTICULARS else None
    return clause or CHECK_WORDS[key].wrong


def liquidity_clause(rendered: RenderedReport) -> str | None:
    pools = rendered.report.pools
    if pools is None:
        return None
    if not pools:
        name = rendered.native.launchpad_name
        return f"it was launched on {name} and has no pool now" if name else "it has no pool"
    if all(pool.error_code == LIQUIDITY_UNKNOWN for pool in pools):
        return None
    deepest = max(pools, key=lambda pool: pool.liquidity_usd)
    if deepest.is_launchpad and not deepest.quote_side_usd:
        return f"nobody has bought it yet on the curve of {deepest.dex}"
    place = f"the curve of {deepest.dex}" if deepest.is_launchpad else "its deepest pool"
    return f"{place} holds only {usd(deepest.liquidity_usd)}"


def holder_clause(rendered: RenderedReport) -> str | None:
    report = rendered.report
    large = large_holders(report, rendered.custodians)
    if not large or not report.token.supply_raw:
        return None
    share = percent(100 * large[0].amount_raw / report.token.supply_raw)
    return f"{_who_holds(large[0].owner, report.token)} holds {share} of the supply"


def _who_holds(owner: Address, token: ReportRow) -> str:
    if owner == token.address:
        return "the token's own contract"
    if owner == token.creator_address:
        return "the creator"
    return "the owner" if owner == token.owner_address else f"one holder, {short(owner)},"


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
    "holder_concentration": holder_clause,
    "creator_holds_supply": creator_clause,
}
"""What a check found, with particulars; None where the report does not hold them."""
