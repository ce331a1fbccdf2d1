"""Every store that a code can make, by what it changes."""

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
    """One store, on a way that can succeed."""

    entry: FunctionId
    pc: int
    place: StorageLocation
    bits: int
    """Bits of the slot that it may change."""
    slot: Value
    value: Value


class StorageWrites:
    """Those of one code, each once however many ways lead to it."""

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
        """Those that may change this variable."""
        root, bits = variable
        return (write for write in self._by_root.get(root, ()) if write.bits & bits)
