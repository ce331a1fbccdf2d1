"""Orchestrates one token analysis from address to report: three round trips, pinned to one block.

1. first round: admission, burned supply, owner getters, the code behind a proxy, prices, pools
   and their reserves, the balance slots
2. simulation: the transfer check and the buys; beside them, where the code asks for it, the
   owner-check slots, the contract's clock, the slots compared with it, and those that decide caps
                                                                 -> first report, trades pending
3. simulation: the sales, and the theft checks on a holder's tokens      -> settled report

More are needed where the node packs no reads or simulates nothing, where a read needs much gas, for
an unusual proxy, for AmmV4 pools known only by creation events, and once for unconfigured fees.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import msgspec

from analysis.market.native_price import anchor_prices
from analysis.market.pool_ranking import PENDING, ValuedPool, pick_traded, without_doubtful
from analysis.pipeline.assemble_report import Facts, combine
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.condition_reads import read_hook_conditions, read_token_conditions
from analysis.pipeline.external_valuation import appraise, appraised
from analysis.pipeline.first_round import FirstRound, run_first_round
from analysis.pipeline.issuer_round import Issue, read_issue
from analysis.pipeline.offload import in_thread_if_large
from analysis.pipeline.pool_plays import can_play
from analysis.pipeline.second_round import MarketState, run_second_round
from analysis.pipeline.trade_rounds import Buys, play_buys, play_sales, what_if_blocks
from analysis.reads.block_reader import BlockReader
from analysis.scenarios import transfer
from analysis.scenarios.attack_setup import AttackSetup
from analysis.scenarios.condition_check import CodeConditions, ConditionPlays, prepare
from analysis.scenarios.privileged_candidates import suspects
from analysis.scenarios.theft_checks import TheftInquiry, play_custody, read_stored
from analysis.scenarios.victim_buy import find_buyer
from analysis.static.custody.simulation_hints import SimulationHints, StoredAddress
from analysis.token import ownership
from analysis.token.cap_evaluation import with_caps
from analysis.token.cap_state import read_cap_words
from analysis.token.contract_clock import clock_at
from analysis.token.deadline_state import ClockState, read_clock_state
from analysis.token.judge_code import CodeVerdict, judge_code
from analysis.token.owner_controls import find_controls
from analysis.token.owner_slots import NO_SLOTS, NOT_READ, OwnerSlots, read_owner_slots
from analysis.token.source_verification import NOT_ASKED, Openness, find_openness
from config.burn import BURN_ADDRESSES
from core.primitives import Address, BlockRef
from core.report import EvidenceRow, Report

T = TypeVar("T")


class ChainScanner:
    """Analyses tokens of one chain; implements `Scanner`."""

    def __init__(self, context: ChainContext) -> None:
        self._context = context
        self.chain_id = context.chain.id

    def scan(self, token: Address, *, redecompile: bool) -> AsyncIterator[Report]:
        """Run `scan`; `redecompile`: repeat the static analysis even if its results are stored."""
        return scan(self._context, token, redecompile=redecompile)


async def scan(
    context: ChainContext, token: Address, *, redecompile: bool = False
) -> AsyncIterator[Report]:
    """Yield the reports of one analysis; the last one is settled.

    Raises TokenRefusedError for a token that is not admitted, UpstreamError when the node fails.
    """
    newest = await _newest_block(context)
    quotes = [anchor.address for anchor in context.chain.anchors if anchor.address != token]
    known = await context.index.known(context.chain, token, quotes, newest)
    seen = await run_first_round(context, token, newest, known)
    no_wallet_at_s = known.no_wallet_at_s
    del known  # rows of very many pools take much memory, and are candidates by now
    block = seen.pin.hash
    state, judged = await asyncio.gather(
        run_second_round(context, seen, token),
        judge_code(
            context.reader(block, memory=seen.memory),
            token,
            seen.admitted.code,
            seen.standard_slots,
            examine=partial(context.static_results.analyse, anew=redecompile),
        ),
    )
    traded = pick_traded(
        state.pools,
        at_most=context.settings.simulated_pools,
        min_liquidity_usd=context.settings.min_liquidity_usd,
    )
    many = len(state.pools)
    now_s = int(context.now_s())
    is_due = transfer.is_due(no_wallet_at_s, now_s=now_s)
    senders = transfer.shortlist(state.wallets, judged.hints.addresses) if is_due else ()
    async with (
        _beside(play_buys(context, seen, token, traded, senders)) as playing,
        _beside(_openness(context, token, judged)) as opening,
        _beside(appraise(context, state, decimals=seen.admitted.metadata.decimals)) as appraising,
    ):
        asking = asyncio.gather(
            read_token_conditions(context, token, judged, block=block),
            read_hook_conditions(context, traded, block=block),
        )
        reader = context.reader(block)
        owner_slots, clock_state, cap_words, stored, issued = await asyncio.gather(
            _owner_slots(reader, seen, token, judged),
            read_clock_state(reader, token, judged.clock_limits),
            read_cap_words(reader, token, judged.cap_rules),
            read_stored(reader, token, judged.hints.stored),
            read_issue(context, seen, token, has_pool=bool(state.pools)),
        )
        asked, hooks = await asking
        static = with_caps(
            judged.findings,
            judged.cap_rules,
            cap_words,
            supply_raw=seen.admitted.metadata.supply_raw,
            clock=clock_state.reading,
        )
        judged = msgspec.structs.replace(judged, findings=static)
        found = _facts(context, seen, token, judged, owner_slots, clock_state, issued)
        controls = find_controls(
            asked.conditions,
            [hook.conditions for hook in hooks.values()],
            static,
            is_renounced=found.ownership.ownership_renounced,
            stored=stored,
        )
        facts = msgspec.structs.replace(
            found,
            trades={pool.candidate.key: PENDING for pool in traded},
            transfer_checked_at_s=no_wallet_at_s,
            hidden_owner_controls=controls.is_hidden,
            evidence=(*found.evidence, *controls.evidence),
        )
        first = partial(_report, context, facts, state, state.pools, issued, is_settled=False)
        yield await in_thread_if_large(first, pools=many)
        buys = await playing
        owners = (*seen.owners, *(owner_slots.wallets or ()))
        inquiry = _inquiry(
            context, seen, token, state, judged.hints, owners=owners, stored=stored, buys=buys
        )
        sales, custody = await asyncio.gather(
            play_sales(
                context,
                seen,
                buys,
                wallets=state.wallets,
                special={*owners, *judged.hints.addresses, *stored.values()},
                static=judged.findings,
                checks=_checks(context, seen, state, buys, asked, hooks),
            ),
            play_custody(context.node, context.capabilities, inquiry, codes=seen.codes),
        )
        openness, said = await opening, await appraising
    pools = appraised(
        state,
        said,
        anchor_prices(context.chain, seen.native_usd),
        decimals=seen.admitted.metadata.decimals,
    )
    settled = msgspec.structs.replace(
        facts,
        trades=sales.trades,
        transfer=sales.transfer,
        transfer_checked_at_s=transfer.checked_at_s(
            sales.transfer, no_wallet_at_s=no_wallet_at_s, now_s=now_s
        ),
        custody=custody,
        creates_balances=judged.hints.creates_balances,
        untested_conditions=sales.untested_conditions,
        openness=openness,
        evidence=_newest((*facts.evidence, *buys.evidence, *sales.evidence, *custody.evidence)),
    )
    last = partial(_report, context, settled, state, pools, issued, is_settled=True)
    yield await in_thread_if_large(last, pools=many)


def _checks(
    context: ChainContext,
    seen: FirstRound,
    state: MarketState,
    buys: Buys,
    asked: CodeConditions,
    hooks: Mapping[Address, CodeConditions],
) -> list[ConditionPlays | None]:
    """Return condition simulations by pool: the token's in the deepest one, a hook's in its own."""
    if not can_play(context):
        return [None] * len(buys.bought)
    held = {pool.candidate.key: pool.state.token_reserve_raw for pool in state.pools}
    known = {
        *(place for dex in context.chain.dexes for place in (dex.factory, dex.router) if place),
        *(anchor.address for anchor in context.chain.anchors),
        *(pool.candidate.pool for pool in state.pools),
    }
    found = []
    for at, (ground, bought) in enumerate(buys.bought):
        hook = hooks.get(ground.candidate.hooks) if ground.candidate.hooks else None
        codes = [*([] if at else [asked]), *([hook] if hook else [])]
        check = prepare(
            ground,
            bought,
            codes,
            supply_raw=seen.admitted.metadata.supply_raw,
            pool_balance_raw=held[ground.candidate.key],
            known=known,
            block_time_s=context.chain.block_time_s,
        )
        found.append(check)
    return found


async def _newest_block(context: ChainContext) -> BlockRef | None:
    """Return the head, if it is known without a read, or must be fetched beforehand.

    None: the first round reads it inside a packed call. That needs packed reads, and a chain whose
    contracts see its own block numbers.
    """
    newest = context.newest()
    if newest is None and not (
        context.chain.clock == "own" and context.capabilities.packs.is_worth_trying
    ):
        newest = await context.node.fetch_head()
    return newest


async def _openness(context: ChainContext, token: Address, judged: CodeVerdict) -> Openness:
    return await find_openness(
        context.external.sources if context.external else None,
        chain_id=context.chain.id,
        token=token,
        implementation=judged.implementation,
    )


@asynccontextmanager
async def _beside(work: Coroutine[None, None, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Run a coroutine as a task beside the block; cancel it at the block's end."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _facts(
    context: ChainContext,
    seen: FirstRound,
    token: Address,
    judged: CodeVerdict,
    owner_slots: OwnerSlots,
    clock_state: ClockState,
    issued: Issue,
) -> Facts:
    reading = clock_state.reading
    interval_s = context.chain.clock_block_time_s
    return Facts(
        chain_id=context.chain.id,
        token=token,
        pin=seen.pin,
        metadata=seen.admitted.metadata,
        burned=seen.burned,
        holdings=seen.holdings,
        ownership=ownership.judge(seen.owners, owner_slots.wallets),
        owner_slots_vacant=owner_slots.are_vacant,
        implementation=judged.implementation,
        static=judged.findings,
        clock=None if reading is None else clock_at(reading, block_interval_s=interval_s),
        clock_limits=clock_state.limits,
        pools=(),
        is_every_pool_known=False,
        trades={},
        transfer=None,
        transfer_checked_at_s=None,
        custody=None,
        openness=NOT_ASKED,
        curves=issued.curves,
        origin=issued.origin,
        evidence=(*judged.evidence, issued.origin.evidence, seen.holdings.evidence),
    )


def _with_pools(
    context: ChainContext,
    facts: Facts,
    state: MarketState,
    pools: Sequence[ValuedPool],
    issued: Issue,
) -> Facts:
    sure = without_doubtful(pools, min_liquidity_usd=context.settings.min_liquidity_usd)
    return msgspec.structs.replace(
        facts,
        pools=sure,
        is_every_pool_known=state.is_complete and issued.is_complete and len(sure) == len(pools),
    )


def _inquiry(
    context: ChainContext,
    seen: FirstRound,
    token: Address,
    state: MarketState,
    hints: SimulationHints,
    *,
    owners: Sequence[Address],
    stored: Mapping[StoredAddress, Address],
    buys: Buys,
) -> TheftInquiry:
    """Return the inputs of the theft checks, for the first what-if block."""
    known = suspects(
        token=token,
        owners=owners,
        creator=seen.holdings.creator,
        hints=hints,
        stored=stored.values(),
        venues=_venues(state),
    )
    live = tuple(owner for owner in dict.fromkeys(owners) if owner not in BURN_ADDRESSES)
    return TheftInquiry(
        attack=AttackSetup(
            pin=seen.pin,
            disguise=seen.disguise,
            token=token,
            block=what_if_blocks(context, seen)[0],
            supply_raw=seen.admitted.metadata.supply_raw,
            slot_index=seen.token_slot_index,
            holders=tuple(
                wallet
                for wallet in state.wallets
                if wallet.slot_index is None and wallet.address not in known
            ),
            giver=next((pool.candidate.pool for pool in state.pools), None),
        ),
        hints=hints,
        suspects=known,
        owners=live if context.settings.owner_simulation else None,
        is_owner_known=bool(owners),
        parties=stored,
        trusted=frozenset(_venues(state)) | {context.chain.wrapped_native.address},
        buyer=find_buyer(buys.bought, seen.disguise),
    )


def _venues(state: MarketState) -> Iterator[Address]:
    """Yield pools and their routers, deepest first. All pools of one V4 manager are one venue."""
    for at, dex in {pool.candidate.pool: pool.candidate.dex for pool in state.pools}.items():
        yield at
        if dex.router is not None:
            yield dex.router


def _report(
    context: ChainContext,
    facts: Facts,
    state: MarketState,
    pools: Sequence[ValuedPool],
    issued: Issue,
    *,
    is_settled: bool,
) -> Report:
    return combine(
        _with_pools(context, facts, state, pools, issued),
        is_settled=is_settled,
        now_s=int(context.now_s()),
        min_liquidity_usd=context.settings.min_liquidity_usd,
    )


def _newest(rows: tuple[EvidenceRow, ...]) -> tuple[EvidenceRow, ...]:
    """Return one row a key; the last one wins."""
    return tuple({row.key: row for row in rows}.values())


async def _owner_slots(
    reader: BlockReader, seen: FirstRound, token: Address, judged: CodeVerdict
) -> OwnerSlots:
    """Read them where they decide something: no owner getter answers, or the owner is a burn
    address and the code compares the clock with storage."""
    if not judged.owner_slots and not judged.packed_owners:
        return NO_SLOTS
    is_gone = bool(seen.owners) and all(owner in BURN_ADDRESSES for owner in seen.owners)
    has_stored = any(limit.source == "storage" for limit in judged.clock_limits)
    if seen.owners and not (is_gone and has_stored):
        return NOT_READ
    return await read_owner_slots(reader, token, judged.owner_slots, packed=judged.packed_owners)
