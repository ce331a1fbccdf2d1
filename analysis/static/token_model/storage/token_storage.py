"""Storage of a token by role: what the getters return, and the functions that write it."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import msgspec

from analysis.static.dataflow.dependencies import DependencyAnalysis
from analysis.static.dataflow.getter_storage_writers import Writers, writers_of
from analysis.static.dataflow.predicates import (
    ERC20_PARAMETERS,
    PredicateAnalyser,
    StorageRoles,
    Variable,
)
from analysis.static.dataflow.storage_layout import (
    UNKNOWN,
    StorageLayout,
    StorageLocation,
    VariableId,
    written_bits,
)
from analysis.static.evm.cfg import Effect, FunctionId
from analysis.static.evm.path_state import (
    ALLOWANCE,
    APPROVE,
    BALANCE_OF,
    TOTAL_SUPPLY,
    TRANSFER,
    Note,
    Notes,
)
from analysis.static.token_model.storage.write_index import StorageWrite, WriteIndex

_OWN_COINS = ("SELFBALANCE", "BALANCE")


def find_roles(
    notes: Notes,
    places: StorageLayout,
    sources: DependencyAnalysis,
    *,
    approved: Callable[[], frozenset[VariableId]],
) -> StorageRoles:
    """Find the roles in the return values of the getters.

    `approved`: returns the mappings that `approve` stores to, for a token without `allowance`.
    """
    finder = _Finder(notes, places, sources)
    balances = finder.balance_bits()
    return StorageRoles(
        balances=frozenset(balances),
        balance_bits=balances,
        allowances=frozenset(root for root, _ in finder.keyed_by(ALLOWANCE, {4, 36})) or approved(),
        supply=frozenset((place.root, bits) for place, bits in finder.returned_by(TOTAL_SUPPLY)),
        scale=frozenset(
            (place.root, bits) for place, bits in finder.returned_by(BALANCE_OF) if not place.keys
        ),
        is_supply_own_coins=finder.counts_own_coins(),
    )


class _Finder:
    def __init__(self, notes: Notes, places: StorageLayout, sources: DependencyAnalysis) -> None:
        self._notes = notes
        self._places = places
        self._sources = sources

    def returned_by(self, getter: int) -> Iterator[tuple[StorageLocation, int]]:
        """Yield the storage locations that a getter's return value reads, with the bits read."""
        for note in self._notes.returns.values():
            if note.entry == getter:
                for word in note.words:
                    for slot, bits in self._sources.reads(word):
                        for place in self._places.of(slot):
                            yield place, bits

    def keyed_by(self, getter: int, arguments: set[int]) -> Iterator[Variable]:
        """Yield the mappings in it that are keyed by the arguments at these calldata offsets."""
        for place, bits in self.returned_by(getter):
            given = {
                atom.arguments[0]
                for key in place.keys
                for atom in self._sources.sources(key)
                if atom.operation == "CALLDATALOAD"
            }
            if given.issuperset(arguments):
                yield place.root, bits

    def balance_bits(self) -> dict[VariableId, int]:
        """Return, by mapping, the bits that `balanceOf` returns."""
        found: dict[VariableId, int] = {}
        for root, bits in self.keyed_by(BALANCE_OF, {4}):
            found[root] = found.get(root, 0) | bits
        return found

    def counts_own_coins(self) -> bool:
        """True if `totalSupply()` reads the token contract's native balance."""
        return any(
            term.operation in _OWN_COINS
            for note in self._notes.returns.values()
            if note.entry == TOTAL_SUPPLY
            for word in note.words
            for term in self._sources.subexpressions(word)
        )


class TokenStorage:
    """Roles of a token's variables. *Inferred* from the getters `balanceOf`, `allowance`, ..."""

    def __init__(
        self,
        notes: Notes,
        layout: StorageLayout,
        dependencies: DependencyAnalysis,
        writes: WriteIndex,
        callers: Mapping[FunctionId, list[FunctionId]],
    ) -> None:
        """`callers`: those of each function on its own contract, transitively."""
        self._notes = notes
        self._layout = layout
        self._dependencies = dependencies
        self._writes = writes
        self._callers = callers

    @cached_property
    def roles(self) -> StorageRoles:
        """Storage roles derived from what the getters return."""
        return find_roles(self._notes, self._layout, self._dependencies, approved=self._approved)

    @cached_property
    def predicates(self) -> PredicateAnalyser:
        """Analyser that reads branch conditions as predicates on these variables."""
        return PredicateAnalyser(self._dependencies, self._layout, self.roles)

    @cached_property
    def balances(self) -> Writers:
        """Writers of the storage that `balanceOf` returns. Of several mappings only those to which
        `transfer` stores the amount, and stores to unknown slots; not what is added on top."""
        writers = self._writers_of(BALANCE_OF)
        moved = {write.place.root for write in self._writes.all if self._moves(write)}
        if not moved:
            return self._with_callers(writers)
        notes = (note for note in writers.notes if self._roots_of(note) & (moved | {UNKNOWN}))
        return self._with_callers(msgspec.structs.replace(writers, notes=tuple(notes)))

    @cached_property
    def allowances(self) -> Writers:
        """Writers of the storage that `allowance` returns."""
        return self._with_callers(self._writers_of(ALLOWANCE))

    def is_balance_store(self, effect: Effect) -> bool:
        """True if the effect is a store to a balance."""
        return effect.kind == "SSTORE" and any(
            place.root in self.roles.balances for place in self._layout.of(effect.words[0])
        )

    def moves_balance(self, effect: Effect) -> bool:
        """True if the effect may change a balance; storing the value already there does not."""
        if not self.is_balance_store(effect):
            return False
        slot, value = effect.words
        bits = written_bits(value, slot)
        return any(self.roles.is_balance(place.root, bits) for place in self._layout.of(slot))

    def _approved(self) -> frozenset[VariableId]:
        """Return, for a token without `allowance`, the mappings that `approve` writes instead."""
        stores = (note for note in self.allowances.notes if note.entry == APPROVE)
        return frozenset(root for note in stores for root in self._roots_of(note))

    def _writers_of(self, getter: int) -> Writers:
        """Return the stores to a getter's storage, on paths that can succeed."""
        writers = writers_of(self._notes, getter, self._dependencies.subexpressions)
        alive = {
            (write.entry, write.pc)
            for write in self._writes.all
            if getter != BALANCE_OF or self._may_change_balance(write)
        }
        notes = tuple(note for note in writers.notes if (note.entry, note.pc) in alive)
        return msgspec.structs.replace(writers, notes=notes)

    def _may_change_balance(self, write: StorageWrite) -> bool:
        """True unless the store changes only other bits of a slot that a balance shares."""
        root = write.place.root
        return root not in self.roles.balances or self.roles.is_balance(root, write.bits)

    def _moves(self, write: StorageWrite) -> bool:
        return (
            write.entry == TRANSFER
            and write.place.root in self.roles.balances
            and self.predicates.has_amount(write.value, ERC20_PARAMETERS[TRANSFER])
        )

    def _roots_of(self, note: Note) -> frozenset[VariableId]:
        return frozenset(place.root for place in self._layout.of(note.words[0]))

    def _with_callers(self, writers: Writers) -> Writers:
        """Add the functions that write by calling one of the writers on their own contract: the
        store is the called function's, the entry the caller's."""
        notes = [
            msgspec.structs.replace(note, entry=caller)
            for note in writers.notes
            for caller in self._callers.get(note.entry, ())
        ]
        return msgspec.structs.replace(
            writers, notes=tuple(dict.fromkeys((*writers.notes, *notes)))
        )
