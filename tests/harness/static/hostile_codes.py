"""Codes made to exhaust the walk."""

import random
from typing import Final

from tests.harness.static.assembler import assemble


def chance_of(seed: int) -> random.Random:
    """The same codes in every run."""
    return random.Random(seed)  # noqa: S311 - no secret


PURE: Final = (
    "0 CALLDATALOAD",
    "CALLDATASIZE",
    "CALLVALUE",
    "CALLER",
    "0 SLOAD",
    "DUP1",
    "DUP1 DUP1",
    "MSIZE MSTORE",
    "TIMESTAMP",
    "CALLER CALLER GT",
    "3 SLOAD SLOAD",
    "DUP2 SSTORE",
    "CALLDATASIZE 0 MSTORE",
    "0 MLOAD 0 MSTORE 32 0 SHA3",
    "CALLVALUE 0 MSTORE8",
    "DUP1 CALLDATALOAD MLOAD",
    "0 0 0 0 0 CALLER GAS CALL",
    "0 0 0 CODECOPY",
)


ASKS: Final = ("CALLDATASIZE", "CALLVALUE", "0 CALLDATALOAD", "DUP1 ISZERO", "CALLER SLOAD", "GAS")


def maze(seed: int, size: int, *, is_forward: bool) -> bytes:
    """Blocks that jump about among each other, over a stack deep enough for all of them."""
    chance = chance_of(seed)
    blocks = []
    for at in range(size):
        body = " ".join(chance.choices(PURE, k=chance.randint(0, 5)))
        near = range(at + 1, min(at + 6, size)) if is_forward else range(size)
        one, two = (f"@b{chance.choice(near)}" if near else "@end" for _ in range(2))
        rest = "" if is_forward else f"{two} JUMP"
        blocks.append(f"b{at}: {body} {chance.choice(ASKS)} {one} JUMPI {rest}")
    return assemble(f"{'CALLVALUE ' * 40} {' '.join(blocks)} end: 0 0 RETURN")[:49_152]


def calls_inside(size: int) -> bytes:
    """Functions that call each other at random, without an end."""
    chance = chance_of(size)
    blocks = (
        f"b{at}: CALLVALUE @b{chance.randrange(size)} @b{chance.randrange(size)} CALLDATASIZE "
        f"@b{chance.randrange(size)} JUMPI JUMP"
        for at in range(size)
    )
    return assemble(f"CALLVALUE {' '.join(blocks)}")


def diamonds(count: int, between: str) -> bytes:
    """One branch after the other, each of which joins again at once."""
    parts = (f"CALLVALUE @j{at} JUMPI {between} j{at}:" for at in range(count))
    return assemble(f"CALLDATASIZE {' '.join(parts)} STOP")


def calls_of_a_long_function(callers: int, length: int) -> bytes:
    """Many branches, each of which leads to a call of the same long stretch without a jump."""
    asks = " ".join(f"CALLVALUE @c{at} JUMPI" for at in range(callers))
    calls = " ".join(f"c{at}: @back @long JUMP" for at in range(callers))
    return assemble(f"{asks} STOP {calls} back: STOP long: {'CALLVALUE POP ' * length} JUMP")


HOSTILE: Final = {
    "noise": chance_of(1).randbytes(49_152),
    "jumpdests": b"\x5b" * 24_576,
    "pushes": b"\x7f" * 49_152,
    "eof": bytes.fromhex("ef0001") + chance_of(2).randbytes(24_573),
    "delegation": bytes.fromhex("ef0100") + chance_of(3).randbytes(20),
    "small maze": maze(4, 20, is_forward=False),
    "large maze": maze(5, 3000, is_forward=False),
    "way down": maze(6, 3000, is_forward=True),
    "calls": calls_inside(50),
    "many calls": calls_inside(3000),
    "calls of a long function": calls_of_a_long_function(2000, 8000),
    "diamonds": diamonds(5000, "CALLDATALOAD"),
    "diamonds that store": diamonds(2000, "DUP1 MSIZE 32 MUL MSTORE CALLVALUE ADD"),
    "powers": bytes.fromhex("3435") + b"\x80\x0a" * 24_000,
    "stores all over": b"".join(b"\x34\x61" + at.to_bytes(2) + b"\x52" for at in range(9000)),
    "hashes": bytes.fromhex("34") + bytes.fromhex("5f5260205f20") * 8000,
    "tables": bytes.fromhex("5b5f3560ff16600202600201600290601e395f5150") * 2000,
}
