"""Protects prices: the order of their sources, the feed of the native coin, and the four fields."""

import itertools
from typing import Any

import msgspec
import pytest

from analysis.external.market_data import MarketData
from analysis.market.native_price import OracleRead, anchor_prices
from analysis.market.token_price import LastTrade, TokenPrice, find_price, pool_spot
from analysis.reads.read_batch import ReadBatch
from api.formats.rendering import render_report
from api.formats.token_snapshot import take_snapshot
from config.facts.chain import Chain, Oracle
from core.errors import UpstreamError
from core.evm.primitives import ZERO_ADDRESS, Address
from core.report.report import Report
from core.rpc.messages import RpcAnswer, RpcFault
from tests.harness.api.sample_reports import TOKEN, make_pool, make_report
from tests.harness.api.world import World, make_chain
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.node.answers import BLOCK, answer_in_turn

CHAIN = next(chain for chain in BUILT_IN_CHAINS if chain.slug == "ethereum")

STABLE = CHAIN.stables[1].address

ORDINARY = Address("0x" + "ab" * 20)

NOW_S = 2_000_000

SOURCES = ("aggregator", "network_token_info", "pool_spot", "stablecoin_pin")


class Aggregator(MarketData):
    """Live aggregate, set by the test."""

    def __init__(self, usd: float | None) -> None:
        self._usd = usd
        self._aggregator = "dexscreener"

    async def token_price(self, chain: Chain, token: Address) -> float | None:
        return self._usd


class Warehouse:
    """The stored trades."""

    def __init__(self, trade: LastTrade | None) -> None:
        self._trade = trade

    async def last_trade(self, chain: Chain, report: Report) -> LastTrade | None:
        return self._trade


async def price(
    has: frozenset[str], *, traded_at_s: int = NOW_S - 77, stored: bool = True
) -> TokenPrice | None:
    """With these sources at hand."""
    bought = make_pool(buy="passed", token_usd=3.0)
    report = make_report(
        address=STABLE if "stablecoin_pin" in has else ORDINARY,
        pools=(bought,) if "pool_spot" in has else (),
    )
    trade = LastTrade(usd=2.0, time_s=traded_at_s) if "network_token_info" in has else None
    return await find_price(
        CHAIN,
        report,
        market_data=Aggregator(1.5 if "aggregator" in has else None),
        now_s=NOW_S + 0.9,
        trades=Warehouse(trade) if stored else None,
    )


@pytest.mark.parametrize(
    "has",
    [
        frozenset(some)
        for count in range(len(SOURCES) + 1)
        for some in itertools.combinations(SOURCES, count)
    ],
    ids=lambda has: "+".join(sorted(has)) or "none",
)
async def test_the_first_source_that_answers_is_the_one(has: frozenset[str]) -> None:
    expected = {
        "aggregator": TokenPrice(
            usd=1.5, source="aggregator", service="DexScreener", read_at_s=NOW_S
        ),
        "network_token_info": TokenPrice(usd=2.0, source="network_token_info", age_s=77),
        "pool_spot": TokenPrice(usd=3.0, source="pool_spot"),
        "stablecoin_pin": TokenPrice(usd=1.0, source="stablecoin_pin"),
    }
    first = next((expected[source] for source in SOURCES if source in has), None)
    assert await price(has) == first


@pytest.mark.parametrize("anchor", [0, 1], ids=["first stable", "second stable"])
async def test_both_stables_are_pinned_and_the_native_coin_is_not(anchor: int) -> None:
    found = {}
    for token in (CHAIN.stables[anchor].address, CHAIN.wrapped_native.address):
        report = make_report(address=token, pools=())
        found[token] = await find_price(
            CHAIN, report, market_data=Aggregator(None), now_s=NOW_S, trades=Warehouse(None)
        )
    pinned, native = found.values()
    assert pinned == TokenPrice(usd=1.0, source="stablecoin_pin")
    assert native is None


async def test_a_trade_that_the_clocks_put_ahead_of_us_is_no_older_than_now() -> None:
    found = await price(frozenset({"network_token_info"}), traded_at_s=NOW_S + 5)
    assert found is not None
    assert found.age_s == 0


async def test_without_a_store_of_trades_the_pools_are_asked() -> None:
    found = await price(frozenset({"network_token_info", "pool_spot"}), stored=False)
    assert found == TokenPrice(usd=3.0, source="pool_spot")


# --- native price -------------------------------------------------------------------------------


HOUR_S = 3_600

FEED_READ_AT_S = 1_800_000_000


def round_data(answer: int, updated_at_s: int, *, words: int = 5) -> msgspec.Raw:
    """Encode the result of latestRoundData()."""
    words_returned = (1, answer % 2**256, updated_at_s, updated_at_s, 1)[:words]
    return msgspec.Raw(f'"0x{"".join(f"{word:064x}" for word in words_returned)}"'.encode())


def price_by(oracle: Oracle, answer: RpcAnswer) -> float | None:
    """Return the price by the feed's answer, now."""
    batch = ReadBatch(BLOCK)
    read = OracleRead(batch, oracle)
    answer_in_turn(batch, [answer])
    return read.read(time_s=FEED_READ_AT_S)


@pytest.mark.parametrize("chain", BUILT_IN_CHAINS, ids=lambda chain: chain.slug)
def test_a_feed_may_be_an_hour_later_than_its_heartbeat_and_no_more(chain: Chain) -> None:
    oracle = chain.oracle
    latest = FEED_READ_AT_S - oracle.heartbeat_s - HOUR_S
    answer = 3_210 * 10**oracle.decimals + 5
    usd = pytest.approx(3_210 + 5 / 10**oracle.decimals, rel=1e-12)
    assert price_by(oracle, round_data(answer, latest)) == usd
    assert price_by(oracle, round_data(answer, latest - 1)) is None


@pytest.mark.parametrize(
    "answer",
    [
        round_data(0, FEED_READ_AT_S),
        round_data(-1, FEED_READ_AT_S),
        round_data(-(2**255), FEED_READ_AT_S),
        round_data(3_000 * 10**8, 0),
        round_data(3_000 * 10**8, FEED_READ_AT_S, words=4),
        msgspec.Raw(b'"0x"'),
        RpcFault(code=3, message="execution reverted"),
    ],
    ids=["zero", "negative", "lowest", "never updated", "cut", "no contract", "reverts"],
)
def test_what_is_no_sane_round_is_no_price(answer: msgspec.Raw | RpcFault) -> None:
    assert price_by(BUILT_IN_CHAINS[0].oracle, answer) is None


def test_a_fault_of_the_node_is_not_taken_for_a_feed_without_price() -> None:
    with pytest.raises(UpstreamError):
        price_by(BUILT_IN_CHAINS[0].oracle, RpcFault(code=-32000, message="timeout"))


@pytest.mark.parametrize("chain", BUILT_IN_CHAINS, ids=lambda chain: chain.slug)
def test_without_a_price_the_native_coin_is_unpriced_and_stables_are_a_dollar(
    chain: Chain,
) -> None:
    stables = {stable.address for stable in chain.stables}
    unknown, known = anchor_prices(chain, None), anchor_prices(chain, 3_000.0)
    assert set(unknown) == stables
    assert set(known) == {*stables, chain.wrapped_native.address, ZERO_ADDRESS}
    assert {known[stable].usd for stable in stables} == {1.0}
    assert known[ZERO_ADDRESS] == known[chain.wrapped_native.address]
    assert [known[stable.address].decimals for stable in chain.stables] == [
        stable.decimals for stable in chain.stables
    ]


# --- price fields -------------------------------------------------------------------------------

FIELDS = ("token_usd_price", "market_cap_usd", "price_source", "price_age_seconds")

FIELDS_CHAIN = make_chain(1, "ethereum")


def rendered(price: TokenPrice | None) -> tuple[object, ...]:
    report = make_report(decimals=2, supply_raw=1_000_00, burned_raw=400_00)
    body = msgspec.json.decode(
        render_report(
            take_snapshot(report, FIELDS_CHAIN, now_s=0, liquid_above_usd=100.0, price=price),
            "native",
        )
    )
    return tuple(body[field] for field in FIELDS)


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        (None, (None, None, None, None)),
        (TokenPrice(usd=2.0, source="aggregator"), (2.0, 1200.0, "aggregator", None)),
        (
            TokenPrice(usd=0.5, source="network_token_info", age_s=77),
            (0.5, 300.0, "network_token_info", 77),
        ),
        (TokenPrice(usd=1e9, source="pool_spot"), (1e9, 6e11, "pool_spot", None)),
        (TokenPrice(usd=1.01e9, source="pool_spot"), (1.01e9, None, "pool_spot", None)),
    ],
)
def test_fields(price: TokenPrice | None, expected: tuple[object, ...]) -> None:
    assert rendered(price) == expected


@pytest.mark.parametrize(("supply", "burned"), [(0, 0), (5, 5), (10**30, 0)])
def test_no_market_cap_without_supply_or_belief(supply: int, burned: int) -> None:
    report = make_report(decimals=0, supply_raw=supply, burned_raw=burned)
    price = TokenPrice(usd=1.0, source="aggregator")
    body = msgspec.json.decode(
        render_report(
            take_snapshot(report, FIELDS_CHAIN, now_s=0, liquid_above_usd=100.0, price=price),
            "native",
        )
    )
    assert body["market_cap_usd"] is None
    assert body["token_usd_price"] == 1.0


async def test_the_api_asks_for_a_price_only_where_the_caller_does(world: World) -> None:
    price_requests = []

    async def read_price(chain: str, report: Report) -> TokenPrice | None:
        price_requests.append((chain, report.token.address))
        return TokenPrice(usd=3.0, source="stablecoin_pin")

    client = world.client(read_price=read_price)
    headers = {"X-API-Key": world.new_key()}
    shown = []
    for query in ("", "?include_token_price=true", "?include_token_price=false", "/summary"):
        for _ in range(2):
            answer = await client.get(f"/token/1/{TOKEN}{query}", headers=headers)
            shown.append(answer.json().get("token_usd_price"))
    assert shown == [None, None, 3.0, 3.0, None, None, None, None]
    assert price_requests == [("ethereum", TOKEN)]


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        ([], None),
        ([{"buy": None, "token_usd": 1.0}], None),
        ([{"buy": "refused", "token_usd": 1.0}, {"buy": "passed", "token_usd": 2.0}], 2.0),
        ([{"buy": "passed", "token_usd": None}, {"buy": "passed", "token_usd": 2.0}], 2.0),
        ([{"buy": "pending", "token_usd": 1.0}], None),
        ([{"buy": "passed", "token_usd": 5.0}, {"buy": "passed", "token_usd": 2.0}], 5.0),
    ],
)
def test_pool_spot_is_of_the_deepest_pool_that_bought(
    pools: list[dict[str, Any]], expected: float | None
) -> None:
    rows = tuple(make_pool(ordinal=at, **pool) for at, pool in enumerate(pools))
    assert pool_spot(make_report(pools=rows)) == expected
