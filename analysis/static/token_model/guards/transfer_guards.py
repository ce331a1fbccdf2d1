"""Transfer guards: caps on amounts and balances, and guards that depend on storage in general.

Classifies the guards of `transfer` and `transferFrom` in the contract model by their predicates.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import is_own_address
from analysis.static.dataflow.predicates import (
    ERC20_PARAMETERS,
    FROM,
    PEOPLE,
    TO,
    Predicate,
    Variable,
)
from analysis.static.evm.expressions import Expr, Value, address_in
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.atomic_comparisons import atomic_comparisons
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.guard import Guard
from analysis.static.token_model.memoize import cached_on_model
from analysis.static.token_model.storage.write_index import StorageWrite
from core.evm.primitives import ADDRESS_MASK

_ORDERED: Final = frozenset({"LT", "GT"})
_EQUAL: Final = frozenset({"EQ"})
_UNEQUAL: Final = frozenset({"XOR", "SUB"})
_LOWEST_ACCOUNT: Final = 2**64


class Cap(msgspec.Struct, frozen=True, kw_only=True):
    """A guard that reverts if an amount or balance exceeds a limit."""

    guard: Guard
    limits: frozenset[Variable]
    """Variables that hold the cap. Empty: it is a constant."""
    switches: frozenset[Variable]
    """Variables that switch it on and off."""
    constant: int | None = None
    """A limit that is a constant in the code."""


def _exceeding(code: ContractModel, reading: Predicate) -> Iterator[tuple[Value, Value]]:
    """Yield pairs of values: the predicate's literal holds if the first exceeds the second."""
    literal = reading.literal
    for term, holds in atomic_comparisons(code, literal.condition, holds=literal.holds):
        if term.operation in _ORDERED:
            a, b = term.arguments
            yield (a, b) if (term.operation == "GT") is holds else (b, a)


def _refused(code: ContractModel, guard: Guard) -> Iterator[tuple[Value, Value]]:
    """Yield these pairs of a guard; also of its context, if its test may be an exemption."""
    yield from _exceeding(code, guard.test)
    test = guard.test
    is_exemption = test.reads_storage and not (
        test.has_answer or test.depends_on_time or is_funds_check(test) or is_zero_test(test)
    )
    if is_exemption:
        for reading in guard.context:
            yield from _exceeding(code, reading)


def _balances_in(code: ContractModel, word: Value, entry: int | None) -> set[str]:
    parameters = (
        ERC20_PARAMETERS[entry] if entry in ERC20_PARAMETERS else ERC20_PARAMETERS[MOVERS[0]]
    )
    found = {
        code.storage.predicates.party(place.keys[0], parameters)
        for slot, _ in code.dependencies.reads(word)
        for place in code.layout.of(slot)
        if place.keys and place.root in code.storage.roles.balances
    }
    if code.storage.predicates.has_amount(word, parameters) and any(
        atom.operation == "result" and is_own_address(atom.arguments[0])
        for atom in code.dependencies.sources(word)
    ):
        # The token calls itself and adds the amount to the result: the recipient's balance.
        found.add(TO)
    return found


def _variables(code: ContractModel, word: Value) -> frozenset[Variable]:
    return frozenset(
        (place.root, bits)
        for slot, bits in code.dependencies.reads(word)
        for place in code.layout.of(slot)
        if place.root not in code.storage.roles.balances
    )


def _cap(code: ContractModel, guard: Guard, large: Value, small: Value) -> Cap | None:
    limits = _variables(code, small)
    number = code.dependencies.single_value(small)
    constant = number if isinstance(number, int) else None
    if not limits and (constant is None or small == 0):
        return None
    if any(root in code.storage.roles.allowances for root, _ in limits):
        return None
    if limits and limits <= code.storage.roles.scale - code.storage.roles.supply:
        return None  # reflection: no share exceeds the total; a consistency check
    switches = {
        variable
        for reading in guard.all()
        for variable in reading.globals
        if variable not in _variables(code, large)
    }
    return Cap(
        guard=guard,
        limits=limits - code.storage.roles.supply,
        switches=frozenset(switches) - limits,
        constant=constant,
    )


@cached_on_model
def trading_caps(code: ContractModel) -> Iterator[Cap]:
    """Yield caps on the amount of one transfer, or on the sum of an address's transfers."""
    supply = code.storage.roles.supply
    for guard in code.guards.of_moves():
        entry = guard.refusal.entry
        parameters = ERC20_PARAMETERS[entry or 0]
        for large, small in _refused(code, guard):
            if not _grows(code, large, entry) or code.storage.predicates.has_amount(
                small, parameters
            ):
                continue
            if _balances_in(code, large, entry) - {FROM} or _variables(code, large) & supply:
                continue
            if _balances_in(code, small, entry) & PEOPLE:
                continue
            cap = _cap(code, guard, large, small)
            if cap is not None:
                yield cap


def _grows(code: ContractModel, word: Value, entry: int | None) -> bool:
    """True if the value is the amount, or a stored sum that the transfer adds to."""
    parameters = ERC20_PARAMETERS[entry or 0]
    if code.storage.predicates.has_amount(word, parameters):
        return True
    slots = {slot for slot, _ in code.dependencies.reads(word)}
    return any(
        write.entry == entry
        and write.slot in slots
        and write.place.root not in code.storage.roles.balances | code.storage.roles.allowances
        and (
            code.storage.predicates.has_amount(write.value, parameters)
            or _adds_an_answer(code, write)
        )
        for write in code.writes.all
    )


def _adds_an_answer(code: ContractModel, write: StorageWrite) -> bool:
    """True if it adds a call's result, such as the amount's worth, to a mapping entry."""
    return (
        bool(write.place.keys)
        and any(slot is write.slot for slot, _ in code.dependencies.reads(write.value))
        and any(atom.operation == "result" for atom in code.dependencies.sources(write.value))
    )


@cached_on_model
def position_caps(code: ContractModel) -> Iterator[Cap]:
    """Yield caps on the balance that the recipient would have."""
    for guard in code.guards.of_moves():
        entry = guard.refusal.entry
        for large, small in _refused(code, guard):
            if TO not in _balances_in(code, large, entry):
                continue
            if _balances_in(code, small, entry) & PEOPLE:
                continue
            if FROM in _balances_in(code, large, entry):
                continue
            cap = _cap(code, guard, large, small)
            if cap is not None:
                yield cap


def is_modifiable(
    code: ContractModel, variables: frozenset[Variable], *, by_transfers: bool = False
) -> list[tuple[int | None, int]]:
    """Return function and pc of stores to these variables; `by_transfers` includes transfers."""
    return [
        (write.entry, write.pc)
        for variable in variables
        for write in code.writes.to(variable)
        if by_transfers or write.entry not in MOVERS
    ]


def capped_guards(code: ContractModel) -> set[Guard]:
    """Return the guards of caps.

    Includes guards at a cap's pc with the same lists: after a merge of paths, only the exemption is
    left of the condition.
    """
    caps = {cap.guard for found in (trading_caps(code), position_caps(code)) for cap in found}
    exempt = {(cap.pc, cap.test.lists) for cap in caps if cap.test.lists}
    return caps | {
        guard for guard in code.guards.of_moves() if (guard.pc, guard.test.lists) in exempt
    }


def is_funds_check(reading: Predicate) -> bool:
    """True if the predicate only tests whether balance or allowance suffice."""
    is_about_balance = bool(reading.balances_of) and TO not in reading.balances_of
    return (reading.is_about_allowance or is_about_balance) and not reading.lists


def storage_guards(code: ContractModel, entry: int) -> Iterator[Guard]:
    """Yield the guards of a transfer function that depend on storage other than funds."""
    for guard in code.guards.of_moves():
        if guard.refusal.entry != entry:
            continue
        test = guard.test
        if is_funds_check(test) or is_zero_test(test):
            continue
        needs_switch = test.has_amount or test.depends_on_time or names_account(code, test)
        is_switched = needs_switch and any(reading.reads_storage for reading in guard.context)
        if test.reads_storage or (test.has_answer and test.asks_stored) or is_switched:
            yield guard
    for guard, choices in code.guards.flags_of_moves():
        if guard.refusal.entry == entry and any(each.reads_storage for each in choices):
            yield guard


def is_zero_test(reading: Predicate) -> bool:
    """True if the predicate only tests whether a stored address is zero."""
    condition = reading.literal.condition
    words = condition.arguments if condition.operation == "EQ" else (condition,)
    bare = [_unpacked(word) for word in words if word != 0]
    return (
        bool(reading.addresses)
        and len(bare) == 1
        and isinstance(bare[0], Expr)
        and bare[0].operation == "SLOAD"
    )


def names_account(code: ContractModel, reading: Predicate) -> bool:
    """True if it compares something with an address that is a constant."""
    terms = code.dependencies.subexpressions(reading.literal.condition)
    return any(
        term.operation in _EQUAL | _UNEQUAL
        and any(
            isinstance(word, int) and _LOWEST_ACCOUNT <= word <= ADDRESS_MASK
            for word in term.arguments
        )
        for term in terms
    )


def _unpacked(word: Value) -> Value:
    """Return the storage read from which a packed address is extracted."""
    bare = address_in(word)
    match bare:
        case (
            Expr(operation="DIV", arguments=(inner, int()))
            | Expr(operation="SHR", arguments=(int(), inner))
        ):
            return inner
    return bare
