"""Signatures: what a digest recovered by ecrecover covers, and whether it serves only once.

A digest covers a word that it hashes whole; of a part of it, or of a sum, another word may have the
same. It serves once if a counter that it hashes, or that a hashed word must equal, moves on, or if
a mark keyed by a hashed word is tested and set; no function may ever take that back, and nobody may
choose whose counter or mark it is. It serves here alone if it hashes the contract's address, or a
domain that nobody can set.
"""

from collections.abc import Callable, Sequence
from typing import Final

from analysis.static.custody.custody_facts import parts_of_condition
from analysis.static.custody.custody_state import Obligation, ObligationState
from analysis.static.custody.privileged_callers import PrivilegedCallers
from analysis.static.dataflow.addresses import is_caller, party, recovered
from analysis.static.dataflow.dependencies import is_own_address
from analysis.static.dataflow.linear_amounts import core, delta_of
from analysis.static.dataflow.predicates import evaluate
from analysis.static.evm.cfg import DESTRUCTS, RETURNS, UNRESOLVED, CfgNode, FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, subterms, without_iszero
from analysis.static.evm.instruction_effects import ECRECOVER
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.storage.constant_slots import is_hash_like

_MOST_TERMS: Final = 4_000
_FEWEST_BITS: Final = 32
"""A counter of fewer bits starts again within reach."""
_LARGEST_STEP: Final = 2**128
"""A larger step counts down."""
_ENDS: Final = frozenset({RETURNS, DESTRUCTS, UNRESOLVED})
_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})
_HASHES: Final = frozenset({"keccak", "packed"})
_WHOLE: Final = frozenset({"keccak", "packed", "phi", "top", "memory"})
"""Operations of which the operands are in the result whole."""


class Signatures:
    """Digests of one code, with memoised results."""

    def __init__(self, code: ContractModel, gates: PrivilegedCallers) -> None:
        self._code = code
        self._gates = gates
        self._words: dict[Value, frozenset[Value]] = {}
        self._recipients: dict[FunctionId, frozenset[Value]] = {}

    def covers(
        self, entry: FunctionId, signer: Value, debt: Obligation, status: ObligationState
    ) -> bool:
        """True if the recovered digest covers account, spender or recipient, amount and a nonce."""
        digest = (recovered(signer) or (0,))[0]
        words = self._hashed(digest)
        people = {party(word) for word in words}
        amounts = [word for word, _ in debt.amount or ()]
        whose = None if debt.whose is signer else debt.whose
        named = [word for word in (whose, debt.spender) if word is not None]
        if debt.kind == "debit":
            named += self._credited(entry)
        if not (named or amounts) or not all(
            is_caller(word) or isinstance(word, int) or party(word) in people for word in named
        ):
            return False
        is_fixed = debt.kind != "debit" and any(map(_is_amount, amounts))
        if is_fixed and not self._is_chosen(entry, words):
            return False
        given = [word for word in amounts if self._is_given(word)]
        if not all(word in words or core(word) in words for word in given):
            return False
        return self._is_of_contract(digest) and any(
            self._is_nonce(entry, slot, digest, debt.whose, is_tested=is_tested)
            for slot, is_tested in status.bumped
        )

    def _is_of_contract(self, digest: Value) -> bool:
        """True if no other contract may have the same digest: it hashes the contract's address, or
        directly a constant or a variable that is set once or by privilege."""
        if any(map(is_own_address, self._hashed(digest))):
            return True
        return any(
            is_hash_like(word)
            if isinstance(word, int)
            else word.operation == "SLOAD" and self._is_fixed(word.arguments[0])
            for meaning in self._code.dependencies.phi_values(digest)
            if isinstance(meaning, Expr) and meaning.operation in _HASHES
            for part in meaning.arguments
            for word in self._code.dependencies.phi_values(part)
        )

    def _is_fixed(self, slot: Value) -> bool:
        """True if ordinary callers cannot choose a plain variable."""
        places = self._code.layout.of(slot)
        roots = {place.root for place in places}
        return all(place.is_plain for place in places) and all(
            self._gates.is_restricted(write.entry, {write.pc})
            for write in self._code.writes.all
            if write.place.root in roots
        )

    def _is_chosen(self, entry: FunctionId, words: frozenset[Value]) -> bool:
        """True if a branch decides by a hashed word on a constant that is stored: by a truth, as in
        DAI's `permit`, or by the largest number, as in UNI's."""
        truths = {core(without_iszero(word)) for word in words if _is_truth(word)}
        for _, branch in self._code.functions.cfg(entry).branching():
            condition = without_iszero(branch.condition)
            if self._is_given(condition) and core(condition) in truths:
                return True
            match condition:
                case Expr(operation="EQ" | "SUB" | "XOR", arguments=(int(most), word)):
                    if most == MASK and core(word) in words:
                        return True
        return False

    def is_moved(self, value: Value, slot: Value) -> bool:
        """True if a store surely counts a slot up, and not in a circle."""
        delta = delta_of(value, slot)
        if delta is None or delta.subtracted or any(map(_is_circle, subterms(value))):
            return False
        steps = [1 if _is_recovery(word) else word for word in delta.added]
        numbers = [step for step in steps if isinstance(step, int)]
        return len(numbers) == len(steps) and 0 < sum(numbers) < _LARGEST_STEP

    def is_tested(self, entry: FunctionId, pc: int, value: Value, slot: Value) -> bool:
        """True if every path to the SSTORE at `pc` tests the slot, and fails once the value is
        stored."""
        stored = evaluate(value, lambda read: 0 if read is slot else None)
        if not stored:
            return False

        def refuses(condition: Value) -> bool | None:
            found = evaluate(condition, lambda read: stored if read is slot else None)
            return None if found is None else bool(found)

        flow = self._code.functions.cfg(entry)
        stores = [node for node, effect in flow.effects() if effect.pc == pc]
        return self._is_passed(entry, stores, refuses)

    def _is_compared(self, entry: FunctionId, slot: Value, words: frozenset[Value]) -> bool:
        """True if every path to a success has tested that the slot equals a hashed word."""

        def refuses(condition: Value) -> bool | None:
            for holds in (True, False):
                for term, is_true in parts_of_condition(condition, holds=holds):
                    if term.operation in _EQUALITIES and (term.operation == "EQ") is is_true:
                        one, other = term.arguments
                        if any(
                            _is_read(first, slot) and second in words
                            for first, second in ((one, other), (other, one))
                        ):
                            return not holds
            return None

        flow = self._code.functions.cfg(entry)
        ends = [node for node in flow.nodes if node in flow.can_succeed and node.end in _ENDS]
        return self._is_passed(entry, ends, refuses)

    def _is_passed(
        self,
        entry: FunctionId,
        targets: Sequence[CfgNode],
        refuses: Callable[[Value], bool | None],
    ) -> bool:
        """True if every path to the targets passes a test. `refuses`: the outcome of a condition on
        which a test refuses; None: it is no such test."""
        flow = self._code.functions.cfg(entry)
        edges = set()
        for node, branch in flow.branching():
            for meaning in self._code.dependencies.phi_values(branch.condition):
                outcome = refuses(meaning)
                if outcome is None:
                    continue
                refused, passed = branch.if_false, branch.if_true
                if outcome:
                    refused, passed = passed, refused
                if refused not in flow.can_succeed:
                    edges.add((node, passed))
        return bool(edges) and flow.is_barred(targets, edges)

    def _is_nonce(
        self, entry: FunctionId, slot: Value, digest: Value, whose: Value | None, *, is_tested: bool
    ) -> bool:
        words = self._hashed(digest)
        keys = [key for place in self._code.layout.of(slot) for key in place.keys]
        is_chosen = any(
            (is_caller(party(key)) or self._is_given(key))
            and words.isdisjoint({key, core(key), party(key)})
            and party(key) is not whose
            for key in keys
        )
        if is_chosen or not self._is_lasting(slot):
            return False
        if any(_is_read(word, slot) for word in words):
            return True
        is_keyed = any(key in words or core(key) in words for key in keys if isinstance(key, Expr))
        return is_keyed and (is_tested or self._is_compared(entry, slot, words))

    def _is_lasting(self, slot: Value) -> bool:
        """True if no function takes back a count or a mark: each store counts up, or leaves the
        word other than zero whatever it was."""
        roots = {place.root for place in self._code.layout.of(slot)}
        return all(
            self.is_moved(write.value, write.slot) or _stays(write.value, write.slot)
            for write in self._code.writes.all
            if write.place.root in roots
        )

    def _credited(self, entry: FunctionId) -> frozenset[Value]:
        """Return the accounts from calldata to which the function may add."""
        found = self._recipients.get(entry)
        if found is None:
            accounts = {
                party(meaning)
                for _, effect in self._code.functions.cfg(entry).effects()
                if effect.kind == "SSTORE"
                for place in self._code.layout.of(effect.words[0])
                if place.root in self._code.storage.roles.balances
                and (delta := delta_of(effect.words[1], effect.words[0])) is not None
                and delta.added
                for key in place.keys
                for meaning in self._code.dependencies.phi_values(key)
            }
            found = frozenset(word for word in accounts if self._is_given(word))
            self._recipients[entry] = found
        return found

    def _is_given(self, word: Value) -> bool:
        return any(
            atom.operation == "CALLDATALOAD" for atom in self._code.dependencies.sources(word)
        )

    def _hashed(self, digest: Value) -> frozenset[Value]:
        """Return the words that the digest hashes, and the digest."""
        found = self._words.get(digest)
        if found is None:
            seen: set[Value] = set()
            waiting = [digest]
            while waiting and len(seen) < _MOST_TERMS:
                word = waiting.pop()
                if word in seen:
                    continue
                seen.add(word)
                if isinstance(word, Expr) and word.operation in _WHOLE:
                    waiting.extend(word.arguments)
                    waiting.extend(self._code.pool.phi_operands.get(word, ()))
            found = self._words[digest] = frozenset(seen)
        return found


def _is_circle(word: Value) -> bool:
    """True for a sum of which so few bits are kept that it soon starts again."""
    match word:
        case Expr(operation="AND", arguments=(int(mask), Expr(operation="ADD"))):
            return mask.bit_count() < _FEWEST_BITS
    return False


def _stays(value: Value, slot: Value) -> bool:
    """True if the stored word is surely not zero, or keeps the bits that were set."""
    parts = value.arguments if isinstance(value, Expr) and value.operation == "OR" else (value,)
    return any(
        each != 0
        if isinstance(each, int)
        else each.operation == "SLOAD" and each.arguments[0] is slot
        for each in parts
    )


def _is_read(word: Value, slot: Value) -> bool:
    """True if the word is what the slot holds, or a field of it."""
    bare = core(word)
    return isinstance(bare, Expr) and bare.operation == "SLOAD" and bare.arguments[0] is slot


def _is_amount(word: Value) -> bool:
    return isinstance(word, int) and word > 0


def _is_truth(word: Value) -> bool:
    """True for a word that is brought to 0 or 1."""
    match word:
        case Expr(operation="ISZERO") | Expr(operation="AND", arguments=(1, _)):
            return True
    return False


def _is_recovery(word: Value) -> bool:
    """True for the success flag of ecrecover, which is 1: Solady counts a nonce up by it."""
    return isinstance(word, Expr) and word.operation == "success" and word.arguments[1] == ECRECOVER
