"""Powers over a token at one block: by check, with the accounts that hold them and their bounds.

Inputs: the static powers of the code, the setters that can still run, and the storage that they
name. Pure.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

import msgspec

from analysis.static.evm.expressions import lowest_bit
from analysis.static.powers.static_powers import Setter, StaticPower, StaticPowers
from analysis.static.token_model.caps.cap_rules import CapRule, slots_in
from analysis.static.token_model.conditions.trade_conditions import (
    TradeCondition,
    TradeConditions,
    VariableKey,
)
from analysis.token.cap_evaluation import CapInput, CapLimits, is_monotonic, least_allowed
from analysis.token.contract_clock import ContractClock
from analysis.token.deployed_code import DeployedCode
from analysis.token.live_setters import LiveSetters
from analysis.token.owner_controls import OwnerControls, rules_of
from analysis.token.setter_bounds import Interval, most_tax_pct, value_bounds
from analysis.token.timebomb_status import place
from core.evm.primitives import Address, Hash32, RawAmount, Selector
from core.report.fields.field import Pending
from core.report.powers import HolderKind, Power, PowerKind

_PROXY: Final = "is_proxy"
_HIDDEN: Final = "hidden_owner_controls"
_LEAST_CAP_SHARE: Final = 100
"""Share of the supply, as a divisor, below which a cap in force hurts ordinary holders."""
_LOW_TAX_PCT: Final = 10.0
"""Percent. A tax that cannot exceed it is no more than `elevated_tax` allows."""

TRADING_CAP: Final = "trading_cap_can_be_modified"
POSITION_CAP: Final = "position_cap_can_be_modified"
_MOST_COMBINATIONS: Final = 64

_CLOCKS: Final = frozenset({"time", "block"})


class _Use(msgspec.Struct, frozen=True, kw_only=True):
    check: str
    what: PowerKind
    kind: HolderKind
    holder: Address | None
    bound: str | None = None


def find_powers(
    powers: StaticPowers,
    live: LiveSetters,
    conditions: TradeConditions,
    controls: OwnerControls,
    caps: CapInput,
) -> tuple[Power, ...]:
    """Return the powers with their holders; an account's kind is `unknown` until it is read.

    `conditions`: those of the token's trades, which a bounded value must not turn.
    """
    bounds = _Bounds(powers, live, rules_of(conditions), caps)
    uses: dict[_Use, list[Selector]] = {}
    for power in powers.powers:
        what = power.what if power.field != _HIDDEN else _hidden_kind(power, controls)
        if what is None:
            continue
        found = [each for each in power.setters if live.is_live(each)]
        bound = bounds.of(power, found)
        if not found:
            use = _Use(check=power.field, what=what, kind="nobody", holder=None)
            uses.setdefault(use, []).extend(each.selector for each in power.setters)
        for setter in found:
            for kind, holder in _holders(live, setter):
                use = _Use(check=power.field, what=what, kind=kind, holder=holder, bound=bound)
                uses.setdefault(use, []).append(setter.selector)
    if controls.has_hidden_hook:
        uses[_Use(check=_HIDDEN, what="condition", kind="unknown", holder=None)] = []
    return tuple(
        Power(
            check=use.check,
            what=use.what,
            holder_kind=use.kind,
            holder=use.holder,
            functions=tuple(dict.fromkeys(functions)),
            bound="none" if use.bound is None else "low",
            detail=use.bound,
        )
        for use, functions in _without_dead_twins(uses)
    )


def _hidden_kind(power: StaticPower, controls: OwnerControls) -> PowerKind | None:
    """Return the act of a power over conditions. None: another field explains its variable."""
    variables = {each.variable for each in power.setters}
    if variables & controls.returned:
        return "disguise"
    if variables & controls.named:
        return "block"
    return "condition" if variables & controls.hidden else None


class _Bounds:
    """Bounds of the powers of one code, as text."""

    def __init__(
        self,
        powers: StaticPowers,
        live: LiveSetters,
        rules: Mapping[VariableKey, Collection[str]],
        caps: CapInput,
    ) -> None:
        """`rules`: by which each variable decides on trades, besides its value."""
        self._live, self._rules, self._supply_raw = live, rules, caps.supply_raw
        self._rates = {slot for taxed in powers.taxed for slot in slots_in(taxed.steps)}
        self._of_fields: dict[tuple[Hash32, Hash32], Interval] = {}
        for power in powers.powers:
            setters = [each for each in power.setters if live.is_live(each)]
            found = value_bounds(setters, live)
            if found is not None and setters[0].slot is not None:
                self._of_fields[setters[0].slot, setters[0].bits] = found
        self._least_cap = find_least_cap(
            powers, live, caps, field=TRADING_CAP, rule=caps.rules.trading
        )
        self._most_tax_pct = max(
            (most_tax_pct(each, self._of_fields, live) for each in powers.taxed), default=None
        )

    def of(self, power: StaticPower, setters: Sequence[Setter]) -> str | None:
        """Return the bound of a power that its live setters keep low. None: it is not low."""
        if not setters or not self._is_ruled(power, setters):
            return None
        cap, supply_raw, tax_pct = self._least_cap, self._supply_raw, self._most_tax_pct
        if power.field == TRADING_CAP and cap is not None:
            is_fair = cap * _LEAST_CAP_SHARE >= supply_raw > 0
            return f"at least {100 * cap / supply_raw:.3g} % of the supply" if is_fair else None
        if power.what == "tax" and tax_pct is not None and tax_pct <= _LOW_TAX_PCT:
            return f"at most {tax_pct:.3g} %"
        return None

    def _is_ruled(self, power: StaticPower, setters: Sequence[Setter]) -> bool:
        """True if the variable decides on trades only as a power of its kind does.

        A tax is a rate in the amounts, tested for zero at most; a cap is compared with amounts.
        """
        usual = {"zero"} if power.what == "tax" else {"zero", "amount"}
        is_rate = power.what != "tax" or all(each.slot in self._rates for each in setters)
        return is_rate and all(
            usual.issuperset(self._rules.get(each.variable, ())) for each in setters
        )


def find_least_cap(
    powers: StaticPowers, live: LiveSetters, caps: CapInput, *, field: str, rule: CapRule | None
) -> int | None:
    """Return the least amount that a rule allows, however live setters leave the cap's storage.

    `field`: the check of the powers over it. None: a variable is not bounded, no setter is live, or
    there is no rule to evaluate.
    """
    choices: dict[Hash32, set[int]] = {}
    for power in powers.powers:
        setters = [each for each in power.setters if live.is_live(each)]
        if power.field != field or not setters:
            continue
        found = _words_of(setters, live)
        if found is None:
            return None
        slot, words = found
        if choices.setdefault(slot, words) != words:
            return None  # two variables share the slot
    if rule is None or not choices or prod(map(len, choices.values())) > _MOST_COMBINATIONS:
        return None
    if not is_monotonic(rule, choices):
        return None
    return min(
        least_allowed(rule, caps, dict(zip(choices, words, strict=True)))
        for words in product(*map(sorted, choices.values()))
    )


def _words_of(setters: Sequence[Setter], live: LiveSetters) -> tuple[Hash32, set[int]] | None:
    """Return the slot of a variable, and the extreme words that it can hold."""
    bounds, slot = value_bounds(setters, live), setters[0].slot
    word = None if slot is None else live.words.get(slot)
    if bounds is None or slot is None or word is None:
        return None
    mask = int(setters[0].bits, 16)
    shift = lowest_bit(mask)
    return slot, {word & ~mask | (value << shift & mask) for value in (*bounds, word >> shift)}


def _holders(live: LiveSetters, setter: Setter) -> Iterator[tuple[HolderKind, Address | None]]:
    if setter.authority == "self":
        yield "anybody", None
        return
    if setter.authority != "named":
        yield setter.authority, None
        return
    callers = live.callers(setter)
    if not callers:
        yield "unknown", None
    for address in sorted(callers, key=str):
        yield ("list", None) if address is None else ("unknown", address)


def replacement_powers(code: DeployedCode, live: LiveSetters) -> Iterator[Power]:
    """Yield the powers to replace the code of a proxy, and those of functions that may store
    anywhere."""
    setters = [*code.powers.wild]
    if code.findings.is_proxy and code.is_replaceable is False:
        yield Power(check=_PROXY, what="replace", holder_kind="nobody")
    elif code.findings.is_proxy:
        slots = code.target_slots
        targets = [each for each in code.powers.setters if each.slot in slots]
        if not slots or code.has_beacon or not code.powers.is_complete:
            yield Power(check=_PROXY, what="replace", holder_kind="unknown")
        elif not any(live.is_live(each) for each in (*targets, *setters)):
            yield Power(check=_PROXY, what="replace", holder_kind="nobody")
        setters += targets
    check = _PROXY if code.findings.is_proxy else _HIDDEN
    for setter in filter(live.is_live, setters):
        for kind, holder in _holders(live, setter):
            yield Power(
                check=check,
                what="replace",
                holder_kind=kind,
                holder=holder,
                functions=(setter.selector,),
            )


def settled_names(powers: Iterable[Power], *, is_harm: bool | None) -> Iterator[Power]:
    """Yield the powers, those over addresses out of reach if no trade came to harm by them.

    `is_harm`: a trade did, with the address of one of its parties. None: not simulated.
    """
    for power in powers:
        if power.check == _HIDDEN and power.what == "block" and is_harm is False:
            detail = "trades pass with any party in its place"
            yield msgspec.structs.replace(power, bound="unreachable", detail=detail)
        else:
            yield power


def tight_caps(limits: CapLimits, supply_raw: RawAmount) -> Iterator[Power]:
    """Yield the caps in force that are below one percent of the supply."""
    for check, limit_raw in (
        (TRADING_CAP, limits.transfer_raw),
        (POSITION_CAP, limits.holding_raw),
    ):
        if limit_raw is not None and limit_raw * _LEAST_CAP_SHARE < supply_raw:
            yield Power(check=check, what="cap", holder_kind="nobody", bound="tight")


def clock_powers(
    conditions: TradeConditions,
    clock: ContractClock | None,
    *,
    is_found: bool | Pending | None,
    is_settled: bool,
) -> Iterator[Power]:
    """Yield the power of the clock over trades, where it is known to be none.

    `is_found`: the code compares the clock with something. `is_settled`: every condition of a
    trade was simulated both ways within 30 days, and no sale came to harm. Conditions that follow
    acts of a party on its own account are not simulated.
    """
    on_clock = [
        each
        for each in conditions.conditions
        if not _CLOCKS.isdisjoint(each.sources) and each.effect != "marks"
    ]
    is_far = clock is not None and all(_is_far(each, clock) for each in conditions.by_own_acts)
    if (
        is_found is not True
        or not conditions.is_complete
        or (conditions.by_own_acts and not is_far)
    ):
        return
    if not on_clock:
        yield Power(
            check="timebomb",
            what="condition",
            holder_kind="nobody",
            bound="unreachable",
            detail="no trade depends on it",
        )
    elif is_settled and not any("own" in each.sources for each in on_clock):
        yield Power(check="timebomb", what="condition", holder_kind="trades")


def _is_far(condition: TradeCondition, clock: ContractClock) -> bool:
    """True if the clock is compared with constants alone, and reaches none of them in practice."""
    numbers = [step.word for step in condition.steps if step.operation == "number"]
    values = [int(word, 16) for word in numbers if word is not None]
    return (
        _CLOCKS.issuperset(condition.sources)
        and bool(values)
        and all(place(value, clock) == "limit" for value in values)
    )


def _without_dead_twins(
    uses: Mapping[_Use, list[Selector]],
) -> Iterable[tuple[_Use, list[Selector]]]:
    """Leave out `nobody` where the same power of the same check has a live holder."""
    live = {(use.check, use.what) for use in uses if use.kind != "nobody"}
    return [
        (use, functions)
        for use, functions in uses.items()
        if use.kind != "nobody" or (use.check, use.what) not in live
    ]
