"""Protects the comparison of a real trade with a prediction: right, wrong, or open."""

import pytest

from core.evm.primitives import Address
from core.report.report import TradeOutcome
from indexer.accuracy.prediction_checks import check_swap, check_transfer
from indexer.watched.real_trades import RealTrade, SwapReading, TradeSide
from indexer.watched.token_swaps import TokenSwap
from sql.reports.accuracy_counts import PredictedPool, PredictedTransfer

TOKEN, POOL, TRADER, OWNER, CREATOR, OTHER = (bytes([number]) * 20 for number in range(1, 7))


def text(address: bytes) -> Address:
    return Address("0x" + address.hex())


def predicted(outcome: TradeOutcome | None, tax_pct: float | None) -> PredictedPool:
    return PredictedPool(
        token_id=1,
        token=text(TOKEN),
        pool=text(POOL),
        pool_id=None,
        kind="AmmV2",
        quote=text(OTHER),
        token0=None,
        hooks=None,
        dex="a dex",
        buy=outcome,
        buy_tax=tax_pct,
        sell=outcome,
        sell_tax=tax_pct,
        report_block=1,
        report_time_s=1,
        owner=text(OWNER),
        creator=text(CREATOR),
    )


def reading(
    tax_pct: float | None,
    *,
    side: TradeSide = "sell",
    trader: bytes = TRADER,
    others: frozenset[bytes] = frozenset(),
) -> SwapReading:
    swap = TokenSwap(
        log_index=1, first_log=1, pool=POOL, holder=POOL, recipient=trader, token_in=1.0
    )
    trade = None
    if tax_pct is not None:
        trade = RealTrade(
            log_index=1, pool=POOL, side=side, trader=trader, tax_pct=tax_pct, others=others
        )
    return SwapReading(swap=swap, side=side, is_own=False, trade=trade)


CASES: dict[str, tuple[SwapReading, PredictedPool, list[str]]] = {
    "as predicted": (reading(5.2), predicted("passed", 5.0), ["agreed", "agreed"]),
    "more, to the token": (
        reading(25.0, others=frozenset({TOKEN})),
        predicted("passed", 5.0),
        ["agreed", "disagreed"],
    ),
    "more, burnt": (
        reading(25.0, others=frozenset({bytes(20)})),
        predicted("passed", 5.0),
        ["agreed", "disagreed"],
    ),
    "more, to somebody": (
        reading(25.0, others=frozenset({OTHER})),
        predicted("passed", 5.0),
        ["agreed", "open"],
    ),
    "less": (reading(0.0), predicted("passed", 5.0), ["agreed", "open"]),
    "more than was paid out": (
        reading(-9.0, side="buy"),
        predicted("passed", 0.0),
        ["uncounted", "uncounted"],
    ),
    "the owner": (
        reading(0.0, trader=OWNER),
        predicted("passed", 5.0),
        ["uncounted", "uncounted"],
    ),
    "the creator": (reading(0.0, trader=CREATOR), predicted("refused", None), ["uncounted"]),
    "refused": (reading(0.0), predicted("refused", None), ["open"]),
    "not told": (reading(None), predicted("passed", 5.0), ["uncounted", "uncounted"]),
    "without a tax": (reading(5.0), predicted("passed", None), ["agreed"]),
    "pending": (reading(5.0), predicted("pending", None), []),
    "not predicted": (reading(5.0), predicted(None, None), []),
}


@pytest.mark.parametrize("name", CASES)
def test_a_trade_says_only_what_is_certain(name: str) -> None:
    trade, prediction, results = CASES[name]
    assert [one.result for one in check_swap(trade, prediction, is_alone=True)] == results


@pytest.mark.parametrize("name", CASES)
def test_a_trade_among_others_says_nothing(name: str) -> None:
    trade, prediction, _ = CASES[name]
    results = {one.result for one in check_swap(trade, prediction, is_alone=False)}
    assert results <= {"uncounted"}


@pytest.mark.parametrize(
    ("sender", "recipient", "can_transfer", "result"),
    [
        (TRADER, OTHER, True, "agreed"),
        (TRADER, OTHER, False, "open"),
        (OWNER, OTHER, False, "uncounted"),
        (TRADER, CREATOR, True, "uncounted"),
        (bytes(20), OTHER, True, "uncounted"),
        (TRADER, TOKEN, True, "uncounted"),
    ],
)
def test_a_transfer_of_ordinary_holders_says_something(
    sender: bytes, recipient: bytes, can_transfer: bool, result: str
) -> None:
    prediction = PredictedTransfer(
        token_id=1,
        token=text(TOKEN),
        transfer_success=can_transfer,
        report_block=1,
        report_time_s=1,
        owner=text(OWNER),
        creator=text(CREATOR),
    )
    assert check_transfer(sender, recipient, prediction).result == result
