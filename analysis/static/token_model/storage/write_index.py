"""Index of all reachable SSTOREs of a contract by the variable that they may change."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import CALLERS, HASHES, DependencyAnalysis
from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import (
    StorageLayout,
    StorageLocation,
    VariableId,
    written_bits,
)
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import Expr, Value, address_in
from analysis.static.evm.function_cfgs import FunctionCfgs

_NAMING: Final = HASHES | {"AND", "OR", "MUL", "SHL"}
"""Operations whose result still identifies an address among their operands: they pack addresses."""


class StorageWrite(msgspec.Struct, frozen=True, kw_only=True):
    """One store to one possible location, on a path that can succeed."""

    entry: FunctionId
    pc: int
    place: StorageLocation
    bits: int
    """Mask of the slot bits that it may change."""
    slot: Value
    value: Value


class WriteIndex:
    """The stores of one contract; each appears once, however many paths reach it."""

    def __init__(
        self,
        functions: FunctionCfgs,
        layout: StorageLayout,
        dependencies: DependencyAnalysis,
        callers: Mapping[FunctionId, list[FunctionId]],
    ) -> None:
        """`callers`: those of each function on its own contract, transitively."""
        self._dependencies = dependencies
        self._callers = callers
        stores = (
            (entry, effect.pc, effect.words[0], effect.words[1])
            for entry, effect in functions.effects()
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
            for place in layout.of(slot)
        )
        self._by_root: dict[VariableId, list[StorageWrite]] = {}
        for write in self.all:
            self._by_root.setdefault(write.place.root, []).append(write)

    @cached_property
    def inside(self) -> tuple[StorageWrite, ...]:
        """Stores of functions called on their own contract, attributed to the callers."""
        return tuple(
            msgspec.structs.replace(write, entry=caller)
            for write in self.all
            for caller in self._callers.get(write.entry, ())
        )

    def to(self, variable: Variable) -> Iterator[StorageWrite]:
        """Yield the stores that may change this variable."""
        root, bits = variable
        return (write for write in self._by_root.get(root, ()) if write.bits & bits)

    def are_callers_own(self, variable: Variable) -> bool:
        """True if the variable is written, and only by callers under their own key."""
        writes = list(self.to(variable))
        return bool(writes) and all(map(self.is_callers_own, writes))

    def is_callers_own(self, write: StorageWrite) -> bool:
        """True if the store is under the caller's own key."""
        return any(self.names_caller(key) for key in write.place.keys)

    def names_caller(self, word: Value) -> bool:
        """True if the value is the caller, or a hash or packing of it with other values."""
        bare = address_in(self._dependencies.single_value(word))
        if not isinstance(bare, Expr):
            return False
        if bare.operation in _NAMING:
            return any(self.names_caller(part) for part in bare.arguments)
        return bare.operation in CALLERS
