"""Recognition of Solidity panics: straight-line code that pushes the selector of `Panic(uint256)`.

Source: Solidity documentation, "Panic via assert and Error via require".
"""

from typing import Final

from analysis.static.evm.disassembly import JUMPDEST, PUSH0, Program
from analysis.static.evm.opcodes import NUMBER

_PANIC: Final = 0x4E487B71
"""Selector of `Panic(uint256)`."""

_SELECTOR_SHIFT: Final = 224
_LONGEST: Final = 48
_MOST_JUMPS: Final = 3
_JUMP: Final = NUMBER["JUMP"]
_ENDS: Final = frozenset(
    NUMBER[name] for name in ("JUMPI", "STOP", "RETURN", "REVERT", "SELFDESTRUCT")
)


def panics(program: Program, pc: int) -> bool:
    """True if the code from `pc` to the next branch or end pushes the panic selector.

    Up to `_MOST_JUMPS` jumps to shared helpers are followed, over at most `_LONGEST` instructions.
    *Inferred*: an author can write the same by hand.
    """
    jumps = 0
    pushed = None
    for _ in range(_LONGEST):
        if pc >= len(program.code):
            return False
        opcode = program.code[pc]
        if pc in program.pushed:
            pushed = program.pushed[pc]
            if _PANIC in (pushed, pushed >> _SELECTOR_SHIFT):
                return True
            pc += opcode - PUSH0 + 1
        elif opcode == _JUMP:
            jumps += 1
            if pushed is None or jumps > _MOST_JUMPS or pushed not in program.jump_targets:
                return False
            pc = pushed
        elif opcode in _ENDS:
            return False
        else:
            pushed = pushed if opcode == JUMPDEST else None
            pc += 1
    return False
