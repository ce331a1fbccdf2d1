"""A run laid over the graph of a walk, which must have foreseen every step.

A node of the graph is left by its branch, by a jump destination at which paths meet, or by its end.
Where two nodes of the graph match the run, both are followed; the run is unforeseen when none is
left.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from analysis.static.evm.cfg import (
    ALWAYS_REVERTS,
    DESTRUCTS,
    RETURNS,
    REVERTS,
    UNRESOLVED,
    Branch,
    Cfg,
    CfgNode,
    Effect,
)
from analysis.static.evm.expressions import FOLDED, Expr, Value
from tests.harness.static.node_runs import CALLER, TOKEN, Run, Step

_WORD: Final = 32
_CALLS: Final = frozenset({"CALL", "CALLCODE", "DELEGATECALL", "STATICCALL"})
_ENDS: Final = {
    "RETURN": RETURNS,
    "STOP": RETURNS,
    "SELFDESTRUCT": DESTRUCTS,
    "REVERT": REVERTS,
    "INVALID": REVERTS,
}
_TOUCHING: Final = frozenset({"SSTORE", "RETURN", "STOP", "SELFDESTRUCT", *_CALLS})
"""Instructions that a surely reverting, unanalysed run must not execute."""


class Spot(msgspec.Struct, frozen=True, eq=False):
    """Possible place of a run in the graph."""

    node: CfgNode
    done: int = 0
    """Deeds of the node that are behind it."""


class UnforeseenError(AssertionError):
    """A step of the run is on no path of the graph."""

    def __init__(self, *, step: Step, run: Run) -> None:
        super().__init__(f"{step.op} at {step.pc}, call 0x{run.data.hex()}")


def follow(run: Run, graph: Cfg) -> bool:
    """Lay the run over the graph. False: the walk had lost its way there.

    Raises UnforeseenError.
    """
    selector = int.from_bytes(run.data[:4])
    roots = [*graph.roots.get(None, ()), *graph.roots.get(selector, ())]
    spots = [Spot(root) for root in roots if root.pc == 0]
    for step in run.steps:
        places = {(spot.node.number, spot.done): spot for spot in _next(run, spots, step)}
        before, spots = spots, list(places.values())
        if not spots:
            if any(_is_lost(spot.node) for spot in before):
                return False
            raise UnforeseenError(step=step, run=run)
    return True


def _is_lost(node: CfgNode) -> bool:
    return node.end == UNRESOLVED


def _next(run: Run, spots: Iterable[Spot], step: Step) -> Iterator[Spot]:
    for spot in spots:
        if spot.node.end == ALWAYS_REVERTS:
            if step.op not in _TOUCHING:
                yield spot
        elif step.op in _CALLS or step.op == "SSTORE":
            if _does(run, spot, step):
                yield Spot(spot.node, spot.done + 1)
        elif step.op not in _ENDS or _ends(spot, step):
            yield from _FORKS.get(step.op, _stays)(run, spot, step)


def _stays(_run: Run, spot: Spot, _step: Step) -> Iterator[Spot]:
    yield spot


def _decides(run: Run, spot: Spot, step: Step) -> Iterator[Spot]:
    yield spot  # the walk knew its way; the next steps show whether it was right
    if _branches(spot, step):
        yield from _sides(run, spot.node.branch, step)


def _arrives(_run: Run, spot: Spot, step: Step) -> Iterator[Spot]:
    """Paths meet at the destination, or the walk goes through it."""
    following = spot.node.following
    if following is not None and following.pc == step.pc and spot.done == len(spot.node.effects):
        yield Spot(following)
    yield spot


def _ends(spot: Spot, step: Step) -> bool:
    node = spot.node
    is_left = node.following is None and node.branch is None
    return is_left and spot.done == len(node.effects) and node.end == _ENDS[step.op]


def _branches(spot: Spot, step: Step) -> bool:
    branch = spot.node.branch
    return branch is not None and branch.pc == step.pc and spot.done == len(spot.node.effects)


def _entries(run: Run, spot: Spot, step: Step) -> Iterator[Spot]:
    """A table is one branch after the other, all at one place."""
    branch = spot.node.branch
    if branch is None or not _branches(spot, step):
        yield spot
        return
    known = value_of(branch.condition, run)
    for side, when in ((branch.if_true, True), (branch.if_false, False)):
        if known is None or bool(known) is when:
            yield from _entries(run, Spot(side), step)


def _sides(run: Run, branch: Branch | None, step: Step) -> Iterator[Spot]:
    assert branch is not None
    known = value_of(branch.condition, run)
    if known is not None:
        yield Spot(branch.if_true if known else branch.if_false)
        return
    is_taken = step.operand(1) != 0
    starts = (step.operand(0), step.pc) if is_taken else (step.pc + 1,)
    for side in (branch.if_true, branch.if_false):
        if side.pc in starts:
            yield Spot(side)


_FORKS: Final[dict[str, Callable[[Run, Spot, Step], Iterator[Spot]]]] = {
    "JUMPDEST": _arrives,
    "JUMPI": _decides,
    "JUMP": _entries,
    "CODECOPY": _entries,
}
"""Instructions at which the graph may go on in more than one way."""


def _does(run: Run, spot: Spot, step: Step) -> bool:
    if spot.done >= len(spot.node.effects):
        return False
    effect = spot.node.effects[spot.done]
    return effect.pc == step.pc and effect.kind == step.op and _is_same(run, effect, step)


def _is_same(run: Run, effect: Effect, step: Step) -> bool:
    if effect.kind == "SSTORE":
        slot, value = effect.words
        return fits(slot, step.operand(0), run) and fits(value, step.operand(1), run)
    return fits(effect.words[0], step.operand(1), run)


# --- symbolic words against the numbers of a run ------------------------------------------------


def fits(word: Value, number: int, run: Run) -> bool:
    """True if the word may have had this value in the run."""
    known = value_of(word, run)
    if known is not None:
        return known == number
    if not isinstance(word, Expr):
        return False
    if word.operation in ("keccak", "packed"):
        return number in run.hashed and _hash_fits(word, run.hashed[number], run)
    if word.operation == "ADD":
        return _sum_fits(word, number, run)
    return True


def _hash_fits(word: Expr, hashed: bytes | None, run: Run) -> bool:
    first = word.arguments[0]
    is_known = not isinstance(first, Expr) or first.operation != "memory"
    if hashed is None or word.operation == "packed" or not is_known:
        return True
    parts = [int.from_bytes(hashed[i : i + _WORD]) for i in range(0, len(hashed), _WORD)]
    return len(hashed) == _WORD * len(word.arguments) and all(
        fits(inner, part, run) for inner, part in zip(word.arguments, parts, strict=True)
    )


def _sum_fits(word: Expr, number: int, run: Run) -> bool:
    for one, other in (word.arguments, word.arguments[::-1]):
        known = value_of(one, run)
        if known is not None:
            return fits(other, (number - known) % 2**256, run)
    return True


def value_of(word: Value, run: Run) -> int | None:
    """The word's number in this run. None: it hangs on storage, memory or an answer."""
    if isinstance(word, int):
        return word
    if word.operation == "CALLDATALOAD":
        place = value_of(word.arguments[0], run)
        return None if place is None else _calldata(run, place)
    if word.operation in _SURROUNDINGS:
        return _SURROUNDINGS[word.operation](run)
    fold = FOLDED.get(word.operation)
    values = [value_of(argument, run) for argument in word.arguments]
    known = [value for value in values if value is not None]
    return fold(*known) if fold is not None and len(known) == len(values) else None


def _calldata(run: Run, place: int) -> int:
    return int.from_bytes(run.data[place : place + _WORD].ljust(_WORD, b"\0"))


_SURROUNDINGS: Final[dict[str, Callable[[Run], int]]] = {
    "CALLER": lambda run: int(CALLER, 16),
    "ORIGIN": lambda run: int(CALLER, 16),
    "ADDRESS": lambda run: int(TOKEN, 16),
    "CALLVALUE": lambda run: run.value_wei,
    "CALLDATASIZE": lambda run: len(run.data),
    "selector": lambda run: int.from_bytes(run.data[:4].ljust(4, b"\0")),
    "selector_high": lambda run: int.from_bytes(run.data[:4].ljust(4, b"\0")) << 224,
}
