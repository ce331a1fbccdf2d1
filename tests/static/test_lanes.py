"""Protects short static analyses from long ones, and the service from endless ones."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from functools import partial

import pytest

from analysis.static.analyse_code import analyse_code, unanalysed
from analysis.static.result_cache import StaticResultCache
from analysis.static.worker_pool import AnalysisLanes
from assay.commands.runs import static_results
from assay.demo.npm_packages import PROJECT_ROOT
from tests.harness.static.assembler import assemble
from tests.harness.static.bomb_codes import bomb

pytestmark = pytest.mark.process

HONEST = [assemble(f"0 0 0 0 0 {number} GAS CALL STOP") for number in range(3)]


@pytest.fixture(scope="module")
def bombs() -> list[bytes]:
    """Codes of some seconds each."""
    return [bomb("deep loops", 24_576 - 64 * number) for number in range(3)]


@pytest.fixture
async def lanes() -> AsyncIterator[AnalysisLanes]:
    with closing(AnalysisLanes(1, quick_s=0.2, longest_s=0.8)) as made:
        yield made


async def test_an_analysis_over_its_processor_time_ends_and_the_next_is_made(
    lanes: AnalysisLanes, bombs: list[bytes]
) -> None:
    assert await lanes.analyse(bombs[0]) is None
    assert await lanes.analyse(HONEST[0]) == analyse_code(HONEST[0])


async def test_short_analyses_pass_long_ones(lanes: AnalysisLanes, bombs: list[bytes]) -> None:
    """More long ones than the slow lane holds: they wait for each other, and nobody for them."""
    ends: list[str] = []

    async def run(name: str, code: bytes) -> None:
        await lanes.analyse(code)
        ends.append(name)

    await asyncio.gather(
        *(run(f"bomb {number}", code) for number, code in enumerate(bombs)),
        *(run("honest", code) for code in HONEST),
    )
    assert len(ends) == len(bombs) + len(HONEST)
    assert ends[-1].startswith("bomb")
    assert ends.index("honest") < len(bombs)


async def test_closing_ends_what_is_running(bombs: list[bytes]) -> None:
    lanes = AnalysisLanes(1, quick_s=0.2)
    running = [asyncio.create_task(lanes.analyse(code)) for code in bombs]
    await lanes.analyse(HONEST[0])
    lanes.close()
    assert await asyncio.gather(*running) == [None] * len(bombs)


FORKED = """
import asyncio, os, sys
from analysis.static.analyse_code import analyse_code
from analysis.static.worker_pool import AnalysisLanes
from tests.harness.static.bomb_codes import bomb

HONEST = bytes.fromhex(sys.argv[1])

async def main():
    lanes = AnalysisLanes(1, quick_s=0.2, longest_s=0.5, may_fork=True)
    await lanes.start()
    (worker,) = open(f"/proc/self/task/{os.getpid()}/children").read().split()
    assert open(f"/proc/{worker}/cmdline").read() == open("/proc/self/cmdline").read(), "not forked"
    assert await lanes.analyse(bomb("deep loops")) is None
    assert await lanes.analyse(HONEST) == analyse_code(HONEST)
    lanes.close()

asyncio.run(main())
"""


def test_the_worker_of_a_command_is_forked_and_ends_in_time_too() -> None:
    subprocess.run([sys.executable, "-c", FORKED, HONEST[0].hex()], cwd=PROJECT_ROOT, check=True)


async def test_a_command_has_the_deadline(
    bombs: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    shorter = partial(StaticResultCache, longest_s=0.5)
    monkeypatch.setattr(static_results, "StaticResultCache", shorter)
    async with AsyncExitStack() as stack:
        results = await static_results.open_static_results(stack)
        assert await results.analyse(bombs[0]) == unanalysed(bombs[0])


async def test_what_was_ended_is_unknown_and_not_stored(bombs: list[bytes]) -> None:
    results = StaticResultCache(in_processes=True, longest_s=0.5)
    with closing(results):
        assert await results.analyse(bombs[0]) == unanalysed(bombs[0])
