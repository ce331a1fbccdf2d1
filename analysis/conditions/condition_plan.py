"""Plan of what-if simulations: inputs that flip the branch conditions of a trade. Pure.

Each condition is solved by itself (`condition_solver`), then all stored inputs are set together. A
condition that cannot be evaluated, or depends on an input that no simulation can set, stays open,
with the reason.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import isqrt
from typing import Final

import msgspec

from analysis.conditions.condition_evaluator import address_of_word, elements_of
from analysis.conditions.condition_inputs import OrdinaryTrade, WhatIf
from analysis.conditions.condition_solver import ConditionSolver
from analysis.static.evm.expressions import lowest_bit
from analysis.static.token_model.caps.cap_rules import constant, slots_in
from analysis.static.token_model.conditions.trade_conditions import (
    ConditionEffect,
    TradeCondition,
    TradeConditions,
)
from core.evm.primitives import Address, Hash32, RawAmount, to_hash32

_MOST_WHAT_IFS: Final = 40
_NO_PARTY: Final = 0xA11CE << 80
_BURNT: Final = (0, 0xDEAD)
_TURNING: Final = frozenset[ConditionEffect]({"refuses", "leads", "writes"})


class ConditionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The what-ifs to simulate, and the conditions that each of them settles."""

    what_ifs: tuple[WhatIf, ...]
    sizes: tuple[WhatIf, ...]
    """Trades of sizes that no other simulation has, each of input `size`."""
    wanted: tuple[tuple[int, tuple[WhatIf, ...]], ...]
    """Simulations that settle a condition, by its number."""
    open: tuple[tuple[int, str], ...]
    """Reasons why conditions cannot be settled, by number."""


def slots_of(conditions: TradeConditions) -> tuple[Hash32, ...]:
    """Return the storage slots whose values a plan needs."""
    named = [slot for each in conditions.conditions for slot in slots_in(each.steps)]
    named += [slot for each in conditions.conditions for slot in _elements(each)]
    compared = [] if conditions.wait is None else [slot for slot, _ in conditions.wait.slots]
    compared += [slot for slot, *_ in conditions.named if slot is not None]
    return tuple(dict.fromkeys((*compared, *named)))


def deciding_slots_of(conditions: TradeConditions) -> tuple[Hash32, ...]:
    """Return the storage slots that trades depend on, without those of compilers' checks alone.

    Each trade moves some of those.
    """
    decided = tuple(each for each in conditions.conditions if each.effect != "overruns")
    return slots_of(msgspec.structs.replace(conditions, conditions=decided))


def _elements(condition: TradeCondition) -> Iterator[Hash32]:
    """Yield the slots of entries that are the same in every trade.

    Also those of lists of accounts whose balances are read.
    """
    keys = {step.arguments[0] for step in condition.steps if step.operation == "balance"}
    keys |= {each for key in keys for each in condition.steps[key].arguments}
    for number, step in enumerate(condition.steps):
        if step.operation == "mark":
            slot = constant(condition.steps, step.arguments[0], {})
            if slot is not None:
                yield to_hash32(slot)
            listed = elements_of(condition.steps, number) if number in keys else None
            if listed is not None:
                yield from (listed[0], *listed[1])


def callees_of(conditions: TradeConditions, words: Mapping[Hash32, int]) -> tuple[Address, ...]:
    """Return the contracts that conditions call, as far as code and storage name them."""
    found: dict[Address, None] = {}
    for condition in conditions.conditions:
        for step in condition.steps:
            if step.operation in ("answer", "callee"):
                target = constant(condition.steps, step.arguments[0], words)
                if target is not None:
                    found[address_of_word(target)] = None
    return tuple(found)


def make_plan(
    conditions: TradeConditions, setting: OrdinaryTrade, accounts: Collection[Address]
) -> ConditionPlan:
    """Plan the what-ifs of all conditions. `accounts`: callees that have no code and
    cannot get any."""
    what_ifs: dict[WhatIf, None] = {}
    wanted: dict[int, tuple[WhatIf, ...]] = {}
    open_: list[tuple[int, str]] = []
    pool_raw = RawAmount(setting.pool_balance_raw)
    span, boundaries, sized = size_span(pool_raw), set[int](), list[int]()
    for number, condition in enumerate(conditions.conditions):
        solver = ConditionSolver(condition, setting, accounts)
        if "amount" in condition.sources and condition.effect != "value":
            boundaries |= solver.size_boundaries(span)
            sized.append(number)
            if condition.effect in _TURNING and solver.turns_oddly(span[1]):
                open_.append((number, "it may turn at sizes that were not found"))
        found, reason = solver.solve()
        fresh = [each for each in found if each not in what_ifs]
        if len(what_ifs) + len(fresh) > _MOST_WHAT_IFS:
            open_.append((number, "more inputs to play than fit"))
            continue
        what_ifs.update(dict.fromkeys(fresh))
        wanted[number] = tuple(found)
        if reason is not None and condition.effect != "marks":
            open_.append((number, reason))
    sizes = trade_sizes(boundaries, pool_raw)
    of_sizes = tuple(WhatIf(input="size", value=size) for size in sizes.sizes)
    for number in sized:
        wanted[number] = (*wanted.get(number, ()), *of_sizes)
        if not sizes.is_complete and conditions.conditions[number].effect != "marks":
            open_.append((number, "more sizes to play than fit"))
    return ConditionPlan(
        what_ifs=(*what_ifs, *_together(tuple(what_ifs))),
        sizes=of_sizes,
        wanted=tuple(wanted.items()),
        open=tuple(open_),
    )


def renamed(conditions: TradeConditions, setting: OrdinaryTrade) -> Iterator[WhatIf]:
    """Yield each owner-set address as every party of a trade, as others, burnt, and as none. All of
    them together follow."""
    parties = [int(each, 16) for each in (setting.pool, setting.trader, setting.router)]
    others = [int(each, 16) for each in conditions.compared]
    named = [
        (slot, int(mask, 16))
        for slot, mask, _ in conditions.named
        if slot is not None and slot in setting.words
    ]
    for party in dict.fromkeys((*parties, *others, _NO_PARTY, *_BURNT)):
        words: dict[Hash32, int] = {}
        for slot, bits in named:
            value = party << lowest_bit(bits)
            yield from _as_names({slot: setting.words[slot] & ~bits | value}, setting)
            words[slot] = words.get(slot, setting.words[slot]) & ~bits | value
        if len(named) > 1:
            yield from _as_names(words, setting)


def _as_names(words: Mapping[Hash32, int], setting: OrdinaryTrade) -> Iterator[WhatIf]:
    """Yield one what-if that sets these words, without those that are stored already."""
    changed = [
        WhatIf(input="name", value=word, slot=slot, contract=setting.contract)
        for slot, word in words.items()
        if word != setting.words[slot]
    ]
    if changed:
        first, *also = changed
        yield msgspec.structs.replace(first, also=tuple(also))


def _together(what_ifs: Sequence[WhatIf]) -> Iterator[WhatIf]:
    """Yield what-ifs that set all stored inputs together, with the clock where one is set.

    A condition may be reached only after others have flipped. Two, as a variable may have two
    values.
    """
    stored = [each for each in what_ifs if each.is_stored]
    clocks = [each for each in what_ifs if each.input in ("time", "block") and not each.also]
    for order in (stored, stored[::-1]):
        by_place = {(each.input, each.slot, each.account): each for each in order}
        parts = [*clocks[-1:], *by_place.values()]
        if len(by_place) > 0 and len(parts) > 1:
            head, *rest = parts
            yield msgspec.structs.replace(head, also=tuple(rest), is_standing=True)


_USUAL_SHARES: Final = (2_300, 110, 23)
"""Divisors of the reserve: sizes that are bought and sold in any case, by `scenarios.buy`."""

_SMALLEST_SHARE: Final = 23_000
_LARGEST_SHARE: Final = 20
_MOST_SIZES: Final = 6
_NEAR: Final = (85, 102)
"""Percent of a usual size that lie within an interval with it: a tax on the buy makes the sale
smaller."""


class TradeSizes(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes to simulate."""

    sizes: tuple[RawAmount, ...]
    is_complete: bool
    """False: there are more intervals than are simulated."""


def size_span(pool_balance_raw: RawAmount) -> tuple[int, int]:
    """Return the smallest and largest size for which boundaries are looked for: up to 5 percent of
    what the pool holds."""
    return pool_balance_raw // _SMALLEST_SHARE + 1, pool_balance_raw // _LARGEST_SHARE


def trade_sizes(boundaries: Iterable[int], pool_balance_raw: RawAmount) -> TradeSizes:
    """Return one size for each interval without a usual one. `boundaries`: the first size of each
    interval."""
    low, high = size_span(pool_balance_raw)
    if low >= high:
        return TradeSizes(sizes=(), is_complete=True)
    inner = sorted({cut for cut in boundaries if low < cut <= high})
    usual = [pool_balance_raw // (share + 1) for share in _USUAL_SHARES]
    found = [
        RawAmount(max(start, min(end - 1, isqrt(start * end))))
        for start, end in pairwise((low, *inner, high + 1))
        if not any(_is_within(size, start, end) for size in usual)
    ]
    shown = found[:_MOST_SIZES]
    return TradeSizes(sizes=tuple(shown), is_complete=len(shown) == len(found))


def _is_within(size: int, start: int, end: int) -> bool:
    least, most = (size * percent // 100 for percent in _NEAR)
    return start <= least and most < end
