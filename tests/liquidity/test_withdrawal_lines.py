"""Protects the withdrawals of the feed: real ones of every family, with the amounts that arrive.

A position without liquidity that only collects is none, and neither is an event of a contract that
is no pool. One that takes most of a pool is a cliff, unless all of it comes back at once. A reorg
takes lines back.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.compile import compile_sources
from assay.demo.layout import FOR_EVER, VenueKey, ZooToken, native_worth, positions_of
from config.settings import IndexerSettings
from core.evm.primitives import ZERO_ADDRESS, Address, HexBytes
from core.rpc.client import RpcClient
from indexer.head.follower import Follower
from sql.chain.cliff_tables import find_newest_cliff
from sql.chain.feed_tables import StoredFeedLine, find_newest_line, list_lines
from sql.engine.store import Store
from tests.harness.chain.transactions import Chain, Sent
from tests.harness.liquidity.locker_scene import (
    give_lp,
    lp_balance,
    newest_position,
    read_words,
    slot_of,
)
from tests.harness.liquidity.v4_positions import deploy_position_manager, mint_position, take_pair
from tests.harness.quotes.quote_traps import place
from tests.harness.store.empty_files import new_store

FORGER = """
// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Forger {
    event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to);
    function forge() external { emit Burn(msg.sender, 1e24, 1e18, msg.sender); }
}
"""

LAST = 2**62

Withdraw = Callable[[Chain, ZooToken, ChainContext, int], Sent]
"""Withdraws a percentage of all liquidity."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "store")
    yield opened
    opened.close()


def from_pair(chain: Chain, token: ZooToken, _: ChainContext, pct: int) -> Sent:
    return burn(chain, token, pct, to=token.owner)


def burn(chain: Chain, token: ZooToken, pct: int, *, to: Address) -> Sent:
    give_lp(chain, token, token.pool.address, lp_balance(chain, token) * pct // 100)
    return chain.send(token.owner, token.pool.address, "burn(address)", to)


def from_position(chain: Chain, token: ZooToken, _: ChainContext, pct: int) -> Sent:
    """Decrease a position and collect, which calls the pool's burn with nothing."""
    manager = positions_of(chain.world.venues.dex_of(token.pool.venue))
    owned = newest_position(chain, manager, token.owner)
    liquidity = read_words(chain, manager, "positions(uint256)", owned)[7]
    signature = "decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))"
    sent = chain.send(
        token.owner, manager, signature, (owned, liquidity * pct // 100, 0, 0, FOR_EVER)
    )
    collect, most = "collect((uint256,address,uint128,uint128))", 2**128 - 1
    assert chain.send(token.owner, manager, collect, (owned, token.owner, most, most)).success
    return sent


def from_entry(chain: Chain, token: ZooToken, context: ChainContext, _: int) -> Sent:
    """Add a position to a pool of V4, which is no withdrawal, and decrease it."""
    manager, owner = deploy_position_manager(chain), token.owner
    (pooled,) = read_words(chain, token.pool.address, "extsload(bytes32)", slot_of(token, context))
    worth, pair = native_worth(100_000), (token.address, token.pool)
    assert mint_position(chain, manager, owner, pair, pooled // 3, coins_wei=worth).success
    data = take_pair((1, pooled // 8), (ZERO_ADDRESS, token.address), owner)
    return chain.send(owner, manager, "modifyLiquidities(bytes,uint256)", data, FOR_EVER)


VENUES: dict[VenueKey, Withdraw] = {
    "v2": from_pair,
    "solid": from_pair,
    "v3": from_position,
    "algebra": from_position,
    "v4": from_entry,
}


async def follow(follower: Follower, client: RpcClient) -> None:
    if not follower.is_loaded:
        await follower.load()
    async for _ in follower.advance(await client.fetch_head_header()):
        pass


def lines(store: Store, context: ChainContext, *, after: int) -> list[StoredFeedLine]:
    return list_lines(store, chain_id=context.chain.id, after=after, at_most=1_000)


def withdraw_most(
    chain: Chain, token: ZooToken, context: ChainContext, withdraw: Withdraw
) -> dict[str, Sent]:
    """Withdraw 90 %; in a pair at first 80 %, which are paid in again at once."""
    sent = {}
    if withdraw is from_pair:
        sent["back"] = burn(chain, token, 80, to=token.pool.address)
    sent["most"] = withdraw(chain, token, context, 90)
    assert all(one.success for one in sent.values())
    return sent


def check_cliff(
    store: Store, token: ZooToken, sent: dict[str, Sent], found: list[StoredFeedLine]
) -> None:
    parts = {line.tx_hash: line.decode_detail().withdrawal for line in found}
    left = {tx_hash: None if part is None else part.left_pct for tx_hash, part in parts.items()}
    wanted = {"back": 0, "most": pytest.approx(90, abs=0.1)}
    assert left == {one.hash: wanted[name] for name, one in sent.items()}
    cliff, most = (
        find_newest_cliff(store, chain_id=1, token=token.address, up_to=LAST),
        sent["most"],
    )
    assert cliff is not None
    assert (cliff.tx_hash, cliff.block_number) == (most.hash, most.block_number)
    assert cliff.pool == HexBytes(token.pool.address)
    assert cliff.left_pct == left[most.hash]


@pytest.mark.parametrize("venue", VENUES)
async def test_what_leaves_a_pool_is_a_line_with_its_amounts(
    chain: Chain, context: ChainContext, node_client: RpcClient, store: Store, venue: VenueKey
) -> None:
    follower = Follower(context.chain, node_client, store, IndexerSettings())
    chain.mine()
    await follow(follower, node_client)
    begun = find_newest_line(store, chain_id=context.chain.id)  # behind the tokens of the world
    wrapped = chain.world.venues.wrapped_native.address
    token = place(chain, venue=venue)
    before = chain.balance(token.address, token.owner), chain.balance(wrapped, token.owner)
    snapshot, head = chain.node.snapshot(), chain.node.head_number()
    sent = VENUES[venue](chain, token, context, 33)
    assert sent.success
    chain.artifacts = chain.artifacts | compile_sources({"Forger.sol": FORGER})
    assert chain.send(token.owner, chain.deploy("Forger"), "forge()").success
    await follow(follower, node_client)

    launch, line = lines(store, context, after=begun)
    launched, withdrawn = launch.decode_detail().launch, line.decode_detail().withdrawal
    assert (launch.kind, launch.token, line.token) == ("launch", token.address, token.address)
    assert launched is not None
    assert withdrawn is not None
    assert launched.pool == withdrawn.pool
    assert (line.tx_hash, line.block_number) == (sent.hash, sent.block_number)
    amounts = {
        withdrawn.token0: withdrawn.amount0_raw,
        withdrawn.token1: withdrawn.amount1_raw,
    }
    if venue == "v4":
        assert set(amounts.values()) == {None}  # the event has none
    else:
        after = chain.balance(token.address, token.owner), chain.balance(wrapped, token.owner)
        assert amounts[token.address] == after[0] - before[0] > 0
        assert amounts[wrapped] == after[1] - before[1] > 0

    is_known = venue != "v4"  # the manager of V4 holds all pools
    assert withdrawn.left_pct == (pytest.approx(33, abs=0.1) if is_known else None)
    assert find_newest_cliff(store, chain_id=1, token=token.address, up_to=LAST) is None
    if is_known:
        most = withdraw_most(chain, token, context, VENUES[venue])
        await follow(follower, node_client)
        check_cliff(store, token, most, lines(store, context, after=line.sequence))

    chain.node.revert(snapshot)
    assert chain.node.head_number() == head
    chain.mine(20)
    await follow(follower, node_client)
    reorgs = [one for one in lines(store, context, after=line.sequence) if one.kind == "reorg"]
    assert find_newest_cliff(store, chain_id=1, token=token.address, up_to=LAST) is None
    reorg = reorgs[-1]
    assert reorg.block_number is not None
    assert launch.block_number is not None
    assert launch.block_number < reorg.block_number <= sent.block_number
