"""Walk the code along every path from its entry, and note what is done there.

Paths carry symbolic stacks and memories (`terms`, `memory`). Where paths meet with the same return
addresses on the stack, the first few are followed as they are and later ones are merged, so the
walk ends; a budget ends it earlier. What it notes is *inferred*: conditions along a path are not
solved, only those that fold to a number, and those on the selector, decide.
"""

import time
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Final

import msgspec

from analysis.static.bytecode import JUMPDEST, PUSH0, PUSH32, Program
from analysis.static.graph import DESTRUCTS, LOST, RETURNS, Branch, Entry, Graph
from analysis.static.machine import Machine
from analysis.static.meeting import Meeting
from analysis.static.memory import Memory
from analysis.static.opcodes import NUMBER, OPCODES
from analysis.static.path import HOLDER_FUNCTIONS, Notes, Path
from analysis.static.terms import Pool, Term, Word, address_in

_EXACT_VISITS: Final = 2
_EXACT_HOLDER_VISITS: Final = 10
_EXACT_LATER_VISITS: Final = 4
"""Paths that reach one place with the same return addresses and are told apart, before one more
that takes in all the others."""

_ENTRIES_SERVED: Final = 3
"""Functions that can each use all the steps one function gets."""

_DEEPEST_RECURSION: Final = 3
"""Frames of one call that may wait on the stack."""

_LONGEST_CHAIN: Final = 7
"""Equal return addresses in a row: `a.sub(b).sub(c)` leaves several on the stack."""

_LARGEST_SMALL_NUMBER: Final = 0xFF

_STACK_LIMIT: Final = 1024
_CLOCK_EVERY: Final = 1024
"""Steps between two looks at the clock."""

_WORDS_A_STEP: Final = 8
"""Words of stack and memory whose copy costs as much as an instruction."""

_DUP1, _DUP16 = NUMBER["DUP1"], NUMBER["DUP16"]
_SWAP1, _SWAP16 = NUMBER["SWAP1"], NUMBER["SWAP16"]
_JUMP, _JUMPI = NUMBER["JUMP"], NUMBER["JUMPI"]
_RETURN, _SELFDESTRUCT = NUMBER["RETURN"], NUMBER["SELFDESTRUCT"]
_STOP, _REVERT = NUMBER["STOP"], NUMBER["REVERT"]
_CONTROL = frozenset({_JUMP, _JUMPI, _RETURN, _SELFDESTRUCT, _STOP, _REVERT})
_SELECTOR_SHIFT: Final = 224
_BOOLEAN = frozenset({"EQ", "LT", "GT", "SLT", "SGT", "ISZERO", "success"})
"""Terms that are 0 or 1."""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Where a walk stops, finished or not."""

    steps: int = 650_000
    """Instructions. A count, so that answers do not depend on the machine. One function gets at
    most a third of them, so that none uses up what the others need."""
    seconds: float = 2.5
    """Of the thread's processor time, for a slow machine."""


class Walked(msgspec.Struct, frozen=True, kw_only=True):
    """What a walk has found."""

    notes: Notes
    graph: Graph
    pool: Pool


class _Walk:
    def __init__(self, program: Program, budget: Budget) -> None:
        self.program = program
        self.pool = Pool()
        self.notes = Notes()
        self.notes.hashed = self.pool.hashed
        self._machine = Machine(program, self.pool, self.notes)
        self._waiting: list[Path] = []
        self.graph = Graph()
        self._meeting = Meeting(self.pool, self.graph)
        self._steps_left = budget.steps
        self._steps_each = budget.steps // _ENTRIES_SERVED
        self._steps_of: Counter[Entry] = Counter()
        self._next_look = budget.steps
        self._stop_at_s = time.thread_time() + budget.seconds

    def run(self, entry: Entry) -> None:
        first = Path(0, [], Memory(), entry, None)
        first.node = self.graph.add(entry, 0)
        self.graph.roots.setdefault(entry, []).append(first.node)
        self._waiting.append(first)
        while True:
            path = self._waiting.pop() if self._waiting else self._meeting.take()
            if path is None:
                return
            if self._is_spent():
                for left in (path, *self._waiting, *self._meeting.waiting()):
                    self._lose(left)
                return
            if self._steps_of[path.entry] > self._steps_each:
                self._lose(path)
                continue
            before = self._steps_left
            self._follow(path)
            self._steps_of[path.entry] += before - self._steps_left

    def _is_spent(self) -> bool:
        self._next_look = max(0, self._steps_left - _CLOCK_EVERY)
        self.notes.is_timed_out |= time.thread_time() > self._stop_at_s
        return self._steps_left <= 0 or self.notes.is_timed_out

    def _pay_for_copy(self, path: Path) -> None:
        """Large states cost more steps, so that hostile code cannot fill our memory with them."""
        self._steps_left -= (len(path.stack) + len(path.memory.cells)) // _WORDS_A_STEP

    def _follow(self, path: Path) -> None:
        """Run one path until it ends, meets one that covers it, or the budget is spent."""
        code, pushed = self.program.code, self.program.pushed
        stack = path.stack
        while path.pc < len(code) and len(stack) <= _STACK_LIMIT:
            self._steps_left -= 1
            if self._steps_left <= self._next_look and self._is_spent():
                self._waiting.append(path)
                return
            pc = path.pc
            opcode = code[pc]
            row = OPCODES[opcode]
            if row is None or len(stack) < row.pops:
                return
            if PUSH0 <= opcode <= PUSH32:
                stack.append(pushed[pc])
            elif _DUP1 <= opcode <= _SWAP16:
                _shuffle(stack, opcode)
            elif opcode == JUMPDEST:
                if not self._is_new(path):
                    return
            elif _is_control(opcode):
                self._control(opcode, path)
                return
            else:
                self._machine.run(row, path, pc)
            path.pc = pc + row.size
        if path.pc >= len(code):
            path.node.end = RETURNS

    # --- control flow -------------------------------------------------------------------------

    def _control(self, opcode: int, path: Path) -> None:
        if opcode == _JUMP:
            self._jump(path, path.stack.pop())
        elif opcode == _JUMPI:
            self._branch(path)
        elif opcode == _RETURN:
            path.node.end = RETURNS
            self._machine.note_return(path, path.pc)
        elif opcode == _STOP:
            path.node.end = RETURNS
        elif opcode == _SELFDESTRUCT:
            path.node.end = DESTRUCTS
            self.notes.add(self.notes.destructions, path, path.pc)

    def _jump(self, path: Path, target: Word) -> None:
        if isinstance(target, Term):
            self.notes.add(self.notes.unresolved, path, path.pc, target)
            self._lose(path)
        elif target in self.program.jump_targets:
            path.pc = target
            self._waiting.append(path)

    def _branch(self, path: Path) -> None:
        target, condition = path.stack.pop(), path.stack.pop()
        decided = _decided(condition, path)
        if isinstance(condition, int) or decided is not None:
            if decided:
                self._jump(path, target)
            else:
                path.pc += 1
                self._waiting.append(path)
            return
        self._pay_for_copy(path)
        selector, is_equal_when = _selector_test(self.pool, condition)
        if selector is not None:
            self.notes.selectors.add(selector)
        base, when = _without_negations(condition)
        sides = {}
        for is_taken in (True, False):
            side = path.fork(path.pc)
            if selector is not None and is_taken is is_equal_when:
                side.entry = selector
            side.node = self.graph.add(side.entry, path.pc)
            sides[is_taken is when] = side.node
            if side.entry != path.entry:
                self._enter(side)
            _assume(side.stack, self.pool, base, is_true=is_taken is when)
            if _is_address_argument(base):
                side.facts |= {(base, is_taken is when)}
            if is_taken:
                self._jump(side, target)
            else:
                side.pc += 1
                self._waiting.append(side)
        path.node.branch = Branch(
            pc=path.pc, condition=base, if_true=sides[True], if_false=sides[False]
        )

    def _enter(self, path: Path) -> None:
        selector = path.entry or 0
        self.graph.roots.setdefault(path.entry, []).append(path.node)
        known: dict[Word, Word] = {
            self.pool.selector: selector,
            self.pool.selector_high: selector << _SELECTOR_SHIFT,
        }
        path.stack[:] = [known.get(word, word) for word in path.stack]

    # --- where paths meet ---------------------------------------------------------------------

    def _is_new(self, path: Path) -> bool:
        """Whether the path goes on by itself."""
        self._pay_for_copy(path)
        targets = self.program.jump_targets
        returns = [
            (index, word)
            for index, word in enumerate(path.stack)
            if word.__class__ is int and word in targets
        ]
        if _is_deep_recursion([word for _, word in returns]):
            self._lose(path)
            return False
        key = (path.pc, path.entry, path.called is None, path.facts, len(path.stack), *returns)
        return self._meeting.arrive(key, path, exact_visits=self._exact_visits(path.entry))

    def _exact_visits(self, entry: Entry) -> int:
        """Fewer the more a function has used of its steps: simple code is followed exactly."""
        spent = self._steps_of[entry]
        if entry not in HOLDER_FUNCTIONS or spent > self._steps_each // 4:
            return _EXACT_VISITS if spent < self._steps_each // 2 else 1
        return _EXACT_HOLDER_VISITS if spent < self._steps_each // 8 else _EXACT_LATER_VISITS

    def _lose(self, path: Path) -> None:
        path.node.end = LOST
        self.notes.unfinished.add(path.entry)


def _is_deep_recursion(returns: list[int]) -> bool:
    """Whether some call waits on the stack too often to be worth following further.

    Small numbers are more often data that happens to equal a jump destination.
    """
    if len(returns) <= len(set(returns)) + _DEEPEST_RECURSION - 1:
        return False
    large = (word for word in returns if word > _LARGEST_SMALL_NUMBER)
    runs = [(word, len(list(run))) for word, run in groupby(large)]
    frames = Counter(word for word, _ in runs)
    chains = (length for _, length in runs)
    return (
        max(frames.values(), default=0) > _DEEPEST_RECURSION
        or max(chains, default=0) > _LONGEST_CHAIN
    )


def _is_control(opcode: int) -> bool:
    return opcode in _CONTROL


def _shuffle(stack: list[Word], opcode: int) -> None:
    if opcode <= _DUP16:
        stack.append(stack[_DUP1 - opcode - 1])
    else:
        deep = _SWAP1 - opcode - 2
        stack[-1], stack[deep] = stack[deep], stack[-1]


def _without_negations(condition: Term) -> tuple[Term, bool]:
    """The term under a condition's ISZEROs, and whether it is non-zero when the condition is."""
    holds = True
    inner: Word = condition
    while isinstance(inner, Term) and inner.operation == "ISZERO":
        condition, inner = inner, inner.arguments[0]
        holds = not holds
    return (inner, holds) if isinstance(inner, Term) else (condition, not holds)


def _decided(condition: Word, path: Path) -> bool | None:
    """Whether a condition surely holds on this path, or surely does not. None: it may or not."""
    if isinstance(condition, int):
        return bool(condition)
    base, when = _without_negations(condition)
    if base.operation in ("CALLER", "ORIGIN", "ADDRESS"):
        return when
    return next((is_set is when for term, is_set in path.facts if term is base), None)


def _is_address_argument(word: Term) -> bool:
    """Whether it is an address as the caller gave it."""
    bare = address_in(word)
    return bare is not word and isinstance(bare, Term) and bare.operation == "CALLDATALOAD"


def _assume(stack: list[Word], pool: Pool, base: Term, *, is_true: bool) -> None:
    """Put what a branch has decided where the stack still holds the condition.

    Without it, a try statement's two looks at one success flag would contradict each other.
    """
    known: dict[Word, Word] = {pool.make("ISZERO", base): int(not is_true)}
    if not is_true or base.operation in _BOOLEAN:
        known[base] = int(is_true)
    stack[:] = [known.get(word, word) for word in stack]


def _selector_test(pool: Pool, condition: Term) -> tuple[int | None, bool]:
    """The selector a condition asks for, and whether the condition is non-zero when it matches.

    None: it asks for something else.
    """
    base, holds = _without_negations(condition)
    if base.operation == "EQ":
        return _selector_constant(pool, base), holds
    if base.operation in ("XOR", "SUB"):
        return _selector_constant(pool, base), not holds
    return None, True


def _selector_constant(pool: Pool, comparison: Term) -> int | None:
    constants = [word for word in comparison.arguments if isinstance(word, int)]
    if len(constants) != 1:
        return None
    if pool.selector in comparison.arguments:
        return constants[0]
    if pool.selector_high in comparison.arguments:
        return constants[0] >> _SELECTOR_SHIFT
    return None


def walk(program: Program, *, selectors: Iterable[int] = (), budget: Budget) -> Walked:
    """Follow every path of the code.

    Paths learn their selector in the dispatcher; those that match none are the fallback's.
    `selectors` known from elsewhere are entered one by one where the dispatcher did not show them
    (it computes its jumps, as Vyper's does).
    """
    walker = _Walk(program, budget)
    walker.run(None)
    if walker.notes.unresolved:
        for selector in sorted(set(selectors) - walker.notes.selectors):
            walker.run(selector)
    return Walked(notes=walker.notes, graph=walker.graph, pool=walker.pool)
