"""Index of all reachable SSTOREs of a contract by the variable that they may change."""

from collections.abc import Iterable, Iterator

import msgspec

from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import (
    StorageLayout,
    StorageLocation,
    VariableId,
    written_bits,
)
from analysis.static.evm.cfg import Effect, FunctionId
from analysis.static.evm.expressions import Value


class StorageWrite(msgspec.Struct, frozen=True, kw_only=True):
    """One store to one possible location, on a path that can succeed."""

    entry: FunctionId
    pc: int
    place: StorageLocation
    bits: int
    """Mask of the slot bits that it may change."""
    slot: Value
    value: Value


class StorageWrites:
    """The stores of one contract; each appears once, however many paths reach it."""

    def __init__(self, effects: Iterable[tuple[FunctionId, Effect]], places: StorageLayout) -> None:
        stores = (
            (entry, effect.pc, effect.words[0], effect.words[1])
            for entry, effect in effects
            if effect.kind == "SSTORE"
        )
        self.all = tuple(
            StorageWrite(
                entry=entry,
                pc=pc,
                place=place,
                bits=written_bits(value, slot),
                slot=slot,
                value=value,
            )
            for entry, pc, slot, value in dict.fromkeys(stores)
            for place in places.of(slot)
        )
        self._by_root: dict[VariableId, list[StorageWrite]] = {}
        for write in self.all:
            self._by_root.setdefault(write.place.root, []).append(write)

    def to(self, variable: Variable) -> Iterator[StorageWrite]:
        """Yield the stores that may change this variable."""
        root, bits = variable
        return (write for write in self._by_root.get(root, ()) if write.bits & bits)
