"""The headline: one sentence on the faults of a token, worst first, made from its report. Pure.

Nothing untested is called good: without a finding, the sentence counts the checks without an
answer.
"""

from collections.abc import Iterator
from typing import Final

from api.formats.prose.check_words import CHECK_WORDS
from api.formats.prose.finding_clauses import wrong_clause
from api.formats.prose.rendered_report import RenderedReport
from api.formats.prose.time_clauses import far_date
from api.formats.prose.trade_clauses import tax_clause, trade_refusal
from api.formats.summary.flags import large_holders

_MOST_CLAUSES: Final = 2

_DANGERS: Final = (
    *("balances_can_be_created", "funds_can_be_drained", "allowance_bypass"),
    *("disguised_code", "owner_can_change_balance", "high_tax"),
    *("sell_blocked_later", "sell_tax_rises", "sell_blocked_after_others", "sell_depends_on_size"),
    *("sell_depends_on_conditions", "dominant_pool_unsellable", "transfer_failed"),
    "view_function_modifies_state",
)
_WARNINGS: Final = (
    *("has_enough_liquidity", "transfer_restrictions", "elevated_tax", "tax_can_be_modified"),
    *("trading_cooldown", "pause_status_can_be_modified", "access_restrictions", "is_proxy"),
    *("mint_or_burn_function", "hidden_owner_controls"),
    *("trading_cap_can_be_modified", "position_cap_can_be_modified", "timebomb"),
    *("untested_conditions", "unproved_code", "liquidity_can_leave"),
    *("holder_concentration", "creator_holds_supply"),
    "ownership_not_renounced",
)
RANKED: Final = (*_DANGERS, *_WARNINGS)
"""Every check that can be a danger or a warning, the worst first."""

_IMPLIED: Final[dict[str, tuple[str, ...]]] = {
    "trade": ("dominant_pool_unsellable", "transfer_failed"),
    "balances_can_be_created": ("mint_or_burn_function", "unproved_code"),
    "funds_can_be_drained": ("allowance_bypass", "unproved_code"),
    "allowance_bypass": ("unproved_code",),
    "high_tax": ("elevated_tax", "tax_can_be_modified"),
    "sell_blocked_later": ("timebomb", "sell_blocked_after_others"),
    "trading_cooldown": ("timebomb",),
    "transfer_restrictions": ("trading_cap_can_be_modified", "position_cap_can_be_modified"),
    "is_proxy": ("mint_or_burn_function", "unproved_code"),
}
"""Check -> checks that add nothing next to it."""

_LIQUIDITY: Final = "liquidity_can_leave"
"""A warning that needs an answer before a token counts as safe."""

_CREATION: Final = "disguised_code"

_WAIT: Final = "trading_cooldown"
"""A check that is worth a clause even where it is no warning."""

_SET_TAX: Final = "tax_can_be_modified"

_PENDING: Final = "trades are still being simulated"
_STANDING: Final = "nothing tested stands against it"


def headline_of(rendered: RenderedReport) -> str:
    """Return one sentence without a full stop."""
    summary = rendered.summary
    clauses = [*_clauses(rendered)][:_MOST_CLAUSES]
    if not clauses:
        clauses = [_untroubled(rendered)]
        named = [_LIQUIDITY] if _LIQUIDITY in _unknown(rendered) else []
        clauses += [CHECK_WORDS[key].unknown for key in named]
        if summary.unknown_flag_count > len(named):
            clauses.append(_unanswered(rendered))
    elif summary.verdict == "safe" and not _waits(rendered):
        clauses.append("nothing else tested stands against it")
    elif summary.verdict != "danger":
        clauses = _with_context(rendered, clauses)
    if not rendered.report.token.is_settled:
        clauses.append("the analysis is still under way")
    sentence = "; ".join(clauses)
    return sentence if sentence.startswith("0x") else sentence[:1].upper() + sentence[1:]


def refusal_headline(error: str) -> str:
    """Return the sentence for an address that was not analysed. `error`: prose of the refusal."""
    return f"Not analysed: {error.rstrip('.')}" if error else "Not analysed"


def _clauses(rendered: RenderedReport) -> Iterator[str]:
    """Yield the faults, worst first; what one clause implies is not repeated."""
    implied: set[str] = set()
    refusal = trade_refusal(rendered)
    if refusal is not None:
        yield refusal
        implied.update(_IMPLIED["trade"])
        if rendered.summary.can_buy is not False:
            implied.add(_SET_TAX)
    found = {flag.key for flag in rendered.summary.flags if flag.status in ("danger", "warning")}
    found |= {_WAIT} if _waits(rendered) else set()
    taxes = tax_clause(rendered)
    if taxes is not None:
        found.add("elevated_tax")
    is_told = refusal is not None
    if _is_creators(rendered):
        implied.add("creator_holds_supply")
    for key in RANKED:
        if key not in found or key in implied:
            continue
        implied.update(_IMPLIED.get(key, ()))
        if key == "elevated_tax" and taxes and _SET_TAX not in implied and _is_tax_set(rendered):
            implied.add(_SET_TAX)
            yield f"{taxes}, and {wrong_clause(_SET_TAX, rendered)}"
        elif key != "ownership_not_renounced" or not is_told:
            yield wrong_clause(key, rendered)
        is_told = True


def _is_tax_set(rendered: RenderedReport) -> bool:
    """True if a tax can be changed, or could be once; the bound or the end is worth a clause."""
    return any(flag.key == _SET_TAX and flag.active for flag in rendered.summary.flags)


def _waits(rendered: RenderedReport) -> bool:
    return any(flag.key == _WAIT and flag.active for flag in rendered.summary.flags)


def _is_creators(rendered: RenderedReport) -> bool:
    """True if the largest holder is the creator, so that one clause covers both."""
    large = large_holders(rendered.report, rendered.custodians)
    return bool(large) and large[0].owner == rendered.report.token.creator_address


def _with_context(rendered: RenderedReport, clauses: list[str]) -> list[str]:
    """Add the context of a warning: that trades pass or were not tested, or an open danger."""
    summary = rendered.summary
    is_traded = summary.can_buy is True and summary.can_sell is True
    if is_traded and "taxed" not in clauses[0]:
        clauses = [f"you can buy and sell it, but {clauses[0]}", *clauses[1:]]
    open_checks = _unknown(rendered)
    unknown = next((key for key in (*_DANGERS, _LIQUIDITY) if key in open_checks), None)
    if summary.can_buy is None and summary.can_sell is None:
        why = "" if summary.has_enough_liquidity is False else _why_untested(rendered)
        untested = f"no trade was tested{why}"
        return [*clauses[:1], _PENDING if _is_pending(rendered) else untested]
    return [*clauses, CHECK_WORDS[unknown].unknown] if unknown else clauses


def _unknown(rendered: RenderedReport) -> frozenset[str]:
    """Return the checks without an answer."""
    return frozenset(
        flag.key
        for flag in rendered.summary.flags
        if flag.status == "unknown"
        # A creation or liquidity that was not examined is no open question.
        and flag.key != _CREATION
        and not (flag.key == _LIQUIDITY and rendered.report.scan.liquidity_risk is None)
    )


def _untroubled(rendered: RenderedReport) -> str:
    """Build the sentence for a token without findings, with what was left out."""
    if rendered.summary.can_buy is None and rendered.summary.can_sell is None:
        if _is_pending(rendered):
            return f"{_PENDING}; {_STANDING} so far"
        return f"no trade was tested{_why_untested(rendered)}; otherwise {_STANDING}"
    date = far_date(rendered)
    if date is not None:
        return f"{_STANDING} before {date}, a date in its code"
    return _STANDING


def _is_pending(rendered: RenderedReport) -> bool:
    return any("pending" in (pool.buy_success, pool.sell_success) for pool in rendered.native.dex)


def _why_untested(rendered: RenderedReport) -> str:
    pools = rendered.report.pools
    if not pools:
        return ", as it has no pool" if pools == () else ""
    if all(pool.is_launchpad for pool in pools):
        return f", as it still trades on the curve of {pools[0].dex}"
    return f" ({pools[0].error_message})" if pools[0].error_message else ""


def _unanswered(rendered: RenderedReport) -> str:
    count, total = rendered.summary.unknown_flag_count, rendered.summary.total_flag_count
    verb = "has" if count == 1 else "have"
    return f"{count} of {total} checks {verb} no answer"
