"""The five tiles of a token: buying, selling, transfers, liquidity, owner and powers. Pure.

Together they name every fault of the verdict. A tile is green only where its question was tested.
"""

from typing import Final, Literal

import msgspec

from api.formats.native.shapes import Pool, figure
from api.formats.prose.check_words import CHECK_WORDS, capital
from api.formats.prose.finding_clauses import withdrawer_name, wrong_clause
from api.formats.prose.hook_clauses import HOOK, hook_fee_clause, hook_of, takes_tax
from api.formats.prose.power_clauses import ACTS, power_holder, rank_of
from api.formats.prose.proofs import LaterSeen, SoldSeen
from api.formats.prose.prose import day, percent, short, spelled, usd
from api.formats.prose.rendered_report import RenderedReport
from api.formats.prose.trade_clauses import (
    HEAVY_TAX_PCT,
    SHOWN_TAX_PCT,
    is_by_hook,
    is_owner_alone,
    owner_sells,
    refusal_reason,
)
from api.formats.summary.flags import ELEVATED_TAX_PCT
from api.formats.summary.power_checks import POWER_FIELDS, hurtful_powers
from core.report.powers import Power

TileTone = Literal["good", "plain", "warn", "bad", "unknown"]

_MOST: Final = 0.5
"""Share of the liquidity that names it."""


class Tile(msgspec.Struct, frozen=True, kw_only=True):
    """One tile."""

    name: str
    tone: TileTone
    answer: str
    """A few words."""
    detail: str = ""
    """A clause below them. Empty: there is none."""


def view_tiles(rendered: RenderedReport) -> tuple[Tile, ...]:
    """Return the five tiles in their order."""
    return (
        _buy(rendered),
        _sell(rendered),
        _transfer(rendered),
        _liquidity(rendered),
        _powers(rendered),
    )


def _found(rendered: RenderedReport, *keys: str) -> str | None:
    """Return the first of the checks that found a danger or a warning. None: none did."""
    bad = {flag.key for flag in rendered.summary.flags if flag.status in ("danger", "warning")}
    return next((key for key in keys if key in bad), None)


def _told(rendered: RenderedReport, key: str) -> str:
    return capital(wrong_clause(key, rendered))


# --- trades ------------------------------------------------------------------------------------


def _traded(rendered: RenderedReport) -> Pool | None:
    """Return the deepest pool with a trade that works. None: there is none."""
    pools = rendered.native.dex
    return next((pool for pool in pools if pool.buy_success is True), pools[0] if pools else None)


def _untested(rendered: RenderedReport, name: str) -> Tile:
    pools = rendered.report.pools
    if any("pending" in (pool.buy, pool.sell) for pool in pools or ()):
        return Tile(name=name, tone="unknown", answer="Being tested", detail="a few more seconds")
    if pools == ():
        return Tile(name=name, tone="unknown", answer="Not tested", detail="It has no pool")
    if pools and all(pool.is_launchpad for pool in pools):
        detail = "It is still on its bonding curve"
    elif rendered.summary.has_enough_liquidity is False:
        detail = "Its pool holds too little"
    else:
        detail = "No trade could be simulated"
    return Tile(name=name, tone="unknown", answer="Not tested", detail=detail)


def _taxed(name: str, tax: float | None, detail: str) -> Tile:
    """Build the tile of trades that work."""
    if tax is None:
        return Tile(name=name, tone="unknown", answer="Works", detail="The tax is unknown")
    if tax >= HEAVY_TAX_PCT:
        return Tile(name=name, tone="bad", answer=f"You lose {percent(tax)}", detail=detail)
    if tax >= SHOWN_TAX_PCT:
        tone: TileTone = "warn" if tax >= ELEVATED_TAX_PCT else "plain"
        return Tile(name=name, tone=tone, answer=f"{percent(tax)} tax", detail=detail)
    return Tile(name=name, tone="good", answer="Works", detail=detail)


def _buy(rendered: RenderedReport) -> Tile:
    can_buy, pool = rendered.summary.can_buy, _traded(rendered)
    if can_buy is None or pool is None:
        return _untested(rendered, "Buy")
    if not can_buy:
        detail = capital(refusal_reason(rendered) or "every simulated buy fails")
        return Tile(name="Buy", tone="bad", answer="Blocked", detail=detail)
    tax = figure(pool.buy_tax)
    detail = _taker(rendered) if tax is not None and tax >= SHOWN_TAX_PCT else "No tax"
    return _with_fee(_taxed("Buy", tax, detail), rendered)


def _taker(rendered: RenderedReport) -> str:
    """Return who takes a tax, or can change it. Empty: nobody is known."""
    if takes_tax(rendered):
        return f"Taken by {HOOK}"
    key = "tax_can_be_modified"
    is_active = any(flag.key == key and flag.active for flag in rendered.summary.flags)
    return _told(rendered, key) if is_active else ""


def _with_fee(tile: Tile, rendered: RenderedReport) -> Tile:
    """Return the tile of trades that work, with the fee or the only router of the pool's hook."""
    hook = hook_of(rendered)
    if tile.tone not in ("good", "plain") or hook is None:
        return tile
    if hook.fee_pct is not None and hook_fee_clause(rendered) is not None:
        answer, detail = f"{percent(hook.fee_pct)} fee", f"Set by {HOOK}"
        return Tile(name=tile.name, tone="warn", answer=answer, detail=detail)
    if hook.only_router is not None:
        detail = f"Only through one router, {short(hook.only_router)}"
        return Tile(name=tile.name, tone="plain", answer=tile.answer, detail=detail)
    return tile


_LATER: Final = {
    "sell_blocked_later": "Stops later",
    "sell_tax_rises": "Tax rises later",
    "sell_blocked_after_others": "Stops after others trade",
    "sell_depends_on_size": "Not for everyone",
    "sell_depends_on_conditions": "Not always",
    "dominant_pool_unsellable": "Not in its largest pool",
    "untested_conditions": "Works, with untested limits",
}
"""Check -> answer of the tile where a sale works today."""


def _sell(rendered: RenderedReport) -> Tile:
    can_sell, pool = rendered.summary.can_sell, _traded(rendered)
    if can_sell is None or pool is None:
        return _untested(rendered, "Sell")
    if not can_sell:
        return Tile(name="Sell", tone="bad", answer="Blocked", detail=_why_unsellable(rendered))
    tax = figure(pool.sell_tax)
    if tax is not None and tax >= HEAVY_TAX_PCT:
        return _taxed("Sell", tax, "of what the tokens are worth")
    limit = _found(rendered, *_LATER)
    if limit is not None:
        tone: TileTone = "warn" if limit == "untested_conditions" else "bad"
        return Tile(name="Sell", tone=tone, answer=_LATER[limit], detail=_told(rendered, limit))
    wait = next((flag for flag in rendered.summary.flags if flag.key == "trading_cooldown"), None)
    if wait is not None and wait.active:
        detail = _told(rendered, wait.key)
        tone = "warn" if wait.status == "warning" else "plain"
        return Tile(name="Sell", tone=tone, answer="Works after a wait", detail=detail)
    detail = _tested_sales(rendered)
    if tax is not None and tax >= SHOWN_TAX_PCT:
        detail = _taker(rendered) or detail
    return _with_fee(_taxed("Sell", tax, detail), rendered)


def _why_unsellable(rendered: RenderedReport) -> str:
    if is_owner_alone(rendered):
        return "Only the owner can sell it"
    if is_by_hook(rendered):
        return f"{capital(HOOK)} blocks every sale"
    reason = refusal_reason(rendered) or "every simulated sale fails"
    return f"{capital(reason)}{', but the owner can sell' if owner_sells(rendered) else ''}"


def _tested_sales(rendered: RenderedReport) -> str:
    """Return the range of sales that work."""
    unknown = {flag.key for flag in rendered.summary.flags if flag.status == "unknown"}
    keys = rendered.proofs.keys_under("sell_later")
    later = next((rendered.proofs.outcome(key, LaterSeen) for key in keys), None)
    sold = next(
        (rendered.proofs.outcome(key, SoldSeen) for key in rendered.proofs.keys_under("sell")), None
    )
    sizes = len(sold.sizes) if sold is not None else 0
    parts = [f"at {spelled(sizes)} sizes"] if sizes > 1 else []
    if "sell_blocked_later" in unknown:
        return f"{', '.join(['Today', *parts])}. Later is unknown"
    if later is not None:
        parts.append("now to 30 days later")
    return capital(", ".join(parts))


def _transfer(rendered: RenderedReport) -> Tile:
    token = rendered.report.token
    if token.transfer_success is None:
        return Tile(name="Transfer", tone="unknown", answer="Not tested")
    if not token.transfer_success:
        detail = capital(refusal_reason(rendered) or "transfers between wallets fail")
        return Tile(name="Transfer", tone="bad", answer="Blocked", detail=detail)
    limit = _found(rendered, "transfer_restrictions")
    if limit is not None:
        return Tile(name="Transfer", tone="warn", answer="Limited", detail=_told(rendered, limit))
    tax = max(token.send_tax or 0.0, token.receive_tax or 0.0)
    return _taxed("Transfer", tax, "No tax" if tax < SHOWN_TAX_PCT else "")


# --- liquidity ---------------------------------------------------------------------------------


def _liquidity(rendered: RenderedReport) -> Tile:
    tone, answer, detail = _liquidity_words(rendered)
    return Tile(name="Liquidity", tone=tone, answer=answer, detail=detail)


def _liquidity_words(rendered: RenderedReport) -> tuple[TileTone, str, str]:
    summary, risk, pools = (
        rendered.summary,
        rendered.report.scan.liquidity_risk,
        rendered.native.dex,
    )
    total = summary.total_liquidity_usd
    amount = "Unknown" if total is None else usd(total)
    if summary.has_enough_liquidity is False:
        answer = f"{amount}, too little" if pools else "None"
        return "warn", answer, _told(rendered, "has_enough_liquidity")
    if pools and all(pool.is_launchpad for pool in pools):
        return "plain", amount, "On its bonding curve"
    if risk == "withdrawable":
        return "bad", f"{amount}, not locked", _who_withdraws(rendered)
    if risk == "held":
        return "good", f"{amount}{_kept_how(rendered)}", _kept_detail(rendered)
    tone: TileTone = "plain" if risk == "unknown_old" or risk is None else "unknown"
    return tone, amount, f"It is unknown {CHECK_WORDS['liquidity_can_leave'].unknown}"


def _who_withdraws(rendered: RenderedReport) -> str:
    found = rendered.proofs.liquidity()
    first = found.holders[0] if found is not None and found.holders else None
    if first is None or not first.can_withdraw or first.share_pct < 100 * _MOST:
        return _told(rendered, "liquidity_can_leave")
    who = withdrawer_name(rendered, first)
    return f"{capital(who.rstrip(','))} can withdraw {percent(first.share_pct)} of it"


def _shares(rendered: RenderedReport) -> tuple[float, float]:
    """Return the burnt and the locked share of the deepest pool, 0 to 1."""
    found = rendered.proofs.liquidity()
    first = found.pools[0].shares if found is not None and found.pools else None
    return (0.0, 0.0) if first is None else (first.burnt_share, first.locked_share)


def _kept_how(rendered: RenderedReport) -> str:
    burnt, locked = _shares(rendered)
    if burnt >= _MOST:
        return ", burnt"
    return ", locked" if burnt + locked >= _MOST else ""


def _kept_detail(rendered: RenderedReport) -> str:
    burnt, locked = _shares(rendered)
    if burnt >= _MOST:
        return f"{percent(100 * burnt)} is out of everyone's reach"
    found = rendered.proofs.liquidity()
    ends = [one.unlocks_at_s for one in (found.holders if found else ()) if one.unlocks_at_s]
    if locked and ends:
        return f"{percent(100 * locked)} locked, the first part until {day(min(ends))}"
    return capital(CHECK_WORDS["liquidity_can_leave"].fine)


# --- owner and powers --------------------------------------------------------------------------

_HELD_OUT: Final[dict[str, str]] = {
    "balances_can_be_created": "Anyone can create tokens",
    **dict.fromkeys(("funds_can_be_drained", "allowance_bypass"), "Can take your tokens"),
    **dict.fromkeys(("disguised_code", "view_function_modifies_state"), "Hidden code"),
    "owner_can_change_balance": "Can change your balance",
}
"""Check -> answer, of what is worse than any power."""

_NAMED_ACTS: Final[dict[str, str]] = {
    "mint_or_burn_function": "Supply can change",
    "pause_status_can_be_modified": "Can be paused",
    "access_restrictions": "Can block addresses",
    "is_proxy": "Code can change",
    "tax_can_be_modified": "Tax can change",
    **dict.fromkeys(
        ("trading_cap_can_be_modified", "position_cap_can_be_modified"), "Limits can change"
    ),
    "hidden_owner_controls": "Hidden control",
    "timebomb": "Depends on the time",
    **dict.fromkeys(("holder_concentration", "creator_holds_supply"), "Large holder"),
    "unproved_code": "Not proved",
    "ownership_not_renounced": "Has an owner",
}
"""Check -> answer, where no power is known one by one."""


def _powers(rendered: RenderedReport) -> Tile:
    name = "Owner and powers"
    key = _found(rendered, *_HELD_OUT)
    if key is not None:
        return Tile(name=name, tone="bad", answer=_HELD_OUT[key], detail=_told(rendered, key))
    powers = [
        power
        for power in hurtful_powers(rendered.report)
        if power.what != "withdraw" and power.bound != "tight"  # other tiles have these
    ]
    worst = min(powers, key=rank_of, default=None)
    if worst is not None:
        return _of_powers(rendered, name, worst, others=len({each.what for each in powers}) - 1)
    key = _found(rendered, *_NAMED_ACTS)
    if key is not None:
        return Tile(name=name, tone="warn", answer=_NAMED_ACTS[key], detail=_told(rendered, key))
    return _harmless(rendered, name)


def _of_powers(rendered: RenderedReport, name: str, worst: Power, *, others: int) -> Tile:
    """Build the tile of powers that can hurt: the worst, and its holder."""
    check = next((key for key, of in POWER_FIELDS.items() if worst.check in of), worst.check)
    who = power_holder(rendered, check)
    answer = f"Can {ACTS[worst.what]}"
    holder = f"Held by {who.rstrip(',')}" if who else _told(rendered, check)
    if worst.what == "tax" and hook_fee_clause(rendered) is not None:
        answer, holder = "Can change the fee", f"Held by {HOOK}"
    more = f", with {spelled(others)} more" if others else ""
    return Tile(name=name, tone="warn", answer=answer, detail=f"{holder}{more}")


def _harmless(rendered: RenderedReport, name: str) -> Tile:
    native, report = rendered.native, rendered.report
    if not report.are_powers_known:
        detail = "Parts of the code could not be followed"
        return Tile(name=name, tone="unknown", answer="Unknown", detail=detail)
    has_owner = native.owner_address is not None and not native.ownership_renounced
    if report.powers:
        return Tile(
            name=name, tone="good", answer="Harmless", detail="Nobody can hurt holders alone"
        )
    detail = "The owner can do nothing to holders" if has_owner else "Nobody has power over holders"
    return Tile(
        name=name, tone="good", answer="No powers" if has_owner else "No owner", detail=detail
    )
