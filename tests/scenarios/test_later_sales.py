"""The oracle for later sales, the crowd and the census: people really sell, time really passes."""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import IndexedFacts
from assay.demo.layout import VenueKey, ZooToken
from assay.demo.zoo_token import Animal
from core.evm.primitives import Address, RawAmount
from core.report.report import PoolResultRow, Report
from tests.harness.chain.contexts import LACKING, Knowing, Lacking, judge
from tests.harness.chain.trade_oracle import MOST_CALLS, MOST_TRIPS, TAX_POINTS, pool_of, real_trade
from tests.harness.chain.transactions import Chain
from tests.harness.node.counting import CountingNode

DAY_S = 86_400
VENUES: tuple[VenueKey, ...] = ("v2", "v3", "v4", "solid", "slipstream")


class Sold(msgspec.Struct):
    holder: Address
    amount_raw: int
    can_sell: bool | None
    tax: float | None
    reason: str


class Census(msgspec.Struct):
    could: int
    could_not: int
    not_learnt: int
    tax_min: float | None
    tax_median: float | None
    tax_max: float | None
    reasons: dict[str, int]
    sellers: list[Sold]


class Moment(msgspec.Struct):
    when: str
    time_s: int
    blocks_left_out: int
    buy: dict[str, object] | None
    sale: dict[str, object]
    sales: list[dict[str, object]]
    transfer: dict[str, object] | None


class Sweep(msgspec.Struct):
    changes: list[str]
    moments: list[Moment]
    is_blocked: bool | None
    tax_rises: bool | None


class CrowdSales(msgspec.Struct):
    sales: dict[str, dict[str, object]]
    is_blocked: bool | None
    tax_rises: bool | None


class Body(msgspec.Struct):
    outcome: msgspec.Raw
    request: list[object]
    calls: list[dict[str, object]]


def place(chain: Chain, contract: str, venue: VenueKey = "v2") -> ZooToken:
    return chain.place(
        Animal(key=contract, trait="", symbol="ODD", contract=contract, extra="pair", venue=venue)
    )


def knowing(context: ChainContext, holders: list[Address]) -> ChainContext:
    """A context in which these are the indexed holders."""
    known = IndexedFacts(holders=tuple((holder, RawAmount(1)) for holder in holders))
    return ChainContext(
        chain=context.chain,
        node=context.node,
        index=Knowing(known),
        settings=context.settings,
        now_s=context.now_s,
    )


def given(chain: Chain, token: ZooToken, count: int) -> list[Address]:
    """Wallets that the owner gave some to."""
    made = [chain.fresh_account() for _ in range(count)]
    for holder in made:
        assert chain.transfer(token.address, token.owner, holder, 10**20).success
    return made


def body_of(report: Report, key: str) -> Body:
    (row,) = [row for row in report.evidence if row.key.split(":")[0] == key]
    return msgspec.json.decode(row.body, type=Body)


def census_of(report: Report) -> Census:
    return msgspec.json.decode(body_of(report, "sell_census").outcome, type=Census)


def sweep_of(report: Report) -> Sweep:
    return msgspec.json.decode(body_of(report, "sell_later").outcome, type=Sweep)


def crowd_of(report: Report) -> CrowdSales:
    return msgspec.json.decode(body_of(report, "sell_after_others").outcome, type=CrowdSales)


def sides(pool: PoolResultRow) -> tuple[object, ...]:
    return pool.buy, pool.buy_tax, pool.sell, pool.sell_tax


def really_sell(chain: Chain, token: ZooToken, seller: Sold) -> tuple[bool, float | None]:
    sold = chain.sell(token, seller.holder, seller.amount_raw)
    given_up = sold.token_before - sold.token_after
    return sold.success, 100 - sold.pool_in * 100 / given_up if sold.success else None


@pytest.mark.parametrize("venue", VENUES)
async def test_holders_frozen_one_by_one_are_counted(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    token = place(chain, "FreezerToken", venue)
    holders = given(chain, token, 20)
    for holder in holders[3::6]:
        assert chain.send(token.owner, token.address, "freeze(address)", holder).success
    report = await judge(knowing(context, holders), token.address)
    census = census_of(report)
    assert (census.could, census.could_not, census.not_learnt) == (17, 3, 0)
    assert (census.tax_min, census.tax_median, census.tax_max) == (0, 0, 0)
    assert sum(census.reasons.values()) == 3
    assert [seller.holder for seller in census.sellers] == holders
    assert (pool_of(report, token).buy, pool_of(report, token).sell) == ("passed", "passed")
    for seller in census.sellers:
        success, tax = really_sell(chain, token, seller)
        assert seller.can_sell is success
        assert bool(seller.reason) is not success
        assert seller.tax == pytest.approx(tax, abs=TAX_POINTS)


async def test_early_buyers_cannot_sell_and_others_can(chain: Chain, context: ChainContext) -> None:
    token = place(chain, "SniperToken")
    buyers = [chain.fresh_account() for _ in range(2)]
    assert all(chain.buy(token, buyer).success for buyer in buyers)
    # Nor are the owner, the pool and contracts used.
    special = [token.owner, token.pool.address, chain.deploy("HonestToken", "Odd", "ODD")]
    assert chain.transfer(token.address, token.owner, special[2], 10**20).success
    holders = [*special, *buyers, *given(chain, token, 2)]
    census = census_of(await judge(knowing(context, holders), token.address))
    assert (census.could, census.could_not) == (2, 2)
    assert [seller.can_sell for seller in census.sellers] == [False, False, True, True]
    for seller in census.sellers:
        assert really_sell(chain, token, seller)[0] is seller.can_sell


async def test_taxes_of_sellers_are_spread(chain: Chain, context: ChainContext) -> None:
    """Each seller pays a percent less than the one before."""
    token = place(chain, "CountedFeeToken")
    holders = given(chain, token, 5)
    census = census_of(await judge(knowing(context, holders), token.address))
    assert (census.tax_min, census.tax_median, census.tax_max) == pytest.approx((16, 18, 20))
    for seller in census.sellers:
        success, tax = really_sell(chain, token, seller)
        assert success is seller.can_sell is True
        assert tax == pytest.approx(seller.tax)


WAITS_S = {
    "next block": 0,
    "+5 minutes": 300,
    "+1 hour": 3_600,
    "+1 day": DAY_S,
    "+30 days": 30 * DAY_S,
}


@pytest.mark.parametrize("venue", VENUES)
async def test_a_fee_that_rises_with_time_is_foreseen(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    token = place(chain, "RisingFeeToken", venue)
    report = await judge(context, token.address)
    sweep = sweep_of(report)
    assert [moment.when for moment in sweep.moments] == list(WAITS_S)
    passed_s = 0
    for moment in sweep.moments[1:]:
        chain.node.increase_time(WAITS_S[moment.when] - passed_s)
        passed_s = WAITS_S[moment.when]
        real = real_trade(chain, token)
        assert ("tax" in moment.sale) is real.sell_success
        assert moment.sale.get("tax") == pytest.approx(real.sell_tax, abs=TAX_POINTS)
        if moment.buy is not None:
            assert moment.buy["tax"] == pytest.approx(real.buy_tax, abs=TAX_POINTS)
    assert sweep.moments[-1].blocks_left_out == 0  # its code counts none
    can_sell = "tax" in sweep.moments[0].sale
    assert any("sale tax" in change for change in sweep.changes) is can_sell
    # It comes to a third in that time, and to nine tenths within the year.
    assert report.scan.sell_tax_rises is (True if can_sell else None)


@pytest.mark.parametrize("venue", VENUES)
async def test_trading_that_ends_is_foreseen(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    token = place(chain, "ClosingToken", venue)
    report = await judge(context, token.address)
    assert sides(pool_of(report, token)) == ("passed", 0, "passed", 0)
    sweep = sweep_of(report)
    assert sweep.changes == ["+30 days: buy refused", "+30 days: sale refused"]
    assert (sweep.is_blocked, report.scan.sell_blocked_later) == (True, True)
    transfers = [moment.transfer for moment in sweep.moments if moment.transfer is not None]
    assert [transfer["success"] for transfer in transfers] == [True] * 3
    trader = chain.fresh_account()
    assert chain.buy(token, trader).success
    chain.node.increase_time(30 * DAY_S)
    assert not chain.sell(token, trader).success
    assert not chain.buy(token, chain.fresh_account()).success
    assert chain.transfer(token.address, trader, chain.fresh_account(), 10**18).success


@pytest.mark.parametrize(
    "contract",
    [
        *("BlockCooldownToken", "OriginToken"),
        *("LargeFeeToken", "BurningFeeToken", "CallerFeeToken", "ElasticToken"),
    ],
)
async def test_what_time_does_not_change_is_not_said_to_change(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    token = place(chain, contract)
    report = await judge(context, token.address)
    sweep = sweep_of(report)
    assert sweep.changes == []
    assert all("tax" in moment.sale for moment in sweep.moments)
    assert (report.scan.sell_blocked_later, report.scan.sell_tax_rises) == (False, False)


async def test_who_has_to_wait_can_sell_later(chain: Chain, context: ChainContext) -> None:
    report = await judge(context, place(chain, "SharedCooldownToken").address)
    assert report.scan.sell_blocked_later is not True


async def test_a_holder_who_cannot_sell_decides_nothing(
    chain: Chain, context: ChainContext
) -> None:
    """Not even where no holder can sell."""
    token = place(chain, "FreezerToken")
    holders = given(chain, token, 3)
    before = await judge(knowing(context, holders), token.address)
    for holder in holders:
        assert chain.send(token.owner, token.address, "freeze(address)", holder).success
    report = await judge(knowing(context, holders), token.address)
    assert census_of(before).could == census_of(report).could_not == 3
    assert before.pools is not None
    assert report.pools is not None
    assert list(map(sides, report.pools)) == list(map(sides, before.pools))
    assert report.token.transfer_success is before.token.transfer_success is True


async def test_everybody_sells_in_their_turn(chain: Chain, context: ChainContext) -> None:
    report = await judge(context, chain.world.token("honest").address)
    crowd = crowd_of(report)
    assert len(crowd.sales) >= 8
    assert all("tax" in sale for sale in crowd.sales.values())
    assert (crowd.is_blocked, report.scan.sell_blocked_after_others) == (False, False)


async def test_it_can_be_played_again(chain: Chain, context: ChainContext) -> None:
    token = place(chain, "CountedFeeToken")
    report = await judge(knowing(context, given(chain, token, 2)), token.address)
    for key in ("sell_census", "sell_later", "sell_after_others"):
        body = body_of(report, key)
        again = chain.node.rpc("eth_simulateV1", *body.request)
        assert isinstance(again, list)
        calls = [
            (call["status"] == "0x1", call["returnData"])
            for block in again
            for call in block["calls"]
        ]
        assert body.calls
        assert all((call["ok"], call["returned"]) in calls for call in body.calls)


async def test_it_waits_for_nothing_more(chain: Chain, context: ChainContext) -> None:
    token = place(chain, "FreezerToken")
    known = knowing(context, given(chain, token, 20))
    node = CountingNode(known.node, delay_s=0.1)
    settings = msgspec.structs.replace(known.settings, liquidity_holders="never")
    known = msgspec.structs.replace(known, node=node, settings=settings)
    assert census_of(await judge(known, token.address)).could == 20
    assert (node.trips <= MOST_TRIPS, node.calls <= MOST_CALLS) == (True, True)


@pytest.mark.parametrize("back_end", ["traces", "calls"])
async def test_a_node_that_does_not_simulate_is_not_asked(
    chain: Chain, context: ChainContext, back_end: str
) -> None:
    context = msgspec.structs.replace(context, node=Lacking(context.node, LACKING[back_end]))
    report = await judge(context, chain.world.token("honest").address)
    assert report.token.is_settled
    keys = {row.key.split(":")[0] for row in report.evidence}
    assert not {"sell_census", "sell_later", "sell_after_others"} & keys
    assert report.scan.sell_blocked_later is report.scan.sell_blocked_after_others is None
