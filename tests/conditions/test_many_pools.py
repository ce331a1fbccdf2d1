"""The oracle for conditions of tokens with several pools: each pool is sold to by itself."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import VenueKey
from core.report.report import Report
from tests.harness.chain.contexts import judge, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_traps import add_pool, place, with_traps
from tests.harness.node.counting import CountingNode


def sales_of(report: Report) -> list[str]:
    assert report.pools is not None
    return [str(pool.sell) for pool in report.pools]


@pytest.mark.parametrize("venue", ["v3", "solid"])
async def test_a_second_pool_leaves_no_question_open(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    chain = with_traps(chain)
    token = place(chain, "PurseReaderToken", knows_pair=True)
    add_pool(chain, token, venue)
    report = await judge(context, token.address)
    assert sales_of(report) == ["passed", "passed"]
    assert report.scan.sell_depends_on_conditions is False
    assert report.scan.untested_conditions is False


@pytest.mark.parametrize("venue", ["v3", "solid"])
async def test_what_holds_in_the_deepest_pool_is_played_in_the_others(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    chain = with_traps(chain)
    token = place(chain, "SecondPoolToken", knows_pair=True)
    alone = await judge(context, token.address)
    add_pool(chain, token, venue)
    report = await judge(context, token.address)
    assert sales_of(report) == ["passed", "passed"]
    assert alone.scan.sell_depends_on_conditions is False
    assert report.scan.sell_depends_on_conditions is True


async def test_a_plain_token_asks_no_more_in_its_second_pool(
    chain: Chain, context: ChainContext
) -> None:
    chain = with_traps(chain)
    token = place(chain, "NeverSetToken")
    add_pool(chain, token, "v3")
    node = CountingNode(context.node)
    report = await judge(with_node(context, node), token.address)
    assert report.scan.sell_depends_on_conditions is False
    keys = [row.key for row in report.evidence if row.key.startswith("untested_conditions:")]
    assert len(keys) == 1
