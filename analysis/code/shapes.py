"""The shape of an allowance bypass: a way to move what others hold that asks for no allowance.

A shape is no proof. It says that somebody may be able to, and that not finding out who is not the
same as nobody.
"""

from collections.abc import Callable
from typing import Final

from analysis.code.facts import MOVERS, TRANSFER_FROM, Code
from analysis.code.flow import Literal
from analysis.code.graph import RETURNS, Deed, Entry, Node
from analysis.code.movement import difference
from analysis.code.parts import parts
from analysis.code.reading import CALLER, ORIGIN
from analysis.code.stores import Write
from analysis.code.terms import Term, address_in

_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})


def skips_allowance(code: Code) -> bool:
    """Whether a way through `transferFrom` stores to a balance and returns, and on all of it no
    allowance is written or decides, nor is the caller known to be the holder.

    False also where balances or allowances are not recognised.
    """
    return bool(code.roles.allowances) and _has_free_way(code, TRANSFER_FROM, code.is_balance_store)


def takes_for_listed(code: Code) -> bool:
    """Whether a function that only callers on some list may use takes from the balance of whom it
    is told, without asking for an allowance. Who is on a list cannot be read."""
    debits: dict[Entry, set[int]] = {}
    for write in code.writes:
        if write.entry not in MOVERS and _is_debit(code, write):
            debits.setdefault(write.entry, set()).add(write.pc)
    return any(
        _is_for_listed(code, entry) and _has_free_way(code, entry, _among(pcs))
        for entry, pcs in debits.items()
    )


def _among(pcs: set[int]) -> Callable[[Deed], bool]:
    return lambda deed: deed.pc in pcs


def _is_debit(code: Code, write: Write) -> bool:
    """Whether it may lessen the balance of an account that calldata names."""
    if write.place.root not in code.roles.balances or not _is_given(code, write):
        return False
    by = difference(code, write.value, write.slot)
    return by is None or any(times < 0 for _, times in by)


def _is_given(code: Code, write: Write) -> bool:
    atoms = {atom.operation for key in write.place.keys for atom in code.sources.atoms(key)}
    return "CALLDATALOAD" in atoms or "input" in atoms


def _is_for_listed(code: Code, entry: Entry) -> bool:
    """Whether it refuses callers who are on no list."""
    return any(
        any(
            party in (CALLER, ORIGIN) and not code.is_own_business(variable)
            for variable, party in guard.test.lists
        )
        and code.reader.holds_for_nobody_special(guard.test) is True
        for guard in code.guards(entry)
    )


def _has_free_way(code: Code, entry: Entry, is_move: Callable[[Deed], bool]) -> bool:
    flow = code.flow(entry)
    waiting = [(node, False) for node in code.roots(entry)]
    seen: set[tuple[Node, bool]] = set()
    while waiting:
        node, has_moved = waiting.pop()
        if (node, has_moved) in seen or node not in flow.nodes:
            continue
        seen.add((node, has_moved))
        if _asks_allowance(code, entry, node):
            continue
        has_moved = has_moved or any(map(is_move, node.deeds))
        if has_moved and node.end == RETURNS:
            return True
        waiting += [(after, has_moved) for after in _open_ways(code, node)]
    return False


def _asks_allowance(code: Code, entry: Entry, node: Node) -> bool:
    for deed in node.deeds:
        if deed.kind == "SSTORE" and any(
            place.root in code.roles.allowances for place in code.places.of(deed.words[0])
        ):
            return True
    if node.branch is None:
        return False
    test = Literal(pc=node.branch.pc, condition=node.branch.condition, holds=True)
    return code.reader.read(test, entry).is_about_allowance


def _open_ways(code: Code, node: Node) -> tuple[Node, ...]:
    """Where execution goes on for a caller who is not the holder."""
    branch = node.branch
    if branch is None:
        return node.successors()
    tests = list(parts(code, branch.condition, holds=True))
    if len(tests) == 1 and _is_holder_test(code, tests[0][0]):
        term, is_true = tests[0]
        is_same_when_true = is_true is (term.operation == "EQ")
        return (branch.if_false if is_same_when_true else branch.if_true,)
    return node.successors()


def _is_holder_test(code: Code, term: Term) -> bool:
    """The caller compared with an account that calldata names, in any form."""
    if term.operation not in _EQUALITIES:
        return False
    sides = [address_in(code.sources.single(side)) for side in term.arguments]
    kinds = {side.operation for side in sides if isinstance(side, Term)}
    return kinds == {"CALLER", "CALLDATALOAD"}
