"""Protects the static analysis from differing between two runs: by hash seed, or by where objects
lie in memory."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain, pairwise, repeat
from typing import Final

import pytest

from analysis.static import analyse_stream
from analysis.static.analyse_code import analyse_code
from analysis.static.dataflow.linear_amounts import is_at_most, plus
from analysis.static.evm.expressions import ExprPool
from assay.demo.npm_packages import PROJECT_ROOT
from tests.harness.cases.compiled_cases import read_archive
from tests.harness.static.assembler import functions

pytestmark = pytest.mark.process

_BALANCE_OF: Final = 0x70A08231
_EVERY: Final = 75
"""Interval of the compiled cases."""
_SEEDS: Final = ("1", "2", "3")

_SLOT: Final = "0 MSTORE 0 32 MSTORE 64 0 SHA3"
"""From an account to the slot of its balance."""
_GETTER: Final = {_BALANCE_OF: f"4 CALLDATALOAD {_SLOT} SLOAD 0 MSTORE 32 0 RETURN"}
_DEBIT: Final = f"debit: {_SLOT} 68 CALLDATALOAD DUP2 SLOAD SUB SWAP1 SSTORE JUMP"
"""Takes the third argument from an account, for a caller that leaves its return address below."""


def two_debtors() -> bytes:
    """A dozen functions that take from two accounts with one store."""
    bodies = {
        number: f"@a{number} 4 CALLDATALOAD @debit JUMP a{number}: "
        f"@b{number} 36 CALLDATALOAD @debit JUMP b{number}: STOP"
        for number in range(1, 13)
    }
    return functions({**_GETTER, **bodies}, fallback=f"0 0 REVERT {_DEBIT}")


def many_setters() -> bytes:
    """Build a store to the balance of an account that the fallback and four functions choose.

    Each function is for a different caller.
    """

    def choosing(number: int) -> str:
        body = f"{32 + number} SLOAD CALLER EQ @set{number} JUMPI 0 0 REVERT"
        return f"{body} set{number}: 4 CALLDATALOAD 8 SSTORE STOP"

    bodies = {number: choosing(number) for number in range(1, 5)}
    taking = "@done 8 SLOAD @debit JUMP done: STOP"
    fallback = f"{choosing(0)} {_DEBIT}"
    return functions({**_GETTER, **bodies, 9: taking}, fallback=fallback)


def many_callers() -> bytes:
    """A store to balances in a function that the fallback and four others call from outside."""
    inner = 0xAABBCCDD
    calling = f"{inner << 224:#x} 0 MSTORE 0 0 4 0 0 ADDRESS GAS CALL POP STOP"
    bodies = dict.fromkeys((19, 35, 51, 67), calling)
    storing = f"1 4 CALLDATALOAD {_SLOT} SSTORE STOP"
    return functions({**_GETTER, inner: storing, **bodies}, fallback=calling)


_PRINT: Final = """
import sys
import msgspec
from analysis.static import analyse_stream
from analysis.static.analyse_code import analyse_code
for line in sys.stdin:
    print(msgspec.json.encode(analyse_code(bytes.fromhex(line))).decode())
"""
_STATIC: Final = "from assay.cli import main; main()"


def _codes() -> list[str]:
    kept = [code for _, code in sorted(read_archive().items())][::_EVERY]
    return [*kept, *(code.hex() for code in (two_debtors(), many_setters(), many_callers()))]


def _run(program: str, *words: str, given: str, seed: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        cwd=PROJECT_ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return done.stdout.splitlines()


def _without_time(lines: list[str]) -> Iterator[str]:
    for line in lines:
        head, _, time = line.rpartition(',"ms":')
        assert float(time.removesuffix("}")) >= 0
        yield head


def test_whole_results_are_the_same_in_every_process() -> None:
    given = "".join(f"{code}\n" for code in _codes())
    for one, other in pairwise(_run(_PRINT, given=given, seed=seed) for seed in _SEEDS):
        assert len(one) == len(_codes())
        assert one == other


def test_printed_answers_are_the_same_in_every_process() -> None:
    requests = [{"id": number, "runtime": code} for number, code in enumerate(_codes())]
    given = "".join(f"{json.dumps(each)}\n" for each in requests)
    answers = [list(_without_time(_run(_STATIC, "static", given=given, seed=s))) for s in _SEEDS]
    assert len(answers[0]) == len(requests)
    assert all(one == other for one, other in pairwise(answers))


def test_a_slow_machine_prints_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    code = max(read_archive().values(), key=len)
    line = json.dumps({"id": 1, "runtime": code}).encode()
    analyse_stream._examined.cache_clear()
    usual = analyse_stream.analyse_line(line).decode()
    clock_s = chain([0.0], repeat(30.0))
    monkeypatch.setattr(time, "thread_time", lambda: next(clock_s))
    analyse_stream._examined.cache_clear()
    slow = analyse_stream.analyse_line(line).decode()
    assert next(clock_s) == 30.0, "the clock was not read"
    assert [*_without_time([usual])] == [*_without_time([slow])]


def test_the_first_place_in_the_code_is_reported() -> None:
    """Each code reaches its targets, in the order of the code."""
    taken = analyse_code(two_debtors()).hints.open_writes
    assert [write.account for write in taken] == ["argument 1"] * 12
    [chosen] = analyse_code(many_setters()).hints.open_writes
    assert len(chosen.parties) == 5
    called = analyse_code(many_callers()).hints.movers
    assert [mover.selector for mover in called] == [0xAABBCCDD, None, 19, 35, 51, 67]


@pytest.mark.parametrize("terms", range(2, 9))
def test_a_sum_is_lowered_alike_in_whatever_order_its_terms_are(terms: int) -> None:
    pool = ExprPool()
    whole = pool.build("SHR", 8, pool.build("CALLDATALOAD", 4))
    parts = [pool.build("SHR", 8 * number, whole) for number in range(1, terms + 1)]
    assert is_at_most(plus(parts), plus([whole] * terms))
    assert not is_at_most(plus([*parts, whole]), plus([whole] * terms))
