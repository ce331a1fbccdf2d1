"""Powers over a token at one block: which setters can still run, and the accounts that run them.

Inputs: the static powers of the code and the storage words that they name. A setter is dead if no
account that can act may call it, or a condition on storage that every path meets does not hold and
no live setter can change that. Least fixpoint over the setters: nothing is live without a cause.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from analysis.static.custody.custody_report import PrivilegedParty
from analysis.static.powers.static_powers import Setter, StateTest, StaticPowers
from analysis.static.token_model.caps.cap_rules import constant
from analysis.static.token_model.conditions.trade_conditions import TradeCondition, TradeConditions
from analysis.token.cap_evaluation import CapLimits
from analysis.token.contract_clock import ContractClock
from analysis.token.deployed_code import DeployedCode
from analysis.token.timebomb_status import place
from config.burn import BURN_ADDRESSES
from core.evm.primitives import (
    ADDRESS_MASK,
    Address,
    Hash32,
    RawAmount,
    Selector,
    address_of,
)
from core.report.powers import HolderKind, Power

MOST_SLOTS: Final = 64
_PROXY: Final = "is_proxy"
_HIDDEN: Final = "hidden_owner_controls"
_LEAST_CAP_SHARE: Final = 100
"""Share of the supply, as a divisor, below which a cap in force hurts ordinary holders."""
_CLOCKS: Final = frozenset({"time", "block"})


def slots_of(powers: StaticPowers) -> tuple[Hash32, ...]:
    """Return the storage slots that decide which setters are live, at most `MOST_SLOTS`."""
    every = [*(each for power in powers.powers for each in power.setters)]
    every += [*powers.setters, *powers.wild, *(powers.calls or ())]
    found = dict.fromkeys(slot for setter in every for slot in _slots(setter))
    return tuple(found)[:MOST_SLOTS]


def _slots(setter: Setter) -> Iterator[Hash32]:
    for caller in setter.callers:
        if caller.slot is not None:
            yield caller.slot
    for test in setter.tests:
        yield from _tested(test)
    for step in setter.steps:
        if step.operation == "slot" and step.word is not None:
            yield step.word
    if setter.slot is not None and not setter.is_entry:
        yield setter.slot


def _tested(test: StateTest) -> Iterator[Hash32]:
    return (step.word for step in test.steps if step.operation == "slot" and step.word is not None)


class LiveSetters:
    """The setters of one code that can still run.

    A named caller that may store anywhere has a separate power (`replacement_powers`), and does
    not make other setters live.
    """

    def __init__(self, powers: StaticPowers, words: Mapping[Hash32, int]) -> None:
        """`words`: storage of the token by slot; a slot that was not read may hold anything."""
        self._words = words
        self._powers = powers.powers
        self._pool = (*powers.setters, *powers.wild)
        self._is_wild = not powers.is_complete
        self._live: set[Setter] = set()
        is_settled = False
        while not is_settled:
            fresh = {each for each in self._pool if each not in self._live and self.is_live(each)}
            self._live |= fresh
            self._is_wild |= any(
                each in fresh and each.authority != "named" for each in powers.wild
            )
            is_settled = not fresh

    def is_live(self, setter: Setter) -> bool:
        """True if some account can still run the setter."""
        if self._is_wild:
            return True
        if setter.authority == "named" and not any(map(self._can_act, setter.callers)):
            return False
        return all(map(self._may_hold, setter.tests)) and self.has_effect(setter)

    def has_effect(self, setter: Setter) -> bool:
        """False if it can only store the value that is stored already."""
        word = None if setter.slot is None else self._words.get(setter.slot)
        if setter.is_entry or setter.values is None or word is None:
            return True
        bits = int(setter.bits, 16)
        return any((int(value, 16) ^ word) & bits for value in setter.values) or (
            self._is_changed(setter.slot, bits)
        )

    def callers(self, setter: Setter) -> set[Address | None]:
        """Return the accounts that can run it. None: one that storage and code do not name.

        For a burn address in storage, they are the accounts that can replace it.
        """
        found: set[Address | None] = set()
        seen: set[Setter] = set()
        waiting = [setter]
        while waiting:
            each = waiting.pop()
            if each in seen:
                continue
            seen.add(each)
            if each.authority != "named":
                found.add(None)
            for caller in filter(self._can_act, each.callers):
                address = self._address(caller)
                if caller.slot is not None and address in BURN_ADDRESSES:
                    waiting += self._changing(caller.slot, ADDRESS_MASK << caller.shift)
                else:
                    found.add(address)
        return found

    def _can_act(self, caller: PrivilegedParty) -> bool:
        if caller.slot is None:
            return caller.address not in BURN_ADDRESSES
        if self._is_changed(caller.slot, ADDRESS_MASK << caller.shift):
            return True
        address = self._address(caller)
        return address is None or address not in BURN_ADDRESSES

    def _address(self, caller: PrivilegedParty) -> Address | None:
        if caller.slot is None:
            return caller.address
        word = self._words.get(caller.slot)
        return None if word is None else address_of(word >> caller.shift & ADDRESS_MASK)

    def _may_hold(self, test: StateTest) -> bool:
        value = constant(test.steps, len(test.steps) - 1, self._words)
        if value is None or bool(value) is test.holds:
            return True
        return any(self._is_changed(slot, int(bits, 16)) for slot, bits in test.fields)

    def _is_changed(self, slot: Hash32 | None, bits: int) -> bool:
        """True if a live setter can change these bits of the slot."""
        return any(True for _ in self._changing(slot, bits))

    def _changing(self, slot: Hash32 | None, bits: int) -> Iterator[Setter]:
        for setter in self._live:
            if setter.slot == slot and not setter.is_entry and int(setter.bits, 16) & bits:
                yield setter

    def is_dead(self, slot: Hash32 | None, bits: Hash32, *, is_entry: bool) -> bool:
        """True if the variable is that of a power, and no setter of it can still run."""
        setters = [
            setter
            for power in self._powers
            for setter in power.setters
            if (setter.slot, setter.bits, setter.is_entry) == (slot, bits, is_entry)
        ]
        return slot is not None and bool(setters) and not any(map(self.is_live, setters))

    def fields_of(self, slot: Hash32 | None, bits: Hash32, *, is_entry: bool) -> frozenset[str]:
        """Return the report fields that powers over this variable explain."""
        return frozenset(
            power.field
            for power in self._powers
            for setter in power.setters
            if slot is not None
            and (setter.slot, setter.bits, setter.is_entry) == (slot, bits, is_entry)
        )


class _Use(msgspec.Struct, frozen=True, kw_only=True):
    check: str
    what: str
    kind: HolderKind
    holder: Address | None


def find_powers(powers: StaticPowers, live: LiveSetters) -> tuple[Power, ...]:
    """Return the powers with their holders; an account's kind is `unknown` until it is read."""
    uses: dict[_Use, list[Selector]] = {}
    for power in powers.powers:
        found = [each for each in power.setters if live.is_live(each)]
        if not found:
            use = _Use(check=power.field, what=power.what, kind="nobody", holder=None)
            uses.setdefault(use, []).extend(each.selector for each in power.setters)
        for setter in found:
            for kind, holder in _holders(live, setter):
                use = _Use(check=power.field, what=power.what, kind=kind, holder=holder)
                uses.setdefault(use, []).append(setter.selector)
    return tuple(
        Power(
            check=use.check,
            what=use.what,
            holder_kind=use.kind,
            holder=use.holder,
            functions=tuple(dict.fromkeys(functions)),
        )
        for use, functions in _without_dead_twins(uses)
    )


def _holders(live: LiveSetters, setter: Setter) -> Iterator[tuple[HolderKind, Address | None]]:
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


def tight_caps(limits: CapLimits, supply_raw: RawAmount) -> Iterator[Power]:
    """Yield the caps in force that are below one percent of the supply."""
    for check, limit_raw in (
        ("trading_cap_can_be_modified", limits.transfer_raw),
        ("position_cap_can_be_modified", limits.holding_raw),
    ):
        if limit_raw is not None and limit_raw * _LEAST_CAP_SHARE < supply_raw:
            yield Power(check=check, what="cap", holder_kind="nobody", bound="tight")


def clock_powers(
    conditions: TradeConditions, clock: ContractClock | None, *, is_settled: bool
) -> Iterator[Power]:
    """Yield the power of the clock over trades, where it is known to be none.

    `is_settled`: every condition of a trade was simulated both ways within 30 days, and no sale
    came to harm. Conditions that follow acts of a party on its own account are not simulated.
    """
    on_clock = [
        each
        for each in conditions.conditions
        if not _CLOCKS.isdisjoint(each.sources) and each.effect != "marks"
    ]
    is_far = clock is not None and all(_is_far(each, clock) for each in conditions.by_own_acts)
    if not conditions.is_complete or (conditions.by_own_acts and not is_far):
        return
    if not on_clock:
        yield Power(
            check="timebomb",
            what="condition",
            holder_kind="nobody",
            bound="unreachable",
            detail="no trade depends on it",
        )
    elif is_settled:
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
