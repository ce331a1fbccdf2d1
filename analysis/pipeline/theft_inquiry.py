"""Inputs of the theft simulations, from the results of earlier stages."""

from collections.abc import Iterator, Mapping, Sequence

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import what_if_blocks
from analysis.pipeline.second_round import MarketState
from analysis.pipeline.trade_rounds import Buys
from analysis.scenarios.theft.attack_setup import AttackSetup
from analysis.scenarios.theft.privileged_candidates import suspects
from analysis.scenarios.theft.theft_checks import TheftInquiry
from analysis.scenarios.theft.victim_purchase import find_buyer
from analysis.static.custody.custody_report import StoredAddress
from analysis.static.custody.simulation_hints import SimulationHints
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address


def theft_inquiry(
    context: ChainContext,
    first_round: FirstRound,
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
        creator=first_round.holdings.creator,
        hints=hints,
        stored=stored.values(),
        venues=_venues(state),
        consenting=context.chain.consenting,
    )
    buyer = find_buyer(buys.bought, first_round.disguise)
    is_slot_sure = buyer is None or not hints.has_several_balances
    live = tuple(owner for owner in dict.fromkeys(owners) if owner not in BURN_ADDRESSES)
    return TheftInquiry(
        attack=AttackSetup(
            pin=first_round.pin,
            disguise=first_round.disguise,
            token=token,
            block=what_if_blocks(context, first_round)[0],
            supply_raw=first_round.admitted.metadata.supply_raw,
            slot_index=first_round.token_slot_index if is_slot_sure else None,
            holders=tuple(
                wallet
                for wallet in state.wallets
                if wallet.slot_index is None and wallet.address not in known
            ),
            giver=next((pool.candidate.holder for pool in state.pools), None),
        ),
        hints=hints,
        suspects=known,
        owners=live if context.settings.owner_simulation else None,
        is_owner_known=bool(owners),
        parties=stored,
        trusted=frozenset(_venues(state)) | {context.chain.wrapped_native.address},
        consenting=context.chain.consenting,
        buyer=buyer,
    )


def _venues(state: MarketState) -> Iterator[Address]:
    """Yield pools, their routers and vaults, deepest first. All pools of one V4 manager are one
    venue."""
    for at, dex in {pool.candidate.pool: pool.candidate.dex for pool in state.pools}.items():
        yield at
        yield from (one for one in (dex.router, dex.vault) if one is not None)
