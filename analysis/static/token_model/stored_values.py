"""Which values stores leave behind in one variable: numbers, the clock, or anything."""

from collections.abc import Iterable, Iterator
from typing import Literal

from analysis.static.dataflow.delegate_targets import slot_name
from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import Place
from analysis.static.dataflow.storage_writes import Write
from analysis.static.evm.cfg import Deed, Entry, Node
from analysis.static.evm.expressions import MASK, Term, Word
from analysis.static.evm.function_cfg import Flow
from analysis.static.token_model.contract_model import Code
from analysis.static.token_model.memoize import once_per_code
from analysis.static.token_model.trade_conditions import Written

StoreKey = tuple[Entry, int, Word, Word]
"""Function, program counter, slot and value."""

_MOST_PLACES = 64
"""Of one store. Where paths were not merged more often than that, it counts as lasting."""

_CLOCKS: dict[str, Literal["time", "block"]] = {"TIMESTAMP": "time", "NUMBER": "block"}


def written_to(code: Code, variable: Variable, writes: Iterable[Write]) -> Written | None:
    """None: the variable is at no plain number."""
    root, bits = variable
    slot = Place(root=root).slot
    if slot is None:
        return None
    constants: dict[int, None] = {}
    clocks: dict[Literal["time", "block"], None] = {}
    is_free = False
    for write in writes:
        if _is_overwritten(code, write, bits):
            continue
        for value in code.sources.meanings(write.value):
            stored = _stored_number(value, write.slot, bits)
            clock = _clock(code, value)
            if stored is not None:
                constants[stored] = None
            elif clock is not None:
                clocks[clock] = None
            else:
                is_free = True
    return Written(
        slot=slot_name(slot),
        bits=slot_name(bits),
        constants=tuple(map(slot_name, sorted(constants))),
        clocks=tuple(clocks),
        is_free=is_free,
    )


def _is_overwritten(code: Code, write: Write, bits: int) -> bool:
    """Whether every path from the store to the end of the call stores to the variable again: a lock
    that is set and released."""
    flow = code.flow(write.entry)
    starts = _places(code).get((write.entry, write.pc, write.slot, write.value), ())
    if len(starts) > _MOST_PLACES:
        return False
    later = {
        (other.pc, other.slot, other.value)
        for other in code.writes_to((write.place.root, bits))
        if other.entry == write.entry and (other.pc, other.value) != (write.pc, write.value)
    }
    if not starts or not later:
        return False
    return not any(_persists(flow, node, at, later) for node, at in starts)


def _places(code: Code) -> dict[StoreKey, list[tuple[Node, int]]]:
    """By store: the nodes that make it, and at which of their effects."""
    [found] = _all_places(code)
    return found


@once_per_code
def _all_places(code: Code) -> Iterator[dict[StoreKey, list[tuple[Node, int]]]]:
    found: dict[StoreKey, list[tuple[Node, int]]] = {}
    for entry in code.entries:
        for node in dict.fromkeys(node for node, _ in code.flow(entry).deeds()):
            for at, deed in enumerate(node.deeds):
                if deed.kind == "SSTORE":
                    key = (entry, deed.pc, deed.words[0], deed.words[1])
                    found.setdefault(key, []).append((node, at))
    yield found


def _persists(flow: Flow, start: Node, at: int, later: set[tuple[int, Word, Word]]) -> bool:
    def stores(deeds: Iterable[Deed]) -> bool:
        return any(
            deed.kind == "SSTORE" and (deed.pc, deed.words[0], deed.words[1]) in later
            for deed in deeds
        )

    if stores(start.deeds[at + 1 :]):
        return False
    seen: set[Node] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if node in seen or node not in flow.alive:
            continue
        seen.add(node)
        if node is not start and stores(node.deeds):
            continue
        if not node.successors():
            return True
        waiting.extend(node.successors())
    return False


def _clock(code: Code, value: Word) -> Literal["time", "block"] | None:
    """Which clock a sum of it is stored of. None: something else."""
    atoms = {atom.operation for atom in code.sources.atoms(value)}
    for operation, name in _CLOCKS.items():
        if operation in atoms and atoms <= {operation, "SLOAD"}:
            return name
    return None


def _stored_number(value: Word, slot: Word, bits: int) -> int | None:
    """The number that these bits of the slot are set to. None: not a number."""
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


def _either_side(one: Word, other: Word, slot: Word, bits: int) -> int | None:
    """What is left of the old slot holds zeros where the new field goes."""
    for kept, new in ((one, other), (other, one)):
        number = _stored_number(kept, slot, bits) if _is_cleared(kept, bits) else None
        if number == 0:
            return _stored_number(new, slot, bits & MASK)
    return None


def _is_cleared(word: Word, bits: int) -> bool:
    return (
        isinstance(word, Term)
        and word.operation == "AND"
        and isinstance(word.arguments[0], int)
        and not word.arguments[0] & bits
    )
