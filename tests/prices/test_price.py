"""Protects the order of the sources of a token's price, and their details."""

import itertools

import pytest

from analysis.external.market_data import MarketData
from analysis.market.token_price import LastTrade, TokenPrice, find_price
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from core.evm.primitives import Address
from core.report.report import Report
from tests.harness.api.sample_reports import make_pool, make_report

CHAIN = next(chain for chain in load_chains(None) if chain.slug == "ethereum")
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
