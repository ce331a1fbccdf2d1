"""Protects the ledger of accuracy on exchanges with unusual events: each count is a real outcome.

Their events do not name the receiver, do not sort the tokens, report a trade in parts, or report
the order.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.reads import read_address
from config.facts.chain import Chain as ChainFacts
from tests.harness.accuracy.accuracy_tally import Tally, counted, newest
from tests.harness.chain.transactions import Chain
from tests.harness.venues import (
    balancer,
    balancer_v3,
    curve,
    dodo,
    further_venues,
    infinity,
    infinity_bin,
    liquidity_book,
    solidly_v3,
)
from tests.harness.venues.further_venues import Market
from tests.harness.watches.watched_scene import SLUG, Scene, watching

Place = Callable[[Chain, str], Market]

PLACES: dict[str, Place] = {
    "Balancer": balancer.place,
    "Balancer, three tokens": lambda chain, contract: balancer.place(chain, contract, size=3),
    "Curve": curve.place,
    "Curve, its second coin": lambda chain, contract: curve.place(
        chain, contract, order=curve.QUOTE_FIRST
    ),
    "Curve, of three, by order": lambda chain, contract: curve.place(
        chain, contract, order=curve.THIRD_FIRST, measures=False
    ),
    "Curve of any price": lambda chain, contract: curve.place(
        chain, contract, kind="CurveCrypto", order=curve.QUOTE_FIRST
    ),
    "DODO": dodo.place,
    "DODO, its quote": lambda chain, contract: dodo.place(chain, contract, is_base=False),
    "Infinity": infinity.place,
    "Infinity, bins": infinity_bin.place,
    "Liquidity Book": liquidity_book.place,
    "Liquidity Book, second": lambda chain, contract: liquidity_book.place(
        chain, contract, is_x=False
    ),
    "Solidly V3": solidly_v3.place,
}
AGREED = Tally(agreed=1)
SPEND_RAW = 3 * ETHER
"""Amount for a pool of 30 coins: a trade through several bins, where there are any."""


@asynccontextmanager
async def judged(
    chain: Chain, facts: ChainFacts, url: str, path: Path, place: Place, contract: str
) -> AsyncIterator[tuple[Scene, Market]]:
    """A followed chain with a report of the token of one market."""
    start = int(str(chain.node.rpc("eth_blockNumber")), 16)
    market = place(chain, contract)
    known = msgspec.structs.replace(
        facts, dexes=(*facts.dexes, market.dex), start_block=start, finality_blocks=10**6
    )
    async with watching(chain, known, url, path / "store") as scene:
        await scene.level()
        await scene.analyser.refresh(SLUG, market.token)
        yield scene, market


@pytest.mark.parametrize("name", PLACES)
async def test_trades_agree_with_their_report_on_either_side(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path, name: str
) -> None:
    """A tax of 3 % both ways, where the exchange accepts such tokens, shows in the real trades."""
    place = PLACES[name]
    async with judged(chain, facts, anvil_node.url, tmp_path, place, "TransferTaxToken") as said:
        scene, market = said
        trader = chain.fresh_account()
        bought = further_venues.buy(chain, market, trader, spend_raw=SPEND_RAW)
        assert bought.tax == pytest.approx(3)
        await scene.level()
        assert counted(scene, "buy_success") == AGREED
        assert counted(scene, "buy_tax") == AGREED
        assert counted(scene, "sell_success") == Tally()
        sold = further_venues.sell(chain, market, trader)
        await scene.level()
        expected = AGREED if sold.success else Tally()
        assert counted(scene, "sell_success") == expected
        assert counted(scene, "sell_tax") == expected
        assert not newest(scene)


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("side", ["buy", "sell"])
async def test_a_tax_raised_since_the_report_disagrees(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path, name: str, side: str
) -> None:
    place = PLACES[name]
    async with judged(chain, facts, anvil_node.url, tmp_path, place, "SellTaxToken") as said:
        scene, market = said
        trader = chain.fresh_account()
        if side == "sell":
            assert further_venues.buy(chain, market, trader, spend_raw=SPEND_RAW).success
        owner = read_address(chain.node, market.token, "owner()")
        assert chain.send(owner, market.token, "setFees(uint256,uint256)", 25, 28).success
        await scene.level()
        if side == "buy":
            traded = further_venues.buy(chain, market, trader, spend_raw=SPEND_RAW)
        else:
            traded = further_venues.sell(chain, market, trader)
        await scene.level()
        if not traded.success:  # the exchange does not take less than was ordered
            assert counted(scene, "sell_success") == Tally()
            return
        (found,) = newest(scene)
        assert (found.flag, found.trader) == (f"{side}_tax", trader)
        assert found.pool == market.key
        assert float(found.observed) == pytest.approx(traded.tax, abs=0.01)
        assert traded.tax == pytest.approx({"buy": 25, "sell": 28}[side])
        await scene.analyse_due()
        assert [one.explanation for one in newest(scene)] == ["changed"]


async def test_a_hook_may_take_what_tokens_do_not_show(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    """The trap is a hook that keeps a tenth of the other token: that is no sale without a tax."""

    def place(chain: Chain, contract: str) -> Market:
        return balancer_v3.place(chain, contract, hook="keeps")

    async with judged(chain, facts, anvil_node.url, tmp_path, place, "HonestToken") as said:
        scene, market = said
        trader = chain.fresh_account()
        assert further_venues.buy(chain, market, trader, spend_raw=SPEND_RAW).success
        assert further_venues.sell(chain, market, trader).success
        await scene.level()
        for flag in ("buy_success", "sell_success"):
            assert counted(scene, flag) == AGREED
        for flag in ("buy_tax", "sell_tax"):
            assert counted(scene, flag) == Tally(uncounted=1)
        assert not newest(scene)


async def test_who_bought_for_coins_is_not_known_to_have_paid(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    """Coins move without an event.

    A received purchase does not prove that all of it went to the payer.
    """

    def place(chain: Chain, contract: str) -> Market:
        return infinity.place(chain, contract, is_coin=True)

    async with judged(chain, facts, anvil_node.url, tmp_path, place, "HonestToken") as said:
        scene, market = said
        trader = chain.fresh_account()
        assert further_venues.buy(chain, market, trader, spend_raw=SPEND_RAW).success
        assert further_venues.sell(chain, market, trader).success
        await scene.level()
        assert counted(scene, "buy_success") == AGREED
        assert counted(scene, "buy_tax") == Tally(uncounted=1)
        assert counted(scene, "sell_success") == AGREED
        assert counted(scene, "sell_tax") == AGREED


@pytest.mark.parametrize(
    ("key", "tax"), [("v4_honest", AGREED), ("v4_usdc_hook", Tally(uncounted=1))]
)
async def test_trades_in_uniswaps_manager_agree(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path, key: str, tax: Tally
) -> None:
    """A hook takes its part of the other token: that is no agreement on the tax."""
    token = chain.world.token(key)
    known = msgspec.structs.replace(facts, start_block=0, finality_blocks=10**6)
    async with watching(chain, known, anvil_node.url, tmp_path / "store") as scene:
        await scene.level()
        await scene.analyser.refresh(SLUG, token.address)
        assert chain.sell(token, token.holders[0], 10 * 10**token.decimals).success
        await scene.level()
        assert counted(scene, "sell_success") == AGREED
        assert counted(scene, "sell_tax") == tax
        assert not newest(scene)
