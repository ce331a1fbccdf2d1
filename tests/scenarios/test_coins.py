"""Trades for the coin itself, in one transaction.

Simulated ones, through the venue's router or ours, equal real ones of a fresh account.
"""

import pytest

from analysis.market import routers
from analysis.market.venues.trade_route import TradeRoute
from analysis.market.venues.venue_registry import venue_of
from config.facts.chain import Chain as ChainFacts
from core.evm.primitives import Address
from core.rpc.client import RpcClient
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
