"""Control-flow graph of the explored paths: nodes with effects, branches and phis.

One code address may have many nodes, one for each path state explored there. A node belongs to
one function, the selector its path has matched.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.held_reads import StaleReads
from core.evm.primitives import Selector

FunctionId = int | None
"""The selector a path has matched. None: none yet, or none at all (fallback, receive)."""


def selector_of(entry: FunctionId) -> Selector:
    """Return a function's selector as text; 0x00000000 for code that runs without a match."""
    return Selector(f"0x{entry or 0:08x}")


RETURNS: Final = "returns"
REVERTS: Final = "reverts"
ALWAYS_REVERTS: Final = "fails"
DESTRUCTS: Final = "destructs"
UNRESOLVED: Final = "lost"
"""End of execution at a node.

ALWAYS_REVERTS: it surely reverts and was not explored. UNRESOLVED: an unknown jump target, too deep
a recursion, or the budget ran out.
"""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """An effect outside the path's own stack and memory: a store or a call."""

    kind: str
    """The instruction: SSTORE, CALL, STATICCALL, DELEGATECALL, CALLCODE, LOG."""
    pc: int
    words: tuple[Value, ...]
    """SSTORE: slot, value. Calls: target, first word of the input, length of the output."""
    stale: StaleReads = frozenset()
    """SSTORE: reads that the path held while their variables may have been stored to."""


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A conditional jump whose condition is symbolic."""

    pc: int
    condition: Expr
    if_true: "CfgNode"
    """Successor if the condition is non-zero."""
    if_false: "CfgNode"


class Phi:
    """Operands of the phis at a join point for one incoming edge."""

    __slots__ = ("_cells", "_names", "_stack")

    def __init__(
        self,
        names: Mapping[int | tuple[str, Value], Value],
        stack: tuple[Value, ...],
        cells: Mapping[Value, object],
    ) -> None:
        """`names`: the phis by stack index, or by memory address. Later edges add phis, so the
        mapping is the join point's own, not a copy. `stack`, `cells`: the state on this edge."""
        self._names = names
        self._stack = stack
        self._cells = cells

    def operands(self) -> Iterator[tuple[Expr, Value]]:
        """Yield each phi with its operand on this edge."""
        for name, phi in self._names.items():
            word = self._cells.get(name[1]) if isinstance(name, tuple) else self._stack[name]
            if isinstance(phi, Expr) and isinstance(word, int | Expr) and word is not phi:
                yield phi, word


class CfgNode:
    """A CFG node: a segment of one path, or of all paths that were merged into one."""

    __slots__ = (
        "branch",
        "effects",
        "end",
        "entry",
        "following",
        "number",
        "operands",
        "pc",
        "phi",
    )

    def __init__(self, number: int, entry: FunctionId, pc: int) -> None:
        self.number = number
        self.entry = entry
        self.pc = pc
        """Program counter of its start; of the jump if its target is unknown or one of many."""
        self.clear()

    def clear(self) -> None:
        """Reset the node before it is explored again from a wider state."""
        self.effects: list[Effect] = []
        self.operands: list[Effect] = []
        """Transient stores, and operands of instructions that can halt (`operand_records`)."""
        self.branch: Branch | None = None
        self.following: CfgNode | None = None
        self.phi: Phi | None = None
        """Operands of the phis in the merged state of `following`, on the edge from here."""
        self.end: str | None = REVERTS

    def successors(self) -> tuple["CfgNode", ...]:
        """Return the successors: two of a branch, one of another node, none at an end."""
        if self.branch is not None:
            return (self.branch.if_true, self.branch.if_false)
        return () if self.following is None else (self.following,)


class Cfg:
    """The graph of one exploration."""

    def __init__(self) -> None:
        self.count = 0
        self.roots: dict[FunctionId, list[CfgNode]] = {}
        """Entry nodes by function; None: the start of the code, dispatcher and fallback."""

    def add(self, entry: FunctionId, pc: int) -> CfgNode:
        """Create a node without predecessors."""
        self.count += 1
        return CfgNode(self.count, entry, pc)
