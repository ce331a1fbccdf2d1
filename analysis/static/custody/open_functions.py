"""Open functions: those that ordinary accounts can call and that may change what accounts hold.

A function is open if a store to a balance, the supply or a location that was not understood, or a
call of another contract, can be reached without being a privileged caller. Functions that store
what an open one reads may prepare it, and are listed behind it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.dataflow.inversion import solve
from analysis.static.dataflow.storage_layout import UNKNOWN, VariableId
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import MASK, Value, subterms
from analysis.static.evm.operand_records import STORED
from analysis.static.evm.path_state import APPROVE, BALANCE_OF, HOLDER_FUNCTIONS, MOVERS, rank
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.initializers import is_one_shot
from analysis.static.token_model.storage.write_index import StorageWrite
from core.evm.primitives import Hash32, to_hash32

MOST_FUNCTIONS: Final = 16
"""Most functions that are listed. Honest tokens with more are rare."""

_MOST_CONSTANTS: Final = 3
_MOST_SMALL: Final = 3
"""Smaller constants are sizes and flags."""
_LARGEST_FLAG: Final = 1
_PRICES: Final = range(10**6, 10**24)
"""Wei that a price may be."""
_COMPARISONS: Final = frozenset({"EQ", "SUB", "XOR", "LT", "GT"})
_ACTS: Final = frozenset({"CALL", "CALLCODE", "DELEGATECALL", "CREATE", "CREATE2"})


class OpenFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function that ordinary accounts can call."""

    selector: int | None
    """None: code that runs without a matched selector."""
    arguments: str | None = None
    """ABI types, separated by commas. None: not known."""
    numbers: tuple[Hash32, ...] = ()
    """Constants that arguments are compared with."""
    payments: tuple[Hash32, ...] = ()
    """Constants, in wei, in conditions on the coins that are sent."""
    targets: tuple[Hash32, ...] = ()
    """Arguments that set a variable to a constant with which trades compare it."""


class OpenFunctions(msgspec.Struct, frozen=True, kw_only=True):
    """The open functions of one code."""

    functions: tuple[OpenFunction, ...] = ()
    """Those that move holdings first, of them the standard ones, then those that may prepare
    them."""
    is_complete: bool = True
    """False: there are more, or the code was not followed to its end."""
    reads_clock: bool = False
    """True if one of them compares the time or the block number: callers may have to wait."""


def find_open_functions(
    code: ContractModel, prover: CustodyProver, arguments: Mapping[int, str]
) -> OpenFunctions:
    """Return the open functions. `arguments`: ABI types by selector."""
    stores: dict[FunctionId, list[StorageWrite]] = {entry: [] for entry in code.functions.entries}
    for write in code.writes.all:
        stores[write.entry].append(write)
    moving = {entry: pcs for entry in stores if (pcs := _moving(code, entry, stores[entry]))}
    open_ = [entry for entry, pcs in moving.items() if not prover.gates.is_gated(entry, pcs)]
    holdings = {*code.storage.roles.balances, *code.storage.roles.allowances}
    preparing = [
        entry
        for entry, writes in stores.items()
        if entry not in open_
        and (others := {write.pc for write in writes if write.place.root not in holdings})
        and not prover.gates.is_gated(entry, others)
    ]
    read = (
        {root for entry in (*moving, APPROVE) for root in _reads(code, entry)} - holdings
        if preparing
        else set()
    )
    preparing = [
        entry for entry in preparing if any(write.place.root in read for write in stores[entry])
    ]
    if any(is_one_shot(code, entry) for entry in (*open_, *preparing)):
        # an initializer that was not called yet may name its caller as the privileged one
        open_ = list(moving)
    found = [*sorted(open_, key=rank), *sorted(preparing, key=rank)]
    compared = _compared_in_trades(code) if preparing else {}
    return OpenFunctions(
        functions=tuple(
            OpenFunction(
                selector=entry,
                arguments=arguments.get(entry) if entry else None,
                numbers=_constants(code, entry, "CALLDATALOAD", range(_MOST_SMALL, MASK)),
                payments=_constants(code, entry, "CALLVALUE", _PRICES),
                targets=()
                if entry in HOLDER_FUNCTIONS
                else tuple(_targets(code, stores[entry], compared))[:_MOST_CONSTANTS],
            )
            for entry in found[:MOST_FUNCTIONS]
        ),
        is_complete=len(found) <= MOST_FUNCTIONS and code.functions.is_followed(),
        reads_clock=any(note.entry in found for note in code.notes.clocks.values()),
    )


def _moving(code: ContractModel, entry: FunctionId, writes: Iterable[StorageWrite]) -> set[int]:
    """Return the pcs of effects that may change balances or the supply."""
    roles = code.storage.roles
    counted = {*roles.balances, UNKNOWN, *(root for root, _ in (*roles.supply, *roles.scale))}
    stores = {write.pc for write in writes if write.place.root in counted or not roles.balances}
    calls = {effect.pc for _, effect in code.functions.cfg(entry).effects() if effect.kind in _ACTS}
    return stores | calls


def _reads(code: ContractModel, entry: FunctionId) -> set[VariableId]:
    """Return the variables that decide what the function does, stores, and where."""
    flow = code.functions.cfg(entry)
    words: set[Value] = {branch.condition for _, branch in flow.branching()}
    stores = [effect.words for _, effect in flow.effects() if effect.kind == "SSTORE"]
    stores += [operand.words for _, operand in flow.operands() if operand.kind == STORED]
    words.update(value for _, value, *_ in stores)
    slots = {slot for word in words for slot, _ in code.dependencies.reads(word)}
    slots |= {
        term.arguments[0]
        for place, *_ in stores
        for term in subterms(place)
        if term.operation == "SLOAD"
    }
    return {place.root for slot in slots for place in code.layout.of(slot)}


def _constants(
    code: ContractModel, entry: FunctionId, source: str, allowed: range
) -> tuple[Hash32, ...]:
    """Return the constants in comparisons with words that depend on `source`."""
    found: dict[int, None] = {}
    for _, branch in code.functions.cfg(entry).branching():
        for term in code.dependencies.subexpressions(branch.condition):
            if term.operation in _COMPARISONS and code.dependencies.has(term, frozenset({source})):
                parts = [part for word in term.arguments for part in _with_factors(word)]
                found.update((part, None) for part in parts if part in allowed)
    return tuple(map(to_hash32, list(found)[:_MOST_CONSTANTS]))


def _compared_in_trades(code: ContractModel) -> dict[VariableId, dict[int, None]]:
    """Return the numbers that trades compare each variable with, and the next ones."""
    found: dict[VariableId, dict[int, None]] = {}
    for entry in (*MOVERS, APPROVE, BALANCE_OF):
        for _, branch in code.functions.cfg(entry).branching():
            for term in code.dependencies.subexpressions(branch.condition):
                if term.operation not in _COMPARISONS | {"ADD"}:
                    continue
                for one, number in (term.arguments, term.arguments[::-1]):
                    if isinstance(number, int):
                        level = -number & MASK if term.operation == "ADD" else number
                        near = (level, level + 1) if term.operation in ("LT", "GT") else (level,)
                        for slot, _ in code.dependencies.reads(one):
                            for place in code.layout.of(slot):
                                found.setdefault(place.root, {}).update(dict.fromkeys(near))
    return found


def _targets(
    code: ContractModel,
    writes: Iterable[StorageWrite],
    compared: Mapping[VariableId, Iterable[int]],
) -> Iterator[Hash32]:
    """Yield the arguments with which a function stores what trades compare its variables with."""
    given = frozenset({"CALLDATALOAD"})
    found: dict[int, None] = {}
    for write in writes:
        if code.dependencies.has(write.value, given):
            for number in compared.get(write.place.root, ()):
                argument = solve(write.value, number)
                found[number if argument is None else argument] = None
    yield from (to_hash32(number) for number in found if _LARGEST_FLAG < number <= MASK)


def _with_factors(word: Value) -> Iterator[int]:
    """Yield the number, or the constant factors of a product."""
    if isinstance(word, int):
        yield word
    elif word.operation == "MUL":
        yield from (part for part in word.arguments if isinstance(part, int))
