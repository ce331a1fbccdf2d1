"""Protects the track record of a report: history from the index, liquidity from the chain."""

from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import BURN
from assay.service.store_adapter import TradeHistory
from core.evm.primitives import Address
from core.report.track_record import DAY_S, TrackRecord
from sql.engine.store import Store
from sql.engine.table_rows import CreatorRow
from sql.tokens.creator_tables import write_creator
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.locker_scene import give_lp, lp_balance
from tests.harness.store.empty_files import new_store
from tests.harness.store.traded_history import write_history
from tests.harness.watches.watched_scene import place

LEAST_USD = 1_000.0
"""Below what the pool of the demo's token holds."""


def knowing(
    context: ChainContext, store: Store, *, block_time_s: float | None = None
) -> ChainContext:
    """A context with a store's history. `block_time_s`: makes pools of the demo old."""
    settings = msgspec.structs.replace(context.settings, established_liquidity_usd=LEAST_USD)
    chain = context.chain
    if block_time_s is not None:
        chain = msgspec.structs.replace(chain, block_time_s=block_time_s)
    return msgspec.structs.replace(
        context, index=TradeHistory(store, settings), settings=settings, chain=chain
    )


def burn_liquidity(chain: Chain) -> Address:
    """A token whose liquidity nobody holds."""
    token = place(chain)
    give_lp(chain, token, BURN, lp_balance(chain, token))
    return token.address


async def test_burnt_liquidity_and_a_history_make_an_established_token(
    chain: Chain, context: ChainContext, tmp_path: Path
) -> None:
    address = burn_liquidity(chain)
    store = new_store(tmp_path / "store")
    write_history(store, chain_id=context.chain.id, token=address, until_s=chain.node.head_time())
    report = await judge(knowing(context, store), address)
    store.close()
    found = report.track_record
    assert found is not None
    (row,) = (row for row in report.evidence if row.key == "track_record")
    assert msgspec.json.decode(row.body, type=TrackRecord) == found
    assert found.liquidity_usd is not None
    assert found.liquidity_usd > LEAST_USD
    assert (found.spread_sellers, found.whole.sales) == (1_000, 1_000)
    assert found.age_s is not None
    assert found.age_s >= 200 * DAY_S
    assert found.is_established


@pytest.mark.parametrize("is_old", [False, True], ids=["young pool", "old pool"])
async def test_liquidity_that_the_owner_can_take_makes_none(
    chain: Chain, context: ChainContext, tmp_path: Path, *, is_old: bool
) -> None:
    """Holders of old pools are read too, although the deployment reads those of young ones only."""
    token = place(chain)
    if is_old:
        chain.mine(40)
    store = new_store(tmp_path / "store")
    write_history(
        store, chain_id=context.chain.id, token=token.address, until_s=chain.node.head_time()
    )
    block_time_s = 86_400.0 if is_old else None
    report = await judge(knowing(context, store, block_time_s=block_time_s), token.address)
    store.close()
    assert report.track_record is not None
    assert report.track_record.liquidity_usd == pytest.approx(0, abs=1e-6)
    assert not report.track_record.is_established
    assert report.scan.liquidity_risk == ("unknown_old" if is_old else "withdrawable")


async def test_a_crowd_of_one_day_makes_none(
    chain: Chain, context: ChainContext, tmp_path: Path
) -> None:
    address = burn_liquidity(chain)
    store = new_store(tmp_path / "store")
    write_history(
        store,
        chain_id=context.chain.id,
        token=address,
        until_s=chain.node.head_time(),
        per_day=1_000,
    )
    found = (await judge(knowing(context, store), address)).track_record
    store.close()
    assert found is not None
    assert (found.whole.sales, found.whole.sellers, found.spread_sellers) == (1_000, 50, 20)
    assert not found.is_established


async def test_a_history_from_the_middle_takes_its_age_from_the_creation(
    chain: Chain, context: ChainContext, tmp_path: Path
) -> None:
    """Trades are indexed for 60 days, and the block of the creation has the time."""
    address = burn_liquidity(chain)
    chain.node.increase_time(190 * DAY_S)
    store = new_store(tmp_path / "store")
    write_history(
        store,
        chain_id=context.chain.id,
        token=address,
        until_s=chain.node.head_time(),
        age_s=60 * DAY_S,
    )
    young = (await judge(knowing(context, store), address)).track_record
    assert young is not None
    assert not young.is_established
    write_creator(
        store,
        CreatorRow(
            chain_id=context.chain.id, token=address, creator=None, block_number=1, tx_hash=None
        ),
    )
    found = (await judge(knowing(context, store), address)).track_record
    store.close()
    assert found is not None
    assert (found.first_seen_block, found.history_from_block) == (1, 1)
    assert found.age_s is not None
    assert found.age_s > 189 * DAY_S
    assert found.is_established


async def test_without_history_there_is_no_record(
    chain: Chain, context: ChainContext, tmp_path: Path
) -> None:
    address = chain.world.token("honest").address
    report = await judge(context, address)
    assert report.track_record is None
    assert "track_record" not in {row.key for row in report.evidence}
    store = new_store(tmp_path / "store")
    assert (await judge(knowing(context, store), address)).track_record is None
    store.close()
