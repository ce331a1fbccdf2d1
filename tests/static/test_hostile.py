"""Whatever bytes a chain holds, the walk ends within its bounds and says something or nothing."""

import json
import random
import subprocess
import sys
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.static.analyse_code import analyse_code
from analysis.static.evm.budget import Budget
from analysis.static.evm.disassembly import split
from analysis.static.evm.exploration import Exploration
from analysis.static.evm.path_explorer import explore
from tests.harness.static.assembler import assemble

pytestmark = pytest.mark.process


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


_CHILD: Final = """
import json, sys, time
from analysis.static.analyse_code import analyse_code
took_s = []
for line in sys.stdin:
    started = time.thread_time()
    analyse_code(bytes.fromhex(line))
    took_s.append(time.thread_time() - started)
# Not getrusage: what this process was forked from counts there.
status = open("/proc/self/status").read()
most_kb = int(status.split("VmHWM:")[1].split()[0])
print(json.dumps([max(took_s), most_kb]))
"""


def measured(codes: list[bytes]) -> tuple[float, float]:
    """Seconds of the slowest and MB of the largest, in a process of their own."""
    lines = "\n".join(code.hex() for code in codes)
    done = subprocess.run(
        [sys.executable, "-c", _CHILD], input=lines, capture_output=True, text=True, check=True
    )
    slowest_s, most_kb = json.loads(done.stdout)
    return slowest_s, most_kb / 1024


def test_hostile_code_stays_within_its_bounds() -> None:
    slowest_s, most_mb = measured(list(HOSTILE.values()))
    assert slowest_s < 5
    assert most_mb < 500


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_code_ends_with_an_answer(kind: str) -> None:
    findings = analyse_code(HOSTILE[kind], budget=Budget(steps=60_000)).findings
    assert findings.timebomb in (True, False, None)


def steps_are_bounded(exploration: Exploration, budget: Budget) -> bool:
    """A node takes at least a step, but for the two of a branch and the entries of a table."""
    return exploration.graph.count < 4 * budget.steps + 10_000


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    size=st.integers(1, 200),
    is_forward=st.booleans(),
    cut=st.integers(0, 400),
    prefix=st.sampled_from(("", "ef0001", "ef0100", "fe", "60806040")),
)
def test_any_maze_ends(seed: int, size: int, is_forward: bool, cut: int, prefix: str) -> None:
    code = bytes.fromhex(prefix) + maze(seed, size, is_forward=is_forward)[cut:]
    budget = Budget(steps=15_000)
    assert steps_are_bounded(explore(split(code), budget=budget), budget)
    assert analyse_code(code, budget=budget).size <= len(code)
