"""The paths of a walk as a graph: what is done in which order, and which branch leads where."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from analysis.static.evm.expressions import Expr, Value

FunctionId = int | None
"""The selector a path has matched. None: none yet, or none at all (fallback, receive)."""

RETURNS: Final = "returns"
REVERTS: Final = "reverts"
ALWAYS_REVERTS: Final = "fails"
DESTRUCTS: Final = "destructs"
UNRESOLVED: Final = "lost"
"""How a node can end execution; fails: it surely reverts, and nobody looked at what it does until
then; lost: a jump that is not known, or the budget ran out."""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """Something done to the world outside the path's own stack and memory."""

    kind: str
    """The instruction: SSTORE, CALL, STATICCALL, DELEGATECALL, CALLCODE, LOG."""
    pc: int
    words: tuple[Value, ...]
    """SSTORE: slot, value. Calls: target, first word of the input, whether an answer is wanted."""


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A jump that depends on a word that is not known."""

    pc: int
    condition: Expr
    if_true: "CfgNode"
    """Where a condition that is not zero leads."""
    if_false: "CfgNode"


class Phi:
    """Operands of the phi words at a join point, for one incoming edge."""

    __slots__ = ("_cells", "_names", "_stack")

    def __init__(
        self,
        names: Mapping[int | tuple[str, Value], Value],
        stack: tuple[Value, ...],
        cells: Mapping[Value, object],
    ) -> None:
        """`names`: the phi words by stack index, or by place in memory. They are found out as later
        edges arrive, so the mapping is the join point's own. `cells`: memory on this edge."""
        self._names = names
        self._stack = stack
        self._cells = cells

    def operands(self) -> Iterator[tuple[Expr, Value]]:
        """Each phi word, and what it is on this edge."""
        for name, phi in self._names.items():
            word = self._cells.get(name[1]) if isinstance(name, tuple) else self._stack[name]
            if isinstance(phi, Expr) and isinstance(word, int | Expr) and word is not phi:
                yield phi, word


class CfgNode:
    """A stretch of one path, or of all those that were merged into one."""

    __slots__ = ("branch", "effects", "end", "entry", "following", "number", "pc", "phi")

    def __init__(self, number: int, entry: FunctionId, pc: int) -> None:
        self.number = number
        self.entry = entry
        self.pc = pc
        """Where it starts; a jump to where is not known, or one of many places, at the jump."""
        self.clear()

    def clear(self) -> None:
        """Forget what happened here: a wider state is about to be followed from here."""
        self.effects: list[Effect] = []
        self.branch: Branch | None = None
        self.following: CfgNode | None = None
        self.phi: Phi | None = None
        """What the merged state of `following` stands for on the edge from here."""
        self.end: str | None = REVERTS

    def successors(self) -> tuple["CfgNode", ...]:
        """Where execution goes on."""
        if self.branch is not None:
            return (self.branch.if_true, self.branch.if_false)
        return () if self.following is None else (self.following,)


class Cfg:
    """All nodes of one walk."""

    def __init__(self) -> None:
        self.count = 0
        self.roots: dict[FunctionId, list[CfgNode]] = {}
        """Where each function is entered; the fallback at the start of the code."""

    def add(self, entry: FunctionId, pc: int) -> CfgNode:
        """A new node, not yet linked to from any other."""
        self.count += 1
        return CfgNode(self.count, entry, pc)
