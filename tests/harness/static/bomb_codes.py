"""Codes made to exhaust one phase of the static analysis each, in the shape of a token."""

from collections.abc import Callable, Iterable
from typing import Final

from tests.harness.static.assembler import DISPATCH, assemble

MOST_BYTES: Final = 24_576
"""Largest code of a contract by EIP-170."""

MOST_BYTES_ELSEWHERE: Final = 49_152
"""Largest code on chains with twice that limit."""

TRANSFER: Final = 0xA9059CBB
TRANSFER_FROM: Final = 0x23B872DD
APPROVE: Final = 0x095EA7B3
BALANCE_OF: Final = 0x70A08231
ALLOWANCE: Final = 0xDD62ED3E
TOTAL_SUPPLY: Final = 0x18160DDD
OTHER: Final = 0x10000000
"""Selector of the first further function."""

TO: Final = "4 CALLDATALOAD"
FROM: Final = TO
AMOUNT: Final = "36 CALLDATALOAD"
OWN: Final = "0 MSTORE 0 32 MSTORE 64 0 SHA3"
"""Replace an account on the stack by the slot of its balance."""
ANSWER: Final = "0 MSTORE 32 0 RETURN"
TRUE: Final = f"1 {ANSWER}"


def entry(key: str, slot: int = 0) -> str:
    """Push the slot of a mapping's entry."""
    return f"{key} 0 MSTORE {slot} 32 MSTORE 64 0 SHA3"


def debit(key: str, amount: str = AMOUNT) -> str:
    """Take an amount from a balance, without a check."""
    return f"{entry(key)} {amount} DUP2 SLOAD SUB SWAP1 SSTORE"


def credit(key: str, amount: str = AMOUNT) -> str:
    return f"{entry(key)} {amount} DUP2 SLOAD ADD SWAP1 SSTORE"


def owned_setter(at: int, owner: int) -> str:
    """A function that stores its argument if the caller is in the slot `owner`."""
    return f"{owner} SLOAD CALLER EQ @g{at} JUMPI @no JUMP g{at}: {TO} {at + 9} SSTORE STOP"


LESS: Final = "DUP1 SLOAD DUP3 SWAP1 SUB SWAP1 SSTORE"
"""Take the word under the slot of a balance from it."""
MOVE: Final = f"{debit('CALLER')} {credit(TO)}"
GETTERS: Final = {
    BALANCE_OF: f"{entry(TO)} SLOAD {ANSWER}",
    ALLOWANCE: f"{entry(FROM, 1)} 32 MSTORE {AMOUNT} 0 MSTORE 64 0 SHA3 SLOAD {ANSWER}",
    TOTAL_SUPPLY: f"2 SLOAD {ANSWER}",
}


def token(bodies: dict[int, str]) -> str:
    """Source of a token with getters, and these further functions. `@no` reverts."""
    everything = {**GETTERS, **bodies}
    tests = " ".join(f"DUP1 {selector:#x} EQ @f{selector} JUMPI" for selector in everything)
    blocks = " ".join(f"f{selector}: POP {body}" for selector, body in everything.items())
    return f"{DISPATCH} {tests} no: 0 0 REVERT {blocks}"


def repeated(
    whole: Callable[[str], dict[int, str]], part: Callable[[int], str], size: int
) -> bytes:
    """The token with as many parts as fit. `part` gets its number, for its labels."""
    parts: list[str] = []
    used = len(assemble(token(whole(""))))
    while True:
        source = part(len(parts))
        used += _length(source)
        if used > size:
            return assemble(token(whole(" ".join(parts))))
        parts.append(source)


def _length(source: str) -> int:
    words = source.split()
    labels = sum(word.startswith("@") for word in words)
    plain = " ".join(word for word in words if not word.startswith("@"))
    return 3 * labels + len(assemble(plain))


def in_transfer(before: str = "", after: str = "") -> Callable[[str], dict[int, str]]:
    return lambda parts: {TRANSFER: f"{before} {parts} {after} {MOVE} {TRUE}"}


def in_both(parts_for: str) -> dict[int, str]:
    """The same parts in `transfer`, and called from `transferFrom`."""
    return {
        TRANSFER: f"shared: {parts_for} {MOVE} {TRUE}",
        TRANSFER_FROM: "CALLER @shared JUMP",
    }


Shape = Callable[[int], bytes]

_SHAPES: dict[str, Shape] = {}


def shape(name: str) -> Callable[[Shape], Shape]:
    def add(made: Shape) -> Shape:
        _SHAPES[name] = made
        return made

    return add


def parts_in_transfer(name: str, part: Callable[[int], str], **around: str) -> None:
    """Add the shape of a transfer that is a chain of these parts and then moves an amount."""
    _SHAPES[name] = lambda size: repeated(in_transfer(**around), part, size)


# --- chains of branches in transfer ---------------------------------------------------------------

parts_in_transfer("guards on storage", lambda at: f"{at + 9} SLOAD @no JUMPI")
parts_in_transfer("guards on amounts", lambda at: f"{at + 9} SLOAD {AMOUNT} GT @no JUMPI")
parts_in_transfer(
    "guards on lists", lambda at: f"{entry(('CALLER', TO)[at % 2], at + 9)} SLOAD @no JUMPI"
)
parts_in_transfer("guards on time", lambda at: f"TIMESTAMP {at + 9} SLOAD GT @no JUMPI")
parts_in_transfer(
    "optional guards",
    lambda at: f"{at + 9} SLOAD @s{at} JUMPI {AMOUNT} {at + 3000} SLOAD LT @no JUMPI s{at}:",
)
parts_in_transfer("diamonds", lambda at: f"{at + 9} SLOAD @s{at} JUMPI {at} 3 SSTORE s{at}:")
parts_in_transfer(
    "diamonds that change a word",
    lambda at: f"{at + 9} SLOAD @s{at} JUMPI {at + 9} SLOAD ADD s{at}:",
    before="CALLVALUE",
    after=f"{AMOUNT} LT @no JUMPI",
)
parts_in_transfer(
    "phis in amounts",
    lambda at: f"{at + 9} SLOAD @s{at} JUMPI DUP1 {at + 2} SWAP1 DIV SWAP1 SUB s{at}:",
    before=AMOUNT,
    after=f"{entry('CALLER')} {LESS} {entry(TO)} DUP1 SLOAD DUP3 ADD SWAP1 SSTORE",
)
parts_in_transfer(
    "phis in keys",
    lambda at: f"{at + 9} SLOAD @s{at} JUMPI POP {at + 99} SLOAD s{at}:",
    before="CALLER",
    after=f"DUP1 {OWN} {AMOUNT} DUP2 SLOAD SUB SWAP1 SSTORE",
)
parts_in_transfer(
    "phis in memory",
    lambda at: f"{at + 9} SLOAD @s{at} JUMPI {at} SLOAD {32 * (at % 40) + 128} MSTORE s{at}:",
    after="1408 0 SHA3 99 SSTORE",
)
parts_in_transfer(
    "nested guards",
    lambda at: f"{at + 9} SLOAD @end JUMPI {at + 3000} SLOAD @no JUMPI",
    after="end:",
)
parts_in_transfer(
    "nested exits that store",
    lambda at: f"{at + 9} SLOAD @x{at % 8} JUMPI",
    after=f"{MOVE} {TRUE} "
    + " ".join(f"x{at}: {credit('CALLER', str(at))} {TRUE}" for at in range(8)),
)
parts_in_transfer(
    "one condition again and again",
    lambda at: f"9 SLOAD @s{at} JUMPI {at} 3 SSTORE s{at}: 9 SLOAD @t{at} JUMPI t{at}:",
)
parts_in_transfer(
    "pushed forward", lambda at: f"CALLVALUE @s{at} JUMPI CALLDATASIZE s{at}: POP", before="0 0 0"
)

# --- stores and calls -----------------------------------------------------------------------------

parts_in_transfer("many balance stores", lambda at: credit(f"{at + 9} SLOAD", f"{at}"))
parts_in_transfer("balance stores of the caller", lambda at: credit("CALLER", f"{at + 9} SLOAD"))
parts_in_transfer(
    "optional balance stores",
    lambda at: f"{at + 9} SLOAD @s{at} JUMPI {debit(f'{at + 9} SLOAD')} s{at}:",
)
parts_in_transfer(
    "stores to computed slots", lambda at: f"{AMOUNT} {at + 9} SLOAD {AMOUNT} ADD SSTORE"
)
parts_in_transfer("many plain stores", lambda at: f"{AMOUNT} {at + 9} SSTORE")
parts_in_transfer("stores of sums", lambda at: f"{at + 9} SLOAD {AMOUNT} ADD {at + 9} SSTORE")
parts_in_transfer("calls", lambda at: f"0 0 0 0 0 {at + 9} SLOAD GAS CALL POP")
parts_in_transfer(
    "answers of calls", lambda at: f"32 0 0 0 {at + 9} SLOAD GAS STATICCALL POP 0 MLOAD @no JUMPI"
)
parts_in_transfer("delegate calls", lambda at: f"0 0 0 0 {at + 9} SLOAD GAS DELEGATECALL POP")
parts_in_transfer(
    "signatures",
    lambda at: (
        f"{AMOUNT} 0 MSTORE 32 0 SHA3 0 MSTORE 32 0 128 0 1 GAS STATICCALL POP"
        " 0 MLOAD CALLER EQ @no JUMPI"
    ),
)

# --- arithmetic and memory ------------------------------------------------------------------------

parts_in_transfer(
    "long products", lambda at: f"{at + 9} SLOAD 3 MULMOD", before=AMOUNT, after="99 SSTORE"
)
parts_in_transfer("squares", lambda _: "DUP1 MUL", before=AMOUNT, after="99 SSTORE")
parts_in_transfer(
    "sums of reads",
    lambda at: f"{at + 9} SLOAD ADD",
    before=AMOUNT,
    after=f"{entry('CALLER')} {LESS}",
)
parts_in_transfer("powers of two", lambda _: "2 EXP", before="3")
parts_in_transfer("memory at computed places", lambda at: f"CALLER {at + 9} SLOAD MSTORE")
parts_in_transfer(
    "memory behind a pointer",
    lambda at: f"64 MLOAD CALLER DUP2 MSTORE {at + 9} SLOAD ADD 64 MSTORE",
)
parts_in_transfer("copies", lambda at: f"CALLDATASIZE 0 {32 * (at % 64) + 128} CALLDATACOPY")
parts_in_transfer(
    "hashes of hashes",
    lambda at: "0 MSTORE 32 0 SHA3",
    before=AMOUNT,
    after=f"{AMOUNT} SWAP1 SSTORE",
)


# --- loops ----------------------------------------------------------------------------------------


parts_in_transfer(
    "loops after each other",
    lambda at: (
        f"0 l{at}: DUP1 {at + 9} SLOAD LT @e{at} JUMPI"
        f" 1 ADD DUP1 {at} SSTORE @l{at} JUMP e{at}: POP"
    ),
)


@shape("deep loops")
def _deep_loops(size: int) -> bytes:
    depth = min(size // 40, 900)
    heads = " ".join(f"0 l{at}: DUP1 {at + 9} SLOAD LT @e{at} JUMPI" for at in range(depth))
    tails = " ".join(
        f"1 ADD @l{at} JUMP e{at}: POP {credit('CALLER', '1') if at % 50 == 0 else ''}"
        for at in reversed(range(depth))
    )
    return assemble(token({TRANSFER: f"{heads} {credit(TO)} {tails} {MOVE} {TRUE}"}))


parts_in_transfer(
    "loops that swap words",
    lambda at: f"SWAP{at % 13 + 1} {at + 40} SLOAD @l JUMPI",
    before=" ".join(f"{at + 9} SLOAD" for at in range(14)) + " l:",
)


@shape("loop over balances")
def _looped_balances(size: int) -> bytes:
    return repeated(
        lambda parts: {TRANSFER: f"0 l: {parts} 1 ADD DUP1 {AMOUNT} LT @l JUMPI {MOVE} {TRUE}"},
        lambda at: f"{at + 9} SLOAD @s{at} JUMPI {credit('DUP1 SLOAD', '1')} s{at}:",
        size,
    )


# --- tables ---------------------------------------------------------------------------------------


@shape("jump table of guards")
def _table_of_guards(size: int) -> bytes:
    """Sixty targets, each a chain of guards, from which `transfer` goes on."""
    return tables(
        size, targets=60, part=lambda at, of: f"{at * 64 + of + 9} SLOAD {AMOUNT} LT @no JUMPI"
    )


@shape("jump table of optional guards")
def _table_of_optional(size: int) -> bytes:
    return tables(
        size,
        targets=30,
        part=lambda at, of: (
            f"{at + 9} SLOAD @s{at}x{of} JUMPI {of + 9} SLOAD @no JUMPI s{at}x{of}:"
        ),
    )


@shape("jump table of stores")
def _table_of_stores(size: int) -> bytes:
    return tables(size, targets=60, part=lambda at, of: credit(f"{at * 64 + of + 9} SLOAD"))


@shape("largest jump table")
def _largest_table(size: int) -> bytes:
    return tables(size, targets=500, part=lambda at, of: f"{at + 9} SLOAD @no JUMPI")


def tables(size: int, *, targets: int, part: Callable[[int, int], str]) -> bytes:
    """A transfer that jumps by its amount to one of some blocks of equal length."""
    each = (size - 600) // targets
    blocks = []
    for of in range(targets):
        parts: list[str] = []
        used = 1 + 4
        at = 0
        while True:
            source = part(at, of)
            length = _length(source)
            if used + length > each:
                break
            parts.append(source)
            used += length
            at += 1
        pad = " ".join(["JUMPDEST"] * (each - used))
        blocks.append(f"b{of}: {' '.join(parts)} {pad} @go JUMP")
    body = f"{targets} {AMOUNT} MOD {each} MUL @b0 ADD JUMP go: {MOVE} {TRUE} {' '.join(blocks)}"
    return assemble(token({TRANSFER: body}))


parts_in_transfer(
    "tables one after the other",
    lambda at: f"1 {at + 9} SLOAD AND 5 MUL @t{at} ADD JUMP t{at}: CALLVALUE POP JUMPDEST JUMPDEST",
)


# --- functions ------------------------------------------------------------------------------------


@shape("many selectors")
def _selectors(size: int) -> bytes:
    count = (size - 500) // 45
    bodies = {
        OTHER
        + at: f"CALLER {at + 9} SLOAD EQ @g{at} JUMPI @no JUMP g{at}: {TO} {at + 9} SSTORE STOP"
        for at in range(count)
    }
    return assemble(token({TRANSFER: f"{MOVE} {TRUE}", **bodies}))[:size]


@shape("many selectors that move balances")
def _moving_selectors(size: int) -> bytes:
    count = (size - 700) // 90
    bodies = {
        OTHER + at: f"{debit(TO)} {credit('CALLER', f'{at + 9} SLOAD')} STOP" for at in range(count)
    }
    return assemble(token({TRANSFER: f"{MOVE} {TRUE}", **bodies}))[:size]


@shape("many selectors of one body")
def _shared_body(size: int) -> bytes:
    """Four hundred functions that run the same long chain of guards."""
    count = 400
    room = size - 700 - count * 16
    parts = " ".join(
        f"{at + 9} SLOAD @no JUMPI {at + 9} SLOAD @s{at} JUMPI 1 {at} SSTORE s{at}:"
        for at in range(room // 22)
    )
    bodies = {OTHER + at: "@long JUMP" for at in range(count)}
    return assemble(token({TRANSFER: f"long: {parts} {MOVE} {TRUE}", **bodies}))


@shape("setters of every cap")
def _setters(size: int) -> bytes:
    """A hundred limits in transfer, each with a setter of the owner's."""
    count = (size - 700) // 75
    guards = " ".join(f"{at + 9} SLOAD {AMOUNT} GT @no JUMPI" for at in range(count))
    bodies = {OTHER + at: owned_setter(at, 5) for at in range(count)}
    return assemble(token({TRANSFER: f"{guards} {MOVE} {TRUE}", **bodies}))


@shape("internal calls")
def _internal_calls(size: int) -> bytes:
    """A function that is called from everywhere, and has branches."""
    inner = " ".join(f"{at + 9} SLOAD @i{at} JUMPI {at} 3 SSTORE i{at}:" for at in range(60))
    return repeated(
        lambda parts: {TRANSFER: f"{parts} {MOVE} {TRUE} inner: {inner} JUMP"},
        lambda at: f"@r{at} @inner JUMP r{at}:",
        size,
    )


@shape("transfer and transferFrom of one body")
def _both(size: int) -> bytes:
    return repeated(
        in_both,
        lambda at: f"{at + 9} SLOAD @s{at} JUMPI {AMOUNT} {at + 9} SLOAD LT @no JUMPI s{at}:",
        size,
    )


def bombs(size: int = MOST_BYTES) -> dict[str, bytes]:
    """Every shape, as large as it can be within a size."""
    return {name: made(size) for name, made in _SHAPES.items()}


def names() -> Iterable[str]:
    return _SHAPES.keys()


def bomb(name: str, size: int = MOST_BYTES) -> bytes:
    return _SHAPES[name](size)
