"""Protects the demo's world: real exchanges, funded pools, market data, an accepted overlay."""

import time
from pathlib import Path

import pytest

from assay.demo.anvil import AnvilNode, NodeRefusedError
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import NATIVE_USD, Pool, World
from assay.demo.outside_services import fetch_listed, listed_tokens
from assay.demo.reads import balance_of, read, read_address
from assay.demo.seeding import lookup
from assay.demo.world import build_world
from assay.demo.zoo import ZOO
from config.facts.load_chains import load_chains
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.pool_values import quote_by_ticks, usd_of

BUILD_S = 20.0

USDT_DIGITS = 10**6


def pool_of_factory(chain: Chain, token: Address, pool: Pool) -> Address:
    """Return the pool of the venue's factory, with the tokens in the other order."""
    dex = next(dex for dex in chain.world.venues.dexes if dex.name == pool.dex)
    signature, (first, second, *key) = lookup(pool, token)
    return read_address(chain.node, dex.factory, signature, second, first, *key)


@pytest.mark.process
def test_it_is_built_the_same_on_every_empty_node_and_quickly(demo_world: World) -> None:
    with AnvilNode() as other:
        started_s = time.monotonic()
        assert build_world(other) == demo_world
        assert time.monotonic() - started_s < BUILD_S
        assert abs(other.head_time() - time.time()) < BUILD_S


@pytest.mark.process
def test_the_service_accepts_the_overlay_and_sees_this_world(
    demo_world: World, tmp_path: Path
) -> None:
    write_overlay(demo_world, tmp_path)
    (ethereum,) = [chain for chain in load_chains(tmp_path) if chain.slug == "ethereum"]
    venues = demo_world.venues
    assert ethereum.id == 1
    assert ethereum.anchors == (venues.wrapped_native, *venues.stables)
    assert ethereum.oracle == venues.oracle
    assert ethereum.dexes == venues.dexes
    assert ethereum.launchpads == demo_world.launchpads
    assert ethereum.start_block == 0


@pytest.mark.process
def test_every_pool_is_the_factorys_and_holds_thousands_of_dollars(chain: Chain) -> None:
    venues = chain.world.venues
    usd_per_unit = {venues.wrapped_native.address: NATIVE_USD / 10**18} | {
        stable.address: 10.0**-stable.decimals for stable in venues.stables
    }
    for token in chain.world.tokens:
        if token.pool.kind == "AmmV4":
            continue
        assert pool_of_factory(chain, token.address, token.pool) == token.pool.address, token.key
        balance = chain.balance(token.pool.quote, token.pool.address)
        usd = balance * usd_per_unit[token.pool.quote]
        expected = 45 if token.key == "thin" else 15_000
        assert usd == pytest.approx(expected, rel=1e-3), token.key
        assert chain.balance(token.address, token.pool.address) > 0, token.key


@pytest.mark.process
def test_v4_pools_have_ids_of_their_own_in_the_one_manager(chain: Chain) -> None:
    pools = [token.pool for token in chain.world.tokens if token.pool.kind == "AmmV4"]
    assert {pool.address for pool in pools} == {chain.world.venues.v4.factory}
    assert len({pool.pool_id for pool in pools}) == len(pools)
    after_swap_with_delta, before_swap_with_delta = (1 << 6) | (1 << 2), (1 << 7) | (1 << 3)
    assert {
        int(pool.hooks, 16) & ((1 << 14) - 1) for pool in pools if pool.hooks != ZERO_ADDRESS
    } == {after_swap_with_delta, before_swap_with_delta, 1 << 7}


@pytest.mark.process
def test_tokens_that_know_their_pair_know_the_right_one(chain: Chain) -> None:
    knowing = 0
    for token in chain.world.tokens:
        try:
            pair = read_address(chain.node, token.address, "pair()")
        except NodeRefusedError:
            continue
        assert pair == token.pool.address
        knowing += 1
    assert knowing == sum(animal.extra == "pair" for animal in ZOO)


@pytest.mark.process
def test_the_owner_is_never_the_one_who_trades(demo_world: World) -> None:
    insiders = {demo_world.owner, demo_world.deployer, demo_world.launcher}
    assert not insiders & set(demo_world.traders)
    assert not insiders & {holder for token in demo_world.tokens for holder in token.holders}


@pytest.mark.process
def test_the_feed_is_fresh_until_it_is_made_stale(chain: Chain) -> None:
    def latest() -> tuple[object, ...]:
        types = "(uint80,int256,uint256,uint256,uint80)"
        return read(chain.node, feed, "latestRoundData()", returns=types)

    feed = chain.world.venues.oracle.native_usd
    chain.node.increase_time(10_000)
    _, price, _, updated_at, _ = latest()
    assert price == NATIVE_USD * 10**chain.world.venues.oracle.decimals
    assert abs(int(str(updated_at)) - chain.node.head_time()) <= 1
    assert not chain.send(chain.world.owner, feed, "set(int256,uint256)", 5, 77).success
    assert chain.send(chain.world.deployer, feed, "set(int256,uint256)", 5, 77).success
    assert latest()[1::2] == (5, 77)


@pytest.mark.process
def test_the_second_stable_answers_nothing_and_the_first_true(chain: Chain) -> None:
    dollar, tether = (stable.address for stable in chain.world.venues.stables)
    trader = chain.world.traders[0]

    def answer(token: Address) -> object:
        data = call_data("transfer(address,uint256)", chain.world.owner, USDT_DIGITS)
        return chain.node.rpc("eth_call", {"from": trader, "to": token, "data": data}, "latest")

    assert int(str(answer(dollar)), 16) == 1
    assert answer(tether) == "0x"
    assert chain.approve(tether, trader, chain.world.owner, 5).success
    assert not chain.approve(tether, trader, chain.world.owner, 6).success


# --- demo market data ---------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["honest", "v4_honest", "v4_usdc"])
def test_what_is_listed_is_what_the_pool_holds(chain: Chain, key: str) -> None:
    token = chain.world.token(key)
    assert token in listed_tokens(chain.world)
    before = fetch_listed(chain.node, chain.world, token)
    moved = chain.buy(token, chain.fresh_account(), chain.quote_worth(token, 3_000))
    assert moved.success
    after = fetch_listed(chain.node, chain.world, token)
    pool_depth_usd = (
        quote_by_ticks(chain, token, (-887_220, 887_220))
        if key != "honest"
        else balance_of(chain.node, token.pool.quote, token.pool.address)
    )
    assert after.quote_usd == pytest.approx(
        usd_of(chain, token.pool.quote, pool_depth_usd), rel=1e-6
    )
    sold = before.whole_tokens - after.whole_tokens
    assert sold == pytest.approx(moved.pool_out / 10**token.decimals, rel=1e-3)
    assert after.usd > before.usd * 1.2
