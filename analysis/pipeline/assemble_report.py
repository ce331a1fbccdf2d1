"""Assembles the report from static findings, current state and simulation results. Pure.

Values that depend on the time of the response, or are policy over stored facts (the owner gate, the
clock of a timebomb), are computed when the report is rendered.
"""

from collections.abc import Mapping

import msgspec

from analysis.launchpads.verdict import IssuerOrigin
from analysis.liquidity.token_liquidity import TokenLiquidityHolder
from analysis.liquidity.withdrawal_risk import LiquidityRisk
from analysis.market.curves.curve_pools import ValuedCurve, with_curves
from analysis.market.pool_ranking import TradeResult, ValuedPool, either, pool_rows
from analysis.scenarios.theft.theft_checks import TheftFindings
from analysis.scenarios.trade.transfer import TransferResult
from analysis.simulation.simulate_v1 import NotSimulated, Passed
from analysis.token import timebomb_status
from analysis.token.burned_supply import Burned
from analysis.token.cap_evaluation import CapLimits
from analysis.token.contract_clock import ContractClock
from analysis.token.creation_findings import CreationFindings
from analysis.token.holders import TopHolders
from analysis.token.metadata import Metadata
from analysis.token.ownership import Ownership
from analysis.token.source_verification import SourceFindings
from core.evm.code_shape import CodeShape
from core.evm.primitives import Address, BlockRef
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from core.report.powers import Power
from core.report.report import (
    ClockLimitRow,
    EvidenceRow,
    PoolResultRow,
    Report,
    ReportRow,
    StateWord,
)
from core.report.track_record import TrackRecord


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """All results of one analysis so far."""

    chain_id: int
    token: Address
    pin: BlockRef
    metadata: Metadata
    burned: Burned
    holdings: TopHolders
    ownership: Ownership
    owner_slots_vacant: bool | None
    """None: not read, or not all."""
    implementation: Address | None
    """Address of the analysed code, for a proxy."""
    static: StaticFindings
    clock: ContractClock | None
    """None: no code compares it, or the chain did not answer."""
    clock_limits: tuple[ClockLimitRow, ...]
    pools: tuple[ValuedPool, ...]
    curves: tuple[ValuedCurve, ...]
    origin: IssuerOrigin
    is_every_pool_known: bool
    """False: there may be more. If no pool is known, pools then count as not resolved."""
    trades: Mapping[str, TradeResult | str]
    """Results by Candidate.key; PENDING for unfinished simulations."""
    transfer: TransferResult | None
    """None: not checked yet, or there was no wallet to check with."""
    transfer_checked_at_s: int | None
    """Unix seconds of the last check that settled or had no wallet. None: there was none."""
    custody: TheftFindings | None
    """None: not checked yet."""
    untested_conditions: bool | None = None
    """None: the code's conditions are not known, or not checked yet."""
    hidden_owner_controls: bool | None = None
    """None: not every condition is known."""
    caps: CapLimits = CapLimits()
    """Sizes of the caps in force."""
    creates_balances: bool | None = None
    balances_can_be_created: bool | None = None
    """None: not simulated yet, or not every open function was probed."""
    is_sale_blocked_by_calls: bool = False
    """True if calls of a stranger make an ordinary sale fail."""
    creation: CreationFindings | None = None
    """None: not known."""
    powers: tuple[Power, ...] = ()
    are_powers_known: bool | None = None
    """None: the code was not analysed."""
    liquidity_risk: LiquidityRisk | None = None
    """None: not read, or there is no pool."""
    liquidity_holders: tuple[TokenLiquidityHolder, ...] = ()
    """Accounts with liquidity that is not burnt: the largest free part first, then contracts, then
    locks. Empty: none is known."""
    openness: SourceFindings
    evidence: tuple[EvidenceRow, ...]
    state: tuple[StateWord, ...] | None = None
    shape: CodeShape | None = None
    """Shape of the analysed code. None: not known."""
    track_record: TrackRecord | None = None
    """None: not known yet, or the index does not have the token."""


def combine(facts: Facts, *, is_settled: bool, now_s: int, min_liquidity_usd: float) -> Report:
    """Return the report. Findings without a result yet are None."""
    return Report(
        token=_token_row(facts, is_settled=is_settled, now_s=now_s),
        static=_with_seen_tax(facts, is_settled=is_settled),
        scan=_scan_findings(facts),
        pools=_pool_rows(facts, min_liquidity_usd=min_liquidity_usd),
        holders=(*facts.burned.holders, *facts.holdings.top),
        clock_limits=facts.clock_limits,
        evidence=facts.evidence,
        state=facts.state,
        powers=facts.powers,
        are_powers_known=facts.are_powers_known,
        shape=facts.shape,
        track_record=facts.track_record,
    )


def _token_row(facts: Facts, *, is_settled: bool, now_s: int) -> ReportRow:
    transfer, custody = facts.transfer, facts.custody
    return ReportRow(
        chain_id=facts.chain_id,
        address=facts.token,
        block_number=facts.pin.number,
        block_hash=facts.pin.hash,
        block_time_s=facts.pin.time_s,
        scanned_at_s=now_s,
        is_settled=is_settled,
        name=facts.metadata.name,
        symbol=facts.metadata.symbol,
        decimals=facts.metadata.decimals,
        supply_raw=facts.metadata.supply_raw,
        # A false balanceOf can return more than the supply.
        burned_raw=min(facts.burned.burned_raw, facts.metadata.supply_raw),
        owner_address=facts.ownership.owner_address,
        ownership_renounced=facts.ownership.ownership_renounced,
        is_open_source=facts.openness.is_open_source,
        has_open_source_implementation=facts.openness.has_open_source_implementation,
        implementation=facts.implementation,
        timebomb_status=_timebomb_status(facts),
        transfer_success=transfer.success if transfer else None,
        send_tax=transfer.send_tax if transfer else None,
        receive_tax=transfer.receive_tax if transfer else None,
        transfer_checked_at_s=facts.transfer_checked_at_s,
        allowance_bypass=custody.allowance_bypass if custody else None,
        privileged_spenders=custody.privileged_spenders if custody else (),
        funds_can_be_drained=custody.funds_can_be_drained if custody else None,
        owner_can_change_balance=custody.owner_can_change_balance if custody else None,
        is_launchpad_token=facts.origin.is_launchpad,
        launchpad_name=facts.origin.name,
        creator_address=facts.holdings.creator,
        creator_balance_raw=facts.holdings.creator_balance_raw,
        owner_slots_vacant=facts.owner_slots_vacant,
        clock_block=facts.clock.block_number if facts.clock else None,
        clock_time_s=facts.clock.time_s if facts.clock else None,
        others_raw=facts.holdings.others_raw,
    )


def _scan_findings(facts: Facts) -> ScanFindings:
    return ScanFindings(
        sell_blocked_later=of_pools(facts.trades, "sell_blocked_later"),
        sell_tax_rises=of_pools(facts.trades, "sell_tax_rises"),
        sell_depends_on_size=of_pools(facts.trades, "sell_depends_on_size"),
        sell_blocked_after_others=True
        if facts.is_sale_blocked_by_calls
        else of_pools(facts.trades, "sell_blocked_after_others"),
        sell_depends_on_conditions=of_pools(facts.trades, "sell_depends_on_conditions"),
        untested_conditions=facts.untested_conditions,
        hidden_owner_controls=facts.hidden_owner_controls,
        unproved_custody=facts.custody.is_unproved if facts.custody else None,
        creates_balances=facts.creates_balances,
        balances_can_be_created=facts.balances_can_be_created,
        hidden_creation=facts.creation.is_hidden if facts.creation else None,
        unexplained_creation=facts.creation.is_unexplained if facts.creation else None,
        liquidity_risk=facts.liquidity_risk,
        trading_cap_pct=_share_pct(facts, facts.caps.transfer_raw),
        position_cap_pct=_share_pct(facts, facts.caps.holding_raw),
    )


def _share_pct(facts: Facts, amount_raw: int | None) -> float | None:
    supply_raw = facts.metadata.supply_raw
    return None if amount_raw is None or not supply_raw else round(100 * amount_raw / supply_raw, 6)


def _pool_rows(facts: Facts, *, min_liquidity_usd: float) -> tuple[PoolResultRow, ...] | None:
    """Return the rows of pools and curves. None: none is known, and there may be some."""
    if not (facts.pools or facts.curves or facts.is_every_pool_known):
        return None
    return with_curves(
        pool_rows(facts.pools, facts.trades, min_liquidity_usd=min_liquidity_usd),
        facts.curves,
        min_liquidity_usd=min_liquidity_usd,
    )


_SEEN_TAX_PCT = 0.1
"""Percent. A lower tax may be rounding."""


def _with_seen_tax(facts: Facts, *, is_settled: bool) -> StaticFindings:
    """Set `has_tax_functionality` if a simulation showed a tax that static analysis missed; None if
    the node could not run the simulations. A tax taken by a V4 hook is not the token's."""
    if facts.static.has_tax_functionality is not False:
        return facts.static
    hooked = {pool.candidate.key for pool in facts.pools if pool.candidate.hooks is not None}
    outcomes = [
        outcome
        for key, trade in facts.trades.items()
        if isinstance(trade, TradeResult) and key not in hooked
        for outcome in (trade.buy, trade.sell)
    ]
    taxes = [outcome.tax for outcome in outcomes if isinstance(outcome, Passed)]
    if facts.transfer is not None:
        taxes += [facts.transfer.send_tax, facts.transfer.receive_tax]
    seen = [tax for tax in taxes if tax is not None]
    if any(tax > _SEEN_TAX_PCT for tax in seen):
        return msgspec.structs.replace(facts.static, has_tax_functionality=True)
    is_unseen = not seen and any(
        isinstance(outcome, NotSimulated) and outcome.missing == "NODE" for outcome in outcomes
    )
    if is_settled and is_unseen:
        return msgspec.structs.replace(facts.static, has_tax_functionality=None)
    return facts.static


def of_pools(trades: Mapping[str, TradeResult | str], *findings: str) -> bool | None:
    """Combine findings over all pools whose sale passed. None: not known for one, or no sale
    passed."""
    answers = [
        getattr(trade, finding)
        for trade in trades.values()
        if isinstance(trade, TradeResult) and isinstance(trade.sell, Passed)
        for finding in findings
    ]
    return either(*answers)


def _timebomb_status(facts: Facts) -> str | None:
    return timebomb_status.find_status(
        facts.static.timebomb,
        facts.clock_limits,
        clock=facts.clock,
        can_change=timebomb_status.storage_can_change(
            ownership_renounced=facts.ownership.ownership_renounced,
            owner_slots_vacant=facts.owner_slots_vacant,
        ),
    ).status
