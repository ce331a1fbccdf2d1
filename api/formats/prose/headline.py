"""The headline: short sentences on the faults of a token, worst first, made from its report. Pure.

Nothing untested is called good: without a finding, they count the checks without an answer.
"""

from collections.abc import Iterator
from typing import Final

from api.formats.prose.check_words import CHECK_WORDS, capital
from api.formats.prose.cliff_clauses import cliff_clause
from api.formats.prose.finding_clauses import wrong_clause
from api.formats.prose.hook_clauses import hook_fee_clause, router_clause
from api.formats.prose.prose import spelled
from api.formats.prose.rendered_report import RenderedReport
from api.formats.prose.time_clauses import far_date
from api.formats.prose.trade_clauses import tax_clause, trade_refusal
from api.formats.summary.flags import large_holders
from api.formats.summary.power_checks import OF_CODE, is_established

_MOST_CLAUSES: Final = 2
_PUNCTUATION: Final = frozenset(".,:")

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
_OPEN: Final = (*_DANGERS, _LIQUIDITY, "untested_conditions", "unproved_code")
"""Checks that need an answer before a token counts as safe, the worst first."""

_CREATION: Final = "disguised_code"

_WAIT: Final = "trading_cooldown"
"""A check that is worth a clause even where it is no warning."""

_SET_TAX: Final = "tax_can_be_modified"

_PENDING: Final = "trades are still being simulated"


def headline_of(rendered: RenderedReport) -> str:
    """Return one to four short sentences, the most important first, without the last full stop."""
    clauses = _with_joined_acts([*_clauses(rendered)][:_MOST_CLAUSES])
    summary, router = rendered.summary, router_clause(rendered)
    if router is not None and _is_traded(rendered):
        clauses = [router, *clauses][:_MOST_CLAUSES]
    cliff = cliff_clause(rendered)
    if cliff is not None:
        clauses = clauses[: _MOST_CLAUSES - 1]
    cliff_place = len(clauses)
    if not clauses:
        clauses = _untroubled(rendered)
    elif summary.verdict == "safe":
        clauses.append("no other problems found")
    elif summary.verdict != "danger":
        clauses = _with_context(rendered, clauses)
    if cliff is not None:
        clauses = [*clauses[:cliff_place], cliff, *clauses[cliff_place:]]
    if not rendered.report.token.is_settled:
        clauses.append("the analysis is still running")
    return ". ".join(map(capital, clauses))


def refusal_headline(error: str) -> str:
    """Return the sentence for an address that was not analysed. `error`: prose of the refusal."""
    return f"Not analysed: {error.rstrip('.')}" if error else "Not analysed"


def _with_joined_acts(clauses: list[str]) -> list[str]:
    """Return two clauses on one holder as one: "the owner can pause all transfers and create
    tokens"."""
    parts = [clause.partition(" can ") for clause in clauses]
    holders = {holder for holder, *_ in parts}
    acts = [act for *_, act in parts]
    if len(acts) < _MOST_CLAUSES or len(holders) > 1 or holders == {"you"}:
        return clauses
    return clauses if _PUNCTUATION & {*"".join(acts)} else [f"{clauses[0]} and {acts[1]}"]


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
    dangers = {flag.key for flag in rendered.summary.flags if flag.status == "danger"}
    for key in sorted(RANKED, key=lambda key: key not in dangers):
        if key not in found or key in implied:
            continue
        implied.update(_IMPLIED.get(key, ()))
        if key == _SET_TAX and hook_fee_clause(rendered) is not None:
            implied.add("elevated_tax")
        if key == "elevated_tax" and taxes and _SET_TAX not in implied and _is_tax_set(rendered):
            implied.add(_SET_TAX)
            yield f"{taxes}. {capital(wrong_clause(_SET_TAX, rendered))}"
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
    """Add the context of a warning: that trades work or were not tested, or an open danger."""
    summary, first = rendered.summary, clauses[0]
    if summary.can_buy is None and summary.can_sell is None:
        if _is_pending(rendered):
            return [first, _PENDING]
        if summary.has_enough_liquidity is False:
            return [f"{first}, so no trades were tested"]
        if _is_on_curve(rendered):
            return [_untested(rendered), first]
        return [first, _untested(rendered)]
    if _is_traded(rendered) and not first.startswith(("you can", "you pay")):
        clauses = [f"you can buy and sell it, but {first}", *clauses[1:]]
    unknown = _open_danger(rendered)
    return [*clauses, f"it is unknown {CHECK_WORDS[unknown].unknown}"] if unknown else clauses


def _is_traded(rendered: RenderedReport) -> bool:
    return rendered.summary.can_buy is True and rendered.summary.can_sell is True


def _open_danger(rendered: RenderedReport) -> str | None:
    """Return the worst check without an answer that a safe token needs. None: there is none."""
    unknown = _unknown(rendered)
    return next((key for key in _OPEN if key in unknown), None)


def _unknown(rendered: RenderedReport) -> frozenset[str]:
    """Return the checks without an answer."""
    settled = OF_CODE if is_established(rendered.report) else frozenset[str]()
    return frozenset(
        flag.key
        for flag in rendered.summary.flags
        if flag.status == "unknown"
        and flag.key not in settled
        # A creation or liquidity that was not examined is no open question.
        and flag.key != _CREATION
        and not (flag.key == _LIQUIDITY and rendered.report.scan.liquidity_risk is None)
    )


def _untroubled(rendered: RenderedReport) -> list[str]:
    """Return the sentences for a token without findings, with what was left out."""
    summary, unknown = rendered.summary, _open_danger(rendered)
    if summary.can_buy is None and summary.can_sell is None:
        why = _PENDING if _is_pending(rendered) else _untested(rendered)
        return [why, *_passed(rendered)]
    if summary.verdict != "safe" and unknown is not None:
        more = summary.unknown_flag_count - 1
        why = f"it is unknown {CHECK_WORDS[unknown].unknown}"
        if not _is_traded(rendered):
            return [*_passed(rendered), why]
        checks = "check" if more == 1 else "checks"
        others = [f"{spelled(more)} more {checks} could not be answered"] if more > 0 else []
        return [f"you can buy and sell it, but {why}", *others]
    date = far_date(rendered)
    return [*_passed(rendered), *([f"its code names a date, {date}"] if date else [])]


def _passed(rendered: RenderedReport) -> list[str]:
    """Return how many checks found no problem, and how many have no answer."""
    count, total = rendered.summary.unknown_flag_count, rendered.summary.total_flag_count
    if not count:
        return [f"no problems found in {total} checks"]
    answered = f"no problems found in {total - count} of {total} checks"
    return [answered, f"{spelled(count)} could not be answered"]


def _is_pending(rendered: RenderedReport) -> bool:
    return any("pending" in (pool.buy_success, pool.sell_success) for pool in rendered.native.dex)


def _is_on_curve(rendered: RenderedReport) -> bool:
    pools = rendered.report.pools
    return bool(pools) and all(pool.is_launchpad for pool in pools or ())


def _untested(rendered: RenderedReport) -> str:
    """Return that no trade was tested, with the reason where it is known."""
    pools = rendered.report.pools
    if not pools:
        return (
            "it has no pool, so no trades were tested" if pools == () else "no trades were tested"
        )
    if _is_on_curve(rendered):
        return "it is still on its bonding curve, so no trades were tested"
    why = f" ({pools[0].error_message})" if pools[0].error_message else ""
    return f"no trades were tested{why}"
