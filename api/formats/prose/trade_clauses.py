"""Clauses on refused trades and on taxes. Pure."""

from typing import Final

from analysis.scenarios.trade.trade_outcome import BROUGHT_NOTHING, TOO_LITTLE
from analysis.scenarios.trade.transfer import MOVED_NOTHING
from api.formats.native.shapes import figure
from api.formats.prose.hook_clauses import HOOK, takes_tax
from api.formats.prose.proofs import TradeSeen
from api.formats.prose.prose import listed, percent, quoted
from api.formats.prose.rendered_report import RenderedReport

SHOWN_TAX_PCT: Final = 0.1
"""Percent. A lower tax may be rounding, and is left out."""

HEAVY_TAX_PCT: Final = 50
"""Percent. A higher tax is called a loss."""

_DECODED: Final = {
    "IIA": "the pool gets less than it asks for",
    "CurrencyNotSettled()": "the pool gets less than it asks for",
    "K": "the pool gets less than it asks for",
    "UniswapV2: K": "the pool gets less than it asks for",
    BROUGHT_NOTHING: "a buy brings no tokens",
    TOO_LITTLE: "the tested buy was too small to bring any tokens",
}
"""Revert reasons of exchanges, and outcomes -> words. Sources: Uniswap v2-core and v3-core,
UniswapV2Pair and UniswapV3Pool; v4-core, IPoolManager."""

_OF_BUY: Final = "buy: "
_OF_SALE: Final = "sell: "
"""Parts of a pool's error message."""

_WITHOUT_REASON: Final = frozenset(
    {"execution failed", "execution reverted", "reverted without a reason"}
    | {"reverted with an empty reason"}
)
"""Messages of nodes, and of the decoder, on a revert without data."""

_FROM_OTHERS: Final = ("TRANSFER_FROM_FAILED", "TRANSFER_FAILED", "STF", "TF", "failed in 0x")
"""Revert reasons of routers and pools that only report another failure."""

_HOOK_CALLS: Final = ("failed in 0x575e24b4", "failed in 0xb47b2fb1")
"""`beforeSwap` and `afterSwap` in a V4 pool's wrapped errors. Source: Uniswap v4-core, IHooks."""


def trade_refusal(rendered: RenderedReport) -> str | None:
    """Build the clause on refused trades. None: no settled trade failed everywhere."""
    can_buy, can_sell = rendered.summary.can_buy, rendered.summary.can_sell
    if can_buy is not False and can_sell is not False:
        return None
    lost = [word for word, can in (("buy", can_buy), ("sell", can_sell)) if can is False]
    if rendered.report.token.transfer_success is False:
        lost.append("transfer")
    reason = refusal_reason(rendered)
    why = f": {reason}" if reason else ""
    if can_buy is False:
        return f"you can't {_either(lost)} it{why}"
    if is_owner_alone(rendered) and len(lost) == 1:
        return "you can buy it, but only the owner can sell it"
    if is_by_hook(rendered):
        return f"you can buy it, but {HOOK} blocks every sale"
    clause = f"you can buy it, but you can't {_either(lost)} it{why}"
    return f"{clause}. The owner can sell it" if owner_sells(rendered) else clause


def _either(acts: list[str]) -> str:
    return acts[0] if len(acts) == 1 else f"{', '.join(acts[:-1])} or {acts[-1]}"


def refusal_reason(rendered: RenderedReport) -> str | None:
    """Return why trades or transfers fail, in words. None: only a router reports the failure."""
    if rendered.report.token.transfer_success is False:
        sent = rendered.proofs.outcome("transfer", TradeSeen)
        if sent is not None and sent.reason == MOVED_NOTHING:
            return "transfers report success and move nothing"
        if sent is not None and sent.reason and not _is_silent(sent.reason):
            return f"the token answers {quoted(sent.reason)}"
    reason = _trade_reason(rendered)
    if reason in _DECODED:
        return _DECODED[reason]
    if _is_silent(reason) or any(part in reason for part in _FROM_OTHERS):
        return None
    return f"the trade fails with {quoted(reason)}"


def _trade_reason(rendered: RenderedReport) -> str:
    """Return the reason of the deepest pool's refused trade, the buy before the sale, which was not
    tried without one."""
    message = (rendered.native.dex[0].error_message if rendered.native.dex else None) or ""
    if rendered.summary.can_buy is False and message.startswith(_OF_BUY):
        return message.removeprefix(_OF_BUY).partition(f"; {_OF_SALE}")[0]
    return message.rpartition(_OF_SALE)[2].removeprefix(_OF_BUY)


def _is_silent(reason: str) -> bool:
    """True if neither the token nor the pool gave a reason, and the words are the node's."""
    return not reason or reason in _WITHOUT_REASON


def is_by_hook(rendered: RenderedReport) -> bool:
    """True if the hook of the deepest pool refuses the trade."""
    message = rendered.native.dex[0].error_message if rendered.native.dex else None
    return any(call in (message or "") for call in _HOOK_CALLS)


def owner_sells(rendered: RenderedReport) -> bool:
    """True if a simulated sale by the owner passed in some pool."""
    keys = rendered.proofs.keys_under("sell_by_owner")
    sales = [rendered.proofs.outcome(key, TradeSeen) for key in keys]
    return any(sale is not None and sale.reason is None for sale in sales)


def is_owner_alone(rendered: RenderedReport) -> bool:
    """True if only the owner's sale passes, and every storage-dependent transfer guard checks the
    owner.

    Then no list or switch can have decided it.
    """
    if rendered.summary.can_sell is not False or not owner_sells(rendered):
        return False
    guards = rendered.proofs.of_code("transfer_guarded_by_storage")
    owned = rendered.proofs.of_code("has_owner_functionality")
    is_listed = rendered.report.static.has_blacklist_or_whitelist is not False
    if guards is None or owned is None or is_listed:
        return False
    return bool(guards.pcs) and set(guards.pcs) <= set(owned.pcs)


def tax_clause(rendered: RenderedReport) -> str | None:
    """Build the clause on the taxes of the deepest traded pool and of transfers.

    None: there is no tax, or one of half or more, which is a loss.
    """
    taxes = _taxes(rendered)
    if not taxes or max(taxes.values()) >= HEAVY_TAX_PCT:
        return None
    by_rate: dict[str, list[str]] = {}
    for act, rate in taxes.items():
        by_rate.setdefault(percent(rate), []).append(act)
    rates = listed([f"{rate} tax on {listed(acts)}" for rate, acts in by_rate.items()])
    taker = f", to {HOOK}" if takes_tax(rendered) else ""
    return f"you pay {rates}{taker}"


def _taxes(rendered: RenderedReport) -> dict[str, float]:
    pools, token = rendered.native.dex, rendered.report.token
    traded = next((pool for pool in pools if pool.buy_success is True), None)
    found = {
        "buys": figure(traded.buy_tax) if traded else None,
        "sales": figure(traded.sell_tax) if traded else None,
        "transfers": max((token.send_tax or 0.0, token.receive_tax or 0.0)),
    }
    return {act: tax for act, tax in found.items() if tax is not None and tax >= SHOWN_TAX_PCT}


def loss_clause(rendered: RenderedReport) -> str | None:
    taxes = _taxes(rendered)
    words = {
        "buys": "buying gives you {} of what you pay for",
        "sales": "selling pays you {} of what the tokens are worth",
        "transfers": "a transfer delivers {} of the amount",
    }
    heavy = [words[act].format(_left(tax)) for act, tax in taxes.items() if tax >= HEAVY_TAX_PCT]
    return " and ".join(heavy) or None


def _left(tax_pct: float) -> str:
    """Return the part that a tax leaves."""
    left = round(100 - tax_pct, 6)
    shown = percent(max(0.0, left))
    return "nothing" if left <= 0 else shown if shown.startswith("less") else f"only {shown}"


def elevated_tax_clause(rendered: RenderedReport) -> str | None:
    return tax_clause(rendered) or loss_clause(rendered)
