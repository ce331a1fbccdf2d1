"""Holders, shares and redemptions of bins of a pool: PancakeSwap Infinity, Liquidity Book."""

from typing import Literal

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from analysis.liquidity.bin_tokens import TRANSFER_BATCH, BinTransfer, decode_transfer
from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.liquidity_inquiry import PoolLiquidity, find_liquidity
from analysis.reads.eth_reads import Log
from analysis.simulation.simulate_v1 import Passed
from assay.demo.layout import BURN
from core.evm.primitives import Address
from tests.harness.chain.contexts import context_with, judge, with_dexes
from tests.harness.chain.transactions import Chain
from tests.harness.node.faults import LogLimitedNode
from tests.harness.venues import bin_pools, further_venues, infinity_bin, liquidity_book
from tests.harness.venues.bin_pools import BinPool
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW

Family = Literal["infinity", "book"]

FAMILIES: tuple[Family, ...] = ("infinity", "book")


def place(chain: Chain, family: Family) -> tuple[BinPool, Address]:
    """Create a pool of bins, and an account with redeemable shares."""
    if family == "infinity":
        pool: BinPool = bin_pools.open_infinity(chain, infinity_bin.place(chain))
    else:
        pool = bin_pools.open_book(liquidity_book.place(chain))
    someone = chain.fresh_account()
    pool.add(chain, someone)
    return pool, someone


async def found(context: ChainContext, pool: BinPool) -> PoolLiquidity:
    market_context = with_dexes(context, (pool.dex,))
    report = await judge(market_context, pool.market.token)
    (one,) = (await find_liquidity(market_context, pool.market.token, report)).pools
    shares = one.ownership
    assert (
        shares.burnt_share
        + shares.locked_share
        + shares.withdrawable_share
        + shares.unknown_share
        + shares.unaccounted_share
    ) == pytest.approx(1)
    return one


def share_of(found: PoolLiquidity, account: Address) -> float:
    return sum(one.share for one in found.ownership.holders if one.holder == account)


def really_redeem(chain: Chain, pool: BinPool, holder: Address) -> tuple[int, int]:
    """Return redeemed tokens and quote coins; undone at the end."""
    snapshot, receiver = chain.node.snapshot(), chain.fresh_account()
    assert pool.redeem(chain, holder, receiver).success
    brought = tuple(
        chain.balance(token, receiver) for token in (pool.market.token, pool.market.quote)
    )
    chain.node.revert(snapshot)
    return brought[0], brought[1]


def part_of_pool(chain: Chain, pool: BinPool, amounts: tuple[int, int]) -> float:
    """Return the worth of amounts as a share of the pool, at its opening price."""
    price = QUOTE_RAW / TOKEN_RAW
    market = pool.market
    balance = [chain.balance(token, market.holder) for token in (market.token, market.quote)]
    return (amounts[0] * price + amounts[1]) / (balance[0] * price + balance[1])


@pytest.mark.parametrize("family", FAMILIES)
async def test_what_a_holder_has_is_what_redeeming_it_brings(
    chain: Chain, context: ChainContext, family: Family
) -> None:
    pool, someone = place(chain, family)
    holders_found = await found(context, pool)
    real = part_of_pool(chain, pool, really_redeem(chain, pool, someone))
    assert 0 < real < 1
    assert share_of(holders_found, someone) == pytest.approx(real, rel=0.01)
    predicted = holders_found.withdrawal
    assert predicted is not None, holders_found.reason
    assert isinstance(predicted.withdrawn.outcome, Passed)
    by = predicted.by.account
    assert by is not None
    brought = predicted.withdrawn.token_raw, predicted.withdrawn.quote_raw
    assert brought == really_redeem(chain, pool, by)
    assert isinstance(predicted.sale_before.outcome, Passed)


@pytest.mark.parametrize("family", FAMILIES)
async def test_burnt_shares_are_gone_and_passed_on_ones_are_their_receivers(
    chain: Chain, context: ChainContext, family: Family
) -> None:
    pool, someone = place(chain, family)
    whole = share_of(await found(context, pool), someone)
    friend = chain.fresh_account()
    assert pool.hand_over(chain, someone, BURN, part=0.25).success
    assert pool.hand_over(chain, someone, friend, part=0.5).success
    holders_found = await found(context, pool)
    assert holders_found.ownership.burnt_share == pytest.approx(whole / 4, rel=1e-6)
    assert share_of(holders_found, friend) == pytest.approx(whole * 3 / 8, rel=1e-6)
    assert share_of(holders_found, someone) == pytest.approx(whole * 3 / 8, rel=1e-6)
    assert {friend, someone} <= {one.account for one in holders_found.ownership.withdrawers}


@pytest.mark.parametrize(("family", "is_named"), [("infinity", False), ("book", True)])
async def test_shares_that_were_passed_on_twice_are_not_said_to_stay(
    chain: Chain, context: ChainContext, family: Family, *, is_named: bool
) -> None:
    """Only the pair names every holder of its shares."""
    pool, someone = place(chain, family)
    before = await found(context, pool)
    whole = share_of(before, someone)
    friend, hidden = chain.fresh_account(), chain.fresh_account()
    assert pool.hand_over(chain, someone, friend).success
    assert pool.hand_over(chain, friend, hidden).success
    holders_found = (await found(context, pool)).ownership
    assert holders_found.burnt_share + holders_found.locked_share == 0
    free = whole if is_named else 0
    missing = 0 if is_named else whole
    expected = before.ownership.withdrawable_share - whole + free
    assert holders_found.withdrawable_share == pytest.approx(expected, rel=1e-6)
    assert holders_found.unaccounted_share == pytest.approx(missing, rel=1e-6)
    assert bool(holders_found.gap) is not is_named


@pytest.mark.parametrize("family", FAMILIES)
async def test_where_the_node_gives_no_logs_nothing_is_said_to_stay(
    chain: Chain, context: ChainContext, family: Family
) -> None:
    pool, someone = place(chain, family)
    assert pool.hand_over(chain, someone, BURN).success
    market_context = with_dexes(context, (pool.dex,))
    market = pool.market
    row, _ = further_venues.follow(chain, market)
    deaf = context_with(market_context, rows=[row], node=LogLimitedNode(market_context.node))
    report = await judge(deaf, market.token)
    (one,) = (await find_liquidity(deaf, market.token, report)).pools
    assert one.ownership.unaccounted_share == 1
    assert one.ownership.gap
    assert one.withdrawal is None


async def test_shares_of_a_contract_of_its_own_are_not_known_to_stay(
    chain: Chain, context: ChainContext
) -> None:
    """Shares that Infinity's manager keeps for a contract other than the position manager."""
    pool, someone = place(chain, "infinity")
    holders_found = (await found(context, pool)).ownership
    (other,) = (one for one in holders_found.holders if one.holder != someone)
    assert (other.kind, other.withdrawable_share) == ("contract", None)
    assert holders_found.unknown_share == pytest.approx(other.share)


# --- bin tokens ---------------------------------------------------------------------------------

SENDER = Address("0x" + "11" * 20)

RECEIVER = Address("0x" + "22" * 20)

WORDS = st.integers(min_value=0, max_value=2**256 - 1)


def log_of(data: bytes) -> Log:
    parties = ("0x" + one[2:].rjust(64, "0") for one in (SENDER, SENDER, RECEIVER))
    return Log(address=SENDER, topics=(TRANSFER_BATCH, *parties), data="0x" + data.hex())


@given(st.lists(st.tuples(WORDS, WORDS), max_size=8))
def test_a_transfer_is_read_as_it_was_written(moved: list[tuple[int, int]]) -> None:
    ids, amounts = [one for one, _ in moved], [one for _, one in moved]
    data = encode(["uint256[]", "uint256[]"], [ids, amounts])
    assert decode_transfer(log_of(data)) == BinTransfer(
        sender=SENDER, receiver=RECEIVER, moved=tuple(moved)
    )


@given(st.lists(st.sampled_from([0, 1, 2, 32, 64, 96, 2**255]) | WORDS, max_size=8), st.binary())
def test_no_data_breaks_the_reading(words: list[int], rest: bytes) -> None:
    data = b"".join(word.to_bytes(32) for word in words) + rest
    transfer = decode_transfer(log_of(data))
    assert transfer is None or len(transfer.moved) * 32 <= len(data)
