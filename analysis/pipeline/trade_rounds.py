"""The simulation rounds of one analysis: transfers and buys first, then sales and their variants.

Inputs: ranked pools and wallets. Outputs: a result for each pool, one of the transfer, evidence.
"""

import asyncio
from collections.abc import Collection, Sequence

import msgspec

from analysis.market.pool_ranking import TradeResult, ValuedPool, either
from analysis.market.venues.pool import Candidate
from analysis.market.venues.venue_registry import venue_of
from analysis.pipeline import pool_simulations
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.condition_reads import read_accounts
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import trade_setups, what_if_blocks
from analysis.pipeline.pool_simulations import PoolFindings, PoolSimulations
from analysis.scenarios.conditions import condition_check
from analysis.scenarios.conditions.condition_check import ConditionFindings, ConditionSimulations
from analysis.scenarios.later import crowd
from analysis.scenarios.later.crowd import CrowdHoldings, CrowdOpening
from analysis.scenarios.later.later_sales import LaterSale, LaterSales, find_first_sale
from analysis.scenarios.trade import buy, liquidity_reach, sale, transfer
from analysis.scenarios.trade.buy import Bought, BuySimulation
from analysis.scenarios.trade.liquidity_reach import ReachableLiquidity, ReachSimulation
from analysis.scenarios.trade.sale import Sale, Sold
from analysis.scenarios.trade.trade_outcome import HEAVY_TAX_PCT
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.scenarios.trade.transfer import TransferResult, TransferSimulation, Wallet
from analysis.simulation import fee_market
from analysis.simulation.backends import perform
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Passed,
    Refused,
    Simulation,
    SimulationResult,
)
from core.evm.primitives import Address
from core.report.fields.static_findings import StaticFindings
from core.report.report import EvidenceRow


class Buys(msgspec.Struct, frozen=True, kw_only=True):
    """Results of the first simulation round: transfers and buys."""

    transfers: tuple[tuple[TransferSimulation, SimulationResult | NotSimulated], ...]
    """The transfer check by each wallet, not checked yet."""
    bought: tuple[tuple[TradeSetup, Bought], ...]
    crowds: tuple[CrowdHoldings | None, ...]
    """One for each bought pool. None: not simulated, or no buy passed."""
    refused: dict[str, TradeResult]
    """Pools that cannot be traded at all, by Candidate.key, with the reason."""
    reached: dict[str, ReachableLiquidity]
    """Reach of the liquidity, by Candidate.key, of the pools where it was simulated."""
    evidence: tuple[EvidenceRow, ...]


class Sales(msgspec.Struct, frozen=True, kw_only=True):
    """Results of the second simulation round: sales, transfers by a buyer, and condition checks."""

    trades: dict[str, TradeResult]
    """Results by Candidate.key."""
    transfer: TransferResult | None
    """Transfer of the buyer, where there was one; else of the first round."""
    untested_conditions: bool | None
    """True if a pool has any. None: not known for one of the pools, or nothing was traded."""
    names_harm: bool | None
    """True if trades come to harm once the owner has set an address to one of their parties. None:
    not known."""
    evidence: tuple[EvidenceRow, ...]


async def simulate_buys(
    context: ChainContext,
    first_round: FirstRound,
    token: Address,
    pools: Sequence[ValuedPool],
    wallets: Sequence[Wallet],
) -> Buys:
    """Simulate transfers, and buys in every pool, in one round trip. Raises UpstreamError."""
    written = _write_buy_round(context, first_round, token, pools, wallets)
    transferred, opened, reached_results, *bought_results = await _send(
        context, first_round, written.groups
    )
    if written.probe is not None:
        probed = written.buys[0][0].simulation
        context.memory.remember_base_fee(probed, written.probe, bought_results[0][0])
    results_of_openings = iter(opened)
    crowds = tuple(
        None if opening is None else crowd.read_opening(opening, next(results_of_openings))
        for opening in written.openings
    )
    bought, evidence, reached = [], list[EvidenceRow](), {}
    for reach, result in zip(written.reaches, reached_results, strict=True):
        key = reach.pool.candidate.key
        reached[key] = liquidity_reach.read_result(reach, result)
        evidence += _evidence(
            f"reach:{key}", liquidity_reach.VERSION, [reach.simulation], [result], reached[key]
        )
    for setup, buys, results in zip(written.setups, written.buys, bought_results, strict=True):
        settled = buy.read_buys(buys, results)
        # Later simulations use the probed base fee, which the buys could not yet.
        disguise = context.memory.with_base_fee(setup.disguise)
        bought.append((msgspec.structs.replace(setup, disguise=disguise), settled))
        simulations = [each.simulation for each in buys]
        evidence += _evidence(
            f"buy:{setup.candidate.key}", buy.VERSION, simulations, results, settled.outcome
        )
    return Buys(
        transfers=tuple(zip(written.transfers, transferred, strict=True)),
        bought=tuple(bought),
        crowds=crowds,
        refused=written.refused,
        reached=reached,
        evidence=tuple(evidence),
    )


class _BuyRound(msgspec.Struct, frozen=True, kw_only=True):
    """The simulations of the first round, ready to be sent."""

    setups: Sequence[TradeSetup]
    refused: dict[str, TradeResult]
    buys: Sequence[Sequence[BuySimulation]]
    """Buys by setup."""
    probe: CallHandle | None
    """Reads the base fee within the first buy. None: no buy, or the base fee is known."""
    transfers: Sequence[TransferSimulation]
    openings: Sequence[CrowdOpening | None]
    """Openings by setup. None: the node does not simulate."""
    reaches: Sequence[ReachSimulation]

    @property
    def groups(self) -> list[list[SimulationJob]]:
        """Jobs of the transfers, of the openings, of the reaches, and of each pool's buys."""
        return [
            [SimulationJob(simulation=each.simulation) for each in self.transfers],
            [
                SimulationJob(simulation=opening.simulation, pool=setup.candidate.pool)
                for setup, opening in zip(self.setups, self.openings, strict=True)
                if opening is not None
            ],
            [simulation_job(each.pool.candidate, each.simulation) for each in self.reaches],
            *(
                [simulation_job(setup.candidate, each.simulation) for each in buys]
                for setup, buys in zip(self.setups, self.buys, strict=True)
            ),
        ]


def _write_buy_round(
    context: ChainContext,
    first_round: FirstRound,
    token: Address,
    pools: Sequence[ValuedPool],
    wallets: Sequence[Wallet],
) -> _BuyRound:
    setups, refused = trade_setups(context, first_round, pools)
    buys = [list(buy.write_buys(setup)) for setup in setups]
    probe = None
    if buys and context.memory.is_base_fee_open:
        probed, probe = fee_market.with_probe(buys[0][0].simulation)
        buys[0][0] = msgspec.structs.replace(buys[0][0], simulation=probed)
    block = what_if_blocks(context, first_round)[0]
    pin, disguise = first_round.pin, first_round.disguise
    return _BuyRound(
        setups=setups,
        refused=refused,
        buys=buys,
        probe=probe,
        transfers=[
            transfer.write_simulation(pin, disguise, token, wallet, block=block)
            for wallet in wallets
        ],
        openings=[pool_simulations.write_opening(context, first_round, setup) for setup in setups],
        reaches=_write_reaches(context, first_round, pools),
    )


async def simulate_sales(
    context: ChainContext,
    first_round: FirstRound,
    buys: Buys,
    *,
    wallets: Sequence[Wallet],
    special: Collection[Address],
    static: StaticFindings,
    is_wait_equal: bool,
    checks: Sequence[ConditionSimulations | None],
) -> Sales:
    """Simulate sales of the bought tokens (whole, in parts, later, after others) and a transfer.

    Takes one round trip. `wallets`: includes the real holders, which sell for the census.
    `special`: wallets whose transfer does not count, because the code may treat them differently.
    `is_wait_equal`: the code makes all buyers wait equally long, so that a later sale counts.
    `checks`: condition simulations, one for each bought pool. Raises UpstreamError.
    """
    written = _write_sale_round(context, first_round, buys, static=static, checks=checks)
    written[:1] = [
        each.with_census(context, first_round, wallets=wallets, special=special)
        for each in written[:1]
    ]
    sendings = (
        (setup.candidate, sending)
        for setup, bought in buys.bought
        if (sending := sale.write_sending(setup, bought)) is not None
    )
    by_buyer = next(sendings, None)
    sending_jobs = [simulation_job(by_buyer[0], by_buyer[1].simulation)] if by_buyer else []
    callees = [callee for check in checks if check for callee in check.callees]
    (sent, *of_pools), accounts = await asyncio.gather(
        _send(context, first_round, [sending_jobs, *(each.jobs for each in written)]),
        read_accounts(context, callees, block=first_round.pin.hash),
    )
    senders = transfer.choose([written.wallet for written, _ in buys.transfers], special)
    transferred, evidence = _combine_transfers(
        [each for each in buys.transfers if each[0].wallet in senders]
    )
    trades = dict(buys.refused)
    conditions: list[ConditionFindings] = []
    sent_later: list[TransferResult] = []
    for pool, results in zip(written, of_pools, strict=True):
        found = pool.read(results, accounts, is_wait_equal=is_wait_equal)
        sent_later += found.sent_later
        trades[pool.setup.candidate.key] = found.trade
        evidence += found.evidence
        if pool.settles_conditions:
            conditions.append(found.conditions)
    if by_buyer is not None:
        by_buyer_result, rows = _read_sending(by_buyer[1], sent, sent_later)
        transferred = by_buyer_result or transferred
        evidence += rows
    return Sales(
        trades=liquidity_reach.settle(trades, buys.reached),
        transfer=transferred,
        untested_conditions=either(*(each.untested for each in conditions)),
        names_harm=either(*(each.names_harm for each in conditions)),
        evidence=tuple(evidence),
    )


def _read_sending(
    simulation: TransferSimulation,
    sent: Sequence[SimulationResult | NotSimulated],
    sent_later: Sequence[TransferResult],
) -> tuple[TransferResult | None, list[EvidenceRow]]:
    """Return the buyer's transfer; where all buyers wait, the first after that. None: not known."""
    result = transfer.read_result(simulation, sent[0])
    if result.success is None:
        return None, []
    if not result.success and sent_later:
        return sent_later[0], []
    evidence = _evidence("transfer", transfer.VERSION, [simulation.simulation], sent, result)
    return result, evidence


class _PoolTrade(msgspec.Struct, frozen=True, kw_only=True):
    """Result of the sales in one pool."""

    trade: TradeResult
    conditions: ConditionFindings
    sent_later: tuple[TransferResult, ...]
    """Transfers after the wait of all buyers. Empty: there is no such wait."""
    evidence: tuple[EvidenceRow, ...]


class _PoolSales(msgspec.Struct, frozen=True, kw_only=True):
    """The simulations of the second round in one pool, ready to be sent."""

    setup: TradeSetup
    bought: Bought
    sales: Sequence[Sale]
    further: PoolSimulations
    check: ConditionSimulations | None

    @property
    def settles_conditions(self) -> bool:
        """True if conditions of the token or of a hook are to be settled in this pool."""
        has_plans = self.check is not None and bool(self.check.plans)
        return has_plans or self.setup.candidate.hooks is not None

    @property
    def jobs(self) -> list[SimulationJob]:
        """Jobs, in the order in which `read` expects the results."""
        return [
            *(simulation_job(self.setup.candidate, one.simulation) for one in self.sales),
            *self.further.jobs,
            *(self.check.jobs if self.check else ()),
        ]

    def with_census(
        self,
        context: ChainContext,
        first_round: FirstRound,
        *,
        wallets: Sequence[Wallet],
        special: Collection[Address],
    ) -> "_PoolSales":
        """Return them with a census of sales by real holders."""
        further = pool_simulations.with_census(
            context, first_round, self.further, wallets=wallets, special=special
        )
        return msgspec.structs.replace(self, further=further)

    def read(
        self,
        results: Sequence[SimulationResult | NotSimulated],
        accounts: Collection[Address],
        *,
        is_wait_equal: bool,
    ) -> _PoolTrade:
        """Combine the results. `accounts`: callees that have no code and cannot get any;
        `is_wait_equal`: all buyers wait equally long."""
        start = len(self.sales)
        end = start + len(self.further.jobs)
        found = pool_simulations.read_simulations(self.further, results[start:end])
        sold = sale.read_sales(
            self.bought, self.sales, results[:start], sells_in_parts=found.sells_in_parts
        )
        conditions = ConditionFindings(names_harm=None)
        if self.check is not None and isinstance(sold.outcome, Passed):
            conditions = condition_check.read_results(
                self.check, results[end:], accounts, usual_tax=sold.outcome.tax
            )
        simulations = [one.simulation for one in self.sales]
        key = f"sell:{self.setup.candidate.key}"
        first = find_first_sale(found.later) if is_wait_equal and found.later else None
        waited = first if _is_refused_to_all(sold) else None
        return _PoolTrade(
            trade=combine_pool_trades(self.bought, sold, found, conditions)
            if waited is None or found.later is None
            else _after_wait(self.bought, waited, found.later),
            conditions=conditions,
            sent_later=() if waited is None or found.later is None else _sent(found.later, waited),
            evidence=(
                *_evidence(key, sale.VERSION, simulations, results[:start], sold),
                *found.evidence,
                *conditions.evidence,
            ),
        )


def _write_sale_round(
    context: ChainContext,
    first_round: FirstRound,
    buys: Buys,
    *,
    static: StaticFindings,
    checks: Sequence[ConditionSimulations | None],
) -> list[_PoolSales]:
    """Return the simulations by pool. Sales in parts are for the deepest pool, and for others where
    size may matter."""
    supply_raw = first_round.admitted.metadata.supply_raw
    return [
        _PoolSales(
            setup=setup,
            bought=bought,
            sales=sale.write_sales(setup, bought, supply_raw=supply_raw),
            further=pool_simulations.write_simulations(
                context,
                first_round,
                setup,
                bought,
                holdings,
                has_size_limit=not at
                or _has_size_limit(static)
                or setup.candidate.hooks is not None,
            ),
            check=check,
        )
        for at, ((setup, bought), holdings, check) in enumerate(
            zip(buys.bought, buys.crowds, checks, strict=True)
        )
    ]


def _is_refused_to_all(sold: Sold) -> bool:
    """True if a buyer of no size could sell within an hour."""
    outcomes = (sold.outcome, *(size.outcome for size in sold.sizes))
    return bool(sold.sizes) and all(isinstance(outcome, Refused) for outcome in outcomes)


def _after_wait(bought: Bought, waited: LaterSale, later: LaterSales) -> TradeResult:
    """Return the result of the sale after a wait. What-ifs and sales after others were simulated
    within it, so their findings stay None."""
    return TradeResult(
        buy=bought.outcome,
        sell=waited.sale,
        sell_blocked_later=later.is_blocked,
        sell_tax_rises=later.tax_rises,
    )


def _sent(later: LaterSales, waited: LaterSale) -> tuple[TransferResult, ...]:
    """Return the transfers at and after the first sale that settled."""
    moments = later.moments[later.moments.index(waited) :]
    return tuple(
        each.transfer
        for each in moments
        if each.transfer is not None and each.transfer.success is not None
    )


def _has_size_limit(static: StaticFindings) -> bool:
    """True if code may revert a transfer for its size, or if that is not known."""
    limits = (static.has_trading_cap_functionality, static.has_position_cap_functionality)
    return any(limit is not False for limit in limits)


def combine_pool_trades(
    bought: Bought, sold: Sold, found: PoolFindings, conditions: ConditionFindings
) -> TradeResult:
    """Combine the sale at the pinned state with later and other sales. If it reverts, those stay
    None."""
    if isinstance(sold.outcome, Refused) and isinstance(found.by_permit2, Passed):
        # Findings of sales through the usual router do not hold for sales through Permit2.
        return TradeResult(buy=bought.outcome, sell=found.by_permit2)
    if isinstance(sold.outcome, Refused):
        return TradeResult(buy=bought.outcome, sell=sold.outcome)
    tax = sold.outcome.tax if isinstance(sold.outcome, Passed) else None
    is_heavy = tax is not None and tax >= HEAVY_TAX_PCT
    seen = [each.tax_rises for each in (found.later, found.crowd) if each is not None]
    rises = True if conditions.tax_rises else either(*seen) if seen else None
    later = found.later.is_blocked if found.later else None
    after = found.crowd.is_blocked if found.crowd else None
    return TradeResult(
        buy=bought.outcome,
        sell=sold.outcome,
        sell_blocked_later=True if conditions.blocked_later else later,
        sell_tax_rises=None if is_heavy else rises,
        sell_depends_on_size=sold.depends_on_size,
        sell_depends_on_conditions=None if is_heavy else conditions.depends_on_conditions,
        sell_blocked_after_others=True if conditions.blocked_after_others else after,
    )


def _write_reaches(
    context: ChainContext, first_round: FirstRound, pools: Sequence[ValuedPool]
) -> list[ReachSimulation]:
    """Return the simulations of liquidity reach, of the pools where it is due."""
    least_usd = context.settings.min_liquidity_usd
    due = [pool for pool in pools if liquidity_reach.is_due(pool, min_liquidity_usd=least_usd)]
    written = []
    for pool in due:
        key = pool.candidate.key
        reach = venue_of(pool.candidate.dex).reach(
            pool.candidate,
            free=first_round.disguise.account(f"{key}:reach router"),
            mark=first_round.disguise.account(f"{key}:reach mark"),
        )
        if reach is None:
            continue
        simulation = liquidity_reach.write_simulation(
            reach,
            pool,
            pin=first_round.pin,
            disguise=first_round.disguise,
            block=what_if_blocks(context, first_round)[0],
            token_code=first_round.admitted.code,
            supply_raw=first_round.admitted.metadata.supply_raw,
            min_liquidity_usd=least_usd,
        )
        written.append(simulation)
    return written


def simulation_job(candidate: Candidate, simulation: Simulation) -> SimulationJob:
    """Return the simulation with the pool that it trades in."""
    has_witness = venue_of(candidate.dex).entries is None
    return SimulationJob(simulation=simulation, pool=candidate.pool, has_witness=has_witness)


async def _send(
    context: ChainContext, first_round: FirstRound, groups: Sequence[Sequence[SimulationJob]]
) -> list[list[SimulationResult | NotSimulated]]:
    """Simulate all groups together; return the results grouped as the jobs were."""
    jobs = [job for group in groups for job in group]
    results = iter(await perform(context.node, context.capabilities, jobs, codes=first_round.codes))
    return [[next(results) for _ in group] for group in groups]


def _combine_transfers(
    transfers: Sequence[tuple[TransferSimulation, SimulationResult | NotSimulated]],
) -> tuple[TransferResult | None, list[EvidenceRow]]:
    """Return the result of the first wallet whose check settled; wallets come in order of
    preference.

    A pass is unsettled if another wallet's transfer reverts: the code treats one of them
    differently.
    """
    if not transfers:
        return None, []
    checked = [transfer.read_result(written, result) for written, result in transfers]
    simulations = [written.simulation for written, _ in transfers]
    results = [result for _, result in transfers]
    at = next((at for at, result in enumerate(checked) if result.success is not None), 0)
    chosen = checked[at]
    if chosen.success and any(result.success is False for result in checked):
        chosen = transfer.unsettled("one wallet can send and another cannot")
    return chosen, _evidence("transfer", transfer.VERSION, simulations[at:], results[at:], chosen)


def _evidence(
    key: str,
    version: int,
    simulations: Sequence[Simulation],
    results: Sequence[SimulationResult | NotSimulated],
    outcome: object,
) -> list[EvidenceRow]:
    """Return one row for each simulation of one check, numbered where there are several."""
    return [
        simulation_evidence(f"{key}#{at}" if at else key, version, simulation, result, outcome)
        for at, (simulation, result) in enumerate(zip(simulations, results, strict=True))
        if isinstance(result, SimulationResult)
    ]
