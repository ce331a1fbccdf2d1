"""Role tests: comparisons in which a supply, a factor of all balances or the length of a list has
its usual part, so that what trades do to it is no condition; and compilers' checks in which the
balances of other accounts, or amounts, have another one."""

from collections.abc import Container, Iterator
from functools import cached_property
from typing import Final

from analysis.static.dataflow.compiler_checks import condition_parts
from analysis.static.dataflow.linear_amounts import delta_of
from analysis.static.dataflow.predicates import (
    CALLER,
    FROM,
    ORIGIN,
    THIS,
    TO,
    Variable,
    parameters_of,
)
from analysis.static.dataflow.storage_layout import StorageLocation, VariableId
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, address_in, without_iszero
from analysis.static.evm.path_state import BALANCE_OF, MOVERS
from analysis.static.token_model.conditions.condition_sites import ConditionSite
from analysis.static.token_model.conditions.loops import loops
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.storage.balance_changes import balance_debits
from analysis.static.token_model.storage.constant_slots import may_be_entry
from analysis.static.token_model.storage.guarded_stores import is_guarded

_LEAST_DIVISOR: Final = 10
_LARGEST_AMOUNT: Final = 2**128
_HOLDING: Final = frozenset({FROM, TO, CALLER, ORIGIN, THIS})
_ORDERED: Final = frozenset({"LT", "GT", "SLT", "SGT"})
_CONNECTIVES: Final = frozenset({"ISZERO", "AND", "OR"})
_TESTS: Final = _ORDERED | _CONNECTIVES | {"EQ"}
_SCALING: Final = frozenset({"MUL", "DIV", "SDIV", "MOD", "MULMOD", "EXP", "SHL", "SHR", "XOR"})
_SHIFTING: Final = _ORDERED | {"ADD", "SUB", "EQ"}
_MOST_TERMS: Final = 64

_FAILING: Final = frozenset({"refuses", "overruns"})


class RoleTests:
    """Recogniser of such comparisons in one contract."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self._lists: dict[VariableId, bool] = {}
        self._ledgers: dict[VariableId, bool] = {}
        self._loops: dict[FunctionId, frozenset[int]] = {}

    def is_usual(self, variable: Variable, site: ConditionSite) -> bool:
        """True if the variable has its usual part in the site's condition."""
        roles, root = self._code.storage.roles, variable[0]
        if variable in roles.supply or variable in roles.scale:
            if site.effect == "value" or _is_quotient_check(site.condition):
                return True
            is_about = _is_limit(site.condition) or self._is_about_balance(site.condition)
            is_sum = is_about or site.effect == "overruns"
            return is_sum and not self._is_shifted(site.condition, variable)
        if site.effect == "overruns" and self._is_ledger(root):
            return True
        return self._is_list(root) and self._is_index_check(site)

    def is_bare(self, condition: Value) -> bool:
        """True if a comparison holds a constant amount, or a word is compared with zero alone."""
        bare = _bare(condition)
        is_compared = isinstance(bare, Expr) and bare.operation in (*_ORDERED, "EQ", "OR", "AND")
        return not is_compared or self.is_size_check(condition)

    def is_size_check(self, condition: Value) -> bool:
        """True if a comparison holds a constant that an amount may have."""
        return any(
            any(map(_is_amount, _summands(side)))
            for term in condition_parts(condition)
            if term.operation in _ORDERED
            for side in term.arguments
        )

    def is_scaled_by_others(self, word: Value, entry: FunctionId) -> bool:
        """True if an amount is computed from the balance of an account that is no party.

        Differences with a total of balances do not count.
        """
        return any(
            self._holds_others(operand, entry) and not self._reads(operand, self._totals)
            for term in self._code.dependencies.subexpressions(word)
            if term.operation in _SCALING
            for operand in term.arguments
        )

    def may_fail_by_others(self, site: ConditionSite) -> bool:
        """True if a compiler's check may fail by the balance of an account that is no party.

        It does not while that is only added to amounts, or subtracted from a total of balances.
        """
        entry = site.entry
        for term in condition_parts(site.condition):
            sides = term.arguments if term.operation in _ORDERED else (term,)
            moved = [side for side in sides if self._holds_others(side, entry)]
            if not moved:
                continue
            if term.operation in _CONNECTIVES and any(map(_is_test, term.arguments)):
                continue  # its parts follow
            if self._is_scaled_or_shifted(term, moved, entry):
                return True
            if any(self._reads(side, self._totals) for side in sides):
                continue
            if len(moved) < len(sides) or not all(self._is_sum(side, entry) for side in moved):
                return True
        return False

    def _is_scaled_or_shifted(self, term: Expr, moved: list[Value], entry: FunctionId) -> bool:
        """True if a balance is a factor, or a constant amount is added to it or compared with."""
        if any(self.is_scaled_by_others(side, entry) for side in moved):
            return True
        return any(
            any(isinstance(part, int) and 1 < part < MASK for part in each.arguments)
            and self._holds_others(each, entry)
            for each in self._code.dependencies.subexpressions(term)
            if each.operation in _SHIFTING
            and not (each.operation == "ADD" and _is_small(each.arguments[0]))
        )

    @cached_property
    def _totals(self) -> frozenset[Variable]:
        """The supply and the factors of all balances, without entries of one account."""
        roles = self._code.storage.roles
        return roles.supply | {
            variable
            for variable in roles.scale
            if variable[0] not in roles.balances and not may_be_entry(variable[0])
        }

    def _holds_others(self, word: Value, entry: FunctionId) -> bool:
        """True if the word depends on the balance of an account that is no party.

        A constant slot may be such a balance.
        """
        parameters, storage = parameters_of(entry), self._code.storage
        for place, bits in self._places_read(word):
            if may_be_entry(place.root) and (place.root, bits) not in self._totals:
                return True
            is_balance = place.root in storage.roles.balances
            if is_balance and not (
                storage.predicates.party(place.keys[0], parameters) in _HOLDING
                or (entry == BALANCE_OF and _is_argument(place.keys[0]))
            ):
                return True
        return False

    def _reads(self, word: Value, variables: Container[Variable]) -> bool:
        return any((place.root, bits) in variables for place, bits in self._places_read(word))

    def _places_read(self, word: Value) -> Iterator[tuple[StorageLocation, int]]:
        """Yield location and bit mask of every storage read that the word depends on."""
        for slot, bits in self._code.dependencies.reads(word):
            for place in self._code.layout.of(slot):
                yield place, bits

    def _is_sum(self, word: Value, entry: FunctionId) -> bool:
        """True if balances of others are bare summands of the word, without constants."""
        waiting, seen = [word], set[Value]()
        while waiting:
            term = waiting.pop()
            if term in seen or (not isinstance(term, int) and not self._holds_others(term, entry)):
                continue
            seen.add(term)
            if isinstance(term, int) or len(seen) > _MOST_TERMS:
                return False
            match (term.operation, term.arguments):
                case ("SLOAD" | "top", _):
                    pass
                case ("NOT", (inner,)) | ("AND" | "SHR", (int(), inner)):
                    waiting.append(inner)
                case ("SUB", (int(most), inner)) if most > MASK - _LARGEST_AMOUNT:
                    waiting.append(inner)
                case ("phi", _):
                    waiting += [
                        each
                        for each in self._code.dependencies.phi_values(term)
                        if isinstance(each, Expr)
                    ]
                case ("ADD" | "SUB", parts):
                    # a small number added to a balance never overflows
                    waiting += [
                        each for each in parts if isinstance(each, Expr) or each >= _LARGEST_AMOUNT
                    ]
                case _:
                    return False
        return True

    def _is_shifted(self, condition: Value, variable: Variable) -> bool:
        """True if a constant amount is added to the total, subtracted from it or compared with it.

        A share of a total follows it; what is left above a constant may be gone at once.
        """
        return any(
            any(map(_is_amount, term.arguments)) and self._reads(term, {variable})
            for term in self._code.dependencies.subexpressions(condition)
            if term.operation in _SHIFTING
        )

    def _is_ledger(self, root: VariableId) -> bool:
        """True for a mapping whose entries only take what another entry, or a balance, gives."""
        if root not in self._ledgers:
            self._ledgers[root] = isinstance(root, tuple) and self._moves_amounts(root)
        return self._ledgers[root]

    def _moves_amounts(self, root: VariableId) -> bool:
        [debits] = balance_debits(self._code)
        taken, given = set(debits), set[tuple[FunctionId, Value]]()
        for write in self._code.writes.all:
            if write.place.root != root:
                continue
            for value in self._code.dependencies.phi_values(write.value):
                delta = delta_of(value, write.slot)
                if delta is None:
                    return False
                taken.update((write.entry, term) for term in delta.subtracted)
                given.update((write.entry, term) for term in delta.added)
        return bool(given) and given <= taken

    def _is_list(self, root: VariableId) -> bool:
        if root not in self._lists:
            is_entry = isinstance(root, tuple)
            self._lists[root] = (
                is_entry and self._code.layout.has_elements(root) and not self._shrinks(root)
            )
        return self._lists[root]

    def _shrinks(self, root: VariableId) -> bool:
        """True if a transfer, or anybody, may shorten the list."""
        for write in self._code.writes.all:
            if write.place.root != root:
                continue
            if write.entry not in MOVERS and is_guarded(self._code, write):
                continue
            for value in self._code.dependencies.phi_values(write.value):
                delta = delta_of(value, write.slot)
                if delta is None or delta.subtracted or MASK in delta.added:
                    return True
        return False

    def _is_about_balance(self, condition: Value) -> bool:
        """True if a balance or an allowance is converted or bounded, or a divisor must not be 0."""
        roles = self._code.storage.roles
        token_amounts = roles.balances | roles.allowances
        is_read = any(place.root in token_amounts for place, _ in self._places_read(condition))
        bare = _bare(condition)
        return is_read or (isinstance(bare, Expr) and bare.operation == "SLOAD")

    def _is_index_check(self, site: ConditionSite) -> bool:
        """True if it fails only where an index is beyond the list, or a list is empty; or if it
        ends a loop over the list."""
        if site.effect not in _FAILING:
            return site.pc in self._in_loops(site.entry)
        bare, holds = site.condition, True
        while isinstance(bare, Expr) and bare.operation == "ISZERO":
            bare, holds = bare.arguments[0], not holds
        if site.fails_when is holds or not isinstance(bare, Expr):
            return False
        match (bare.operation, bare.arguments):
            case ("SLOAD", _):
                return True
            case ("LT", (_, length)) | ("GT", (length, _)):
                return isinstance(length, Expr) and length.operation == "SLOAD"
        return False

    def _in_loops(self, entry: FunctionId) -> frozenset[int]:
        if entry not in self._loops:
            self._loops[entry] = frozenset(
                node.branch.pc
                for loop in loops(self._code.functions.cfg(entry))
                for node in loop
                if node.branch is not None
            )
        return self._loops[entry]


def _is_argument(key: Value) -> bool:
    account = address_in(key)
    return isinstance(account, Expr) and account.operation == "CALLDATALOAD"


def _summands(word: Value) -> tuple[Value, ...]:
    """Return the word, and its operands if it is a sum or a difference."""
    if isinstance(word, Expr) and word.operation in ("ADD", "SUB"):
        return (word, *word.arguments)
    return (word,)


def _is_test(part: Value) -> bool:
    return isinstance(part, Expr) and part.operation in _TESTS


def _is_small(part: Value) -> bool:
    """True for numbers that overflow no sum with a balance."""
    return isinstance(part, int) and part < _LARGEST_AMOUNT


def _is_amount(part: Value) -> bool:
    """True for numbers of the size of amounts, or their negatives."""
    return isinstance(part, int) and (
        1 < part < _LARGEST_AMOUNT or MASK - _LARGEST_AMOUNT < part < MASK
    )


def _is_quotient_check(condition: Value) -> bool:
    """True if a total is compared with a quotient of itself.

    Reflection tokens do so to turn their supply into a rate.
    """
    condition = without_iszero(condition)
    match condition:
        case (
            Expr(operation="LT", arguments=(total, Expr(operation="DIV") as part))
            | Expr(operation="GT", arguments=(Expr(operation="DIV") as part, total))
        ):
            return part.arguments[0] is total
    return False


def _is_limit(condition: Value) -> bool:
    """True if an amount is compared with a share of a total, such as the largest sale."""
    condition = without_iszero(condition)
    match condition:
        case Expr(operation="LT" | "GT", arguments=(one, other)):
            return any(
                isinstance(amount, Expr) and amount.operation == "CALLDATALOAD" and _is_share(limit)
                for amount, limit in ((one, other), (other, one))
            )
    return False


def _is_share(word: Value) -> bool:
    """True for a total, or a product with it, divided by a number, a base amount added or not. The
    number is ten at least, so that it does not count single units of the total."""
    match word:
        case Expr(operation="ADD", arguments=(int(base), inner)):
            return base < _LARGEST_AMOUNT and _is_share(inner)
        case Expr(
            operation="DIV", arguments=(Expr(operation="MUL" | "SLOAD" | "DIV"), int(divisor))
        ):
            return divisor >= _LEAST_DIVISOR
    return False


def _bare(condition: Value) -> Value:
    """Return the word that is compared with zero; the condition itself if none is."""
    while isinstance(condition, Expr):
        match (condition.operation, condition.arguments):
            case ("ISZERO", (inner,)) | ("EQ" | "SUB" | "LT", (0, inner)) | ("GT", (inner, 0)):
                condition = inner
            case _:
                break
    return condition
