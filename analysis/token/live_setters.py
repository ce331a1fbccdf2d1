"""Setters that can still run at one block, from current storage.

A setter is dead if no account that can act may call it, or a condition on storage that every path
meets does not hold and no live setter can change that. Least fixpoint over the setters: nothing is
live without a cause.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.reads.storage_words import SlotReads
from analysis.static.custody.custody_report import PrivilegedParty
from analysis.static.custody.simulation_hints import SimulationHints
from analysis.static.evm.cfg import selector_of
from analysis.static.powers.static_powers import (
    Setter,
    StateTest,
    StaticPower,
    StaticPowers,
    UnprovedCredit,
)
from analysis.static.token_model.caps.cap_rules import constant, slots_in
from analysis.static.token_model.conditions.trade_conditions import VariableKey
from config.burn import BURN_ADDRESSES
from core.evm.primitives import ADDRESS_MASK, Address, Hash32, Selector, address_of

MOST_SLOTS: Final = 64


def slots_of(powers: StaticPowers) -> tuple[Hash32, ...]:
    """Return the storage slots that decide which setters are live, at most `MOST_SLOTS`."""
    every = [*(each for power in powers.powers for each in power.setters)]
    every += [*powers.setters, *powers.wild, *(powers.calls or ())]
    every += [each.setter for each in powers.credits or ()]
    found = dict.fromkeys(slot for setter in every for slot in _slots(setter))
    return tuple(found)[:MOST_SLOTS]


def _slots(setter: Setter) -> Iterator[Hash32]:
    for caller in setter.callers:
        if caller.slot is not None:
            yield caller.slot
    for test in setter.tests:
        yield from slots_in(test.steps)
    yield from slots_in(setter.steps)
    if setter.slot is not None and not setter.is_entry:
        yield setter.slot


class LiveSetters:
    """The setters of one code that can still run.

    A named caller that may store anywhere has a separate power (`replacement_powers`), and does
    not make other setters live.
    """

    def __init__(self, powers: StaticPowers, words: Mapping[Hash32, int]) -> None:
        """`words`: storage of the contract by slot; a slot that was not read may hold anything."""
        self.words = words
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
        word = None if setter.slot is None else self.words.get(setter.slot)
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
        word = self.words.get(caller.slot)
        return None if word is None else address_of(word >> caller.shift & ADDRESS_MASK)

    def _may_hold(self, test: StateTest) -> bool:
        value = constant(test.steps, len(test.steps) - 1, self.words)
        if value is None or bool(value) is test.holds:
            return True
        return any(self._is_changed(slot, int(bits, 16)) for slot, bits in test.fields)

    def _is_changed(self, slot: Hash32 | None, bits: int) -> bool:
        """True if a live setter can change these bits of the slot."""
        return any(True for _ in self._changing(slot, bits))

    def is_changed(self, slot: Hash32, bits: int) -> bool:
        """True if a live setter can change these bits of a plain variable."""
        return self._is_wild or self._is_changed(slot, bits)

    def _changing(self, slot: Hash32 | None, bits: int) -> Iterator[Setter]:
        for setter in self._live:
            if setter.slot == slot and not setter.is_entry and int(setter.bits, 16) & bits:
                yield setter

    def is_dead(self, variable: VariableKey) -> bool:
        """True if the variable is that of a power, and no setter of it can still run."""
        setters = [each for power in self._powers_over(variable) for each in power.setters]
        return bool(setters) and not any(map(self.is_live, setters))

    def fields_of(self, variable: VariableKey) -> frozenset[str]:
        """Return the report fields that powers over this variable explain."""
        return frozenset(power.field for power in self._powers_over(variable))

    def _powers_over(self, variable: VariableKey) -> tuple[StaticPower, ...]:
        """Return the powers whose setters store to it. Empty: its declared slot is not known."""
        if variable[0] is None:
            return ()
        return tuple(
            power
            for power in self._powers
            if any(each.variable == variable for each in power.setters)
        )


async def read_live_setters(
    reader: BlockReader, contract: Address, powers: StaticPowers, *, others: Sequence[Hash32] = ()
) -> LiveSetters:
    """Read the slots that decide which setters are live. `others`: slots whose words are read in
    the same trip. Raises UpstreamError."""
    batch = reader.batch()
    slots = SlotReads(batch, contract, tuple(dict.fromkeys((*others, *slots_of(powers)))))
    await reader.send(batch)
    return LiveSetters(powers, slots.read())


class UnprovedCredits(msgspec.Struct, frozen=True, kw_only=True):
    """The functions of one token that are not proved to keep the sum of the balances."""

    live: tuple[UnprovedCredit, ...]
    """Functions that can still run."""
    past: tuple[UnprovedCredit, ...]
    """Functions that cannot any more, and could after the creation."""

    @property
    def every(self) -> tuple[UnprovedCredit, ...]:
        """Return all of them."""
        return (*self.live, *self.past)

    def create_balances(self, *, probed: Collection[Selector | None]) -> bool | None:
        """Return the report field. `probed`: functions that were called with success, moved tokens
        and created none; empty if some call created balances, or not all were called.

        None: bounds or merged values prevented the proof, and no call stands in for it: trades are
        simulated in more ways than others.
        """
        if any(each.is_certain for each in self.every):
            return True
        is_out_of_reach = any(
            each.is_unseen
            or each.setter.authority == "named"
            or (each.setter.authority != "trades" and not each.is_cut_short)
            for each in self.live
        )
        called = {each.setter.selector for each in self.live}
        if self.past or is_out_of_reach or not called.issubset(probed):
            return None
        return False


def unproved_credits(
    powers: StaticPowers, live: LiveSetters, *, explained: Collection[Selector]
) -> UnprovedCredits | None:
    """Return the functions that may have created balances, or still may. None: not known.

    `explained`: functions that had ended with the creation, whose events explain what they gave.
    """
    if powers.credits is None:
        return None
    alive = tuple(each for each in powers.credits if live.is_live(each.setter))
    return UnprovedCredits(
        live=alive,
        past=tuple(
            each
            for each in powers.credits
            if each not in alive and each.setter.selector not in explained
        ),
    )


def ended_credits(powers: StaticPowers, words: Mapping[Hash32, int]) -> tuple[Selector, ...]:
    """Return the unproved functions that cannot run in a state. `words`: all that are not zero."""
    live = LiveSetters(powers, {slot: words.get(slot, 0) for slot in slots_of(powers)})
    credits = powers.credits or ()
    return tuple(each.setter.selector for each in credits if not live.is_live(each.setter))


def standing_hints(
    hints: SimulationHints, powers: StaticPowers, live: LiveSetters
) -> SimulationHints:
    """Return the hints without debits of functions that cannot run any more, such as initializers
    that set a balance."""
    ended = {
        (each.setter.selector, each.pc)
        for each in powers.credits or ()
        if not live.is_live(each.setter)
    }
    standing = tuple(
        write
        for write in hints.open_writes
        if write.kind != "debit" or (selector_of(write.selector), write.pc) not in ended
    )
    return msgspec.structs.replace(hints, open_writes=standing)
