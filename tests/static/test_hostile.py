"""The walk ends within its bounds on any bytes, with or without a result."""

import json
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
from tests.harness.static.hostile_codes import HOSTILE, maze

pytestmark = pytest.mark.process


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
    """Return seconds of the slowest and MB of the largest, in a separate process."""
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
