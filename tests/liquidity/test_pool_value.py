"""A pool is worth its priced side, and is left out when neither side has a price."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.market.liquidity_value import Price, value_pool
from core.evm.primitives import Address, RawAmount

TOKEN = Address("0x" + "11" * 20)
QUOTE = Address("0x" + "22" * 20)
ETHER = Price(usd=3_000.0, decimals=18)
DOLLAR = Price(usd=1.0, decimals=6)


@pytest.mark.parametrize(
    ("prices", "liquidity_usd", "quote_side_usd"),
    [
        ({QUOTE: ETHER}, 12_000.0, 6_000.0),
        ({TOKEN: DOLLAR}, 10_000_000.0, 5_000_000.0),
        ({QUOTE: ETHER, TOKEN: DOLLAR}, 5_006_000.0, 6_000.0),
    ],
    ids=["quote priced: twice its side", "token priced: twice its side", "both: their sum"],
)
def test_value(prices: dict[Address, Price], liquidity_usd: float, quote_side_usd: float) -> None:
    value = value_pool(
        token=TOKEN,
        quote=QUOTE,
        token_reserve_raw=RawAmount(5_000_000 * 10**6),
        quote_reserve_raw=RawAmount(2 * 10**18),
        prices=prices,
    )
    assert value is not None
    assert value.liquidity_usd == pytest.approx(liquidity_usd)
    assert value.quote_side_usd == pytest.approx(quote_side_usd)


@given(st.integers(0, 2**256 - 1), st.integers(0, 2**256 - 1))
def test_an_unpriced_side_is_never_taken_at_its_own_word(token: int, quote: int) -> None:
    value = value_pool(
        token=TOKEN,
        quote=QUOTE,
        token_reserve_raw=RawAmount(token),
        quote_reserve_raw=RawAmount(quote),
        prices={QUOTE: ETHER},
    )
    assert value is not None
    assert value.liquidity_usd == 2 * value.quote_side_usd == 2 * ETHER.value_usd(RawAmount(quote))


def test_no_price_is_no_value() -> None:
    assert (
        value_pool(
            token=TOKEN,
            quote=QUOTE,
            token_reserve_raw=RawAmount(1),
            quote_reserve_raw=RawAmount(1),
            prices={},
        )
        is None
    )
