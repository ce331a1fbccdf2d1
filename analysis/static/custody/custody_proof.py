"""Proof of custody: a store that lowers a balance or sets an allowance has its holder's consent.

These are the rules; `custody_search` applies them to every path of a function, with phis resolved
on each edge. A store is proved if, on every path through it to a successful end, the account is the
caller, or signed a digest over account, amount and a nonce, or has an allowance for the caller that
is checked and lowered by that amount. It is privileged if the caller must be an address that code
or storage names. All else, and whatever the bounds cut off, is unproved (over-approximation).
"""

from collections.abc import Container, Hashable, Iterable, Iterator
from functools import cached_property
from itertools import islice, product
from typing import Final, TypeGuard

from analysis.static.custody.checked_differences import CheckedDifferences
from analysis.static.custody.custody_facts import (
    AllowanceCovers,
    AllowanceUnlimited,
    Distinct,
    EqualityFact,
    Fact,
    FactReader,
    NotNegative,
)
from analysis.static.custody.phi_resolution import PhiResolver
from analysis.static.custody.privileged_callers import PrivilegedCallers
from analysis.static.custody.signatures import Signatures
from analysis.static.custody.storage_reach import PLAIN, StorageReach
from analysis.static.dataflow.addresses import is_caller, party, recovered
from analysis.static.dataflow.dependencies import CALLERS, is_own_address
from analysis.static.dataflow.linear_amounts import (
    AmountDelta,
    LinearAmount,
    added,
    core,
    delta_of,
    differences_in,
    is_at_least,
    is_at_most,
    may_wrap,
    negated,
    plus,
    reductions,
)
from analysis.static.dataflow.storage_layout import (
    UNKNOWN,
    StorageLocation,
    VariableId,
    is_item,
    names_unknown,
)
from analysis.static.evm.cfg import Effect, FunctionId
from analysis.static.evm.expressions import Expr, Value, subterms
from analysis.static.evm.held_reads import CALL, UNSURE, may_alias
from analysis.static.evm.path_state import ALLOWANCE, BALANCE_OF
from analysis.static.token_model.contract_model import ContractModel

_LAST_PRECOMPILE: Final = 0x11


def is_computed(word: Value) -> bool:
    """True if the expression computes more than a storage read."""
    return isinstance(word, Expr) and word.operation != "SLOAD"


def is_somebody(word: Value) -> bool:
    """True if the expression contains the caller, or the result of a call (also of `ecrecover`)."""
    return isinstance(word, Expr) and any(
        term.operation in CALLERS or term.operation == "result" for term in subterms(word)
    )


def key_orders(
    code: ContractModel, getter: int, arguments: tuple[int, ...]
) -> Iterator[tuple[VariableId, tuple[int, ...]]]:
    """Yield each mapping that the getter reads, with the key position of each of its arguments.

    `arguments` are calldata offsets in bytes.
    """
    for note in code.notes.returns.values():
        if note.entry != getter:
            continue
        for word in note.words:
            for slot, _ in code.dependencies.reads(word):
                for place in code.layout.of(slot):
                    given = [
                        {
                            atom.arguments[0]
                            for atom in code.dependencies.sources(key)
                            if atom.operation == "CALLDATALOAD"
                        }
                        for key in place.keys
                    ]
                    order = tuple(
                        next((at for at, atoms in enumerate(given) if argument in atoms), 0)
                        for argument in arguments
                    )
                    if all(any(argument in atoms for atoms in given) for argument in arguments):
                        yield place.root, order


def is_harmless(target: Value) -> bool:
    """True if delegating to the target runs no unknown code on this storage."""
    if isinstance(target, int):
        return target <= _LAST_PRECOMPILE
    return is_own_address(target)


_MOST_TERMS: Final = 4_000
"""Most subexpressions examined of one expression."""

_MOST_FORMS: Final = 64

_MOST_WORK: Final = 160_000
"""Work budget of one code, in CFG nodes and states. Real contracts need a few thousand."""

_MOST_WALKED: Final = 600_000
"""Nodes that searches of one code pass on the way from one relevant node to the next. Real
contracts need a tenth."""

_SHARES: Final = frozenset({"DIV", "SUB", "ADD", "SLOAD", "memory", "phi", "top", "result"})
"""Operations that yield fees. A product alone may exceed the amount it is subtracted from."""

_CALLS: Final = frozenset({"CALL", "CALLCODE", "DELEGATECALL"})
_HANDING_ON: Final = frozenset({"DELEGATECALL", "CALLCODE"})
_HOLDER, _SPENDER = 4, 36


class CustodyProver:
    """Rules and memoised facts of one code that the searches of all its functions share."""

    def __init__(self, code: ContractModel) -> None:
        self.code = code
        self.phis = PhiResolver(code)
        self.reader = FactReader(code)
        self.gates = PrivilegedCallers(code, self.reader)
        self.checks = CheckedDifferences(code)
        self.signatures = Signatures(code, self.gates)
        self._balance_keys = dict(key_orders(code, BALANCE_OF, (_HOLDER,)))
        self._allowance_keys = dict(key_orders(code, ALLOWANCE, (_HOLDER, _SPENDER)))
        self._work = _MOST_WORK
        self._walks_left = _MOST_WALKED
        self._ranks: dict[Hashable, int] = {}
        self.reach = StorageReach(code)
        self._anywhere: dict[Hashable, bool] = {}
        self._stores_to: dict[Hashable, bool] = {}
        self._deep: dict[Value, frozenset[Expr]] = {}
        self._givens: dict[Value, frozenset[Expr]] = {}
        self._slots_read: dict[Value, frozenset[Value]] = {}
        self._open_slots: dict[Value, bool] = {}
        self._called_back: dict[FunctionId, bool] = {}

    def pay(self, steps: int) -> bool:
        """Spend work budget of this code. Return False if none is left."""
        self._work -= steps
        return self._work > 0 and self._walks_left > 0

    def note_walk(self, nodes: int) -> None:
        """Count the nodes of a walk, which ends the searches of this code once there are too
        many."""
        self._walks_left -= nodes

    def rank(self, found: Hashable) -> int:
        """Return a rank to sort by, in order of the first requests.

        It is the same in every run if the first request is made where something is found, not while
        a set is iterated.
        """
        return self._ranks.setdefault(found, len(self._ranks))

    def is_called_back(self, entry: FunctionId) -> bool:
        """True if the function calls a contract that ordinary callers may choose.

        Such a contract may call back, and change any storage.
        """
        known = self._called_back.get(entry)
        if known is None:
            known = self._called_back[entry] = any(
                not isinstance(callee, int) and not self.is_set_by_privilege(callee)
                for _, effect in self.code.functions.cfg(entry).effects()
                if effect.kind in _CALLS
                for target in self.code.dependencies.phi_values(effect.words[0])
                for callee in (party(target),)
            )
        return known

    def is_overtaken(self, entry: FunctionId, effect: Effect) -> bool:
        """True if the stored value was computed from a read before a call, during which it may
        have changed."""
        reads = {read for read, since in effect.stale if since in (CALL, UNSURE)}
        return not reads.isdisjoint(self.code.pool.reads_in(effect.words[1])) and (
            self.is_called_back(entry)
        )

    # --- obligations --------------------------------------------------------------------------

    def is_event(self, entry: FunctionId, effect: Effect) -> bool:
        """True if an effect may change balances or allowances of holders."""
        if effect.kind in _HANDING_ON:
            return not is_harmless(self.code.dependencies.single_value(effect.words[0]))
        if effect.kind != "SSTORE":
            return False
        roles = self.code.storage.roles
        return any(
            place.root in roles.balances
            or place.root in roles.allowances
            or self.may_be_anywhere(entry, effect, place)
            for place in self.code.layout.of(effect.words[0])
        )

    def may_be_anywhere(
        self, entry: FunctionId, effect: Effect, place: StorageLocation, slot: Value | None = None
    ) -> bool:
        """True if a store that is no balance by its location may still be to one. `slot`: as it is
        on the path, where that is known."""
        key = (entry, effect.pc, effect.words[0] if slot is None else slot, place)
        known = self._anywhere.get(key)
        if known is None:
            known = self._anywhere[key] = self._search_anywhere(entry, effect, place, slot)
        return known

    def _search_anywhere(
        self, entry: FunctionId, effect: Effect, place: StorageLocation, slot: Value | None
    ) -> bool:
        word = effect.words[0] if slot is None else slot
        is_sum = place.root == UNKNOWN or is_item(place.root)
        if is_sum and not self.reach.is_bounded(entry, effect.pc, effect.words[0]):
            return True
        if place.root == UNKNOWN or names_unknown(place.root):
            bases = list(self._bases(word))
            return not bases or any(map(self._is_held, bases))
        return False

    def _bases(self, slot: Value) -> Iterator[Value]:
        """Yield the hashes that a slot is a sum of, under each operand of its phis."""
        seen: set[Value] = set()
        waiting = [slot]
        while waiting and len(seen) < _MOST_TERMS:
            for word in self.code.dependencies.phi_values(waiting.pop()):
                if word in seen:
                    continue
                seen.add(word)
                if isinstance(word, Expr) and word.operation in ("ADD", "AND", "NOT"):
                    waiting.extend(word.arguments)
                elif isinstance(word, Expr) and word.operation == "keccak":
                    yield from self._hashes(word)
                elif (isinstance(word, Expr) and word.operation == "packed") or (
                    isinstance(word, int) and word > PLAIN
                ):
                    yield word

    def _hashes(self, word: Expr) -> Iterator[Value]:
        """Yield the hash under each operand of the phis that may name its variable."""
        forms = [list(islice(self._sums(each), _MOST_FORMS)) for each in word.arguments]
        for words in islice(product(*forms), _MOST_FORMS):
            yield self.code.pool.hash_words(words)

    def _sums(self, word: Value) -> Iterator[Value]:
        for each in self.code.dependencies.phi_values(word):
            match each:
                case Expr(operation="ADD", arguments=(int(number), Expr(operation="phi") as inner)):
                    for one in self.code.dependencies.phi_values(inner):
                        yield self.code.pool.build("ADD", number, one)
                case _:
                    yield each

    def _is_held(self, base: Value) -> bool:
        roles = self.code.storage.roles
        return any(
            names_unknown(place.root)
            or place.root in roles.balances
            or place.root in roles.allowances
            for place in self.code.layout.of(base)
        )

    def owes(self, entry: FunctionId, effect: Effect) -> bool:
        """True if an account other than the caller may have to authorise an effect."""
        if not self.is_event(entry, effect):
            return False
        if effect.kind != "SSTORE":
            return True
        return any(
            self._place_owes(entry, place, effect) for place in self.code.layout.of(effect.words[0])
        )

    def _place_owes(self, entry: FunctionId, place: StorageLocation, effect: Effect) -> bool:
        slot, value = effect.words[:2]
        roles = self.code.storage.roles
        if place.root not in roles.balances and place.root not in roles.allowances:
            return self.may_be_anywhere(entry, effect, place)
        whose = self.holder_of(place)
        if whose is not None and (self.is_own(whose) or self.is_named(whose)):
            return False
        if place.root in roles.allowances:
            deltas = [
                delta_of(meaning, slot) for meaning in self.code.dependencies.phi_values(value)
            ]
            return value != 0 and any(
                delta is None or delta.added or not self.is_lowered(entry, effect.pc, delta, slot)
                for delta in deltas
            )
        return not self.is_credit(entry, effect.pc, value, slot)

    def is_credit(
        self,
        entry: FunctionId,
        pc: int,
        value: Value,
        slot: Value,
        facts: Container[Fact] = (),
    ) -> bool:
        """True if storing the value, by the SSTORE at `pc`, surely lowers no balance. `facts`: of
        the path to it."""
        deltas = [delta_of(meaning, slot) for meaning in self.code.dependencies.phi_values(value)]
        return all(
            delta is not None
            and not delta.subtracted
            and (self.is_exact(entry, pc, delta, facts) or self.fits(delta, slot, facts))
            for delta in deltas
        )

    def differences(self, entry: FunctionId, effect: Effect) -> Iterator[NotNegative]:
        """Yield the differences that must not be negative if an SSTORE is to be exact."""
        slot, value = effect.words[:2]
        meanings = self.code.dependencies.phi_values
        for meaning in meanings(value):
            delta = delta_of(meaning, slot)
            if delta is not None:
                for large, small in differences_in((*delta.added, *delta.subtracted), meanings):
                    yield from (NotNegative(large, one) for one in reductions(small))
                if any(delta) and not self.is_exact(entry, effect.pc, delta):
                    yield from self._whole(delta, slot)

    def is_exact(
        self,
        entry: FunctionId,
        pc: int,
        delta: AmountDelta,
        facts: Container[Fact] = (),
    ) -> bool:
        """True if no sum of the change, made by the SSTORE at `pc`, can overflow or underflow.
        `facts`: of the path to it."""
        words = (*delta.added, *delta.subtracted)
        meanings = self.code.dependencies.phi_values
        return not may_wrap(words, meanings) and all(
            any(NotNegative(large, one) in facts for one in reductions(small))
            or self._is_checked(entry, pc, large, small)
            for large, small in differences_in(words, meanings)
        )

    def fits(self, delta: AmountDelta, slot: Value, facts: Container[Fact]) -> bool:
        """True if the only word of the change is checked as a whole, however it was computed.
        `facts`: of the path to the store."""
        return any(fact in facts for fact in self._whole(delta, slot))

    def _whole(self, delta: AmountDelta, slot: Value) -> Iterator[NotNegative]:
        """Yield the facts of which one is enough: the balance is at least what is subtracted from
        it, or adding to it or to the supply does not overflow."""
        word, *more = (*delta.added, *delta.subtracted)
        if more:
            return
        build = self.code.pool.build
        if delta.subtracted:
            yield NotNegative(build("SLOAD", slot), word)
            return
        for place in (slot, *(root for root, _ in self.code.storage.roles.supply)):
            if not isinstance(place, tuple | str):
                stored = build("SLOAD", place)
                yield NotNegative(build("ADD", word, stored), stored)
                yield NotNegative(build("ADD", stored, word), stored)

    def is_lowered(
        self,
        entry: FunctionId,
        pc: int,
        delta: AmountDelta,
        slot: Value,
        facts: Iterable[Fact] = (),
    ) -> bool:
        """True if the amount that the SSTORE at `pc` subtracts from an allowance is checked to be
        in it.

        Without the check it could become a huge number. `facts`: of the path to it.
        """
        taken = plus(delta.subtracted)
        if any(
            isinstance(fact, AllowanceCovers)
            and fact.slot is slot
            and is_at_least(fact.amount, taken)
            for fact in facts
        ):
            return True
        (only, *more) = delta.subtracted or (0,)
        return not more and any(
            small in reductions(only)
            and any(isinstance(one, Expr) and one.arguments == (slot,) for one in reductions(large))
            and self.checks.holds_at(entry, pc, large, small)
            for large, small in self.checks.pairs(entry)
        )

    def _is_checked(self, entry: FunctionId, pc: int | None, large: Value, small: Value) -> bool:
        """True if the difference is never negative on a path through `pc`: the function reverts
        where it would be, or the subtrahend is a share of the minuend that depends on no other
        calldata."""
        if self.is_part(large, small):
            return True
        return any(self.checks.holds_at(entry, pc, large, one) for one in reductions(small))

    def is_part(self, large: Value, small: Value) -> bool:
        """True if the second word is a share of the first that depends on no other calldata."""
        return self._given(small) <= self._given(large) and all(
            self._is_fraction(core(each)) for each in self.code.dependencies.phi_values(small)
        )

    def _is_fraction(self, word: Value) -> bool:
        if not isinstance(word, Expr):
            return True
        if word.operation == "MUL":
            return any(self._is_fraction(core(each)) for each in word.arguments)
        return word.operation in _SHARES

    def holder_of(self, place: StorageLocation) -> Value | None:
        """Return the owner of a balance or allowance. None: no such key."""
        order = self._balance_keys.get(place.root) or self._allowance_keys.get(place.root)
        at = order[0] if order else 0
        return party(place.keys[at]) if at < len(place.keys) else None

    def spender_of(self, place: StorageLocation) -> Value | None:
        """Return the spender of an allowance. None: no such key."""
        order = self._allowance_keys.get(place.root, (0, 1))
        at = order[1]
        return party(place.keys[at]) if at < len(place.keys) else None

    # --- discharge ----------------------------------------------------------------------------

    def is_of_use(self, fact: Fact, holders: Container[Value]) -> bool:
        """True if a fact can discharge an obligation to one of these holders."""
        if isinstance(fact, EqualityFact):
            return any(
                one in holders and is_somebody(other)
                for one, other in ((fact.one, fact.other), (fact.other, fact.one))
            ) or any(
                isinstance(one, Expr)
                and one.operation == "result"
                and party(one.arguments[0]) in holders
                for one in (fact.one, fact.other)
            )
        if isinstance(fact, NotNegative | Distinct):
            return False
        if isinstance(fact, AllowanceCovers | AllowanceUnlimited):
            return self._is_allowance(fact.slot)
        keys = {party(key) for place in self.code.layout.of(fact.slot) for key in place.keys}
        return any(key in holders for key in keys)

    def _is_allowance(self, slot: Value) -> bool:
        return any(
            place.root in self.code.storage.roles.allowances for place in self.code.layout.of(slot)
        )

    def is_allowance_of(self, slot: Value, whose: Value) -> bool:
        """True if the slot is the allowance of this account for the caller."""
        for place in self.code.layout.of(slot):
            if place.root in self.code.storage.roles.allowances and self.holder_of(place) is whose:
                spender = self.spender_of(place)
                return spender is not None and is_caller(spender)
        return False

    def is_own(self, whose: Value) -> bool:
        """True if the account is the caller, the contract itself or a constant of the code."""
        return isinstance(whose, int) or is_caller(whose) or is_own_address(whose)

    def is_holders(self, whose: Value) -> bool:
        """True if it may be a holder: the caller, a signer, or an address from calldata."""
        return is_caller(whose) or bool(self._given(whose)) or recovered(whose) is not None

    def is_given(self, spender: Value) -> bool:
        """True if the caller may have chosen the spender, or is the spender."""
        return any(
            term.operation in ("CALLDATALOAD", "CALLER", "input", "memory", "phi", "top")
            for term in self.deep(spender)
        )

    def is_named(self, whose: Value) -> bool:
        """True if the account is read from storage that nobody can set to an account of his
        choice."""
        return self.is_set_by_privilege(whose) and not any(
            write.place.root == place.root and self._given(write.value)
            for place in self.code.layout.of(whose.arguments[0])
            for write in self.code.writes.all
        )

    def is_set_by_privilege(self, whose: Value) -> TypeGuard[Expr]:
        """True if the account is read from storage that unprivileged callers cannot set."""
        return isinstance(whose, Expr) and whose.operation == "SLOAD" and self.gates.names(whose)

    def covers(self, entry: FunctionId, debit: LinearAmount, amount: LinearAmount) -> bool:
        """True if a debit, under every operand of its phis, does not exceed the decrease of an
        allowance."""
        if self._is_within(entry, debit, amount):
            return True
        forms = list(self._forms(debit))
        return len(forms) > 1 and all(self._is_within(entry, form, amount) for form in forms)

    def _forms(self, debit: LinearAmount) -> Iterator[LinearAmount]:
        """Yield the sum under each combination of phi operands; nothing if there are too many."""
        forms: list[LinearAmount] = [frozenset()]
        for word, count in debit:
            meanings = self.code.dependencies.phi_values(word)
            forms = [
                added(form, negated(plus([each])) if count < 0 else plus([each]))
                for form in forms
                for each in meanings
            ]
            if len(forms) > _MOST_FORMS or abs(count) != 1:
                return iter(())
        return iter(dict.fromkeys(forms))

    def _is_within(self, entry: FunctionId, debit: LinearAmount, amount: LinearAmount) -> bool:
        rest = added(amount, negated(debit))
        if all(count > 0 for _, count in rest) or is_at_most(debit, amount):
            return True
        if len(debit) == len(amount) == 1:
            ((part, _),), ((whole, _),) = debit, amount
            if any(self.checks.holds_at(entry, None, whole, one) for one in reductions(part)):
                return True
        return self.is_scaled and len(amount) == 1 and self._is_share(debit, amount)

    @cached_property
    def is_scaled(self) -> bool:
        """True if `balanceOf` computes its result: stored balances are shares, not amounts."""
        return any(
            is_computed(core(word))
            for note in self.code.notes.returns.values()
            if note.entry == BALANCE_OF
            for each in note.words
            for word in self.code.dependencies.phi_values(each)
        )

    def _is_share(self, debit: LinearAmount, amount: LinearAmount) -> bool:
        ((word, count),) = amount
        given = self._given(word)
        return count == 1 and all(
            times == 1
            and isinstance(each, Expr)
            and word in self.deep(each)
            and self._given(each) <= given
            for each, times in debit
        )

    def _given(self, word: Value) -> frozenset[Expr]:
        found = self._givens.get(word)
        if found is None:
            found = self._givens[word] = frozenset(
                term for term in self.deep(word) if term.operation == "CALLDATALOAD"
            )
        return found

    def may_store_to(self, entry: FunctionId, effect: Effect, slot: Value, read: Value) -> bool:
        """True if a store, to `slot` on a path, may change the word at another slot."""
        key = (entry, effect.pc, effect.words[0], slot, read)
        known = self._stores_to.get(key)
        if known is None:
            known = self._stores_to[key] = self._find_store(entry, effect, slot, read)
        return known

    def _find_store(self, entry: FunctionId, effect: Effect, slot: Value, read: Value) -> bool:
        roots = {place.root for place in self.code.layout.of(read)}
        if UNKNOWN in roots and may_alias(self.code.pool, slot, read):
            return True
        return any(
            place.root in roots or self.may_be_anywhere(entry, effect, place, slot)
            for place in self.code.layout.of(slot)
        )

    def is_open_to_all(self, slot: Value) -> bool:
        """True if ordinary callers of some function may change the word at a slot."""
        known = self._open_slots.get(slot)
        if known is None:
            known = self._open_slots[slot] = any(
                may_alias(self.code.pool, slot, write.slot)
                and not self.gates.is_gated(write.entry, {write.pc})
                for write in self.code.writes.all
            )
        return known

    def slots_read(self, word: Value) -> frozenset[Value]:
        """Return the slots of all storage reads in a word, including those in hashes."""
        found = self._slots_read.get(word)
        if found is None:
            found = self._slots_read[word] = frozenset(
                term.arguments[0] for term in self.deep(word) if term.operation == "SLOAD"
            )
        return found

    def deep(self, word: Value) -> frozenset[Expr]:
        """Return all subexpressions, including those in hashes, phis and tops."""
        known = self._deep.get(word)
        if known is None:
            seen: set[Expr] = set()
            waiting = [word]
            while waiting and len(seen) < _MOST_TERMS:
                term = waiting.pop()
                if isinstance(term, Expr) and term not in seen:
                    seen.add(term)
                    waiting.extend(term.arguments)
                    if term.operation in ("top", "phi"):
                        waiting.extend(self.code.pool.phi_operands.get(term, ()))
            known = self._deep[word] = frozenset(seen)
        return known
