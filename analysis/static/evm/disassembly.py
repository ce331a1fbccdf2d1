"""Disassembly of runtime code: metadata stripping, instruction boundaries and jump destinations."""

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from analysis.static.evm.opcodes import NUMBER, OPCODES
from core.evm.keccak import keccak
from core.evm.primitives import Hash32

JUMPDEST = NUMBER["JUMPDEST"]
PUSH0 = NUMBER["PUSH0"]
PUSH32 = NUMBER["PUSH32"]
STOP = NUMBER["STOP"]

_JUMPS = frozenset({NUMBER["JUMP"], NUMBER["JUMPI"]})
_LEAVING = frozenset(
    {
        NUMBER["JUMP"],
        STOP,
        *(NUMBER[name] for name in ("RETURN", "REVERT", "SELFDESTRUCT")),
        *(number for number, row in enumerate(OPCODES) if row is None),
    }
)
"""Opcodes from which execution does not fall through."""

_METADATA_KEYS = (b"ipfs", b"bzzr0", b"bzzr1", b"solc", b"experimental", b"vyper")
_CBOR_SMALL_LISTS = range(0x81, 0x90)
_CBOR_SMALL_MAPS = range(0xA1, 0xB0)
_LENGTH_BYTES = 2
_MOST_TRAILERS = 8
"""Trailers that are stripped; a code with more is made to waste our time."""

_PUSHES = b"|".join(b"\\x%02x.{%d}" % (0x5F + size, size) for size in range(1, 33))
_ENDS = frozenset(
    opcode
    for opcode, row in enumerate(OPCODES)
    if row is None or row.name in ("STOP", "JUMP", "RETURN", "REVERT", "INVALID", "SELFDESTRUCT")
)
"""Opcodes after which the next instruction does not run."""


def _whole(excluded: Iterable[int]) -> bytes:
    """Return a regex of whole instructions other than these; faster than a loop."""
    names = b"".join(b"\\x%02x" % opcode for opcode in excluded)
    return rb"(?:[^\x60-\x7f" + names + rb"]++|" + _PUSHES + rb")*+"


_UP_TO_END = re.compile(_whole(_ENDS), re.DOTALL)
_LAST_DESTINATION = re.compile(rb"(?:" + _whole((JUMPDEST,)) + rb"(\x5b))*+", re.DOTALL)


def strip_metadata(runtime: bytes) -> bytes:
    """Return the code without compilers' CBOR trailers, which differ between builds of one source.

    Only unreachable bytes are stripped: no jump destination in them, and no fall-through into them.
    Code disguised as metadata stays. The analysis of the rest does not depend on the trailer.
    Source: Solidity documentation, "Contract Metadata"; Vyper counts the length itself in or not,
    depending on its version.
    """
    for _ in range(_MOST_TRAILERS):
        start = _start_of_metadata(runtime)
        if start is None:
            break
        runtime = runtime[:start]
    return runtime


def _start_of_metadata(code: bytes) -> int | None:
    length = int.from_bytes(code[-_LENGTH_BYTES:])
    for start in (len(code) - _LENGTH_BYTES - length, len(code) - length):
        if 0 < start < len(code) - _LENGTH_BYTES and _is_metadata(code, start):
            return start
    return None


def _is_metadata(code: bytes, start: int) -> bool:
    tail = code[start:]
    is_named = (tail[0] in _CBOR_SMALL_MAPS or tail[0] in _CBOR_SMALL_LISTS) and any(
        key in tail for key in _METADATA_KEYS
    )
    return is_named and _is_inert(code, start)


def _is_inert(code: bytes, start: int) -> bool:
    """True if the EVM cannot execute any byte from `start` on: between the last jump destination
    and `start` an instruction ends execution. String constants may precede metadata."""
    found = _LAST_DESTINATION.match(code)
    last = -1 if found is None else found.start(1)
    end = _UP_TO_END.match(code, last + 1)
    return last < start and end is not None and end.end() < start and code[end.end()] in _ENDS


def hash_of(stripped: bytes) -> Hash32:
    """Return the key of a code in the store: keccak256 of the code without metadata."""
    return Hash32("0x" + keccak(stripped).hex())


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """Disassembled code. All reachable instructions are in it: execution starts at 0 and jumps only
    to jump destinations, and both are boundaries of this one linear sweep."""

    code: bytes
    jump_targets: frozenset[int]
    quiet_targets: frozenset[int]
    """Jump destinations with one predecessor, computed jumps aside: either one jump whose target is
    pushed right before it, or fall-through."""
    return_targets: frozenset[int]
    """Jump destinations that are pushed to be jumped to later: the return addresses of internal
    calls. Over-approximated: a constant that happens to equal a destination counts."""
    single_returns: frozenset[int]
    """Those that are pushed at one place only, and have no direct jump or fall-through to them."""
    pushed: dict[int, int]
    """Constant by program counter of its PUSH."""
    has_blank_words: bool
    """True if a PUSH32 of zero exists: an immutable that deployment fills in, or plain zero."""
    opcodes: frozenset[int]
    """All opcodes of instructions, reachable or not."""


def split(code: bytes) -> Program:
    """Disassemble the code in a linear sweep, as the EVM finds its jump destinations."""
    jump_targets = set()
    pushed = {}
    opcodes = set()
    direct: Counter[int] = Counter()
    falls = set()
    pc = 0
    last = JUMPDEST  # the start of the code counts as fallen into
    constant = -1
    while pc < len(code):
        opcode = code[pc]
        opcodes.add(opcode)
        if PUSH0 <= opcode <= PUSH32:
            size = opcode - PUSH0 + 1
            # an operand cut off by the end of the code reads as zeros
            constant = int.from_bytes(code[pc + 1 : pc + size].ljust(size - 1, b"\0"))
            pushed[pc] = constant
        else:
            size = 1
            if opcode == JUMPDEST:
                jump_targets.add(pc)
                if last not in _LEAVING:
                    falls.add(pc)
            elif opcode in _JUMPS and PUSH0 <= last <= PUSH32:
                direct[constant] += 1
        last = opcode
        pc += size
    named = Counter(pushed.values())
    return Program(
        code=code,
        jump_targets=frozenset(jump_targets),
        quiet_targets=frozenset(
            target
            for target in jump_targets
            if named[target] == direct[target] and direct[target] + (target in falls) == 1
        ),
        return_targets=frozenset(
            target for target in jump_targets if named[target] > direct[target]
        ),
        single_returns=frozenset(
            target
            for target in jump_targets
            if named[target] == 1 and not direct[target] and target not in falls
        ),
        pushed=pushed,
        has_blank_words=any(not word and code[pc] == PUSH32 for pc, word in pushed.items()),
        opcodes=frozenset(opcodes),
    )
