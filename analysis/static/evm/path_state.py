"""Path state of symbolic execution, and the notes collected along all paths."""

from typing import Final

import msgspec

from analysis.static.evm.call_outputs import CallOutput
from analysis.static.evm.cfg import CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.held_reads import StaleReads
from analysis.static.evm.symbolic_memory import SymbolicMemory

BALANCE_OF: Final = 0x70A08231
ALLOWANCE: Final = 0xDD62ED3E
"""Selectors of the two getters whose storage reads are noted."""

TOTAL_SUPPLY: Final = 0x18160DDD

APPROVE: Final = 0x095EA7B3
TRANSFER: Final = 0xA9059CBB
TRANSFER_FROM: Final = 0x23B872DD
MOVERS: Final = (TRANSFER, TRANSFER_FROM)
HOLDER_FUNCTIONS: Final = frozenset({*MOVERS, APPROVE})
"""Selectors of `transfer`, `transferFrom` and `approve`, which every holder calls."""

_MOST_NOTES: Final = 4096
"""Notes of one kind. Real tokens have a few hundred; hostile code could have millions."""


def rank(entry: FunctionId) -> tuple[bool, bool, int]:
    """Return the sort key of functions: the dispatcher, then `HOLDER_FUNCTIONS`, then others."""
    return entry is not None, entry not in HOLDER_FUNCTIONS, entry or 0


class PathState:
    """State of one path: stack, memory, matched selector and decided conditions."""

    __slots__ = (
        "entry",
        "is_at_join_point",
        "last_callee",
        "memory",
        "node",
        "output",
        "path_conditions",
        "pc",
        "registers",
        "stack",
        "stale",
        "tests_left",
    )

    path_conditions: frozenset[tuple[Expr, bool]]
    """Address arguments, each with True if it is non-zero on this path."""

    node: CfgNode
    """The CFG node being executed."""

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
        """True if the pc may be a join point that the path has not been checked against yet."""
        self.path_conditions = frozenset()
        self.registers: list[Value] = []
        """Words computed in the current block."""
        self.stale: StaleReads = frozenset()
        """Reads held while their variables may have been stored to."""
        self.stack = stack
        self.memory = memory
        self.entry = entry
        self.last_callee = called
        """Target of the last external call. None: no call yet, so there is no return data."""
        self.output: CallOutput | None = None
        """Words that the last external call may not have written. None: none, or the code was not
        seen to test the size of the return data soon after the call."""
        self.tests_left = 0
        """Join points at which `output` is still kept."""

    def do(self, kind: str, pc: int, *words: Value) -> None:
        """Record an effect in the CFG."""
        self.node.effects.append(Effect(kind=kind, pc=pc, words=words, stale=self.stale))

    def fork(self) -> "PathState":
        """Return a copy of the path, to be explored independently."""
        path = PathState(
            self.pc, list(self.stack), self.memory.copy(), self.entry, self.last_callee
        )
        path.output, path.tests_left = self.output, self.tests_left
        path.path_conditions = self.path_conditions
        path.stale = self.stale
        path.node = self.node
        return path


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A fact noted at one program counter, reached in one function."""

    entry: FunctionId
    pc: int
    words: tuple[Value, ...] = ()
    """Operands; their meaning is documented in `Notes`."""


class Notes:
    """All notes of one exploration, without duplicates, at most 4096 of one kind."""

    def __init__(self) -> None:
        self.writes: dict[tuple[object, ...], Note] = {}
        """SSTORE: slot, value."""
        self.reads: dict[tuple[object, ...], Note] = {}
        """SLOAD in `balanceOf` and `allowance`: slot."""
        self.returns: dict[tuple[object, ...], Note] = {}
        """RETURN: the first words returned."""
        self.delegations: dict[tuple[object, ...], Note] = {}
        """DELEGATECALL or CALLCODE: target, first word of the input, length of the input."""
        self.destructions: dict[tuple[object, ...], Note] = {}
        """SELFDESTRUCT: no words."""
        self.caller_checks: dict[tuple[object, ...], Note] = {}
        """A comparison of the caller with an address in a storage slot: the slot, and the number of
        bits below the address."""
        self.clocks: dict[tuple[object, ...], Note] = {}
        """A comparison or subtraction that depends on block time or number: its result, and the two
        operands."""
        self.answers_used: set[Value] = set()
        """Call targets whose return data was read."""
        self.unresolved: dict[tuple[object, ...], Note] = {}
        """A jump to an unknown target: the target."""
        self.hashed: dict[int, tuple[int, ...]] = {}
        """Preimages of concrete hashes: the hashed words by hash."""
        self.selectors: set[int] = set()
        """Selectors matched in the dispatcher."""
        self.unfinished: set[FunctionId] = set()
        """Functions with a path that was not explored to its end: an unknown jump, deep recursion,
        or the budget ran out. None among them may stand for any function."""
        self.cut: set[FunctionId] = set()
        """Those of them that the budget ended. Unexplored code may undo what was found in them: a
        revert after a store, or another path around a revert."""
        self.is_timed_out = False
        """True if the budget's seconds ran out."""

    @staticmethod
    def add(notes: dict[tuple[object, ...], Note], path: PathState, pc: int, *words: Value) -> None:
        """Add a note, unless it is known or 4096 of its kind are."""
        if len(notes) < _MOST_NOTES:
            note = Note(entry=path.entry, pc=pc, words=words)
            notes.setdefault((path.entry, pc, *words), note)
