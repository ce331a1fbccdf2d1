"""Protects the tax that is derived from the logs of a trade: the right one, or none."""

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.report.accuracy import TOLERANCE_POINTS
from indexer.decode.swap_transactions import TokenMove
from indexer.watched.real_trades import (
    Prediction,
    RealTrade,
    differs,
    find_trades,
)
from indexer.watched.token_swaps import TokenLogs, TokenSwap

TOKEN, POOL, OTHER_POOL, TRADER, ROUTER, PURSE = (bytes([number]) * 20 for number in range(1, 7))
UNIT = 10**18

amounts = st.integers(10**6, 10**30)
percents = st.integers(0, 100)


class Said(msgspec.Struct):
    """Logs that are written down one after another."""

    moves: list[TokenMove] = []
    swaps: list[TokenSwap] = []
    swapped: set[bytes] = set()
    count: int = 0

    def move(self, sender: bytes, recipient: bytes, amount_raw: int) -> "Said":
        self.moves.append(
            TokenMove(
                log_index=self.next(), sender=sender, recipient=recipient, amount_raw=amount_raw
            )
        )
        return self

    def swap(self, token_in: float, *, to: bytes = ROUTER, pool: bytes = POOL) -> "Said":
        at = self.next()
        one = TokenSwap(
            log_index=at, first_log=at, pool=pool, holder=pool, recipient=to, token_in=token_in
        )
        self.swaps.append(one)
        self.swapped.add(pool)
        return self

    def next(self) -> int:
        self.count += 1
        return self.count

    def trades(self) -> list[tuple[str, bytes, float | None]]:
        logs = TokenLogs(
            token=TOKEN, moves=self.moves, swaps=self.swaps, swapped=frozenset(self.swapped)
        )
        return [(one.side, one.trader, one.tax_pct) for one in find_trades(logs)]


def said() -> Said:
    return Said(moves=[], swaps=[], swapped=set())


@given(amount=amounts, percent=percents, is_swapping_back=st.booleans(), is_fee_first=st.booleans())
def test_a_sale_is_taxed_by_what_the_pool_did_not_get(
    amount: int, percent: int, is_swapping_back: bool, is_fee_first: bool
) -> None:
    """Also where the token sells its own fees in the same transaction, as many do."""
    fee = amount * percent // 100
    logs = said()
    if is_fee_first:
        logs.move(TRADER, TOKEN, fee)
    if is_swapping_back:
        logs.move(TOKEN, POOL, UNIT).swap(float(UNIT))
    if not is_fee_first:
        logs.move(TRADER, TOKEN, fee)
    logs.move(TRADER, POOL, amount - fee).swap(float(amount - fee))
    if amount == fee:
        assert logs.trades() == []  # nothing reached the pool: that is no sale
        return
    ((side, trader, tax_pct),) = logs.trades()
    assert (side, trader) == ("sell", TRADER)
    assert tax_pct == pytest.approx(100 * fee / amount, abs=1e-6)


@given(amount=amounts, percent=percents, is_fee_first=st.booleans())
def test_a_purchase_is_taxed_by_what_did_not_arrive(
    amount: int, percent: int, is_fee_first: bool
) -> None:
    fee = amount * percent // 100
    logs = said()
    if is_fee_first:
        logs.move(POOL, PURSE, fee)
    logs.move(POOL, TRADER, amount - fee)
    if not is_fee_first:
        logs.move(POOL, TOKEN, fee)
    logs.swap(-float(amount), to=TRADER)
    ((side, trader, tax_pct),) = logs.trades()
    assert (side, trader) == ("buy", TRADER)
    assert tax_pct == pytest.approx(100 * fee / amount, abs=1e-6)


UNKNOWN = {
    "the router passes the tokens on": said()
    .move(TRADER, ROUTER, 100 * UNIT)
    .move(ROUTER, POOL, 95 * UNIT)
    .swap(95.0 * UNIT),
    "what was bought goes on": said()
    .move(POOL, ROUTER, 100 * UNIT)
    .swap(-100.0 * UNIT, to=ROUTER)
    .move(ROUTER, TRADER, 90 * UNIT),
    "from pool to pool": said()
    .move(POOL, OTHER_POOL, 100 * UNIT)
    .swap(-100.0 * UNIT, to=OTHER_POOL)
    .swap(90.0 * UNIT, pool=OTHER_POOL, to=TRADER),
    "two sales of one trader": said()
    .move(TRADER, POOL, 50 * UNIT)
    .swap(50.0 * UNIT)
    .move(TRADER, OTHER_POOL, 50 * UNIT)
    .swap(40.0 * UNIT, pool=OTHER_POOL),
    "two who pay": said()
    .move(TRADER, POOL, 50 * UNIT)
    .move(PURSE, POOL, 50 * UNIT)
    .swap(90.0 * UNIT),
    "nobody who pays": said().swap(90.0 * UNIT),
    "the token sells its fees": said().move(TOKEN, POOL, 50 * UNIT).swap(40.0 * UNIT),
    "too little to tell": said().move(TRADER, POOL, 100).swap(90.0),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_can_be_read_in_more_than_one_way_is_not_stated(name: str) -> None:
    assert UNKNOWN[name].trades() == []


def settled(
    moves: list[tuple[bytes, bytes, int]],
    token_in: float,
    *,
    payer: bytes | None = TRADER,
    count: int = 1,
    has_other_entries: bool = False,
    is_order: bool = False,
) -> list[tuple[str, bytes, float | None]]:
    """Trades by a vault's events, which name nobody, with its moves behind them."""
    swaps = [
        TokenSwap(
            log_index=at,
            first_log=at,
            pool=bytes([at]) * 32,
            holder=POOL,
            is_shared=True,
            recipient=None,
            payer=payer,
            token_in=token_in,
            is_order=is_order,
        )
        for at in range(count)
    ]
    logs = TokenLogs(
        token=TOKEN,
        moves=[
            TokenMove(log_index=count + at, sender=sender, recipient=recipient, amount_raw=amount)
            for at, (sender, recipient, amount) in enumerate(moves)
        ],
        swaps=swaps,
        swapped=frozenset({POOL}),
        has_other_entries=has_other_entries,
    )
    return [(one.side, one.trader, one.tax_pct) for one in find_trades(logs)]


@given(amount=amounts, percent=percents, purse=st.sampled_from([TOKEN, PURSE, bytes(20)]))
def test_in_a_vault_who_paid_and_got_tokens_is_the_buyer(
    amount: int, percent: int, purse: bytes
) -> None:
    fee = amount * percent // 100
    moves = [(POOL, purse, fee), (POOL, TRADER, amount - fee)]
    ((side, trader, tax_pct),) = settled(moves, -float(amount))
    assert (side, trader) == ("buy", TRADER)
    assert tax_pct == pytest.approx(100 * fee / amount, abs=1e-6)


@given(amount=amounts, percent=percents)
def test_in_a_vault_a_sale_is_taxed_by_what_did_not_arrive(amount: int, percent: int) -> None:
    """The vault books either the received or the ordered amount."""
    fee = amount * percent // 100
    moves = [(TRADER, PURSE, fee), (TRADER, POOL, amount - fee)]
    expected_pct = 100 * fee / amount
    ((side, trader, tax_pct),) = settled(moves, float(amount), is_order=True)
    assert (side, trader) == ("sell", TRADER)
    assert tax_pct == pytest.approx(expected_pct, abs=1e-6)
    if amount > fee:
        ((side, trader, tax_pct),) = settled(moves, float(amount - fee))
        assert (side, trader) == ("sell", TRADER)
        assert tax_pct == pytest.approx(expected_pct, abs=1e-6)


BOUGHT = [(POOL, TRADER, 90 * UNIT)]
ELSEWHERE = [(POOL, PURSE, 100 * UNIT)]


@pytest.mark.parametrize(
    ("moves", "expected_moves"),
    [
        pytest.param({"payer": None}, [("buy", TRADER, None)], id="nobody is known to have paid"),
        pytest.param({"payer": ROUTER}, [("buy", TRADER, None)], id="a router paid"),
        pytest.param({"count": 2}, [], id="two pools of the token"),
        pytest.param({"has_other_entries": True}, [], id="a pool that may be of the token"),
    ],
)
def test_in_a_vault_what_can_be_read_in_more_than_one_way_is_not_stated(
    moves: dict[str, object], expected_moves: list[tuple[str, bytes, float | None]]
) -> None:
    found = settled(BOUGHT, -100.0 * UNIT, **moves)  # type: ignore[arg-type]  # by the table
    assert found == expected_moves


def test_tokens_that_all_go_to_somebody_who_did_not_pay_state_no_tax() -> None:
    """The trap: a token that sends every purchase to its owner would be one without a tax."""
    assert settled(ELSEWHERE, -100.0 * UNIT) == [("buy", PURSE, None)]


def test_other_pools_of_a_vault_do_not_matter_where_it_gave_just_what_this_one_did() -> None:
    bought = [(POOL, TRADER, 100 * UNIT)]
    assert settled(bought, -100.0 * UNIT, has_other_entries=True) == [("buy", TRADER, 0.0)]


def trade(tax_pct: float) -> RealTrade:
    return RealTrade(log_index=1, pool=POOL, side="sell", trader=TRADER, tax_pct=tax_pct)


@given(tax_pct=st.floats(0, 100), predicted_pct=st.floats(0, 100))
def test_only_a_tax_beyond_the_tolerance_differs(tax_pct: float, predicted_pct: float) -> None:
    assume(abs(abs(tax_pct - predicted_pct) - TOLERANCE_POINTS) > 1e-9)
    predicted = Prediction(outcome="passed", tax_pct=predicted_pct)
    is_other = abs(tax_pct - predicted_pct) > TOLERANCE_POINTS
    assert (differs(trade(tax_pct), predicted) is not None) == is_other


@pytest.mark.parametrize(
    ("outcome", "tax_pct", "is_told"),
    [
        ("passed", None, False),
        ("pending", None, False),
        (None, None, False),
        ("refused", None, True),
        ("passed", 0.0, True),
    ],
)
def test_what_was_not_predicted_is_not_contradicted(
    outcome: str | None, tax_pct: float | None, is_told: bool
) -> None:
    predicted = msgspec.convert({"outcome": outcome, "tax_pct": tax_pct}, Prediction)
    assert (differs(trade(30.0), predicted) is not None) == is_told
