"""Opening of a token without a pool: which call opens trading, and what trades then cost.

The chain's first exchange of Uniswap V2's kind is taken, and a pair with the wrapped coin is
created inside the simulations. They are made with no call, then with each function of the code
that may change a condition of trades, sent by an account that may send it. Nothing is liquidity.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from analysis.market import routers
from analysis.market.pool_ranking import pick_traded
from analysis.market.venues.families import uniswap_v2
from analysis.market.venues.pool import Candidate
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.condition_reads import analyse_token_code
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import what_if_blocks
from analysis.pipeline.trade_rounds import simulation_job
from analysis.quotes.token_market import read_market
from analysis.reads.eth_reads import decode_address
from analysis.reads.read_batch import ReadBatch
from analysis.scenarios.trade.opening import (
    WAITS_S,
    NewPool,
    OpeningCall,
    OpeningOutcome,
    read_opening,
    write_opening,
)
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.simulation.backends import perform
from analysis.simulation.block_schedule import next_blocks
from analysis.simulation.simulate_v1 import Passed
from analysis.static.powers.static_powers import StaticPowers
from analysis.token.live_setters import LiveSetters, read_live_setters
from config.burn import BURN_ADDRESSES
from config.facts.chain import Dex
from core.evm.abi import address_word
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, RawAmount, Selector
from core.report.report import Report

QUOTE_RAW: Final = RawAmount(10 * 10**18)
"""Wrapped coins that are put in the pair."""

_MOST_CALLS: Final = 10
_WORDS: Final = 4
"""Words of arguments: a function that takes fewer ignores the rest."""

_FIRST: Final = ("pause_status_can_be_modified", "hidden_owner_controls")
"""Fields of powers whose functions are tried first."""


class OpeningFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Opening and trades of a token without a pool, at one block."""

    block: BlockRef
    dex: str
    """Name of the exchange of the pair. Empty: none was created."""
    needs_call: bool | None
    """False: buys and sales pass without a call. None: not found out."""
    opening: OpeningOutcome | None
    """Trades after the call that opens trading, or without one. None: nothing opens it."""
    before: OpeningOutcome | None
    """Trades without a call. None: not simulated."""
    tried: int
    """Functions that were tried."""
    reason: str
    """Reason why nothing was simulated. Empty: something was."""


async def find_opening(context: ChainContext, token: Address, report: Report) -> OpeningFindings:
    """Return the findings. `report`: the token's, for its creator and owner.

    Raises TokenRefusedError, UpstreamError.
    """
    _, first_round, state = await read_market(context, token)
    least_usd = context.settings.min_liquidity_usd
    dex = next((one for one in context.chain.dexes if one.kind == uniswap_v2.VENUE.kind), None)
    if pick_traded(state.pools, at_most=1, min_liquidity_usd=least_usd):
        return _none(first_round.pin, "the token has a pool that can be traded")
    if dex is None:
        return _none(first_round.pin, "the chain has no exchange of pairs")
    pair = await _find_pair(context, first_round, dex, token)
    if pair is None:
        return _none(first_round.pin, f"{dex.name} creates no pair of this token")
    setup = _setup(context, first_round, dex, token, pair[0])
    maker = _maker(first_round, report)
    if isinstance(setup, str) or maker is None:
        return _none(first_round.pin, setup if isinstance(setup, str) else "no owner is known")
    calls = await _find_calls(context, first_round, token, maker, pair[0])
    slot_index = first_round.token_slot_index
    pool = NewPool(
        maker=maker,
        token_raw=RawAmount(first_round.admitted.metadata.supply_raw // 2),
        quote_raw=QUOTE_RAW,
        is_made=pair[1],
    )
    blocks = tuple(
        next_blocks(
            first_round.pin,
            block_time_s=context.chain.block_time_s,
            now_s=int(context.now_s()),
            waits_s=WAITS_S,
            counts_blocks=False,
        )
    )
    written = [
        write_opening(setup, pool, call, blocks, slot_index=slot_index) for call in (None, *calls)
    ]
    results = await perform(
        context.node,
        context.capabilities,
        [simulation_job(setup.candidate, each.simulation) for each in written],
        codes=first_round.codes,
    )
    outcomes = [read_opening(each, result) for each, result in zip(written, results, strict=True)]
    return _findings(first_round.pin, dex, outcomes)


def _findings(block: BlockRef, dex: Dex, outcomes: Sequence[OpeningOutcome]) -> OpeningFindings:
    before, *after = outcomes
    called = [each for each in after if each.has_called and each.has_pool]
    best = next((each for each in (before, *called) if _trades(each, both=True)), None)
    best = best or next((each for each in (before, *called) if _trades(each, both=False)), None)
    is_known = before.has_pool or best is not None
    return OpeningFindings(
        block=block,
        dex=dex.name,
        needs_call=not _trades(before, both=False) if is_known else None,
        opening=best,
        before=before if before.has_pool else None,
        tried=len({each.call.selector for each in after if each.call is not None}),
        reason="",
    )


def _trades(outcome: OpeningOutcome, *, both: bool) -> bool:
    """True if a buy passes, and where `both` a sale too."""
    return isinstance(outcome.buy, Passed) and (not both or isinstance(outcome.sale, Passed))


async def _find_pair(
    context: ChainContext, first_round: FirstRound, dex: Dex, token: Address
) -> tuple[Address, bool] | None:
    """Return the address of the pair, and True if it exists. None: there can be none."""
    wrapped = context.chain.wrapped_native.address
    batch = ReadBatch(first_round.pin.hash)
    known, made = (
        batch.call(dex.factory, f"{name}(address,address)", token, wrapped, returns=decode_address)
        for name in ("getPair", "createPair")
    )
    await batch.send(context.node)
    pair = batch[known]
    if pair is not None and pair != ZERO_ADDRESS:
        return pair, True
    created = batch[made]
    return None if created is None or created == ZERO_ADDRESS else (created, False)


def _setup(
    context: ChainContext, first_round: FirstRound, dex: Dex, token: Address, pair: Address
) -> TradeSetup | str:
    """Return how the pair is traded, or why it is not."""
    candidate = Candidate(
        dex=dex, pool=pair, token=token, quote=context.chain.wrapped_native.address
    )
    free = first_round.disguise.account(f"{candidate.key}:router")
    routes = routers.find_routes(
        candidate, context.memory.recall_routers(), context.chain, free=free
    )
    if isinstance(routes, str):
        return routes
    return TradeSetup(
        pin=first_round.pin,
        disguise=msgspec.structs.replace(first_round.disguise, is_validated=False),
        blocks=what_if_blocks(context, first_round, candidate),
        candidate=candidate,
        quote_reserve_raw=QUOTE_RAW,
        route=routes[0],
        quote_slot_index=None,
        token_slot_index=first_round.token_slot_index,
    )


def _maker(first_round: FirstRound, report: Report) -> Address | None:
    """Return the account that would create the pool; a fresh one if none is known and balances can
    be set. None: there is none."""
    named = (*first_round.owners, report.token.owner_address, report.token.creator_address)
    live = (one for one in named if one is not None and one not in BURN_ADDRESSES)
    known = next(live, None) or first_round.holdings.creator
    if known is not None or first_round.token_slot_index is None:
        return known
    return first_round.disguise.account("maker of the pool")


async def _find_calls(
    context: ChainContext, first_round: FirstRound, token: Address, maker: Address, pair: Address
) -> list[OpeningCall]:
    """Return calls that may open trading, each with an account that may send it."""
    reader = context.reader(first_round.pin.hash, memory=first_round.memory)
    code = await analyse_token_code(context, first_round, token)
    live = await read_live_setters(reader, token, code.powers)
    senders = list(dict(_senders(code.powers, live, maker)).items())[:_MOST_CALLS]
    ones, pairs = f"{1:064x}" * _WORDS, address_word(pair)[2:] * _WORDS
    return [
        OpeningCall(selector=selector, sender=sender, data=selector + words, makes_pool=makes_pool)
        for words, makes_pool in ((ones, False), (ones, True), (pairs, False))
        for selector, sender in senders
    ]


def _senders(
    powers: StaticPowers, live: LiveSetters, maker: Address
) -> Iterator[tuple[Selector, Address]]:
    """Yield functions that change conditions of trades, with an account that may call each.

    Left out: those that hand over a power, as a pool with the owner's exemptions is no opening.
    """
    every = [setter for power in powers.powers for setter in power.setters]
    parties = {one.slot for setter in (*every, *powers.setters) for one in setter.callers}
    for power in sorted(powers.powers, key=lambda power: power.field not in _FIRST):
        for setter in power.setters:
            is_handed = setter.slot is not None and setter.slot in parties
            if is_handed or setter.authority in ("holders", "trades"):
                continue
            if not live.is_live(setter):
                continue
            named = [one for one in live.callers(setter) if one is not None]
            is_makers = not named or maker in named
            yield setter.selector, maker if is_makers else min(named)


def _none(block: BlockRef, reason: str) -> OpeningFindings:
    return OpeningFindings(
        block=block,
        dex="",
        needs_call=None,
        opening=None,
        before=None,
        tried=0,
        reason=reason,
    )
