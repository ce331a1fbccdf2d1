"""Trades for the coin itself, and simulations on chains of any pace."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
import pytest

from analysis.market import routers
from analysis.market.venues.trade_route import TradeRoute
from analysis.market.venues.venue_registry import venue_of
from analysis.pipeline.chain_context import ChainContext
from analysis.reads.node import Node
from config.facts.chain import Chain as ChainFacts
from core.evm.primitives import Address, BlockRef
from core.rpc.client import RpcClient
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.chain.contexts import judge
from tests.harness.chain.route_simulation import candidate_of, read_routers, trade_for_coins
from tests.harness.chain.transactions import Chain
from tests.harness.venues.token_matrix import animal_of

FREE = Address("0x" + "f4" * 20)

CASES = (
    *((kind, "honest") for kind in ("v2", "v3", "algebra", "solid")),
    *((kind, "both_tax") for kind in ("v2", "algebra", "solid")),
    ("v2", "swap_back"),
)


@pytest.mark.parametrize("is_ours", [False, True])
@pytest.mark.parametrize(("kind", "behaviour"), CASES)
async def test_buying_and_selling_for_the_coin(
    chain: Chain,
    facts: ChainFacts,
    node_client: RpcClient,
    kind: str,
    behaviour: str,
    *,
    is_ours: bool,
) -> None:
    token = chain.place(animal_of(behaviour, kind))
    candidate = candidate_of(facts, token)
    wrapped = facts.wrapped_native.address
    known = await read_routers(chain, facts, node_client)
    own = None if is_ours else known[candidate.dex.router or FREE]
    way = routers.find_route(candidate, own, free=FREE, wrapped=wrapped)
    assert isinstance(way, TradeRoute)
    assert (way.router == FREE) is is_ours
    paid = chain.quote_worth(token, 30)

    staged = await trade_for_coins(chain, node_client, candidate, way, paid_wei=paid)

    trader = chain.fresh_account()
    bought = chain.buy(token, trader, paid)
    sold = chain.sell(token, trader)
    assert bought.success
    assert sold.success
    assert staged.arrived == bought.token_after
    assert staged.coins == sold.other_after - sold.other_before


@pytest.mark.parametrize("kind", ["pancake", "slipstream"])
async def test_where_the_venues_router_takes_no_coins_ours_does(
    chain: Chain, facts: ChainFacts, node_client: RpcClient, kind: str
) -> None:
    token = chain.place(animal_of("honest", kind))
    candidate = candidate_of(facts, token)
    wrapped = facts.wrapped_native.address
    known = await read_routers(chain, facts, node_client)
    usual = routers.find_route(
        candidate, known[candidate.dex.router or FREE], free=FREE, wrapped=wrapped
    )
    assert isinstance(usual, TradeRoute)
    assert (usual.coin_buy_data, usual.coin_sell_data) == (None, None)
    way = venue_of(candidate.dex).route(candidate, FREE, wrapped=wrapped, permit2=None)
    assert isinstance(way, TradeRoute)
    paid = chain.quote_worth(token, 30)
    staged = await trade_for_coins(chain, node_client, candidate, way, paid_wei=paid)
    trader = chain.fresh_account()
    bought = chain.buy(token, trader, paid)
    sold = chain.sell(token, trader)
    assert staged.arrived == bought.token_after
    assert staged.coins == sold.other_after - sold.other_before


# --- pace ---------------------------------------------------------------------------------------

MOST_BLOCKS = 256

FILLER_STEP_S = 12


class Strict:
    """A real node that refuses simulations as Geth does."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.simulated = 0

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        answers = await self._node.batch(requests)
        return [
            answer
            if request.method != "eth_simulateV1"
            else self._judged(cast("dict[str, Any]", request.params[0]), answer)
            for request, answer in zip(requests, answers, strict=True)
        ]

    def _judged(self, options: dict[str, Any], answer: RpcAnswer) -> RpcAnswer:
        self.simulated += 1
        wanted = [block["blockOverrides"] for block in options["blockStateCalls"]]
        places = [(int(block["number"], 16), int(block["time"], 16)) for block in wanted]
        number, time_s = places[0][0] - 1, places[0][1] - 1
        if places[-1][0] - number > MOST_BLOCKS:
            return RpcFault(code=-38026, message="too many blocks")
        for next_number, next_s in places:
            time_s += FILLER_STEP_S * (next_number - number - 1)
            if next_number <= number or next_s <= time_s:
                return RpcFault(code=-38021, message="block timestamps must be in order")
            number, time_s = next_number, next_s
        return answer


@pytest.mark.parametrize("block_time_s", [0.1, 0.45, 2.0, 12.0, 30.0])
async def test_chains_of_any_pace_are_played_on(
    chain: Chain, context: ChainContext, block_time_s: float
) -> None:
    context = msgspec.structs.replace(
        context, chain=msgspec.structs.replace(context.chain, block_time_s=block_time_s)
    )
    node = Strict(context.node)
    context = msgspec.structs.replace(context, node=node)
    report = await judge(context, chain.world.token("both_tax").address)
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.buy, pool.sell) == ("passed", "passed")
    assert pool.buy_tax == pytest.approx(5)
    assert pool.sell_tax == pytest.approx(9)
    assert "sell_later" in {row.key.split(":")[0] for row in report.evidence}
    assert node.simulated > 3
