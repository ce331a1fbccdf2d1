"""Pools of unconfigured fees and tick spacings are found, whatever factories answer."""

import msgspec
import pytest
from eth_abi.abi import encode

from analysis.market import fee_tiers
from analysis.market.fee_tiers import TierReads, Tiers
from analysis.pipeline.chain_context import ChainContext
from analysis.reads.read_batch import ReadBatch
from assay.demo.anvil import ETHER
from assay.demo.layout import FOR_EVER, positions_of
from assay.demo.reads import read_address
from assay.demo.seeding import UNLIMITED
from assay.demo.transaction_pipeline import Pipeline
from config.facts.chain import Dex
from config.facts.pool_family import DexKind
from core.evm.abi import topic_of
from core.evm.primitives import Address
from core.rpc.messages import RpcFault
from tests.harness.chain.contexts import judge, with_dexes
from tests.harness.chain.transactions import Chain
from tests.harness.node.answers import BLOCK, answer_in_turn
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
    counting = CountingNode(context.node, delay_s=0.1)
    settings = msgspec.structs.replace(context.settings, liquidity_holders="never")
    context = msgspec.structs.replace(context, node=counting, settings=settings)
    report = await judge(context, token)
    assert report.pools is not None
    assert [row.pool for row in report.pools] == [pool]
    assert counting.trips == 3


# --- tier answers -------------------------------------------------------------------------------

FACTORY, OTHER = Address("0x" + "1a" * 20), Address("0x" + "2b" * 20)

BY_FEE = topic_of("FeeAmountEnabled(uint24,int24)")

BY_SPACING = topic_of("TickSpacingEnabled(int24,uint24)")

REFUSED = RpcFault(code=-32005, message="range too long")

NOW_S = 1_000_000


def venue(kind: DexKind = "AmmV3", variant: str | None = None, factory: Address = FACTORY) -> Dex:
    return Dex(name="D", kind=kind, variant=variant, factory=factory, fee_tiers=(500, 3_000))


def event(topic: str, first: int, second: int, *, at: Address = FACTORY) -> dict[str, object]:
    return {"address": at, "topics": [topic, f"0x{first:064x}", f"0x{second:064x}"], "data": "0x"}


def logs(*events: dict[str, object]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(events))


def spacings(*values: int) -> msgspec.Raw:
    return msgspec.Raw(b'"0x' + encode(["int24[]"], [values]).hex().encode() + b'"')


@pytest.mark.parametrize(
    ("dex", "answers", "expected"),
    [
        (venue(), (logs(event(BY_FEE, 2_000, 40)),), (2_000,)),
        (venue(variant="solidly_v3"), (logs(event(BY_FEE, 2_000, 40)),), (40,)),
        (venue(variant="ramses_v3"), (logs(event(BY_SPACING, 40, 2_000)),), (40,)),
        (venue("SolidV3"), (logs(event(BY_SPACING, 40, 9)), spacings(1, 75)), (1, 40, 75)),
        (venue("SolidV3"), (REFUSED, spacings(75)), (75,)),
        (venue("SolidV3"), (logs(), msgspec.Raw(b'"0x"')), ()),
        (venue("SolidV3"), (logs(), msgspec.Raw(b'"0x00ff"')), ()),
        (venue(), (logs(event(BY_FEE, 2_000, 40, at=OTHER)),), ()),
        (venue(), (logs({**event(BY_FEE, 1, 1), "topics": [BY_FEE]}),), ()),
        (venue(), (logs(event(BY_FEE, 0, 40)),), ()),
        (venue(), (REFUSED,), ()),
    ],
)
def test_what_a_factory_says(
    dex: Dex, answers: tuple[msgspec.Raw | RpcFault, ...], expected: tuple[int, ...]
) -> None:
    batch = ReadBatch(BLOCK)
    tiers = TierReads(batch, [dex], to_block=None)
    answer_in_turn(batch, answers)
    assert tiers.read(now_s=NOW_S) == {FACTORY: Tiers(enabled=expected, read_at_s=NOW_S)}


def test_what_is_configured_stays() -> None:
    known = {FACTORY: Tiers(enabled=(2_000, 500), read_at_s=NOW_S)}
    (dex,) = fee_tiers.with_enabled([venue()], known)
    assert dex.fee_tiers == (500, 3_000, 2_000)
    (new,) = fee_tiers.with_new([venue()], [venue()], known)
    assert new.fee_tiers == (2_000,)
    assert fee_tiers.with_new([venue()], [dex], known) == ()


def test_factories_are_asked_once_a_day_unless_the_index_knows_their_pools() -> None:
    known = {FACTORY: Tiers(enabled=(), read_at_s=NOW_S)}
    dexes = (venue(), venue(factory=OTHER), venue("AmmV2"), venue(variant="algebra"))
    none: frozenset[Address] = frozenset()
    assert fee_tiers.unread(dexes, {}, covered=none, now_s=NOW_S) == dexes[:2]
    assert fee_tiers.unread(dexes, known, covered=none, now_s=NOW_S + 86_399) == dexes[1:2]
    assert fee_tiers.unread(dexes, known, covered=none, now_s=NOW_S + 86_400) == dexes[:2]
    assert fee_tiers.unread(dexes, {}, covered=frozenset({OTHER}), now_s=NOW_S) == dexes[:1]
