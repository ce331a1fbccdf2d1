"""Recognition of address expressions: the caller, and signers recovered by ecrecover."""

from typing import Final

from analysis.static.evm.expressions import Expr, Value
from analysis.static.evm.instruction_effects import ECRECOVER
from core.evm.primitives import ADDRESS_BITS

_LEFT: Final = 256 - ADDRESS_BITS
"""Bits to the right of an address in the high bytes of a word."""


def party(word: Value) -> Value:
    """Return an address expression in canonical form: without masks and shifts that keep all of the
    address, or that read it from its place in a slot."""
    while isinstance(word, Expr):
        match (word.operation, word.arguments):
            case ("AND", (int(mask), inner)) if _keeps_address(mask):
                word = inner
            case (("SHL" | "SHR"), (int(shift), inner)) if shift == _LEFT or _is_read(inner):
                word = inner
            case ("MUL", (int(number), inner)) if number == 1 << _LEFT:
                word = inner
            case ("DIV", (inner, int(number))) if number == 1 << _LEFT or _is_read(inner):
                word = inner
            case _:
                return word
    return word


def _keeps_address(mask: int) -> bool:
    """True if the mask leaves all bits of an address, at either end of the word."""
    low, high = (1 << ADDRESS_BITS) - 1, ((1 << ADDRESS_BITS) - 1) << _LEFT
    return mask & low == low or mask & high == high


def _is_read(word: Value) -> bool:
    while isinstance(word, Expr) and word.operation == "AND" and isinstance(word.arguments[0], int):
        word = word.arguments[1]
    return isinstance(word, Expr) and word.operation == "SLOAD"


def is_caller(word: Value) -> bool:
    """True if the word is the caller's address."""
    bare = party(word)
    return isinstance(bare, Expr) and bare.operation == "CALLER"


def recovered(word: Value) -> tuple[Value, ...] | None:
    """Return digest, v, r and s of a word returned by ecrecover. None: it is another word."""
    if isinstance(word, Expr) and word.operation == "result" and word.arguments[0] == ECRECOVER:
        return word.arguments[2:]
    return None
