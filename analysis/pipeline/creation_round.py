"""Explains the state that a token's creation left behind. The result is final, so it is kept."""

import asyncio
from collections.abc import Collection, Iterator
from typing import Final

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.reads.indexed_facts import MinedTransaction
from analysis.scenarios.theft.privileged_candidates import stored_addresses
from analysis.token.creation_check import Surroundings, check_creation, parties_of
from analysis.token.creation_findings import CreationFindings, PartyThen
from analysis.token.creation_keys import search_space
from analysis.token.creation_state import (
    CreatingTransaction,
    CreationState,
    find_mint,
    read_creation_state,
    read_upgrades,
)
from analysis.token.deployed_code import DeployedCode
from analysis.token.live_setters import ended_credits
from config.burn import BURN_ADDRESSES
from core.errors import UpstreamError
from core.evm.primitives import ADDRESS_MASK, ZERO_ADDRESS, Address, BlockRef, address_of

_MOST_EARLIER: Final = 4
"""Earlier codes behind a proxy that are analysed."""
_WAIT_S: Final = 10.0
"""Seconds to wait for the creation, as a trace of an old block may take long."""


async def find_place(
    context: ChainContext, token: Address, indexed: MinedTransaction | None, newest: BlockRef | None
) -> MinedTransaction | None:
    """Return the indexed creation, else the first mint. None: not needed, or not found."""
    if context.is_replayable or token in context.creations:
        return None
    to_block = None if newest is None else newest.number
    return indexed or await find_mint(context.node, token, to_block=to_block)


async def explain_creation(
    context: ChainContext,
    first_round: FirstRound,
    token: Address,
    made: CreatingTransaction | None,
    *,
    code: DeployedCode,
) -> CreationFindings | None:
    """Return what the creation gave unseen, and what may have followed. None: not known.

    An analysis that must be replayable on one block reads no other blocks.
    """
    block = first_round.pin
    kept = context.creations.get(token)
    if context.is_replayable:
        return kept
    try:
        async with asyncio.timeout(_WAIT_S):
            if kept is not None and _is_lasting(kept, first_round):
                return await _with_upgrades(context, token, kept, code, block=block)
            found = await _explain(context, first_round, token, made, code)
            if found is None:
                return None
            if found.block_number <= block.number - context.chain.finality_blocks:
                context.creations[token] = found
            return await _with_upgrades(context, token, found, code, block=block)
    except TimeoutError:
        return None


async def _with_upgrades(
    context: ChainContext,
    token: Address,
    found: CreationFindings,
    code: DeployedCode,
    *,
    block: BlockRef,
) -> CreationFindings:
    """Add whether other code behind a proxy may have given amounts since its creation."""
    if not code.findings.is_proxy or code.is_replaceable is False:
        return found
    shown = await read_upgrades(
        context.node, token, since=found.block_number, to_block=block.number
    )
    earlier = {*found.targets, *(shown or ())} - {code.implementation}
    is_replaced = None if shown is None else False
    if earlier and not await _are_proved(context, earlier, block=block):
        is_replaced = True
    return msgspec.structs.replace(found, is_replaced=is_replaced)


async def _are_proved(
    context: ChainContext, codes: Collection[Address], *, block: BlockRef
) -> bool:
    """True if earlier codes of a token are proved to keep balances and allowances whole."""
    if len(codes) > _MOST_EARLIER:
        return False
    reader = context.reader(block.hash)
    batch = reader.batch()
    read = [batch.code(each) for each in codes]
    try:
        await reader.send(batch)
    except UpstreamError:
        return False
    for each in read:
        found = await context.analyse_code(batch[each])
        hints, powers = found.hints, found.powers
        is_kept = hints.is_proved and not (hints.open_writes or hints.grants)
        if not is_kept or powers.wild or powers.credits != () or not powers.is_complete:
            return False
    return True


async def _explain(
    context: ChainContext,
    first_round: FirstRound,
    token: Address,
    made: CreatingTransaction | None,
    code: DeployedCode,
) -> CreationFindings | None:
    block = first_round.pin
    state = await read_creation_state(context.node, context.capabilities, token, made, block=block)
    if state is None:
        return None
    space = await asyncio.to_thread(
        search_space,
        (state.sender, token, *parties_of(state.logs), *first_round.owners),
        state.input,
        known=_accounts(context, first_round, state),
        runtime=first_round.codes,
        others=state.codes,
        words=state.words,
    )
    found = await check_creation(
        context.node,
        token,
        state,
        space,
        _surroundings(context, first_round),
        reader=context.reader(block.hash),
        block=block,
    )
    if found is None or found.is_cut:
        return found
    stored = code.hints.stored
    then = stored_addresses(stored, [state.words.get(each.slot, 0) for each in stored])
    targets = (address_of(state.words.get(slot, 0) & ADDRESS_MASK) for slot in code.target_slots)
    return msgspec.structs.replace(
        found,
        ended=ended_credits(code.powers, state.words),
        parties=tuple(PartyThen(place=place, address=each) for place, each in then.items()),
        targets=tuple(each for each in targets if each not in (None, ZERO_ADDRESS)),
    )


def _is_lasting(found: CreationFindings, first_round: FirstRound) -> bool:
    """True unless the supply has fallen so far that what was dust may be an amount."""
    supply_raw = first_round.admitted.metadata.supply_raw
    return found.supply_raw is None or 2 * supply_raw >= int(found.supply_raw)


def _surroundings(context: ChainContext, first_round: FirstRound) -> Surroundings:
    chain = context.chain
    places = (
        place for dex in chain.dexes for place in (dex.router, dex.vault, dex.position_manager)
    )
    return Surroundings(
        supply_raw=first_round.admitted.metadata.supply_raw,
        pools=frozenset(pool.holder for pool, answer in first_round.states if answer is not None),
        venues=frozenset({*filter(None, places), *chain.consenting}),
    )


def _accounts(
    context: ChainContext, first_round: FirstRound, state: CreationState
) -> Iterator[Address]:
    """Yield accounts that a constructor may have written about, the likely first."""
    yield from (*state.touched, *state.nearby, *BURN_ADDRESSES)
    yield from (each for dex in context.chain.dexes for each in (dex.router, dex.factory) if each)
    yield from (pool.holder for pool, answer in first_round.states if answer is not None)
    yield from (anchor.address for anchor in context.chain.anchors)
    yield from (holder.address for holder in first_round.holders)
