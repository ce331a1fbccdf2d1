"""Classification of branch conditions in a token's terms: balances, address lists, clock, amount.

Input: a branch condition, the backward slices of its expressions (`DependencyAnalysis`) and the
storage layout. Output: a `Predicate` with the variables, parties and other inputs that it depends
on. A phi contributes the dependencies of all its operands: an over-approximation.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import CALLERS, CLOCKS, HASHES, DependencyAnalysis
from analysis.static.dataflow.storage_layout import (
    StorageLayout,
    StorageLocation,
    VariableId,
    is_element,
)
from analysis.static.evm.expressions import FOLDED, MASK, Expr, Value, address_in
from analysis.static.evm.function_cfg import BranchCondition
from analysis.static.evm.path_state import TRANSFER, TRANSFER_FROM
from core.evm.primitives import ADDRESS_BITS

FROM: Final = "from"
TO: Final = "to"
CALLER: Final = "caller"
ORIGIN: Final = "origin"
THIS: Final = "this"
STORED: Final = "stored"
OTHER: Final = "other"
PEOPLE: Final = frozenset({FROM, TO, CALLER, ORIGIN})

_ANSWERS: Final = frozenset({"result", "success", "RETURNDATASIZE", "EXTCODESIZE", "EXTCODEHASH"})
_DEEPEST_HASH: Final = 3
_PAIR: Final = 2
_LATE: Final = 4_000_000_000
"""A time, and a block number, long after every mark that a transfer has left."""

_NOTHING: Final = MappingProxyType[Expr, int]({})

_LEAVES: Final = {"CALLER": CALLER, "ORIGIN": ORIGIN, "ADDRESS": THIS, "SLOAD": STORED}

Variable = tuple[VariableId, int]
"""A variable and the mask of its bits that are read."""


class ParameterRoles(msgspec.Struct, frozen=True, kw_only=True):
    """The calldata offsets of sender, recipient and amount in one function, in bytes."""

    caller_is_sender: bool = False
    sender: int | None = None
    """Calldata offset in bytes. None: there is none, or the sender is the caller."""
    recipient: int | None = None
    amount: int | None = None


ERC20_PARAMETERS: Final = {
    TRANSFER: ParameterRoles(caller_is_sender=True, recipient=4, amount=36),
    TRANSFER_FROM: ParameterRoles(sender=4, recipient=36, amount=68),
}
_NO_ROLES: Final = ParameterRoles()


def declared_slots(variables: Iterable[Variable]) -> set[int]:
    """Return the declared slots of variables, where they are plain numbers."""
    slots = (StorageLocation(root=root).slot for root, _ in variables)
    return {slot for slot in slots if slot is not None}


def parameters_of(entry: int | None) -> ParameterRoles:
    """Return the roles of a function's parameters: none but those of the two transfers have any."""
    return _NO_ROLES if entry is None else ERC20_PARAMETERS.get(entry, _NO_ROLES)


class StorageRoles(msgspec.Struct, frozen=True, kw_only=True):
    """The roles of storage variables, derived from the getters that return them."""

    balances: frozenset[VariableId] = frozenset()
    balance_bits: Mapping[VariableId, int] = msgspec.field(default_factory=dict)
    """Mask of the slot bits that `balanceOf` returns, by mapping. Other bits are other fields."""
    allowances: frozenset[VariableId] = frozenset()
    supply: frozenset[Variable] = frozenset()
    """Variables that `totalSupply()` is computed from."""
    scale: frozenset[Variable] = frozenset()
    """Variables that `balanceOf` multiplies or divides by: the rate of a reflection token."""
    is_supply_own_coins: bool = False
    """`totalSupply()` returns the native balance of the token contract."""

    def is_balance(self, root: VariableId, bits: int) -> bool:
        """True if these bits of a mapping are a balance, not another field packed into the same
        slot."""
        return root in self.balances and bool(bits & self.balance_bits.get(root, MASK))


class Predicate(msgspec.Struct, frozen=True, kw_only=True):
    """One branch condition with everything that it depends on."""

    literal: BranchCondition
    globals: frozenset[Variable] = frozenset()
    """Variables without a key, except addresses: the same for all parties."""
    addresses: frozenset[Variable] = frozenset()
    """Variables without a key that hold an address."""
    lists: frozenset[tuple[Variable, str]] = frozenset()
    """Mappings other than balances and allowances, each with the party whose entry is read."""
    balances_of: frozenset[str] = frozenset()
    is_about_allowance: bool = False
    depends_on_time: bool = False
    has_amount: bool = False
    has_answer: bool = False
    """True if it depends on the result or success of a call, or on another account's code."""
    asks_stored: bool = False
    """True if the address of the called contract is read from storage."""

    @property
    def reads_storage(self) -> bool:
        """True if it depends on storage other than balances and allowances."""
        return bool(self.globals or self.addresses or self.lists)


class PredicateAnalyser:
    """Memoised classifier of the branch conditions of one contract."""

    def __init__(
        self, sources: DependencyAnalysis, places: StorageLayout, roles: StorageRoles
    ) -> None:
        self._sources = sources
        self._places = places
        self._known: dict[tuple[BranchCondition, int | None], Predicate] = {}
        self.roles = roles

    def party(self, key: Value, parameters: ParameterRoles) -> str:
        """Return the party that a mapping key names; `OTHER` for constants and unknown keys."""
        bare = address_in(self._sources.single_value(key))
        if isinstance(bare, int):
            return OTHER
        parties = {self._who(atom, parameters) for atom in self._leaves(bare)}
        for party in (FROM, TO, CALLER, ORIGIN, THIS, STORED):
            if party in parties:
                return party
        return OTHER

    def _leaves(self, word: Value, depth: int = _DEEPEST_HASH) -> Iterator[Expr]:
        """Yield what the word depends on, also inside hashes: a list may be keyed by a hash."""
        for atom in self._sources.sources(word):
            if atom.operation in HASHES and depth:
                for part in atom.arguments:
                    yield from self._leaves(part, depth - 1)
            else:
                yield atom

    @staticmethod
    def _who(atom: Expr, parameters: ParameterRoles) -> str:
        who = _LEAVES.get(atom.operation, OTHER)
        if who == CALLER and parameters.caller_is_sender:
            who = FROM
        elif atom.operation == "CALLDATALOAD":
            place = atom.arguments[0]
            if place == parameters.sender:
                who = FROM
            elif place == parameters.recipient:
                who = TO
        return who

    def read(self, literal: BranchCondition, entry: int | None) -> Predicate:
        """Classify a condition in the function `entry`; None is the fallback."""
        key = (literal, entry)
        if key not in self._known:
            self._known[key] = self._read(literal, entry)
        return self._known[key]

    def _read(self, literal: BranchCondition, entry: int | None) -> Predicate:
        parameters = parameters_of(entry)
        condition = literal.condition
        found = _Found()
        compared_with = self.parties_compared(condition, parameters)
        for slot, bits in self._sources.reads(condition):
            for place in self._places.of(slot):
                if is_element(place.root):
                    variable = (place.root, bits)
                    found.lists |= {(variable, party) for party in compared_with or {OTHER}}
                else:
                    self._sort(place, bits, parameters, found)
        atoms = self._sources.sources(condition)
        compared = self._compared_with_people(condition)
        return Predicate(
            literal=literal,
            globals=frozenset(found.globals - compared),
            addresses=frozenset(found.addresses | (found.globals & compared)),
            lists=frozenset(found.lists),
            balances_of=frozenset(found.balances_of),
            is_about_allowance=found.is_about_allowance,
            depends_on_time=any(atom.operation in CLOCKS for atom in atoms),
            has_amount=self.has_amount(condition, parameters),
            has_answer=any(
                term.operation in _ANSWERS for term in self._sources.subexpressions(condition)
            ),
            asks_stored=any(self._asks_stored(atom) for atom in atoms),
        )

    def has_amount(self, word: Value, parameters: ParameterRoles) -> bool:
        """True if the word depends on the amount parameter of the transfer."""
        return parameters.amount is not None and any(
            atom.operation == "CALLDATALOAD" and atom.arguments[0] == parameters.amount
            for atom in self._sources.sources(word)
        )

    def _sort(
        self, place: StorageLocation, bits: int, parameters: ParameterRoles, found: "_Found"
    ) -> None:
        variable = (place.root, bits)
        if not place.keys:
            is_address = bits.bit_count() == ADDRESS_BITS
            (found.addresses if is_address else found.globals).add(variable)
            return
        parties = [self.party(key, parameters) for key in place.keys]
        if place.root in self.roles.allowances:
            self._sort_allowance(variable, parties, parameters, found)
        elif self.roles.is_balance(place.root, bits):
            found.balances_of.add(parties[0])
            self._sort_beside(variable, parties[0], found)
        else:
            people = [party for party in parties if party in PEOPLE]
            found.lists.add((variable, people[0] if people else parties[0]))

    def _sort_beside(self, variable: Variable, party: str, found: "_Found") -> None:
        """Record the bits that are read together with a balance from the same slot."""
        root, bits = variable
        beside = bits & ~self.roles.balance_bits.get(root, MASK)
        if beside and party in PEOPLE:
            found.lists.add(((root, beside), party))

    @staticmethod
    def _sort_allowance(
        variable: Variable, parties: list[str], parameters: ParameterRoles, found: "_Found"
    ) -> None:
        """Record a read of the allowance mapping.

        An allowance towards the caller is an allowance. One that a party of a transfer gave to a
        third address is a list entry of that party.
        """
        callers = {CALLER, ORIGIN, *((FROM,) if parameters.caller_is_sender else ())}
        is_mark = (
            parameters.recipient is not None
            and len(parties) == _PAIR
            and parties[0] in PEOPLE
            and parties[1] not in callers
        )
        if is_mark:
            found.lists.add((variable, parties[0]))
        else:
            found.is_about_allowance = True

    def parties_compared(self, condition: Value, parameters: ParameterRoles) -> set[str]:
        """Return the parties of a transfer that a stored value is compared with."""
        found = set()
        for term in self._sources.subexpressions(condition):
            if term.operation in ("EQ", "XOR", "SUB"):
                for one, other in (term.arguments, term.arguments[::-1]):
                    if any(True for _ in self._sources.reads(other)):
                        found.add(self.party(one, parameters))
        return found & PEOPLE

    def _compared_with_people(self, condition: Value) -> set[Variable]:
        """Return the variables that are compared for equality with the caller or the origin."""
        found: set[Variable] = set()
        for term in self._sources.subexpressions(condition):
            if term.operation not in ("EQ", "XOR", "SUB"):
                continue
            for one, other in (term.arguments, term.arguments[::-1]):
                if self._is_person(one) and isinstance(other, Expr):
                    for slot, bits in self._sources.reads(other):
                        found |= {(place.root, bits) for place in self._places.of(slot)}
        return found

    def _is_person(self, word: Value) -> bool:
        bare = address_in(self._sources.single_value(word))
        return isinstance(bare, Expr) and bare.operation in CALLERS

    def _asks_stored(self, atom: Expr) -> bool:
        if atom.operation == "result":
            target = atom.arguments[0]
        elif atom.operation == "success":
            target = atom.arguments[1]
        else:
            return False
        return self._sources.has(target, frozenset({"SLOAD"}))

    def holds_for_unlisted_address(self, reading: Predicate) -> bool | None:
        """True if the literal holds for an address whose list entries are all zero.

        None: it depends on other values as well.
        """
        value = self._evaluate(
            reading.literal.condition, lambda slot: 0 if self._is_list(slot) else None
        )
        return None if value is None else bool(value) is reading.literal.holds

    def holds_for_rested_address(self, reading: Predicate) -> bool | None:
        """True if the literal holds late, for an address whose list entries are all zero.

        Other variables count as one. None: it depends on further values.
        """
        value = evaluate(
            self._sources.single_value(reading.literal.condition),
            lambda slot: int(not self._is_list(slot)),
            clock=_LATE,
        )
        return None if value is None else bool(value) is reading.literal.holds

    def _is_list(self, slot: Value) -> bool:
        return all(
            place.keys and place.root not in self.roles.balances for place in self._places.of(slot)
        )

    def _evaluate(self, word: Value, value_of: Callable[[Value], int | None]) -> int | None:
        return evaluate(self._sources.single_value(word), value_of)


class _Found:
    """Accumulator of `PredicateAnalyser.read`."""

    def __init__(self) -> None:
        self.globals: set[Variable] = set()
        self.addresses: set[Variable] = set()
        self.lists: set[tuple[Variable, str]] = set()
        self.balances_of: set[str] = set()
        self.is_about_allowance = False


def evaluate(
    word: Value,
    value_of: Callable[[Value], int | None],
    depth: int = 24,
    *,
    clock: int | None = None,
    known: Mapping[Expr, int] = _NOTHING,
) -> int | None:
    """Evaluate the word with storage values from `value_of`, which maps a slot to its value.

    `clock`: time and block number. `known`: values of other expressions. None: it depends on an
    unknown value, or is nested deeper than `depth`.
    """
    if isinstance(word, int):
        return word
    if depth == 0 or word in known:
        return known.get(word)
    if word.operation in CLOCKS:
        return clock
    if word.operation == "SLOAD":
        return value_of(word.arguments[0])
    values = [
        evaluate(each, value_of, depth - 1, clock=clock, known=known) for each in word.arguments
    ]
    if word.operation in ("AND", "MUL") and 0 in values:
        return 0
    given = [value for value in values if value is not None]
    is_known = given and len(given) == len(values) and word.operation in FOLDED
    return FOLDED[word.operation](*given) & MASK if is_known else None
