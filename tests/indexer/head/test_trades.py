"""Protects stored trades: those of every kind of pool, with the amounts that really moved, and the
price that the last one shows."""

import time
from functools import partial
from pathlib import Path

import msgspec
import pytest

from analysis.external.market_data import MarketData
from analysis.market.native_price import anchor_prices
from analysis.market.token_price import StoredTrades, find_price
from analysis.pipeline.chain_context import ChainContext
from assay.demo.compile import load_artifacts
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings, IndexerSettings, RpcSettings
from core.evm.primitives import Address
from core.rpc.client import RpcClient
from indexer.head.follower import Follower
from indexer.history.backfill import backfill
from sql.chain.trade_tables import list_newest_trades
from sql.engine.store import Store
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.indexer.node_following import following, opened, until_level
from tests.harness.store.store_contents import trades_in
from tests.indexer.head.conftest import LiveChain

pytestmark = pytest.mark.compiler


def stored(store: Store) -> list[tuple[str, float, float]]:
    """Pool and amounts, oldest first."""
    rows = [(key, *amounts) for key, _, _, _, *amounts in trades_in(store)]
    return msgspec.convert(rows, list[tuple[str, float, float]])


def one_token_a_venue(live: LiveChain) -> list[str]:
    keys = {token.pool.venue: token.key for token in reversed(live.world.tokens)}
    return list(keys.values())


async def test_every_kind_of_pool_tells_what_moved(live: LiveChain, tmp_path: Path) -> None:
    chain = Chain(live.node, live.world, load_artifacts())
    expected: list[tuple[str, float, float]] = []
    keys = one_token_a_venue(live)
    assert len(keys) == 8
    with opened(tmp_path / "store.duckdb") as store:
        async with following(live, store, live.node.ws_url) as board:
            for key in keys:
                token = chain.world.token(key)
                trader = chain.fresh_account()
                for moved in (chain.buy(token, trader), chain.sell(token, trader)):
                    if not moved.pool_quote_in and not moved.pool_quote_out:
                        continue  # refused: the trait of that token
                    own = moved.pool_in - moved.pool_out
                    other = moved.pool_quote_in - moved.pool_quote_out
                    sides = (own, other) if token.address < token.pool.quote else (other, own)
                    name = str(token.pool.pool_id or token.pool.address)
                    expected.append((name, float(sides[0]), float(sides[1])))
            await until_level(board, live)
            stored_trades = stored(store)[-len(expected) :]
            assert [row[0] for row in stored_trades] == [row[0] for row in expected]
            for row, real in zip(stored_trades, expected, strict=True):
                assert row[1:] == pytest.approx(real[1:], rel=1e-12)
            assert len({row[0] for row in expected}) == 8
            before = len(stored(store))
            live.node.reorg(1)
            await until_level(board, live)
            assert stored(store)[-1:] != stored_trades[-1:]
            assert len(stored(store)) == before - 1


async def test_trades_of_ranges_are_those_of_blocks_asked_one_by_one(
    live: LiveChain, tmp_path: Path
) -> None:
    live.trade(60)
    client = await RpcClient.connect([live.node.url], live.chain.id, RpcSettings())
    head = live.node.head_number()
    stored_trades = {}
    with opened(tmp_path / "ranges") as store:
        chain = msgspec.structs.replace(live.chain, finality_blocks=0)
        await backfill(chain, client, store, IndexerSettings(), from_block=0, to_block=head)
        stored_trades["ranges"] = trades_in(store)
    with opened(tmp_path / "blocks") as store:
        chain = msgspec.structs.replace(live.chain, finality_blocks=head)
        follower = Follower(chain, client, store, IndexerSettings())
        await follower.load()
        async for _ in follower.advance(await client.fetch_head_header()):
            pass
        stored_trades["blocks"] = trades_in(store)
    assert len(stored_trades["ranges"]) > 50
    assert stored_trades["ranges"] == stored_trades["blocks"]
    await client.aclose()


class Nowhere(MarketData):
    """No aggregator is reached."""

    def __init__(self) -> None:
        pass

    async def token_price(self, chain: object, token: Address) -> float | None:
        return None


@pytest.mark.parametrize("key", ["honest", "v2_usdc", "v4_honest"])
async def test_the_last_trade_prices_the_token(live: LiveChain, tmp_path: Path, key: str) -> None:
    chain = Chain(live.node, live.world, load_artifacts())
    token = chain.world.token(key)
    trader = chain.fresh_account()
    with opened(tmp_path / "store.duckdb") as store:
        async with following(live, store, live.node.ws_url) as board:
            moved = chain.buy(token, trader, chain.quote_worth(token, 300))
            chain.buy(token, trader, 10)  # a few units: no price
            await until_level(board, live)
        client = await RpcClient.connect([live.node.url], live.chain.id, RpcSettings())
        context = ChainContext(
            chain=live.chain,
            node=client,
            index=ReportStore(store, AnalysisSettings()),
            settings=AnalysisSettings(),
            now_s=time.time,
        )
        report = await judge(context, token.address)
        read_trades = partial(list_newest_trades, store)
        trades = StoredTrades(
            read_trades, lambda facts: anchor_prices(facts, context.memory.recall_native_usd())
        )
        traded_at_s = chain.node.head_time() - (chain.node.head_number() - moved.sent.block_number)
        price = await find_price(
            live.chain,
            report,
            market_data=Nowhere(),
            now_s=traded_at_s + 77,
            trades=trades,
        )
        assert price is not None
        assert price.source == "network_token_info"
        assert price.usd == pytest.approx(300 * 10**token.decimals / moved.pool_out, rel=1e-6)
        assert price.age_s == pytest.approx(77, abs=3)
        unpriced = StoredTrades(read_trades, lambda _: {})
        assert await unpriced.last_trade(live.chain, report) is None
        await client.aclose()
