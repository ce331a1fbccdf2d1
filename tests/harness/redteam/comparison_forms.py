"""Forms of a comparison: the same meaning, different code."""

import random
from collections.abc import Callable

import msgspec

from tests.harness.redteam.trap_model import Op

_OPPOSITE: dict[Op, str] = {">": "<=", "<": ">=", "==": "!=", "!=": "=="}
_ASSEMBLY: dict[Op, str] = {
    ">": "gt(a, b)",
    "<": "lt(a, b)",
    "==": "eq(a, b)",
    "!=": "iszero(eq(a, b))",
}


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """Statements that set `bad` from the words `a` and `b`, and the members they need."""

    body: str
    members: str = ""


Surface = Callable[[Op, random.Random], Written]


def direct(op: Op, _: random.Random) -> Written:
    """As people write it."""
    return Written(body=f"bad = a {op} b;")


def shifted(op: Op, dice: random.Random) -> Written:
    """Both sides moved by a constant."""
    by = dice.randrange(10**6, 10**12)
    return Written(body=f"unchecked {{ bad = a + {by} {op} b + {by}; }}")


def scaled(op: Op, dice: random.Random) -> Written:
    """Both sides times an odd constant, which loses nothing."""
    by = 2 * dice.randrange(3, 500) + 1
    if op in (">", "<"):
        return Written(body=f"unchecked {{ bad = a * {by} {op} b * {by}; }}")
    return Written(body=f"unchecked {{ bad = (a * {by}) ^ (b * {by}) {op} 0; }}")


def difference(op: Op, _: random.Random) -> Written:
    """The sign or the bits of a difference."""
    if op in (">", "<"):
        return Written(body=f"unchecked {{ bad = int256(a) - int256(b) {op} 0; }}")
    return Written(body=f"bad = (a ^ b) {op} 0;")


def assembly(op: Op, _: random.Random) -> Written:
    """Write it in assembly."""
    return Written(body=f'assembly ("memory-safe") {{ bad := {_ASSEMBLY[op]} }}')


def stored(op: Op, dice: random.Random) -> Written:
    """With a second word from storage that nobody writes again."""
    by = dice.randrange(10, 10**9)
    return Written(
        body=f"unchecked {{ bad = a + _lift {op} b + _lift; }}",
        members=f"uint256 private _lift = {by};",
    )


def helper(op: Op, _: random.Random) -> Written:
    """Write it in a separate function."""
    return Written(
        body="bad = _weigh(a, b);",
        members="function _weigh(uint256 a, uint256 b) private pure returns (bool) {"
        f" return a {op} b; }}",
    )


def self_call(op: Op, _: random.Random) -> Written:
    """Write it as an external call of the contract to itself."""
    return Written(
        body="bad = this.weigh(a, b);",
        members="function weigh(uint256 a, uint256 b) external pure returns (bool) {"
        f" return a {op} b; }}",
    )


def negated(op: Op, _: random.Random) -> Written:
    """Write it as a negation."""
    return Written(body=f"if (a {_OPPOSITE[op]} b) bad = false; else bad = true;")


def looped(op: Op, dice: random.Random) -> Written:
    """A loop that runs or not."""
    turns = dice.randrange(1, 4)
    return Written(body=f"for (uint256 i; i < {turns} && a {op} b; i++) bad = true;")


def table(op: Op, _: random.Random) -> Written:
    """Write it as the place in a list."""
    return Written(body=f"bool[2] memory rows; rows[1] = true; bad = rows[_onehot(a {op} b)];",
        members="function _onehot(bool yes) private pure returns (uint256 n) {"
        ' assembly ("memory-safe") { n := yes } }')  # fmt: skip


def hashed(op: Op, _: random.Random) -> Written:
    """Write it as equal hashes of equal words; for an order, by division."""
    if op == ">":
        return Written(body="unchecked { bad = a / (b + 1) > 0; }")
    if op == "<":
        return Written(body="unchecked { bad = b / (a + 1) > 0; }")
    return Written(body=f"bad = keccak256(abi.encode(a)) {op} keccak256(abi.encode(b));")


SURFACES: dict[str, Surface] = {
    "direct": direct,
    "shifted": shifted,
    "scaled": scaled,
    "difference": difference,
    "assembly": assembly,
    "stored": stored,
    "helper": helper,
    "self_call": self_call,
    "negated": negated,
    "looped": looped,
    "table": table,
    "hashed": hashed,
}
