"""Whether an owner check dominates a store: no path reaches the store but through the check.

Sound for what it calls guarded, as far as `caller_checks` recognises who is asked; a gate that is
not recognised leaves the store unguarded.
"""

from collections.abc import Iterator

from analysis.static.dataflow.storage_writes import Write
from analysis.static.evm.cfg import Branch, Deed, Entry, Node
from analysis.static.evm.expressions import Term, Word
from analysis.static.evm.function_cfg import Flow
from analysis.static.token_model.access_control import caller_checks
from analysis.static.token_model.contract_model import Code
from analysis.static.token_model.memoize import once_per_code

_DIFFERENCES = frozenset({"XOR", "SUB"})

Store = tuple[Entry, int]
"""Function and program counter."""


def is_guarded(code: Code, write: Write) -> bool:
    """Whether everybody who gets to the store has passed an owner check of its function."""
    return (write.entry, write.pc) not in set(_unguarded(code))


@once_per_code
def _unguarded(code: Code) -> Iterator[Store]:
    """Stores that some path reaches without having passed a check."""
    checks: dict[Entry, set[int]] = {}
    for check in caller_checks(code):
        checks.setdefault(check.entry, set()).add(check.pc)
    for entry in code.entries:
        pcs = checks.get(entry, set())
        yield from dict.fromkeys(
            (entry, deed.pc)
            for deed in _unchecked(code, code.flow(entry), pcs)
            if deed.kind == "SSTORE"
        )


def _unchecked(code: Code, flow: Flow, checks: set[int]) -> Iterator[Deed]:
    """Effects at nodes that a path reaches past no check."""
    seen: set[Node] = set()
    waiting = list(code.roots(flow.entry))
    while waiting:
        node = waiting.pop()
        if node in seen or node not in flow.alive or node.entry != flow.entry:
            continue
        seen.add(node)
        branch = node.branch
        if branch is not None and branch.pc in checks:
            waiting.append(_failing_side(branch))
        else:
            waiting.extend(node.successors())
    return (deed for node, deed in flow.deeds() if node in seen)


def _failing_side(branch: Branch) -> Node:
    """Where those go on who are not who is asked for."""
    word: Word = branch.condition
    is_asked = True
    while isinstance(word, Term) and word.operation == "ISZERO":
        word, is_asked = word.arguments[0], not is_asked
    if isinstance(word, Term) and word.operation in _DIFFERENCES:
        is_asked = not is_asked
    return branch.if_false if is_asked else branch.if_true
