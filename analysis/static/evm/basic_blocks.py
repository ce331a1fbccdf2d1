"""Basic blocks lifted to register form, once for each program counter.

A lifted block has steps over registers and the final layout of the stack. Stack operations and
constants are resolved when lifting, so that executing a block costs only its computations. A block
continues through a jump or fall-through where that cannot hide a join point. It has at most 400
instructions.
"""

from typing import Final

from analysis.static.evm.disassembly import JUMPDEST, PUSH0, PUSH32, Program
from analysis.static.evm.expressions import Expr, ExprPool, Value
from analysis.static.evm.instruction_effects import COMPARISONS, Handler, no_effect
from analysis.static.evm.opcodes import NUMBER, OPCODES, Opcode
from analysis.static.evm.operand_records import HANDLERS

_DUP1, _DUP16 = NUMBER["DUP1"], NUMBER["DUP16"]
_SWAP1, _SWAP16 = NUMBER["SWAP1"], NUMBER["SWAP16"]
_JUMP, _POP, _CODECOPY = NUMBER["JUMP"], NUMBER["POP"], NUMBER["CODECOPY"]

FALLS: Final = "falls"
"""End of a block that falls through to a jump destination or is too long. Other blocks end with an
instruction, named by it."""
FAILS: Final = "fails"
"""An invalid opcode."""
LEAVES: Final = "leaves"
"""The end of the code, equivalent to STOP."""
READS_TABLE: Final = "CODECOPY"
"""A CODECOPY from an offset that is not constant."""

_ENDS: Final = {
    NUMBER[name]: name for name in ("JUMP", "JUMPI", "RETURN", "SELFDESTRUCT", "STOP", "REVERT")
}
_JUMPS: Final = ("JUMP", "JUMPI")
_FAILING: Final = frozenset({"REVERT", FAILS})
_STACK_LIMIT: Final = 1024
_LONGEST: Final = 400
"""Instructions of one block. Bounds the cost of lifting code that several blocks share."""

_CONSTANT: Final = frozenset({"PC", "GETPC"})
_TOUCHING: Final = frozenset(
    {"SLOAD", "SSTORE", "CALL", "STATICCALL", "DELEGATECALL", "CALLCODE", "CREATE", "CREATE2"}
)
"""Instructions that a block must not have to be skipped as always reverting."""

COMPUTES: Final = 0
COMPUTES_OF_TWO: Final = 1
ACTS: Final = 2
"""Kinds of steps: a computation; one of two operands, as most are; an instruction with an effect,
or whose result depends on more than its operands."""

_Drafted = tuple[str, int, tuple[int, ...], bool]
"""Instruction, program counter, operands, True if it pushes a result."""

BlockStep = tuple[int, str, int, tuple[int, ...], Handler]
"""Kind, instruction, program counter, registers of its operands, handler of an effect."""


class BasicBlock:
    """A lifted block. Registers: the upper stack words, the constants, then one for each result."""

    __slots__ = (
        "constants",
        "cost",
        "end",
        "end_pc",
        "is_hopeless",
        "jumps_quietly",
        "left",
        "needs",
        "next_pc",
        "operands",
        "peak",
        "replaced",
        "steps",
    )

    def __init__(self) -> None:
        self.cost = 0
        """Number of instructions."""
        self.needs = 0
        """Words that the block reads from the stack."""
        self.peak = 0
        """Largest growth of the stack in words."""
        self.constants: list[Value] = []
        self.steps: list[BlockStep] = []
        self.replaced = 0
        """Number of words popped at the end."""
        self.left: list[int] = []
        """Registers of the words pushed in their place."""
        self.end = FAILS
        self.end_pc = 0
        """Program counter of the last instruction; of the next one if the block falls through."""
        self.next_pc = 0
        """Program counter after the last instruction."""
        self.operands: tuple[int, ...] = ()
        """Registers of the operands of the last instruction."""
        self.jumps_quietly = False
        """True if its jump target has no other predecessor."""
        self.is_hopeless = False
        """True if it always reverts, without storage access, call or creation before that."""

    def fits(self, size: int) -> bool:
        """True if a stack of `size` words neither underflows nor overflows in the block."""
        return self.needs <= size <= _STACK_LIMIT - self.peak


class _Stack:
    """Symbolic stack while lifting. Words are numbered: those on the stack at block entry from the
    top -1, -2 and so on; constants and results from 0 on."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.needs = 0
        self.peak = 0

    def reach(self, depth: int) -> None:
        """Extend the stack downwards to at least `depth` words."""
        missing = depth - len(self.words)
        if missing > 0:
            self.words[:0] = range(-self.needs - missing, -self.needs)
            self.needs += missing

    def push(self, word: int) -> None:
        self.words.append(word)
        self.peak = max(self.peak, len(self.words) - self.needs)

    def pop(self) -> int:
        self.reach(1)
        return self.words.pop()

    def shuffle(self, opcode: int) -> None:
        if opcode <= _DUP16:
            self.reach(opcode - _DUP1 + 1)
            self.push(self.words[_DUP1 - opcode - 1])
        else:
            deep = opcode - _SWAP1 + 2
            self.reach(deep)
            self.words[-1], self.words[-deep] = self.words[-deep], self.words[-1]


class BasicBlocks:
    """The basic blocks of one code, lifted on first use and cached."""

    def __init__(self, program: Program, pool: ExprPool) -> None:
        self._program = program
        self._pool = pool
        self._known: dict[int, BasicBlock] = {}

    def at(self, pc: int) -> BasicBlock:
        """Return the block that starts at `pc`."""
        block = self._known.get(pc)
        if block is None:
            block = self._known[pc] = _BlockLifter(self._program, self._pool).make(pc)
        return block


class _BlockLifter:
    def __init__(self, program: Program, pool: ExprPool) -> None:
        self._program = program
        self._pool = pool
        self._stack = _Stack()
        self._block = BasicBlock()
        self._values: dict[int, Value] = {}
        """Constants by number."""
        self._numbers: dict[Value, int] = {}
        self._count = 0
        self._drafted: list[_Drafted] = []

    def make(self, pc: int) -> BasicBlock:
        """Lift the code from `pc` to the next branch, computed jump, join point or end."""
        code = self._program.code
        block = self._block
        is_inside = False
        while True:
            if pc >= len(code):
                block.end = LEAVES
                break
            opcode = code[pc]
            row = OPCODES[opcode]
            if row is None:
                break
            is_met = opcode == JUMPDEST and block.cost > 0 and not is_inside
            if block.cost == _LONGEST or (is_met and not self._is_quiet(pc)):
                block.end = FALLS
                break
            is_inside = False
            block.cost += 1
            if opcode in _ENDS or self._reads_table(opcode):
                operands = tuple(self._stack.pop() for _ in range(row.pops))
                target = self._values.get(operands[0]) if row.name in _JUMPS else None
                if opcode == _JUMP and isinstance(target, int) and self._goes_on(target):
                    pc = target
                    is_inside = True
                    continue
                block.end = row.name
                block.operands = operands
                block.jumps_quietly = isinstance(target, int) and self._is_quiet(target)
                block.next_pc = pc + row.size
                break
            self._take(row, opcode, pc)
            pc += row.size
        block.end_pc = pc
        self._number()
        return block

    def _goes_on(self, target: int) -> bool:
        """True if the block may continue at a jump's target: all paths that reach it with the same
        call string come through this jump. So it is at the entry of an internal function whose
        return address is on the stack, and at a return address that is pushed only once."""
        if target not in self._program.jump_targets:
            return False
        if self._is_quiet(target) or target in self._program.single_returns:
            return True
        returns = self._program.return_targets
        return any(self._values.get(word) in returns for word in self._stack.words)

    def _is_quiet(self, pc: int) -> bool:
        return pc in self._program.quiet_targets

    def _reads_table(self, opcode: int) -> bool:
        if opcode != _CODECOPY:
            return False
        self._stack.reach(3)
        return self._stack.words[-2] not in self._values

    def _take(self, row: Opcode, opcode: int, pc: int) -> None:
        stack = self._stack
        if PUSH0 <= opcode <= PUSH32:
            stack.push(self._constant(self._program.pushed[pc]))
        elif _DUP1 <= opcode <= _SWAP16:
            stack.shuffle(opcode)
        elif row.name in _CONSTANT:
            stack.push(self._constant(pc))
        else:
            operands = tuple(stack.pop() for _ in range(row.pops))
            if opcode in (JUMPDEST, _POP):
                return
            folded = self._folded(row, operands)
            if folded is not None:
                stack.push(self._constant(folded))
                return
            self._drafted.append((row.name, pc, operands, bool(row.pushes)))
            if row.pushes:
                stack.push(self._new())

    def _folded(self, row: Opcode, operands: tuple[int, ...]) -> Value | None:
        """Return the constant result of the instruction. None: not constant, or an effect."""
        if row.name in HANDLERS:
            return None
        words = [self._values[each] for each in operands if each in self._values]
        if len(words) < len(operands):
            return None
        word = self._pool.build(row.name, *words)
        is_noted = row.name in COMPARISONS and isinstance(word, Expr) and word.depends_on_time
        # the selector depends on the path
        is_open = word is self._pool.selector or word is self._pool.selector_high
        return None if is_noted or is_open else word

    def _new(self) -> int:
        self._count += 1
        return self._count - 1

    def _constant(self, word: Value) -> int:
        number = self._numbers.get(word)
        if number is None:
            number = self._numbers[word] = self._new()
            self._values[number] = word
        return number

    def _number(self) -> None:
        """Allocate registers for the numbered words and write them into the block."""
        block, stack = self._block, self._stack
        block.needs, block.peak = stack.needs, stack.peak
        kept = 0
        for word, untouched in zip(stack.words, range(-stack.needs, 0), strict=False):
            if word != untouched:
                break
            kept += 1
        used = {*stack.words[kept:], *block.operands}
        used.update(each for draft in self._drafted for each in draft[2])
        places = {-1 - depth: stack.needs - 1 - depth for depth in range(stack.needs)}
        for number, constant in self._values.items():
            if number in used:
                places[number] = stack.needs + len(block.constants)
                block.constants.append(constant)
        results = iter(sorted(set(range(self._count)) - self._values.keys()))
        at = stack.needs + len(block.constants)
        for name, pc, operands, leaves in self._drafted:
            registers = tuple(places[each] for each in operands)
            handler = HANDLERS.get(name, no_effect)
            is_pair = len(operands) == 2  # noqa: PLR2004 - one and one
            kind = ACTS if name in HANDLERS else COMPUTES_OF_TWO if is_pair else COMPUTES
            block.steps.append((kind, name, pc, registers, handler))
            if leaves:
                places[next(results)] = at
                at += 1
        block.replaced = stack.needs - kept
        block.left = [places[word] for word in stack.words[kept:]]
        block.operands = tuple(places[each] for each in block.operands)
        block.is_hopeless = block.end in _FAILING and all(
            step[1] not in _TOUCHING for step in block.steps
        )
