"""Role tests: comparisons in which a supply, a factor of all balances or the length of a list has
its usual part, so that what trades do to it is no condition."""

from collections.abc import Iterator
from typing import Final

from analysis.static.dataflow.linear_amounts import delta_of
from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import VariableId
from analysis.static.evm.cfg import CfgNode, FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.conditions.condition_sites import ConditionSite
from analysis.static.token_model.contract_model import ContractModel

_LEAST_DIVISOR: Final = 10

_FAILING: Final = frozenset({"refuses", "overruns"})


class RoleTests:
    """Recogniser of such comparisons in one contract."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self._lists: dict[VariableId, bool] = {}
        self._loops: dict[FunctionId, frozenset[int]] = {}

    def is_usual(self, variable: Variable, site: ConditionSite) -> bool:
        """True if the variable has its usual part in the site's condition."""
        roles, root = self._code.storage.roles, variable[0]
        if variable in roles.supply or variable in roles.scale:
            return (
                site.effect == "value"
                or _is_quotient_check(site.condition)
                or _is_limit(site.condition)
                or self._is_about_balance(site.condition)
            )
        return self._is_list(root) and self._is_index_check(site)

    def _is_list(self, root: VariableId) -> bool:
        if root not in self._lists:
            is_entry = isinstance(root, tuple)
            self._lists[root] = (
                is_entry and self._code.layout.has_elements(root) and not self._shrinks(root)
            )
        return self._lists[root]

    def _shrinks(self, root: VariableId) -> bool:
        """True if a transfer may shorten the list."""
        for write in self._code.writes.all:
            if write.place.root != root or write.entry not in MOVERS:
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
        is_read = any(
            place.root in token_amounts
            for slot, _ in self._code.dependencies.reads(condition)
            for place in self._code.layout.of(slot)
        )
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
            self._loops[entry] = frozenset(self._looping(entry))
        return self._loops[entry]

    def _looping(self, entry: FunctionId) -> Iterator[int]:
        """Yield the program counters of branches that a path can meet more than once: those in
        strongly connected components of the CFG (Kosaraju's algorithm)."""
        flow = self._code.functions.cfg(entry)
        before: dict[CfgNode, list[CfgNode]] = {}
        for node in flow.last_first:
            for after in node.successors():
                before.setdefault(after, []).append(node)
        seen: set[CfgNode] = set()
        for start in reversed(flow.last_first):
            component, waiting = [], [start]
            while waiting:
                node = waiting.pop()
                if node not in seen:
                    seen.add(node)
                    component.append(node)
                    waiting += before.get(node, ())
            if len(component) > 1:
                yield from (each.branch.pc for each in component if each.branch is not None)


def _is_quotient_check(condition: Value) -> bool:
    """True if a total is compared with a quotient of itself.

    Reflection tokens do so to turn their supply into a rate.
    """
    while isinstance(condition, Expr) and condition.operation == "ISZERO":
        condition = condition.arguments[0]
    match condition:
        case (
            Expr(operation="LT", arguments=(total, Expr(operation="DIV") as part))
            | Expr(operation="GT", arguments=(Expr(operation="DIV") as part, total))
        ):
            return part.arguments[0] is total
    return False


def _is_limit(condition: Value) -> bool:
    """True if an amount is compared with a share of a total, such as the largest sale."""
    while isinstance(condition, Expr) and condition.operation == "ISZERO":
        condition = condition.arguments[0]
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
        case Expr(operation="ADD", arguments=(int(), inner)):
            return _is_share(inner)
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
