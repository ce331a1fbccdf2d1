"""One way through the code, and what is noted along it."""

from typing import Final

import msgspec

from analysis.static.evm.cfg import CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.symbolic_memory import SymbolicMemory

BALANCE_OF: Final = 0x70A08231
ALLOWANCE: Final = 0xDD62ED3E
"""Selectors of the two getters whose storage is looked for."""

TOTAL_SUPPLY: Final = 0x18160DDD

APPROVE: Final = 0x095EA7B3
HOLDER_FUNCTIONS: Final = frozenset({0xA9059CBB, 0x23B872DD, APPROVE})
"""`transfer`, `transferFrom`, `approve`: what every holder calls."""

_MOST_NOTES: Final = 4096
"""Of one kind. Real tokens have a few hundred; hostile code could have millions."""


def rank(entry: FunctionId) -> tuple[bool, bool, int]:
    """The order of functions: the dispatcher comes first, then what holders call."""
    return entry is not None, entry not in HOLDER_FUNCTIONS, entry or 0


class PathState:
    """One way through the code, so far."""

    __slots__ = (
        "entry",
        "is_at_join_point",
        "last_callee",
        "memory",
        "node",
        "path_conditions",
        "pc",
        "stack",
    )

    path_conditions: frozenset[tuple[Expr, bool]]
    """Addresses among the arguments that are known to be zero, or not to be."""

    node: CfgNode
    """Where in the graph it is."""

    def __init__(
        self,
        pc: int,
        stack: list[Value],
        memory: SymbolicMemory,
        entry: FunctionId,
        called: Value | None,
    ) -> None:
        self.pc = pc
        self.is_at_join_point = False
        """Whether it has come to a place where others may have been, and that is not looked at."""
        self.path_conditions = frozenset()
        self.stack = stack
        self.memory = memory
        self.entry = entry
        self.last_callee = called
        """Whom the last outer call was made to. None: no call yet, so there is no return data."""

    def do(self, kind: str, pc: int, *words: Value) -> None:
        """Write a deed down in the graph."""
        self.node.effects.append(Effect(kind=kind, pc=pc, words=words))

    def fork(self) -> "PathState":
        """The same path, to go on elsewhere."""
        path = PathState(
            self.pc, list(self.stack), self.memory.copy(), self.entry, self.last_callee
        )
        path.path_conditions = self.path_conditions
        path.node = self.node
        return path


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something done at one place, reached from one entry."""

    entry: FunctionId
    pc: int
    words: tuple[Value, ...] = ()
    """What it was done with; their meaning is in `Notes`."""


class Notes:
    """Everything noted on one walk, each thing once."""

    def __init__(self) -> None:
        self.writes: dict[tuple[object, ...], Note] = {}
        """SSTORE: slot, value."""
        self.reads: dict[tuple[object, ...], Note] = {}
        """SLOAD on the way of `balanceOf` and `allowance`: slot."""
        self.returns: dict[tuple[object, ...], Note] = {}
        """RETURN: the first words returned."""
        self.delegations: dict[tuple[object, ...], Note] = {}
        """DELEGATECALL or CALLCODE: target, first word of the input, length of the input."""
        self.destructions: dict[tuple[object, ...], Note] = {}
        """SELFDESTRUCT: no words."""
        self.caller_checks: dict[tuple[object, ...], Note] = {}
        """A comparison of the caller with an address in a storage slot: the slot, and the bits to
        the right of the address."""
        self.clocks: dict[tuple[object, ...], Note] = {}
        """A comparison or subtraction with the clock in it: its result, and the two operands."""
        self.answers_used: set[Value] = set()
        """Contracts whose returned data was looked at."""
        self.unresolved: dict[tuple[object, ...], Note] = {}
        """A jump to a word that is not known: the word."""
        self.hashed: dict[int, tuple[int, ...]] = {}
        """What numbers that came from hashing are the hash of."""
        self.selectors: set[int] = set()
        """Matched in the dispatcher."""
        self.unfinished: set[FunctionId] = set()
        """Entries with a path that was not followed to its end: an unknown jump, deep recursion, or
        the budget ran out. None among them may stand for any function."""
        self.cut: set[FunctionId] = set()
        """Those of them that the budget ended. What was found in them may be undone by what was
        not seen: a store that a revert follows, a refusal that another path avoids."""
        self.is_timed_out = False
        """Whether it was the budget's seconds that ran out."""

    @staticmethod
    def add(notes: dict[tuple[object, ...], Note], path: PathState, pc: int, *words: Value) -> None:
        """Note it once."""
        if len(notes) < _MOST_NOTES:
            note = Note(entry=path.entry, pc=pc, words=words)
            notes.setdefault((path.entry, pc, *words), note)
