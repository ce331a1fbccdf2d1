"""The oracle for locks after a buy: everybody really sells after the same time, or not."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.native.native import render_native
from api.formats.summary.summary import Summary, render_summary
from core.report.report import Report
from tests.harness.api.sample_reports import CLOCK, LIQUID_USD
from tests.harness.chain.contexts import judge
from tests.harness.chain.trade_oracle import pool_of
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_traps import place, with_traps

DAY_S = 86_400


def summary_of(report: Report) -> Summary:
    native = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    return render_summary(
        report,
        native,
        chain="ethereum",
        address=report.token.address,
        liquid_above_usd=LIQUID_USD,
    )


@pytest.mark.parametrize("contract", ["DayLockToken", "EndLockToken"])
async def test_an_equal_lock_of_a_day_is_a_wait(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    chain = with_traps(chain)
    token = place(chain, contract, knows_pair=True)
    report = await judge(context, token.address)
    pool = pool_of(report, token)
    assert (pool.buy, pool.sell, pool.sell_tax) == ("passed", "passed", 0)
    assert report.static.trading_cooldown is True
    assert report.scan.sell_blocked_later is False
    assert report.token.transfer_success is True
    assert report.scan.sell_depends_on_conditions is None
    summary = summary_of(report)
    assert (summary.verdict, summary.can_sell) == ("warning", True)
    assert "trading_cooldown" in {flag.key for flag in summary.flags if flag.active}
    assert not {"sell_failed", "danger_flags"} & set(summary.verdict_reasons)
    trader = chain.fresh_account()
    assert chain.buy(token, trader).success
    chain.node.increase_time(DAY_S // 2)
    assert not chain.sell(token, trader).success
    chain.node.increase_time(DAY_S // 2)
    assert chain.sell(token, trader).success


@pytest.mark.parametrize(
    "contract",
    [
        *("YearLockToken", "GrowingLockToken", "OwnersLockToken"),
        *("InsiderLockToken", "FriendLockToken", "ListedLockToken"),
    ],
)
async def test_a_lock_that_grows_or_spares_some_is_a_refusal(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    chain = with_traps(chain)
    token = place(chain, contract, knows_pair=True)
    report: Report = await judge(context, token.address)
    assert pool_of(report, token).sell == "refused"
