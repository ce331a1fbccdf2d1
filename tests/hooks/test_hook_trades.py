"""Reported costs of trades through hooks equal real ones of the same size, side and time."""

import pytest
from eth_abi.abi import decode

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.hook_inquiry import find_hooks
from analysis.quotes.hook_trades import MeasuredTrades
from analysis.scenarios.trade.sized_trades import SizedTrade
from analysis.simulation.simulate_v1 import NotSimulated, Passed, Refused
from assay.demo.layout import ZooToken
from core.evm.abi import topic_of
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain, Moved
from tests.harness.venues.range_pools import LAUNCH, Position, place
from tests.harness.venues.taxing_hooks import (
    BEFORE_SWAP,
    mine_before,
    place_fee_set,
    place_taxed,
    stand,
)

_DAY_S = 86_400
_SWAP = topic_of("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)")


async def measured(
    context: ChainContext, token: Address, *, traces: bool = False
) -> MeasuredTrades:
    """Measure trades. `traces`: as the node has them; else as a node without."""
    if not traces:
        context.capabilities.traces.note_refusal()
    (pool,) = (await find_hooks(context, token)).pools
    assert pool.measured.reason == ""
    return pool.measured


def taxes(found: MeasuredTrades, side: str, wait_s: int = 0) -> list[float | None]:
    """Return the taxes by size, ascending."""
    return [
        trade.outcome.tax if isinstance(trade.outcome, Passed) else None
        for trade in found.trades
        if (trade.side, trade.wait_s) == (side, wait_s)
    ]


def really(
    chain: Chain,
    token: ZooToken,
    trade: SizedTrade,
    found: MeasuredTrades,
    *,
    hook: str = "",
) -> Moved:
    """Send a trade of that size in the simulated block; return the amounts moved.

    `hook`: its contract; empty: one that counts no blocks.
    """
    assert trade.block is not None
    snapshot = chain.node.snapshot()
    trader, start = chain.fresh_account(), chain.node.head_time()
    paid = next(
        each.amount_raw
        for each in found.trades
        if (each.side, each.size_usd) == ("buy", trade.size_usd)
    )
    if trade.side == "sell":
        assert chain.buy(token, trader, paid).success
    if trade.wait_s:
        chain.node.set_time(start + trade.wait_s)
    mine_before(chain, trade.block.number, hook=hook)
    is_sale = trade.side == "sell"
    moved = chain.sell(token, trader) if is_sale else chain.buy(token, trader, paid)
    chain.node.revert(snapshot)
    return moved


def lost_share(moved: Moved, *, is_buy: bool) -> float:
    assert moved.success
    token, quote = moved.token_after - moved.token_before, moved.other_after - moved.other_before
    if is_buy:
        kept = token / moved.pool_out * moved.pool_quote_in / -quote
    else:
        kept = quote / moved.pool_quote_out * moved.pool_in / -token
    return 100 * (1 - kept)


def kept_share(moved: Moved) -> float:
    """Percentage of the input that did not move the price, by the pool's event.

    The fee, whatever the event states of it. In one range of liquidity.
    """
    (swap,) = (log for log in moved.sent.logs if log.topics[0] == _SWAP)
    types = ("int128", "int128", "uint160", "uint128", "int24", "uint24")
    decoded = decode(types, bytes.fromhex(swap.data[2:]))
    amount0, amount1, root, liquidity = (float(value) for value in decoded[:4])
    after = root / 2**96
    before = (
        after + amount1 / liquidity if amount0 < 0 else after / (1 + after * amount0 / liquidity)
    )
    if amount0 < 0:
        return 100 * (1 - liquidity * (1 / after - 1 / before) / -amount0)
    return 100 * (1 - liquidity * (after - before) / -amount1)


TAKEN = [
    ("SizeHook", [1, 1, 30], [1, 1, 30], ([1, 1, 30], [1, 1, 30]), (True, None, False)),
    ("LaterHook", [0, 0, 0], [0, 0, 0], ([40] * 3, [40] * 3), (False, True, False)),
    # The honest double: the same of everybody.
    ("EvenHook", [2, 2, 2], [2, 2, 2], ([2] * 3, [2] * 3), (False, None, False)),
]
MORE_TAKEN = [
    ("SellHook", [0, 0, 0], [25] * 3, ([0] * 3, [25] * 3), (False, None, True)),
    ("BlocksHook", [0, 0, 0], [0, 0, 0], ([35] * 3, [35] * 3), (False, True, False)),
    ("NewcomerHook", [20] * 3, [0, 0, 0], ([20] * 3, [0] * 3), (False, None, True)),
    # A day later is some 240 blocks later here: nothing is claimed about variation.
    ("FarBlocksHook", [0, 0, 0], [0, 0, 0], ([0] * 3, [0] * 3), (False, None, False)),
]


@pytest.mark.parametrize(
    ("contract", "buys", "sales", "later", "varies"),
    [*TAKEN, *(pytest.param(*one, marks=pytest.mark.exhaustive) for one in MORE_TAKEN)],
)
async def test_what_a_hook_takes_is_told_by_size_side_and_time(
    chain: Chain,
    context: ChainContext,
    contract: str,
    buys: list[float],
    sales: list[float],
    later: tuple[list[float], list[float]],
    varies: tuple[bool, bool | None, bool],
) -> None:
    token = place_taxed(chain, contract)
    found = await measured(context, token.address)
    assert taxes(found, "buy") == pytest.approx(buys, abs=0.01)
    assert taxes(found, "sell") == pytest.approx(sales, abs=0.01)
    for wait_s in (3_600, _DAY_S):
        assert taxes(found, "buy", wait_s) == pytest.approx(later[0], abs=0.01)
        assert taxes(found, "sell", wait_s) == pytest.approx(later[1], abs=0.01)
    assert (found.varies_by_size, found.varies_by_time, found.varies_by_side) == varies
    assert len(found.trades) == 18
    for trade in found.trades:
        assert isinstance(trade.outcome, Passed)
        moved = really(chain, token, trade, found, hook=contract)
        real = lost_share(moved, is_buy=trade.side == "buy")
        assert trade.outcome.tax == pytest.approx(real, abs=0.01), trade


@pytest.mark.parametrize(
    ("contract", "day", "varies"),
    [
        ("FarBlocksHook", [35] * 3, True),
        # The honest doubles, of which nothing was denied before.
        ("EvenHook", [2] * 3, False),
        ("SizeHook", [1, 1, 30], False),
    ],
)
async def test_where_the_node_traces_calls_all_blocks_of_a_day_are_waited_for(
    chain: Chain, context: ChainContext, contract: str, day: list[float], *, varies: bool
) -> None:
    token = place_taxed(chain, contract)
    found = await measured(context, token.address, traces=True)
    assert {trade.block.left_out for trade in found.trades if trade.block} == {0}
    assert taxes(found, "buy", _DAY_S) == pytest.approx(day, abs=0.01)
    assert taxes(found, "sell", _DAY_S) == pytest.approx(day, abs=0.01)
    assert found.varies_by_time is varies
    for trade in (found.trades[2], found.trades[-1]):
        assert trade.wait_s == _DAY_S
        moved = really(chain, token, trade, found, hook=contract)
        real = lost_share(moved, is_buy=trade.side == "buy")
        assert isinstance(trade.outcome, Passed)
        assert trade.outcome.tax == pytest.approx(real, abs=0.01), trade


async def test_a_fee_of_the_pool_is_told_beside_the_tax(
    chain: Chain, context: ChainContext
) -> None:
    token = place_fee_set(chain, "SizedFeeHook")
    found = await measured(context, token.address)
    fees = [trade.pool_fee_pct for trade in found.trades if not trade.wait_s]
    assert fees == [1, 1, 30, 1, 1, 1]
    assert taxes(found, "buy") == taxes(found, "sell") == [0, 0, 0]
    assert (found.varies_by_size, found.varies_by_side) == (True, True)
    assert found.varies_by_time is None, "a day of blocks was not played"
    for trade in found.trades:
        if not trade.wait_s:
            real = kept_share(really(chain, token, trade, found))
            assert trade.pool_fee_pct == pytest.approx(real, abs=0.01), trade


async def test_a_constant_dynamic_fee_varies_by_nothing(
    chain: Chain, context: ChainContext
) -> None:
    """The demo's own hook: 5 percent of the pool's fee, which no tax includes."""
    token = chain.world.token("v4_dynamic_fee")
    found = await measured(context, token.address)
    known = [trade for trade in found.trades if isinstance(trade.outcome, Passed)]
    assert {trade.pool_fee_pct for trade in known} == {5.0}
    assert {trade.outcome.tax for trade in known if isinstance(trade.outcome, Passed)} == {0.0}
    assert not any((found.varies_by_size, found.varies_by_time, found.varies_by_side))
    for trade in known:
        if not trade.wait_s:
            assert kept_share(really(chain, token, trade, found)) == pytest.approx(5, abs=0.01)


async def test_a_refusal_is_told_and_no_unknown_is_a_pass(
    chain: Chain, context: ChainContext
) -> None:
    hook = stand(chain, "StoppableHook", permissions=BEFORE_SWAP)
    token = place(chain, "v4", "HonestToken", (Position(lower=-100, upper=100),), hooks=hook)
    assert chain.send(chain.world.owner, hook, "stop(bool)", True).success
    found = await measured(context, token.address)
    assert {type(each.outcome) for each in found.trades if each.side == "buy"} == {Refused}
    sales = [each.outcome for each in found.trades if each.side == "sell"]
    assert {type(each) for each in sales} == {NotSimulated}
    assert not chain.buy(token, chain.fresh_account()).success
    assert found.varies_by_size is None


async def test_a_size_beyond_the_pool_is_not_run(chain: Chain, context: ChainContext) -> None:
    hook = stand(chain, "OpenHook", permissions=BEFORE_SWAP)
    thin = Position(lower=0, upper=100, liquidity=LAUNCH.liquidity // 100)
    token = place(chain, "v4", "HonestToken", (thin,), hooks=hook)
    found = await measured(context, token.address)
    largest = [each for each in found.trades if each.size_usd == 10_000]
    assert {type(each.outcome) for each in largest} == {NotSimulated}
    assert {each.amount_raw for each in largest} == {None}
    assert found.varies_by_size is None
