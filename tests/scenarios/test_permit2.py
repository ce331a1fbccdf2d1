"""Simulated sales through Permit2 and a universal router equal real ones.

A token that sells only there is sold so; one that does not sell there either is not. Permit2 is the
real one.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from eth_abi.abi import encode

from analysis.market import routers
from analysis.market.routers import RouterFacts
from analysis.market.venues.trade_route import TradeRoute
from analysis.pipeline.chain_context import ChainContext
from assay.demo.compile import compile_runtime
from assay.demo.layout import FOR_EVER, ZooToken, router_of
from assay.demo.seeding import UNLIMITED
from assay.demo.zoo_token import Animal
from config.facts.chain import Chain as ChainFacts
from core.evm.primitives import Address
from core.rpc.client import RpcClient
from tests.harness.chain.contexts import judge
from tests.harness.chain.route_simulation import candidate_of, read_routers, trade_for_coins
from tests.harness.chain.transactions import Chain, Sent
from tests.harness.venues.token_matrix import animal_of

pytestmark = pytest.mark.compiler

FOLDER = Path(__file__).parent / "permit2"
FREE = Address("0x" + "f4" * 20)

ONLY_SO = ("Permit2SaleToken", "Permit2AllowedToken")

_SENDER, _ROUTER = Address("0x" + "00" * 19 + "01"), Address("0x" + "00" * 19 + "02")
"""Placeholders of the universal router for its caller and for itself."""


@pytest.fixture
def permit2(chain: Chain, facts: ChainFacts) -> Address:
    """Permit2 and the universal router where the chain's facts have them."""
    assert facts.permit2 is not None
    assert facts.permit2.router is not None
    code = (FOLDER / "Permit2.hex").read_text().strip()
    chain.node.rpc("anvil_setCode", facts.permit2.address, "0x" + code)
    router = compile_runtime(FOLDER / "Router.sol")
    chain.node.rpc("anvil_setCode", facts.permit2.router, "0x" + router)
    venues = chain.world.venues
    opened = chain.send(
        *(chain.world.deployer, facts.permit2.router, "open(address,address)"),
        *(venues.v2.factory, venues.wrapped_native.address),
    )
    assert opened.success
    return facts.permit2.address


def place(chain: Chain, contract: str, kind: str = "v2") -> ZooToken:
    like = animal_of("honest", kind)
    animal = Animal(
        key=contract, trait="", symbol="ODD", contract=contract, extra="pair", venue=like.venue
    )
    return chain.place(animal)


def both_ways(
    facts: ChainFacts, known: Mapping[Address, RouterFacts], token: ZooToken
) -> tuple[TradeRoute, TradeRoute]:
    ways = routers.find_routes(candidate_of(facts, token), known, facts, free=FREE)
    assert isinstance(ways, tuple)
    usual, other = ways
    return usual, other


def real_sale(chain: Chain, facts: ChainFacts, token: ZooToken, trader: Address) -> Sent:
    """All that the trader has, for coins, as a wallet sells it through the universal router."""
    assert facts.permit2 is not None
    assert facts.permit2.router is not None
    permit2, router = facts.permit2.address, facts.permit2.router
    balance = chain.balance(token.address, trader)
    chain.approve(token.address, trader, permit2, UNLIMITED)
    receipt = chain.send(
        *(trader, permit2, "approve(address,address,uint160,uint48)"),
        *(token.address, router, balance, 2**48 - 1),
    )
    assert receipt.success
    path = [token.address, token.pool.quote]
    swap = encode(
        ["address", "uint256", "uint256", "address[]", "bool"], [_ROUTER, balance, 0, path, True]
    )
    unwrap = encode(["address", "uint256"], [_SENDER, 0])
    return chain.send(
        *(trader, router, "execute(bytes,bytes[],uint256)"),
        *(bytes((0x08, 0x0C)), [swap, unwrap], FOR_EVER),
    )


@pytest.mark.usefixtures("permit2")
@pytest.mark.parametrize("contract", [*ONLY_SO, "HonestToken", "Permit2TrapToken"])
async def test_a_sale_through_permit2_is_what_then_happens(
    chain: Chain, facts: ChainFacts, node_client: RpcClient, contract: str
) -> None:
    token = place(chain, contract) if contract != "HonestToken" else chain.world.token("honest")
    known = await read_routers(chain, facts, node_client)
    usual, other = both_ways(facts, known, token)
    assert (usual.router, usual.permit2) == (router_of(chain.world.venues.v2), None)
    assert facts.permit2 is not None
    assert (other.router, other.permit2) == (facts.permit2.router, facts.permit2.address)
    candidate, paid = candidate_of(facts, token), chain.quote_worth(token, 30)

    by_router = await trade_for_coins(chain, node_client, candidate, usual, paid_wei=paid)
    by_permit2 = await trade_for_coins(chain, node_client, candidate, other, paid_wei=paid)

    snapshot = chain.node.snapshot()
    trader = chain.fresh_account()
    assert chain.buy(token, trader, paid).token_after == by_permit2.arrived
    assert chain.sell(token, trader).success is (by_router.coins is not None)
    assert (by_router.coins is not None) is (contract == "HonestToken")
    chain.node.revert(snapshot)
    trader = chain.fresh_account()
    chain.buy(token, trader, paid)
    before = int(str(chain.node.rpc("eth_getBalance", trader, "latest")), 16)
    sold = real_sale(chain, facts, token, trader)
    after = int(str(chain.node.rpc("eth_getBalance", trader, "latest")), 16)
    assert sold.success is (contract != "Permit2TrapToken")
    assert sold.success is (by_permit2.coins is not None)
    if sold.success:
        gained = after - before
        assert by_permit2.coins is not None
        assert 0 <= by_permit2.coins - gained < 10**16  # three transactions' fees


@pytest.mark.usefixtures("permit2")
@pytest.mark.parametrize("kind", ["v3", "pancake", "algebra", "solid", "slipstream"])
async def test_every_family_sells_through_permit2(
    chain: Chain, facts: ChainFacts, node_client: RpcClient, kind: str
) -> None:
    token = place(chain, "Permit2AllowedToken", kind)
    known = await read_routers(chain, facts, node_client)
    _, other = both_ways(facts, known, token)
    paid = chain.quote_worth(token, 30)
    staged = await trade_for_coins(
        chain, node_client, candidate_of(facts, token), other, paid_wei=paid
    )
    trader = chain.fresh_account()
    assert chain.buy(token, trader, paid).token_after == staged.arrived
    assert staged.coins is not None
    assert paid * 98 // 100 < staged.coins < paid


async def test_without_permit2_on_the_chain_there_is_one_way(
    chain: Chain, facts: ChainFacts, node_client: RpcClient
) -> None:
    token = chain.world.token("honest")
    known = await read_routers(chain, facts, node_client)
    ways = routers.find_routes(candidate_of(facts, token), known, facts, free=FREE)
    assert len(ways) == 1
    nowhere = msgspec.structs.replace(facts, permit2=None)
    assert len(routers.find_routes(candidate_of(facts, token), known, nowhere, free=FREE)) == 1


@pytest.mark.usefixtures("permit2")
@pytest.mark.parametrize("kind", ["v2", "v3", "algebra", "slipstream", "v4"])
@pytest.mark.parametrize("contract", [*ONLY_SO, "Permit2TrapToken"])
async def test_what_sells_only_so_is_no_trap(
    chain: Chain, context: ChainContext, kind: str, contract: str
) -> None:
    token = place(chain, contract, kind)
    report = await judge(context, token.address)
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.buy, pool.buy_tax) == ("passed", 0)
    if contract == "Permit2TrapToken":
        assert (pool.sell, pool.error_code) == ("refused", "sell_reverted")
    else:
        assert (pool.sell, pool.sell_tax, pool.error_code) == ("passed", 0, None)


async def test_where_nobody_deployed_permit2_it_sells_nothing(
    chain: Chain, context: ChainContext
) -> None:
    token = place(chain, "Permit2SaleToken")
    report = await judge(context, token.address)
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.buy, pool.sell) == ("passed", "refused")
