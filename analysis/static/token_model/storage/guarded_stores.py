"""Guarded stores: stores dominated by an owner check, so that every path to them passes one.

A proxy's administration has no check that reverts: callers that are not its admin go on to the code
behind it. So branches on the caller of which both sides go on count too. Sound for stores reported
as guarded, as far as `caller_checks` recognises owner checks; a check that is not recognised leaves
the store unguarded.
"""

from collections.abc import Iterator

from analysis.static.dataflow.dependencies import CALLERS
from analysis.static.evm.cfg import Branch, CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import Expr, Value, address_in
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.access_control import caller_branches, caller_checks
from analysis.static.token_model.memoize import cached_on_model
from analysis.static.token_model.storage.write_index import StorageWrite

_DIFFERENCES = frozenset({"XOR", "SUB"})

StoreSite = tuple[FunctionId, int]
"""Function and program counter."""


def is_guarded(code: ContractModel, write: StorageWrite) -> bool:
    """True if every path to the store has passed an owner check of its function."""
    (unguarded,) = _unguarded(code)
    return (write.entry, write.pc) not in unguarded


@cached_on_model
def _unguarded(code: ContractModel) -> Iterator[frozenset[StoreSite]]:
    """Yield one set: the stores that some path reaches without passing a check."""
    checks: dict[FunctionId, set[int]] = {}
    for check in caller_checks(code):
        checks.setdefault(check.entry, set()).add(check.pc)
    yield frozenset(
        (entry, effect.pc)
        for entry in code.functions.entries
        for effect in _unchecked(
            code.functions.cfg(entry), checks.get(entry, set()) | caller_branches(code, entry)
        )
        if effect.kind == "SSTORE"
    )


def _unchecked(flow: FunctionCfg, checks: set[int]) -> Iterator[Effect]:
    """Return the effects at nodes that a path reaches without passing a check."""
    seen = flow.reached(lambda branch: _failing_side(branch) if branch.pc in checks else None)
    return (effect for node, effect in flow.effects() if node in seen)


def _failing_side(branch: Branch) -> CfgNode:
    """Return the successor for callers that the check rejects."""
    word: Value = branch.condition
    is_asked = True
    while (found := _without_zero_test(word)) is not None:
        word, is_zero_asked = found
        is_asked ^= is_zero_asked
    if isinstance(word, Expr) and word.operation in _DIFFERENCES:
        is_asked = not is_asked
    return branch.if_false if is_asked else branch.if_true


def _without_zero_test(word: Value) -> tuple[Value, bool] | None:
    """Return the word that is compared with zero, and True if the test holds for zero. None:
    another condition, or the caller itself is compared, with an immutable that deployment fills
    in."""
    match word:
        case Expr(operation="ISZERO", arguments=(inner,)):
            return inner, True
        case Expr(operation="EQ" | "SUB" | "XOR", arguments=(0, inner) | (inner, 0)):
            bare = address_in(inner)
            is_caller = isinstance(bare, Expr) and bare.operation in CALLERS
            return None if is_caller else (inner, word.operation == "EQ")
    return None
