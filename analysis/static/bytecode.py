"""Runtime code as the EVM reads it: instructions, jump destinations, no metadata."""

import msgspec
from eth_hash.auto import keccak

from analysis.static.opcodes import NUMBER, OPCODES
from config.primitives import Hash32

JUMPDEST = NUMBER["JUMPDEST"]
PUSH0 = NUMBER["PUSH0"]
PUSH32 = NUMBER["PUSH32"]

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
    pushed: dict[int, int]
    """By program counter of a PUSH: the constant."""
    opcodes: frozenset[int]
    """Every opcode at the start of an instruction, reachable or not."""


def split(code: bytes) -> Program:
    """Read the code from its first byte to its last, as the EVM finds its jump destinations."""
    jump_targets = set()
    pushed = {}
    opcodes = set()
    pc = 0
    while pc < len(code):
        opcode = code[pc]
        opcodes.add(opcode)
        row = OPCODES[opcode]
        size = 1 if row is None else row.size
        if opcode == JUMPDEST:
            jump_targets.add(pc)
        elif PUSH0 <= opcode <= PUSH32:
            # an operand cut off by the end of the code reads as zeros
            pushed[pc] = int.from_bytes(code[pc + 1 : pc + size].ljust(size - 1, b"\0"))
        pc += size
    return Program(
        code=code,
        jump_targets=frozenset(jump_targets),
        pushed=pushed,
        opcodes=frozenset(opcodes),
    )
