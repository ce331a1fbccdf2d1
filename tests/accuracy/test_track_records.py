"""Protects the index of real trades: their traders, their failures, and what a reorg undoes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.layout import ZooToken
from config.facts.chain import Chain as ChainFacts
from core.report.track_record import IndexedRecord
from sql.chain.finalization import finalize_rows
from sql.reports.indexed_record import read_indexed_record
from tests.harness.chain.transactions import Chain
from tests.harness.watches.watched_scene import SLUG, Scene, place, watching


@pytest.fixture
def token(chain: Chain) -> ZooToken:
    return place(chain)


@pytest.fixture
async def scene(
    chain: Chain, token: ZooToken, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> AsyncIterator[Scene]:
    """A followed chain with a token that nobody watches, and no report."""
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.level()
        yield scene


def record(scene: Scene, token: ZooToken) -> IndexedRecord:
    with scene.store.snapshot() as reader:
        found = read_indexed_record(
            reader, chain_id=scene.chain_id, token=token.address, block=scene.tip(), per_day=20
        )
    assert found is not None
    return found


async def test_traders_are_counted_and_a_reorg_takes_them_back(
    scene: Scene, chain: Chain, token: ZooToken
) -> None:
    one, other, _ = token.holders
    buyer = chain.fresh_account()
    for seller in (one, one, other):
        assert chain.sell(token, seller, 10 * ETHER).success
    assert chain.buy(token, buyer).success
    assert chain.transfer(token.address, other, one, ETHER).success  # no trade
    assert not chain.sell(token, chain.fresh_account(), ETHER).success
    await scene.level()
    last = record(scene, token).last_day
    assert (last.sellers, last.sales, last.buyers) == (2, 3, 1)
    assert (last.sales_failed, last.sales_taxed_otherwise) == (None, None)  # nobody watches
    assert record(scene, token).whole.sales is None  # none is final

    assert chain.sell(token, token.holders[2], ETHER).success
    await scene.level()
    assert record(scene, token).last_day.sellers == 3
    chain.reorg(1)
    await scene.level()
    assert record(scene, token).last_day.sellers == 2

    while finalize_rows(scene.store, chain_id=scene.chain_id, final=scene.tip().number):
        pass
    found = record(scene, token)
    assert (found.whole.sellers, found.whole.sales, found.whole.buyers) == (2, 3, 1)
    assert found.last_day.sales == 3
    assert found.spread_sellers == 2
    assert found.first_trade_time_s is not None
    assert scene.tip().time_s - 3_600 < found.first_trade_time_s <= scene.tip().time_s
    assert found.created_block is not None
    assert found.first_trade_block is not None
    assert found.created_block < found.first_trade_block


async def test_a_sale_that_a_trap_refused_counts_once_a_report_agrees(
    chain: Chain, token: ZooToken, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.begin_watching([token.address])
        assert record(scene, token).last_day.sales_failed == 0
        assert chain.send(token.owner, token.address, "pause()").success
        assert not chain.sell(token, token.holders[0], ETHER).success
        await scene.level()
        assert record(scene, token).last_day.sales_failed == 0  # it may be the seller's own fault
        await scene.settle()
        found = record(scene, token)
        assert (found.last_day.sales_failed, found.whole.sales_failed) == (1, 1)
        assert found.powers_used is not None
        assert found.powers_used >= 1


async def test_a_sale_that_paid_another_tax_counts(
    scene: Scene, chain: Chain, token: ZooToken
) -> None:
    await scene.analyser.refresh(SLUG, token.address)
    await scene.level()
    assert record(scene, token).last_day.sales_taxed_otherwise == 0
    assert chain.send(token.owner, token.address, "setTax(uint256)", 20).success
    assert chain.sell(token, token.holders[0], 10 * ETHER).success
    await scene.level()
    last = record(scene, token).last_day
    assert (last.sales, last.sellers, last.sales_taxed_otherwise) == (1, 1, 1)
