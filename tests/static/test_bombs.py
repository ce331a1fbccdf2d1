"""Codes made to exhaust one phase of the analysis each: all end in time, and none is called clean
where it was cut."""

import asyncio
import time
from contextlib import closing

import pytest

from analysis.static.analyse_code import analyse_code
from analysis.static.worker_pool import LONGEST_S, AnalysisLanes
from tests.harness.static.assembler import assemble
from tests.harness.static.bomb_codes import MOST_BYTES, MOST_BYTES_ELSEWHERE, bomb, names

HONEST = assemble("0 0 0 0 0 1 GAS CALL STOP")

CUT = ("nested guards", "largest jump table")
"""Those of which conditions of guards are left out."""

CHEAP = (
    *CUT,
    *("guards on storage", "diamonds", "many plain stores", "calls", "signatures", "squares"),
    *("long products", "copies", "powers of two", "tables one after the other"),
)
"""A dozen that take a few seconds together."""


def processor_time_of(code: bytes) -> float:
    begun_s = time.thread_time()
    analyse_code(code)
    return time.thread_time() - begun_s


def test_there_are_forty_shapes_and_they_are_large() -> None:
    assert len(set(names())) >= 40
    sizes = [len(bomb(name)) for name in CHEAP]
    assert all(MOST_BYTES * 0.9 < size <= MOST_BYTES for size in sizes)


@pytest.mark.parametrize("name", CHEAP)
def test_a_bomb_ends_in_time(name: str) -> None:
    assert processor_time_of(bomb(name)) < LONGEST_S


@pytest.mark.parametrize("name", CUT)
def test_what_was_cut_is_not_complete(name: str) -> None:
    found = analyse_code(bomb(name))
    assert not found.conditions.is_complete
    assert not found.powers.is_complete


@pytest.mark.process
@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [MOST_BYTES, MOST_BYTES_ELSEWHERE])
async def test_every_bomb_ends_and_delays_no_other_code(size: int) -> None:
    """Those that take more than the deadline are ended by it."""
    with closing(AnalysisLanes(1)) as lanes:
        for name in names():
            running = asyncio.create_task(lanes.analyse(bomb(name, size)))
            assert await lanes.analyse(HONEST) == analyse_code(HONEST), name
            found = await running
            assert found is None or found.size <= size, name
