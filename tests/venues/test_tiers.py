"""Pools of unconfigured fees and tick spacings are found through their factory.

It is queried once, in the round of all other calls.
"""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.anvil import ETHER
from assay.demo.layout import FOR_EVER, positions_of
from assay.demo.reads import read_address
from assay.demo.seeding import UNLIMITED
from assay.demo.transaction_pipeline import Pipeline
from config.facts.chain import Dex
from core.evm.primitives import Address
from tests.harness.chain.contexts import judge, with_dexes
from tests.harness.chain.transactions import Chain
from tests.harness.node.counting import CountingNode

NEW_FEE, ITS_SPACING = 2_000, 40
NEW_SPACING = 75
_PRICE = 2**96
_RANGE = 600
"""A multiple of both spacings."""


def enable_and_open(chain: Chain, dex: Dex, token: Address) -> Address:
    """Enable another kind of pool as the factory's owner, and open one."""
    venues, owner, deployer = chain.world.venues, chain.world.owner, chain.world.deployer
    weth, manager = venues.wrapped_native.address, positions_of(dex)
    pipeline = Pipeline(chain.node, chain.artifacts)
    pipeline.call(weth, "deposit()", sender=owner, value_wei=10 * ETHER)
    for asset in (token, weth):
        pipeline.call(asset, "approve(address,uint256)", manager, UNLIMITED, sender=owner)
    first, second = sorted((token, weth))
    if dex.name == "Slipstream":
        pipeline.call(
            *(dex.factory, "enableTickSpacing(int24,uint24)", NEW_SPACING, 700), sender=deployer
        )
    else:
        enable = "enableFeeAmount(uint24,int24)"
        pipeline.call(dex.factory, enable, NEW_FEE, ITS_SPACING, sender=deployer)
    if dex.name == "Uniswap V3":
        pipeline.call(
            manager,
            "createAndInitializePoolIfNecessary(address,address,uint24,uint160)",
            *(first, second, NEW_FEE, _PRICE),
            sender=owner,
        )
        pipeline.call(
            manager,
            "mint((address,address,uint24,int24,int24,"
            "uint256,uint256,uint256,uint256,address,uint256))",
            (*(first, second), NEW_FEE, -_RANGE, _RANGE, ETHER, ETHER, 0, 0, owner, FOR_EVER),
            sender=owner,
        )
    else:
        key = NEW_SPACING if dex.name == "Slipstream" else NEW_FEE
        opening = (first, second, key, _PRICE)
        pipeline.call(manager, "open(address,address,int24,uint160)", *opening, sender=owner)
        filling = (first, second, key, _RANGE, 30 * ETHER)
        pipeline.call(manager, "mint(address,address,int24,int24,uint128)", *filling, sender=owner)
    pipeline.flush()
    if dex.name == "Slipstream":
        getter, key = "getPool(address,address,int24)", NEW_SPACING
    else:
        getter, key = "getPool(address,address,uint24)", NEW_FEE
    return read_address(chain.node, dex.factory, getter, token, weth, key)


@pytest.mark.parametrize("venue", ["v3", "pancake", "slipstream", "events only"])
async def test_a_pool_of_a_kind_enabled_later_is_found(
    chain: Chain, context: ChainContext, venue: str
) -> None:
    venues = chain.world.venues
    dex = {"v3": venues.v3, "pancake": venues.pancake}.get(venue, venues.slipstream)
    token = chain.deploy("HonestToken", "Tier", "TIER")
    pool = enable_and_open(chain, dex, token)
    if venue == "events only":
        context = with_dexes(
            context, (msgspec.structs.replace(dex, kind="AmmV3", variant="ramses_v3"),)
        )
    report = await judge(context, token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.pool == pool
    assert (row.buy, row.buy_tax, row.sell, row.sell_tax) == ("passed", 0, "passed", 0)


async def test_what_factories_say_is_asked_once(chain: Chain, context: ChainContext) -> None:
    venues = chain.world.venues
    token = chain.deploy("HonestToken", "Tier", "TIER")
    pool = enable_and_open(chain, venues.v3, token)
    await judge(context, token)
    counting = CountingNode(context.node)
    settings = msgspec.structs.replace(context.settings, liquidity_holders="never")
    context = msgspec.structs.replace(context, node=counting, settings=settings)
    report = await judge(context, token)
    assert report.pools is not None
    assert [row.pool for row in report.pools] == [pool]
    assert counting.trips == 3
