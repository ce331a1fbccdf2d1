"""Symbolic execution of a code along all paths, with join points and a budget.

Output: the CFG and the notes of the explored paths. Paths carry symbolic stacks and memories. At a
join point with the same call string the first states are explored exactly and later ones merged, so
exploration ends; a budget ends it earlier. Over-approximated: no solver is used; only conditions
that fold to a number or are decided on the path prune a side. Under-approximated: code behind
unknown jumps, deep recursion or the budget is missing; see `Notes.unfinished`. All *inferred*.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from analysis.static.evm.address_ranges import AddressRanges
from analysis.static.evm.basic_blocks import (
    ACTS,
    COMPUTES_OF_TWO,
    FALLS,
    LEAVES,
    READS_TABLE,
    BasicBlock,
    BasicBlocks,
)
from analysis.static.evm.branch_conditions import (
    ConditionDecoder,
    DecodedCondition,
    TableLookup,
    table_lookup_of,
)
from analysis.static.evm.budget import Budget
from analysis.static.evm.cfg import (
    ALWAYS_REVERTS,
    DESTRUCTS,
    RETURNS,
    UNRESOLVED,
    Branch,
    Cfg,
    CfgNode,
    FunctionId,
)
from analysis.static.evm.disassembly import Program
from analysis.static.evm.exploration import Exploration
from analysis.static.evm.expressions import Expr, ExprPool, Value
from analysis.static.evm.instruction_effects import Interpreter, copy_code
from analysis.static.evm.join_points import FunctionWorklist, JoinTable, exact_visits
from analysis.static.evm.operand_records import record_range, record_written
from analysis.static.evm.path_state import Notes, PathState, rank
from analysis.static.evm.symbolic_memory import SymbolicMemory

_DEEPEST_RECURSION: Final = 3
"""Frames of one internal call on the stack at the same time."""

_LONGEST_CHAIN: Final = 7
"""Equal return addresses in a row: `a.sub(b).sub(c)` leaves several on the stack."""

_LARGEST_SMALL_NUMBER: Final = 0xFF


class CallStrings:
    """Numbers of the call strings seen in one exploration."""

    def __init__(self) -> None:
        self._known: dict[tuple[int | None, ...], int | None] = {}

    def number_of(self, returns: tuple[int | None, ...]) -> int | None:
        """Return the number of a call string. None: it exceeds the recursion bound.

        `returns`: by stack index the return address, None for any other value.
        """
        if returns not in self._known:
            self._known[returns] = None if exceeds_recursion_limit(returns) else len(self._known)
        return self._known[returns]


def exceeds_recursion_limit(returns: tuple[int | None, ...]) -> bool:
    """True if one internal call has too many frames on the stack.

    Numbers up to 0xff are ignored: they are more often data that equals a jump destination.
    """
    distinct = len(set(returns)) - 1
    if len(returns) - returns.count(None) < distinct + _DEEPEST_RECURSION:
        return False
    large = (word for word in returns if word is not None and word > _LARGEST_SMALL_NUMBER)
    runs = [(word, len(list(run))) for word, run in groupby(large)]
    frames = Counter(word for word, _ in runs)
    chains = (length for _, length in runs)
    return (
        max(frames.values(), default=0) > _DEEPEST_RECURSION
        or max(chains, default=0) > _LONGEST_CHAIN
    )


_SHARES: Final = 3
"""One function gets at most the remaining steps divided by this."""

_SMALL_SHARES: Final = 24
"""Divisor of that share in the first round, so that simple functions end before large ones."""

_CHEAP: Final = 4
"""A code is explored a second time if the first took at most this part of the steps."""

_CLOCK_EVERY: Final = 1024
"""Steps between two readings of the clock."""

_WORDS_A_STEP: Final = 8
"""Words of stack and memory whose copy costs one step."""

_FREE_SUMMANDS: Final = 300_000
"""Summands of memory addresses that cost no steps. Real codes have half of them."""

_STEPS_A_SUMMAND: Final = 2

_SELECTOR_SHIFT: Final = 224

_WIDEST_ENTRY: Final = 32
"""Bytes of one entry of a jump table whose entries are enumerated."""


class _PathExplorer:
    def __init__(self, program: Program, budget: Budget, *, is_careful: bool = False) -> None:
        self.program = program
        self.pool = ExprPool()
        self.ranges = AddressRanges(self.pool, is_careful=is_careful)
        self.notes = Notes()
        self.notes.hashed = self.pool.hashed
        self._machine = Interpreter(program, self.pool, self.notes)
        self._blocks = BasicBlocks(program, self.pool)
        self._conditions = ConditionDecoder(self.pool, has_blank_words=program.has_blank_words)
        self._named: dict[Value, int] = {target: target for target in program.jump_targets}
        self._contexts = CallStrings()
        self.graph = Cfg()
        self._functions: dict[FunctionId, FunctionWorklist] = {}
        """Worklists of the functions that are not finished."""
        self._function = FunctionWorklist(JoinTable(self.pool, self.graph))
        """Worklist of the function being explored."""
        self.steps_left = budget.steps
        self._share = budget.steps // _SHARES
        self._limit = 0
        """Steps that the function may use in total."""
        self._next_look = budget.steps
        self._summands_paid = _FREE_SUMMANDS
        self._stop_at_s = time.thread_time() + budget.seconds
        self._is_over = False

    def run(self, entry: FunctionId) -> None:
        """Explore all paths from the start of the code, then all functions found there."""
        first = PathState(0, [], SymbolicMemory(self.pool, self.ranges), entry, None)
        first.is_at_join_point = 0 in self.program.jump_targets
        first.node = self.graph.add(entry, 0)
        self.graph.roots.setdefault(entry, []).append(first.node)
        self._function_of(entry).waiting.append(first)
        self._limit = self._share
        self._run_function(entry)
        for small in sorted(self._functions, key=rank):
            self._limit = self._share // _SMALL_SHARES
            self._run_function(small)
        while self._functions:
            large = min(self._functions, key=rank)
            function = self._functions[large]
            self._limit = function.spent + max(0, self.steps_left) // _SHARES
            self._run_function(large)
            while (path := function.take()) is not None:
                self.notes.cut.add(path.node.entry)
                self._lose(path.node)
            self._functions.pop(large, None)

    def _function_of(self, entry: FunctionId) -> FunctionWorklist:
        if entry not in self._functions:
            self._functions[entry] = FunctionWorklist(JoinTable(self.pool, self.graph))
        return self._functions[entry]

    def _run_function(self, entry: FunctionId) -> None:
        """Explore a function's paths within its limit of steps."""
        self._function = function = self._functions[entry]
        while function.spent <= self._limit and not self._is_over:
            path = function.take()
            if path is None:
                del self._functions[entry]
                return
            self._follow(path)

    def _pay(self, path: PathState, steps: int) -> bool:
        """Count steps. False: none are left, and the path is put back on the worklist."""
        self.steps_left -= steps
        self._function.spent += steps
        if self.ranges.work > self._summands_paid:
            self.steps_left -= _STEPS_A_SUMMAND * (self.ranges.work - self._summands_paid)
            self._summands_paid = self.ranges.work
        if self.steps_left <= self._next_look:
            self._next_look = self.steps_left - _CLOCK_EVERY
            self.notes.is_timed_out |= time.thread_time() > self._stop_at_s
            self._is_over |= self.steps_left <= 0 or self.notes.is_timed_out
        if self._is_over or self._function.spent > self._limit:
            self._function.waiting.append(path)
            return False
        return True

    def _pay_for_copy(self, path: PathState) -> None:
        """Charge steps for the size of a copied state, which bounds memory on hostile code."""
        self.steps_left -= (len(path.stack) + len(path.memory.cells)) // _WORDS_A_STEP

    def _follow(self, path: PathState) -> None:
        """Execute one path until it ends, is merged at a join point, or the budget is used up."""
        goes_on = True
        while goes_on:
            if path.is_at_join_point and not self._is_new(path):
                return
            path.is_at_join_point = False
            block = self._blocks.at(path.pc)
            stack = path.stack
            size = len(stack)
            if not self._pay(path, block.cost) or not block.fits(size):
                return
            words = self._run(path, block)
            if block.replaced:
                del stack[-block.replaced :]
            stack += [words[register] for register in block.left]
            goes_on = self._go_on(path, block, [words[register] for register in block.operands])

    def _run(self, path: PathState, block: BasicBlock) -> list[Value]:
        """Execute the steps of a block and return its registers."""
        machine, stack = self._machine, path.stack
        known = machine.known
        words = path.registers = stack[len(stack) - block.needs :] + block.constants
        for kind, name, pc, registers, handler in block.steps:
            word: Value | None
            if kind == COMPUTES_OF_TWO:
                first, second = registers
                one, other = words[first], words[second]
                word = known.get((name, one, other))
                if word is None:
                    word = machine.evaluate(path, pc, name, (one, other))
                words.append(word)
            elif kind == ACTS:
                word = handler(machine, path, pc, *[words[each] for each in registers])
                if word is not None:
                    words.append(word)
            else:
                given = [words[each] for each in registers]
                word = known.get((name, *given))
                if word is None:
                    word = machine.evaluate(path, pc, name, tuple(given))
                words.append(word)
        return words

    # --- control flow -------------------------------------------------------------------------

    def _go_on(self, path: PathState, block: BasicBlock, operands: list[Value]) -> bool:
        """Move the path to the successor of the block. False: it ends here, or is queued."""
        end, pc = block.end, block.end_pc
        if end == "JUMPI":
            return self._branch(path, block, *operands)
        if end == "JUMP":
            return self._jump(path, block, *operands)
        if end == FALLS:
            path.pc = pc
            path.is_at_join_point = pc in self.program.jump_targets
            return True
        if end == READS_TABLE:
            return self._copy(path, block, *operands)
        if end == "SELFDESTRUCT":
            path.node.end = DESTRUCTS
            self.notes.add(self.notes.destructions, path, pc)
        elif end in (LEAVES, "STOP", "RETURN"):
            path.node.end = RETURNS
            if end == "RETURN":
                record_range(path, pc, *operands)
                self._machine.note_return(path, pc, *operands)
        return False

    def _jump(self, path: PathState, block: BasicBlock, target: Value) -> bool:
        if isinstance(target, Expr):
            return self._jump_anywhere(path, block, target)
        path.pc = target
        path.is_at_join_point = not block.jumps_quietly
        return target in self.program.jump_targets

    def _fall(self, path: PathState, block: BasicBlock) -> bool:
        path.pc = pc = block.next_pc
        path.is_at_join_point = (
            pc in self.program.jump_targets and pc not in self.program.quiet_targets
        )
        return True

    def _jump_anywhere(self, path: PathState, block: BasicBlock, target: Expr) -> bool:
        """Fork a computed jump to all its targets; unresolved if they cannot be enumerated."""
        spread = table_lookup_of(target)
        if spread is None:
            self.notes.add(self.notes.unresolved, path, block.end_pc, target)
            self._lose(path.node)
            return False
        for side, place in self._each(path, block, spread):
            if self._jump(side, block, place):
                self._function.waiting.append(side)
        return False

    def _copy(
        self, path: PathState, block: BasicBlock, place: Value, source: Value, length: Value
    ) -> bool:
        """Execute a CODECOPY that may read a jump table, with one path for every entry."""
        record_range(path, block.end_pc, place, length)
        record_written(path, block.end_pc, place, length)
        is_entry = isinstance(length, int) and length <= _WIDEST_ENTRY
        spread = table_lookup_of(source) if is_entry else None
        if spread is None:
            copy_code(self._machine, path, block.end_pc, place, source, length)
            return self._fall(path, block)
        for side, start in self._each(path, block, spread):
            copy_code(self._machine, side, block.end_pc, place, start, length)
            self._fall(side, block)
            self._function.waiting.append(side)
        return False

    def _each(
        self, path: PathState, block: BasicBlock, spread: TableLookup
    ) -> Iterator[tuple[PathState, int]]:
        """Yield a copy of the path for every index; in the CFG, a chain of equality branches."""
        rest, pc = path.node, block.end_pc
        last = len(spread.words) - 1
        for number, word in enumerate(spread.words):
            self._pay_for_copy(path)
            side = path.fork()
            side.node = rest
            condition = self.pool.build("EQ", number, spread.index)
            if number < last and isinstance(condition, Expr):
                side.node, node = self.graph.add(path.entry, pc), rest
                rest = self.graph.add(path.entry, pc)
                node.branch = Branch(pc=pc, condition=condition, if_true=side.node, if_false=rest)
            side.stack[:] = [number if each is spread.index else each for each in side.stack]
            yield side, word

    def _branch(self, path: PathState, block: BasicBlock, target: Value, condition: Value) -> bool:
        decoded = None if isinstance(condition, int) else self._conditions.decode(condition)
        decided = bool(condition) if decoded is None else _decided(decoded, path)
        if decoded is None or decided is not None:
            return self._jump(path, block, target) if decided else self._fall(path, block)
        start = path.entry
        self._pay_for_copy(path)
        jumps, falls = self._fork(path, block, decoded, target)
        can_fall = not self._blocks.at(block.next_pc).is_hopeless
        if self._is_hopeless(target):
            jumps.end = ALWAYS_REVERTS
        else:
            side = path.fork() if can_fall else path
            self._take(side, decoded, jumps, holds=decoded.when)
            goes_on = self._jump(side, block, target)
            if not can_fall:
                falls.end = ALWAYS_REVERTS
                return goes_on and not self._has_left(side, start)
            if goes_on and not self._has_left(side, start):
                self._function.waiting.append(side)
        if not can_fall:
            falls.end = ALWAYS_REVERTS
            return False
        self._take(path, decoded, falls, holds=not decoded.when)
        return self._fall(path, block) and not self._has_left(path, start)

    def _has_left(self, path: PathState, before: FunctionId) -> bool:
        """True if the path has entered another function, in whose worklist it is then put."""
        if path.entry == before:
            return False
        self._function_of(path.entry).waiting.append(path)
        return True

    def _fork(
        self, path: PathState, block: BasicBlock, decoded: DecodedCondition, target: Value
    ) -> tuple[CfgNode, CfgNode]:
        """Add the branch to the CFG. Return the nodes of the jump and of the fall-through."""
        entries = [path.entry, path.entry]
        starts = [block.end_pc if isinstance(target, Expr) else target, block.next_pc]
        if decoded.selector is not None:
            self.notes.selectors.add(decoded.selector)
            entries[not decoded.is_selector_when] = decoded.selector
        nodes = [self.graph.add(entry, pc) for entry, pc in zip(entries, starts, strict=True)]
        for node in nodes:
            if node.entry != path.entry:
                self.graph.roots.setdefault(node.entry, []).append(node)
        if_true, if_false = nodes if decoded.when else nodes[::-1]
        path.node.branch = Branch(
            pc=block.end_pc, condition=decoded.base, if_true=if_true, if_false=if_false
        )
        return nodes[0], nodes[1]

    def _is_hopeless(self, target: Value) -> bool:
        """True if the block at the target always reverts."""
        if isinstance(target, Expr) or target not in self.program.jump_targets:
            return False
        return self._blocks.at(target).is_hopeless

    def _take(
        self, path: PathState, decoded: DecodedCondition, node: CfgNode, *, holds: bool
    ) -> None:
        """Take one side of a branch, and replace its condition on the stack by the decided value.

        A try statement tests one success flag twice; the two tests must agree.
        """
        path.node = node
        stack = path.stack
        base, negation = decoded.base, decoded.negation
        if path.output is not None:
            self._machine.learn_size(path, base, holds=holds)
        meant = decoded.true if holds else 0
        if base in stack or negation in stack:
            for index, word in enumerate(stack):
                if word is negation:
                    stack[index] = int(not holds)
                elif word is base and meant is not None:
                    stack[index] = meant
        if decoded.is_address_argument:
            path.path_conditions |= {(base, holds)}
        if node.entry != path.entry:
            self._enter(path, node.entry or 0)

    def _enter(self, path: PathState, selector: int) -> None:
        path.entry = selector
        known: dict[Value, Value] = {
            self.pool.selector: selector,
            self.pool.selector_high: selector << _SELECTOR_SHIFT,
        }
        path.stack[:] = [known.get(word, word) for word in path.stack]

    # --- join points --------------------------------------------------------------------------

    def _is_new(self, path: PathState) -> bool:
        """True if the path is explored further; False: merged, known or unresolved."""
        self._pay_for_copy(path)
        context = self._contexts.number_of(tuple(map(self._named.get, path.stack)))
        if context is None:
            self._lose(path.node)
            return False
        self._machine.grow_old(path)
        key = (path.pc, path.entry, path.last_callee is None, path.path_conditions, context)
        visits = exact_visits(path.entry, spent=self._function.spent, share=self._share)
        return self._function.meeting.arrive(key, path, exact_visits=visits)

    def _lose(self, node: CfgNode) -> None:
        node.end = UNRESOLVED
        self.notes.unfinished.add(node.entry)


def _decided(decoded: DecodedCondition, path: PathState) -> bool | None:
    """Return True if the condition holds on this path, False if it does not. None: unknown."""
    if decoded.decided is not None:
        return decoded.decided
    for term, is_set in path.path_conditions:
        if term is decoded.base:
            return is_set is decoded.when
    return None


def explore(program: Program, *, selectors: Iterable[int] = (), budget: Budget) -> Exploration:
    """Explore all paths of the code.

    Paths get their selector in the dispatcher; those that match none belong to the fallback.
    `selectors` known from elsewhere and not matched there are explored from the start one by one.
    """
    walker = _PathExplorer(program, budget)
    found = _explored(walker, selectors)
    if found.misplaced and walker.steps_left > budget.steps - budget.steps // _CHEAP:
        # Some phi turned out lower than relied on: few codes need this second walk.
        found = _explored(_PathExplorer(program, budget, is_careful=True), selectors)
    return found


def _explored(walker: _PathExplorer, selectors: Iterable[int]) -> Exploration:
    walker.run(None)
    for selector in sorted(set(selectors) - walker.notes.selectors):
        walker.run(selector)
    return Exploration(
        notes=walker.notes,
        graph=walker.graph,
        pool=walker.pool,
        ranges=walker.ranges,
        misplaced=frozenset(walker.ranges.failed()),
    )
