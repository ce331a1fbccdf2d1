"""One analysis from address to report: a few round trips, all pinned to one block.

1. look: the gate, burns, owner getters, the oracle, the factories, the balance slots
2. read: pool states, holders; beside it the implementation behind a proxy and owner slots
                                                    -> first report, trades pending
3. play: the transfer check and the buys
4. play: the sales                                  -> settled report
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from analysis import ownership
from analysis.combine import Facts, combine
from analysis.desk import Desk
from analysis.judge import Judged, judge_code
from analysis.look import Look, look
from analysis.market import PENDING, pick_traded
from analysis.play import play_buys, play_sales
from analysis.state import State, read_state
from analysis.static.examine import examine
from config.errors import UpstreamError
from config.primitives import Address, BlockRef, Hash32
from sql.rows import EvidenceRow, Report

_OWNER_SLOTS_S = 2.0
"""Longest that owner-check slots are waited for. Source: the specification, "Other constants"."""


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
    wallets = await _owner_wallets(desk, seen, token, judged)
    facts = _facts(desk, seen, token, state, judged, wallets)
    traded = pick_traded(
        state.pools,
        at_most=desk.settings.simulated_pools,
        min_liquidity_usd=desk.settings.min_liquidity_usd,
    )
    pending = {pool.candidate.key: PENDING for pool in traded}
    yield _report(desk, msgspec.structs.replace(facts, trades=pending), is_settled=False)

    # Whoever the code treats as an owner is no ordinary holder.
    senders = [wallet for wallet in state.wallets if wallet.address not in (wallets or ())]
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
    wallets: tuple[Address, ...] | None,
) -> Facts:
    return Facts(
        chain_id=desk.chain.id,
        token=token,
        pin=seen.pin,
        metadata=seen.admitted.metadata,
        burned=seen.burned,
        ownership=ownership.judge(seen.owners, wallets),
        implementation=judged.implementation,
        static=judged.findings,
        pools=state.pools,
        is_every_pool_known=state.is_complete,
        trades={},
        transfer=None,
        evidence=judged.evidence,
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


async def _owner_wallets(
    desk: Desk, seen: Look, token: Address, judged: Judged
) -> tuple[Address, ...] | None:
    """Wallets in owner-check slots. None: not read, or no need to, since a getter answered."""
    if seen.owners or not judged.owner_slots:
        return None
    try:
        async with asyncio.timeout(_OWNER_SLOTS_S):
            return await _read_wallets(desk, seen.pin, token, judged.owner_slots)
    except (TimeoutError, UpstreamError):
        return None


async def _read_wallets(
    desk: Desk, pin: BlockRef, token: Address, slots: tuple[Hash32, ...]
) -> tuple[Address, ...]:
    asked = ownership.slot_requests(token, slots, block=pin.hash)
    words = ownership.read_slots(slots, await desk.node.batch(asked))
    holders = ownership.holder_requests(words, block=pin.hash)
    return ownership.read_wallets(words, await desk.node.batch(holders) if holders else [])
