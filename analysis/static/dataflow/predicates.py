"""What the condition of a branch asks about, in a token's terms."""

from collections.abc import Callable, Iterator, Mapping
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

FROM: Final = "from"
TO: Final = "to"
CALLER: Final = "caller"
ORIGIN: Final = "origin"
THIS: Final = "this"
STORED: Final = "stored"
OTHER: Final = "other"
PEOPLE: Final = frozenset({FROM, TO, CALLER, ORIGIN})
_SENDERS: Final = frozenset({FROM, CALLER, ORIGIN})

_ANSWERS: Final = frozenset({"result", "success", "RETURNDATASIZE", "EXTCODESIZE", "EXTCODEHASH"})
_ADDRESS_BITS: Final = 160
_DEEPEST_HASH: Final = 3
_PAIR: Final = 2

_LEAVES: Final = {"CALLER": CALLER, "ORIGIN": ORIGIN, "ADDRESS": THIS, "SLOAD": STORED}

Variable = tuple[VariableId, int]
"""A variable, with the bits of it that were read."""


class ParameterRoles(msgspec.Struct, frozen=True, kw_only=True):
    """Who is who in the arguments of one function."""

    caller_is_sender: bool = False
    sender: int | None = None
    """Place in calldata; None: there is none, or it is the caller."""
    recipient: int | None = None
    amount: int | None = None


ERC20_PARAMETERS: Final = {
    0xA9059CBB: ParameterRoles(caller_is_sender=True, recipient=4, amount=36),
    0x23B872DD: ParameterRoles(sender=4, recipient=36, amount=68),
}
_MUTE: Final = ParameterRoles()


class StorageRoles(msgspec.Struct, frozen=True, kw_only=True):
    """Which variables hold what, as the getters tell."""

    balances: frozenset[VariableId] = frozenset()
    balance_bits: Mapping[VariableId, int] = msgspec.field(default_factory=dict)
    """By mapping: the bits of a slot that `balanceOf` returns. Others hold something else."""
    allowances: frozenset[VariableId] = frozenset()
    supply: frozenset[Variable] = frozenset()
    """What `totalSupply()` is computed from."""
    scale: frozenset[Variable] = frozenset()
    """Variables that `balanceOf` multiplies or divides by: the rate of a reflection token."""
    is_supply_own_coins: bool = False
    """`totalSupply()` tells the native coins that the token holds."""

    def is_balance(self, root: VariableId, bits: int) -> bool:
        """Whether these bits of a mapping are somebody's balance, and not something beside it."""
        return root in self.balances and bool(bits & self.balance_bits.get(root, MASK))


class Predicate(msgspec.Struct, frozen=True, kw_only=True):
    """One condition, taken apart."""

    literal: BranchCondition
    globals: frozenset[Variable] = frozenset()
    """Variables that are the same for everybody; addresses not among them."""
    addresses: frozenset[Variable] = frozenset()
    """Variables that hold one address."""
    lists: frozenset[tuple[Variable, str]] = frozenset()
    """Entries of mappings other than balances and allowances, and of whom."""
    balances_of: frozenset[str] = frozenset()
    is_about_allowance: bool = False
    depends_on_time: bool = False
    has_amount: bool = False
    has_answer: bool = False
    """It depends on what another contract answered."""
    asks_stored: bool = False
    """That contract is named by storage."""

    @property
    def reads_storage(self) -> bool:
        """Whether any storage but balances and allowances decides."""
        return bool(self.globals or self.addresses or self.lists)


class PredicateAnalyser:
    """Reads the conditions of one code."""

    def __init__(
        self, sources: DependencyAnalysis, places: StorageLayout, roles: StorageRoles
    ) -> None:
        self._sources = sources
        self._places = places
        self._known: dict[tuple[BranchCondition, int | None], Predicate] = {}
        self.roles = roles

    def party(self, key: Value, parameters: ParameterRoles) -> str:
        """Whose entry of a mapping this is."""
        bare = address_in(self._sources.single_value(key))
        if isinstance(bare, int):
            return OTHER
        parties = {self._who(atom, parameters) for atom in self._leaves(bare)}
        for party in (FROM, TO, CALLER, ORIGIN, THIS, STORED):
            if party in parties:
                return party
        return OTHER

    def _leaves(self, word: Value, depth: int = _DEEPEST_HASH) -> Iterator[Expr]:
        """What the word depends on, also inside hashes, which may be a list's keys."""
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
        """Take a condition apart."""
        key = (literal, entry)
        if key not in self._known:
            self._known[key] = self._read(literal, entry)
        return self._known[key]

    def _read(self, literal: BranchCondition, entry: int | None) -> Predicate:
        parameters = ERC20_PARAMETERS.get(entry, _MUTE) if entry is not None else _MUTE
        condition = literal.condition
        found = _Found()
        compared_with = self._parties_compared(condition, parameters)
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
        """Whether the word depends on the amount to be moved."""
        return parameters.amount is not None and any(
            atom.operation == "CALLDATALOAD" and atom.arguments[0] == parameters.amount
            for atom in self._sources.sources(word)
        )

    def _sort(
        self, place: StorageLocation, bits: int, parameters: ParameterRoles, found: "_Found"
    ) -> None:
        variable = (place.root, bits)
        if not place.keys:
            is_address = bits.bit_count() == _ADDRESS_BITS
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
        """What shares a slot with a balance, and is read with it."""
        root, bits = variable
        beside = bits & ~self.roles.balance_bits.get(root, MASK)
        if beside and party in PEOPLE:
            found.lists.add(((root, beside), party))

    @staticmethod
    def _sort_allowance(
        variable: Variable, parties: list[str], parameters: ParameterRoles, found: "_Found"
    ) -> None:
        """What somebody lends the caller is an allowance. What a party of a transfer lends to a
        third is a mark on that party."""
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

    def _parties_compared(self, condition: Value, parameters: ParameterRoles) -> set[str]:
        """Parties of a transfer that something stored is compared with."""
        found = set()
        for term in self._sources.subexpressions(condition):
            if term.operation in ("EQ", "XOR", "SUB"):
                for one, other in (term.arguments, term.arguments[::-1]):
                    if any(True for _ in self._sources.reads(other)):
                        found.add(self.party(one, parameters))
        return found & PEOPLE

    def _compared_with_people(self, condition: Value) -> set[Variable]:
        """Variables that are compared as wholes with the caller or an argument."""
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
        """Whether the literal holds for an address that no list names.

        None: other things decide.
        """
        value = self._evaluate(
            reading.literal.condition, lambda slot: 0 if self._is_list(slot) else None
        )
        return None if value is None else bool(value) is reading.literal.holds

    def _is_list(self, slot: Value) -> bool:
        return all(
            place.keys and place.root not in self.roles.balances for place in self._places.of(slot)
        )

    def _evaluate(self, word: Value, value_of: Callable[[Value], int | None]) -> int | None:
        return evaluate(self._sources.single_value(word), value_of)


class _Found:
    """What `Reader.read` gathers."""

    def __init__(self) -> None:
        self.globals: set[Variable] = set()
        self.addresses: set[Variable] = set()
        self.lists: set[tuple[Variable, str]] = set()
        self.balances_of: set[str] = set()
        self.is_about_allowance = False


def evaluate(word: Value, value_of: Callable[[Value], int | None], depth: int = 24) -> int | None:
    """The word with some storage known. None: the rest decides."""
    if isinstance(word, int):
        return word
    if depth == 0:
        return None
    if word.operation == "SLOAD":
        return value_of(word.arguments[0])
    values = [evaluate(each, value_of, depth - 1) for each in word.arguments]
    if word.operation in ("AND", "MUL") and 0 in values:
        return 0
    if None in values or word.operation not in FOLDED or not values:
        return None
    return FOLDED[word.operation](*values) & MASK
