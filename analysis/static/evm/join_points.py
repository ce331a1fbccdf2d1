"""Join points with widening: the first states are explored exactly, later ones are merged.

A join point is a program counter with a function, a call string and the decided conditions. Merging
replaces differing words of stack and memory by phis. A phi is never replaced again, so the merged
state grows finitely often and exploration ends. Merged states over-approximate the paths.
"""

from typing import Final

from analysis.static.evm.call_outputs import CallOutput
from analysis.static.evm.cfg import Cfg, CfgNode, FunctionId, Phi
from analysis.static.evm.expressions import ExprPool, Value
from analysis.static.evm.held_reads import StaleReads, joined
from analysis.static.evm.path_state import HOLDER_FUNCTIONS, PathState
from analysis.static.evm.symbolic_memory import SymbolicMemory

_State = tuple[tuple[Value, ...], SymbolicMemory, CallOutput | None, StaleReads]

_EXACT_VISITS: Final = 2
_EXACT_HOLDER_VISITS: Final = 10
_EXACT_LATER_VISITS: Final = 4
"""States that are explored exactly at one join point, before the merged state of all others; for
`HOLDER_FUNCTIONS` more, the later number once an eighth of the steps is used."""


class JoinPoint:
    """The exact states and the merged state of one join point."""

    __slots__ = ("exact", "grown", "merged", "names", "node", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        """Number in order of discovery; lower ones are re-explored first."""
        self.grown: PathState | None = None
        """The last path that widened the merged state."""
        self.exact: list[tuple[_State, CfgNode]] = []
        self.merged: _State | None = None
        self.node: CfgNode | None = None
        """CFG node of the merged state."""
        self.names: dict[int | tuple[str, Value], Value] = {}
        """Phis by stack index, or by memory address."""


class JoinTable:
    """The join points of one function's exploration."""

    def __init__(self, pool: ExprPool, graph: Cfg) -> None:
        self._pool = pool
        self._graph = graph
        self._places: dict[tuple[object, ...], JoinPoint] = {}
        self._grown: dict[int, JoinPoint] = {}
        """Join points whose merged state has grown.

        They wait until no exact path is left, so that one re-exploration covers all paths merged
        until then.
        """

    def arrive(self, key: tuple[object, ...], path: PathState, *, exact_visits: int) -> bool:
        """True if the path is explored further: it is one of the first states at this join point.

        A known state is linked to its node. Any other is merged into the join point's state.
        """
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = JoinPoint(len(self._places))
        stack, memory, output = tuple(path.stack), path.memory, path.output
        stale = path.stale
        for (known, known_memory, known_output, known_stale), node in place.exact:
            is_same = known == stack and known_output == output and known_stale == stale
            if is_same and known_memory.is_same(memory):
                path.node.following = node
                return False
        if len(place.exact) < exact_visits:
            path.node.following = node = self._graph.add(path.entry, path.pc)
            place.exact.append(((stack, memory.copy(), output, stale), node))
            path.node = node
            return True
        if place.merged is None or place.node is None:
            place.node = self._graph.add(path.entry, path.pc)
            place.merged = (stack, memory.copy(), output, stale)
            is_grown = True
        else:
            is_grown = self._merge(place, place.merged, (stack, memory, output, stale))
        path.node.following = place.node
        path.node.phi = Phi(place.names, stack, memory.copy().cells)
        if is_grown:
            place.grown = path
            self._grown[place.number] = place
        return False

    def take(self) -> PathState | None:
        """Return a path from a join point whose state has grown. None: the fixpoint is reached."""
        if not self._grown:
            return None
        place = self._grown.pop(min(self._grown))
        like = place.grown
        if place.merged is None or place.node is None or like is None:
            return None
        stack, memory, output, stale = place.merged
        place.node.clear()
        here = PathState(like.pc, list(stack), memory.copy(), like.entry, like.last_callee)
        here.node = place.node
        here.output, here.tests_left = output, like.tests_left
        here.path_conditions = like.path_conditions
        here.stale = stale
        return here

    def _merge(self, place: JoinPoint, known: _State, new: _State) -> bool:
        """Merge the new state into the known one. True if that widened it."""
        is_grown = False
        stack = list(known[0])
        for index, (a, b) in enumerate(zip(known[0], new[0], strict=True)):
            if a is not b and a != b:
                stack[index] = self._join(place, index, a, b)
                is_grown |= stack[index] is not a
        memory = known[1]
        if not memory.is_same(new[1]):
            memory = memory.common(new[1], lambda at, a, b: self._join(place, ("memory", at), a, b))
            is_grown |= not memory.is_same(known[1])
        output = known[2] if known[2] == new[2] else None
        is_grown |= output != known[2]
        stale = joined(known[3], new[3])
        is_grown |= stale != known[3]
        if is_grown:
            place.merged = (tuple(stack), memory, output, stale)
        return is_grown

    def _join(self, place: JoinPoint, name: int | tuple[str, Value], a: Value, b: Value) -> Value:
        joined = place.names.get(name)
        if joined is None:
            joined = place.names[name] = self._pool.either()
        self._pool.join(joined, a, b)
        return joined


class FunctionWorklist:
    """Worklist of one function: pending paths and its join points."""

    __slots__ = ("meeting", "spent", "waiting")

    def __init__(self, meeting: JoinTable) -> None:
        self.meeting = meeting
        self.waiting: list[PathState] = []
        self.spent = 0
        """Steps used so far."""

    def take(self) -> PathState | None:
        """Return the next path. None: the fixpoint is reached."""
        return self.waiting.pop() if self.waiting else self.meeting.take()


def exact_visits(entry: FunctionId, *, spent: int, share: int) -> int:
    """Return how many states a join point of a function explores exactly. Fewer the more steps the
    function has used, so that simple code is explored exactly."""
    if entry not in HOLDER_FUNCTIONS or spent > share // 4:
        return _EXACT_VISITS if spent < share // 4 else int(spent < share // 2)
    return _EXACT_HOLDER_VISITS if spent < share // 8 else _EXACT_LATER_VISITS
