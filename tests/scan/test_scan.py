"""Analyses whose dependencies are missing, broken or hostile."""

import asyncio

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import IndexedFacts
from config.facts.chain import Chain as ChainFacts
from core.errors import UpstreamError
from core.evm.primitives import RawAmount
from core.report.report import PoolResultRow, Report
from core.rpc.messages import RpcFault
from tests.harness.chain.contexts import LACKING, Knowing, Lacking, judge, with_chain, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.node.faults import Hindered, NoOverrides


def only_pool(report: Report) -> PoolResultRow:
    assert report.pools is not None
    (pool,) = report.pools
    return pool


async def test_a_node_that_plays_nothing_gives_no_signal(
    chain: Chain, context: ChainContext
) -> None:
    node = NoOverrides(Lacking(context.node, LACKING["calls"]))
    report = await judge(with_node(context, node), chain.world.token("honest").address)
    pool = only_pool(report)
    assert (pool.buy, pool.buy_tax, pool.sell, pool.sell_tax) == (None, None, None, None)
    assert pool.error_code == "simulation_unavailable"
    assert pool.error_message is not None
    assert report.token.transfer_success is None
    assert pool.liquidity_usd > 100


async def test_a_node_that_falls_silent_settles_nothing(
    chain: Chain, context: ChainContext
) -> None:
    node = Hindered(context.node, "eth_simulateV1", answer=None)
    reports = scan(with_node(context, node), chain.world.token("honest").address)
    first = await anext(reports)
    assert (only_pool(first).buy, only_pool(first).sell) == ("pending", "pending")
    assert first.token.is_settled is False
    assert first.token.transfer_success is None
    with pytest.raises(UpstreamError):
        await anext(reports)


async def test_a_block_the_node_forgot_is_the_nodes_failure(
    chain: Chain, context: ChainContext
) -> None:
    forgotten = RpcFault(code=-32000, message="header not found")
    node = Hindered(context.node, "eth_call", answer=forgotten)
    with pytest.raises(UpstreamError, match="header not found"):
        await judge(with_node(context, node), chain.world.token("honest").address)


def set_feed(chain: Chain, *, usd: int, updated_at_s: int) -> None:
    """`updated_at_s` 0: just now."""
    feed = chain.world.venues.oracle.native_usd
    sent = chain.send(chain.world.deployer, feed, "set(int256,uint256)", usd * 10**8, updated_at_s)
    assert sent.success


@pytest.mark.parametrize(("key", "kind"), [("honest", "AmmV2"), ("v3_honest", "AmmV3")])
async def test_a_stale_oracle_gives_way_to_the_deepest_pool(
    chain: Chain, context: ChainContext, key: str, kind: str
) -> None:
    """The feed reports half of the pools' price, then nothing new for longer than allowed."""
    token = chain.world.token(key).address
    only = tuple(dex for dex in context.chain.dexes if dex.kind == kind)
    context = with_chain(context, msgspec.structs.replace(context.chain, dexes=only))
    set_feed(chain, usd=1_500, updated_at_s=0)
    by_oracle = only_pool(await judge(context, token)).liquidity_usd
    set_feed(chain, usd=1_500, updated_at_s=1)
    by_pool = only_pool(await judge(context, token)).liquidity_usd
    assert by_pool == pytest.approx(2 * by_oracle, rel=0.001)


async def test_stables_need_no_oracle(chain: Chain, context: ChainContext) -> None:
    set_feed(chain, usd=3_000, updated_at_s=1)
    assert only_pool(await judge(context, chain.world.token("v2_usdc").address)).liquidity_usd > 100


async def test_without_any_price_pools_are_left_out_not_shown_as_0(
    chain: Chain, context: ChainContext
) -> None:
    set_feed(chain, usd=3_000, updated_at_s=1)
    only = tuple(dex for dex in context.chain.dexes if dex.kind == "Solid")
    context = with_chain(context, msgspec.structs.replace(context.chain, dexes=only))
    report = await judge(context, chain.world.token("solid_honest").address)
    assert report.pools is None  # there are pools; what they hold is not known


async def test_a_refused_log_range_is_not_a_token_without_pools(
    chain: Chain, context: ChainContext
) -> None:
    refused = RpcFault(code=-32005, message="query returned more than 10000 results")
    node = Hindered(context.node, "eth_getLogs", answer=refused)
    on_v4 = await judge(with_node(context, node), chain.world.token("v4_honest").address)
    assert on_v4.pools is None
    on_v2 = await judge(with_node(context, node), chain.world.token("honest").address)
    assert only_pool(on_v2).buy == "passed"


@pytest.mark.parametrize("anchor", [0, 1, 2])
async def test_anchors_themselves_can_be_judged(
    chain: Chain, context: ChainContext, facts: ChainFacts, anchor: int
) -> None:
    token = facts.anchors[anchor]
    report = await judge(context, token.address)
    assert report.token.symbol == token.symbol
    assert report.token.transfer_success is True
    assert report.pools
    assert all(pool.quote != token.address for pool in report.pools)


async def test_a_covered_factory_is_not_asked_again(chain: Chain, context: ChainContext) -> None:
    factories = frozenset(dex.factory for dex in context.chain.dexes)
    context = ChainContext(
        chain=context.chain,
        node=context.node,
        index=Knowing(IndexedFacts(covered_factories=factories)),
        settings=context.settings,
        now_s=context.now_s,
    )
    report = await judge(context, chain.world.token("honest").address)
    assert report.pools == ()


async def test_a_real_holder_stands_in_where_no_wallet_can_be_funded(
    chain: Chain, context: ChainContext
) -> None:
    """Balances kept in another contract cannot be overridden; holders of the index can send."""
    token = chain.world.token("transfer_tax")
    holder = token.holders[0]
    context = ChainContext(
        chain=context.chain,
        node=NoOverrides(context.node),
        index=Knowing(IndexedFacts(holders=((token.owner, RawAmount(1)), (holder, RawAmount(1))))),
        # Nor does anybody buy it on stage.
        settings=msgspec.structs.replace(context.settings, simulated_pools=0),
        now_s=context.now_s,
    )
    report = await judge(context, token.address)
    assert report.token.transfer_success is True
    assert report.token.receive_tax == pytest.approx(3.0)
    (proof,) = [row.body for row in report.evidence if row.key == "transfer"]
    assert holder in proof
    assert token.owner not in proof


async def test_many_analyses_at_once_do_not_disturb_each_other(
    chain: Chain, context: ChainContext
) -> None:
    keys = ("honest", "buy_tax", "sell_tax", "both_tax", "v3_honest")
    alone = [await judge(context, chain.world.token(key).address) for key in keys]
    together = await asyncio.gather(
        *(judge(context, chain.world.token(key).address) for key in keys)
    )
    assert [report.pools for report in together] == [report.pools for report in alone]
