"""The simulation rounds of one analysis: transfers and buys first, then sales and their variants.

Inputs: ranked pools and wallets. Outputs: a result for each pool, one of the transfer, evidence.
"""

import asyncio
from collections.abc import Collection, Sequence

import msgspec

from analysis.market import routers
from analysis.market.pool_ranking import TradeResult, ValuedPool, either
from analysis.market.pool_reserves import READABLE_KINDS
from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Reach
from analysis.pipeline import pool_plays
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.condition_reads import read_codeless
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_plays import PoolFindings
from analysis.scenarios import buy, condition_check, crowd, liquidity_reach, sale, transfer
from analysis.scenarios.buy import Bought
from analysis.scenarios.condition_check import ConditionFindings, ConditionPlays
from analysis.scenarios.crowd import Crowd
from analysis.scenarios.liquidity_reach import Reached
from analysis.scenarios.sale import Sold
from analysis.scenarios.trade_outcome import HEAVY_TAX_PCT
from analysis.scenarios.trade_setup import TradeSetup
from analysis.scenarios.transfer import TransferResult, Wallet
from analysis.simulation import fee_market
from analysis.simulation.backends import perform
from analysis.simulation.block_schedule import next_blocks
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import (
    NotSimulated,
    Passed,
    Refused,
    Simulation,
    SimulationResult,
)
from core.fields.static_findings import StaticFindings
from core.primitives import ZERO_ADDRESS, Address
from core.report import EvidenceRow


class Buys(msgspec.Struct, frozen=True, kw_only=True):
    """Results of the first simulation round: transfers and buys."""

    sendings: tuple[tuple[Wallet, Simulation, SimulationResult | NotSimulated], ...]
    """The transfer check by each wallet, not judged yet."""
    bought: tuple[tuple[TradeSetup, Bought], ...]
    crowds: tuple[Crowd | None, ...]
    """One for each bought pool. None: not simulated, or no buy passed."""
    refused: dict[str, TradeResult]
    """Pools that cannot be traded at all, by Candidate.key, with the reason."""
    reached: dict[str, Reached]
    """Reach of the liquidity, by Candidate.key, of the pools where it was simulated."""
    evidence: tuple[EvidenceRow, ...]


class Sales(msgspec.Struct, frozen=True, kw_only=True):
    """Results of the second simulation round: sales, transfers by a buyer, and condition checks."""

    trades: dict[str, TradeResult]
    """By Candidate.key."""
    transfer: TransferResult | None
    """Of the buyer, where there was one; else of the first round."""
    untested_conditions: bool | None
    """True if a pool has any. None: not known for one of the pools, or nothing was traded."""
    evidence: tuple[EvidenceRow, ...]


async def play_buys(
    context: ChainContext,
    look: FirstRound,
    token: Address,
    pools: Sequence[ValuedPool],
    wallets: Sequence[Wallet],
) -> Buys:
    """Simulate transfers, and buys in every pool, in one round trip. Raises UpstreamError."""
    grounds, refused = _grounds(context, look, pools)
    buys = [buy.write_buys(ground) for ground in grounds]
    if buys and context.is_base_fee_open:
        buys[0] = (fee_market.with_probe(buys[0][0]), *buys[0][1:])
    block = what_if_blocks(context, look)[0]
    transfers = [
        transfer.write_play(look.pin, look.disguise, token, wallet, block=block)
        for wallet in wallets
    ]
    turns = [
        [_turn(ground, play) for play in plays] for ground, plays in zip(grounds, buys, strict=True)
    ]
    openings = [pool_plays.write_opening(context, look, ground) for ground in grounds]
    asking = _asking(context, look, pools)
    sent, opened, asked, *played = await _send(
        context,
        look,
        [
            [SimulationJob(play=play) for play in transfers],
            [turn for turn in openings if turn is not None],
            [turn for _, _, turn in asking],
            *turns,
        ],
    )
    if buys:
        context.learn_base_fee(buys[0][0], played[0][0])
    results_of_openings = iter(opened)
    crowds = tuple(
        None if turn is None else crowd.read_opening(turn.play, next(results_of_openings))
        for turn in openings
    )
    bought, evidence, reached = [], list[EvidenceRow](), {}
    for (pool, way, turn), result in zip(asking, asked, strict=True):
        key = pool.candidate.key
        reached[key] = liquidity_reach.read_play(way, pool, result)
        evidence += _evidence(
            f"reach:{key}", liquidity_reach.VERSION, [turn.play], [result], reached[key]
        )
    for ground, plays, results in zip(grounds, buys, played, strict=True):
        settled = buy.read_buys(ground, results)
        # Later simulations use what the probe learnt of the base fee; the buys could not yet.
        disguise = context.checked(ground.disguise)
        bought.append((msgspec.structs.replace(ground, disguise=disguise), settled))
        evidence += _evidence(
            f"buy:{ground.candidate.key}", buy.VERSION, plays, results, settled.outcome
        )
    return Buys(
        sendings=tuple(zip(wallets, transfers, sent, strict=True)),
        bought=tuple(bought),
        crowds=crowds,
        refused=refused,
        reached=reached,
        evidence=tuple(evidence),
    )


async def play_sales(
    context: ChainContext,
    look: FirstRound,
    buys: Buys,
    *,
    wallets: Sequence[Wallet],
    special: Collection[Address],
    static: StaticFindings,
    checks: Sequence[ConditionPlays | None],
) -> Sales:
    """Simulate sales of the bought tokens (at once, in parts, later, after others) and a transfer,
    in one round trip.

    `wallets`: includes the real holders, who sell for the census. `special`: wallets whose transfer
    does not count, because the code may treat them differently. `static`: static findings.
    `checks`: condition simulations, one for each bought pool. Raises UpstreamError.
    """
    supply_raw = look.admitted.metadata.supply_raw
    sales = [
        sale.write_sales(ground, bought, supply_raw=supply_raw) for ground, bought in buys.bought
    ]
    sendings = (
        (_turn(ground, written[0]), written[1])
        for ground, bought in buys.bought
        if (written := sale.write_sending(ground, bought)) is not None
    )
    sending = next(sendings, None)
    further = [
        pool_plays.write_plays(
            context,
            look,
            ground,
            bought,
            held,
            has_size_limit=not at or _has_size_limit(static) or ground.candidate.hooks is not None,
        )
        for at, ((ground, bought), held) in enumerate(zip(buys.bought, buys.crowds, strict=True))
    ]
    if further:
        further[0] = pool_plays.with_census(
            context, look, further[0], wallets=wallets, special=special
        )
    groups = [
        [
            *(_turn(plays.ground, one.play) for one in each),
            *plays.turns,
            *(check.turns if check else ()),
        ]
        for each, plays, check in zip(sales, further, checks, strict=True)
    ]
    callees = [callee for check in checks if check for callee in check.callees]
    (sent, *played), codeless = await asyncio.gather(
        _send(context, look, [[sending[0]] if sending else [], *groups]),
        read_codeless(context, callees, block=look.pin.hash),
    )
    trades = dict(buys.refused)
    senders = transfer.choose([wallet for wallet, _, _ in buys.sendings], special)
    result, evidence = _judge_transfers(
        [sending for sending in buys.sendings if sending[0] in senders]
    )
    untested: list[bool | None] = []
    for (ground, bought), each, plays, check, results in zip(
        buys.bought, sales, further, checks, played, strict=True
    ):
        key = ground.candidate.key
        start, end = len(each), len(each) + len(plays.turns)
        found = pool_plays.read_plays(plays, results[start:end])
        sold = sale.read_sales(
            ground, bought, each, results[: len(each)], sells_in_parts=found.sells_in_parts
        )
        asked = ConditionFindings()
        if check is not None and isinstance(sold.outcome, Passed):
            asked = condition_check.judge(check, results[end:], codeless)
        if plays is further[0] or ground.candidate.hooks is not None:
            untested.append(asked.untested)
        trades[key] = judge_pool(bought, sold, found, asked)
        evidence += _evidence(
            f"sell:{key}",
            sale.VERSION,
            [one.play for one in each],
            results[: len(each)],
            sold,
        )
        evidence += (*found.evidence, *asked.evidence)
    if sending is not None:
        by_buyer = transfer.read_result(sending[1], sent[0])
        if by_buyer.success is not None:
            result = by_buyer
            evidence += _evidence("transfer", transfer.VERSION, [sending[0].play], sent, by_buyer)
    return Sales(
        trades=liquidity_reach.settle(trades, buys.reached),
        transfer=result,
        untested_conditions=either(*untested),
        evidence=tuple(evidence),
    )


def _has_size_limit(static: StaticFindings) -> bool:
    """True if code may revert a transfer for its size, or if that is not known."""
    limits = (static.has_trading_cap_functionality, static.has_position_cap_functionality)
    return any(limit is not False for limit in limits)


def judge_pool(
    bought: Bought, sold: Sold, found: PoolFindings, asked: ConditionFindings
) -> TradeResult:
    """Combine the sale at the pinned state with later and other sales; if it reverts, they stay
    None."""
    if isinstance(sold.outcome, Refused) and isinstance(found.by_permit2, Passed):
        # Findings of sales through the usual router do not hold for sales through Permit2.
        return TradeResult(buy=bought.outcome, sell=found.by_permit2)
    if isinstance(sold.outcome, Refused):
        return TradeResult(buy=bought.outcome, sell=sold.outcome)
    tax = sold.outcome.tax if isinstance(sold.outcome, Passed) else None
    is_heavy = tax is not None and tax >= HEAVY_TAX_PCT
    rises = [each.tax_rises for each in (found.later, found.crowd) if each is not None]
    later = found.later.is_blocked if found.later else None
    after = found.crowd.is_blocked if found.crowd else None
    return TradeResult(
        buy=bought.outcome,
        sell=sold.outcome,
        sell_blocked_later=True if asked.blocked_later else later,
        sell_tax_rises=None if is_heavy else either(*rises, asked.tax_rises) if rises else None,
        sell_depends_on_size=sold.depends_on_size,
        sell_depends_on_conditions=None if is_heavy else asked.depends_on_conditions,
        sell_blocked_after_others=True if asked.blocked_after_others else after,
    )


def what_if_blocks(context: ChainContext, look: FirstRound) -> tuple[tuple[int, int], ...]:
    """Return number and time of the blocks of buys, approvals, sales and patient sales."""
    waits_s = (0, 0, sale.PATIENCE_S)
    return tuple(
        next_blocks(
            look.pin,
            block_time_s=context.chain.block_time_s,
            now_s=int(context.now_s()),
            waits_s=waits_s,
        )
    )


def _grounds(
    context: ChainContext, look: FirstRound, pools: Sequence[ValuedPool]
) -> tuple[list[TradeSetup], dict[str, TradeResult]]:
    grounds, refused = [], {}
    wrapped = context.chain.wrapped_native.address
    knows_permit2 = routers.knows_permit2(look.codes, context.chain)
    for at, pool in enumerate(pools):
        candidate = pool.candidate
        slot = context.quote_slots.get(candidate.quote)
        ways = routers.ways_of(
            candidate,
            context.routers,
            context.chain,
            free=look.disguise.account(f"{candidate.key}:router"),
        )
        if slot is None and candidate.quote not in (wrapped, ZERO_ADDRESS):
            ways = "the quote token's balances could not be found"
        if isinstance(ways, str):
            missing = NotSimulated(missing="POOL", reason=ways)
            refused[candidate.key] = TradeResult(buy=missing, sell=missing)
            continue
        grounds.append(
            TradeSetup(
                pin=look.pin,
                disguise=look.disguise,
                blocks=what_if_blocks(context, look),
                candidate=candidate,
                quote_reserve_raw=pool.trade_reference_raw,
                way=ways[0],
                permit2_way=ways[1] if len(ways) > 1 and (knows_permit2 or at == 0) else None,
                quote_slot_index=None if candidate.quote == wrapped else slot,
                token_slot_index=look.token_slot_index,
            )
        )
    return grounds, refused


def _asking(
    context: ChainContext, look: FirstRound, pools: Sequence[ValuedPool]
) -> list[tuple[ValuedPool, Reach, SimulationJob]]:
    """Return the pools whose liquidity reach is to be simulated, with route and job."""
    least_usd = context.settings.min_liquidity_usd
    due = [pool for pool in pools if liquidity_reach.is_due(pool, min_liquidity_usd=least_usd)]
    asking = []
    for pool in due:
        key = pool.candidate.key
        way = routers.reach_of(
            pool.candidate,
            free=look.disguise.account(f"{key}:reach router"),
            mark=look.disguise.account(f"{key}:reach mark"),
        )
        if way is None:
            continue
        play = liquidity_reach.write_play(
            way,
            pool,
            pin=look.pin,
            disguise=look.disguise,
            block=what_if_blocks(context, look)[0],
            token_code=look.admitted.code,
            supply_raw=look.admitted.metadata.supply_raw,
            min_liquidity_usd=least_usd,
        )
        turn = SimulationJob(
            play=play, pool=pool.candidate.pool, has_witness=_has_witness(pool.candidate)
        )
        asking.append((pool, way, turn))
    return asking


def _turn(ground: TradeSetup, play: Simulation) -> SimulationJob:
    candidate = ground.candidate
    return SimulationJob(play=play, pool=candidate.pool, has_witness=_has_witness(candidate))


def _has_witness(candidate: Candidate) -> bool:
    return candidate.dex.kind in READABLE_KINDS


async def _send(
    context: ChainContext, look: FirstRound, groups: Sequence[Sequence[SimulationJob]]
) -> list[list[SimulationResult | NotSimulated]]:
    """Simulate all groups together; return the results grouped as the jobs were."""
    turns = [turn for group in groups for turn in group]
    results = iter(await perform(context.node, context.capabilities, turns, codes=look.codes))
    return [[next(results) for _ in group] for group in groups]


def _judge_transfers(
    sendings: Sequence[tuple[Wallet, Simulation, SimulationResult | NotSimulated]],
) -> tuple[TransferResult | None, list[EvidenceRow]]:
    """Return the result of the first wallet whose check settled; wallets come in order of
    preference.

    A pass is unsettled if another wallet's transfer reverts: the code treats one of them
    differently.
    """
    if not sendings:
        return None, []
    judged = [transfer.read_result(wallet, result) for wallet, _, result in sendings]
    plays, results = [play for _, play, _ in sendings], [result for *_, result in sendings]
    at = next((at for at, result in enumerate(judged) if result.success is not None), 0)
    chosen = judged[at]
    if chosen.success and any(result.success is False for result in judged):
        chosen = transfer.unsettled("one wallet can send and another cannot")
    return chosen, _evidence("transfer", transfer.VERSION, plays[at:], results[at:], chosen)


def _evidence(
    key: str,
    version: int,
    plays: Sequence[Simulation],
    results: Sequence[SimulationResult | NotSimulated],
    outcome: object,
) -> list[EvidenceRow]:
    """Return one row for each simulation of one check, numbered where there are several."""
    return [
        simulation_evidence(f"{key}#{at}" if at else key, version, play, result, outcome)
        for at, (play, result) in enumerate(zip(plays, results, strict=True))
        if isinstance(result, SimulationResult)
    ]
