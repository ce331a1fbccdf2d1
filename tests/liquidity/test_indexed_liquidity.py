"""Liquidity holders of a followed pool equal those of a full search.

Here the node searches next to no blocks.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.liquidity_inquiry import PoolLiquidity, find_liquidity
from analysis.reads.indexed_facts import NoFactsIndex, PoolEvents
from assay.demo.layout import BURN, FOR_EVER, VenueKey, ZooToken, native_worth, positions_of
from assay.service.store_adapter import ReportStore
from config.facts.chain import Chain as ChainFacts
from config.settings import IndexerSettings
from core.errors import StoreError
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef
from core.rpc.client import RpcClient
from indexer.head.follower import Follower
from sql.engine.store import Store
from tests.harness.chain.contexts import judge, with_dexes
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.hook_positions import hold_on_infinity
from tests.harness.liquidity.locker_scene import (
    bring,
    few_newest,
    give_lp,
    lp_balance,
    newest_position,
    read_words,
    slot_of,
    with_position_manager,
)
from tests.harness.liquidity.v4_positions import deploy_position_manager, mint_position, take_pair
from tests.harness.node.faults import LogLimitedNode
from tests.harness.quotes.quote_traps import place
from tests.harness.store.empty_files import new_store
from tests.harness.venues import bin_pools, infinity_bin, liquidity_book
from tests.harness.venues.bin_pools import BinPool

__all__ = ["few_newest"]

QUIET = 30
"""Blocks between the pool's beginning and later events: more than the node searches."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A token with a pool, by a context that knows its exchange."""

    token: Address
    context: ChainContext
    later: Callable[[], object]
    """Something that changes who holds the liquidity."""


def place_pair(chain: Chain, context: ChainContext, venue: VenueKey) -> Scene:
    token = place(chain, venue=venue)
    strangers = (chain.fresh_account() for _ in range(3))

    def later() -> None:
        give_lp(chain, token, next(strangers), lp_balance(chain, token) // 4)

    give_lp(chain, token, BURN, lp_balance(chain, token) // 3)
    return Scene(token=token.address, context=context, later=later)


def place_v3(chain: Chain, context: ChainContext, venue: VenueKey) -> Scene:
    """The first position is burnt, and larger ones come later."""
    token = place(chain, venue=venue)
    give_position(chain, token, token.owner, BURN)
    return Scene(token=token.address, context=context, later=lambda: bring(chain, token, 9))


def place_algebra(chain: Chain, context: ChainContext, venue: VenueKey) -> Scene:
    token = place(chain, venue=venue)
    owners = passing_on(chain, token.owner)
    return Scene(
        token=token.address,
        context=context,
        later=lambda: give_position(chain, token, *next(owners)),
    )


def passing_on(chain: Chain, owner: Address) -> Iterator[tuple[Address, Address]]:
    """Yield pairs of giver and receiver."""
    while True:
        receiver = chain.fresh_account()
        yield owner, receiver
        owner = receiver


def give_position(chain: Chain, token: ZooToken, owner: Address, receiver: Address) -> None:
    manager = positions_of(chain.world.venues.dex_of(token.pool.venue))
    owned = newest_position(chain, manager, owner)
    signature = "transferFrom(address,address,uint256)"
    assert chain.send(owner, manager, signature, owner, receiver, owned).success


def place_v4(chain: Chain, context: ChainContext, venue: VenueKey) -> Scene:
    token, manager = place(chain, venue=venue), deploy_position_manager(chain)
    owner, pair = token.owner, (token.address, token.pool)
    (pooled,) = read_words(chain, token.pool.address, "extsload(bytes32)", slot_of(token, context))
    worth = native_worth(100_000)
    assert mint_position(chain, manager, owner, pair, pooled // 3, coins_wei=worth).success
    parts = iter((pooled // 8, pooled // 9, pooled // 10))

    def later() -> None:
        data = take_pair((1, next(parts)), (ZERO_ADDRESS, token.address), owner)
        signature = "modifyLiquidities(bytes,uint256)"
        assert chain.send(owner, manager, signature, data, FOR_EVER).success

    known = with_position_manager(context, token.pool, manager)
    return Scene(token=token.address, context=known, later=later)


def place_infinity(chain: Chain, context: ChainContext, _: VenueKey) -> Scene:
    position, dex = hold_on_infinity(chain, "frees")
    known = with_dexes(context, (msgspec.structs.replace(dex, position_manager=position.manager),))
    owners = passing_on(chain, position.holder)

    def later() -> None:
        holder, receiver = next(owners)
        msgspec.structs.replace(position, holder=holder).hand_over(chain, receiver)

    return Scene(token=position.token, context=known, later=later)


def place_bins(chain: Chain, context: ChainContext, venue: str) -> Scene:
    if venue == "book":
        pool: BinPool = bin_pools.open_book(liquidity_book.place(chain))
    else:
        pool = bin_pools.open_infinity(chain, infinity_bin.place(chain))
    pool.add(chain, chain.fresh_account())
    return Scene(
        token=pool.market.token,
        context=with_dexes(context, (pool.dex,)),
        later=lambda: pool.add(chain, chain.fresh_account()),
    )


SCENES = [
    *((place_pair, "v2"), (place_pair, "solid"), (place_v3, "v3"), (place_algebra, "algebra")),
    *((place_v4, "v4"), (place_infinity, "infinity"), (place_bins, "infinity bins")),
    (place_bins, "book"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store")
    yield opened
    opened.close()


async def follow(follower: Follower, client: RpcClient) -> None:
    if not follower.is_loaded:
        await follower.load()
    async for _ in follower.advance(await client.fetch_head_header()):
        pass


def limited(context: ChainContext, store: Store | None, *, most_blocks: int) -> ChainContext:
    """Behind a node that refuses logs of more blocks. `store` None: without an index."""
    index = NoFactsIndex() if store is None else ReportStore(store, context.settings)
    node = LogLimitedNode(context.node, most_blocks=most_blocks)
    return msgspec.structs.replace(context, node=node, index=index)


async def ask(context: ChainContext, token: Address) -> tuple[PoolLiquidity, str | None]:
    report = await judge(context, token)
    (pool,) = (await find_liquidity(context, token, report)).pools
    return pool, report.scan.liquidity_risk


async def is_whole(context: ChainContext, token: Address) -> bool:
    """True if the pool and the holder of all of it are found."""
    found = (await find_liquidity(context, token, await judge(context, token))).pools
    return any(pool.ownership.gap == "" for pool in found)


def shares_of(pool: PoolLiquidity) -> object:
    """Return the shares without the notes on unsearched blocks."""
    return msgspec.structs.replace(pool.ownership, gap="")


@pytest.mark.usefixtures("few_newest")
@pytest.mark.parametrize("is_level", [True, False], ids=["level", "behind"])
@pytest.mark.parametrize(("placed", "venue"), SCENES, ids=[name for _, name in SCENES])
async def test_with_the_index_a_limited_node_is_as_good_as_any(
    chain: Chain,
    context: ChainContext,
    node_client: RpcClient,
    store: Store,
    placed: Callable[[Chain, ChainContext, str], Scene],
    venue: str,
    *,
    is_level: bool,
) -> None:
    """A level index needs single blocks alone.

    Behind, later blocks are searched, and four stored blocks are searched again.
    """
    scene = placed(chain, context, venue)
    chain.mine(QUIET)
    scene.later()
    follower = Follower(scene.context.chain, node_client, store, IndexerSettings())
    await follow(follower, node_client)
    most_blocks = 1
    if not is_level:
        most_blocks = 4 - chain.node.head_number()
        scene.later()
        most_blocks += chain.node.head_number()
    assert most_blocks < QUIET
    whole, risk = await ask(scene.context, scene.token)
    assert whole.ownership.gap == ""
    found, found_risk = await ask(
        limited(scene.context, store, most_blocks=most_blocks), scene.token
    )
    assert shares_of(found) == shares_of(whole)
    assert found.ownership.gap == ""
    assert found_risk == risk
    if venue != "infinity":  # without the events of its ticks too little is surely in the pool
        assert found.withdrawal == whole.withdrawal
    assert not await is_whole(limited(scene.context, None, most_blocks=most_blocks), scene.token)


async def test_what_was_reorganised_away_is_not_told(
    chain: Chain, context: ChainContext, node_client: RpcClient, store: Store
) -> None:
    """The other branch has an event at the very place of one that is gone."""
    scene = place_pair(chain, context, "v2")
    chain.mine(QUIET)
    snapshot, head = chain.node.snapshot(), chain.node.head_number()
    scene.later()
    scene.later()
    follower = Follower(context.chain, node_client, store, IndexerSettings())
    await follow(follower, node_client)
    before, _ = await ask(limited(context, store, most_blocks=1), scene.token)
    chain.node.revert(snapshot)
    scene.later()
    assert chain.node.head_number() == head + 1
    chain.mine(2)
    await follow(follower, node_client)
    found, _ = await ask(limited(context, store, most_blocks=1), scene.token)
    whole, _ = await ask(context, scene.token)
    assert shares_of(found) == shares_of(whole) != shares_of(before)
    assert found.ownership.gap == ""


class BrokenIndex(NoFactsIndex):
    """Index that fails during an analysis."""

    async def pool_events(
        self, chain: ChainFacts, pools: object, pin: BlockRef
    ) -> dict[str, PoolEvents]:
        raise StoreError(path="store", reason="the disk is gone")


async def test_an_index_that_fails_costs_no_answer(chain: Chain, context: ChainContext) -> None:
    token = place(chain).address
    broken = msgspec.structs.replace(context, index=BrokenIndex())
    (found, risk), (whole, usual) = await ask(broken, token), await ask(context, token)
    assert (shares_of(found), risk) == (shares_of(whole), usual)
