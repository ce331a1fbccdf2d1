"""Protects the waits of an analysis for its node, and its number of calls.

Three round trips that depend on each other, and 60 calls, for a token with ten pools and a cold
context. Liquidity holders are searched in parallel; those calls are measured on a slower node,
where concurrent requests have concurrent answers.
"""

from collections.abc import Sequence

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.block_reader import BlockReader
from analysis.static.analyse_code import analyse_code
from analysis.token.owner_slots import OwnerSlots, read_owner_slots
from config.settings import AnalysisSettings
from core.rpc.messages import RpcAnswer, RpcRequest
from tests.harness.chain.contexts import judge
from tests.harness.chain.trade_oracle import MOST_CALLS, MOST_TRIPS
from tests.harness.chain.transactions import Chain
from tests.harness.node.counting import CountingNode
from tests.harness.venues.token_matrix import seed_nine_more

PROXIES = ("proxy_1967", "proxy_beacon", "clone_1167")


def counted(
    context: ChainContext, *, pools: int = 5, delay_s: float = 0.6
) -> tuple[ChainContext, CountingNode]:
    """`delay_s`: longer than the computation before concurrent requests."""
    node = CountingNode(context.node, delay_s=delay_s)
    cold = ChainContext(
        chain=context.chain,
        node=node,
        index=context.index,
        settings=AnalysisSettings(simulated_pools=pools, liquidity_holders="never"),
        now_s=context.now_s,
    )
    return cold, node


@pytest.mark.parametrize(
    ("key", "trips"),
    [("honest", 3), ("solid_honest", 3), ("v4_honest", 3), ("v3_honest", 4), ("algebra_honest", 4)],
)
async def test_who_holds_the_liquidity_is_asked_beside_the_trades(
    chain: Chain, context: ChainContext, key: str, trips: int
) -> None:
    node = CountingNode(context.node, delay_s=0.1)
    cold = msgspec.structs.replace(context, node=node, settings=AnalysisSettings())
    report = await judge(cold, chain.world.token(key).address)
    assert report.scan.liquidity_risk is not None
    assert node.trips <= trips


@pytest.mark.parametrize("key", ["honest", "mintable", "timebomb_stored", *PROXIES])
async def test_ten_pools_take_three_trips(chain: Chain, context: ChainContext, key: str) -> None:
    """The creation of a proxy that is started later is searched, in six trips more at most."""
    token = chain.world.token(key)
    seed_nine_more(chain, token)
    cold, node = counted(context)
    report = await judge(cold, token.address)
    assert report.pools is not None
    assert len(report.pools) == 10
    assert sum(pool.buy == "passed" for pool in report.pools) >= 5
    assert node.trips <= MOST_TRIPS + (6 if key in PROXIES else 0)
    assert node.calls <= MOST_CALLS


async def test_playing_every_pool_takes_no_more(chain: Chain, context: ChainContext) -> None:
    token = chain.world.token("honest")
    seed_nine_more(chain, token)
    cold, node = counted(context, pools=10, delay_s=2.0)
    await judge(cold, token.address)
    # Five pools more, each with some eleven plays.
    assert (node.trips, node.calls <= MOST_CALLS + 60) == (MOST_TRIPS, True)


async def test_what_is_gone_with_the_head_takes_one_trip_more(
    chain: Chain, context: ChainContext
) -> None:
    """The head moves on between the header and the reads of the first trip."""

    class Moving(CountingNode):
        async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
            if self.trips:
                return await super().batch(requests)
            header, *_ = await context.node.batch(requests[:1])
            chain.mine()
            return [header, *(await super().batch(requests))[1:]]

    node = Moving(context.node, delay_s=0.6)
    moving, _ = counted(context)
    moving = msgspec.structs.replace(moving, node=node)
    head = chain.node.head_number()
    report = await judge(moving, chain.world.token("honest").address)
    assert report.token.block_number == head
    assert report.token.transfer_success is True
    assert node.trips == MOST_TRIPS + 1


async def test_a_token_that_takes_all_gas_costs_only_itself(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.world.token("symbol_megabyte")
    seed_nine_more(chain, token)
    cold, node = counted(context)
    report = await judge(cold, token.address)
    assert report.token.symbol == "\ufffd"
    assert report.pools is not None
    assert len(report.pools) == 10
    assert node.trips == MOST_TRIPS + 1  # its symbol is requested alone, with unlimited gas
    assert node.calls <= MOST_CALLS


async def test_an_unusual_v4_pool_takes_one_trip_more(chain: Chain, context: ChainContext) -> None:
    """Its id cannot be worked out: its creation event names the hook."""
    trips = []
    for key in ("v4_honest", "v4_hook"):
        cold, node = counted(context)
        report = await judge(cold, chain.world.token(key).address)
        assert report.pools is not None
        assert [pool.kind for pool in report.pools] == ["AmmV4"]
        trips.append(node.trips)
    assert trips[0] <= MOST_TRIPS
    assert trips[1] == trips[0] + 1


async def test_a_head_that_is_known_is_not_asked_for(chain: Chain, context: ChainContext) -> None:
    """The shared node keeps the states of its newest blocks only, so the head is a new one."""
    token = chain.world.token("honest").address
    chain.mine()
    head = await context.node.fetch_head()
    chain.mine(3)
    known, node = counted(context)
    known = msgspec.structs.replace(known, newest=lambda: head)
    report = await judge(known, token)
    assert report.token.block_hash == head.hash
    assert node.trips == MOST_TRIPS


async def test_owner_slots_and_who_is_in_them_take_one_trip(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.world.token("mintable")
    head = await context.node.fetch_head()
    code = str(chain.node.rpc("eth_getCode", token.address, "latest"))
    slots = analyse_code(bytes.fromhex(code[2:])).owner_slots
    node = CountingNode(context.node)
    reader = BlockReader(node, block=head.hash, capabilities=context.capabilities)
    packed = await read_owner_slots(reader, token.address, slots)
    assert packed == OwnerSlots(wallets=(token.owner,), are_vacant=False)
    assert (node.trips, node.calls) == (1, 1)
    plain = BlockReader(node, block=head.hash)
    assert await read_owner_slots(plain, token.address, slots) == packed


async def test_a_chain_with_thirty_exchanges_takes_three_trips(
    chain: Chain, context: ChainContext
) -> None:
    """As many factories as the largest built-in chain file names, and every answer the same."""
    token = chain.world.token("honest").address
    few = await judge(context, token)
    many = [
        msgspec.structs.replace(dex, name=f"{dex.name} {at}") if at else dex
        for at in range(8)
        for dex in context.chain.dexes
    ]
    cold, node = counted(context)
    cold = msgspec.structs.replace(
        cold, chain=msgspec.structs.replace(context.chain, dexes=tuple(many))
    )
    report = await judge(cold, token)
    assert report.pools is not None
    assert few.pools is not None
    assert [pool.pool for pool in report.pools] == [pool.pool for pool in few.pools]
    packed = [request for request in node.requests if "code" in str(request.params[2:])]
    assert any(len(str(request.params)) > 50_000 for request in packed)
    assert node.trips == MOST_TRIPS
    assert node.calls <= MOST_CALLS
