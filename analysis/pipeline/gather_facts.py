"""Gathers the facts of a report from the results of the reading stages."""

from collections.abc import Sequence

import msgspec

from analysis.market.curves import curve_pools
from analysis.market.pool_ranking import ValuedPool, without_doubtful
from analysis.pipeline.assemble_report import Facts
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.issuer_round import IssuerFindings
from analysis.pipeline.second_round import MarketState
from analysis.reads.block_reader import BlockReader
from analysis.token import ownership
from analysis.token.contract_clock import clock_at
from analysis.token.deadline_state import ClockState
from analysis.token.deployed_code import DeployedCode
from analysis.token.owner_slots import NO_SLOTS, NOT_READ, OwnerSlots, read_owner_slots
from analysis.token.source_verification import NOT_ASKED
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address
from core.report.report import EvidenceRow


def gather_facts(
    context: ChainContext,
    first_round: FirstRound,
    token: Address,
    code: DeployedCode,
    owner_slots: OwnerSlots,
    clock_state: ClockState,
    issued: IssuerFindings,
) -> Facts:
    """Return the facts that are known before trades are simulated."""
    reading = clock_state.reading
    interval_s = context.chain.clock_block_time_s
    return Facts(
        chain_id=context.chain.id,
        token=token,
        pin=first_round.pin,
        metadata=first_round.admitted.metadata,
        burned=first_round.burned,
        holdings=first_round.holdings,
        ownership=ownership.find_ownership(first_round.owners, owner_slots.wallets),
        owner_slots_vacant=owner_slots.are_vacant,
        implementation=code.implementation,
        static=code.findings,
        shape=code.shape,
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
        evidence=(
            *code.evidence,
            issued.origin.evidence,
            first_round.holdings.evidence,
            *_holder_kinds(first_round),
            *curve_pools.evidence_of(issued.curves),
        ),
    )


def _holder_kinds(first_round: FirstRound) -> tuple[EvidenceRow, ...]:
    """Return the large holders by kind: wallets or contracts. Empty: none was read."""
    if not first_round.holders:
        return ()
    body = {
        "accounts": [each.address for each in first_round.holders if each.is_account],
        "contracts": [each.address for each in first_round.holders if not each.is_account],
    }
    return (EvidenceRow(key="holder_kinds", body=msgspec.json.encode(body).decode()),)


def with_pools(
    context: ChainContext,
    facts: Facts,
    state: MarketState,
    pools: Sequence[ValuedPool],
    issued: IssuerFindings,
) -> Facts:
    """Return the facts with these pools, without those that may not be the token's."""
    sure = without_doubtful(pools, min_liquidity_usd=context.settings.min_liquidity_usd)
    return msgspec.structs.replace(
        facts,
        pools=sure,
        is_every_pool_known=state.is_complete and issued.is_complete and len(sure) == len(pools),
    )


async def owner_slots_of(
    reader: BlockReader, first_round: FirstRound, token: Address, code: DeployedCode
) -> OwnerSlots:
    """Read the owner slots where they matter.

    They do if no owner getter answers, or if the owner is a burn address and the code compares the
    clock with storage.
    """
    if not code.owner_slots and not code.packed_owners:
        return NO_SLOTS
    is_gone = bool(first_round.owners) and all(
        owner in BURN_ADDRESSES for owner in first_round.owners
    )
    has_stored = any(limit.source == "storage" for limit in code.clock_limits)
    if first_round.owners and not (is_gone and has_stored):
        return NOT_READ
    return await read_owner_slots(reader, token, code.owner_slots, packed=code.packed_owners)
