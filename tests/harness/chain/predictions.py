"""Comparison of a pool's predicted trades with real ones."""

import pytest

from assay.demo.layout import ZooToken
from core.report.report import PoolResultRow, Report
from tests.harness.chain.trade_oracle import RealOutcome

TAX_POINTS = 0.01
"""Largest distance of a predicted tax from the real one, in percentage points."""


def predicted(side: str | None) -> bool | None:
    return {"passed": True, "refused": False, None: None}[side]


def assert_pool_agrees(pool: PoolResultRow, real: RealOutcome) -> None:
    assert predicted(pool.buy) is real.buy_success
    assert pool.buy_tax == pytest.approx(real.buy_tax, abs=TAX_POINTS)
    if real.sell_success is None:
        # Nobody could buy, so nobody could try to sell; the service may know more, never a pass.
        assert pool.sell != "passed"
        return
    assert predicted(pool.sell) is real.sell_success
    assert pool.sell_tax == pytest.approx(real.sell_tax, abs=TAX_POINTS)


def pool_of(report: Report, token: ZooToken) -> PoolResultRow:
    """Return the token's own pool, among those that its transfers may have created."""
    assert report.pools is not None
    (pool,) = [row for row in report.pools if row.pool == token.pool.address]
    return pool


MOST_TRIPS = 3
MOST_CALLS = 81
