"""Evidence on hooks of traded pools: the fee that they set, what they take, and the only router.

A hook lets one router trade if its swap callbacks revert unless a word equals that router. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.hook_permissions import DYNAMIC_FEE, permissions_of_address
from analysis.static.token_model.conditions.trade_conditions import TradeCondition, TradeConditions
from core.evm.primitives import Address, Selector
from core.report.report import EvidenceRow

_SWAPS: Final = (Selector("0x575e24b4"), Selector("0xb47b2fb1"))
"""beforeSwap and afterSwap of Uniswap V4. Source: v4-core, IHooks."""

_EQUALITY: Final = {"EQ": False, "SUB": True, "XOR": True}
"""Comparison -> the value of it that reverts, as true or false, where equal words may pass."""


class TradedHook(msgspec.Struct, frozen=True, kw_only=True):
    """A pool with a hook, as it was traded."""

    candidate: Candidate
    router: Address
    fee_pct: float | None
    """Percent that the pool kept of a simulated buy. None: not known."""
    conditions: TradeConditions


class HookEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence on the hook of one pool."""

    pool: str
    """Address of the pool, or its id."""
    hook: Address
    takes_part: bool
    """True if it may take a part of a swap."""
    fee_pct: float | None
    """Fee of the pool in percent, where the hook sets it. None: it does not, or not known."""
    only_router: Address | None
    """The only router that it lets trade. None: no such rule was found."""


def hook_evidence(pools: Iterable[TradedHook]) -> Iterator[EvidenceRow]:
    """Yield the row `pool_hooks`, if there are hooks."""
    found = [_describe(pool, pool.candidate.hooks) for pool in pools if pool.candidate.hooks]
    if found:
        yield EvidenceRow(key="pool_hooks", body=msgspec.json.encode(found).decode())


def _describe(pool: TradedHook, hook: Address) -> HookEvidence:
    may = permissions_of_address(hook)
    rules = [one for one in pool.conditions.conditions if one.selector in _SWAPS]
    is_alone = any(_allows_only(rule, pool.router) for rule in rules)
    return HookEvidence(
        pool=pool.candidate.key,
        hook=hook,
        takes_part="before_swap_returns_delta" in may or "after_swap_returns_delta" in may,
        fee_pct=pool.fee_pct if pool.candidate.fee == DYNAMIC_FEE else None,
        only_router=pool.router if is_alone else None,
    )


def _allows_only(rule: TradeCondition, router: Address) -> bool:
    """True if the rule reverts unless a word equals the router."""
    if rule.effect != "refuses" or not rule.steps:
        return False
    last, fails_when = rule.steps[-1], rule.fails_when
    if fails_when is None:
        return False
    if last.operation == "ISZERO" and len(last.arguments) == 1:
        last, fails_when = rule.steps[last.arguments[0]], not fails_when
    if _EQUALITY.get(last.operation) is not fails_when:
        return False
    wanted = f"0x{router.removeprefix('0x').lower():0>64}"
    return any(rule.steps[at].word == wanted for at in last.arguments)


def traded_hooks(
    bought: Iterable[tuple[Candidate, Address, float | None]],
    conditions: Mapping[Address, TradeConditions],
) -> Iterator[TradedHook]:
    """Yield the pools with hooks among those traded: candidate, router and fee in percent."""
    for candidate, router, fee_pct in bought:
        if candidate.hooks is not None and candidate.hooks in conditions:
            yield TradedHook(
                candidate=candidate,
                router=router,
                fee_pct=fee_pct,
                conditions=conditions[candidate.hooks],
            )
