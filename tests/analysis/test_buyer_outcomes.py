"""Protects the score of a verdict: trapped, sold, or not known, and what counts as an error."""

import pytest

from analysis.backtest.buyer_outcomes import (
    LEAST_BUYERS,
    BuyerOutcome,
    ConfusionRow,
    LaunchedToken,
    PoolTrade,
    ScoredToken,
    confusion_of,
    false_safe,
    outcomes_of,
)
from core.primitives import Address

HOUR, DAY, WEEK = 3_600, 86_400, 604_800


def who(number: int) -> Address:
    return Address(f"0x{number:040x}")


def launch(*trades: tuple[int, int, str]) -> LaunchedToken:
    """Trades as second, trader, and b or s."""
    return LaunchedToken(
        token=who(100),
        pool=who(101),
        first_block=5,
        first_s=0,
        trades=tuple(
            PoolTrade(time_s=time_s, trader=who(trader), is_buy=side == "b")
            for time_s, trader, side in trades
        ),
    )


BUYS = tuple((at, at, "b") for at in range(LEAST_BUYERS))


@pytest.mark.parametrize(
    ("trades", "until_s", "expected"),
    [
        (BUYS, WEEK, ("trapped", "trapped", "trapped")),
        (BUYS, DAY, ("trapped", "trapped", "open")),
        (BUYS, HOUR - 1, ("open", "open", "open")),
        (BUYS[1:], WEEK, ("few", "few", "few")),
        ((*BUYS, (HOUR + 1, 1, "s")), WEEK, ("trapped", "sold", "sold")),
        ((*BUYS, (60, 9, "s")), WEEK, ("trapped", "trapped", "trapped")),  # who never bought
        (((0, 1, "s"), *BUYS), WEEK, ("trapped", "trapped", "trapped")),  # before they bought
        ((*BUYS, (60, 1, "s")), HOUR - 1, ("sold", "sold", "sold")),
        ((), WEEK, ("few", "few", "few")),
    ],
)
def test_an_outcome_is_of_those_who_bought(
    trades: tuple[tuple[int, int, str], ...], until_s: int, expected: tuple[BuyerOutcome, ...]
) -> None:
    assert tuple(outcomes_of(launch(*trades), until_s=until_s).values()) == expected


def scored(verdict: str, hour: BuyerOutcome) -> ScoredToken:
    return ScoredToken(
        token=who(1),
        block_number=4,
        verdict=verdict,
        outcomes={"hour": hour, "day": "sold"},
    )


def test_the_matrix_counts_each_token_once_a_span() -> None:
    rows = confusion_of(
        [scored("safe", "sold"), scored("safe", "trapped"), scored("danger", "few")]
    )
    assert rows == [
        ConfusionRow(verdict="danger", span="hour", trapped=0, sold=0, few=1, open=0),
        ConfusionRow(verdict="danger", span="day", trapped=0, sold=1, few=0, open=0),
        ConfusionRow(verdict="safe", span="hour", trapped=1, sold=1, few=0, open=0),
        ConfusionRow(verdict="safe", span="day", trapped=0, sold=2, few=0, open=0),
    ]


def test_only_safe_and_trapped_within_the_hour_is_an_error() -> None:
    wrong = scored("safe", "trapped")
    others = [scored("danger", "trapped"), scored("warning", "trapped"), scored("safe", "few")]
    assert false_safe([wrong, *others]) == [wrong]
