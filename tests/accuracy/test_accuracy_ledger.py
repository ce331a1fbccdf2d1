"""Protects the ledger of accuracy: its verdicts on predictions follow from real trades."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.layout import ZooToken
from config.facts.chain import Chain as ChainFacts
from core.evm.primitives import HexBytes
from tests.harness.accuracy.accuracy_tally import Tally, counted, newest
from tests.harness.chain.transactions import Chain
from tests.harness.store.store_contents import read_rows
from tests.harness.watches.watched_scene import SLUG, Scene, place, watching


@pytest.fixture
def token(chain: Chain) -> ZooToken:
    return place(chain)


@pytest.fixture
async def scene(
    chain: Chain, token: ZooToken, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> AsyncIterator[Scene]:
    """A followed chain with a report of one token, which nobody watches."""
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.level()
        await scene.analyser.refresh(SLUG, token.address)
        yield scene


async def test_honest_and_taxed_trades_agree_with_their_report(
    scene: Scene, chain: Chain, token: ZooToken
) -> None:
    seller, other = token.holders[:2]
    buyer = chain.fresh_account()
    assert chain.sell(token, seller, 10 * ETHER).success
    assert chain.buy(token, buyer).success
    assert chain.transfer(token.address, seller, other, ETHER).success
    await scene.level()
    for flag in ("buy_success", "buy_tax", "sell_success", "sell_tax", "transfer_success"):
        assert counted(scene, flag) == Tally(agreed=1), flag
    assert not newest(scene)
    assert not scene.due()

    assert chain.send(token.owner, token.address, "setTax(uint256)", 5).success
    await scene.level()
    await scene.analyser.refresh(SLUG, token.address)
    assert chain.sell(token, seller, 10 * ETHER).success
    await scene.level()
    assert counted(scene, "sell_tax") == Tally(agreed=2)


async def test_a_tax_raised_since_the_report_disagrees_and_is_judged_anew(
    scene: Scene, chain: Chain, token: ZooToken
) -> None:
    seller = token.holders[0]
    assert chain.send(token.owner, token.address, "setTax(uint256)", 20).success
    sold = chain.sell(token, seller, 10 * ETHER)
    assert sold.success
    await scene.level()
    (found,) = newest(scene)
    assert (found.flag, found.trader) == ("sell_tax", seller)
    assert found.pool == HexBytes(token.pool.address)
    assert found.predicted == "0.0"
    assert float(found.observed) == pytest.approx(20, abs=0.01)
    assert found.tx_hash == sold.sent.hash
    assert counted(scene, "sell_success") == Tally(agreed=1)
    assert scene.due() == [scene.id_of(token.address)]
    await scene.analyse_due()
    (found,) = newest(scene)
    assert found.explanation == "changed"
    assert counted(scene, "sell_tax") == Tally(disagreed=1, explained=1)


async def test_a_tax_of_a_few_is_an_error_that_stays_unexplained(
    scene: Scene, chain: Chain, token: ZooToken
) -> None:
    """The prediction is of fresh accounts, and the trap is on one that is none."""
    marked = token.holders[0]
    data = (marked, 30)
    assert chain.send(token.owner, token.address, "setOwnTax(address,uint256)", *data).success
    assert chain.sell(token, marked, 10 * ETHER).success
    await scene.level()
    await scene.analyse_due()
    assert [one.explanation for one in newest(scene)] == ["unexplained"]
    assert counted(scene, "sell_tax") == Tally(disagreed=1)
    assert chain.sell(token, marked, 10 * ETHER).success
    await scene.level()
    await scene.job.go(SLUG)  # not within the hour
    await scene.job.wait()
    assert counted(scene, "sell_tax") == Tally(disagreed=2)
    assert scene.due() == [scene.id_of(token.address)]


async def test_who_pays_less_than_others_is_no_error(
    scene: Scene, chain: Chain, token: ZooToken
) -> None:
    at, owner, seller = token.address, token.owner, token.holders[0]
    assert chain.send(owner, at, "setTax(uint256)", 20).success
    await scene.level()
    await scene.analyser.refresh(SLUG, at)
    assert chain.sell(token, owner, 10 * ETHER).success  # by the account that tokens exempt
    await scene.level()
    assert counted(scene, "sell_tax") == Tally(uncounted=1)
    assert not newest(scene)

    assert chain.send(owner, at, "setTax(uint256)", 0).success
    assert chain.sell(token, seller, 10 * ETHER).success
    await scene.level()
    assert counted(scene, "sell_tax") == Tally(uncounted=2)  # exempt, as far as can be known
    await scene.analyse_due()
    assert [one.explanation for one in newest(scene)] == ["changed"]
    assert counted(scene, "sell_tax") == Tally(disagreed=1, explained=1, uncounted=1)


@pytest.mark.parametrize(("key", "flag"), [("melting", "buy_tax"), ("partial_sale", "sell_tax")])
async def test_a_loss_that_no_event_shows_is_not_held_against_the_report(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path, key: str, flag: str
) -> None:
    """Bought tokens that shrink a block later; a sale that quietly moves a thousandth."""
    token = next(one for one in chain.world.tokens if one.key == key)
    trader = chain.fresh_account()
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        assert chain.buy(token, trader).success
        await scene.level()
        await scene.analyser.refresh(SLUG, token.address)
        if flag == "sell_tax":
            assert chain.sell(token, trader, ETHER).success
        else:
            assert chain.buy(token, chain.fresh_account()).success
        await scene.level()
        assert [(one.flag, one.observed) for one in newest(scene)] == [(flag, "0.0")]
        await scene.analyse_due()
        assert [one.explanation for one in newest(scene)] == ["unseen"]
        assert counted(scene, flag) == Tally(uncounted=1)
        assert not newest(scene, is_counted=True)


async def test_a_honeypot_turned_on_after_launch_is_told_by_its_failed_sale(
    chain: Chain, token: ZooToken, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    """Receipts are read of watched tokens alone; the failure counts once a report agrees."""
    seller = token.holders[0]
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.begin_watching([token.address])
        assert chain.send(token.owner, token.address, "pause()").success
        assert not chain.sell(token, seller, ETHER).success
        await scene.level()
        (found,) = newest(scene)
        assert (found.flag, found.predicted, found.observed) == ("sell_success", "passed", "failed")
        assert counted(scene, "sell_success") == Tally(uncounted=1)
        await scene.settle()
        (found,) = newest(scene)
        assert found.explanation == "owner"
        assert counted(scene, "sell_success") == Tally(disagreed=1, explained=1)


async def test_a_sale_that_fails_by_its_own_limits_is_no_error(
    chain: Chain, token: ZooToken, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    """The honest double: a seller who has nothing."""
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.begin_watching([token.address])
        assert not chain.sell(token, chain.fresh_account(), ETHER).success
        await scene.level()
        assert len(newest(scene)) == 1
        await scene.settle()
        assert [one.explanation for one in newest(scene)] == ["own_limits"]
        assert counted(scene, "sell_success") == Tally(uncounted=1)


async def test_a_reorg_takes_back_what_was_counted_and_settled(
    scene: Scene, chain: Chain, token: ZooToken
) -> None:
    seller = token.holders[0]
    assert chain.sell(token, seller, 10 * ETHER).success
    assert chain.send(token.owner, token.address, "setTax(uint256)", 20).success
    assert chain.sell(token, seller, 10 * ETHER).success
    await scene.level()
    chain.mine()
    await scene.level()
    await scene.analyse_due()
    assert counted(scene, "sell_tax") == Tally(agreed=1, disagreed=1, explained=1)
    chain.reorg(1)
    await scene.level()
    assert counted(scene, "sell_tax") == Tally(agreed=1, disagreed=1)
    assert [one.explanation for one in newest(scene)] == [None]
    chain.reorg(2)
    await scene.level()
    assert counted(scene, "sell_tax") == Tally(agreed=1)
    assert not newest(scene)


async def test_without_a_report_nothing_is_counted(
    chain: Chain, token: ZooToken, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.level()
        assert chain.sell(token, token.holders[0], ETHER).success
        await scene.level()
        assert not read_rows(scene.store, "select flag from accuracy_count")
