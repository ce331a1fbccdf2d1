"""Every store that a code can make, by what it changes."""

from collections.abc import Iterable, Iterator

import msgspec

from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import Place, Places, Root, written_bits
from analysis.static.evm.cfg import Deed, Entry
from analysis.static.evm.expressions import Word


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """One store, on a way that can succeed."""

    entry: Entry
    pc: int
    place: Place
    bits: int
    """Bits of the slot that it may change."""
    slot: Word
    value: Word


class Stores:
    """Those of one code, each once however many ways lead to it."""

    def __init__(self, deeds: Iterable[tuple[Entry, Deed]], places: Places) -> None:
        stores = (
            (entry, deed.pc, deed.words[0], deed.words[1])
            for entry, deed in deeds
            if deed.kind == "SSTORE"
        )
        self.all = tuple(
            Write(
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
        self._by_root: dict[Root, list[Write]] = {}
        for write in self.all:
            self._by_root.setdefault(write.place.root, []).append(write)

    def to(self, variable: Variable) -> Iterator[Write]:
        """Those that may change this variable."""
        root, bits = variable
        return (write for write in self._by_root.get(root, ()) if write.bits & bits)
