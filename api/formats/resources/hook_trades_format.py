"""What trades in a pool with a hook cost, as an answer."""

from typing import Literal

from analysis.quotes.hook_trades import MeasuredTrades
from analysis.scenarios.trade.sized_trades import SizedTrade, TradeDirection
from analysis.simulation.simulate_v1 import Passed, Refused
from api.formats.shape_building import Shape


class HookTrade(Shape, frozen=True, kw_only=True):
    """One simulated buy, or sale of what a buy of that size brought in the next block."""

    side: TradeDirection
    """Direction of the trade."""
    size_usd: float
    """USD that the buyer pays, within a tenth."""
    wait_s: int
    """Seconds after the next block."""
    block_number: int | None
    """Number of the simulated block. null: not run."""
    blocks_left_out: int | None
    """Blocks by which that number is too low for the wait, as nodes skip only so many. null: not
    run."""
    outcome: Literal["passed", "refused", "unknown"]
    """refused: it reverts, or brings nothing. unknown: not run, or not learnt; never passed."""
    reason: str
    """Why it did not pass. Empty: it did."""
    amount_raw: str | None
    """Paid in, in smallest units: of the quote token, of a sale of the token. null: not run."""
    tax_pct: float | None
    """Percent that the hook and the token together take. null: not known."""
    pool_fee_pct: float | None
    """Percent that the pool keeps as its fee; half or more is also in tax_pct. null: not known."""


class HookTrades(Shape, frozen=True, kw_only=True):
    """What trades cost by size, moment and direction. null: none differ, and not all are known."""

    trades: tuple[HookTrade, ...]
    """Buys, then sales; by size, then by moment."""
    trades_reason: str
    """Why there are none. Empty: there are."""
    varies_by_size: bool | None
    """Whether outcome, tax or fee differ by more than 0.1 points with the size alone."""
    varies_by_time: bool | None
    """The same with the moment alone."""
    varies_by_side: bool | None
    """The same between buys and sales."""


def hook_trades(measured: MeasuredTrades) -> HookTrades:
    """Return the answer for one pool."""
    return HookTrades(
        trades=tuple(map(_trade, measured.trades)),
        trades_reason=measured.reason,
        varies_by_size=measured.varies_by_size,
        varies_by_time=measured.varies_by_time,
        varies_by_side=measured.varies_by_side,
    )


def _trade(trade: SizedTrade) -> HookTrade:
    outcome, block = trade.outcome, trade.block
    passed = isinstance(outcome, Passed)
    return HookTrade(
        side=trade.side,
        size_usd=trade.size_usd,
        wait_s=trade.wait_s,
        block_number=None if block is None else block.number,
        blocks_left_out=None if block is None else block.left_out,
        outcome="passed" if passed else "refused" if isinstance(outcome, Refused) else "unknown",
        reason="" if isinstance(outcome, Passed) else outcome.reason,
        amount_raw=None if trade.amount_raw is None else str(trade.amount_raw),
        tax_pct=outcome.tax if isinstance(outcome, Passed) else None,
        pool_fee_pct=trade.pool_fee_pct,
    )
