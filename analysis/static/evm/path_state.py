"""One way through the code, and what is noted along it."""

from typing import Final

import msgspec

from analysis.static.evm.cfg import Deed, Entry, Node
from analysis.static.evm.expressions import Term, Word
from analysis.static.evm.symbolic_memory import Memory

BALANCE_OF: Final = 0x70A08231
ALLOWANCE: Final = 0xDD62ED3E
"""Selectors of the two getters whose storage is looked for."""

TOTAL_SUPPLY: Final = 0x18160DDD

APPROVE: Final = 0x095EA7B3
HOLDER_FUNCTIONS: Final = frozenset({0xA9059CBB, 0x23B872DD, APPROVE})
"""`transfer`, `transferFrom`, `approve`: what every holder calls."""

_MOST_NOTES: Final = 4096
"""Of one kind. Real tokens have a few hundred; hostile code could have millions."""


def rank(entry: Entry) -> tuple[bool, bool, int]:
    """The order of functions: the dispatcher comes first, then what holders call."""
    return entry is not None, entry not in HOLDER_FUNCTIONS, entry or 0


class Path:
    """One way through the code, so far."""

    __slots__ = ("called", "entry", "facts", "is_arriving", "memory", "node", "pc", "stack")

    facts: frozenset[tuple[Term, bool]]
    """Addresses among the arguments that are known to be zero, or not to be."""

    node: Node
    """Where in the graph it is."""

    def __init__(
        self, pc: int, stack: list[Word], memory: Memory, entry: Entry, called: Word | None
    ) -> None:
        self.pc = pc
        self.is_arriving = False
        """Whether it has come to a place where others may have been, and that is not looked at."""
        self.facts = frozenset()
        self.stack = stack
        self.memory = memory
        self.entry = entry
        self.called = called
        """Whom the last outer call was made to. None: no call yet, so there is no return data."""

    def do(self, kind: str, pc: int, *words: Word) -> None:
        """Write a deed down in the graph."""
        self.node.deeds.append(Deed(kind=kind, pc=pc, words=words))

    def fork(self) -> "Path":
        """The same path, to go on elsewhere."""
        path = Path(self.pc, list(self.stack), self.memory.copy(), self.entry, self.called)
        path.facts = self.facts
        path.node = self.node
        return path


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something done at one place, reached from one entry."""

    entry: Entry
    pc: int
    words: tuple[Word, ...] = ()
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
        self.answers_used: set[Word] = set()
        """Contracts whose returned data was looked at."""
        self.unresolved: dict[tuple[object, ...], Note] = {}
        """A jump to a word that is not known: the word."""
        self.hashed: dict[int, tuple[int, ...]] = {}
        """What numbers that came from hashing are the hash of."""
        self.selectors: set[int] = set()
        """Matched in the dispatcher."""
        self.unfinished: set[Entry] = set()
        """Entries with a path that was not followed to its end: an unknown jump, deep recursion, or
        the budget ran out. None among them may stand for any function."""
        self.cut: set[Entry] = set()
        """Those of them that the budget ended. What was found in them may be undone by what was
        not seen: a store that a revert follows, a refusal that another path avoids."""
        self.is_timed_out = False
        """Whether it was the budget's seconds that ran out."""

    @staticmethod
    def add(notes: dict[tuple[object, ...], Note], path: Path, pc: int, *words: Word) -> None:
        """Note it once."""
        if len(notes) < _MOST_NOTES:
            note = Note(entry=path.entry, pc=pc, words=words)
            notes.setdefault((path.entry, pc, *words), note)
