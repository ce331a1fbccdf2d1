"""One-shot functions and initializers: functions that set the flag which their own guard tests.

A function is one-shot if it stores, after one of its guards, to a variable which that guard tests,
and every store to that variable makes the guard revert. An initializer is one-shot and needs no
earlier set-up, such as an owner.
"""

from analysis.static.dataflow.predicates import Variable, evaluate
from analysis.static.dataflow.storage_layout import settled_bits
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import Value
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.access_control import caller_checks
from analysis.static.token_model.guards.guard import Guard
from analysis.static.token_model.storage.write_index import StorageWrite


def is_initializer(code: ContractModel, entry: FunctionId) -> bool:
    """True if the function sets the contract up: it runs once, and tests nothing that has to be set
    up before it, such as an owner or a time."""
    return is_one_shot(code, entry) and not (
        _asks_for_owner(code, entry)
        or any(guard.test.depends_on_time for guard in code.guards.of(entry))
    )


def _asks_for_owner(code: ContractModel, entry: FunctionId) -> bool:
    """True if a caller check uses storage that the function does not write itself."""
    return any(
        not any(write.entry == entry for write in code.writes.to(variable))
        for check in caller_checks(code)
        if check.entry == entry
        for variable in check.variables
    )


def is_one_shot(code: ContractModel, entry: FunctionId) -> bool:
    """True if the function makes its own guard revert from then on, and no store undoes it."""
    writes_something = any(write.entry == entry for write in code.writes.all)
    return writes_something and any(_closes(code, guard) for guard in code.guards.of(entry))


def _closes(code: ContractModel, guard: Guard) -> bool:
    for variable in guard.test.globals:
        writes = list(code.writes.to(variable))
        own = [write for write in writes if write.entry == guard.refusal.entry]
        is_door = own and all(_shuts(code, guard, write, variable) for write in writes)
        if is_door and not _stores_after(code, guard).isdisjoint(write.pc for write in own):
            return True
    return False


def _stores_after(code: ContractModel, guard: Guard) -> set[int]:
    """Return pcs of the effects after the guard. The counter of a reentrancy guard is raised before
    its test, and is not among them."""
    flow = code.functions.cfg(guard.refusal.entry)
    tests = (node for node, branch in flow.branching() if branch.pc == guard.pc)
    return {effect.pc for node in flow.following(tests) for effect in node.effects}


def _shuts(code: ContractModel, guard: Guard, write: StorageWrite, variable: Variable) -> bool:
    """True if the guard reverts once this is stored."""
    root, bits = variable

    def value_of(slot: Value) -> int | None:
        if any(place.root != root for place in code.layout.of(slot)):
            return None
        value = evaluate(write.value, lambda _: 0)
        return settled_bits(write.value, bits) if value is None else value

    test = guard.test.literal
    value = evaluate(test.condition, value_of)
    return value is not None and bool(value) is test.holds
