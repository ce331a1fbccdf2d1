"""EVM opcode table: pyevmasm's newest fork (Istanbul), corrected, plus the later opcodes."""

from typing import Final

import msgspec
from pyevmasm.evmasm import InstructionTable, instruction_tables

_SINCE_ISTANBUL: Final = {
    # opcode: name, operand bytes, pops, pushes, gas, description
    0x1E: ("CLZ", 0, 1, 1, 5, "Count leading zero bits (EIP-7939)."),
    0x48: ("BASEFEE", 0, 0, 1, 2, "Base fee of the block (EIP-3198)."),
    0x49: ("BLOBHASH", 0, 1, 1, 3, "Versioned hash of a blob (EIP-4844)."),
    0x4A: ("BLOBBASEFEE", 0, 0, 1, 2, "Blob base fee of the block (EIP-7516)."),
    0x5C: ("TLOAD", 0, 1, 1, 100, "Load a transient word (EIP-1153)."),
    0x5D: ("TSTORE", 0, 2, 0, 100, "Store a transient word (EIP-1153)."),
    0x5E: ("MCOPY", 0, 3, 0, 3, "Copy memory (EIP-5656)."),
    0x5F: ("PUSH", 0, 0, 1, 2, "Push zero (EIP-3855)."),
}
"""pyevmasm appends the operand size to the name PUSH: 0x5F becomes PUSH0."""

_CORRECTED: Final = {
    0xF5: ("CREATE2", 0, 4, 1, 32000, "Create at an address named by a salt (EIP-1014)."),
}
"""pyevmasm gives CREATE2 three operands: it omits the salt."""

TABLE: Final = InstructionTable(
    _SINCE_ISTANBUL | _CORRECTED, previous_fork=instruction_tables["istanbul"]
)


class Opcode(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction without its operand."""

    name: str
    size: int
    """Length in code in bytes, operand included."""
    pops: int
    pushes: int


def _row(number: int) -> Opcode | None:
    entry = TABLE.get(number)
    if entry is None or entry.name == "INVALID":
        return None
    return Opcode(name=entry.name, size=entry.size, pops=entry.pops, pushes=entry.pushes)


OPCODES: Final = tuple(_row(number) for number in range(256))
"""Names by opcode number. None: an invalid opcode, which ends execution."""

NUMBER: Final = {row.name: number for number, row in enumerate(OPCODES) if row is not None}
