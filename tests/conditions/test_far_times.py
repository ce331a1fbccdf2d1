"""The oracle for sales that change after months: real ones then, and the report today."""

from itertools import pairwise
from typing import Final

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import ZooToken
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_traps import place, with_traps

DAYS: Final = (31, 75, 270)
"""Ages at which real sales are tried."""

TRAPS: Final = ("TwoMonthsToken", "QuarterToken", "MonthSquareToken")
DOUBLES: Final = ("TwoMonthsFeeToken", "QuarterFeeToken", "ShortClockToken")


def harms(chain: Chain, token: ZooToken) -> list[bool]:
    """Return for each age of `DAYS` if a sale fails then, or loses half."""
    seller = chain.fresh_account()
    assert chain.buy(token, seller).success
    found = []
    for before, days in pairwise((0, *DAYS)):
        chain.wait((days - before) * 86_400, blocks=2)
        amount_raw = chain.balance(token.address, seller) // 4
        sold = chain.sell(token, seller, amount_raw)
        found.append(not sold.success or sold.pool_in < amount_raw // 2)
    return found


@pytest.mark.parametrize("contract", TRAPS)
async def test_sales_that_the_clock_stops_within_a_year_are_found(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    chain = with_traps(chain)
    token = place(chain, contract, knows_pair=True)
    report = await judge(context, token.address)
    assert report.scan.sell_blocked_later or report.scan.sell_tax_rises
    first, *later = harms(chain, token)
    assert (first, any(later)) == (False, True)


@pytest.mark.parametrize("contract", DOUBLES)
async def test_other_changes_are_no_harm(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    chain = with_traps(chain)
    token = place(chain, contract, knows_pair=True)
    report = await judge(context, token.address)
    assert (report.scan.sell_blocked_later, report.scan.sell_tax_rises) == (False, False)
    assert not any(harms(chain, token))


@pytest.mark.parametrize(
    ("contract", "kept"), [("DearerLaterToken", 80), ("TwoMonthsFeeToken", 100)]
)
async def test_a_later_tax_below_half_is_noted(
    chain: Chain, context: ChainContext, contract: str, kept: int
) -> None:
    chain = with_traps(chain)
    token = place(chain, contract, knows_pair=True)
    report = await judge(context, token.address)
    assert report.scan.untested_conditions is (kept < 90)
    seller = chain.fresh_account()
    assert chain.buy(token, seller).success
    chain.wait(70 * 86_400, blocks=2)
    amount_raw = chain.balance(token.address, seller) // 4
    assert chain.sell(token, seller, amount_raw).pool_in * 100 // amount_raw == kept
