"""Protects the score of a verdict: each buyer counts, outcomes count, unknown is not fine."""

import msgspec
import polars as pl
import pytest

from analysis.backtest.buyer_outcomes import (
    BuyerCounts,
    BuyerOutcome,
    ConfusionRow,
    LaunchedToken,
    LaunchOutcome,
    ReadSale,
    ScoredToken,
    confusion_of,
    false_safe,
    outcomes_of,
    outcomes_of_buyers,
)
from analysis.backtest.pool_trades import PoolTrade, attribute_trades
from core.evm.primitives import Address, HexBytes
from core.report.launch_events import FirstTrade, LaunchEvents, LaunchTrade, LaunchTransfer

HOUR, DAY, WEEK = 3_600, 86_400, 604_800
UNIT = 10**18


def who(number: int) -> Address:
    return Address(f"0x{number:040x}")


def buy(at: int, trader: int, *, price: float = 1.0, got: float = 1.0) -> PoolTrade:
    """A purchase of one token. `got`: the share of it that arrived."""
    return PoolTrade(
        block_number=at,
        time_s=at,
        trader=who(trader),
        is_buy=True,
        moved_raw=got * UNIT,
        pool_raw=UNIT,
        quote_raw=price * UNIT,
    )


def sale(at: int, trader: int, *, price: float = 1.0, arrived: float = 1.0) -> PoolTrade:
    """A sale of one token. `arrived`: the share of it that reached the pool."""
    return PoolTrade(
        block_number=at,
        time_s=at,
        trader=who(trader),
        is_buy=False,
        moved_raw=UNIT,
        pool_raw=arrived * UNIT,
        quote_raw=arrived * price * UNIT,
    )


def launch(*done: PoolTrade | ReadSale) -> LaunchedToken:
    return LaunchedToken(
        token=who(100),
        pool=HexBytes(who(101)),
        first_block=5,
        first_s=0,
        trades=tuple(one for one in done if isinstance(one, PoolTrade)),
        read=tuple(one for one in done if isinstance(one, ReadSale)),
    )


BUYS: tuple[PoolTrade | ReadSale, ...] = tuple(buy(at, at) for at in range(1, 4))


def failed(at: int, trader: int) -> ReadSale:
    return ReadSale(block_number=at, time_s=at, trader=who(trader), asked_raw=None, has_failed=True)


def sale_read(at: int, trader: int, amount: float) -> ReadSale:
    """A sale that passed, and how much it was to sell."""
    return ReadSale(
        block_number=at,
        time_s=at,
        trader=who(trader),
        asked_raw=int(amount * UNIT),
        has_failed=False,
    )


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ((buy(1, 1),), "untried"),
        ((buy(1, 1), sale(2, 1)), "sold"),
        ((buy(1, 1), sale(2, 1, arrived=0.51)), "sold"),
        ((buy(1, 1), sale(2, 1, arrived=0.49)), "short"),
        ((buy(1, 1), sale(2, 1, price=0.01)), "short"),
        # The market fell before, by another seller.
        ((buy(1, 1), sale(2, 9, price=0.3), sale(3, 1, price=0.29)), "sold"),
        # It had risen by the buys of others, and this sale is weighty.
        ((buy(1, 1), buy(2, 9, price=9), sale(3, 1, price=1.2)), "sold"),
        # No event reports the amount that the token kept.
        ((buy(1, 1), sale(2, 1), sale_read(2, 1, 3)), "short"),
        ((buy(1, 1), sale(2, 1), sale_read(2, 1, 1.9)), "sold"),
        ((buy(1, 1), sale(2, 1), sale_read(3, 1, 3)), "sold"),
        ((buy(1, 1), sale(2, 1), sale(2, 1), sale_read(2, 1, 3)), "sold"),
        ((buy(1, 1), failed(2, 1)), "refused"),
        ((buy(1, 1), failed(2, 1), sale(3, 1)), "sold"),
        ((buy(1, 1), sale(2, 1), failed(3, 1)), "refused"),
        ((buy(1, 1), sale(2, 1, arrived=0.1), sale(3, 1)), "short"),
        ((buy(1, 1, got=0.02),), "short"),
        ((sale(1, 1), buy(2, 1)), "untried"),
        ((buy(1, 1), failed(HOUR + 1, 1)), "untried"),
        ((buy(1, 1), sale(HOUR + 1, 1)), "untried"),
    ],
)
def test_a_buyer_is_judged_by_what_came_out(
    done: tuple[PoolTrade | ReadSale, ...], expected: BuyerOutcome
) -> None:
    assert outcomes_of_buyers(launch(*done), span_s=HOUR)[who(1)] == expected


@pytest.mark.parametrize(
    ("done", "until_s", "expected"),
    [
        (BUYS, WEEK, ("untried", "untried", "untried")),
        (BUYS, DAY, ("untried", "untried", "open")),
        ((), WEEK, ("untried", "untried", "untried")),
        ((*BUYS, sale(HOUR + 1, 1)), WEEK, ("untried", "sold", "sold")),
        ((*BUYS, sale(60, 9)), WEEK, ("untried", "untried", "untried")),  # 9 never bought
        # One who sold does not clear the token for another.
        ((*BUYS, sale(60, 1), failed(70, 2)), WEEK, ("trapped", "trapped", "trapped")),
        ((*BUYS, sale(60, 1), failed(70, 2)), HOUR - 1, ("trapped", "trapped", "trapped")),
        ((*BUYS, sale(60, 1)), HOUR - 1, ("open", "open", "open")),
        ((*BUYS, failed(70, 9)), WEEK, ("untried", "untried", "untried")),
    ],
)
def test_an_outcome_is_of_all_who_bought(
    done: tuple[PoolTrade | ReadSale, ...],
    until_s: int,
    expected: tuple[LaunchOutcome, ...],
) -> None:
    found = outcomes_of(launch(*done), until_s=until_s)
    assert tuple(one.outcome for one in found.values()) == expected


def test_every_buyer_is_counted_once() -> None:
    done = (*BUYS, buy(4, 4), sale(5, 1), sale(6, 2, arrived=0.01), failed(7, 3))
    assert outcomes_of(launch(*done), until_s=WEEK)["hour"] == BuyerCounts(
        bought=4, untried=1, sold=1, refused=1, short=1, outcome="trapped"
    )


POOL, TOKEN, MANAGER = who(101), who(100), who(102)
FIRST = FirstTrade(pool=HexBytes(POOL), holder=POOL, token=TOKEN, first_block=5, first_s=0)
IN_MANAGER = FirstTrade(
    pool=HexBytes("0x" + "ab" * 32), holder=MANAGER, token=TOKEN, first_block=5, first_s=0
)


def swap(log: int, token_in: float, quote_in: float) -> LaunchTrade:
    return LaunchTrade(
        block_number=5,
        log_index=log,
        time_s=7,
        token_in_raw=token_in * UNIT,
        quote_in_raw=quote_in * UNIT,
    )


def move(log: int, sender: Address, recipient: Address, amount: float) -> LaunchTransfer:
    return LaunchTransfer(
        block_number=5, log_index=log, sender=sender, recipient=recipient, amount_raw=amount * UNIT
    )


@pytest.mark.parametrize(
    ("first", "trades", "moves", "expected"),
    [
        # A purchase, and a sale of which the token keeps nine tenths, in one block.
        (
            FIRST,
            [swap(3, -10, 1), swap(9, 1, -0.1)],
            [move(1, POOL, who(1), 10), move(5, who(1), TOKEN, 9), move(7, who(1), POOL, 1)],
            [(who(1), True, 10, 10), (who(1), False, 10, 1)],
        ),
        # The token sells its fees between a seller's fee and what is left of the sale.
        (
            FIRST,
            [swap(4, 5, -0.5), swap(9, 1, -0.1)],
            [move(1, who(1), TOKEN, 9), move(3, TOKEN, POOL, 5), move(7, who(1), POOL, 1)],
            [(who(1), False, 10, 1)],
        ),
        # A fee of a purchase goes to a purse.
        (
            FIRST,
            [swap(3, -10, 1)],
            [move(1, POOL, who(8), 1), move(2, POOL, who(1), 9)],
            [(who(1), True, 9, 10)],
        ),
        # The purse gets more than the buyers, of each.
        (
            FIRST,
            [swap(3, -10, 1), swap(7, -20, 2)],
            [
                *(move(1, POOL, who(8), 9), move(2, POOL, who(1), 1)),
                *(move(5, POOL, who(8), 18), move(6, POOL, who(2), 2)),
            ],
            [(who(1), True, 1, 10), (who(2), True, 2, 20)],
        ),
        # A manager of pools settles after its event.
        (
            IN_MANAGER,
            [swap(1, -10, 1), swap(5, 4, -0.4)],
            [move(2, MANAGER, who(1), 10), move(6, who(2), MANAGER, 4)],
            [(who(1), True, 10, 10), (who(2), False, 4, 4)],
        ),
        # Nobody is known to have traded.
        (FIRST, [swap(3, -10, 1)], [move(1, who(1), who(2), 10)], []),
    ],
)
def test_a_trade_is_of_whom_the_transfers_tell(
    first: FirstTrade,
    trades: list[LaunchTrade],
    moves: list[LaunchTransfer],
    expected: list[tuple[Address, bool, float, float]],
) -> None:
    found = attribute_trades(first, LaunchEvents(trades=trades, transfers=moves))
    seen = [(one.trader, one.is_buy, one.moved_raw / UNIT, one.pool_raw / UNIT) for one in found]
    assert seen == expected


def scored(verdict: str, hour: LaunchOutcome) -> ScoredToken:
    counts = {
        "hour": BuyerCounts(bought=3, untried=0, sold=3, refused=0, short=0, outcome=hour),
        "day": BuyerCounts(bought=3, untried=0, sold=3, refused=0, short=0, outcome="sold"),
    }
    return ScoredToken(token=who(1), block_number=4, verdict=verdict, buyers=counts)


def test_the_matrix_counts_each_token_once_a_span() -> None:
    rows = confusion_of(
        [scored("safe", "sold"), scored("safe", "trapped"), scored("danger", "untried")]
    )
    assert rows == [
        ConfusionRow(verdict="danger", span="hour", trapped=0, sold=0, untried=1, open=0),
        ConfusionRow(verdict="danger", span="day", trapped=0, sold=1, untried=0, open=0),
        ConfusionRow(verdict="safe", span="hour", trapped=1, sold=1, untried=0, open=0),
        ConfusionRow(verdict="safe", span="day", trapped=0, sold=2, untried=0, open=0),
    ]


def test_the_matrix_is_what_polars_counts_in_the_lines_of_the_command() -> None:
    outcomes: tuple[LaunchOutcome, ...] = ("trapped", "sold", "sold", "untried", "open")
    tokens = [
        scored(verdict, outcome)
        for at, verdict in enumerate(("safe", "danger", "warning"))
        for outcome in outcomes[at:]
    ]
    lines = b"\n".join(map(msgspec.json.encode, tokens))
    outcome = pl.col("buyers").struct.field("hour").struct.field("outcome")
    counted = pl.read_ndjson(lines).group_by("verdict", outcome).len().rows()
    rows = [row for row in confusion_of(tokens) if row.span == "hour"]
    matrix = [
        (row.verdict, outcome, count)
        for row in rows
        for outcome in ("trapped", "sold", "untried", "open")
        if (count := getattr(row, outcome))
    ]
    assert sorted(matrix) == sorted(counted)
    assert len(matrix) == 10


def test_only_safe_and_trapped_within_the_hour_is_an_error() -> None:
    wrong = scored("safe", "trapped")
    others = [scored("danger", "trapped"), scored("warning", "trapped"), scored("safe", "untried")]
    assert false_safe([wrong, *others]) == [wrong]
