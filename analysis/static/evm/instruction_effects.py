"""Symbolic semantics of single instructions: results, memory, effects in the CFG, and notes.

Jumps and ends of execution are handled in `path_explorer`; stack operations are removed in
`basic_blocks`. Copies of unknown size, or of more than 512 bytes, are not tracked word by word.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from analysis.static.evm.call_outputs import LONGEST_TEST, WORD, CallOutput, CallOutputs
from analysis.static.evm.cfg import Effect
from analysis.static.evm.disassembly import Program
from analysis.static.evm.expressions import Expr, ExprPool, Value, address_in, undisturbed
from analysis.static.evm.held_reads import CALL, note_load, note_store, read_again
from analysis.static.evm.path_state import ALLOWANCE, BALANCE_OF, MOVERS, Notes, PathState

_SELECTOR_SHIFT: Final = 224

_EQUALITIES: Final = ("EQ", "SUB", "XOR")
COMPARISONS: Final = frozenset({*_EQUALITIES, "LT", "GT", "SLT", "SGT"})
"""Instructions that may compare the caller with a slot, or the clock with anything."""

_DELEGATING: Final = ("DELEGATECALL", "CALLCODE")

_MOST_RETURNED: Final = 4
"""Words of one RETURN, or of a call's return data, that are tracked."""

RETURNED: Final = "RETURN"
"""Kind of the operand record of a RETURN. Words: the first words returned."""

ECRECOVER: Final = 1
"""The precompile that recovers a signer. Its result expression has the input as last arguments."""

_SIGNATURE_WORDS: Final = 4
_HASHES: Final = frozenset({"keccak", "packed"})

_MOST_COPIED: Final = 512
"""Bytes of one copy that is tracked word by word."""


class Interpreter:
    """Executes single instructions on path states. One per exploration."""

    def __init__(self, program: Program, pool: ExprPool, notes: Notes) -> None:
        self.program = program
        self.pool = pool
        self.notes = notes
        self.outputs = CallOutputs(pool)
        self.known: dict[tuple[object, ...], Value] = {}
        """Cache of results by name and operands.

        For instructions that are not noted and have the same result on every path.
        """

    def evaluate(self, path: PathState, pc: int, name: str, words: tuple[Value, ...]) -> Value:
        """Return the result of an instruction without effects, and note relevant comparisons."""
        word = self.pool.build(name, *self.outputs.compared(name, words))
        if name in COMPARISONS and self._is_noted(path, pc, name, words, word):
            return word
        if word is self.pool.selector or word is self.pool.selector_high:
            return self._as_known(path, word)
        self.known[name, *words] = word
        return word

    def note_return(self, path: PathState, pc: int, place: Value, length: Value) -> None:
        """Note the first words of a RETURN. A word that is not whole cannot be decoded."""
        count = length // WORD if isinstance(length, int) else 2
        places = (
            self.pool.build("ADD", WORD * i, place) for i in range(min(count, _MOST_RETURNED))
        )
        words = [path.memory.load(each) for each in places]
        self.notes.add(self.notes.returns, path, pc, *words)
        path.node.operands.append(Effect(kind=RETURNED, pc=pc, words=tuple(words)))

    def _signed(self, path: PathState, given: Value) -> tuple[Value, ...]:
        """Return the input of ecrecover: digest, v, r, s."""
        places = (self.pool.build("ADD", WORD * i, given) for i in range(_SIGNATURE_WORDS))
        return tuple(path.memory.load(place) for place in places)

    def _as_known(self, path: PathState, word: Value) -> Value:
        """Return the value, or the selector's number if the path has matched one."""
        if path.entry is not None:
            if word is self.pool.selector:
                return path.entry
            if word is self.pool.selector_high:
                return path.entry << _SELECTOR_SHIFT
        return word

    def _is_noted(
        self, path: PathState, pc: int, name: str, words: tuple[Value, ...], result: Value
    ) -> bool:
        """Note a comparison of the caller with a slot, or of a clock. False: it is neither."""
        a, b = words
        noted = False
        if name in _EQUALITIES:
            for one, other in ((a, b), (b, a)):
                place = _owner_place(other) if _is_caller(one) else None
                if place is not None:
                    noted = True
                    self.notes.add(self.notes.caller_checks, path, pc, *place)
        if isinstance(result, Expr) and result.depends_on_time:
            noted = True
            self.notes.add(self.notes.clocks, path, pc, result, a, b)
        return noted

    def _call(self, path: PathState, pc: int, kind: str, words: tuple[Value, ...]) -> Value:
        target = words[1]
        given, given_length, out, out_length = words[-4:]
        head = path.memory.head(given)
        if kind in _DELEGATING:
            whom = self.outputs.result_in(address_in(target)) or target
            self.notes.add(self.notes.delegations, path, pc, whom, head, given_length)
        path.do(kind, pc, target, head, out_length)
        if kind != "STATICCALL":
            note_store(self.pool, path, CALL)
        path.last_callee = target
        signed = self._signed(path, given) if target == ECRECOVER else ()
        whom = address_in(target)
        if isinstance(out_length, int):
            count = min(out_length // WORD, _MOST_RETURNED)
            answer = [self.pool.intern("result", whom, WORD * i, *signed) for i in range(count)]
        else:
            answer = [self.pool.intern("result", whom, 0)]
        self._store_output(path, pc, answer, out, out_length)
        return self.pool.intern("success", pc, whom)

    def _store_output(
        self, path: PathState, pc: int, answer: list[Expr], place: Value, length: Value
    ) -> None:
        """Store the first words of a call's result, which may be shorter than its output area."""
        target = path.last_callee
        places = [self.pool.build("ADD", WORD * i, place) for i in range(len(answer))]
        words = [
            self.outputs.written(pc, path.memory.load(at), result)
            for at, result in zip(places, answer, strict=True)
        ]
        path.output = None
        unsure = tuple(
            (word, result)
            for word, result in zip(words, answer, strict=True)
            if isinstance(word, Expr) and word is not result
        )
        if unsure and target is not None:
            most = 1 if target == ECRECOVER else WORD * len(answer)
            output = CallOutput(self.outputs.size_after(pc, target), unsure, range(most))
            if not self.outputs.is_in_use(output, path.stack, path.memory):
                path.output, path.tests_left = output, LONGEST_TEST
        path.memory.forget(place, length)
        for at, word in zip(places, words, strict=True):
            path.memory.store(at, word)

    def copy_output(
        self, path: PathState, pc: int, place: Value, length: Value, result: Expr
    ) -> None:
        """Store the first word of a copy of all return data, which may be empty. Memory of unknown
        content counts as fresh."""
        old = path.memory.load(place)
        is_fresh = isinstance(old, Expr) and old.operation == "memory" and len(old.arguments) == 1
        word = result if is_fresh else self.outputs.written(pc, old, result)
        path.memory.forget(place, length)
        path.memory.store(place, word)

    def learn_size(self, path: PathState, condition: Expr, *, holds: bool) -> None:
        """Replace the uncertain words by the results, if the condition shows that all were written.

        It does if it tests the size of the return data and this outcome needs all of them.
        """
        output = path.output
        if output is not None and self.outputs.is_written(output, condition, holds=holds):
            self.outputs.settle(output, path.stack, path.memory)
            path.output = None

    @staticmethod
    def grow_old(path: PathState) -> None:
        """Note that the path has come to a join point."""
        if path.output is not None:
            path.tests_left -= 1
            if path.tests_left <= 0:
                path.output = None


def _is_caller(word: Value) -> bool:
    bare = address_in(word)
    return isinstance(bare, Expr) and bare.operation in ("CALLER", "ORIGIN")


def _owner_place(word: Value) -> tuple[int, int] | None:
    """Return the storage slot that an address was read from, and the bits below it in the slot.

    None: the value is not an address read from a constant slot.
    """
    bare = address_in(word)
    shift = 0
    match bare:
        case Expr(operation="SHR", arguments=(int(shift), inner)):
            bare = inner
        case Expr(operation="DIV", arguments=(inner, int(number))) if number.bit_count() == 1:
            bare, shift = inner, number.bit_length() - 1
    if isinstance(bare, Expr) and bare.operation == "SLOAD" and isinstance(bare.arguments[0], int):
        return bare.arguments[0], shift
    return None


def _mload(machine: Interpreter, path: PathState, _pc: int, place: Value) -> Value:
    word = _at_size(machine, path, place)
    if word is None:
        word = path.memory.load(1 if _is_recovery(place) else place)
    if word.__class__ is not int:
        if path.stale or path.last_callee is not None:
            note_load(machine.pool, path, word)
        read = undisturbed(word)
        read = machine.outputs.result_in(read) or read
        if isinstance(read, Expr) and read.operation == "result":
            machine.notes.answers_used.add(read.arguments[0])
        elif word is machine.pool.selector or word is machine.pool.selector_high:
            return machine._as_known(path, word)
    return word


def _at_size(machine: Interpreter, path: PathState, place: Value) -> Value | None:
    """Return the word at the address that is the size of what `ecrecover` returned: its output at
    32, or what was at 0 before. None: another address.

    A hash at 0 counts for nothing: no account has it as its address.
    """
    output = path.output
    if output is None or place is not output.size or path.last_callee != ECRECOVER:
        return None
    written, before = path.memory.load(WORD), path.memory.load(0)
    result = machine.outputs.result_in(written)
    if result is None:
        return None
    if isinstance(before, Expr) and before.operation in _HASHES:
        path.output = msgspec.structs.replace(output, is_read=True)
        return result
    return machine.outputs.written(-1, before, result)


def _is_recovery(word: Value) -> bool:
    """True for the success flag of ecrecover, which is 1 with any input. Assembly uses the flag as
    the memory address to which the output was written."""
    return isinstance(word, Expr) and word.operation == "success" and word.arguments[1] == ECRECOVER


def _mstore(_machine: Interpreter, path: PathState, _pc: int, place: Value, word: Value) -> None:
    path.memory.store(place, word)


def _mstore8(_machine: Interpreter, path: PathState, _pc: int, place: Value, word: Value) -> None:
    path.memory.store_byte(place, word)


def _sload(machine: Interpreter, path: PathState, pc: int, slot: Value) -> Value:
    if path.entry in (BALANCE_OF, ALLOWANCE):
        machine.notes.add(machine.notes.reads, path, pc, slot)
    is_told_apart = path.entry in MOVERS
    return read_again(machine.pool, path, pc, slot, is_told_apart=is_told_apart)


def _sstore(machine: Interpreter, path: PathState, pc: int, slot: Value, value: Value) -> None:
    machine.notes.add(machine.notes.writes, path, pc, slot, value)
    path.do("SSTORE", pc, slot, value)
    note_store(machine.pool, path, slot)


def _hash(_machine: Interpreter, path: PathState, _pc: int, place: Value, length: Value) -> Value:
    return path.memory.hash(place, length)


def _calldatacopy(
    machine: Interpreter, path: PathState, _pc: int, place: Value, source: Value, length: Value
) -> None:
    pool = machine.pool
    if isinstance(length, int) and length <= _MOST_COPIED:
        words = [
            machine._as_known(path, pool.build("CALLDATALOAD", pool.build("ADD", offset, source)))
            for offset in range(0, length, WORD)
        ]
        path.memory.store_words(place, words, length)
        return
    path.memory.forget(place, length)
    if source == 0:
        path.memory.store(place, pool.intern("input"))


def copy_code(
    machine: Interpreter, path: PathState, _pc: int, place: Value, source: Value, length: Value
) -> None:
    """Execute CODECOPY. Bytes beyond the stripped code, metadata or zeros, are unknown."""
    code = machine.program.code
    if (
        isinstance(source, int)
        and isinstance(length, int)
        and length <= _MOST_COPIED
        and source + length <= len(code)
    ):
        copied = code[source : source + length]
        words: list[Value] = [
            int.from_bytes(copied[at : at + WORD].ljust(WORD, b"\0"))
            for at in range(0, length, WORD)
        ]
        path.memory.store_words(place, words, length)
    else:
        path.memory.forget(place, length)


def _returndatacopy(
    machine: Interpreter, path: PathState, pc: int, place: Value, source: Value, length: Value
) -> None:
    pool = machine.pool
    if path.last_callee is None or length == 0:
        path.memory.forget(place, length)
        return
    whom = address_in(path.last_callee)
    if isinstance(length, int) and length <= _MOST_COPIED:
        words: list[Value] = [
            pool.intern("result", whom, pool.build("ADD", offset, source))
            for offset in range(0, length, WORD)
        ]
        path.memory.forget(place, length)
        path.memory.store_words(place, words, length)
    else:
        machine.copy_output(path, pc, place, length, pool.intern("result", whom, source))


def _mcopy(
    machine: Interpreter, path: PathState, _pc: int, place: Value, source: Value, length: Value
) -> None:
    if isinstance(length, int) and length <= _MOST_COPIED:
        words = [
            path.memory.load(machine.pool.build("ADD", offset, source))
            for offset in range(0, length, WORD)
        ]
        path.memory.store_words(place, words, length)
    else:
        path.memory.forget(place, length)


def _extcodecopy(
    _machine: Interpreter,
    path: PathState,
    _pc: int,
    _whose: Value,
    place: Value,
    _from: Value,
    length: Value,
) -> None:
    path.memory.forget(place, length)


def _returndatasize(machine: Interpreter, path: PathState, _pc: int) -> Value:
    if path.output is not None:
        return path.output.size
    return (
        0 if path.last_callee is None else machine.pool.intern("RETURNDATASIZE", path.last_callee)
    )


def _create(machine: Interpreter, path: PathState, pc: int, *_words: Value) -> Value:
    path.output = None
    path.last_callee = machine.pool.intern("created", pc)
    return path.last_callee


def no_effect(_machine: Interpreter, _path: PathState, _pc: int, *_words: Value) -> None:
    """Do nothing; the handler of instructions that are not in `EFFECTS`."""


Handler = Callable[..., Value | None]
"""Function of interpreter, path, program counter and operands, the top of the stack first."""


def _calling(kind: str) -> Handler:
    return lambda machine, path, pc, *words: machine._call(path, pc, kind, words)


EFFECTS: Final[dict[str, Handler]] = {
    "MLOAD": _mload,
    "MSTORE": _mstore,
    "MSTORE8": _mstore8,
    "SLOAD": _sload,
    "SSTORE": _sstore,
    "SHA3": _hash,
    "CALLDATACOPY": _calldatacopy,
    "CODECOPY": copy_code,
    "RETURNDATACOPY": _returndatacopy,
    "MCOPY": _mcopy,
    "EXTCODECOPY": _extcodecopy,
    "RETURNDATASIZE": _returndatasize,
    "CREATE": _create,
    "CREATE2": _create,
    "CALL": _calling("CALL"),
    "STATICCALL": _calling("STATICCALL"),
    "DELEGATECALL": _calling("DELEGATECALL"),
    "CALLCODE": _calling("CALLCODE"),
}
"""Handlers of instructions with an effect, or whose result depends on more than the operands."""
