"""Runtime code as the EVM reads it: instructions, jump destinations, no metadata."""

from collections import Counter

import msgspec
from eth_hash.auto import keccak

from analysis.static.opcodes import NUMBER, OPCODES
from config.primitives import Hash32

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
"""Opcodes behind which execution does not go on."""

_METADATA_KEYS = (b"ipfs", b"bzzr0", b"bzzr1", b"solc", b"experimental", b"vyper")
_CBOR_SMALL_LISTS = range(0x81, 0x90)
_CBOR_SMALL_MAPS = range(0xA1, 0xB0)
_LENGTH_BYTES = 2


def strip_metadata(runtime: bytes) -> bytes:
    """The code without the compiler's CBOR trailer, which differs between builds of one source.

    Source: Solidity documentation, "Contract Metadata"; Vyper counts the length itself in or not,
    depending on its version.
    """
    length = int.from_bytes(runtime[-_LENGTH_BYTES:])
    for start in (len(runtime) - _LENGTH_BYTES - length, len(runtime) - length):
        if 0 < start < len(runtime) - _LENGTH_BYTES and _is_metadata(runtime[start:]):
            return runtime[:start]
    return runtime


def _is_metadata(tail: bytes) -> bool:
    return (tail[0] in _CBOR_SMALL_MAPS or tail[0] in _CBOR_SMALL_LISTS) and any(
        key in tail for key in _METADATA_KEYS
    )


def hash_of(stripped: bytes) -> Hash32:
    """The name of a code in the store: keccak256 of it without metadata."""
    return Hash32("0x" + keccak(stripped).hex())


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """Code split into instructions. Whatever can run is in here: execution starts at 0 and jumps
    only to destinations, and both keep to this one split."""

    code: bytes
    jump_targets: frozenset[int]
    quiet_targets: frozenset[int]
    """Jump destinations to which only one way leads, unless a jump is computed: one jump whose
    target is pushed right before it, or the instruction before."""
    return_targets: frozenset[int]
    """Jump destinations that are pushed to be jumped to later: where calls inside the code come
    back. A number that merely equals one may be among them."""
    single_returns: frozenset[int]
    """Those that are pushed at one place only, and that nothing else leads to."""
    pushed: dict[int, int]
    """By program counter of a PUSH: the constant."""
    opcodes: frozenset[int]
    """Every opcode at the start of an instruction, reachable or not."""


def split(code: bytes) -> Program:
    """Read the code from its first byte to its last, as the EVM finds its jump destinations."""
    jump_targets = set()
    pushed = {}
    opcodes = set()
    direct: Counter[int] = Counter()
    falls = set()
    pc = 0
    last = JUMPDEST  # the start is a way in, too
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
        opcodes=frozenset(opcodes),
    )
