"""Handlers that record operands that an instruction may halt or fail with, in the CFG.

Recorded, one `Effect` in `CfgNode.operands` each: transient stores, target, gas and input of calls,
symbolic memory addresses and lengths, and copies of return data. `condition_finder` looks up their
sources, and `memory_proof` proves where the stores go; everything else reads `CfgNode.effects`.
"""

from collections.abc import Iterator
from typing import Final

from analysis.static.evm.cfg import Effect
from analysis.static.evm.expressions import Expr, Value, address_in
from analysis.static.evm.instruction_effects import EFFECTS, Handler, Interpreter, no_effect
from analysis.static.evm.path_state import PathState

MEMORY: Final = "MEMORY"
"""Kind of a memory address or length that is no number, without a constant summand. Words: it."""

WRITTEN: Final = "WRITTEN"
"""Kind of a store to a symbolic address, or of symbolic length. Words: address, length."""

INPUT: Final = "INPUT"
"""Kind of a call's operands. Words: target, value, gas, length of the input, and the words of it:
of a precompile all, or none if the length is no number or above 512 bytes; of a contract the first
sixteen words of arguments, or as many of them as its length has room for."""

COPIED: Final = "RETURNDATACOPY"
"""Kind of a copy of return data that may exceed it. Words: start, length, size of the data."""

STORED: Final = "TSTORE"
"""Kind of a transient store. Words: slot, value."""

LAST_PRECOMPILE: Final = 0x1FF

_WORD: Final = 32
_MOST_INPUT: Final = 512
_SELECTOR_BYTES: Final = 4
_MOST_ARGUMENTS: Final = 16
"""Words of arguments that are recorded: a router's swap has eight or more."""

_RANGES: Final[dict[str, tuple[tuple[int, int | None], ...]]] = {
    "MLOAD": ((0, None),),
    "MSTORE": ((0, None),),
    "MSTORE8": ((0, None),),
    "SHA3": ((0, 1),),
    "CALLDATACOPY": ((0, 2),),
    "CODECOPY": ((0, 2),),
    "RETURNDATACOPY": ((0, 2),),
    "MCOPY": ((0, 2), (1, 2)),
    "EXTCODECOPY": ((1, 3),),
    "CREATE": ((1, 2),),
    "CREATE2": ((1, 2),),
    "CALL": ((3, 4), (5, 6)),
    "CALLCODE": ((3, 4), (5, 6)),
    "STATICCALL": ((2, 3), (4, 5)),
    "DELEGATECALL": ((2, 3), (4, 5)),
    **dict.fromkeys(("LOG0", "LOG1", "LOG2", "LOG3", "LOG4"), ((0, 1),)),
}
"""Indices of address and length among an instruction's operands. Length None: one word."""

_WRITTEN_RANGES: Final = {
    **dict.fromkeys(
        ("MSTORE", "MSTORE8", "CALLDATACOPY", "CODECOPY", "RETURNDATACOPY", "MCOPY"), 0
    ),
    "EXTCODECOPY": 0,
    **dict.fromkeys(("CALL", "CALLCODE", "STATICCALL", "DELEGATECALL"), 1),
}
"""Index of the range that an instruction writes."""

_VALUED: Final = frozenset({"CALL", "CALLCODE"})
_CALLS: Final = _VALUED | {"STATICCALL", "DELEGATECALL"}


def record_range(path: PathState, pc: int, place: Value, length: Value | None) -> None:
    """Record an address and a length in memory, unless they are numbers or the length is 0."""
    if length == 0:
        return
    for word in (place, length):
        if not isinstance(word, Expr):
            continue
        bare = word
        if word.operation == "ADD" and isinstance(word.arguments[0], int):
            rest = word.arguments[1]
            bare = rest if isinstance(rest, Expr) else word
        noted = path.node.operands
        if not any(each.words[0] is bare and each.kind == MEMORY for each in noted):
            noted.append(Effect(kind=MEMORY, pc=pc, words=(bare,)))


def record_written(path: PathState, pc: int, place: Value, length: Value) -> None:
    """Record a store of that many bytes, unless address and length are numbers."""
    if length != 0 and (isinstance(place, Expr) or isinstance(length, Expr)):
        path.node.operands.append(Effect(kind=WRITTEN, pc=pc, words=(place, length)))


def _record_call(
    machine: Interpreter, path: PathState, kind: str, pc: int, words: tuple[Value, ...]
) -> None:
    gas, target = words[:2]
    value = words[2] if kind in _VALUED else 0
    given, length = words[-4:-2]
    whom = address_in(target)
    content: tuple[Value, ...] = ()
    if isinstance(whom, Expr) or whom > LAST_PRECOMPILE:
        end = _SELECTOR_BYTES + _MOST_ARGUMENTS * _WORD
        places = range(_SELECTOR_BYTES, min(length, end) if isinstance(length, int) else end, _WORD)
        content = tuple(_words_at(machine, path, given, places))
    elif isinstance(length, int) and length <= _MOST_INPUT:
        content = tuple(_words_at(machine, path, given, range(0, length, _WORD)))
    path.node.operands.append(Effect(kind=INPUT, pc=pc, words=(whom, value, gas, length, *content)))


def _words_at(
    machine: Interpreter, path: PathState, place: Value, offsets: range
) -> Iterator[Value]:
    for offset in offsets:
        yield path.memory.load(machine.pool.build("ADD", offset, place) if offset else place)


def _recording(name: str) -> Handler:
    """Return the instruction's handler, with a record of its ranges of memory first."""
    handle, ranges = EFFECTS.get(name, no_effect), _RANGES[name]
    is_call = name in _CALLS
    written = ranges[_WRITTEN_RANGES[name]] if name in _WRITTEN_RANGES else None

    def accessed(machine: Interpreter, path: PathState, pc: int, *words: Value) -> Value | None:
        if words[0].__class__ is not int:
            record_range(path, pc, words[0], None)
            if written is not None:
                record_written(path, pc, words[0], _WORD)
        return handle(machine, path, pc, *words)

    def done(machine: Interpreter, path: PathState, pc: int, *words: Value) -> Value | None:
        for place, length in ranges:
            record_range(path, pc, words[place], None if length is None else words[length])
        if written is not None and written[1] is not None:
            record_written(path, pc, words[written[0]], words[written[1]])
        if is_call:
            _record_call(machine, path, name, pc, words)
        return handle(machine, path, pc, *words)

    # Loads and stores of words are by far the most.
    return accessed if ranges == ((0, None),) else done


def _stored(_machine: Interpreter, path: PathState, pc: int, slot: Value, value: Value) -> None:
    path.node.operands.append(Effect(kind=STORED, pc=pc, words=(slot, value)))


def _copied(
    machine: Interpreter, path: PathState, pc: int, place: Value, source: Value, length: Value
) -> Value | None:
    size = EFFECTS["RETURNDATASIZE"](machine, path, pc)
    is_all = source == 0 and length is size
    if not is_all and size is not None:
        path.node.operands.append(Effect(kind=COPIED, pc=pc, words=(source, length, size)))
    record_range(path, pc, place, length)
    record_written(path, pc, place, length)
    return EFFECTS["RETURNDATACOPY"](machine, path, pc, place, source, length)


HANDLERS: Final[dict[str, Handler]] = {
    **EFFECTS,
    **{name: _recording(name) for name in _RANGES},
    "RETURNDATACOPY": _copied,
    "TSTORE": _stored,
}
"""Handlers of instructions with an effect, or of which operands are recorded."""
