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
from analysis.static.machine import Machine
from analysis.static.memory import Memory
from analysis.static.opcodes import NUMBER, OPCODES
from analysis.static.path import Entry, Notes, Path
from analysis.static.terms import Pool, Term, Word

_EXACT_VISITS: Final = 2
"""Paths that reach one place with the same return addresses and are told apart."""

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

_FREE_POINTER: Final = 0x40
_FREE_POINTER_PLACE: Final = _STACK_LIMIT
"""Names the free memory pointer among the places where paths meet; the rest are stack indices."""

_DUP1, _DUP16 = NUMBER["DUP1"], NUMBER["DUP16"]
_SWAP1, _SWAP16 = NUMBER["SWAP1"], NUMBER["SWAP16"]
_JUMP, _JUMPI = NUMBER["JUMP"], NUMBER["JUMPI"]
_RETURN, _SELFDESTRUCT = NUMBER["RETURN"], NUMBER["SELFDESTRUCT"]
_ENDS = frozenset({NUMBER["STOP"], NUMBER["REVERT"]})
_SELECTOR_SHIFT: Final = 224
_BOOLEAN = frozenset({"EQ", "LT", "GT", "SLT", "SGT", "ISZERO", "success"})
"""Terms that are 0 or 1."""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Where a walk stops, finished or not."""

    steps: int = 600_000
    """Instructions. A count, so that answers do not depend on the machine. One function gets at
    most a third of them, so that none uses up what the others need."""
    seconds: float = 4.0
    """Of the thread's processor time, for a slow machine."""


_State = tuple[tuple[Word, ...], dict[Word, Word]]


class _Place:
    """What has come along at one place with one set of return addresses."""

    __slots__ = ("merges", "states")

    def __init__(self) -> None:
        self.states: list[_State] = []
        """The first as they were; the last one takes in all later ones."""
        self.merges = 0


class _Walk:
    def __init__(self, program: Program, budget: Budget) -> None:
        self.program = program
        self.pool = Pool()
        self.notes = Notes()
        self.notes.hashed = self.pool.hashed
        self._machine = Machine(program, self.pool, self.notes)
        self._waiting: list[Path] = []
        self._merged: dict[tuple[object, ...], Path] = {}
        """Places whose merged state has grown. They wait until no exact path is left, so that one
        round takes in all that has come along meanwhile."""
        self._visits: dict[tuple[object, ...], _Place] = {}
        self._steps_left = budget.steps
        self._steps_each = budget.steps // _ENTRIES_SERVED
        self._steps_of: Counter[Entry] = Counter()
        self._next_look = budget.steps
        self._stop_at_s = time.thread_time() + budget.seconds

    def run(self, entry: Entry) -> None:
        self._waiting.append(Path(0, [], Memory(), entry, None))
        while self._waiting or self._merged:
            if self._is_spent():
                left = [*self._waiting, *self._merged.values()]
                self.notes.unfinished.update(path.entry for path in left)
                return
            path = self._waiting.pop() if self._waiting else self._take_merged()
            if self._steps_of[path.entry] > self._steps_each:
                self.notes.unfinished.add(path.entry)
                continue
            before = self._steps_left
            self._follow(path)
            self._steps_of[path.entry] += before - self._steps_left

    def _is_spent(self) -> bool:
        self._next_look = max(0, self._steps_left - _CLOCK_EVERY)
        return self._steps_left <= 0 or time.thread_time() > self._stop_at_s

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

    # --- control flow -------------------------------------------------------------------------

    def _control(self, opcode: int, path: Path) -> None:
        if opcode == _JUMP:
            self._jump(path, path.stack.pop())
        elif opcode == _JUMPI:
            self._branch(path)
        elif opcode == _RETURN:
            self._machine.note_return(path, path.pc)
        elif opcode == _SELFDESTRUCT:
            self.notes.add(self.notes.destructions, path, path.pc)

    def _jump(self, path: Path, target: Word) -> None:
        if isinstance(target, Term):
            self.notes.add(self.notes.unresolved, path, path.pc, target)
            self.notes.unfinished.add(path.entry)
        elif target in self.program.jump_targets:
            path.pc = target
            self._waiting.append(path)

    def _branch(self, path: Path) -> None:
        target, condition = path.stack.pop(), path.stack.pop()
        if isinstance(condition, int):
            if condition:
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
        for is_taken in (True, False):
            side = path.fork(path.pc)
            if selector is not None and is_taken is is_equal_when:
                self._enter(side, selector)
            _assume(side.stack, self.pool, base, is_true=is_taken is when)
            if is_taken:
                self._jump(side, target)
            else:
                side.pc += 1
                self._waiting.append(side)

    def _enter(self, path: Path, selector: int) -> None:
        path.entry = selector
        known: dict[Word, Word] = {
            self.pool.selector: selector,
            self.pool.selector_high: selector << _SELECTOR_SHIFT,
        }
        path.stack[:] = [known.get(word, word) for word in path.stack]

    # --- where paths meet ---------------------------------------------------------------------

    def _is_new(self, path: Path) -> bool:
        """Whether the path goes on by itself: it is one of the first to come here.

        A later one is merged with what the place has seen, and followed as that.
        """
        self._pay_for_copy(path)
        targets = self.program.jump_targets
        returns = [
            (index, word)
            for index, word in enumerate(path.stack)
            if isinstance(word, int) and word in targets
        ]
        if _is_deep_recursion([word for _, word in returns]):
            self.notes.unfinished.add(path.entry)
            return False
        key = (path.pc, path.entry, path.called is None, len(path.stack), *returns)
        place = self._visits.setdefault(key, _Place())
        state = (tuple(path.stack), path.memory.cells)
        if state in place.states:
            return False
        if len(place.states) < _EXACT_VISITS:
            place.states.append((state[0], dict(path.memory.cells)))
            return True
        place.merges += 1
        merged = self._merge(path.pc, place, state)
        if merged != place.states[-1]:
            place.states[-1] = merged
            self._merged[key] = path
        return False

    def _take_merged(self) -> Path:
        key = next(iter(self._merged))
        path = self._merged.pop(key)
        stack, cells = self._visits[key].states[-1]
        return Path(path.pc + 1, list(stack), Memory(dict(cells)), path.entry, path.called)

    def _merge(self, pc: int, place: _Place, state: _State) -> _State:
        """What the place has seen and the new state in one.

        The first merge keeps the words both agree on, later ones only return addresses, so that
        every place settles after a few rounds. Memory is kept as far as its free pointer.
        """
        known, cells = place.states[-1]
        stack, now = state
        words = enumerate(zip(known, stack, strict=True))
        joined = tuple(self._join(place, (pc, index), a, b) for index, (a, b) in words)
        if _FREE_POINTER not in cells or _FREE_POINTER not in now:
            return joined, {}
        at = (pc, _FREE_POINTER_PLACE)
        pointer = self._join(place, at, cells[_FREE_POINTER], now[_FREE_POINTER])
        return joined, {_FREE_POINTER: pointer}

    def _join(self, place: _Place, name: tuple[int, int], a: Word, b: Word) -> Word:
        is_same = a is b or (isinstance(a, int) and a == b)
        if is_same and (place.merges == 1 or a in self.program.jump_targets):
            return a
        return self.pool.leaf("either", *name)


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
    return opcode in (_JUMP, _JUMPI, _RETURN, _SELFDESTRUCT) or opcode in _ENDS


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


def walk(program: Program, *, selectors: Iterable[int] = (), budget: Budget) -> Notes:
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
    return walker.notes
