"""Which pools are traded on stage, and what a pool's row says of each outcome."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.discovery import Candidate
from analysis.liquidity import PoolValue
from analysis.market import (
    PENDING,
    PoolState,
    TradeResult,
    ValuedPool,
    pick_traded,
    pool_rows,
)
from analysis.stage import NotRun, Outcome, Passed, Refused
from config.chains import Dex, DexKind
from config.primitives import Address, RawAmount

TOKEN = Address("0x" + "11" * 20)
QUOTE = Address("0x" + "22" * 20)
LIMIT_USD = 100.0


def valued(
    usd: float, *, kind: DexKind = "AmmV2", in_range: int | None = None, number: int = 1
) -> ValuedPool:
    dex = Dex(name="D", kind=kind, factory=Address("0x" + "33" * 20))
    return ValuedPool(
        candidate=Candidate(dex=dex, pool=Address(f"0x{number:040x}"), token=TOKEN, quote=QUOTE),
        state=PoolState(
            token_reserve_raw=RawAmount(1),
            quote_reserve_raw=RawAmount(1),
            in_range_liquidity=in_range,
        ),
        value=PoolValue(liquidity_usd=usd, quote_side_usd=usd / 2),
    )


PASSED, REFUSED = Passed(tax=1.5), Refused(reason="no")
NODE, POOL = NotRun(missing="NODE", reason="gone"), NotRun(missing="POOL", reason="odd")


@pytest.mark.parametrize(
    ("buy", "sell", "buy_row", "sell_row", "code"),
    [
        (PASSED, PASSED, ("passed", 1.5), ("passed", 1.5), None),
        (PASSED, REFUSED, ("passed", 1.5), ("refused", None), "sell_reverted"),
        (REFUSED, REFUSED, ("refused", None), ("refused", None), "buy_reverted"),
        (REFUSED, POOL, ("refused", None), (None, None), "buy_reverted"),
        (NODE, NODE, (None, None), (None, None), "simulation_unavailable"),
        (POOL, POOL, (None, None), (None, None), "missing_swap_parameters"),
        (PASSED, NODE, ("passed", 1.5), (None, None), "simulation_unavailable"),
    ],
)
def test_an_outcome_is_never_taken_for_another(
    buy: Outcome,
    sell: Outcome,
    buy_row: tuple[str | None, float | None],
    sell_row: tuple[str | None, float | None],
    code: str | None,
) -> None:
    pool = valued(1_000.0)
    trades = {pool.candidate.key: TradeResult(buy=buy, sell=sell)}
    (row,) = pool_rows([pool], trades, min_liquidity_usd=LIMIT_USD)
    assert (row.buy, row.buy_tax) == buy_row
    assert (row.sell, row.sell_tax) == sell_row
    assert row.error_code == code
    assert (row.error_message is None) == (code is None)


@pytest.mark.parametrize(
    ("pool", "code"),
    [
        (valued(100.0), "liquidity_too_low"),
        (valued(0.0), "liquidity_too_low"),
        (valued(100.01), None),
        (valued(1e6, kind="AmmV3", in_range=0), "no_in_range_liquidity"),
        (valued(1e6, kind="AmmV3", in_range=5), None),
    ],
)
def test_exactly_the_limit_is_not_more_than_it(pool: ValuedPool, code: str | None) -> None:
    (row,) = pool_rows([pool], {}, min_liquidity_usd=LIMIT_USD)
    assert row.error_code == code
    assert row.buy is None
    assert row.sell is None
    picked = pick_traded([pool], at_most=5, min_liquidity_usd=LIMIT_USD)
    assert bool(picked) == (code is None)


def test_running_plays_are_pending() -> None:
    pool = valued(1_000.0)
    (row,) = pool_rows([pool], {pool.candidate.key: PENDING}, min_liquidity_usd=LIMIT_USD)
    assert (row.buy, row.sell, row.error_code) == ("pending", "pending", None)


@given(st.lists(st.floats(0, 1e9), max_size=12), st.integers(1, 6))
def test_the_deepest_pools_are_traded(depths: list[float], at_most: int) -> None:
    pools = [valued(usd, number=number) for number, usd in enumerate(sorted(depths, reverse=True))]
    picked = pick_traded(pools, at_most=at_most, min_liquidity_usd=LIMIT_USD)
    fit = [pool for pool in pools if pool.value.liquidity_usd > LIMIT_USD]
    assert list(picked) == fit[:at_most]
