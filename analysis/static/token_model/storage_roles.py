"""Storage roles: variables behind the getters of balances, allowances and total supply."""

from collections.abc import Callable, Iterator

from analysis.static.dataflow.dependencies import DependencyAnalysis
from analysis.static.dataflow.predicates import StorageRoles, Variable
from analysis.static.dataflow.storage_layout import StorageLayout, StorageLocation, VariableId
from analysis.static.evm.path_state import ALLOWANCE, BALANCE_OF, TOTAL_SUPPLY, Notes

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
