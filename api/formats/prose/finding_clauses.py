"""Clauses on the faults of one token: role, power, amount and time.

A clause begins in lower case. If a report lacks the particulars, the words of the check replace
them. Texts of tokens and nodes are untrusted: cut, escaped and quoted.
"""

from collections.abc import Callable, Collection
from typing import Final

from api.formats.prose.check_words import CHECK_WORDS, capital
from api.formats.prose.function_names import FALLBACK
from api.formats.prose.hook_clauses import hook_fee_clause
from api.formats.prose.power_clauses import act_clause, idle_clause, power_clause, power_holder
from api.formats.prose.proofs import WithdrawerSeen
from api.formats.prose.prose import listed, percent, short, spelled, usd
from api.formats.prose.rendered_report import RenderedReport
from api.formats.prose.time_clauses import (
    cooldown_clause,
    deadline_clause,
    deadlines_ahead,
    later_refusal_clause,
    later_tax_clause,
    size_clause,
)
from api.formats.prose.trade_clauses import elevated_tax_clause, loss_clause, trade_refusal
from api.formats.summary.flags import large_holders
from core.evm.primitives import Address
from core.report.report import LIQUIDITY_UNKNOWN, ReportRow


def tax_change_clause(rendered: RenderedReport) -> str:
    """Build the clause on changes of the tax, or of the fee that a hook sets."""
    return hook_fee_clause(rendered) or act_clause(_who(rendered, "tax_can_be_modified"), "tax")


def theft_clause(rendered: RenderedReport) -> str:
    how = " without your approval" if rendered.native.allowance_bypass else ""
    thefts = rendered.proofs.thefts()
    if any(theft.is_named is False for theft in thefts):
        return f"anyone can take tokens out of your wallet{how}"
    named = {theft.attacker for theft in thefts if theft.is_named}
    named |= set(rendered.report.token.privileged_spenders)
    return f"{_names(rendered, named)} can take tokens out of your wallet{how}"


def _names(rendered: RenderedReport, addresses: Collection[Address]) -> str:
    owner = rendered.report.token.owner_address
    if owner is not None and owner in addresses:
        more = len(addresses) - 1
        return f"the owner and {spelled(more)} more" if more else "the owner"
    match sorted(addresses):
        case []:
            return "others"
        case [one]:
            return f"one address, {short(one)},"
        case several:
            return f"{spelled(len(several))} addresses that the code names"


def _who(rendered: RenderedReport, key: str) -> str:
    """Return the accounts that hold a power, or the roles that can call its functions."""
    named = power_holder(rendered, key)
    if named is not None:
        return named
    proof, owned = rendered.proofs.of_code(key), rendered.proofs.of_code("ownership_renounced")
    special = rendered.proofs.of_code("has_owner_functionality")
    callers = set(proof.selectors) - {FALLBACK} if proof else set()
    if not callers:
        return "someone"
    if owned is not None and callers <= set(owned.selectors):
        return "a former owner" if rendered.native.ownership_renounced else "the owner"
    if special is not None and callers <= set(special.selectors):
        return "an address with special rights"
    return "someone"


def pause_clause(rendered: RenderedReport) -> str:
    who = _who(rendered, "pause_status_can_be_modified")
    pause = rendered.proofs.of_code("pause_status_can_be_modified")
    bomb = rendered.proofs.of_code("timebomb")
    if pause and bomb and set(pause.slots) & set(bomb.slots):
        return f"{who} can move that date" if deadlines_ahead(rendered) else f"{who} can set a date"
    if rendered.summary.can_buy is False and rendered.summary.can_sell is not True:
        return f"{who} can change that"
    return act_clause(who, "stop")


def supply_clause(rendered: RenderedReport) -> str | None:
    named = power_clause(rendered, "mint_or_burn_function")
    if named is not None:
        return named
    proof = rendered.proofs.of_code("mint_or_burn_function")
    if proof is None:
        return None
    if set(proof.selectors) & _MINTS:
        return act_clause(_who(rendered, "mint_or_burn_function"), "mint")
    return None


_MINTS: Final = frozenset({"0x40c10f19", "0xa0712d68", "0x1249c58b", "0x94bf804d", "0x4e6ec247"})
"""mint(address,uint256), mint(uint256), mint(), mint(uint256,address), _mint(address,uint256)."""


def cap_clause(rendered: RenderedReport) -> str | None:
    """Build the clause on the caps in force, with their sizes and the roles that change them. None:
    no cap is in force."""
    native, static = rendered.native, rendered.report.static
    limits = rendered.proofs.storage().limits
    transfer, holding = (_size(rendered, raw) for raw in (limits.transfer_raw, limits.holding_raw))
    found = []
    if static.has_trading_cap:
        sized = f"one transfer can move at most {transfer}"
        found.append(sized if transfer else "the size of a transfer is limited")
    if static.has_position_cap:
        sized = f"a wallet can hold at most {holding}"
        found.append(sized if holding else "the holding of a wallet is limited")
    if not found:
        return None
    keys = ("trading_cap_can_be_modified", "position_cap_can_be_modified")
    changed = [key for key in keys if getattr(native, key) is True]
    change = f". {capital(_who(rendered, changed[0]))} can change that" if changed else ""
    return f"{listed(found)}{change}"


def _size(rendered: RenderedReport, raw: int | None) -> str | None:
    """Return a limit in words. None: its size is not known."""
    supply_raw = rendered.report.token.supply_raw
    if raw is None or not supply_raw:
        return None
    return f"{percent(100 * raw / supply_raw)} of the supply"


def clone_clause(rendered: RenderedReport) -> str | None:
    """Build the clause on a proxy whose target is a part of its code. None: it is no such."""
    proof, target = rendered.proofs.of_code("is_proxy"), rendered.report.token.implementation
    if target is None or proof is None or proof.slots:
        return None
    return f"it is a clone that runs the code at {short(target)}"


def proxy_clause(rendered: RenderedReport) -> str | None:
    if rendered.report.token.implementation is None or rendered.proofs.of_code("is_proxy") is None:
        return None
    named = power_clause(rendered, "is_proxy")
    return named or "its code can be replaced at any time"


def owner_clause(rendered: RenderedReport) -> str | None:
    owner = rendered.report.token.owner_address
    return None if owner is None else f"it still has an owner, {short(owner)}"


def wrong_clause(key: str, rendered: RenderedReport) -> str:
    """Return the bad answer of one check in words, with its particulars where they are known."""
    in_force = _IN_FORCE[key](rendered) if key in _IN_FORCE else None
    clause = in_force or idle_clause(rendered, key)
    if clause is None and key in _PARTICULARS:
        clause = _PARTICULARS[key](rendered)
    return clause or power_clause(rendered, key) or CHECK_WORDS[key].wrong


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
        return f"nobody has bought it yet on its bonding curve at {deepest.dex}"
    place = f"its bonding curve at {deepest.dex}" if deepest.is_launchpad else "its largest pool"
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


_MOST_OF_LIQUIDITY: Final = 50.0
_ALL_OF_LIQUIDITY: Final = 99.9
"""Percent from which the rest of the liquidity pays no seller."""


def withdrawal_clause(rendered: RenderedReport) -> str | None:
    """Build the clause on withdrawable liquidity and the sale after a withdrawal. It names the
    holder where one has half."""
    if rendered.report.scan.liquidity_risk == "unknown_old":
        return "it is unknown who can withdraw the liquidity, which is over 30 days old"
    found = rendered.proofs.liquidity()
    first = found.holders[0] if found is not None and found.holders else None
    if first is None or not first.can_withdraw or first.share_pct < _MOST_OF_LIQUIDITY:
        return None
    is_all = first.share_pct >= _ALL_OF_LIQUIDITY
    share = "all the liquidity" if is_all else f"{percent(first.share_pct)} of the liquidity"
    clause = f"{withdrawer_name(rendered, first)} can withdraw {share} at any time"
    return f"{clause}. After that, selling pays nothing" if is_all else clause


def withdrawer_name(rendered: RenderedReport, holder: WithdrawerSeen) -> str:
    """Return a holder of liquidity in words: creator and owner by their roles."""
    token = rendered.report.token
    if holder.address is None:
        return "anyone"
    if holder.kind == "creator" or holder.address == token.creator_address:
        return "the creator"
    if holder.kind == "owner" or holder.address == token.owner_address:
        return "the owner"
    return f"one account, {short(holder.address)},"


_IN_FORCE: Final[dict[str, Callable[[RenderedReport], str | None]]] = {
    "transfer_restrictions": cap_clause,
    "is_proxy": clone_clause,
}
"""Builders of clauses on rules of the code, which no holder of a power has to use."""

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
    "is_proxy": proxy_clause,
    "liquidity_can_leave": withdrawal_clause,
    "ownership_not_renounced": owner_clause,
    "has_enough_liquidity": liquidity_clause,
    "holder_concentration": holder_clause,
    "creator_holds_supply": creator_clause,
}
"""Builders of a check's particulars; they return None if the report lacks them."""
