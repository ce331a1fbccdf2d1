"""Proof of custody: who is asked before a store lowers a balance or sets an allowance.

A path-sensitive search of each function, with phi words resolved on every edge. A store is proved
where, on every path that reaches it and then a successful end, the account debited is the caller,
or signed a digest that covers account, amount and a nonce, or has an allowance for the caller that
is asked for and lowered by that very amount. It is privileged where the caller must be a party that
code or storage names. Everything else is unproved, as is what the bounds cut off.
"""

from collections.abc import Container, Iterator
from functools import cached_property
from typing import Final

from analysis.static.custody.custody_facts import (
    Covers,
    Endless,
    Fact,
    FactReader,
    Same,
    refused_differences,
)
from analysis.static.custody.custody_state import Debt, Status
from analysis.static.custody.holder_keys import is_computed, is_harmless, is_somebody, key_orders
from analysis.static.custody.phi_resolution import Phis
from analysis.static.custody.privileged_callers import Gates
from analysis.static.dataflow.addresses import is_caller, party, recovered
from analysis.static.dataflow.dependencies import is_own_address
from analysis.static.dataflow.linear_amounts import (
    Change,
    Delta,
    added,
    core,
    delta_of,
    differences_in,
    may_wrap,
    negated,
    plus,
)
from analysis.static.dataflow.storage_layout import UNKNOWN, Place
from analysis.static.evm.cfg import Deed, Entry
from analysis.static.evm.expressions import Term, Word
from analysis.static.evm.path_state import ALLOWANCE, BALANCE_OF
from analysis.static.token_model.contract_model import Code

_MOST_TERMS: Final = 4_000
"""Of one word that are looked at."""

_MOST_FORMS: Final = 64

_MOST_WORK: Final = 60_000
"""Nodes measured and states looked at, of one code. Real ones take some thousands."""

_SHARES: Final = frozenset({"DIV", "SUB", "ADD", "SLOAD", "memory", "either", "opaque", "result"})
"""What fees come from. A product alone may be more than what it is taken from."""

_HANDING_ON: Final = frozenset({"DELEGATECALL", "CALLCODE"})
_HOLDER, _SPENDER = 4, 36


class Prover:
    """What the paths of all functions of one code are judged by."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.phis = Phis(code)
        self.reader = FactReader(code)
        self.gates = Gates(code, self.reader)
        self._balance_keys = dict(key_orders(code, BALANCE_OF, (_HOLDER,)))
        self._allowance_keys = dict(key_orders(code, ALLOWANCE, (_HOLDER, _SPENDER)))
        self._work = _MOST_WORK
        self._anywhere: dict[Word, bool] = {}
        self._deep: dict[Word, frozenset[Term]] = {}
        self._nonces: dict[tuple[Word, Word], bool] = {}
        self._givens: dict[Word, frozenset[Term]] = {}
        self._checked: dict[Entry, set[tuple[Word, Word]]] = {}

    def pay(self, steps: int) -> bool:
        """Count work. False: there is none left for this code."""
        self._work -= steps
        return self._work > 0

    # --- what stores do -----------------------------------------------------------------------

    def is_event(self, deed: Deed) -> bool:
        """Whether a deed may touch what holders own."""
        if deed.kind in _HANDING_ON:
            return not is_harmless(self.code.sources.single(deed.words[0]))
        if deed.kind != "SSTORE":
            return False
        slot = deed.words[0]
        return any(self._matters(place, slot) for place in self.code.places.of(slot))

    def _matters(self, place: Place, slot: Word) -> bool:
        roles = self.code.roles
        if place.root == UNKNOWN:
            return self.may_be_anywhere(slot)
        return place.root in roles.balances or place.root in roles.allowances

    def may_be_anywhere(self, slot: Word) -> bool:
        """Whether a slot that was not understood may be one of a balance: it does not build on the
        hash of another variable."""
        known = self._anywhere.get(slot)
        if known is None:
            bases = list(self._bases(slot))
            known = self._anywhere[slot] = not bases or any(map(self._is_held, bases))
        return known

    def _bases(self, slot: Word) -> Iterator[Word]:
        """The hashes and numbers that sums are built on, under each meaning of phi words."""
        seen: set[Word] = set()
        waiting = [slot]
        while waiting and len(seen) < _MOST_TERMS:
            for word in self.code.sources.meanings(waiting.pop()):
                if word in seen:
                    continue
                seen.add(word)
                if isinstance(word, Term) and word.operation in ("ADD", "AND", "NOT"):
                    waiting.extend(word.arguments)
                elif (isinstance(word, Term) and word.operation in ("keccak", "packed")) or (
                    isinstance(word, int) and word in self.code.pool.hashed
                ):
                    yield word

    def _is_held(self, base: Word) -> bool:
        roles = self.code.roles
        return any(
            place.root == UNKNOWN or place.root in roles.balances or place.root in roles.allowances
            for place in self.code.places.of(base)
        )

    def owes(self, entry: Entry, deed: Deed) -> bool:
        """Whether somebody but the caller may have to agree to a deed."""
        if not self.is_event(deed):
            return False
        if deed.kind != "SSTORE":
            return True
        slot, value = deed.words[:2]
        return any(
            self._place_owes(entry, place, slot, value) for place in self.code.places.of(slot)
        )

    def _place_owes(self, entry: Entry, place: Place, slot: Word, value: Word) -> bool:
        roles = self.code.roles
        if place.root not in roles.balances and place.root not in roles.allowances:
            return place.root == UNKNOWN and self.may_be_anywhere(slot)
        whose = self.holder_of(place)
        if whose is not None and (self.is_own(whose) or self.is_named(whose)):
            return False
        if place.root in roles.allowances:
            deltas = [delta_of(meaning, slot) for meaning in self.code.sources.meanings(value)]
            return value != 0 and any(delta is None or delta.added for delta in deltas)
        return not self.is_credit(entry, value, slot)

    def is_credit(self, entry: Entry, value: Word, slot: Word) -> bool:
        """Whether storing the value surely lowers no balance."""
        deltas = [delta_of(meaning, slot) for meaning in self.code.sources.meanings(value)]
        return all(
            delta is not None and not delta.subtracted and self.is_exact(entry, delta)
            for delta in deltas
        )

    def is_exact(self, entry: Entry, delta: Delta) -> bool:
        """Whether sums are what they look like: none runs over an end."""
        words = (*delta.added, *delta.subtracted)
        meanings = self.code.sources.meanings
        return not may_wrap(words, meanings) and all(
            self._is_checked(entry, *pair) for pair in differences_in(words, meanings)
        )

    def _is_checked(self, entry: Entry, large: Word, small: Word) -> bool:
        """Whether the function refuses where the difference would be negative, or what is taken
        away is a share of the rest, or no stranger's number."""
        if self._is_part(large, small):
            return True
        return (large, small) in self._checked_in(entry)

    def _checked_in(self, entry: Entry) -> set[tuple[Word, Word]]:
        if entry not in self._checked:
            self._checked[entry] = set(self._find_checked(entry))
        return self._checked[entry]

    def _is_part(self, large: Word, small: Word) -> bool:
        return self._given(small) <= self._given(large) and all(
            self._is_fraction(core(each)) for each in self.code.sources.meanings(small)
        )

    def _is_fraction(self, word: Word) -> bool:
        if not isinstance(word, Term):
            return True
        if word.operation == "MUL":
            return any(self._is_fraction(core(each)) for each in word.arguments)
        return word.operation in _SHARES

    def _find_checked(self, entry: Entry) -> Iterator[tuple[Word, Word]]:
        flow = self.code.flow(entry)
        for _, branch in flow.branching():
            for holds, after in ((True, branch.if_true), (False, branch.if_false)):
                if after not in flow.alive:
                    yield from refused_differences(branch.condition, holds=holds)

    def holder_of(self, place: Place) -> Word | None:
        """Whose balance or allowance a place is."""
        order = self._balance_keys.get(place.root) or self._allowance_keys.get(place.root)
        at = order[0] if order else 0
        return party(place.keys[at]) if at < len(place.keys) else None

    def spender_of(self, place: Place) -> Word | None:
        """To whom an allowance is given."""
        order = self._allowance_keys.get(place.root, (0, 1))
        at = order[1]
        return party(place.keys[at]) if at < len(place.keys) else None

    # --- what settles them --------------------------------------------------------------------

    def is_of_use(self, fact: Fact, holders: Container[Word]) -> bool:
        """Whether a fact can settle what is owed to these."""
        if isinstance(fact, Same):
            return any(
                one in holders and is_somebody(other)
                for one, other in ((fact.one, fact.other), (fact.other, fact.one))
            ) or any(
                isinstance(one, Term)
                and one.operation == "result"
                and party(one.arguments[0]) in holders
                for one in (fact.one, fact.other)
            )
        if isinstance(fact, Covers | Endless):
            return self._is_allowance(fact.slot)
        keys = {party(key) for place in self.code.places.of(fact.slot) for key in place.keys}
        return any(key in holders for key in keys)

    def _is_allowance(self, slot: Word) -> bool:
        return any(place.root in self.code.roles.allowances for place in self.code.places.of(slot))

    def is_allowance_of(self, slot: Word, whose: Word) -> bool:
        """Whether the slot is what this account allows the caller."""
        for place in self.code.places.of(slot):
            if place.root in self.code.roles.allowances and self.holder_of(place) is whose:
                spender = self.spender_of(place)
                return spender is not None and is_caller(spender)
        return False

    def is_own(self, whose: Word) -> bool:
        """Whether it is the caller's account, the contract's, or one that the code names."""
        return isinstance(whose, int) or is_caller(whose) or is_own_address(whose)

    def is_holders(self, whose: Word) -> bool:
        """Whether it may be a holder's account: the caller's, or one that calldata names."""
        return is_caller(whose) or bool(self._given(whose)) or recovered(whose) is not None

    def is_given(self, spender: Word) -> bool:
        """Whether whoever calls has named the spender, or is it."""
        return any(
            term.operation in ("CALLDATALOAD", "CALLER", "input", "memory", "either", "opaque")
            for term in self.deep(spender)
        )

    def is_named(self, whose: Word) -> bool:
        """Whether it is an account that storage names, and strangers cannot choose."""
        return isinstance(whose, Term) and whose.operation == "SLOAD" and self.gates.names(whose)

    def is_operator(self, slot: Word, whose: Word) -> bool:
        """Whether the slot says that this account itself has named the caller."""
        for place in self.code.places.of(slot):
            keys = [party(key) for key in place.keys]
            if whose in keys and any(map(is_caller, keys)):
                writes = [w for w in self.code.writes if w.place.root == place.root]
                at = keys.index(whose)
                return bool(writes) and all(
                    at < len(w.place.keys) and is_caller(self.code.sources.single(w.place.keys[at]))
                    for w in writes
                )
        return False

    def covers(self, entry: Entry, debit: Change, amount: Change) -> bool:
        """Whether a debit, under every meaning of its phi words, is no more than an allowance was
        lowered by."""
        if self._is_within(entry, debit, amount):
            return True
        forms = list(self._forms(debit))
        return len(forms) > 1 and all(self._is_within(entry, form, amount) for form in forms)

    def _forms(self, debit: Change) -> Iterator[Change]:
        """The sum with each phi word as all that it stands for."""
        forms: list[Change] = [frozenset()]
        for word, count in debit:
            meanings = self.code.sources.meanings(word)
            forms = [
                added(form, negated(plus([each])) if count < 0 else plus([each]))
                for form in forms
                for each in meanings
            ]
            if len(forms) > _MOST_FORMS or abs(count) != 1:
                return iter(())
        return iter(dict.fromkeys(forms))

    def _is_within(self, entry: Entry, debit: Change, amount: Change) -> bool:
        rest = added(amount, negated(debit))
        if all(count > 0 for _, count in rest):
            return True
        if len(debit) == len(amount) == 1:
            ((part, _),), ((whole, _),) = debit, amount
            if (whole, part) in self._checked_in(entry):
                return True
        return self.is_scaled and len(amount) == 1 and self._is_share(debit, amount)

    @cached_property
    def is_scaled(self) -> bool:
        """Whether `balanceOf` computes: stored numbers are shares, not amounts."""
        return any(
            is_computed(core(word))
            for note in self.code.notes.returns.values()
            if note.entry == BALANCE_OF
            for each in note.words
            for word in self.code.sources.meanings(each)
        )

    def _is_share(self, debit: Change, amount: Change) -> bool:
        ((word, count),) = amount
        given = self._given(word)
        return count == 1 and all(
            times == 1
            and isinstance(each, Term)
            and word in self.deep(each)
            and self._given(each) <= given
            for each, times in debit
        )

    def _given(self, word: Word) -> frozenset[Term]:
        found = self._givens.get(word)
        if found is None:
            found = self._givens[word] = frozenset(
                term for term in self.deep(word) if term.operation == "CALLDATALOAD"
            )
        return found

    def deep(self, word: Word) -> frozenset[Term]:
        """All terms in a word, in hashes and behind opaque ones as well."""
        known = self._deep.get(word)
        if known is None:
            seen: set[Term] = set()
            waiting = [word]
            while waiting and len(seen) < _MOST_TERMS:
                term = waiting.pop()
                if isinstance(term, Term) and term not in seen:
                    seen.add(term)
                    waiting.extend(term.arguments)
                    if term.operation in ("opaque", "either"):
                        waiting.extend(self.code.pool.joined.get(term, ()))
            known = self._deep[word] = frozenset(seen)
        return known

    def is_signed(self, signer: Word, debt: Debt, status: Status) -> bool:
        """Whether the recovered digest covers account, spender, amount and a nonce."""
        digest = (recovered(signer) or (0,))[0]
        inside = self.deep(digest)
        amounts = [word for word, _ in debt.amount or ()]
        whose = None if debt.whose is signer else debt.whose
        needed = {
            term
            for word in (whose, debt.spender, *amounts)
            if word is not None
            for term in self._given(word)
        }
        if not needed or not needed <= inside:
            return False
        return any(self._is_nonce(slot, digest, inside) for slot in status.bumped)

    def _is_nonce(self, slot: Word, digest: Word, inside: frozenset[Term]) -> bool:
        """Whether the digest reads the slot, or the slot is marked under what was signed."""
        known = self._nonces.get((slot, digest))
        if known is None:
            known = self._nonces[slot, digest] = self._marks_signed(slot, inside)
        return known

    def _marks_signed(self, slot: Word, inside: frozenset[Term]) -> bool:
        if any(term.operation == "SLOAD" and term.arguments[0] is slot for term in inside):
            return True
        return any(
            isinstance(key, Term) and (key in inside or core(key) in inside)
            for place in self.code.places.of(slot)
            for key in place.keys
        )
