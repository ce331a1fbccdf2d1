"""Powers of one code: for each report field that a setter can change, the functions that do.

Input: the contract model, its caller checks and the custody report. Output: `StaticPowers`. A field
that is true because of a fixed rule of the code has a power without setters.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from analysis.static.custody.checked_differences import CheckedDifferences
from analysis.static.custody.conservation import UnprovedSum, prove_sums
from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.custody.custody_report import CustodyReport, PrivilegedParty
from analysis.static.custody.storage_reach import StorageReach
from analysis.static.dataflow.dependencies import is_own_address
from analysis.static.dataflow.linear_amounts import delta_of
from analysis.static.dataflow.predicates import ERC20_PARAMETERS, Variable
from analysis.static.dataflow.storage_layout import UNKNOWN, VariableId
from analysis.static.evm.cfg import FunctionId, selector_of
from analysis.static.evm.expressions import MASK
from analysis.static.evm.path_state import MOVERS
from analysis.static.powers.setter_finder import SetterComputation, SetterFinder
from analysis.static.powers.static_powers import (
    Setter,
    StaticPower,
    StaticPowers,
    TaxedAmount,
    UnprovedCredit,
)
from analysis.static.token_model.caps.amount_factors import scalings
from analysis.static.token_model.caps.cap_rules import slots_in
from analysis.static.token_model.clock.cooldowns import cooldowns
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.pauses_and_lists import lists, pauses
from analysis.static.token_model.guards.transfer_guards import Cap, position_caps, trading_caps
from analysis.static.token_model.initializers import is_initializer
from analysis.static.token_model.storage.balance_changes import (
    difference,
    lasting_changes,
    taxes,
)
from analysis.static.token_model.storage.guarded_stores import is_guarded
from analysis.static.token_model.storage.owned_variables import writes_of
from analysis.static.token_model.storage.write_index import StorageWrite
from core.evm.primitives import ADDRESS_MASK, to_hash32
from core.report.powers import PowerKind

_MOST_PLACES: Final = 48
_HANDING_ON: Final = frozenset({"DELEGATECALL", "CALLCODE"})
_HASHED: Final = 2**64
"""Larger slot numbers are hashes: compilers number variables from zero."""


def find_powers(
    code: ContractModel,
    prover: CustodyProver,
    *,
    owned: Iterable[Variable],
    custody: CustodyReport,
) -> StaticPowers:
    """Return the powers of one code.

    `owned`: variables of trade conditions that privileged callers set.
    """
    finder = SetterFinder(code, prover.gates)
    powers = [
        *_of_variables(finder, "pause_status_can_be_modified", "stop", _pause_switches(code)),
        *_of_variables(finder, "has_blacklist_or_whitelist", "block", _listed(code)),
        *_of_variables(finder, "trading_cap_can_be_modified", "cap", _limits(trading_caps(code))),
        *_of_variables(finder, "position_cap_can_be_modified", "cap", _limits(position_caps(code))),
        *_of_variables(finder, "tax_can_be_modified", "tax", _rates(code)),
        *_of_variables(finder, "trading_cooldown", "stop", _waits(code)),
        *_controls(code, finder, owned),
        *_fixed_rules(code),
        *_supply_powers(code, finder, custody),
    ]
    credits = None
    if code.storage.roles.balances:
        credits = tuple(_credit(finder, found) for found in prove_sums(code, prover))
    used = [
        *(setter for power in powers for setter in power.setters),
        *(each.setter for each in credits or ()),
    ]
    wild = tuple(_wild(code, finder, prover.reach))
    calls = None if code.answers_holders else tuple(_calls(code, finder))
    hashed = {
        (write.place.root, ADDRESS_MASK)
        for write in code.writes.all
        if _is_hashed(write.place.root) and write.bits & ADDRESS_MASK == ADDRESS_MASK
    }
    taxed = tuple(dict.fromkeys(_taxed(code)))
    rates = sorted({int(slot, 16) for each in taxed for slot in slots_in(each.steps)})
    setters, is_closed = _closure(
        finder, (*used, *wild, *(calls or ())), (*hashed, *((rate, MASK) for rate in rates))
    )
    return StaticPowers(
        powers=tuple(dict.fromkeys(powers)),
        setters=setters,
        taxed=taxed,
        wild=wild,
        calls=calls,
        is_complete=code.functions.is_followed() and not code.notes.cut and is_closed,
        credits=credits,
        stores_plain=any(not _is_hashed(write.place.root) for write in code.writes.all),
    )


def _of_variables(
    finder: SetterFinder, field: str, what: PowerKind, variables: Iterable[Variable]
) -> Iterator[StaticPower]:
    for variable in dict.fromkeys(variables):
        yield StaticPower(field=field, what=what, setters=finder.setters(variable))


def _controls(
    code: ContractModel, finder: SetterFinder, owned: Iterable[Variable]
) -> Iterator[StaticPower]:
    """Yield the powers over conditions of trades, without setters that are open to anybody: what
    those can do is simulated."""
    for variable in dict.fromkeys(owned):
        guarded = {
            selector_of(write.entry)
            for write in writes_of(code, variable)
            if is_guarded(code, write)
        }
        setters = tuple(each for each in finder.setters(variable) if each.selector in guarded)
        yield StaticPower(field="hidden_owner_controls", what="condition", setters=setters)


def _fixed_rules(code: ContractModel) -> Iterator[StaticPower]:
    """Yield a power without setters for each rule of the code that may have none."""
    if any(trading_caps(code)):
        yield StaticPower(field="trading_cap_can_be_modified", what="cap", setters=())
    if any(position_caps(code)):
        yield StaticPower(field="position_cap_can_be_modified", what="cap", setters=())
    if any(cooldowns(code)):
        yield StaticPower(field="trading_cooldown", what="stop", setters=())


def _pause_switches(code: ContractModel) -> Iterator[Variable]:
    for _, variables in pauses(code):
        yield from _sorted(variables)


def _listed(code: ContractModel) -> Iterator[Variable]:
    for _, variables in lists(code):
        yield from _sorted(variables)
    for scaling in scalings(code):
        yield from _sorted(scaling.variables)


def _limits(caps: Iterable[Cap]) -> list[Variable]:
    return _sorted({variable for cap in caps for variable in cap.limits | cap.switches})


def _rates(code: ContractModel) -> Iterator[Variable]:
    for tax in taxes(code):
        yield from _sorted(tax.rates)


def _waits(code: ContractModel) -> Iterator[Variable]:
    """Yield the variables that decide how long an address waits, or whether."""
    for guard, stamps in cooldowns(code):
        found = {each for reading in guard.all() for each in reading.globals}
        yield from _sorted(found - stamps)


def _taxed(code: ContractModel) -> Iterator[TaxedAmount]:
    for tax in taxes(code):
        offset = ERC20_PARAMETERS[tax.write.entry or 0].amount
        amount = to_hash32(offset or 0)
        if not tax.forms:
            yield TaxedAmount(amount=amount)
        for form in tax.forms:
            computed = SetterComputation(code)
            terms = tuple((computed.write(word), times) for word, times in form)
            if computed.is_full:
                yield TaxedAmount(amount=amount)
            else:
                yield TaxedAmount(steps=tuple(computed.steps), sum=terms, amount=amount)


def _sorted(variables: Iterable[Variable]) -> list[Variable]:
    return sorted(variables, key=str)


def _supply_powers(
    code: ContractModel, finder: SetterFinder, custody: CustodyReport
) -> Iterator[StaticPower]:
    """Yield one power for each function that changes the supply."""
    checked = CheckedDifferences(code)
    by_entry: dict[FunctionId, list[StorageWrite]] = {}
    for variable in _sorted(code.storage.roles.supply):
        for write in lasting_changes(code, variable):
            by_entry.setdefault(write.entry, []).append(write)
    for entry, writes in by_entry.items():
        setter = finder.setter_at(entry, {each.pc for each in writes})
        if not setter.tests and is_initializer(code, entry):
            continue  # storage does not show whether it has run
        what: PowerKind = "mint"
        if all(_is_lowered(code, write) for write in writes):
            what = "burn"
            if entry in custody.unproved and entry not in MOVERS:
                what, setter = "take", _by(setter, custody.unproved[entry])
            elif setter.authority == "anybody" and _is_of_holder(code, checked, entry):
                setter = msgspec.structs.replace(setter, authority="holders", callers=())
        pcs = {each.pc for each in writes}
        is_some = setter.authority == "trades" and not finder.is_on_every_path(entry, pcs)
        if what == "mint" and is_some:
            # Simulated trades prove nothing of other amounts and accounts.
            setter = msgspec.structs.replace(setter, authority="anybody")
        yield StaticPower(field="mint_or_burn_function", what=what, setters=(setter,))


def _credit(finder: SetterFinder, found: UnprovedSum) -> UnprovedCredit:
    setter = finder.setter_at(found.entry, {found.pc})
    if not found.is_certain:
        # It may be no credit, or another one, so no test on its path rules it out.
        is_named = found.is_privileged and setter.authority == "named"
        setter = msgspec.structs.replace(setter, tests=()) if is_named else _open(found.entry)
    return UnprovedCredit(
        setter=setter,
        pc=found.pc,
        reason=found.reason,
        is_unseen=found.is_unseen,
        is_certain=found.is_certain,
        is_cut_short=found.is_cut_short,
    )


def _open(entry: FunctionId) -> Setter:
    return Setter(
        selector=selector_of(entry),
        slot=None,
        bits=to_hash32(MASK),
        is_entry=False,
        authority="trades" if entry in MOVERS else "anybody",
    )


def _is_of_holder(code: ContractModel, checked: CheckedDifferences, entry: FunctionId) -> bool:
    """True if the function only lowers balances, at least one, and by no more than they hold."""
    stores = [
        write
        for write in code.writes.all
        if write.entry == entry and write.place.root in code.storage.roles.balances
    ]
    for write in stores:
        balance = code.pool.intern("SLOAD", write.slot)
        for value in code.dependencies.phi_values(write.value):
            delta = delta_of(value, write.slot)
            if delta is None or delta.added or len(delta.subtracted) != 1:
                return False
            if not checked.holds_at(entry, write.pc, balance, delta.subtracted[0]):
                return False
    return bool(stores)


def _by(setter: Setter, parties: tuple[PrivilegedParty, ...] | None) -> Setter:
    """Return the setter of a burn without the holder's consent, by these callers. None: anybody."""
    if parties is None:
        return msgspec.structs.replace(setter, authority="anybody", callers=())
    return msgspec.structs.replace(setter, authority="named", callers=parties)


def _is_lowered(code: ContractModel, write: StorageWrite) -> bool:
    for value in code.dependencies.phi_values(write.value):
        by = difference(code, value, write.slot)
        if not by or any(count > 0 for _, count in by):
            return False
    return True


def _wild(code: ContractModel, finder: SetterFinder, reach: StorageReach) -> Iterator[Setter]:
    """Yield the functions that may store anywhere, or run foreign code on this storage."""
    pcs: dict[FunctionId, set[int]] = {}
    for write in code.writes.all:
        if write.place.root == UNKNOWN and not reach.is_bounded(write.entry, write.pc, write.slot):
            pcs.setdefault(write.entry, set()).add(write.pc)
    for entry, effect in code.calls():
        if effect.kind not in _HANDING_ON or effect.pc in code.delegation.pcs:
            continue
        if not is_own_address(code.dependencies.single_value(effect.words[0])):
            pcs.setdefault(entry, set()).add(effect.pc)
    for entry, found in pcs.items():
        yield finder.setter_at(entry, found)


def _calls(code: ContractModel, finder: SetterFinder) -> Iterator[Setter]:
    """Yield the functions that call other contracts, and may so use powers over a token."""
    pcs: dict[FunctionId, set[int]] = {}
    for entry, effect in code.calls():
        if effect.kind == "CALL":
            pcs.setdefault(entry, set()).add(effect.pc)
    for entry, found in pcs.items():
        yield finder.setter_at(entry, found)


def _closure(
    finder: SetterFinder, setters: Iterable[Setter], places: Iterable[Variable]
) -> tuple[tuple[Setter, ...], bool]:
    """Return the setters of the given places and of all plain storage that setters name.

    False besides: there are more places than are followed.
    """
    waiting: list[Variable] = [*places, *_named_by(setters)]
    found: dict[Setter, None] = {}
    seen: set[Variable] = set()
    while waiting and len(seen) < _MOST_PLACES:
        variable = waiting.pop(0)
        if variable in seen:
            continue
        seen.add(variable)
        fresh = [each for each in finder.setters(variable) if each not in found]
        found.update(dict.fromkeys(fresh))
        waiting += _named_by(fresh)
    return tuple(found), seen.issuperset(waiting)


def _is_hashed(root: VariableId) -> bool:
    return isinstance(root, int) and root >= _HASHED


def _named_by(setters: Iterable[Setter]) -> Iterator[Variable]:
    for setter in setters:
        for caller in setter.callers:
            if caller.slot is not None:
                yield int(caller.slot, 16), ADDRESS_MASK << caller.shift
        for test in setter.tests:
            yield from ((int(slot, 16), int(bits, 16)) for slot, bits in test.fields)
        yield from ((int(slot, 16), MASK) for slot in slots_in(setter.steps))
        if not setter.is_entry and setter.slot is not None:
            yield int(setter.slot, 16), int(setter.bits, 16)
