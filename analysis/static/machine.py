"""What single instructions do to a path's stack and memory, and what of it is worth a note.

Jumps and ends of execution are the walk's; everything else is here.
"""

from collections.abc import Callable
from typing import Final

from analysis.static.bytecode import Program
from analysis.static.opcodes import Opcode
from analysis.static.path import ALLOWANCE, BALANCE_OF, Notes, Path
from analysis.static.terms import Pool, Term, Word, address_in

_WORD: Final = 32
_SELECTOR_SHIFT: Final = 224
_SELECTOR_IN_SCRATCH = (28, 0, 4)
"""CALLDATACOPY(28, 0, 4): Vyper up to 0.2 reads the selector into the low bytes of word 0."""

_EQUALITIES: Final = ("EQ", "SUB", "XOR")
_WITH_VALUE: Final = ("CALL", "CALLCODE")
_DELEGATING: Final = ("DELEGATECALL", "CALLCODE")

_MOST_RETURNED: Final = 4
"""Words of one RETURN that are noted."""


class Machine:
    """Runs single instructions. One per walk."""

    def __init__(self, program: Program, pool: Pool, notes: Notes) -> None:
        self.program = program
        self.pool = pool
        self.notes = notes

    def run(self, row: Opcode, path: Path, pc: int) -> None:
        """Do one instruction that neither jumps nor ends execution; the stack is deep enough."""
        handler = _HANDLERS.get(row.name)
        if handler is not None:
            handler(self, path, pc)
            return
        words = [path.stack.pop() for _ in range(row.pops)]
        if row.pushes:
            self._push(path, self.pool.make(row.name, *words))

    def note_return(self, path: Path, pc: int) -> None:
        """RETURN, before the path ends."""
        place, length = path.stack[-1], path.stack[-2]
        count = -(-length // _WORD) if isinstance(length, int) else 2
        places = (
            self.pool.make("ADD", _WORD * i, place) for i in range(min(count, _MOST_RETURNED))
        )
        words = [path.memory.load(self.pool, each) for each in places]
        self.notes.add(self.notes.returns, path, pc, *words)

    def _push(self, path: Path, word: Word) -> None:
        """Push, with the selector filled in where the path has matched one."""
        if path.entry is not None:
            if word is self.pool.selector:
                word = path.entry
            elif word is self.pool.selector_high:
                word = path.entry << _SELECTOR_SHIFT
        path.stack.append(word)

    def _compare(self, path: Path, pc: int, operation: str) -> None:
        a, b = path.stack.pop(), path.stack.pop()
        for one, other in ((a, b), (b, a)):
            slot = _owner_slot(other) if operation in _EQUALITIES and _is_caller(one) else None
            if slot is not None:
                self.notes.add(self.notes.caller_checks, path, pc, slot)
        word = self.pool.make(operation, a, b)
        if isinstance(word, Term) and word.has_clock:
            self.notes.add(self.notes.clocks, path, pc, word, a, b)
        self._push(path, word)

    def _call(self, path: Path, pc: int, kind: str) -> None:
        stack = path.stack
        stack.pop()
        target = stack.pop()
        if kind in _WITH_VALUE:
            stack.pop()
        given, given_length, out, out_length = (stack.pop() for _ in range(4))
        head = path.memory.load(self.pool, given)
        if kind in _DELEGATING:
            self.notes.add(self.notes.delegations, path, pc, target, head, given_length)
        path.do(kind, pc, target, head, out_length)
        path.called = target
        path.memory.forget(out, out_length)
        if out_length != 0:
            path.memory.store(out, self.pool.leaf("result", address_in(target), 0))
        stack.append(self.pool.leaf("success", pc, address_in(target)))


def _is_caller(word: Word) -> bool:
    bare = address_in(word)
    return isinstance(bare, Term) and bare.operation in ("CALLER", "ORIGIN")


def _owner_slot(word: Word) -> int | None:
    """The storage slot whose low part the word is. None: it is something else."""
    bare = address_in(word)
    if isinstance(bare, Term) and bare.operation == "SLOAD" and isinstance(bare.arguments[0], int):
        return bare.arguments[0]
    return None


def _calldataload(machine: Machine, path: Path, _pc: int) -> None:
    path.stack.append(machine.pool.leaf("CALLDATALOAD", path.stack.pop()))


def _mload(machine: Machine, path: Path, _pc: int) -> None:
    word = path.memory.load(machine.pool, path.stack.pop())
    if isinstance(word, Term) and word.operation == "result":
        machine.notes.answers_used.add(word.arguments[0])
    machine._push(path, word)


def _mstore(_machine: Machine, path: Path, _pc: int) -> None:
    place = path.stack.pop()
    path.memory.store(place, path.stack.pop())


def _mstore8(_machine: Machine, path: Path, _pc: int) -> None:
    place = path.stack.pop()
    path.stack.pop()
    path.memory.forget(place, 1)


def _sload(machine: Machine, path: Path, pc: int) -> None:
    slot = path.stack.pop()
    path.stack.append(machine.pool.leaf("SLOAD", slot))
    if path.entry in (BALANCE_OF, ALLOWANCE):
        machine.notes.add(machine.notes.reads, path, pc, slot)


def _sstore(machine: Machine, path: Path, pc: int) -> None:
    slot = path.stack.pop()
    value = path.stack.pop()
    machine.notes.add(machine.notes.writes, path, pc, slot, value)
    path.do("SSTORE", pc, slot, value)


def _hash(machine: Machine, path: Path, _pc: int) -> None:
    place = path.stack.pop()
    path.stack.append(path.memory.hash(machine.pool, place, path.stack.pop()))


def _calldatacopy(machine: Machine, path: Path, _pc: int) -> None:
    place, source, length = (path.stack.pop() for _ in range(3))
    path.memory.forget(place, length)
    if (place, source, length) == _SELECTOR_IN_SCRATCH:
        path.memory.store(0, machine.pool.selector)
    elif length == _WORD:
        path.memory.store(place, machine.pool.leaf("CALLDATALOAD", source))
    elif source == 0:
        path.memory.store(place, machine.pool.leaf("input"))


def _codecopy(machine: Machine, path: Path, _pc: int) -> None:
    place, source, length = (path.stack.pop() for _ in range(3))
    path.memory.forget(place, length)
    if isinstance(place, int) and isinstance(source, int) and isinstance(length, int):
        start = place + length - _WORD
        code = machine.program.code
        # what stands behind the code, metadata or nothing, is not told apart: it stays unknown
        if length <= _WORD and start >= 0 and source + length <= len(code):
            # scratch space whose upper bytes are still zero: how Vyper reads its jump tables
            path.memory.store(start, int.from_bytes(code[source : source + length]))


def _returndatacopy(machine: Machine, path: Path, _pc: int) -> None:
    place, source, length = (path.stack.pop() for _ in range(3))
    path.memory.forget(place, length)
    if path.called is not None:
        path.memory.store(place, machine.pool.leaf("result", address_in(path.called), source))


def _mcopy(_machine: Machine, path: Path, _pc: int) -> None:
    place, _source, length = (path.stack.pop() for _ in range(3))
    path.memory.forget(place, length)


def _extcodecopy(_machine: Machine, path: Path, _pc: int) -> None:
    _address, place, _source, length = (path.stack.pop() for _ in range(4))
    path.memory.forget(place, length)


def _returndatasize(machine: Machine, path: Path, _pc: int) -> None:
    size = 0 if path.called is None else machine.pool.leaf("RETURNDATASIZE", path.called)
    path.stack.append(size)


def _counter(_machine: Machine, path: Path, pc: int) -> None:
    path.stack.append(pc)


Handler = Callable[[Machine, Path, int], None]


def _comparison(operation: str) -> Handler:
    return lambda machine, path, pc: machine._compare(path, pc, operation)


def _calling(kind: str) -> Handler:
    return lambda machine, path, pc: machine._call(path, pc, kind)


def _creating(operands: int) -> Handler:
    def create(machine: Machine, path: Path, pc: int) -> None:
        del path.stack[-operands:]
        path.called = machine.pool.leaf("created", pc)
        path.stack.append(path.called)

    return create


_HANDLERS: Final[dict[str, Handler]] = {
    "CALLDATALOAD": _calldataload,
    "MLOAD": _mload,
    "MSTORE": _mstore,
    "MSTORE8": _mstore8,
    "SLOAD": _sload,
    "SSTORE": _sstore,
    "SHA3": _hash,
    "CALLDATACOPY": _calldatacopy,
    "CODECOPY": _codecopy,
    "RETURNDATACOPY": _returndatacopy,
    "MCOPY": _mcopy,
    "EXTCODECOPY": _extcodecopy,
    "RETURNDATASIZE": _returndatasize,
    "CREATE": _creating(operands=3),
    "CREATE2": _creating(operands=4),
    "GETPC": _counter,
    "EQ": _comparison("EQ"),
    "SUB": _comparison("SUB"),
    "XOR": _comparison("XOR"),
    "LT": _comparison("LT"),
    "GT": _comparison("GT"),
    "SLT": _comparison("SLT"),
    "SGT": _comparison("SGT"),
    "CALL": _calling("CALL"),
    "STATICCALL": _calling("STATICCALL"),
    "DELEGATECALL": _calling("DELEGATECALL"),
    "CALLCODE": _calling("CALLCODE"),
}
