"""Who can take, stop, create or change what, in clauses. Pure."""

from collections.abc import Collection
from typing import Final

from api.formats.prose.prose import listed, percent, short
from api.formats.prose.rendered_report import RenderedReport
from api.formats.prose.time_clauses import deadlines_ahead
from core.evm.primitives import Address

_FALLBACK: Final = "0x00000000"


def tax_change_clause(rendered: RenderedReport) -> str:
    """Return who can change the tax."""
    return f"{_who(rendered, 'tax_can_be_modified')} can change the tax"


def theft_clause(rendered: RenderedReport) -> str:
    how = " without approval" if rendered.native.allowance_bypass else ""
    thefts = rendered.proofs.thefts()
    if any(theft.is_named is False for theft in thefts):
        return f"anybody can take tokens out of your wallet{how}"
    named = {theft.attacker for theft in thefts if theft.is_named}
    named |= set(rendered.report.token.privileged_spenders)
    return f"{_names(rendered, named)} can take tokens out of your wallet{how}"


def _names(rendered: RenderedReport, addresses: Collection[Address]) -> str:
    owner = rendered.report.token.owner_address
    if owner is not None and owner in addresses:
        return "the owner" if len(addresses) == 1 else f"the owner and {len(addresses) - 1} more"
    match sorted(addresses):
        case []:
            return "others"
        case [one]:
            return short(one)
        case several:
            return f"{len(several)} addresses that the code names"


def _who(rendered: RenderedReport, key: str) -> str:
    """Return who can call the functions that prove a finding."""
    proof, owned = rendered.proofs.of_code(key), rendered.proofs.of_code("ownership_renounced")
    special = rendered.proofs.of_code("has_owner_functionality")
    callers = set(proof.selectors) - {_FALLBACK} if proof else set()
    if not callers:
        return "somebody"
    if owned is not None and callers <= set(owned.selectors):
        return "a former owner" if rendered.native.ownership_renounced else "the owner"
    if special is not None and callers <= set(special.selectors):
        return "an address with special access"
    return "somebody"


def pause_clause(rendered: RenderedReport) -> str:
    who = _who(rendered, "pause_status_can_be_modified")
    pause = rendered.proofs.of_code("pause_status_can_be_modified")
    bomb = rendered.proofs.of_code("timebomb")
    if pause and bomb and set(pause.slots) & set(bomb.slots):
        return f"{who} can move that date" if deadlines_ahead(rendered) else f"{who} can set a date"
    if rendered.summary.can_buy is False and rendered.summary.can_sell is not True:
        return f"{who} can change that"
    return f"{who} can stop transfers for everybody"


def supply_clause(rendered: RenderedReport) -> str | None:
    proof = rendered.proofs.of_code("mint_or_burn_function")
    if proof is None:
        return None
    if set(proof.selectors) & _MINTS:
        return f"{_who(rendered, 'mint_or_burn_function')} can create new tokens"
    return None


_MINTS: Final = frozenset({"0x40c10f19", "0xa0712d68", "0x1249c58b", "0x94bf804d", "0x4e6ec247"})
"""mint(address,uint256), mint(uint256), mint(), mint(uint256,address), _mint(address,uint256)."""


def cap_clause(rendered: RenderedReport) -> str | None:
    """Return the caps in force with their sizes, and who can change them. None: none is."""
    native, static = rendered.native, rendered.report.static
    limits = rendered.proofs.storage().limits
    transfer, holding = (_size(rendered, raw) for raw in (limits.transfer_raw, limits.holding_raw))
    found = []
    if static.has_trading_cap:
        found.append(f"a single transfer can move at most {transfer}")
    if static.has_position_cap:
        found.append(f"a wallet can hold at most {holding}")
    if not found:
        return None
    keys = ("trading_cap_can_be_modified", "position_cap_can_be_modified")
    changed = [key for key in keys if getattr(native, key) is True]
    change = f", and {_who(rendered, changed[0])} can change that" if changed else ""
    return f"{listed(found)}{change}"


def _size(rendered: RenderedReport, raw: int | None) -> str:
    supply_raw = rendered.report.token.supply_raw
    if raw is None or not supply_raw:
        return "a limited amount"
    return f"{percent(100 * raw / supply_raw)} of the supply"


def proxy_clause(rendered: RenderedReport) -> str | None:
    proof, target = rendered.proofs.of_code("is_proxy"), rendered.report.token.implementation
    if target is None or proof is None:
        return None
    if not proof.slots:
        return f"it is a clone that runs the code at {short(target)}"
    return "its code can be replaced at any time, as it is a proxy"


def owner_clause(rendered: RenderedReport) -> str | None:
    owner = rendered.report.token.owner_address
    return None if owner is None else f"it still has an owner, {short(owner)}"
