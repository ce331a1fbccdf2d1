"""Variable writers: whether trades, the party itself, anybody or only an owner writes a variable.

A store counts as the owner's only behind a recognised owner check (`guarded_stores`); a variable
with a store that is none of the owner's, a trade's or the caller's own is `unguarded`.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal

import msgspec

from analysis.static.dataflow.addresses import party, recovered
from analysis.static.dataflow.linear_amounts import delta_of
from analysis.static.dataflow.predicates import Variable, evaluate
from analysis.static.dataflow.storage_layout import StorageLocation
from analysis.static.evm.cfg import CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, address_in, lowest_bit
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.evm.path_state import APPROVE, MOVERS
from analysis.static.token_model.conditions.trade_conditions import Source, StoredValues
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.memoize import cached_on_model
from analysis.static.token_model.storage.balance_changes import balance_debits
from analysis.static.token_model.storage.guarded_stores import is_guarded
from analysis.static.token_model.storage.owned_variables import writes_of
from analysis.static.token_model.storage.write_index import StorageWrite
from core.evm.primitives import to_hash32

StoreKey = tuple[FunctionId, int, Value, Value]
"""Function, program counter, slot and value."""

_MOST_PLACES = 64
"""Most CFG nodes of one store that are followed; a store with more counts as lasting."""

_MOST_VISITED = 3000
_MOST_VALUES = 64
"""Most operands of a phi that are listed one by one, and words visited in looking for them."""

_COUNTS = (3, 8, 21, 100)
"""Values that a count is tried with."""

_CLOCKS: dict[str, Literal["time", "block"]] = {"TIMESTAMP": "time", "NUMBER": "block"}


def written_to(
    code: ContractModel,
    variable: Variable,
    writes: Iterable[StorageWrite],
    *,
    is_final: bool = True,
) -> StoredValues | None:
    """Return the values that these stores leave. None: its declared slot is not known.

    `is_final`: without values that the same call overwrites in the end.
    """
    root, bits = variable
    slot = StorageLocation(root=root).slot
    if slot is None:
        return None
    constants: dict[int, None] = {}
    clocks: dict[Literal["time", "block"], None] = {}
    is_free = is_set = False
    steps: list[int | None] = []
    for write in writes:
        if is_final and _is_overwritten(code, write, bits):
            continue
        values = code.dependencies.phi_values(write.value, most=_MOST_VISITED)
        if not 0 < len(values) <= _MOST_VALUES:
            is_free = is_set = True
            steps.append(None)
        for value in values[:_MOST_VALUES]:
            stored = _stored_number(value, write.slot, bits)
            clock = _clock(code, value)
            if stored is not None:
                constants[stored] = None
            elif clock is not None:
                clocks[clock] = None
            else:
                is_free = True
                steps.append(_step(value, write.slot, bits))
                is_set |= _is_given(code, write, value)
    known = [step for step in steps if step is not None]
    return StoredValues(
        slot=to_hash32(slot),
        bits=to_hash32(bits),
        constants=tuple(map(to_hash32, sorted(constants))),
        clocks=tuple(clocks),
        is_free=is_free,
        is_set=is_set,
        step=max(known) if known and len(known) == len(steps) else None,
    )


def _is_given(code: ContractModel, write: StorageWrite, value: Value) -> bool:
    """True unless a sum is stored: the old value, with computed amounts added or subtracted.

    An argument of the call is a computed amount only where the call takes it from a balance too.
    """
    delta = delta_of(value, write.slot)
    if delta is None:
        return True
    return any(_arguments(code, delta.subtracted)) or not all(
        _is_taken(code, write.entry, argument) for argument in _arguments(code, delta.added)
    )


def _is_taken(code: ContractModel, entry: FunctionId, argument: Expr) -> bool:
    """True if the call takes the argument from a balance, as it is or at a rate: reflection tokens
    multiply amounts by a quotient of their totals."""
    [debits] = balance_debits(code)
    if (entry, argument) in debits:
        return True
    products = (
        part
        for debited_by, term in debits
        if debited_by == entry
        for part in code.dependencies.subexpressions(term)
        if part.operation == "MUL" and argument in part.arguments
    )
    return any(
        part.operation == "DIV"
        for product in products
        for part in code.dependencies.subexpressions(product)
    )


def _arguments(code: ContractModel, terms: Iterable[Value]) -> Iterator[Expr]:
    for term in terms:
        for part in code.dependencies.subexpressions(term):
            if part.operation == "CALLDATALOAD":
                yield part


def _step(value: Value, slot: Value, bits: int) -> int | None:
    """Return the constant by which the value counts the variable up or down. None: it does not."""
    words = [(count << lowest_bit(bits)) & bits for count in _COUNTS]
    [step, *others] = {_step_from(word, value, slot, bits) for word in words}
    return None if others or step is None else abs(step)


def _step_from(word: int, value: Value, slot: Value, bits: int) -> int | None:
    """Return what the value adds to the variable in the word of a slot. None: not known."""
    after = evaluate(value, lambda read: word if read is slot or read == slot else None)
    return None if after is None else ((after & bits) - word) >> lowest_bit(bits)


def _is_overwritten(code: ContractModel, write: StorageWrite, bits: int) -> bool:
    """True if every path from the store to the end of the call stores to the variable again: a lock
    that is set and released."""
    flow = code.functions.cfg(write.entry)
    starts = _places(code).get((write.entry, write.pc, write.slot, write.value), ())
    if len(starts) > _MOST_PLACES:
        return False
    later = {
        (other.pc, other.slot, other.value)
        for other in code.writes.to((write.place.root, bits))
        if other.entry == write.entry and (other.pc, other.value) != (write.pc, write.value)
    }
    if not starts or not later:
        return False
    return not any(_persists(flow, node, at, later) for node, at in starts)


def _places(code: ContractModel) -> dict[StoreKey, list[tuple[CfgNode, int]]]:
    """Return, by store, the nodes that execute it and its index among their effects."""
    [found] = _all_places(code)
    return found


@cached_on_model
def _all_places(code: ContractModel) -> Iterator[dict[StoreKey, list[tuple[CfgNode, int]]]]:
    found: dict[StoreKey, list[tuple[CfgNode, int]]] = {}
    for entry in code.functions.entries:
        for node in dict.fromkeys(node for node, _ in code.functions.cfg(entry).effects()):
            for at, effect in enumerate(node.effects):
                if effect.kind == "SSTORE":
                    key = (entry, effect.pc, effect.words[0], effect.words[1])
                    found.setdefault(key, []).append((node, at))
    yield found


def _persists(
    flow: FunctionCfg, start: CfgNode, at: int, later: set[tuple[int, Value, Value]]
) -> bool:
    def stores(effects: Iterable[Effect]) -> bool:
        return any(
            effect.kind == "SSTORE" and (effect.pc, effect.words[0], effect.words[1]) in later
            for effect in effects
        )

    if stores(start.effects[at + 1 :]):
        return False
    seen: set[CfgNode] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if node in seen or node not in flow.can_succeed:
            continue
        seen.add(node)
        if node is not start and stores(node.effects):
            continue
        if not node.successors():
            return True
        waiting.extend(node.successors())
    return False


def _clock(code: ContractModel, value: Value) -> Literal["time", "block"] | None:
    """Return the clock that the value is computed from, alone or with storage. None: another."""
    atoms = {atom.operation for atom in code.dependencies.sources(value)}
    for operation, name in _CLOCKS.items():
        if operation in atoms and atoms <= {operation, "SLOAD"}:
            return name
    return None


def _stored_number(value: Value, slot: Value, bits: int) -> int | None:
    """Return the constant that these bits of the slot are set to. None: no constant."""
    if isinstance(value, int):
        return value & bits
    match (value.operation, value.arguments):
        case ("SLOAD", (place,)) if place is slot or place == slot:
            return None
        case ("AND", (int(mask), inner)):
            if not mask & bits:
                return 0
            return _stored_number(inner, slot, bits) if mask & bits == bits else None
        case ("OR", (one, other)):
            return _either_side(one, other, slot, bits)
    return None


def _either_side(one: Value, other: Value, slot: Value, bits: int) -> int | None:
    """Return the constant in a packed store: the old slot is zero where the new field goes."""
    for kept, new in ((one, other), (other, one)):
        number = _stored_number(kept, slot, bits) if _is_cleared(kept, bits) else None
        if number == 0:
            return _stored_number(new, slot, bits & MASK)
    return None


def _is_cleared(word: Value, bits: int) -> bool:
    return (
        isinstance(word, Expr)
        and word.operation == "AND"
        and isinstance(word.arguments[0], int)
        and not word.arguments[0] & bits
    )


_TRADES: Final = frozenset({*MOVERS, APPROVE})


class WrittenVariables:
    """Cached classification of one contract's variables by their writers."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self._sources: dict[Variable, Source | None] = {}
        self._values: dict[Variable, StoredValues | None] = {}

    def source(self, variable: Variable) -> Source | None:
        """Return the variable's source. None: fixed, owner-set, or a balance or an allowance, which
        are separate leaves."""
        if variable not in self._sources:
            self._sources[variable] = None if self._is_held(variable) else self._mover(variable)
        return self._sources[variable]

    def written(self, variable: Variable) -> StoredValues | None:
        """Return the values that unguarded stores leave. None: its declared slot is not known."""
        if variable not in self._values:
            found = written_to(self._code, variable, self._open_writes(variable))
            if found is not None and self.source(variable) == "own":
                found = msgspec.structs.replace(found, is_own=True)
            self._values[variable] = found
        return self._values[variable]

    def _is_held(self, variable: Variable) -> bool:
        roles, root = self._code.storage.roles, variable[0]
        return root in roles.balances or root in roles.allowances

    def _mover(self, variable: Variable) -> Source | None:
        code, is_entry = self._code, isinstance(variable[0], tuple)
        open_ = self._open_writes(variable)
        if not open_:
            return None
        if is_entry and all(map(self._is_own_act, writes_of(code, variable))):
            return "own"
        if all(write.entry in _TRADES or code.writes.is_callers_own(write) for write in open_):
            return "mark" if is_entry else "counter"
        return "unguarded"

    def _open_writes(self, variable: Variable) -> list[StorageWrite]:
        """Return the stores to it that no owner check guards."""
        writes = writes_of(self._code, variable)
        return [write for write in writes if not is_guarded(self._code, write)]

    def _is_own_act(self, write: StorageWrite) -> bool:
        """True if it stores under the caller's or a signer's key, and is no trade."""
        return write.entry not in _TRADES and any(
            self._names_party(key) for key in map(address_in, write.place.keys)
        )

    def _names_party(self, key: Value) -> bool:
        """True if the key is the caller or a signer; on some paths it may be zero."""
        code, meanings = self._code, self._code.dependencies.phi_values(key)
        named = [
            code.writes.names_caller(meaning) or recovered(party(meaning)) is not None
            for meaning in meanings
        ]
        return any(named) and all(
            is_named or meaning == 0 for is_named, meaning in zip(named, meanings, strict=True)
        )
