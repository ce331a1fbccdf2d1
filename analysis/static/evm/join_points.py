"""Where paths meet: the first few are followed as they are, later ones are merged, so walks end."""

from typing import Final

from analysis.static.evm.cfg import Cfg, CfgNode, FunctionId, Phi
from analysis.static.evm.expressions import ExprPool, Value
from analysis.static.evm.path_state import HOLDER_FUNCTIONS, PathState
from analysis.static.evm.symbolic_memory import SymbolicMemory

_State = tuple[tuple[Value, ...], SymbolicMemory]

_EXACT_VISITS: Final = 2
_EXACT_HOLDER_VISITS: Final = 10
_EXACT_LATER_VISITS: Final = 4
"""Paths that reach one place with the same return addresses and are told apart, before one more
that takes in all the others."""


class JoinPoint:
    """What has come along at one place with one set of return addresses."""

    __slots__ = ("exact", "grown", "merged", "names", "node", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        """In the order found; what comes first is followed again first."""
        self.grown: PathState | None = None
        """The last path that made the merged state wider, where it came here."""
        self.exact: list[tuple[_State, CfgNode]] = []
        self.merged: _State | None = None
        self.node: CfgNode | None = None
        """Of the merged state."""
        self.names: dict[int | tuple[str, Value], Value] = {}
        """The words that stand for what differs."""


class JoinTable:
    """The places of one walk."""

    def __init__(self, pool: ExprPool, graph: Cfg) -> None:
        self._pool = pool
        self._graph = graph
        self._places: dict[tuple[object, ...], JoinPoint] = {}
        self._grown: dict[int, JoinPoint] = {}
        """Places whose merged state has grown. They wait until no exact path is left, so that one
        round takes in all that has come along meanwhile."""

    def arrive(self, key: tuple[object, ...], path: PathState, *, exact_visits: int) -> bool:
        """Whether the path goes on by itself: it is one of the first to come here.

        A later one is merged with what the place has seen, and followed as that.
        """
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = JoinPoint(len(self._places))
        stack, memory = tuple(path.stack), path.memory
        for (known, known_memory), node in place.exact:
            if known == stack and known_memory.is_same(memory):
                path.node.following = node
                return False
        if len(place.exact) < exact_visits:
            path.node.following = node = self._graph.add(path.entry, path.pc)
            place.exact.append(((stack, memory.copy()), node))
            path.node = node
            return True
        if place.merged is None or place.node is None:
            place.node = self._graph.add(path.entry, path.pc)
            place.merged = (stack, memory.copy())
            is_grown = True
        else:
            is_grown = self._merge(place, place.merged, (stack, memory))
        path.node.following = place.node
        path.node.phi = Phi(place.names, stack, memory.copy().cells)
        if is_grown:
            place.grown = path
            self._grown[place.number] = place
        return False

    def take(self) -> PathState | None:
        """A path for a place that has grown. None: all is settled."""
        if not self._grown:
            return None
        place = self._grown.pop(min(self._grown))
        like = place.grown
        if place.merged is None or place.node is None or like is None:
            return None
        stack, memory = place.merged
        place.node.clear()
        here = PathState(like.pc, list(stack), memory.copy(), like.entry, like.last_callee)
        here.node = place.node
        here.path_conditions = like.path_conditions
        return here

    def _merge(self, place: JoinPoint, known: _State, new: _State) -> bool:
        """Take the new state in; memory as far as both agree. Whether that changed anything."""
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
        if is_grown:
            place.merged = (tuple(stack), memory)
        return is_grown

    def _join(self, place: JoinPoint, name: int | tuple[str, Value], a: Value, b: Value) -> Value:
        joined = place.names.get(name)
        if joined is None:
            joined = place.names[name] = self._pool.either()
        self._pool.join(joined, a, b)
        return joined


class FunctionWorklist:
    """What of one function is still to be followed."""

    __slots__ = ("meeting", "spent", "waiting")

    def __init__(self, meeting: JoinTable) -> None:
        self.meeting = meeting
        self.waiting: list[PathState] = []
        self.spent = 0
        """Steps."""

    def take(self) -> PathState | None:
        """The next path. None: all is settled."""
        return self.waiting.pop() if self.waiting else self.meeting.take()


def exact_visits(entry: FunctionId, *, spent: int, share: int) -> int:
    """How many states a join point of a function tells apart. Fewer the more of its steps the
    function has used: simple code is followed exactly."""
    if entry not in HOLDER_FUNCTIONS or spent > share // 4:
        return _EXACT_VISITS if spent < share // 4 else int(spent < share // 2)
    return _EXACT_HOLDER_VISITS if spent < share // 8 else _EXACT_LATER_VISITS
