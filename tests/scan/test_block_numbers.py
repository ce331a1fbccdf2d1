"""Protects waits counted in blocks: numbers keep the chain's pace where code may read them.

Elsewhere hardly any block is skipped, so that a simulation has only those that hold calls.
"""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from config.settings import AnalysisSettings
from core.report.report import Report
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_traps import place, with_traps
from tests.harness.node.counting import CountingNode

pytestmark = pytest.mark.compiler

COUNTING = ("CountedHere", "CountedByCallee", "CountedByLibrary", "CountedByCreation")
TIMED = ("Timed", "Signed")
MOST_BLOCKS = 250


@pytest.fixture
def chain(chain: Chain) -> Chain:
    return with_traps(chain)


def blocks_of(node: CountingNode) -> list[list[int]]:
    """Return the numbers of the blocks of each simulation."""
    found = []
    for request in node.requests:
        if request.method == "eth_simulateV1":
            sent = msgspec.json.decode(msgspec.json.encode(request.params[0]))
            found.append(
                [int(each["blockOverrides"]["number"], 16) for each in sent["blockStateCalls"]]
            )
    return found


async def judged(chain: Chain, context: ChainContext, name: str) -> tuple[Report, list[list[int]]]:
    token = place(chain, name)
    node = CountingNode(context.node)
    counting = msgspec.structs.replace(context, node=node, settings=AnalysisSettings())
    return await judge(counting, token.address), blocks_of(node)


@pytest.mark.parametrize("name", [*COUNTING, *TIMED])
async def test_a_wait_has_the_outcome_that_it_really_has(
    chain: Chain, context: ChainContext, name: str
) -> None:
    token = place(chain, name)
    trader = chain.fresh_account()
    assert chain.buy(token, trader).success
    assert not chain.sell(token, trader).success
    chain.mine(30)
    assert chain.sell(token, trader).success
    report, _ = await judged(chain, context, name)
    assert report.pools is not None
    (row,) = report.pools
    assert (row.buy, row.sell) == ("passed", "passed"), row


@pytest.mark.parametrize("name", COUNTING)
async def test_numbers_keep_the_pace_where_code_may_read_them(
    chain: Chain, context: ChainContext, name: str
) -> None:
    _, simulations = await judged(chain, context, name)
    assert max(numbers[-1] - numbers[0] for numbers in simulations) > 200


@pytest.mark.parametrize("name", TIMED)
async def test_few_blocks_are_simulated_where_none_is_counted(
    chain: Chain, context: ChainContext, name: str
) -> None:
    _, simulations = await judged(chain, context, name)
    assert all(numbers[-1] - numbers[0] <= len(numbers) for numbers in simulations)
    assert sum(map(len, simulations)) <= MOST_BLOCKS
