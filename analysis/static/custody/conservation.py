"""Proof of conservation: no successful path of a function raises the sum of the balances.

Each path adds up, over integers, what its stores at most add to balances and at least add to the
supply. A path is proved if the sum is not positive, or not above what is added to the supply (a
mint, which is a power), or not above the coins paid in where the supply is the contract's coins.
Everything else, and whatever the bounds of the search cut off, is unproved.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import Final

import msgspec

from analysis.static.custody.conserved_amounts import (
    AmountBounds,
    UnboundedError,
    amount_in,
    is_not_more,
    narrowed,
    read_in,
)
from analysis.static.custody.custody_facts import (
    Distinct,
    EqualityFact,
    Fact,
    NotNegative,
    known_differences,
    parts_of_condition,
)
from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.custody.custody_search import PathSearch
from analysis.static.custody.custody_slice import CustodySlice, SearchPrecision
from analysis.static.custody.custody_state import BalanceLedger, SearchState
from analysis.static.dataflow.addresses import party
from analysis.static.dataflow.linear_amounts import (
    UNSTEADY,
    LinearAmount,
    added,
    is_unsteady,
    negated,
    reductions,
)
from analysis.static.dataflow.storage_layout import StorageLocation
from analysis.static.evm.cfg import CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, subterms
from analysis.static.evm.held_reads import CALL, UNSURE, may_alias
from analysis.static.evm.path_state import rank
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.storage.constant_slots import may_be_entry

_BY_AMOUNTS: Final = SearchPrecision(amounts=True, conditions=False, states=400)
_BY_BOTH: Final = SearchPrecision(amounts=True, conditions=True, states=800)
_MOST_WORK: Final = 2_400
"""States explored of one code."""
_ORDERS: Final = frozenset({"LT", "GT"})
_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})
_SUMS: Final = frozenset({"ADD", "SUB", "AND"})
_PACKED: Final = _SUMS | {"OR", "SHL", "SHR"}
_MOST_PAIRS: Final = 4_000
_VAGUE: Final = UNSTEADY | {"phi", "top", "memory"}
_LARGEST_EXACT: Final = 1_500
"""Nodes of a function in which an unproved path is taken as real."""
_LARGEST_GATED: Final = 500
"""Nodes of a function whose branches for privileged callers are searched too."""
_LOST: Final = "a path was not followed"
_MANY: Final = "too many paths"
_CONSTANT: Final = "a store to a constant place, which may be a balance"
_PLACE: Final = "the place of a store is not known"
_AMOUNT: Final = "the stored amount is not known"
_ORDER: Final = "a balance is read before it, or another one, may be stored"
_CHANGED: Final = "an amount may change between debit and credit"
_UNKNOWN: Final = "an amount is the answer of a call, which one expression does not identify"
_COINS: Final = "CALLVALUE"


class UnprovedSum(msgspec.Struct, frozen=True, kw_only=True):
    """A function that may raise the sum of the balances."""

    entry: FunctionId
    pc: int
    reason: str
    is_pure: bool
    """True if a path has no debit at all."""
    is_privileged: bool
    is_unseen: bool
    """True if the account is not known, so that no simulated call shows the credit."""
    is_certain: bool
    """False if the bounds of the search, or merged values, may be the reason."""

    @property
    def is_cut_short(self) -> bool:
        """True if the search ended at its bound, and found no reason before."""
        return self.reason in (_MANY, _LOST)


class _Slice(CustodySlice):
    """The nodes of a function that decide on the sum of the balances."""

    def __init__(self, prover: CustodyProver, entry: FunctionId, depth: SearchPrecision) -> None:
        self._known: dict[Value, bool] = {}
        super().__init__(prover, entry, depth)
        self._compared: set[tuple[Value, Value]] = set()
        """Pairs of words whose order bounds a stored amount."""
        self._factors: set[Value] = set()
        """Words of which stored amounts are products: if one is zero, so is the product."""
        self._keys: set[Value] = set()
        for effects in self.events.values():
            for effect in effects:
                self._note_words(effect)

    def _note_words(self, effect: Effect) -> None:
        """Note what decides on the amount and the place of a store."""
        if not self.code.storage.is_balance_store(effect):
            self._note_sums(effect.words[1])
        for term in self.prover.deep(effect.words[1]):
            if term.operation == "SUB":
                self._note_difference(term)
            elif term.operation == "AND":
                self._note_narrow(term)
            elif term.operation == "MUL":
                for word in term.arguments:
                    self._factors.update(self._meanings(word))
            elif term.operation == "ADD" and isinstance(term.arguments[0], int):
                self._note(term.arguments[1], -term.arguments[0] & MASK)
        for place in self.code.layout.of(effect.words[0]):
            for key in place.keys:
                self._keys.update(map(party, (key, *self._meanings(key))))

    def _note_difference(self, difference: Expr) -> None:
        large, small = difference.arguments
        self._note(large, small)
        self._note(large, difference)
        self._note_sums(small)

    def _note_narrow(self, term: Expr) -> None:
        pool = self.code.pool
        match term.arguments:
            case (int(mask), Expr(operation="ADD") as inner):
                self._note(mask + 1, inner)
            case (int(mask), Expr(operation="SUB", arguments=(one, other))):
                self._note(narrowed(pool, one, mask), narrowed(pool, other, mask))

    def _note_sums(self, word: Value) -> None:
        build = self.code.pool.build
        for term in self.prover.deep(word):
            if term.operation == "ADD":
                one, other = term.arguments
                for part, rest in ((one, other), (other, one)):
                    self._note(term, part)
                    self._note(build("NOT", rest), part)
                    self._note(build("SUB", MASK, rest), part)

    def _note(self, large: Value, small: Value) -> None:
        if isinstance(large, Expr) and large.operation == "ADD":
            for term in large.arguments:
                self._note(term, small)
        if len(self._compared) < _MOST_PAIRS:
            self._compared.update(
                (whole, part)
                for whole in self._meanings(large)
                for one in self._meanings(small)
                for part in reductions(one)
            )

    def _meanings(self, word: Value) -> tuple[Value, ...]:
        return self.code.dependencies.phi_values(word)

    def is_event(self, effect: Effect) -> bool:
        return (
            self.code.storage.is_balance_store(effect)
            or is_unseen_store(self.code, effect)
            or is_supply_store(self.code, effect)
            or (effect.kind == "SSTORE" and self._changes_amounts(effect.words[0]))
        )

    def _changes_amounts(self, slot: Value) -> bool:
        """True if stored amounts are computed from what may be at this slot."""
        known = self._known.get(slot)
        if known is None:
            pool = self.code.pool
            known = any(may_alias(pool, slot, each) for each in self._read_slots)
            self._known[slot] = known
        return known

    @cached_property
    def _read_slots(self) -> set[Value]:
        return {
            term.arguments[0]
            for _, effect in self.flow.effects()
            if self.code.storage.is_balance_store(effect)
            for term in self.prover.deep(effect.words[1])
            if term.operation == "SLOAD"
        }

    def is_owing(self, effect: Effect) -> bool:
        return self.is_event(effect)

    def _find_differences(self) -> Iterator[NotNegative]:
        return iter(())

    def _find_holders(self) -> Iterator[Value]:
        return iter(())

    def _tells(self, condition: Expr) -> bool:
        if self.depth.conditions and condition in self._repeated:
            return True
        meanings = self._meanings(condition)
        if len(meanings) > 1 and any(isinstance(each, int) for each in meanings):
            return True  # a flag that was set on one path before
        if any(self._compares(meaning) for meaning in meanings):
            return True
        return self.prover.reader.may_tell(condition) and any(
            self.gates.privilege(self.prover.reader.facts(meaning, holds=holds))[number]
            for meaning in self._meanings(condition)
            for holds in (True, False)
            for number in (0, 1)
        )

    def _compares(self, condition: Value) -> bool:
        for holds in (True, False):
            for term, is_true in parts_of_condition(condition, holds=holds):
                if term.operation in _ORDERS:
                    one, other = [*map(self._meanings, term.arguments)]
                    pairs = {(a, b) for a in one for b in other for a, b in ((a, b), (b, a))}
                    if not self._compared.isdisjoint(pairs):
                        return True
                if any(
                    word in self._factors
                    for zero in zero_words(term, is_true=is_true)
                    for word in self._meanings(zero)
                ):
                    return True
                if term.operation in _EQUALITIES and all(
                    party(word) in self._keys for word in term.arguments
                ):
                    return True
        return False

    def kept(self, stated: Iterable[Fact]) -> set[Fact]:
        return set()

    def shown(self, condition: Value, *, holds: bool) -> Collection[Fact]:
        found: set[Fact] = {
            NotNegative(large, small)
            for large, small in known_differences(self.code, condition, holds=holds)
            if small != 0
        }
        for term, is_true in parts_of_condition(condition, holds=holds):
            found.update(
                EqualityFact(0, word)
                for word in zero_words(term, is_true=is_true)
                if word in self._factors
            )
            if term.operation in _EQUALITIES and (term.operation == "EQ") is not is_true:
                one, other = map(party, term.arguments)
                if one in self._keys and other in self._keys:
                    found.add(Distinct(one, other))
        return found


class ConservationSearch(PathSearch):
    """The search over the paths of one function with the sum that each adds to the balances."""

    def __init__(
        self,
        prover: CustodyProver,
        entry: FunctionId,
        *,
        depth: SearchPrecision,
        with_gates: bool = False,
        like: PathSearch | None = None,
    ) -> None:
        super().__init__(prover, entry, depth=depth, with_gates=with_gates, like=like)
        self.unproved: dict[bool, UnprovedSum] = {}
        """The first unproved path, by whether only privileged callers can take it."""
        self.is_cut = False
        """True if a bound was reached."""

    def _sliced(
        self, prover: CustodyProver, entry: FunctionId, depth: SearchPrecision
    ) -> CustodySlice:
        return _Slice(prover, entry, depth)

    def _give_up(self) -> None:
        self.is_cut = True
        pcs = [effect.pc for effects in self.slice.events.values() for effect in effects]
        self._open(
            BalanceLedger(pc=min(pcs, default=0), broken=_MANY, is_cut=True),
            is_privileged=False,
        )

    def _open(self, ledger: BalanceLedger, *, is_privileged: bool) -> None:
        reason = ledger.broken or "more is added to balances than taken from them"
        self.unproved.setdefault(
            is_privileged,
            UnprovedSum(
                entry=self.entry,
                pc=ledger.pc,
                reason=reason,
                is_pure=not ledger.has_debit and not ledger.broken,
                is_privileged=is_privileged,
                is_unseen=ledger.is_unseen,
                is_certain=self._is_certain(ledger),
            ),
        )

    def _is_certain(self, ledger: BalanceLedger) -> bool:
        """True if the path was followed exactly, so that it needs no better search."""
        return (
            self.depth.conditions
            and not ledger.is_cut
            and len(self.code.storage.roles.balances) == 1
            and len(self.flow.nodes) <= _LARGEST_EXACT
            and not any(_is_vague(word) for word, _ in ledger.balances)
        )

    def _lost(self, node: CfgNode, state: SearchState) -> SearchState:
        ledger = msgspec.structs.replace(state.ledger, pc=node.pc, broken=_LOST, is_cut=True)
        return msgspec.structs.replace(state, ledger=ledger)

    def _close(self, here: SearchState, state: SearchState) -> None:
        ledger = here.ledger
        if not ledger.broken:
            zero = {fact.other for fact in here.facts if isinstance(fact, EqualityFact)}
            rest = frozenset(pair for pair in ledger.balances if not is_zero(pair[0], zero))
            ledger = msgspec.structs.replace(ledger, balances=rest)
            if is_not_more(ledger.balances):
                return
            if is_not_more(added(ledger.balances, negated(ledger.supply))):
                return
            if self.code.storage.roles.is_supply_own_coins and is_not_more(
                added(ledger.balances, frozenset({(self.code.pool.intern(_COINS), -1)}))
            ):
                return
        is_privileged = self.with_gates and any(self._privilege(state))
        self._open(ledger, is_privileged=is_privileged)

    # --- stores -------------------------------------------------------------------------------

    def _do(self, effect: Effect, state: SearchState) -> SearchState:
        ledger = state.ledger
        if not self.slice.is_event(effect) or ledger.broken:
            return state
        phis = self.prover.phis
        slot, value = (phis.resolve(word, state.bindings) for word in effect.words[:2])
        roles = self.code.storage.roles
        places = self.code.layout.of(slot)
        if is_unseen_store(self.code, effect):
            ledger = msgspec.structs.replace(
                ledger, pc=effect.pc, broken=_CONSTANT, is_cut=True, is_unseen=True
            )
            return msgspec.structs.replace(state, ledger=ledger)
        bounds = AmountBounds(self.code.pool, state.facts)
        try:
            if any(place.root in roles.balances for place in places):
                bits = self._bits(places)
                ledger = self._balance(effect, state, slot, value, bits, bounds)
            else:
                ledger = self._supply(effect, slot, value, ledger, bounds)
                if ledger.balances:
                    stores = ledger.stores | {slot}
                    ledger = msgspec.structs.replace(ledger, stores=stores)
        except UnboundedError as problem:
            is_vague = self._is_rate(problem) or any(map(_is_vague, (slot, value)))
            ledger = msgspec.structs.replace(
                ledger, pc=effect.pc, broken=str(problem), is_cut=is_vague
            )
        is_raised = self._is_raised(state.ledger, ledger)
        facts = frozenset(
            fact for fact in state.facts if self._outlasts(fact, slot, is_raised=is_raised)
        )
        return msgspec.structs.replace(state, ledger=ledger, facts=facts)

    def _is_rate(self, problem: UnboundedError) -> bool:
        """True if the difference is from a quotient of itself: a rate whose bound is not proved."""
        if problem.difference is None:
            return False
        large, small = problem.difference
        return self.prover.is_part(large, small) and any(
            term.operation in ("DIV", "SHR") for term in self.prover.deep(small)
        )

    def _bits(self, places: Iterable[StorageLocation]) -> int:
        """Return the bits of the balance at one of these places. Raises UnboundedError."""
        roles = self.code.storage.roles
        found = {roles.balance_bits.get(place.root) for place in places}
        bits = found.pop()
        if found or bits is None:
            raise UnboundedError(_PLACE)
        return bits

    def _supply(
        self, effect: Effect, slot: Value, value: Value, ledger: BalanceLedger, bounds: AmountBounds
    ) -> BalanceLedger:
        """Count a store to the supply.

        It may be from the supply before or after any earlier store of the path, so of those only
        what they may have taken away counts.
        """
        for root, bits in self.code.storage.roles.supply:
            if any(place.root == root for place in self.code.layout.of(slot)):
                change = self._supply_change(slot, value, bits, bounds)
                lowered = frozenset((word, count) for word, count in change if count < 0)
                return msgspec.structs.replace(
                    ledger,
                    supply=added(ledger.lowered, change),
                    lowered=added(ledger.lowered, lowered),
                )
        return ledger

    def _supply_change(
        self, slot: Value, value: Value, bits: int, bounds: AmountBounds
    ) -> LinearAmount:
        """Return at least how much a store adds to the supply; all may be gone where nothing is
        known of the stored value."""
        old = self.code.pool.intern("SLOAD", slot)
        amount = amount_in(self.code.pool, value, bits)
        try:
            least = frozenset() if amount is None else bounds.lower(amount)
        except UnboundedError:
            least = frozenset()
        olds = [word for word, _ in least if read_in(word, slot, bits) is not None]
        if len(olds) > 1:
            least = frozenset()
        return added(least, frozenset({(olds[0] if len(olds) == 1 else old, -1)}))

    def _balance(
        self,
        effect: Effect,
        state: SearchState,
        slot: Value,
        value: Value,
        bits: int,
        bounds: AmountBounds,
    ) -> BalanceLedger:
        ledger = state.ledger
        amount = amount_in(self.code.pool, value, bits)
        if amount is None:
            raise UnboundedError(_AMOUNT)
        most = bounds.upper(amount)
        olds = {word for word, _ in most if read_in(word, slot, bits) is not None}
        self._check_reads(effect, state, slot, bits, olds)
        old = next(iter(olds), None)
        if old is None:
            old = self.code.pool.intern("SLOAD", slot)
        change = added(most, frozenset({(old, -1)}))
        if any(is_unsteady(word) for word, _ in change):
            raise UnboundedError(_UNKNOWN)
        self._check_amounts(effect, state, change, ledger)
        total = added(ledger.balances, change)
        has_debit = ledger.has_debit or any(count < 0 for _, count in change)
        return msgspec.structs.replace(
            ledger,
            balances=total,
            has_debit=has_debit,
            pc=effect.pc,
            stores=ledger.stores | {slot} if total else frozenset(),
        )

    def _check_reads(
        self, effect: Effect, state: SearchState, slot: Value, bits: int, olds: set[Value]
    ) -> None:
        """Raise UnboundedError if the balance may have been read before a store to the same one."""
        if not olds:
            return
        pool = self.code.pool
        wanted = {read for old in olds for read in pool.reads_in(old)}
        resolve = self.prover.phis.resolve
        plain = summed_reads(effect.words[1], _SUMS if bits == MASK else _PACKED)
        is_plain = wanted <= {resolve(read, state.bindings) for read in plain}
        reads = (plain if is_plain else pool.reads_in(effect.words[1])) | wanted
        for read, stored in effect.stale:
            if read is None or read not in reads:
                continue
            if read.operation == "phi":
                is_wanted = self._may_be_of(read, slot)
            else:
                is_wanted = self.prover.phis.resolve(read, state.bindings) in wanted
            if is_wanted and (stored == UNSURE or not self._is_other(stored, slot, state)):
                raise UnboundedError(_ORDER)

    def _may_be_of(self, phi: Expr, slot: Value) -> bool:
        """True if a phi may stand for what was read from the slot."""
        return any(
            term.operation == "SLOAD" and may_alias(self.code.pool, term.arguments[0], slot)
            for term in self.prover.deep(phi)
        )

    def _check_amounts(
        self,
        effect: Effect,
        state: SearchState,
        change: LinearAmount,
        ledger: BalanceLedger,
    ) -> None:
        """Raise UnboundedError if a term of both sides may have changed between them."""
        if not ledger.balances:
            return
        pool = self.code.pool
        shared = {word for word, _ in change} & {word for word, _ in ledger.balances}
        stale = {(read, stored) for read, stored in effect.stale if read is not None}
        unresolved = pool.reads_in(effect.words[1])
        for word in shared:
            for term in subterms(word):
                if term.operation != "SLOAD":
                    continue
                for stored in ledger.stores:
                    if self._is_other(stored, term.arguments[0], state):
                        continue
                    is_held = any(
                        read is term and not self._is_other(after, term.arguments[0], state)
                        for read, after in stale
                    )
                    if not is_held or (term, UNSURE) in stale or term not in unresolved:
                        raise UnboundedError(_CHANGED)

    def _is_other(self, one: Value, other: Value, state: SearchState) -> bool:
        """True if two slots surely differ."""
        if one == CALL:
            return not self.prover.is_called_back(self.entry)
        if one == UNSURE:
            return False
        one = self.prover.phis.resolve(one, state.bindings)
        if one == other:
            return False
        if not may_alias(self.code.pool, one, other):
            return True
        for first in self.code.layout.of(one):
            for second in self.code.layout.of(other):
                if not self._are_distinct(first, second, state):
                    return False
        return True

    @staticmethod
    def _are_distinct(one: StorageLocation, other: StorageLocation, state: SearchState) -> bool:
        if one.root != other.root:
            return True
        if len(one.keys) != len(other.keys):
            return False
        for first, second in zip(map(party, one.keys), map(party, other.keys), strict=True):
            if isinstance(first, int) and isinstance(second, int) and first != second:
                return True
            if {Distinct(first, second), Distinct(second, first)} & state.facts:
                return True
        return False

    @staticmethod
    def _is_raised(before: BalanceLedger, after: BalanceLedger) -> bool:
        """True if a store has only added to a balance."""
        change = added(after.balances, negated(before.balances))
        return not after.broken and all(count > 0 for _, count in change)

    def _forget(self, effect: Effect, state: SearchState) -> SearchState:
        after = super()._forget(effect, state)
        if effect.kind != "SSTORE" or not self.slice.is_event(effect):
            return after
        # `_do` has judged the differences, by whether the store raises a balance.
        kept = {fact for fact in state.facts if isinstance(fact, NotNegative)}
        return msgspec.structs.replace(after, facts=after.facts | kept)

    def _outlasts(self, fact: Fact, slot: Value, *, is_raised: bool) -> bool:
        """True if a difference is still not negative: a balance that is compared is not lowered."""
        if not isinstance(fact, NotNegative):
            return True
        words = [fact.subtrahend]
        if not (is_raised and isinstance(fact.minuend, Expr) and fact.minuend.operation == "SLOAD"):
            words.append(fact.minuend)
        return not any(
            read.operation == "SLOAD" and may_alias(self.code.pool, read.arguments[0], slot)
            for word in words
            for read in self.code.pool.reads_in(word)
        )


def _is_vague(word: Value) -> bool:
    """True if the word stands for several values, or for one that is not known."""
    return any(term.operation in _VAGUE for term in subterms(word))


def zero_words(term: Expr, *, is_true: bool) -> Iterator[Value]:
    """Yield the words that are zero if a comparison has this outcome."""
    match (term.operation, term.arguments):
        case ("EQ", (0, word)) if is_true:
            yield word
        case ("LT", (0, word)) | ("GT", (word, 0)) if not is_true:
            yield word
        case (name, _) if name not in _EQUALITIES | _ORDERS and not is_true:
            yield term


def is_zero(word: Value, zero: Collection[Value]) -> bool:
    """True if the word is zero because one of its factors is."""
    if word in zero:
        return True
    match word:
        case Expr(operation="MUL", arguments=(one, other)):
            return is_zero(one, zero) or is_zero(other, zero)
        case (
            Expr(operation="DIV", arguments=(inner, _))
            | Expr(operation="SHR", arguments=(_, inner))
        ):
            return is_zero(inner, zero)
    return False


def summed_reads(value: Value, sums: frozenset[str]) -> set[Expr]:
    """Return the storage reads that are terms of a stored sum, or of a field packed into it."""
    found: set[Expr] = set()
    waiting = [value]
    while waiting:
        word = waiting.pop()
        if not isinstance(word, Expr):
            continue
        if word.operation == "SLOAD":
            found.add(word)
        elif word.operation in sums:
            waiting.extend(word.arguments)
    return found


def is_supply_store(code: ContractModel, effect: Effect) -> bool:
    """True for a store to the supply."""
    supplies = {root for root, _ in code.storage.roles.supply}
    return effect.kind == "SSTORE" and any(
        place.root in supplies and not place.keys for place in code.layout.of(effect.words[0])
    )


def is_unseen_store(code: ContractModel, effect: Effect) -> bool:
    """True for a store to a constant slot that may be the balance of a constant account."""
    return effect.kind == "SSTORE" and any(
        may_be_entry(place.root) for place in code.layout.of(effect.words[0]) if place.is_plain
    )


def prove_sums(code: ContractModel, prover: CustodyProver) -> Iterator[UnprovedSum]:
    """Yield the functions that are not proved to keep the sum of the balances.

    Paths of privileged callers are searched where those of ordinary ones are proved.
    """
    left = _MOST_WORK
    for entry in sorted(code.functions.entries, key=rank):
        flow = code.functions.cfg(entry)
        effects = [effect for _, effect in flow.effects()]
        if not flow.is_whole or any(
            code.storage.is_balance_store(effect) or is_unseen_store(code, effect)
            for effect in effects
        ):
            search = prove_sum(prover, entry, budget=left)
            left -= search.count
            if False in search.unproved:
                yield search.unproved[False]
            elif search.has_gates:
                states = 0 if len(flow.nodes) > _LARGEST_GATED else left
                depth = _limited(_BY_BOTH, states)
                like = search if search.depth.conditions else None
                search = ConservationSearch(prover, entry, depth=depth, with_gates=True, like=like)
                search.run()
                left -= search.count
                for found in search.unproved.values():
                    yield msgspec.structs.replace(found, is_privileged=True)


def prove_sum(prover: CustodyProver, entry: FunctionId, *, budget: int) -> ConservationSearch:
    """Search one function with increasing precision. `budget`: states that may be explored."""
    search = ConservationSearch(prover, entry, depth=_limited(_BY_AMOUNTS, budget))
    search.run()
    if search.unproved and not search.is_cut and len(search.flow.nodes) <= _LARGEST_EXACT:
        search = ConservationSearch(prover, entry, depth=_limited(_BY_BOTH, budget - search.count))
        search.run()
    return search


def _limited(depth: SearchPrecision, states: int) -> SearchPrecision:
    return msgspec.structs.replace(depth, states=max(0, min(depth.states, states)))
