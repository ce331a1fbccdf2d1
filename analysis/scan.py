"""One analysis from address to report: a few round trips, all pinned to one block.

1. look: the gate, burns, owner getters, the oracle, the factories, the balance slots
2. read: pool states, holders; beside it the implementation behind a proxy. Then, where the code
   asks for it, the owner-check slots, the contract's clock and the slots compared with it
                                                    -> first report, trades pending
3. play: the transfer check and the buys
4. play: the sales                                  -> settled report
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from analysis import ownership
from analysis.clock import clock_at
from analysis.clock_state import ClockState, read_clock_state
from analysis.combine import Facts, combine
from analysis.desk import Desk
from analysis.judge import Judged, judge_code
from analysis.look import Look, look
from analysis.market import PENDING, pick_traded
from analysis.owner_slots import NO_SLOTS, NOT_READ, OwnerSlots, read_owner_slots
from analysis.play import play_buys, play_sales
from analysis.state import State, read_state
from analysis.static.examine import examine
from config.burn import BURN_ADDRESSES
from config.primitives import Address
from sql.rows import EvidenceRow, Report


class ChainScanner:
    """Analyses tokens of one chain: the Scanner that the service runs."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.chain_id = desk.chain.id

    def scan(self, token: Address, *, redecompile: bool) -> AsyncIterator[Report]:
        """As `scan`; with `redecompile` the code is examined anew though its answers are known."""
        if redecompile:
            examine.cache_clear()
        return scan(self._desk, token)


async def scan(desk: Desk, token: Address) -> AsyncIterator[Report]:
    """Reports of one analysis, the last one settled.

    Raises TokenRefusedError when the gate refuses, UpstreamError when the node fails.
    """
    pin = await desk.node.fetch_head()
    quotes = [anchor.address for anchor in desk.chain.anchors if anchor.address != token]
    known = await desk.knowledge.known(desk.chain, token, quotes, pin)
    seen = await look(desk, token, pin, known)
    state, judged = await asyncio.gather(
        read_state(desk, seen, token, known),
        judge_code(desk.node, token, seen.admitted.code, seen.proxy_answers, block=pin.hash),
    )
    owner_slots, clock_state = await asyncio.gather(
        _owner_slots(desk, seen, token, judged),
        read_clock_state(desk.node, token, judged.clock_limits, block=pin.hash),
    )
    facts = _facts(desk, seen, token, state, judged, owner_slots, clock_state)
    traded = pick_traded(
        state.pools,
        at_most=desk.settings.simulated_pools,
        min_liquidity_usd=desk.settings.min_liquidity_usd,
    )
    pending = {pool.candidate.key: PENDING for pool in traded}
    yield _report(desk, msgspec.structs.replace(facts, trades=pending), is_settled=False)

    # Whoever the code treats as an owner is no ordinary holder.
    senders = [
        wallet for wallet in state.wallets if wallet.address not in (owner_slots.wallets or ())
    ]
    buys = await play_buys(desk, seen, token, traded, senders)
    sales = await play_sales(desk, seen, buys)
    settled = msgspec.structs.replace(
        facts,
        trades=sales.trades,
        transfer=sales.transfer,
        evidence=_newest((*facts.evidence, *buys.evidence, *sales.evidence)),
    )
    yield _report(desk, settled, is_settled=True)


def _facts(
    desk: Desk,
    seen: Look,
    token: Address,
    state: State,
    judged: Judged,
    owner_slots: OwnerSlots,
    clock_state: ClockState,
) -> Facts:
    reading = clock_state.reading
    interval_s = desk.chain.clock_block_time_s
    return Facts(
        chain_id=desk.chain.id,
        token=token,
        pin=seen.pin,
        metadata=seen.admitted.metadata,
        burned=seen.burned,
        ownership=ownership.judge(seen.owners, owner_slots.wallets),
        owner_slots_vacant=owner_slots.are_vacant,
        implementation=judged.implementation,
        static=judged.findings,
        clock=None if reading is None else clock_at(reading, block_interval_s=interval_s),
        clock_limits=clock_state.limits,
        pools=state.pools,
        curves=state.curves,
        origin=state.origin,
        is_every_pool_known=state.is_complete,
        trades={},
        transfer=None,
        evidence=(*judged.evidence, state.origin.evidence),
    )


def _report(desk: Desk, facts: Facts, *, is_settled: bool) -> Report:
    return combine(
        facts,
        is_settled=is_settled,
        now_s=int(desk.now_s()),
        min_liquidity_usd=desk.settings.min_liquidity_usd,
    )


def _newest(rows: tuple[EvidenceRow, ...]) -> tuple[EvidenceRow, ...]:
    """One row a key: what was played again later counts."""
    return tuple({row.key: row for row in rows}.values())


async def _owner_slots(desk: Desk, seen: Look, token: Address, judged: Judged) -> OwnerSlots:
    """Read where they can decide something: nobody answers for the owner, or the owner is gone and
    the code compares the clock with storage."""
    if not judged.owner_slots:
        return NO_SLOTS
    is_gone = bool(seen.owners) and all(owner in BURN_ADDRESSES for owner in seen.owners)
    has_stored = any(limit.source == "storage" for limit in judged.clock_limits)
    if seen.owners and not (is_gone and has_stored):
        return NOT_READ
    return await read_owner_slots(desk.node, token, judged.owner_slots, block=seen.pin.hash)
