"""Where paths meet: the first few are followed as they are, later ones are merged, so walks end."""

from analysis.static.evm.cfg import Graph, Node, Phi
from analysis.static.evm.expressions import Pool, Word
from analysis.static.evm.path_state import Path
from analysis.static.evm.symbolic_memory import Memory

_State = tuple[tuple[Word, ...], Memory]


class Place:
    """What has come along at one place with one set of return addresses."""

    __slots__ = ("exact", "grown", "merged", "names", "node", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        """In the order found; what comes first is followed again first."""
        self.grown: Path | None = None
        """The last path that made the merged state wider, where it came here."""
        self.exact: list[tuple[_State, Node]] = []
        self.merged: _State | None = None
        self.node: Node | None = None
        """Of the merged state."""
        self.names: dict[int | tuple[str, Word], Word] = {}
        """The words that stand for what differs."""


class Meeting:
    """The places of one walk."""

    def __init__(self, pool: Pool, graph: Graph) -> None:
        self._pool = pool
        self._graph = graph
        self._places: dict[tuple[object, ...], Place] = {}
        self._grown: dict[int, Place] = {}
        """Places whose merged state has grown. They wait until no exact path is left, so that one
        round takes in all that has come along meanwhile."""

    def arrive(self, key: tuple[object, ...], path: Path, *, exact_visits: int) -> bool:
        """Whether the path goes on by itself: it is one of the first to come here.

        A later one is merged with what the place has seen, and followed as that.
        """
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = Place(len(self._places))
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

    def take(self) -> Path | None:
        """A path for a place that has grown. None: all is settled."""
        if not self._grown:
            return None
        place = self._grown.pop(min(self._grown))
        like = place.grown
        if place.merged is None or place.node is None or like is None:
            return None
        stack, memory = place.merged
        place.node.clear()
        here = Path(like.pc, list(stack), memory.copy(), like.entry, like.called)
        here.node = place.node
        here.facts = like.facts
        return here

    def _merge(self, place: Place, known: _State, new: _State) -> bool:
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

    def _join(self, place: Place, name: int | tuple[str, Word], a: Word, b: Word) -> Word:
        joined = place.names.get(name)
        if joined is None:
            joined = place.names[name] = self._pool.either()
        self._pool.join(joined, a, b)
        return joined


class Function:
    """What of one function is still to be followed."""

    __slots__ = ("meeting", "spent", "waiting")

    def __init__(self, meeting: Meeting) -> None:
        self.meeting = meeting
        self.waiting: list[Path] = []
        self.spent = 0
        """Steps."""

    def take(self) -> Path | None:
        """The next path. None: all is settled."""
        return self.waiting.pop() if self.waiting else self.meeting.take()
