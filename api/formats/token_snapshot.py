"""One report at one moment, from which every format of a token's answer is rendered."""

import msgspec

from analysis.market.token_price import TokenPrice
from analysis.token.contract_clock import ClockReading, ContractClock, clock_at
from config.facts.chain import Chain
from core.report.finding_outcomes import KnownOutcomes
from core.report.report import Report


class TokenSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A report with everything else that its answers depend on, so that its formats agree."""

    chain: Chain
    report: Report
    taken_at_s: float
    """Unix seconds. The report was made at `report.token.scanned_at_s`, at or before."""
    clock: ContractClock | None
    """Clock that a contract of the chain sees at `taken_at_s`; deadlines are compared with it.
    None: it was not read."""
    liquid_above_usd: float
    """A pool counts as liquid above this, not at it."""
    has_owner_simulation: bool
    """True if the deployment simulates whether the owner can change balances."""
    has_liquidity_check: bool = True
    """True if the deployment finds who can withdraw liquidity."""
    price: TokenPrice | None = None
    """None: not requested, or no source has one."""
    outcomes: KnownOutcomes = {}
    """Outcomes of the chain's tokens, by their findings."""

    @property
    def is_final(self) -> bool:
        """True if no part of the report is pending; else a later snapshot has more."""
        return is_settled(self.report)

    def age_s(self, now_s: float) -> float:
        """Return the age of the report in seconds, not of this snapshot of it."""
        return max(0.0, now_s - self.report.token.scanned_at_s)


def is_settled(report: Report) -> bool:
    """True if no part of the report is pending."""
    is_traded = not any("pending" in (pool.buy, pool.sell) for pool in report.pools or ())
    return report.token.is_settled and is_traded


def take_snapshot(
    report: Report,
    chain: Chain,
    *,
    now_s: float,
    liquid_above_usd: float,
    has_owner_simulation: bool = False,
    has_liquidity_check: bool = True,
    clock: ContractClock | None = None,
    price: TokenPrice | None = None,
) -> TokenSnapshot:
    """Take the snapshot of a report now. Without a clock, the report's is extrapolated to now."""
    return TokenSnapshot(
        chain=chain,
        report=report,
        taken_at_s=now_s,
        clock=clock or clock_after(report, chain, now_s=now_s),
        liquid_above_usd=liquid_above_usd,
        has_owner_simulation=has_owner_simulation,
        has_liquidity_check=has_liquidity_check,
        price=price,
    )


def clock_after(report: Report, chain: Chain, *, now_s: float) -> ContractClock | None:
    """Return the contract clock read by the analysis, extrapolated to now. None: it was not read.

    The offset between the chain's time and this machine's is kept.
    """
    token = report.token
    if token.clock_block is None or token.clock_time_s is None:
        return None
    reading = ClockReading(block_number=token.clock_block, time_s=token.clock_time_s)
    clock = clock_at(reading, block_interval_s=chain.clock_block_time_s)
    return clock.moved_on(max(0, int(now_s) - token.scanned_at_s))
